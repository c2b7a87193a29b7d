//! The works that krm and its peers are both given: one row in `WORKS` adds one to every table.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::process::Command;

use super::measure::{self, Sample};
use super::table::{self, NONE, Table};
use super::{Corpora, Corpus, KRM, Options, Tools};
use crate::Outcome;
use crate::corpus::Layout::{self, Many, One};

/// One thing to do with a corpus, and how each tool is asked to do it.
struct Work {
    name: &'static str,
    on: On,
    layout: Layout,
    calls: &'static [Call],
}

/// What a tool is pointed at.
#[derive(Clone, Copy, PartialEq, Eq)]
enum On {
    /// The files of the corpus, one by one.
    Files,
    /// The folder that holds them.
    Folder,
}

/// A tool's arguments, up to the files or the folder of the corpus, which come last.
struct Call {
    tool: &'static str,
    args: &'static [&'static str],
}

const fn call(tool: &'static str, args: &'static [&'static str]) -> Call {
    Call { tool, args }
}

/// yq has no word for "only check", so it reads and prints.
const CHECK: &[Call] = &[call(KRM, &["yaml", "check"]), call("yq", &["e", "."])];
const GET: &[Call] =
    &[call(KRM, &["yaml", "get", "metadata.name"]), call("yq", &["e", ".metadata.name"])];
const SET: &[Call] = &[
    call(KRM, &["yaml", "set", "metadata.annotations.x", "1", "--dry-run"]),
    call("yq", &["e", ".metadata.annotations.x = \"1\""]),
];

/// Compat: the last kustomize that has all of `cfg`.
const KUSTOMIZE: &str = "kustomize-4.5.7";
const COUNT: &[Call] = &[call(KRM, &["cfg", "count"]), call(KUSTOMIZE, &["cfg", "count"])];
const CAT: &[Call] = &[call(KRM, &["cfg", "cat"]), call(KUSTOMIZE, &["cfg", "cat"])];
const TREE: &[Call] = &[
    call(KRM, &["cfg", "tree", "--image", "--replicas"]),
    call(KUSTOMIZE, &["cfg", "tree", "--image", "--replicas"]),
];

const WORKS: &[Work] = &[
    Work { name: "check", on: On::Files, layout: One, calls: CHECK },
    Work { name: "check", on: On::Files, layout: Many, calls: CHECK },
    Work { name: "get", on: On::Files, layout: One, calls: GET },
    Work { name: "set", on: On::Files, layout: One, calls: SET },
    Work { name: "count", on: On::Folder, layout: Many, calls: COUNT },
    Work { name: "cat", on: On::Folder, layout: Many, calls: CAT },
    Work { name: "tree", on: On::Folder, layout: Many, calls: TREE },
];

const SIZES: &[usize] = &[100, 1_000, 10_000];
const FULL_SIZE: usize = 100_000;

/// Linux refuses about two megabytes of arguments.
const MOST_ARGUMENT_BYTES: usize = 1_500_000;

/// Every tool besides krm that some work asks for.
pub(super) fn peers() -> Vec<&'static str> {
    let mut names: Vec<&str> =
        WORKS.iter().flat_map(|work| work.calls).map(|call| call.tool).collect();
    names.retain(|name| *name != KRM);
    names.sort_unstable();
    names.dedup();
    names
}

/// Seconds for each resource, by work and tool, in order of size.
type Growth = BTreeMap<(String, &'static str), Vec<(usize, f64)>>;

pub(super) fn run(options: &Options, tools: &Tools, corpora: &mut Corpora) -> Outcome {
    let works: Vec<&Work> = WORKS.iter().filter(|work| options.wants(work.name)).collect();
    if works.is_empty() {
        return Ok(());
    }
    println!("\n## works: median of {} runs\n", options.runs);
    let header = [
        "work",
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
    for work in works {
        for &size in SIZES.iter().chain(options.full.then_some(&FULL_SIZE)) {
            let corpus = corpora.get(size, work.layout)?;
            let results = compare(work, corpus, tools, options.runs);
            rows(work, size, corpus, &results, &mut table, &mut growth);
        }
    }
    print!("{}", table.render());
    print!("\n## growth: µs for each resource\n\n{}", growth_table(&growth, options.full).render());
    Ok(())
}

/// What became of a tool: its median, or why there is none.
type Verdict = Result<Sample, String>;

/// Runs the tools in turns, so that a busy moment of the machine meets all of them.
fn compare(
    work: &Work,
    corpus: &Corpus,
    tools: &Tools,
    runs: usize,
) -> Vec<(&'static str, Verdict)> {
    let mut samples: Vec<Result<Vec<Sample>, String>> =
        work.calls.iter().map(|_| Ok(Vec::new())).collect();
    for _ in 0..runs {
        for (call, samples) in work.calls.iter().zip(&mut samples) {
            let Ok(list) = samples else { continue };
            match once(call, work.on, corpus, tools) {
                Ok(sample) => list.push(sample),
                Err(reason) => *samples = Err(reason),
            }
        }
    }
    let medians = samples
        .into_iter()
        .map(|list| list.map(|list| measure::median(&list).expect("at least one run")));
    work.calls.iter().map(|call| call.tool).zip(medians).collect()
}

fn once(call: &Call, on: On, corpus: &Corpus, tools: &Tools) -> Verdict {
    let program = tools.programs.get(call.tool).ok_or("not installed")?;
    let files: Vec<OsString> = match on {
        On::Files => corpus.files.iter().map(|file| file.clone().into_os_string()).collect(),
        On::Folder => vec![".".into()],
    };
    // Each argument also costs its pointer and its final zero.
    if files.iter().map(|file| file.len() + 9).sum::<usize>() > MOST_ARGUMENT_BYTES {
        return Err("too many files for one command line".to_owned());
    }
    let mut command = Command::new(program);
    command.args(call.args).args(files).current_dir(&corpus.folder);
    measure::quietly(&mut command).map_err(|error| error.to_string())
}

fn rows(
    work: &Work,
    size: usize,
    corpus: &Corpus,
    results: &[(&'static str, Verdict)],
    table: &mut Table,
    growth: &mut Growth,
) {
    let krm =
        results.iter().find(|(tool, _)| *tool == KRM).and_then(|(_, result)| result.as_ref().ok());
    let files = work.layout.name();
    for (tool, result) in results {
        let mut cells =
            vec![work.name.to_owned(), files.to_owned(), (*tool).to_owned(), size.to_string()];
        match result {
            Ok(sample) => {
                let each = sample.seconds / size as f64;
                cells.push(table::milliseconds(sample.seconds));
                cells.push(table::ratio(sample.seconds, krm.map(|krm| krm.seconds)));
                cells.push(table::megabytes_per_second(corpus.bytes, sample.seconds));
                cells.push(table::megabytes(sample.peak_bytes));
                cells.push(format!("{:.1}", each * 1e6));
                growth
                    .entry((format!("{} ({files})", work.name), tool))
                    .or_default()
                    .push((size, each));
            }
            Err(reason) => cells.push(reason.clone()),
        }
        table.row(cells);
    }
}

/// Linear work keeps its time for each resource; the last column is what ten times more costs.
fn growth_table(growth: &Growth, full: bool) -> Table {
    let sizes: Vec<usize> = [1_000, 10_000].into_iter().chain(full.then_some(FULL_SIZE)).collect();
    let mut header = vec!["work".to_owned(), "tool".to_owned()];
    header.extend(sizes.iter().map(ToString::to_string));
    header.push("last to first".to_owned());
    let mut table = Table::new(2, &header.iter().map(String::as_str).collect::<Vec<_>>());
    for ((work, tool), points) in growth {
        let at =
            |size: &usize| points.iter().find(|(known, _)| known == size).map(|(_, each)| *each);
        let values: Vec<Option<f64>> = sizes.iter().map(at).collect();
        let mut cells = vec![work.clone(), (*tool).to_owned()];
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
    fn every_work_asks_krm_and_at_least_one_peer() {
        for work in WORKS {
            let tools: Vec<&str> = work.calls.iter().map(|call| call.tool).collect();
            assert_eq!(tools[0], KRM, "{}", work.name);
            assert!(tools.len() > 1, "{}", work.name);
        }
    }

    #[test]
    fn a_missing_or_failing_tool_is_a_verdict_and_not_an_error() {
        const CALLS: &[Call] = &[call("true", &[]), call("false", &[]), call("gone", &[])];
        let work = Work { name: "w", on: On::Files, layout: One, calls: CALLS };
        let programs = ["true", "false"].map(|name| (name, PathBuf::from(name))).into();
        let corpus = Corpus { folder: std::env::temp_dir(), files: vec![], bytes: 1 };
        let results = compare(&work, &corpus, &Tools { programs }, 2);
        assert!(results[0].1.is_ok());
        assert!(results[1].1.as_ref().is_err_and(|reason| reason.contains("exit status")));
        assert!(results[2].1.as_ref().is_err_and(|reason| reason == "not installed"));
    }

    #[test]
    fn growth_compares_the_ends() {
        let points = vec![(100, 9e-6), (1_000, 2e-6), (10_000, 3e-6)];
        let growth = Growth::from([(("check (one)".to_owned(), "yq"), points)]);
        assert!(growth_table(&growth, false).render().contains("|  2.0 |   3.0 |         1.50× |"));
    }
}
