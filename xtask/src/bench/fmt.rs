//! `krm cfg fmt --check` beside kustomize's `cfg fmt`, which has no word for checking and writes in place.

use std::path::Path;
use std::process::Command;

use super::measure::{self, Sample};
use super::table::{Table, megabytes, megabytes_per_second, milliseconds, ratio};
use super::{KRM, Options, Tools};
use crate::corpus::{self, Layout};
use crate::{Outcome, shell};

pub(super) const NAME: &str = "fmt";

/// The last kustomize that has the command.
pub(super) const PEER: &str = "kustomize-4.5.7";

const SIZES: &[usize] = &[1_000, 10_000];

pub(super) fn run(options: &Options, tools: &Tools) -> Outcome {
    println!("\n## {NAME}: many files, median of {} runs\n", options.runs);
    let header = ["tool", "resources", "median", "to krm", "MB/s", "peak MB"];
    let mut table = Table::new(1, &header);
    for &size in SIZES {
        let folder = shell::target().join("bench/fmt");
        if folder.exists() {
            std::fs::remove_dir_all(&folder)?;
        }
        let (ours, theirs) = (folder.join("ours"), folder.join("theirs"));
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

/// One run in a folder; none of a tool that is not there.
fn sample(
    tools: &Tools,
    name: &str,
    args: &[&str],
    folder: &Path,
    exit: i32,
) -> Outcome<Option<Sample>> {
    let Some(program) = tools.programs.get(name) else { return Ok(None) };
    let mut command = Command::new(program);
    command.args(args).current_dir(folder);
    Ok(Some(measure::ending_with(&mut command, exit)?))
}
