//! Three-way merges of a package by krm and by kustomize, each on a fresh copy.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::measure::{self, Sample};
use super::table::{self, NONE, Table};
use super::{KRM, Options, Tools, writes};
use crate::corpus::versions::{self, NAMES};
use crate::{TaskResult, shell};

pub(super) const NAME: &str = "merge3";

/// Compat: the last release with `cfg merge3`.
pub(super) const PEER: &str = "kustomize-4.5.7";

const SIZES: [usize; 2] = [1_000, 10_000];
/// kustomize takes hours for larger packages.
const MAX_PEER_SIZE: usize = 1_000;

pub(super) fn run(options: &Options, tools: &Tools) -> TaskResult {
    println!("\n## merge3: median of {} runs of krm, one run of the peer\n", options.runs);
    let header =
        ["tool", "resources", "inputs MB", "median", "to krm", "peak MB", "peak to inputs"];
    let mut table = Table::new(1, &header);
    let mut first = None;
    for size in SIZES {
        let directory = shell::target().join(format!("bench/corpus/versions-{size}"));
        let bytes: u64 = versions::write(&directory, size)?.iter().map(|it| it.bytes).sum();
        let mut krm = None;
        for (tool, runs) in [(KRM, options.runs), (PEER, usize::from(size <= MAX_PEER_SIZE))] {
            let Some(program) = tools.programs.get(tool).filter(|_| runs > 0) else { continue };
            let sample = median(program, &directory, runs)?;
            krm = krm.or(Some(sample.seconds));
            table.row(vec![
                tool.to_owned(),
                size.to_string(),
                table::megabytes(bytes),
                table::milliseconds(sample.seconds),
                table::ratio(sample.seconds, krm),
                table::megabytes(sample.peak_bytes),
                format!("{:.2}×", sample.peak_bytes as f64 / bytes as f64),
            ]);
        }
        first = first.or(krm.map(|seconds| (size, seconds)));
        if let (Some((least, was)), Some(is)) = (first.filter(|(least, _)| *least < size), krm) {
            table.row(vec![
                format!("{size} to {least}"),
                NONE.to_owned(),
                NONE.to_owned(),
                table::ratio(is, Some(was)),
            ]);
        }
    }
    print!("{}", table.render());
    Ok(())
}

fn median(program: &Path, directory: &Path, runs: usize) -> TaskResult<Sample> {
    let samples: TaskResult<Vec<Sample>> =
        (0..runs).map(|run| once(program, directory, run)).collect();
    // After the last run, because creating files is slow where many have just been removed.
    for run in 0..runs {
        let _ = fs::remove_dir_all(directory.join(destination(run)));
    }
    measure::median(&samples?).ok_or_else(|| "no run".into())
}

fn destination(run: usize) -> String {
    format!("destination-{run}")
}

/// One run. The destination is copied and flushed to disk before the clock starts.
fn once(program: &Path, directory: &Path, run: usize) -> TaskResult<Sample> {
    let destination = destination(run);
    copy(&directory.join(NAMES[2]), &directory.join(&destination))?;
    writes::flush(&directory.join(&destination))?;
    let mut command = Command::new(program);
    command.args(["cfg", NAME, "--ancestor", NAMES[0], "--from", NAMES[1], "--to", &destination]);
    measure::quietly(command.current_dir(directory))
}

pub(super) fn copy(from: &Path, to: &Path) -> TaskResult {
    let mut pending: Vec<(PathBuf, PathBuf)> = vec![(from.to_owned(), to.to_owned())];
    while let Some((from, to)) = pending.pop() {
        fs::create_dir_all(&to)?;
        for entry in fs::read_dir(&from)? {
            let entry = entry?;
            let target = to.join(entry.file_name());
            if entry.file_type()?.is_dir() {
                pending.push((entry.path(), target));
            } else {
                fs::copy(entry.path(), target)?;
            }
        }
    }
    Ok(())
}
