//! Commands that write, compared with the floor: writing, flushing and renaming the same files and nothing else.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use super::measure;
use super::table::{Table, milliseconds, ratio};
use super::{KRM, Options, Tools};
use crate::corpus::{self, Layout};
use crate::{TaskResult, shell};

pub(super) const NAME: &str = "write";

const RESOURCES: usize = 10_000;

/// A command that writes may take this many times the floor, plus the time of its own `--check`.
pub(super) const MAX_FLOOR_RATIO: f64 = 1.6;

/// A command that changes every file of the corpus; its argument is the number of the run.
struct Writer {
    name: &'static str,
    args: fn(usize) -> Vec<String>,
    /// Whether the fields are shuffled before every run.
    needs_shuffled_input: bool,
}

const WRITERS: &[Writer] = &[
    Writer { name: "annotate", args: annotate, needs_shuffled_input: false },
    Writer { name: "fmt", args: fmt, needs_shuffled_input: true },
];

fn fmt(_: usize) -> Vec<String> {
    ["cfg", "fmt", "."].map(str::to_owned).into()
}

fn annotate(run: usize) -> Vec<String> {
    ["cfg", "annotate", ".", "--kv"]
        .map(str::to_owned)
        .into_iter()
        .chain([format!("run={run}")])
        .collect()
}

pub(super) fn run(options: &Options, tools: &Tools) -> TaskResult {
    let Some(krm) = tools.programs.get(KRM) else { return Ok(()) };
    let directory = shell::target().join("bench/write");
    if directory.exists() {
        fs::remove_dir_all(&directory)?;
    }
    let (old, new) = (directory.join("old"), directory.join("new"));
    corpus::write(&old, RESOURCES, Layout::Many)?;
    let written = corpus::write(&new, RESOURCES, Layout::Many)?;
    changes_one_line_each(krm, &old, &new)?;
    let shuffled = corpus::write(&directory.join("shuffled"), RESOURCES, Layout::Many)?.files;
    corpus::shuffle(&shuffled)?;
    changes_every_file(krm, &directory.join("shuffled"), shuffled.len())?;
    println!(
        "\n## {NAME}: {RESOURCES} resources in {} files, median of {} runs\n",
        written.files.len(),
        options.runs
    );
    let header = ["command", "floor", "--check", "limit", "median", "to floor", "to limit"];
    let mut table = Table::new(1, &header);
    for writer in WRITERS {
        let (mut floors, mut checks, mut times) = (Vec::new(), Vec::new(), Vec::new());
        for run in 0..options.runs {
            if writer.needs_shuffled_input {
                copy(&shuffled, &written.files)?;
            }
            floors.push(floor(&written.files)?);
            let mut check = command(krm, &new, &(writer.args)(run + 1));
            checks.push(measure::exiting_with(check.arg("--check"), 1)?.seconds);
            times.push(measure::quietly(&mut command(krm, &new, &(writer.args)(run + 1)))?.seconds);
        }
        let [floor, check, time] = [floors, checks, times].map(median_seconds);
        let limit = MAX_FLOOR_RATIO * floor + check;
        let mut cells = vec![writer.name.to_owned()];
        cells.extend([floor, check, limit, time].map(milliseconds));
        cells.extend([ratio(time, Some(floor)), ratio(time, Some(limit))]);
        table.row(cells);
    }
    print!("{}", table.render());
    Ok(())
}

fn command(krm: &Path, directory: &Path, args: &[String]) -> Command {
    let mut command = Command::new(krm);
    command.args(args).current_dir(directory);
    command
}

/// Copies files and flushes them, so that the next measurement does not include the flush.
fn copy(from: &[PathBuf], to: &[PathBuf]) -> TaskResult {
    for (from, to) in from.iter().zip(to) {
        fs::copy(from, to)?;
    }
    flush(&to[0])
}

/// Checks that formatting changes every file of the shuffled corpus.
fn changes_every_file(krm: &Path, directory: &Path, count: usize) -> TaskResult {
    let args: Vec<String> = fmt(0).into_iter().chain(["--check".to_owned()]).collect();
    let output = String::from_utf8(command(krm, directory, &args).output()?.stdout)?;
    match output.lines().count() {
        changed if changed == count => Ok(()),
        changed => Err(format!("fmt changes {changed} of {count} shuffled files").into()),
    }
}

pub(super) fn median_seconds(mut seconds: Vec<f64>) -> f64 {
    seconds.sort_by(f64::total_cmp);
    seconds[seconds.len() / 2]
}

/// Seconds to write the files to temporary names, flush them together, rename them, and flush the renames.
pub(super) fn floor(files: &[PathBuf]) -> TaskResult<f64> {
    let contents: Vec<Vec<u8>> = files.iter().map(fs::read).collect::<Result<_, _>>()?;
    let staged: Vec<PathBuf> = files.iter().map(|path| path.with_extension("staged")).collect();
    let start = Instant::now();
    for (path, bytes) in staged.iter().zip(&contents) {
        fs::write(path, bytes)?;
    }
    flush(&files[0])?;
    for (staged, path) in staged.iter().zip(files) {
        fs::rename(staged, path)?;
    }
    flush(&files[0])?;
    Ok(start.elapsed().as_secs_f64())
}

/// Flushes the file system of a file.
pub(super) fn flush(path: &Path) -> TaskResult {
    shell::run(shell::program("sync").arg("--file-system").arg(path))
}

/// Annotates a corpus and checks with `git diff --numstat` that exactly one line per resource is added, and one more where
/// `annotations:` is new.
fn changes_one_line_each(krm: &Path, old: &Path, new: &Path) -> TaskResult {
    let annotated = shell::output(&mut command(
        krm,
        new,
        &["cfg", "grep", "metadata.annotations", ".", "-o", "json"].map(str::to_owned),
    ))?;
    let expected = 2 * RESOURCES - annotated.lines().count();
    shell::run(&mut command(krm, new, &annotate(0)))?;
    let (added, removed) = numstat(old, new)?;
    if (added, removed) != (expected, 0) {
        return Err(format!(
            "expected annotate to add {expected} lines and remove none, found {added} added and {removed} removed"
        )
        .into());
    }
    println!("\nannotate: {added} lines added for {RESOURCES} resources, none removed");
    Ok(())
}

/// The numbers of added and removed lines between two directories.
pub(super) fn numstat(old: &Path, new: &Path) -> TaskResult<(usize, usize)> {
    let mut git = shell::program("git");
    let output = git.args(["diff", "--no-index", "--numstat"]).arg(old).arg(new).output()?;
    let output = String::from_utf8(output.stdout)?;
    let (mut added, mut removed) = (0, 0);
    for line in output.lines() {
        let columns: Vec<&str> = line.split_whitespace().collect();
        added += columns[0].parse::<usize>()?;
        removed += columns[1].parse::<usize>()?;
    }
    Ok((added, removed))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floor_keeps_file_contents_and_numstat_counts_changes() {
        let directory = std::env::temp_dir().join(format!("krm-floor-{}", std::process::id()));
        let (old, new) = (directory.join("old"), directory.join("new"));
        corpus::write(&old, 20, Layout::Many).expect("written");
        let written = corpus::write(&new, 20, Layout::Many).expect("written");
        assert!(floor(&written.files).expect("it writes") > 0.0);
        assert_eq!(numstat(&old, &new).expect("git compares"), (0, 0));
        let text = fs::read_to_string(&written.files[0]).expect("just written");
        let (first, rest) = text.split_once('\n').expect("it has lines");
        fs::write(&written.files[0], format!("{rest}one\ntwo\n")).expect("written");
        assert_eq!(numstat(&old, &new).expect("git compares"), (2, 1), "without {first}");
        fs::remove_dir_all(&directory).expect("ours to remove");
    }
}
