//! System calls that fail: everything is written or nothing, and the exit code says which.

use std::os::unix::process::ExitStatusExt;

use super::package::{self, Scenario, State};
use super::{Attempt, AttemptResult, strace};

const ERRORS: &[&str] = &["ENOSPC", "EIO", "EMFILE", "ENOMEM", "EACCES", "EINTR", "EDQUOT"];

/// Diagnostics of files that are written, although the exit code is 3.
const WRITTEN: &[&str] = &["[cannot-flush]", "[journal-left]"];

/// The hint of a run that could not be rolled back.
const COMPLETED_LATER: &str = "the next command that writes here completes the run";

/// The hint of a run that was rolled back in part.
const ROLLED_BACK_LATER: &str = "the next command that writes here completes that";

pub(super) fn inject(attempt: &mut Attempt<'_>) -> AttemptResult {
    if !strace::is_available() {
        return Ok(vec!["skipped"]);
    }
    let scenario = attempt.scenario().clone();
    attempt.reset(&scenario.before);
    let call = *attempt.random.choose(strace::CALLS);
    let error = *attempt.random.choose(ERRORS);
    let limit = if ["openat", "close", "read", "statx"].contains(&call) { 80 } else { 12 };
    // A call that is interrupted is made again, so it must succeed at last.
    let from_then_on = if error != "EINTR" && attempt.random.below(3) == 0 { "+" } else { "" };
    let inject =
        format!("{call}:error={error}:when={}{from_then_on}", 1 + attempt.random.below(limit));
    let output = strace::krm(attempt, &inject, &scenario.args).output();
    let output = output.map_err(|error| error.to_string())?;
    let stderr = String::from_utf8_lossy(&output.stderr);
    let failed = |what: &str| {
        format!("{} with {inject}: {what}: {}: {stderr}", scenario.name, output.status)
    };
    if output.status.signal().is_some() || output.status.code() == Some(70) {
        return Err(failed("crashed"));
    }
    let written = output.status.success() || WRITTEN.iter().any(|id| stderr.contains(id));
    let now = package::read(attempt.directory);
    let state = without_temporary(&scenario, &now).map_err(|error| failed(&error))?;
    let [_, after] = attempt.recovered(&scenario).map_err(|error| failed(&error))?;
    match (state, written, after) {
        (State::New, true, State::New) if output.status.success() => Ok(vec!["no effect"]),
        (State::New, true, State::New) => Ok(vec!["written with an error"]),
        (State::Old, false, State::Old) => Ok(vec!["nothing written"]),
        (_, false, State::New) if stderr.contains(COMPLETED_LATER) => Ok(vec!["completed later"]),
        (_, false, State::Old) if stderr.contains(ROLLED_BACK_LATER) => {
            Ok(vec!["rolled back later"])
        }
        _ => Err(failed(&format!("{state:?}, and {after:?} after recovery"))),
    }
}

/// The state of the files, whatever temporary files and empty directories are left.
fn without_temporary(scenario: &Scenario, now: &package::Tree) -> Result<State, String> {
    let files = |tree: &package::Tree| -> package::Tree {
        let files = tree.iter().filter(|(path, it)| it.is_some() && !package::is_temporary(path));
        files.map(|(path, content)| (path.clone(), content.clone())).collect()
    };
    match files(now) {
        now if now == files(&scenario.before) => Ok(State::Old),
        now if now == files(&scenario.after) => Ok(State::New),
        _ => scenario.state(now),
    }
}
