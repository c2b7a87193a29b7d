//! Standard streams: no deadlocks, and bounded memory.

use std::time::Duration;

use krm_run::{Exec, Function, Invocation, Limits, RunKind};

use crate::programs::{Checked, INPUT, Scripts, probe};

/// Limits that tests must not reach.
pub(crate) const LONG: Limits = Limits {
    time: Duration::from_secs(120),
    output: 256 << 20,
    stderr: 64 << 10,
    memory: 1 << 30,
    processes: 64,
    steps: u64::MAX,
};

#[test]
fn large_input_and_output_do_not_deadlock() {
    let scripts = Scripts::new();
    // Far more than a pipe holds, in both directions at once.
    let input = "key: värld # комментарий\n".repeat(400_000);
    let execution = scripts
        .exec("cat")
        .unwrap()
        .run(&mut Invocation { limits: LONG, ..Invocation::new(input.as_bytes()) });
    let execution = execution.succeeded();
    assert!(execution.text() == input, "{} of {} bytes", execution.text().len(), input.len());
    assert_eq!((execution.stderr.total(), execution.image), (0, None));
    assert!(execution.duration > Duration::ZERO);
}

#[test]
fn empty_input_is_closed() {
    let scripts = Scripts::new();
    let function = scripts.exec("wc -c").unwrap();
    let execution =
        function.run(&mut Invocation { limits: LONG, ..Invocation::new(b"") }).succeeded();
    assert_eq!(execution.text().trim(), "0");
}

#[test]
fn function_that_never_reads_succeeds() {
    let scripts = Scripts::new();
    scripts.write("function", "echo kind: List");
    let input = vec![b'x'; 10 << 20];
    let execution = scripts
        .exec("./function")
        .unwrap()
        .run(&mut Invocation { limits: LONG, ..Invocation::new(&input) });
    assert_eq!(execution.text(), "kind: List\n");
}

#[test]
fn output_before_input_does_not_deadlock() {
    let scripts = Scripts::new();
    scripts.write("function", "head -c 5000000 /dev/zero | tr '\\0' y; cat >/dev/null; echo end");
    let input = vec![b'x'; 5 << 20];
    let execution = scripts
        .exec("./function")
        .unwrap()
        .run(&mut Invocation { limits: LONG, ..Invocation::new(&input) });
    assert_eq!(execution.text().len(), 5_000_004);
}

#[test]
fn closed_output_does_not_end_the_function() {
    let scripts = Scripts::new();
    let text = "echo kind: List; exec 1>&- 2>&-; cat >/dev/null; touch ended; exit 7";
    let failure = scripts.run(text, &LONG).failed();
    assert_eq!(
        (failure.error(), &failure.stdout[..]),
        (RunKind::ExitCode { code: 7 }, &b"kind: List\n"[..])
    );
    assert!(scripts.path().join("ended").exists());
}

#[test]
fn endless_stderr_takes_no_memory() {
    let before = peak();
    let command = format!("{} spam 1024", probe().display());
    let scripts = Scripts::new();
    let execution = scripts
        .exec(&command)
        .unwrap()
        .run(&mut Invocation { limits: LONG, ..Invocation::new(INPUT) })
        .succeeded();
    assert!(execution.stderr.total() > 1 << 30, "{}", execution.stderr.total());
    assert_eq!(execution.stderr.last_lines(1), ["the last line"]);
    assert!(execution.stderr.is_truncated() && execution.stderr.text().len() <= LONG.stderr);
    // Other tests run in parallel, and one of them holds some tens of MiB.
    assert!(peak() - before < 400 << 10, "{before} to {} KiB", peak());
}

/// The peak memory of this process in KiB; zero if the system does not report it.
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or(0)
}

#[test]
fn endless_output_is_truncated_and_reported() {
    let scripts = Scripts::new();
    let limits = Limits { output: 1 << 20, ..LONG };
    let failure = scripts.run("echo watch this >&2; exec yes", &limits).failed();
    assert_eq!(failure.error(), RunKind::OutputTooLarge { limit: 1 << 20 });
    assert_eq!((failure.stdout.len(), failure.stderr.text().as_str()), (1 << 20, "watch this\n"));
}

#[test]
fn output_of_exactly_the_limit_is_complete() {
    let scripts = Scripts::new();
    let text = |count: usize| format!("head -c {count} /dev/zero | tr '\\0' y");
    let limits = Limits { output: 100_000, ..LONG };
    assert_eq!(scripts.run(&text(100_000), &limits).succeeded().text().len(), 100_000);
    let failure = scripts.run(&text(100_001), &limits).failed();
    assert_eq!(failure.error(), RunKind::OutputTooLarge { limit: 100_000 });
}

#[test]
fn empty_output_is_an_error() {
    let scripts = Scripts::new();
    for text in ["true", "cat >/dev/null", "printf ' \\n\\n'"] {
        let failure = scripts.run(text, &LONG).failed();
        assert_eq!(
            (failure.error(), failure.exit_code()),
            (RunKind::EmptyOutput, Some(0)),
            "{text}"
        );
    }
}

#[test]
fn invalid_utf8_is_an_error() {
    let scripts = Scripts::new();
    let failure = scripts.run(r"printf 'a: \303\244\n\377\n'", &LONG).failed();
    assert_eq!((failure.error(), failure.stdout.len()), (RunKind::OutputNotUtf8 { offset: 6 }, 8));
}

#[test]
fn exit_code_is_an_error_and_output_is_kept() {
    let scripts = Scripts::new();
    let text = "echo 'results: []'; echo no limits >&2; echo here >&2; exit 3";
    let failure = scripts.run(text, &LONG).failed();
    assert_eq!((failure.error(), failure.exit_code()), (RunKind::ExitCode { code: 3 }, Some(3)));
    assert_eq!(&failure.stdout[..], b"results: []\n");
    assert_eq!(failure.stderr.last_lines(5), ["no limits", "here"]);
    assert!(failure.duration > Duration::ZERO);
}

#[test]
fn signal_is_an_error_with_its_number() {
    let scripts = Scripts::new();
    for (name, number) in [("SEGV", 11), ("KILL", 9), ("ABRT", 6)] {
        let failure = scripts.run(&format!("kill -{name} $$; sleep 60"), &LONG).failed();
        assert_eq!((failure.error(), failure.exit_code()), (RunKind::Signal { number }, None));
    }
}

#[test]
fn functions_run_in_parallel() {
    let scripts = Scripts::new();
    let function: Exec = scripts.exec("cat").unwrap();
    std::thread::scope(|scope| {
        for number in 0..16 {
            let function = &function;
            scope.spawn(move || {
                let input = format!("n: {number}\n").repeat(50_000);
                let execution = function
                    .run(&mut Invocation { limits: LONG, ..Invocation::new(input.as_bytes()) })
                    .succeeded();
                assert!(execution.text() == input, "{number}");
            });
        }
    });
}
