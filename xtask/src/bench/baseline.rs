//! `--baseline PATH`: two krm binaries on the same commands, interleaved, with the ratio of their times.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::measure::{self, Sample};
use super::table::{self, Table};
use super::{Options, render, setters};
use crate::corpus::{self, Layout, versions};
use crate::{TaskResult, shell};

/// A command of krm. None of them writes: the disk would add more noise than a few percent.
struct Comparison {
    name: &'static str,
    arguments: &'static [&'static str],
    package: fn(&Path) -> TaskResult,
}

const COMPARISONS: &[Comparison] = &[
    Comparison { name: "count", arguments: &["cfg", "count", "."], package: resources },
    Comparison { name: "cat", arguments: &["cfg", "cat", "."], package: resources },
    Comparison { name: "fmt", arguments: &["cfg", "fmt", ".", "--check"], package: shuffled },
    Comparison {
        name: "merge3",
        arguments: &[
            "cfg",
            "merge3",
            "--ancestor",
            "base",
            "--from",
            "upstream",
            "--to",
            "local",
            "--check",
        ],
        package: three_versions,
    },
    Comparison {
        name: "set",
        arguments: &["cfg", "set", ".", "replicas", "7", "--check", "-q"],
        package: setters::write_kpt_package,
    },
    Comparison {
        name: "eval",
        arguments: &["fn", "eval", ".", "-i", "set-labels", "--check", "-q", "--", "run=x"],
        package: resources,
    },
    Comparison {
        name: "render",
        arguments: &["fn", "render", ".", "--check", "-q"],
        package: render::write_packages,
    },
];

/// The number of resources in every package but that of `render`.
const RESOURCES: usize = 10_000;

fn resources(directory: &Path) -> TaskResult {
    corpus::write(directory, RESOURCES, Layout::Many).map(|_| ())
}

fn shuffled(directory: &Path) -> TaskResult {
    corpus::shuffle(&corpus::write(directory, RESOURCES, Layout::Many)?.files)
}

fn three_versions(directory: &Path) -> TaskResult {
    versions::write(directory, RESOURCES).map(|_| ())
}

/// Measures both binaries and prints a table; a ratio above 1 means that `krm` is slower than `baseline`.
pub(super) fn run(options: &Options, krm: &Path, baseline: &Path) -> TaskResult {
    println!("\n## krm to baseline: {} runs of each\n", options.runs);
    let header = ["command", "baseline", "krm", "median ratio", "minimum ratio", "memory ratio"];
    let mut table = Table::new(1, &header);
    for comparison in COMPARISONS.iter().filter(|it| options.selects(it.name)) {
        let directory = shell::target().join("bench/baseline").join(comparison.name);
        if directory.exists() {
            fs::remove_dir_all(&directory)?;
        }
        (comparison.package)(&directory)?;
        let samples = compare(comparison, &directory, [baseline, krm], options.runs)?;
        table.row(row(comparison.name, &samples));
    }
    print!("{}", table.render());
    Ok(())
}

/// The samples of both programs, which run in turns and swap their order in every round.
fn compare(
    comparison: &Comparison,
    directory: &Path,
    programs: [&Path; 2],
    runs: usize,
) -> TaskResult<[Vec<Sample>; 2]> {
    let command = |program: &Path| {
        let mut command = Command::new(program);
        command.args(comparison.arguments).current_dir(directory);
        command
    };
    // The first run also warms the page cache. `--check` exits with 1 if there is something to change.
    let code = command(programs[0]).output()?.status.code().unwrap_or(-1);
    if !matches!(code, 0 | 1) {
        return Err(format!("{}: the baseline exits with {code}", comparison.name).into());
    }
    let mut samples: [Vec<Sample>; 2] = Default::default();
    for round in 0..runs {
        for which in [round % 2, 1 - round % 2] {
            let sample = measure::exiting_with(&mut command(programs[which]), code);
            let sample = sample.map_err(|error| {
                format!("{}: {}: {error}", comparison.name, programs[which].display())
            })?;
            samples[which].push(sample);
        }
    }
    Ok(samples)
}

fn row(name: &str, samples: &[Vec<Sample>; 2]) -> Vec<String> {
    let [baseline, krm] =
        [0, 1].map(|which| measure::median(&samples[which]).expect("at least one run"));
    let [fastest_baseline, fastest_krm] = [0, 1].map(|which| {
        samples[which].iter().map(|sample| sample.seconds).fold(f64::INFINITY, f64::min)
    });
    let ratio = |krm: f64, baseline: f64| format!("{:.3}×", krm / baseline);
    vec![
        name.to_owned(),
        table::milliseconds(baseline.seconds),
        table::milliseconds(krm.seconds),
        ratio(krm.seconds, baseline.seconds),
        ratio(fastest_krm, fastest_baseline),
        ratio(krm.peak_bytes as f64, baseline.peak_bytes as f64),
    ]
}

/// Resolves a path given on the command line, because the measured commands run in other directories.
pub(super) fn binary(path: &str) -> TaskResult<PathBuf> {
    fs::canonicalize(path).map_err(|error| format!("cannot use {path}: {error}").into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_commands_of_the_acceptance_check_are_compared() {
        let names: Vec<&str> = COMPARISONS.iter().map(|it| it.name).collect();
        assert_eq!(names, ["count", "cat", "fmt", "merge3", "set", "eval", "render"]);
    }

    #[test]
    fn ratios_are_krm_to_baseline() {
        let sample = |seconds| Sample { seconds, peak_bytes: 1_000_000 };
        let cells = row("count", &[vec![sample(2.0), sample(4.0)], vec![sample(3.0), sample(3.0)]]);
        assert_eq!(cells[3..], ["0.750×", "1.500×", "1.000×"]);
    }

    #[test]
    fn a_binary_that_does_not_exist_is_an_error() {
        assert!(binary("no-such-krm").is_err());
    }
}
