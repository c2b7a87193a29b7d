//! Commands that write, beside the floor: the same files staged, flushed and renamed with nothing else.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use super::measure;
use super::table::{Table, milliseconds, ratio};
use super::{KRM, Options, Tools};
use crate::corpus::{self, Layout};
use crate::{Outcome, shell};

pub(super) const NAME: &str = "write";

const RESOURCES: usize = 10_000;

/// A command that writes may take this many times the floor, and the time of its own `--check`.
pub(super) const MOST_FLOORS: f64 = 1.6;

/// A command that changes every file of the corpus; the number is another one in every run.
struct Writer {
    name: &'static str,
    args: fn(usize) -> Vec<String>,
    /// Whether the fields are out of order before every run.
    wants_shuffled: bool,
}

const WRITERS: &[Writer] = &[
    Writer { name: "annotate", args: annotate, wants_shuffled: false },
    Writer { name: "fmt", args: fmt, wants_shuffled: true },
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

pub(super) fn run(options: &Options, tools: &Tools) -> Outcome {
    let Some(krm) = tools.programs.get(KRM) else { return Ok(()) };
    let folder = shell::target().join("bench/write");
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    let (old, new) = (folder.join("old"), folder.join("new"));
    corpus::write(&old, RESOURCES, Layout::Many)?;
    let written = corpus::write(&new, RESOURCES, Layout::Many)?;
    changes_one_line_each(krm, &old, &new)?;
    let shuffled = corpus::write(&folder.join("shuffled"), RESOURCES, Layout::Many)?.files;
    corpus::shuffle(&shuffled)?;
    changes_every_file(krm, &folder.join("shuffled"), shuffled.len())?;
    println!(
        "\n## {NAME}: {RESOURCES} resources in {} files, median of {} runs\n",
        written.files.len(),
        options.runs
    );
    let header = ["work", "floor", "--check", "allowed", "median", "to floor", "to allowed"];
    let mut table = Table::new(1, &header);
    for writer in WRITERS {
        let (mut floors, mut checks, mut times) = (Vec::new(), Vec::new(), Vec::new());
        for run in 0..options.runs {
            if writer.wants_shuffled {
                copy(&shuffled, &written.files)?;
            }
            floors.push(floor(&written.files)?);
            let mut check = command(krm, &new, &(writer.args)(run + 1));
            checks.push(measure::ending_with(check.arg("--check"), 1)?.seconds);
            times.push(measure::quietly(&mut command(krm, &new, &(writer.args)(run + 1)))?.seconds);
        }
        let [floor, check, time] = [floors, checks, times].map(middle);
        let allowed = MOST_FLOORS * floor + check;
        let mut cells = vec![writer.name.to_owned()];
        cells.extend([floor, check, allowed, time].map(milliseconds));
        cells.extend([ratio(time, Some(floor)), ratio(time, Some(allowed))]);
        table.row(cells);
    }
    print!("{}", table.render());
    Ok(())
}

fn command(krm: &Path, folder: &Path, args: &[String]) -> Command {
    let mut command = Command::new(krm);
    command.args(args).current_dir(folder);
    command
}

/// Puts the contents of some files into others, one by one; what follows does not pay for flushing them.
fn copy(from: &[PathBuf], to: &[PathBuf]) -> Outcome {
    for (from, to) in from.iter().zip(to) {
        fs::copy(from, to)?;
    }
    flush(&to[0])
}

/// Formatting must have something to do in every file of the corpus that is out of order.
fn changes_every_file(krm: &Path, folder: &Path, count: usize) -> Outcome {
    let args: Vec<String> = fmt(0).into_iter().chain(["--check".to_owned()]).collect();
    let said = String::from_utf8(command(krm, folder, &args).output()?.stdout)?;
    match said.lines().count() {
        changed if changed == count => Ok(()),
        changed => {
            Err(format!("fmt changes {changed} of {count} files that are out of order").into())
        }
    }
}

pub(super) fn middle(mut seconds: Vec<f64>) -> f64 {
    seconds.sort_by(f64::total_cmp);
    seconds[seconds.len() / 2]
}

/// Seconds to write the contents beside the files, flush them in one go, rename them, and flush that.
pub(super) fn floor(files: &[PathBuf]) -> Outcome<f64> {
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

/// Flushes the whole file system that holds a file.
pub(super) fn flush(path: &Path) -> Outcome {
    shell::run(shell::program("sync").arg("--file-system").arg(path))
}

/// Annotates a corpus and holds what `git diff --numstat` says against it: one line for each resource, one more where
/// `annotations:` is new, and none gone.
fn changes_one_line_each(krm: &Path, old: &Path, new: &Path) -> Outcome {
    let had = shell::output(&mut command(
        krm,
        new,
        &["cfg", "grep", "metadata.annotations", ".", "-o", "json"].map(str::to_owned),
    ))?;
    let want = 2 * RESOURCES - had.lines().count();
    shell::run(&mut command(krm, new, &annotate(0)))?;
    let (added, gone) = numstat(old, new)?;
    if (added, gone) != (want, 0) {
        return Err(format!(
            "annotate added {added} lines and took {gone} away; {want} and none are wanted"
        )
        .into());
    }
    println!("\nannotate: {added} new lines for {RESOURCES} resources, none gone");
    Ok(())
}

/// What `git diff --numstat` says between two folders: lines that are new, and lines that are gone.
pub(super) fn numstat(old: &Path, new: &Path) -> Outcome<(usize, usize)> {
    let mut git = shell::program("git");
    let said = git.args(["diff", "--no-index", "--numstat"]).arg(old).arg(new).output()?;
    let said = String::from_utf8(said.stdout)?;
    let (mut added, mut gone) = (0, 0);
    for line in said.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        added += words[0].parse::<usize>()?;
        gone += words[1].parse::<usize>()?;
    }
    Ok((added, gone))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_floor_leaves_the_files_as_they_were_and_git_counts_what_changed() {
        let folder = std::env::temp_dir().join(format!("krm-floor-{}", std::process::id()));
        let (old, new) = (folder.join("old"), folder.join("new"));
        corpus::write(&old, 20, Layout::Many).expect("written");
        let written = corpus::write(&new, 20, Layout::Many).expect("written");
        assert!(floor(&written.files).expect("it writes") > 0.0);
        assert_eq!(numstat(&old, &new).expect("git compares"), (0, 0));
        let text = fs::read_to_string(&written.files[0]).expect("just written");
        let (first, rest) = text.split_once('\n').expect("it has lines");
        fs::write(&written.files[0], format!("{rest}one\ntwo\n")).expect("written");
        assert_eq!(numstat(&old, &new).expect("git compares"), (2, 1), "without {first}");
        fs::remove_dir_all(&folder).expect("ours to remove");
    }
}
