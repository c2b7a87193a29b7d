//! Ends that somebody else made: limits and interrupts take the whole family, and nobody is left behind.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use krm_run::{Failure, Function, Interrupt, Limits, Outcome, Reason};

use crate::programs::{INPUT, Scripts};

fn limits(milliseconds: u64) -> Limits {
    Limits { time: Duration::from_millis(milliseconds), ..Limits::default() }
}

/// Waits for something that happens soon; a machine that is busy for a minute has other problems.
pub(crate) fn wait_until(what: &str, mut happened: impl FnMut() -> bool) {
    let start = Instant::now();
    while !happened() {
        assert!(start.elapsed() < Duration::from_secs(60), "never: {what}");
        thread::sleep(Duration::from_millis(20));
    }
}

/// The number that a script wrote into a file.
fn pid(folder: &Path, name: &str) -> u32 {
    let mut text = String::new();
    wait_until(name, || {
        text = fs::read_to_string(folder.join(name)).unwrap_or_default();
        text.ends_with('\n')
    });
    text.trim().parse().unwrap()
}

/// Whether no such process runs; who is not our child may stay a zombie until its parent looks.
fn is_gone(pid: u32) -> bool {
    let status = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let state = status.rsplit(')').next().and_then(|rest| rest.split_whitespace().next());
    matches!(state, None | Some("Z" | "X"))
}

#[test]
fn a_function_that_takes_too_long_is_stopped_with_its_family() {
    let scripts = Scripts::new();
    let text =
        "echo so far; echo still at it >&2; sleep 1000 & echo $! >child; echo $$ >self; wait";
    let failure = scripts.run(text, &limits(2000)).unwrap_err();
    assert_eq!(failure.reason, Reason::Timeout(Duration::from_millis(2000)));
    assert_eq!(
        (failure.stdout(), failure.stderr().text().as_str()),
        (&b"so far\n"[..], "still at it\n")
    );
    // Our own child is reaped: there is not even a zombie.
    assert!(!Path::new(&format!("/proc/{}", pid(scripts.path(), "self"))).exists());
    let child = pid(scripts.path(), "child");
    wait_until("the child of the function ends", || is_gone(child));
}

#[test]
fn a_function_may_clean_up_when_it_is_asked_to_end() {
    let scripts = Scripts::new();
    let text = "trap 'echo cleaned >&2; exit 0' TERM; sleep 1000 & wait";
    let failure = scripts.run(text, &limits(2000)).unwrap_err();
    assert_eq!(failure.reason, Reason::Timeout(Duration::from_millis(2000)));
    assert_eq!(failure.stderr().text(), "cleaned\n");
}

#[test]
fn a_function_that_will_not_end_is_killed() {
    let scripts = Scripts::new();
    let text = "trap '' TERM INT HUP; echo $$ >self; while :; do sleep 0.1; done";
    let failure = scripts.run(text, &limits(2000)).unwrap_err();
    assert_eq!(failure.reason, Reason::Timeout(Duration::from_millis(2000)));
    assert!(!Path::new(&format!("/proc/{}", pid(scripts.path(), "self"))).exists());
}

#[test]
fn a_function_that_never_reads_is_stopped_too() {
    let scripts = Scripts::new();
    scripts.write("function", "exec sleep 1000");
    let input = vec![b'x'; 10 << 20];
    let function = scripts.exec("./function").unwrap();
    let failure = function.run(&input, &limits(2000), &Interrupt::new()).unwrap_err();
    assert_eq!(failure.reason, Reason::Timeout(Duration::from_millis(2000)));
}

#[test]
fn what_a_function_leaves_behind_ends_with_it() {
    let scripts = Scripts::new();
    let text = "sleep 1000 & echo $! >child; echo kind: List";
    assert_eq!(scripts.run(text, &limits(60_000)).unwrap().stdout, "kind: List\n");
    let child = pid(scripts.path(), "child");
    wait_until("what was left behind ends", || is_gone(child));
}

#[test]
fn somebody_who_escapes_and_holds_the_pipes_is_not_waited_for() {
    let scripts = Scripts::new();
    let text = "setsid sh -c 'echo $$ >escaped; while :; do echo noise >&2; done' &
        while [ ! -s escaped ]; do sleep 0.01; done; echo kind: List";
    let outcome = scripts.run(text, &limits(60_000));
    let escaped = pid(scripts.path(), "escaped");
    std::process::Command::new("kill").args(["-9", &escaped.to_string()]).status().unwrap();
    assert_eq!(outcome.unwrap().stdout, "kind: List\n");
}

/// Runs a script on another thread until it is interrupted.
fn interrupted(
    scripts: &Scripts,
    interrupt: &Interrupt,
    ready: impl FnOnce(),
) -> Result<Outcome, Failure> {
    let function = scripts.exec("./function").unwrap();
    thread::scope(|scope| {
        let run = scope.spawn(|| function.run(INPUT, &limits(600_000), interrupt));
        ready();
        run.join().unwrap()
    })
}

#[test]
fn an_interrupt_stops_what_runs() {
    let scripts = Scripts::new();
    scripts.write("function", "sleep 1000 & echo $! >child; echo $$ >self; wait");
    let interrupt = Interrupt::new();
    let outcome = interrupted(&scripts, &interrupt, || {
        pid(scripts.path(), "self");
        interrupt.clone().interrupt();
    });
    assert_eq!(outcome.unwrap_err().reason, Reason::Interrupted);
    let child = pid(scripts.path(), "child");
    wait_until("the child of the function ends", || is_gone(child));
}

#[test]
fn a_flag_that_a_signal_sets_is_an_interrupt() {
    let scripts = Scripts::new();
    scripts.write("function", "echo $$ >self; exec sleep 1000");
    let flag = Arc::new(AtomicBool::new(false));
    let outcome = interrupted(&scripts, &Interrupt::from(Arc::clone(&flag)), || {
        pid(scripts.path(), "self");
        flag.store(true, Ordering::SeqCst);
    });
    assert_eq!(outcome.unwrap_err().reason, Reason::Interrupted);
}

#[test]
fn after_an_interrupt_nothing_is_started() {
    let scripts = Scripts::new();
    scripts.write("function", "touch ran");
    let interrupt = Interrupt::new();
    interrupt.interrupt();
    let function = scripts.exec("./function").unwrap();
    let failure = function.run(INPUT, &limits(60_000), &interrupt).unwrap_err();
    assert_eq!((failure.reason.clone(), failure.time()), (Reason::Interrupted, Duration::ZERO));
    assert!(!scripts.path().join("ran").exists());
}

#[test]
fn no_zombie_is_left() {
    let scripts = Scripts::new();
    scripts.write("function", "echo $$");
    let function = scripts.exec("./function").unwrap();
    for _ in 0..50 {
        let outcome = function.run(INPUT, &limits(60_000), &Interrupt::new()).unwrap();
        assert!(!Path::new("/proc").join(outcome.stdout.trim()).exists(), "{}", outcome.stdout);
    }
}
