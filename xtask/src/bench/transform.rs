//! What functions cost beside reading: their time as a multiple of `cfg count`, their memory as a multiple of the input.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use super::measure::{self, Sample};
use super::table::{self, Table};
use super::{Corpora, Corpus, KRM, Options, Tools, render};
use crate::corpus::Layout;
use crate::{TaskResult, shell};

pub(super) const NAME: &str = "transform";

/// The functions that change resources one by one, and a pipeline of three, are at most this many times as slow as `cfg count`.
const MAX_TIME: f64 = 3.0;
/// No function takes more memory than this many times its input.
const MAX_MEMORY: f64 = 4.0;

const SIZES: &[usize] = &[1_000, 10_000, 100_000];
/// A larger package is measured once unless all is: its row shows that time and memory stay linear.
const MAX_REPEATED: usize = 10_000;
/// Subpackages with one resource and two functions each.
const PACKAGES: usize = 1_000;

/// A command on a package.
struct Work {
    name: &'static str,
    arguments: &'static [&'static str],
    /// `--check` exits with 1 if there is something to change.
    exit_code: i32,
    has_time_limit: bool,
}

const fn work(name: &'static str, arguments: &'static [&'static str], exit_code: i32) -> Work {
    Work { name, arguments, exit_code, has_time_limit: false }
}

const fn eval(name: &'static str, arguments: &'static [&'static str]) -> Work {
    Work { name, arguments, exit_code: 1, has_time_limit: true }
}

/// The first one is what the others are compared with.
const WORK: &[Work] = &[
    work("count", &["cfg", "count", "."], 0),
    work("no-op", &["fn", "eval", ".", "-q", "-i", "no-op", "--check"], 0),
    eval("set-labels", &["fn", "eval", ".", "-q", "-i", "set-labels", "--check", "--", "run=x"]),
    eval(
        "set-namespace",
        &["fn", "eval", ".", "-q", "-i", "set-namespace", "--check", "--", "namespace=run"],
    ),
    eval(
        "set-annotations",
        &["fn", "eval", ".", "-q", "-i", "set-annotations", "--check", "--", "run=x"],
    ),
    work("exec cat", &["fn", "eval", ".", "-q", "--exec", "cat", "--check"], 0),
    work("source", &["fn", "source", "."], 0),
];

pub(super) fn run(options: &Options, tools: &Tools, corpora: &mut Corpora) -> TaskResult {
    let Some(krm) = tools.programs.get(KRM) else { return Ok(()) };
    println!(
        "\n## {NAME}: median of {} runs, 100,000 resources once without --full; limits: {MAX_TIME} times `count`, {MAX_MEMORY} times the input\n",
        options.runs
    );
    let header = [
        "command",
        "resources",
        "median",
        "to count",
        "µs/resource",
        "peak MB",
        "to input",
        "limits",
    ];
    let mut table = Table::new(1, &header);
    for &size in SIZES {
        let corpus = corpora.get(size, Layout::Many)?;
        let runs = if size > MAX_REPEATED && !options.full { 1 } else { options.runs };
        measure_all(krm, corpus, size, runs, &mut table)?;
    }
    measure_renders(krm, options, &mut table)?;
    print!("{}", table.render());
    Ok(())
}

/// Runs all commands in turns, so that other load on the machine affects all of them.
fn measure_all(
    krm: &Path,
    corpus: &Corpus,
    size: usize,
    runs: usize,
    table: &mut Table,
) -> TaskResult {
    let mut samples: BTreeMap<&str, Vec<Sample>> = BTreeMap::new();
    for _ in 0..runs {
        for work in WORK {
            let mut command = Command::new(krm);
            command.args(work.arguments).current_dir(&corpus.directory);
            let sample = measure::exiting_with(&mut command, work.exit_code)
                .map_err(|error| format!("{}: {error}", work.name))?;
            samples.entry(work.name).or_default().push(sample);
        }
    }
    let median = |work: &Work| measure::median(&samples[work.name]).expect("at least one run");
    let count = median(&WORK[0]);
    for work in WORK {
        let sample = median(work);
        table.row(row(work, size, corpus.bytes, sample, count));
    }
    Ok(())
}

fn row(work: &Work, size: usize, bytes: u64, sample: Sample, count: Sample) -> Vec<String> {
    let memory = sample.peak_bytes as f64 / bytes as f64;
    let is_slow = work.has_time_limit && sample.seconds > MAX_TIME * count.seconds;
    // What krm needs for itself is a large part of the memory of smaller packages.
    let is_large = memory > MAX_MEMORY && size >= 100_000;
    vec![
        work.name.to_owned(),
        size.to_string(),
        table::milliseconds(sample.seconds),
        table::ratio(sample.seconds, Some(count.seconds)),
        format!("{:.1}", sample.seconds / size as f64 * 1e6),
        table::megabytes(sample.peak_bytes),
        format!("{memory:.2}×"),
        if is_slow || is_large { "exceeded" } else { "" }.to_owned(),
    ]
}

/// Renders of one package with three functions, and of sibling packages, which run in parallel.
fn measure_renders(krm: &Path, options: &Options, table: &mut Table) -> TaskResult {
    let directory = shell::target().join("bench/pipeline");
    let bytes = render::write_rendered(krm, &directory)?;
    let pipeline = eval("render", RENDER);
    measure_render(krm, options.runs, (&pipeline, &directory, render::RESOURCES, bytes), table)?;
    let directory = shell::target().join("bench/siblings");
    let count = if options.full { 10 * PACKAGES } else { PACKAGES };
    let bytes = render::write_siblings(&directory, count)?;
    let siblings = work("render siblings", RENDER, 1);
    measure_render(krm, options.runs, (&siblings, &directory, count, bytes), table)
}

const RENDER: &[&str] = &["fn", "render", ".", "-q", "--check"];

fn measure_render(
    krm: &Path,
    runs: usize,
    (work, directory, count, bytes): (&Work, &Path, usize, u64),
    table: &mut Table,
) -> TaskResult {
    let command = |arguments: &[&str]| {
        let mut command = Command::new(krm);
        command.args(arguments).current_dir(directory);
        command
    };
    let (mut counts, mut renders) = (Vec::new(), Vec::new());
    for _ in 0..runs {
        counts.push(measure::quietly(&mut command(WORK[0].arguments))?);
        renders.push(measure::exiting_with(&mut command(work.arguments), work.exit_code)?);
    }
    let [counted, rendered] =
        [counts, renders].map(|list| measure::median(&list).expect("at least one run"));
    table.row(row(work, count, bytes, rendered, counted));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_reported() {
        let sample = |seconds, peak_bytes| Sample { seconds, peak_bytes };
        let (labels, count) = (&WORK[2], sample(1.0, 1));
        let limits = |sample| row(labels, 100_000, 100, sample, count)[7].clone();
        assert_eq!(limits(sample(2.9, 399)), "");
        assert_eq!(limits(sample(3.1, 399)), "exceeded");
        assert_eq!(limits(sample(2.9, 401)), "exceeded");
    }
}
