//! Directories that are swapped for symlinks while krm runs: nothing is written outside of the package.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use super::package::{self, PACKAGE, RECOVER, State};
use super::{Attempt, AttemptResult, wait_until};

/// A directory outside of the package, with files of the same names as in the package.
const OUTSIDE: &str = "outside";

pub(super) fn swap(attempt: &mut Attempt<'_>) -> AttemptResult {
    let scenario = attempt.scenario().clone();
    let mut tree = scenario.before.clone();
    let inside = Path::new(PACKAGE).join("one");
    let inner = tree.iter().filter_map(|(path, content)| {
        Some((Path::new(OUTSIDE).join(path.strip_prefix(&inside).ok()?), content.clone()))
    });
    let outside: package::Tree = inner.collect();
    tree.extend(outside.clone());
    attempt.reset(&tree);
    let pause = scenario.length.mul_f64(attempt.random.fraction());
    let hold = scenario.length.mul_f64(attempt.random.fraction() * 0.3);
    let is_over = AtomicBool::new(false);
    let place = attempt.directory.join(&inside);
    let aside = attempt.directory.join("aside");
    let output = std::thread::scope(|scope| {
        let swapper = scope.spawn(|| {
            wait_until(Instant::now() + pause);
            while !is_over.load(Ordering::Relaxed) {
                let _ = fs::rename(&place, &aside);
                let _ = symlink(attempt.directory.join(OUTSIDE), &place);
                wait_until(Instant::now() + hold);
                let _ = fs::remove_file(&place);
                let _ = fs::rename(&aside, &place);
                wait_until(Instant::now() + hold);
            }
        });
        let output = attempt.krm(&scenario.args).output();
        is_over.store(true, Ordering::Relaxed);
        swapper.join().map(|()| output)
    });
    let output = output.map_err(|_| "the swapper panicked")?.map_err(|error| error.to_string())?;
    let stderr = String::from_utf8_lossy(&output.stderr);
    let failed = |what: &str| format!("{}: {what}: {}: {stderr}", scenario.name, output.status);
    let mut now = package::read(attempt.directory);
    let found = now.extract_if(.., |path, _| path.starts_with(OUTSIDE)).collect::<package::Tree>();
    if found != outside {
        return Err(failed("changed files outside of the package"));
    }
    fs::remove_dir_all(attempt.directory.join(OUTSIDE)).map_err(|error| error.to_string())?;
    if output.status.code() == Some(70) {
        return Err(failed("crashed"));
    }
    // Whatever was a symlink when krm listed the package did not belong to it, so the package may be new in part.
    let recovery = attempt.krm(&RECOVER).output().map_err(|error| error.to_string())?;
    if !recovery.status.success() {
        let stderr = String::from_utf8_lossy(&recovery.stderr);
        return Err(failed(&format!("recovery failed: {}: {stderr}", recovery.status)));
    }
    let now = package::read(attempt.directory);
    let state = scenario.state(&now).map_err(|error| failed(&error))?;
    if let Some(path) = now.keys().find(|path| package::is_temporary(path)) {
        return Err(failed(&format!("left {}", path.display())));
    }
    Ok(vec![match (state, output.status.success()) {
        (State::New, true) => "written",
        (State::Between, _) => "written in part",
        (State::Old, true) => "nothing to write",
        (State::Old, false) => "refused",
        (State::New, false) => "recovered",
    }])
}
