//! Limits and interrupts stop the whole process group, and no process is left behind.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use krm_run::{Execution, Function, Interrupt, Invocation, Limits, RunKind};

use crate::programs::{Checked, INPUT, Scripts};

fn limits(milliseconds: u64) -> Limits {
    Limits { time: Duration::from_millis(milliseconds), ..Limits::default() }
}

/// Waits for a condition for up to a minute.
pub(crate) fn wait_until(what: &str, mut happened: impl FnMut() -> bool) {
    let start = Instant::now();
    while !happened() {
        assert!(start.elapsed() < Duration::from_secs(60), "never: {what}");
        thread::sleep(Duration::from_millis(20));
    }
}

/// The process id that a script wrote to a file.
fn pid(directory: &Path, name: &str) -> u32 {
    let mut text = String::new();
    wait_until(name, || {
        text = fs::read_to_string(directory.join(name)).unwrap_or_default();
        text.ends_with('\n')
    });
    text.trim().parse().unwrap()
}

/// Whether no such process runs. A process that is not our child may stay a zombie until its parent reaps it.
fn is_gone(pid: u32) -> bool {
    let status = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let state = status.rsplit(')').next().and_then(|rest| rest.split_whitespace().next());
    matches!(state, None | Some("Z" | "X"))
}

#[test]
fn timeout_stops_the_whole_process_group() {
    let scripts = Scripts::new();
    let text =
        "echo so far; echo still at it >&2; sleep 1000 & echo $! >child; echo $$ >self; wait";
    let failure = scripts.run(text, &limits(2000)).failed();
    assert_eq!(failure.error(), RunKind::Timeout { limit: Duration::from_millis(2000) });
    assert_eq!(
        (&failure.stdout[..], failure.stderr.text().as_str()),
        (&b"so far\n"[..], "still at it\n")
    );
    // Our own child is reaped: there is not even a zombie.
    assert!(!Path::new(&format!("/proc/{}", pid(scripts.path(), "self"))).exists());
    let child = pid(scripts.path(), "child");
    wait_until("the child of the function ends", || is_gone(child));
}

#[test]
fn sigterm_allows_a_function_to_clean_up() {
    let scripts = Scripts::new();
    let text = "trap 'echo cleaned >&2; exit 0' TERM; sleep 1000 & wait";
    let failure = scripts.run(text, &limits(2000)).failed();
    assert_eq!(failure.error(), RunKind::Timeout { limit: Duration::from_millis(2000) });
    assert_eq!(failure.stderr.text(), "cleaned\n");
}

#[test]
fn function_that_ignores_sigterm_is_killed() {
    let scripts = Scripts::new();
    let text = "trap '' TERM INT HUP; echo $$ >self; while :; do sleep 0.1; done";
    let failure = scripts.run(text, &limits(2000)).failed();
    assert_eq!(failure.error(), RunKind::Timeout { limit: Duration::from_millis(2000) });
    assert!(!Path::new(&format!("/proc/{}", pid(scripts.path(), "self"))).exists());
}

#[test]
fn function_that_never_reads_is_stopped() {
    let scripts = Scripts::new();
    scripts.write("function", "exec sleep 1000");
    let input = vec![b'x'; 10 << 20];
    let function = scripts.exec("./function").unwrap();
    let failure = function.run(&mut Invocation { limits: limits(2000), ..Invocation::new(&input) });
    assert_eq!(failure.error(), RunKind::Timeout { limit: Duration::from_millis(2000) });
}

#[test]
fn background_processes_end_with_the_function() {
    let scripts = Scripts::new();
    let text = "sleep 1000 & echo $! >child; echo kind: List";
    assert_eq!(scripts.run(text, &limits(60_000)).succeeded().text(), "kind: List\n");
    let child = pid(scripts.path(), "child");
    wait_until("what was left behind ends", || is_gone(child));
}

#[test]
fn escaped_process_that_holds_the_pipes_is_not_waited_for() {
    let scripts = Scripts::new();
    let text = "setsid sh -c 'echo $$ >escaped; while :; do echo noise >&2; done' &
        while [ ! -s escaped ]; do sleep 0.01; done; echo kind: List";
    let execution = scripts.run(text, &limits(60_000));
    let escaped = pid(scripts.path(), "escaped");
    std::process::Command::new("kill").args(["-9", &escaped.to_string()]).status().unwrap();
    assert_eq!(execution.text(), "kind: List\n");
}

/// Runs a script on another thread until it is interrupted.
fn interrupted(scripts: &Scripts, interrupt: &Interrupt, ready: impl FnOnce()) -> Execution {
    let function = scripts.exec("./function").unwrap();
    thread::scope(|scope| {
        let run = scope.spawn(|| {
            let (limits, interrupt) = (limits(600_000), interrupt.clone());
            function.run(&mut Invocation { limits, interrupt, ..Invocation::new(INPUT) })
        });
        ready();
        run.join().unwrap()
    })
}

#[test]
fn interrupt_stops_a_running_function() {
    let scripts = Scripts::new();
    scripts.write("function", "sleep 1000 & echo $! >child; echo $$ >self; wait");
    let interrupt = Interrupt::new();
    let execution = interrupted(&scripts, &interrupt, || {
        pid(scripts.path(), "self");
        interrupt.clone().interrupt();
    });
    assert_eq!(execution.error(), RunKind::Interrupted);
    let child = pid(scripts.path(), "child");
    wait_until("the child of the function ends", || is_gone(child));
}

#[test]
fn flag_of_a_signal_handler_is_an_interrupt() {
    let scripts = Scripts::new();
    scripts.write("function", "echo $$ >self; exec sleep 1000");
    let flag = Arc::new(AtomicBool::new(false));
    let execution = interrupted(&scripts, &Interrupt::from(Arc::clone(&flag)), || {
        pid(scripts.path(), "self");
        flag.store(true, Ordering::SeqCst);
    });
    assert_eq!(execution.error(), RunKind::Interrupted);
}

#[test]
fn nothing_starts_after_an_interrupt() {
    let scripts = Scripts::new();
    scripts.write("function", "touch ran");
    let interrupt = Interrupt::new();
    interrupt.interrupt();
    let function = scripts.exec("./function").unwrap();
    let limits = limits(60_000);
    let failure = function.run(&mut Invocation { limits, interrupt, ..Invocation::new(INPUT) });
    assert_eq!((failure.error(), failure.duration), (RunKind::Interrupted, Duration::ZERO));
    assert!(!scripts.path().join("ran").exists());
}

#[test]
fn no_zombies_are_left() {
    let scripts = Scripts::new();
    scripts.write("function", "echo $$");
    let function = scripts.exec("./function").unwrap();
    for _ in 0..50 {
        let execution =
            function.run(&mut Invocation { limits: limits(60_000), ..Invocation::new(INPUT) });
        assert!(!Path::new("/proc").join(execution.text().trim()).exists(), "{}", execution.text());
    }
}
