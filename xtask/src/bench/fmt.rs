//! `krm cfg fmt --check` and kustomize's `cfg fmt`, which has no `--check` and writes in place.

use std::path::Path;
use std::process::Command;

use super::measure::{self, Sample};
use super::table::{Table, megabytes, megabytes_per_second, milliseconds, ratio};
use super::{KRM, Options, Tools};
use crate::corpus::{self, Layout};
use crate::{TaskResult, shell};

pub(super) const NAME: &str = "fmt";

/// Compat: the last kustomize release with `cfg fmt`.
pub(super) const PEER: &str = "kustomize-4.5.7";

const SIZES: &[usize] = &[1_000, 10_000];

pub(super) fn run(options: &Options, tools: &Tools) -> TaskResult {
    println!("\n## {NAME}: many files, median of {} runs\n", options.runs);
    let header = ["tool", "resources", "median", "to krm", "MB/s", "peak MB"];
    let mut table = Table::new(1, &header);
    for &size in SIZES {
        let directory = shell::target().join("bench/fmt");
        if directory.exists() {
            std::fs::remove_dir_all(&directory)?;
        }
        let (ours, theirs) = (directory.join("ours"), directory.join("theirs"));
        let written = corpus::write(&ours, size, Layout::Many)?;
        corpus::write(&theirs, size, Layout::Many)?;
        let (mut krm, mut peer) = (Vec::new(), Vec::new());
        for _ in 0..options.runs {
            krm.extend(sample(tools, KRM, &["cfg", "fmt", ".", "--check"], &ours, 1)?);
            peer.extend(sample(tools, PEER, &["cfg", "fmt", "."], &theirs, 0)?);
        }
        let krm = measure::median(&krm);
        for (name, sample) in [(KRM, &krm), (PEER, &measure::median(&peer))] {
            let Some(sample) = sample else { continue };
            table.row(vec![
                name.to_owned(),
                size.to_string(),
                milliseconds(sample.seconds),
                ratio(sample.seconds, krm.as_ref().map(|krm| krm.seconds)),
                megabytes_per_second(written.bytes, sample.seconds),
                megabytes(sample.peak_bytes),
            ]);
        }
    }
    print!("{}", table.render());
    Ok(())
}

/// One run in a directory; `None` if the tool is not installed.
fn sample(
    tools: &Tools,
    name: &str,
    args: &[&str],
    directory: &Path,
    exit: i32,
) -> TaskResult<Option<Sample>> {
    let Some(program) = tools.programs.get(name) else { return Ok(None) };
    let mut command = Command::new(program);
    command.args(args).current_dir(directory);
    Ok(Some(measure::exiting_with(&mut command, exit)?))
}
