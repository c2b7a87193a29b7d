//! The start-up time of krm, and of a process that does nothing.

use std::process::Command;

use super::measure::{self, Sample};
use super::table::{Table, megabytes, milliseconds};
use super::{KRM, Options, Tools};
use crate::TaskResult;

pub(super) const NAME: &str = "start-up";

/// A start takes about a millisecond, so a few runs would show only noise.
const MIN_RUNS: usize = 50;

pub(super) fn run(options: &Options, tools: &Tools) -> TaskResult {
    let runs = options.runs.max(MIN_RUNS);
    println!("\n## {NAME}: median of {runs} runs\n");
    let mut floor = Command::new("/bin/true");
    let mut krm = tools.programs.get(KRM).map(|path| {
        let mut command = Command::new(path);
        command.arg("--version");
        command
    });
    let (mut floors, mut krms) = (Vec::new(), Vec::new());
    for _ in 0..runs {
        floors.push(measure::quietly(&mut floor)?);
        if let Some(krm) = &mut krm {
            krms.push(measure::quietly(krm).map_err(|error| format!("krm --version: {error}"))?);
        }
    }
    let floor = measure::median(&floors).expect("at least fifty runs");
    let mut table = Table::new(1, &["tool", "median", "minus /bin/true", "peak MB"]);
    let mut row = |tool: &str, sample: Sample| {
        let difference = milliseconds(sample.seconds - floor.seconds);
        table.row(vec![
            tool.to_owned(),
            milliseconds(sample.seconds),
            difference,
            megabytes(sample.peak_bytes),
        ]);
    };
    row("/bin/true", floor);
    if let Some(sample) = measure::median(&krms) {
        row("krm --version", sample);
    }
    print!("{}", table.render());
    Ok(())
}
