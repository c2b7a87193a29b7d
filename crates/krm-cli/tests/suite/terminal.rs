//! What only a terminal gets to see: the line that says how far a long run has come.
#![cfg(target_os = "linux")]

use crate::sandbox::Sandbox;

const SHOWN: &str = "\r\u{1b}[Kread 1 of 3 files\r\u{1b}[Kp/\r\nPod: 3\r\n";
const NOT_SHOWN: &str = "p/\r\nPod: 3\r\n";

/// What a terminal receives from `krm cfg count` on three files, one after the other.
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
fn a_long_run_says_how_far_it_has_come_and_wipes_it_away() {
    assert_eq!(on_a_terminal("TERM=xterm KRM_TEST_PROGRESS_DELAY_MS=0", ""), SHOWN);
}

#[test]
fn a_short_run_says_nothing() {
    assert_eq!(on_a_terminal("TERM=xterm KRM_TEST_PROGRESS_DELAY_MS=600000", ""), NOT_SHOWN);
}

#[test]
fn who_wants_silence_or_cannot_wipe_gets_no_line() {
    let now = "KRM_TEST_PROGRESS_DELAY_MS=0";
    assert_eq!(on_a_terminal(&format!("{now} TERM=dumb"), ""), NOT_SHOWN);
    assert_eq!(on_a_terminal(&format!("{now} TERM=xterm CI=true"), ""), NOT_SHOWN);
    assert_eq!(on_a_terminal(&format!("{now} TERM=xterm"), "-q"), NOT_SHOWN);
    assert_eq!(on_a_terminal(&format!("{now} TERM=xterm"), "2> words; cat words"), NOT_SHOWN);
}
