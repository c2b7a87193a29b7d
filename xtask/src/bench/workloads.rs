//! Workloads that krm and other tools both run; one row of `WORKLOADS` adds a row per tool and size.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::process::Command;

use super::measure::{self, Sample};
use super::table::{self, NONE, Table};
use super::{Corpora, Corpus, KRM, Options, Tools};
use crate::TaskResult;
use crate::corpus::Layout::{self, Many, One};

/// A task on a corpus, and the command line of each tool for it.
struct Workload {
    name: &'static str,
    input: Input,
    layout: Layout,
    calls: &'static [Call],
}

/// What a tool gets as arguments.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Input {
    /// Every file of the corpus.
    Files,
    /// The directory of the corpus.
    Directory,
}

/// A tool and its arguments, without the files or the directory of the corpus, which come last.
struct Call {
    tool: &'static str,
    args: &'static [&'static str],
}

const fn call(tool: &'static str, args: &'static [&'static str]) -> Call {
    Call { tool, args }
}

/// yq has no command that only checks, so it reads and prints.
const CHECK: &[Call] = &[call(KRM, &["yaml", "check"]), call("yq", &["e", "."])];
const GET: &[Call] =
    &[call(KRM, &["yaml", "get", "metadata.name"]), call("yq", &["e", ".metadata.name"])];
const SET: &[Call] = &[
    call(KRM, &["yaml", "set", "metadata.annotations.x", "1", "--dry-run"]),
    call("yq", &["e", ".metadata.annotations.x = \"1\""]),
];

/// Compat: the last kustomize release with all `cfg` commands.
const KUSTOMIZE: &str = "kustomize-4.5.7";
const COUNT: &[Call] = &[call(KRM, &["cfg", "count"]), call(KUSTOMIZE, &["cfg", "count"])];
const CAT: &[Call] = &[call(KRM, &["cfg", "cat"]), call(KUSTOMIZE, &["cfg", "cat"])];
const TREE: &[Call] = &[
    call(KRM, &["cfg", "tree", "--image", "--replicas"]),
    call(KUSTOMIZE, &["cfg", "tree", "--image", "--replicas"]),
];

const WORKLOADS: &[Workload] = &[
    Workload { name: "check", input: Input::Files, layout: One, calls: CHECK },
    Workload { name: "check", input: Input::Files, layout: Many, calls: CHECK },
    Workload { name: "get", input: Input::Files, layout: One, calls: GET },
    Workload { name: "set", input: Input::Files, layout: One, calls: SET },
    Workload { name: "count", input: Input::Directory, layout: Many, calls: COUNT },
    Workload { name: "cat", input: Input::Directory, layout: Many, calls: CAT },
    Workload { name: "tree", input: Input::Directory, layout: Many, calls: TREE },
];

const SIZES: &[usize] = &[100, 1_000, 10_000];
const FULL_SIZE: usize = 100_000;

/// Linux limits the arguments of a process to about two megabytes.
const MAX_ARGUMENT_BYTES: usize = 1_500_000;

/// Every tool besides krm that a workload uses.
pub(super) fn peers() -> Vec<&'static str> {
    let mut names: Vec<&str> =
        WORKLOADS.iter().flat_map(|workload| workload.calls).map(|call| call.tool).collect();
    names.retain(|name| *name != KRM);
    names.sort_unstable();
    names.dedup();
    names
}

/// Seconds per resource, by workload and tool, in order of size.
type Growth = BTreeMap<(String, &'static str), Vec<(usize, f64)>>;

pub(super) fn run(options: &Options, tools: &Tools, corpora: &mut Corpora) -> TaskResult {
    let selected: Vec<&Workload> =
        WORKLOADS.iter().filter(|workload| options.selects(workload.name)).collect();
    if selected.is_empty() {
        return Ok(());
    }
    println!("\n## workloads: median of {} runs\n", options.runs);
    let header = [
        "workload",
        "files",
        "tool",
        "resources",
        "median",
        "to krm",
        "MB/s",
        "peak MB",
        "µs/resource",
    ];
    let mut table = Table::new(3, &header);
    let mut growth = Growth::new();
    for workload in selected {
        for &size in SIZES.iter().chain(options.full.then_some(&FULL_SIZE)) {
            let corpus = corpora.get(size, workload.layout)?;
            let results = compare(workload, corpus, tools, options.runs);
            rows(workload, size, corpus, &results, &mut table, &mut growth);
        }
    }
    print!("{}", table.render());
    print!("\n## growth: µs per resource\n\n{}", growth_table(&growth, options.full).render());
    Ok(())
}

/// The median of a tool, or why there is none.
type Measured = Result<Sample, String>;

/// Runs the tools in turns, so that other load on the machine affects all of them.
fn compare(
    workload: &Workload,
    corpus: &Corpus,
    tools: &Tools,
    runs: usize,
) -> Vec<(&'static str, Measured)> {
    let mut samples: Vec<Result<Vec<Sample>, String>> =
        workload.calls.iter().map(|_| Ok(Vec::new())).collect();
    for _ in 0..runs {
        for (call, samples) in workload.calls.iter().zip(&mut samples) {
            let Ok(list) = samples else { continue };
            match once(call, workload.input, corpus, tools) {
                Ok(sample) => list.push(sample),
                Err(reason) => *samples = Err(reason),
            }
        }
    }
    let medians = samples
        .into_iter()
        .map(|list| list.map(|list| measure::median(&list).expect("at least one run")));
    workload.calls.iter().map(|call| call.tool).zip(medians).collect()
}

fn once(call: &Call, input: Input, corpus: &Corpus, tools: &Tools) -> Measured {
    let program = tools.programs.get(call.tool).ok_or("not installed")?;
    let files: Vec<OsString> = match input {
        Input::Files => corpus.files.iter().map(|file| file.clone().into_os_string()).collect(),
        Input::Directory => vec![".".into()],
    };
    // Each argument also needs a pointer and a terminating zero.
    if files.iter().map(|file| file.len() + 9).sum::<usize>() > MAX_ARGUMENT_BYTES {
        return Err("too many files for one command line".to_owned());
    }
    let mut command = Command::new(program);
    command.args(call.args).args(files).current_dir(&corpus.directory);
    measure::quietly(&mut command).map_err(|error| error.to_string())
}

fn rows(
    workload: &Workload,
    size: usize,
    corpus: &Corpus,
    results: &[(&'static str, Measured)],
    table: &mut Table,
    growth: &mut Growth,
) {
    let krm =
        results.iter().find(|(tool, _)| *tool == KRM).and_then(|(_, result)| result.as_ref().ok());
    let files = workload.layout.name();
    for (tool, result) in results {
        let mut cells =
            vec![workload.name.to_owned(), files.to_owned(), (*tool).to_owned(), size.to_string()];
        match result {
            Ok(sample) => {
                let each = sample.seconds / size as f64;
                cells.push(table::milliseconds(sample.seconds));
                cells.push(table::ratio(sample.seconds, krm.map(|krm| krm.seconds)));
                cells.push(table::megabytes_per_second(corpus.bytes, sample.seconds));
                cells.push(table::megabytes(sample.peak_bytes));
                cells.push(format!("{:.1}", each * 1e6));
                growth
                    .entry((format!("{} ({files})", workload.name), tool))
                    .or_default()
                    .push((size, each));
            }
            Err(reason) => cells.push(reason.clone()),
        }
        table.row(cells);
    }
}

/// The time per resource is constant if the work is linear; the last column shows by how much it grows.
fn growth_table(growth: &Growth, full: bool) -> Table {
    let sizes: Vec<usize> = [1_000, 10_000].into_iter().chain(full.then_some(FULL_SIZE)).collect();
    let mut header = vec!["workload".to_owned(), "tool".to_owned()];
    header.extend(sizes.iter().map(ToString::to_string));
    header.push("last to first".to_owned());
    let mut table = Table::new(2, &header.iter().map(String::as_str).collect::<Vec<_>>());
    for ((workload, tool), points) in growth {
        let at =
            |size: &usize| points.iter().find(|(known, _)| known == size).map(|(_, each)| *each);
        let values: Vec<Option<f64>> = sizes.iter().map(at).collect();
        let mut cells = vec![workload.clone(), (*tool).to_owned()];
        cells.extend(
            values
                .iter()
                .map(|each| each.map_or(NONE.to_owned(), |each| format!("{:.1}", each * 1e6))),
        );
        let last = values.iter().rev().find_map(|each| *each);
        cells.push(last.map_or(NONE.to_owned(), |last| table::ratio(last, values[0])));
        table.row(cells);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    #[test]
    fn every_workload_runs_krm_first_and_at_least_one_peer() {
        for workload in WORKLOADS {
            let tools: Vec<&str> = workload.calls.iter().map(|call| call.tool).collect();
            assert_eq!(tools[0], KRM, "{}", workload.name);
            assert!(tools.len() > 1, "{}", workload.name);
        }
    }

    #[test]
    fn a_missing_or_failing_tool_does_not_stop_the_others() {
        const CALLS: &[Call] = &[call("true", &[]), call("false", &[]), call("gone", &[])];
        let workload = Workload { name: "w", input: Input::Files, layout: One, calls: CALLS };
        let programs = ["true", "false"].map(|name| (name, PathBuf::from(name))).into();
        let corpus = Corpus { directory: std::env::temp_dir(), files: vec![], bytes: 1 };
        let results = compare(&workload, &corpus, &Tools { programs }, 2);
        assert!(results[0].1.is_ok());
        assert!(results[1].1.as_ref().is_err_and(|reason| reason.contains("exit status")));
        assert!(results[2].1.as_ref().is_err_and(|reason| reason == "not installed"));
    }

    #[test]
    fn growth_is_the_ratio_of_the_largest_to_the_smallest_size() {
        let points = vec![(100, 9e-6), (1_000, 2e-6), (10_000, 3e-6)];
        let growth = Growth::from([(("check (one)".to_owned(), "yq"), points)]);
        assert!(growth_table(&growth, false).render().contains("|  2.0 |   3.0 |         1.50× |"));
    }
}
