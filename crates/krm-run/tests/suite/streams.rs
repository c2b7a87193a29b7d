//! Standard streams: neither end ever waits for the other, and nothing grows without bound.

use std::time::Duration;

use krm_run::{Exec, Function, Interrupt, Limits, Reason};

use crate::programs::{INPUT, Scripts, probe};

/// A limit for tests that must not reach it.
pub(crate) const LONG: Limits = Limits {
    time: Duration::from_secs(120),
    output: 256 << 20,
    stderr: 64 << 10,
    memory: 1 << 30,
    processes: 64,
    steps: u64::MAX,
};

#[test]
fn what_goes_in_comes_out() {
    let scripts = Scripts::new();
    // Far more than a pipe holds, in both directions at once.
    let input = "key: värld # комментарий\n".repeat(400_000);
    let outcome = scripts.exec("cat").unwrap().run(input.as_bytes(), &LONG, &Interrupt::new());
    let outcome = outcome.unwrap();
    assert!(outcome.stdout == input, "{} of {} bytes", outcome.stdout.len(), input.len());
    assert_eq!((outcome.stderr.total(), outcome.image), (0, None));
    assert!(outcome.time > Duration::ZERO);
}

#[test]
fn empty_input_is_an_input() {
    let scripts = Scripts::new();
    let function = scripts.exec("wc -c").unwrap();
    let outcome = function.run(b"", &LONG, &Interrupt::new()).unwrap();
    assert_eq!(outcome.stdout.trim(), "0");
}

#[test]
fn a_function_that_never_reads_gets_its_say() {
    let scripts = Scripts::new();
    scripts.write("function", "echo kind: List");
    let input = vec![b'x'; 10 << 20];
    let outcome = scripts.exec("./function").unwrap().run(&input, &LONG, &Interrupt::new());
    assert_eq!(outcome.unwrap().stdout, "kind: List\n");
}

#[test]
fn a_function_that_answers_before_it_reads_is_no_deadlock() {
    let scripts = Scripts::new();
    scripts.write("function", "head -c 5000000 /dev/zero | tr '\\0' y; cat >/dev/null; echo end");
    let input = vec![b'x'; 5 << 20];
    let outcome = scripts.exec("./function").unwrap().run(&input, &LONG, &Interrupt::new());
    assert_eq!(outcome.unwrap().stdout.len(), 5_000_004);
}

#[test]
fn a_function_that_closes_its_output_early_is_waited_for() {
    let scripts = Scripts::new();
    let text = "echo kind: List; exec 1>&- 2>&-; cat >/dev/null; touch ended; exit 7";
    let failure = scripts.run(text, &LONG).unwrap_err();
    assert_eq!((failure.reason.clone(), failure.stdout()), (Reason::Exit(7), &b"kind: List\n"[..]));
    assert!(scripts.path().join("ended").exists());
}

#[test]
fn standard_error_without_end_takes_no_memory() {
    let before = peak();
    let command = format!("{} spam 1024", probe().display());
    let scripts = Scripts::new();
    let outcome = scripts.exec(&command).unwrap().run(INPUT, &LONG, &Interrupt::new()).unwrap();
    assert!(outcome.stderr.total() > 1 << 30, "{}", outcome.stderr.total());
    assert_eq!(outcome.stderr.last_lines(1), ["the last words"]);
    assert!(outcome.stderr.is_cut() && outcome.stderr.text().len() <= LONG.stderr);
    // Other tests run beside this one, and one of them holds some tens of MiB.
    assert!(peak() - before < 400 << 10, "{before} to {} KiB", peak());
}

/// The most memory that this process ever had, in KiB; zero where the system does not say.
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or(0)
}

#[test]
fn output_without_end_is_cut_off_and_said() {
    let scripts = Scripts::new();
    let limits = Limits { output: 1 << 20, ..LONG };
    let failure = scripts.run("echo watch this >&2; exec yes", &limits).unwrap_err();
    assert_eq!(failure.reason, Reason::TooMuchOutput(1 << 20));
    assert_eq!(
        (failure.stdout().len(), failure.stderr().text().as_str()),
        (1 << 20, "watch this\n")
    );
}

#[test]
fn output_of_just_the_limit_is_whole() {
    let scripts = Scripts::new();
    let text = |count: usize| format!("head -c {count} /dev/zero | tr '\\0' y");
    let limits = Limits { output: 100_000, ..LONG };
    assert_eq!(scripts.run(&text(100_000), &limits).unwrap().stdout.len(), 100_000);
    let failure = scripts.run(&text(100_001), &limits).unwrap_err();
    assert_eq!(failure.reason, Reason::TooMuchOutput(100_000));
}

#[test]
fn no_output_is_a_failure() {
    let scripts = Scripts::new();
    for text in ["true", "cat >/dev/null", "printf ' \\n\\n'"] {
        let failure = scripts.run(text, &LONG).unwrap_err();
        assert_eq!(
            (failure.reason.clone(), failure.exit_code()),
            (Reason::Empty, Some(0)),
            "{text}"
        );
    }
}

#[test]
fn output_that_is_no_utf8_is_a_failure() {
    let scripts = Scripts::new();
    let failure = scripts.run(r"printf 'a: \303\244\n\377\n'", &LONG).unwrap_err();
    assert_eq!((failure.reason.clone(), failure.stdout().len()), (Reason::NotUtf8 { at: 6 }, 8));
}

#[test]
fn an_exit_code_is_a_failure_and_what_was_written_stays() {
    let scripts = Scripts::new();
    let text = "echo 'results: []'; echo no limits >&2; echo here >&2; exit 3";
    let failure = scripts.run(text, &LONG).unwrap_err();
    assert_eq!((failure.reason.clone(), failure.exit_code()), (Reason::Exit(3), Some(3)));
    assert_eq!(failure.stdout(), b"results: []\n");
    assert_eq!(failure.stderr().last_lines(5), ["no limits", "here"]);
    assert!(failure.time() > Duration::ZERO);
}

#[test]
fn a_signal_is_a_failure_with_its_number() {
    let scripts = Scripts::new();
    for (name, number) in [("SEGV", 11), ("KILL", 9), ("ABRT", 6)] {
        let failure = scripts.run(&format!("kill -{name} $$; sleep 60"), &LONG).unwrap_err();
        assert_eq!((failure.reason.clone(), failure.exit_code()), (Reason::Signal(number), None));
    }
}

#[test]
fn many_functions_run_side_by_side() {
    let scripts = Scripts::new();
    let function: Exec = scripts.exec("cat").unwrap();
    std::thread::scope(|scope| {
        for number in 0..16 {
            let function = &function;
            scope.spawn(move || {
                let input = format!("n: {number}\n").repeat(50_000);
                let outcome = function.run(input.as_bytes(), &LONG, &Interrupt::new()).unwrap();
                assert!(outcome.stdout == input, "{number}");
            });
        }
    });
}
