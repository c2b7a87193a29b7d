//! `fn render --check` in a git repository of many small packages: all of them, those that changed, and a part for a CI job.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::Path;
use std::process::Command;

use super::measure::{self, Sample};
use super::render;
use super::table::{self, Table};
use super::{KRM, Options, Tools};
use crate::{TaskResult, shell};

pub(super) const NAME: &str = "repository";

const PACKAGES: usize = 10_000;

/// The goal for one changed package.
const LIMIT: Sample = Sample { seconds: 1.0, peak_bytes: 0 };

pub(super) fn run(options: &Options, tools: &Tools) -> TaskResult {
    let Some(krm) = tools.programs.get(KRM) else { return Ok(()) };
    let directory = shell::target().join("bench/repository");
    println!("\n## {NAME}: {PACKAGES} packages, median of {} runs\n", options.runs);
    render::write_siblings(&directory, PACKAGES)?;
    // The packages are not in another one, so they are independent.
    fs::remove_file(directory.join("Kptfile"))?;
    shell::run(command(krm, &directory).arg("-q"))?;
    commit(&directory)?;
    let changed = directory.join("package-00042/deployment.yaml");
    writeln!(OpenOptions::new().append(true).open(&changed)?, "# changed")?;
    let work: [(&str, &[&str]); 3] = [
        ("all packages", &[]),
        ("one changed package", &["--changed-since", "HEAD"]),
        ("one of eight parts", &["--shard", "1/8"]),
    ];
    let mut samples = vec![Vec::new(); work.len()];
    for _ in 0..options.runs {
        for ((_, arguments), samples) in work.iter().zip(&mut samples) {
            let mut check = command(krm, &directory);
            samples.push(measure::quietly(check.args(["--check", "-q"]).args(*arguments))?);
        }
    }
    let mut table = Table::new(1, &["work", "median", "peak MB"]);
    let mut row = |work: &str, sample: Sample| {
        let cells = [table::milliseconds(sample.seconds), table::megabytes(sample.peak_bytes)];
        table.row([work.to_owned()].into_iter().chain(cells).collect());
    };
    for ((work, _), samples) in work.iter().zip(&samples) {
        row(work, measure::median(samples).expect("at least one run"));
    }
    row("limit for one changed package", LIMIT);
    print!("{}", table.render());
    Ok(())
}

fn command(krm: &Path, directory: &Path) -> Command {
    let mut command = Command::new(krm);
    command.args(["fn", "render"]).current_dir(directory);
    command
}

fn commit(directory: &Path) -> TaskResult {
    let git = |arguments: &[&str]| {
        let mut git = shell::program("git");
        git.current_dir(directory).args([
            "-c",
            "user.name=bench",
            "-c",
            "user.email=bench@example.com",
        ]);
        shell::run(git.args(arguments))
    };
    git(&["init", "--quiet", "."])?;
    git(&["add", "."])?;
    git(&["commit", "--quiet", "--message", "packages"])
}
