//! Kills and signals at random moments: of the run, of its write, and at its n-th system call.

use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::process::Child;
use std::time::Instant;

use super::package::{PACKAGE, Scenario, State};
use super::random::Random;
use super::{Attempt, AttemptResult, strace, wait_until};

/// Kills krm, and recovers.
pub(super) fn kill(attempt: &mut Attempt<'_>) -> AttemptResult {
    let scenario = attempt.scenario().clone();
    attempt.reset(&scenario.before);
    let by_call = strace::is_available() && attempt.random.below(3) == 0;
    if by_call {
        let calls = *attempt.random.choose(&[strace::WRITING, strace::WRITING, strace::CALLS]);
        let call = *attempt.random.choose(calls);
        let inject =
            format!("{call}:signal=SIGKILL:when={}", 1 + attempt.random.below(call_limit(call)));
        let output = strace::krm(attempt, &inject, &scenario.args).output();
        output.map_err(|error| error.to_string())?;
    } else {
        let mut child = start(attempt, &scenario)?;
        wait(attempt, &scenario, &mut child);
        let _ = child.kill();
        child.wait().map_err(|error| error.to_string())?;
    }
    let [before, after] = attempt.recovered(&scenario)?;
    Ok(vec![match (before, after) {
        (State::Between, State::Old) => "rolled back",
        (State::Between, _) => "completed",
        (State::Old, State::Old) => "old",
        (State::New, State::New) => "new",
        _ => return Err(format!("{}: recovery changed a whole package", scenario.name)),
    }])
}

/// Most calls are made when files are read, most interesting ones later.
fn call_limit(call: &str) -> usize {
    match call {
        "openat" | "close" | "read" | "statx" | "openat2" => 90,
        _ => 4,
    }
}

/// Sends a signal: krm removes what it staged, or completes the write, before it ends.
pub(super) fn signal(attempt: &mut Attempt<'_>) -> AttemptResult {
    use rustix::process::{Pid, Signal, kill_process};
    let scenario = attempt.scenario().clone();
    attempt.reset(&scenario.before);
    let mut child = start(attempt, &scenario)?;
    let (signal, number) =
        *attempt.random.choose(&[(Signal::INT, 2), (Signal::TERM, 15), (Signal::HUP, 1)]);
    wait(attempt, &scenario, &mut child);
    let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    for _ in 0..=attempt.random.below(2) {
        // It may have ended already.
        let _ = pid.map(|pid| kill_process(pid, signal));
    }
    let output = child.wait_with_output().map_err(|error| error.to_string())?;
    let stderr = String::from_utf8_lossy(&output.stderr);
    let now = super::package::read(attempt.directory);
    let state = scenario.state(&now).map_err(|error| format!("{}: {error}", scenario.name))?;
    let ended = output.status.signal();
    Ok(vec![match (state, output.status.code(), ended) {
        (State::New, Some(0), _) => "too late",
        (State::Old, _, Some(ended)) if ended == number => "nothing written",
        (State::New, _, Some(ended)) if ended == number => "completed",
        (State::Between, ..) => {
            return Err(format!("{}: left {}", scenario.name, scenario.difference(&now)));
        }
        _ => return Err(format!("{}: {state:?} with {}: {stderr}", scenario.name, output.status)),
    }])
}

fn start(attempt: &Attempt<'_>, scenario: &Scenario) -> Result<Child, String> {
    attempt.krm(&scenario.args).spawn().map_err(|error| error.to_string())
}

/// Waits for a random part of the run, or for its journal and a random part of the write.
fn wait(attempt: &mut Attempt<'_>, scenario: &Scenario, child: &mut Child) {
    let random: &mut Random = &mut attempt.random;
    let start = Instant::now();
    if random.below(3) == 0 {
        return wait_until(start + scenario.length.mul_f64(random.fraction() * 1.1));
    }
    let journal = attempt.directory.join(PACKAGE).join(".krm-journal");
    while fs::symlink_metadata(&journal).is_err() && matches!(child.try_wait(), Ok(None)) {
        std::thread::yield_now();
    }
    // In memory, most writes are over after a few percent of the run.
    let share = *random.choose(&[0.02, 0.06, 0.3]);
    wait_until(Instant::now() + scenario.length.mul_f64(random.fraction() * share));
}
