//! The observer receives output when a process pauses before its end; the result is the same with and without one.

use std::fs;

use krm_run::{Execution, Function, Invocation};

use crate::programs::{Checked, INPUT, Scripts};
use crate::streams::LONG;

/// Runs a script that waits for a file `go`, which the observer creates when it receives output.
fn observe(script: &str, input: &[u8]) -> (Execution, Vec<String>) {
    let scripts = Scripts::new();
    let wait = "until [ -e go ]; do sleep 0.01; done";
    scripts.write("function", &script.replace("WAIT", wait));
    let mut observed = Vec::new();
    let mut observer = |so_far: &[u8]| {
        observed.push(String::from_utf8(so_far.to_owned()).unwrap());
        fs::write(scripts.path().join("go"), "").unwrap();
    };
    let function = scripts.exec("./function").unwrap();
    let execution = function.run(&mut Invocation {
        limits: LONG,
        observer: Some(&mut observer),
        ..Invocation::new(input)
    });
    (execution.succeeded(), observed)
}

#[test]
fn pause_before_the_end_is_observed() {
    let (execution, observed) = observe("cat; WAIT", INPUT);
    assert_eq!(observed, [String::from_utf8_lossy(INPUT)]);
    assert_eq!(execution.stdout, INPUT);
}

#[test]
fn output_after_a_pause_is_complete() {
    let (execution, observed) = observe("cat >/dev/null; echo one; WAIT; echo two", INPUT);
    assert_eq!(observed[0], "one\n");
    assert_eq!(execution.text(), "one\ntwo\n");
}

#[test]
fn number_of_observations_is_limited() {
    let script = "cat >/dev/null; for i in 1 2 3 4 5 6; do echo $i; sleep 0.1; done";
    let (execution, observed) = observe(script, INPUT);
    assert!((1..=3).contains(&observed.len()), "{observed:?}");
    assert!(observed.iter().all(|it| execution.text().starts_with(&**it)), "{observed:?}");
    assert_eq!(execution.text(), "1\n2\n3\n4\n5\n6\n");
}

#[test]
fn output_before_all_input_is_read_is_not_observed() {
    // More than pipes hold.
    let input = vec![b'x'; 5 << 20];
    let (_, observed) = observe("echo early; sleep 0.1; cat >/dev/null; echo late; WAIT", &input);
    assert_eq!(observed, ["early\nlate\n"]);
}
