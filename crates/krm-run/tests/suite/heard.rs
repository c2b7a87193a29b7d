//! What a process wrote is told when it falls silent, before it ends; the outcome is the same with and without a listener.

use std::fs;

use krm_run::{Function, Interrupt, Outcome};

use crate::programs::{INPUT, Scripts};
use crate::streams::LONG;

/// Runs a script that waits for a file `go`, which is there once its listener was told something.
fn told(script: &str, input: &[u8]) -> (Outcome, Vec<String>) {
    let scripts = Scripts::new();
    let wait = "until [ -e go ]; do sleep 0.01; done";
    scripts.write("function", &script.replace("WAIT", wait));
    let mut told = Vec::new();
    let mut listener = |so_far: &[u8]| {
        told.push(String::from_utf8(so_far.to_owned()).unwrap());
        fs::write(scripts.path().join("go"), "").unwrap();
    };
    let function = scripts.exec("./function").unwrap();
    let outcome = function.run_heard(input, &LONG, &Interrupt::new(), &mut listener).unwrap();
    (outcome, told)
}

#[test]
fn a_pause_before_the_end_is_told() {
    let (outcome, told) = told("cat; WAIT", INPUT);
    assert_eq!(told, [String::from_utf8_lossy(INPUT)]);
    assert_eq!(outcome.stdout.as_bytes(), INPUT);
}

#[test]
fn what_comes_behind_a_pause_is_in_the_outcome() {
    let (outcome, told) = told("cat >/dev/null; echo one; WAIT; echo two", INPUT);
    assert_eq!(told[0], "one\n");
    assert_eq!(outcome.stdout, "one\ntwo\n");
}

#[test]
fn pauses_are_told_some_times_and_no_more() {
    let script = "cat >/dev/null; for i in 1 2 3 4 5 6; do echo $i; sleep 0.1; done";
    let (outcome, told) = told(script, INPUT);
    assert!((1..=3).contains(&told.len()), "{told:?}");
    assert!(told.iter().all(|told| outcome.stdout.starts_with(&**told)), "{told:?}");
    assert_eq!(outcome.stdout, "1\n2\n3\n4\n5\n6\n");
}

#[test]
fn a_process_that_still_has_to_read_has_not_answered_yet() {
    // More than pipes hold.
    let input = vec![b'x'; 5 << 20];
    let (_, told) = told("echo early; sleep 0.1; cat >/dev/null; echo late; WAIT", &input);
    assert_eq!(told, ["early\nlate\n"]);
}
