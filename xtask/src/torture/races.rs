//! Concurrent writers, readers and editors: a reader sees one version, and no edit is lost silently.

use std::collections::BTreeSet;
use std::fs;
use std::process::Output;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use super::package::{self, PACKAGE};
use super::{Attempt, AttemptResult, wait_until};

/// Enough files that a write takes a while.
const FILES: usize = 30;

/// How often a package is written in one attempt.
const WRITES: usize = 4;

pub(super) fn race(attempt: &mut Attempt<'_>) -> AttemptResult {
    attempt.reset(&package::package(PACKAGE, FILES, ""));
    match attempt.random.below(4) {
        0 | 1 => readers(attempt),
        2 => writers(attempt),
        _ => editor(attempt),
    }
}

/// Commands that read the package, or one of its directories.
const READERS: &[&[&str]] = &[
    &["cfg", "cat", PACKAGE],
    &["fn", "source", PACKAGE],
    &["cfg", "grep", "kind=Deployment", PACKAGE],
    &["cfg", "cat", "package/one"],
    &["cfg", "set", PACKAGE, "replicas", "4", "--diff"],
];

/// Readers while one program writes the package, or one of its directories.
fn readers(attempt: &mut Attempt<'_>) -> AttemptResult {
    let written = *attempt.random.choose(&[PACKAGE, "package/one", "."]);
    let reader = *attempt.random.choose(READERS);
    write(attempt, written, "run=start")?;
    let is_over = AtomicBool::new(false);
    let (written, read) = std::thread::scope(|scope| {
        let writer = scope.spawn(|| {
            let result =
                (0..WRITES).try_for_each(|n| write(attempt, written, &format!("run=v{n}")));
            is_over.store(true, Ordering::Relaxed);
            result
        });
        let mut labels = Vec::new();
        let read = loop {
            match read(attempt, reader) {
                Ok(label) => labels.push(label),
                Err(finding) => break Err(finding),
            }
            if is_over.load(Ordering::Relaxed) {
                break Ok(labels);
            }
        };
        (writer.join(), read)
    });
    written.map_err(|_| "the writer panicked")??;
    read
}

/// Reads once. All values that are found are the same.
fn read(attempt: &Attempt<'_>, reader: &[&str]) -> Result<&'static str, String> {
    let output = run(attempt, reader)?;
    if output.status.code() == Some(3) {
        return Ok("reads refused");
    }
    let text = String::from_utf8_lossy(&output.stdout);
    let values: BTreeSet<&str> =
        text.lines().filter_map(|line| line.split("run: ").nth(1)).collect();
    match values.len() {
        0 | 1 if output.status.success() => Ok("reads"),
        0 | 1 => Err(format!("krm {}: {}", reader.join(" "), describe(&output))),
        _ => Err(format!("krm {} mixed {values:?}", reader.join(" "))),
    }
}

/// Two writers: the changes of both are there.
fn writers(attempt: &mut Attempt<'_>) -> AttemptResult {
    let result = std::thread::scope(|scope| {
        let other = scope.spawn(|| write(attempt, PACKAGE, "other=1"));
        let own = write(attempt, "package/one", "own=1");
        own.and(other.join().map_err(|_| "the writer panicked".to_owned())?)
    });
    result?;
    let tree = package::read(attempt.directory);
    for (path, content) in &tree {
        let text = String::from_utf8_lossy(content.as_deref().unwrap_or_default());
        let is_complete = text.contains("other: \"1\"")
            && (!path.starts_with("package/one") || text.contains("own: \"1\""));
        if content.is_some()
            && (package::is_temporary(path) || text.contains("Deployment") && !is_complete)
        {
            return Err(format!("two writers: {} has not both changes", path.display()));
        }
    }
    Ok(vec!["both written"])
}

/// Another program, which takes no lock, edits a file at a random moment. Its edit stays, or krm fails.
fn editor(attempt: &mut Attempt<'_>) -> AttemptResult {
    let path = attempt.directory.join(PACKAGE).join(package::path_of(attempt.random.below(FILES)));
    let length = attempt.scenarios.iter().map(|scenario| scenario.length).max().unwrap_or_default();
    // Half of the edits aim at the write.
    let at_any_time = attempt.random.below(2) == 0;
    let journal = attempt.directory.join(PACKAGE).join(".krm-journal");
    let pause = length.mul_f64(attempt.random.fraction() * if at_any_time { 2.0 } else { 0.3 });
    let (edited, output) = std::thread::scope(|scope| {
        let editor = scope.spawn(|| {
            let deadline = Instant::now() + length * 4;
            while !at_any_time
                && Instant::now() < deadline
                && fs::symlink_metadata(&journal).is_err()
            {
                std::thread::yield_now();
            }
            wait_until(Instant::now() + pause);
            let text = fs::read_to_string(&path)? + "# edited\n";
            let new = path.with_extension("new");
            fs::write(&new, text)?;
            fs::rename(&new, &path)
        });
        let output = run(attempt, &["cfg", "annotate", PACKAGE, "--kv", "run=1"]);
        (editor.join(), output)
    });
    edited.map_err(|_| "the editor panicked")?.map_err(|error| error.to_string())?;
    let output = output?;
    let text = fs::read_to_string(&path).map_err(|error| error.to_string())?;
    match (output.status.success(), text.ends_with("# edited\n")) {
        (true, true) => Ok(vec!["edits kept"]),
        (false, true) => Ok(vec!["edits kept with an error"]),
        (false, false) => Ok(vec!["edits lost with an error"]),
        (true, false) => Err(format!("the edit of {} was lost", path.display())),
    }
}

fn write(attempt: &Attempt<'_>, directory: &str, annotation: &str) -> Result<(), String> {
    let output = run(attempt, &["cfg", "annotate", directory, "--kv", annotation])?;
    match output.status.success() {
        true => Ok(()),
        false => Err(format!("cannot write {directory}: {}", describe(&output))),
    }
}

fn run(attempt: &Attempt<'_>, args: &[&str]) -> Result<Output, String> {
    attempt.krm(args).output().map_err(|error| error.to_string())
}

fn describe(output: &Output) -> String {
    format!("{}: {}", output.status, String::from_utf8_lossy(&output.stderr))
}
