//! The progress line, which is drawn on terminals only.
#![cfg(target_os = "linux")]

use crate::sandbox::Sandbox;

const PROGRESS: &str = "\r\u{1b}[Kread 1 of 3 files\r\u{1b}[K";
const WITHOUT_PROGRESS: &str = "p/\r\nPod: 3\r\n";

/// The output of `krm cfg count` on three files, processed one after the other, on a terminal.
fn on_a_terminal(environment: &str, flags: &str) -> String {
    let sandbox = Sandbox::new();
    for name in ["a", "b", "c"] {
        sandbox.write(&format!("p/{name}.yaml"), b"apiVersion: v1\nkind: Pod\n");
    }
    let line = format!("env {environment} script -qec 'krm cfg count p -j1 {flags}' /dev/null");
    let ran = sandbox.run(&line);
    assert_eq!((ran.stderr.as_str(), ran.exit), ("", 0), "{line}");
    ran.stdout
}

#[test]
fn long_run_draws_and_erases_progress() {
    let drawn = on_a_terminal("TERM=xterm KRM_TEST_PROGRESS_DELAY_MS=0", "");
    // A package that was written a moment ago is read twice, and so is its progress.
    assert_eq!(
        drawn.replace(&format!("{PROGRESS}{PROGRESS}"), PROGRESS),
        format!("{PROGRESS}{WITHOUT_PROGRESS}")
    );
}

#[test]
fn short_run_draws_no_progress() {
    assert_eq!(on_a_terminal("TERM=xterm KRM_TEST_PROGRESS_DELAY_MS=600000", ""), WITHOUT_PROGRESS);
}

#[test]
fn quiet_or_dumb_terminals_get_no_progress() {
    let now = "KRM_TEST_PROGRESS_DELAY_MS=0";
    assert_eq!(on_a_terminal(&format!("{now} TERM=dumb"), ""), WITHOUT_PROGRESS);
    assert_eq!(on_a_terminal(&format!("{now} TERM=xterm CI=true"), ""), WITHOUT_PROGRESS);
    assert_eq!(on_a_terminal(&format!("{now} TERM=xterm"), "-q"), WITHOUT_PROGRESS);
    assert_eq!(
        on_a_terminal(&format!("{now} TERM=xterm"), "2> stderr; cat stderr"),
        WITHOUT_PROGRESS
    );
}
