//! Messages of failed functions: the name, how it ended, the last lines of stderr, and hints.

use std::time::Duration;

use krm_core::Diagnostic;
use krm_run::{Execution, Function, Invocation, Limits, RunKind, cannot_run, label};

use crate::programs::{Checked, INPUT, Scripts};

fn lines(diagnostic: &Diagnostic) -> String {
    assert!(diagnostic.is_error());
    let notes = diagnostic.notes().iter().map(|note| format!("\nnote: {note}"));
    let hints = diagnostic.hints.iter().map(|hint| format!("\nhelp: {hint}"));
    diagnostic.message().to_owned() + &notes.chain(hints).collect::<String>()
}

fn message(execution: &Execution, name: &str) -> String {
    lines(&execution.failure(execution.error(), &label(None, name)))
}

fn run(text: &str, limits: &Limits) -> String {
    message(&Scripts::new().run(text, limits), "./function")
}

#[test]
fn exit_code_with_the_last_lines_of_stderr() {
    let limits = Limits::default();
    assert_eq!(
        run("for n in 1 2 3 4 5 6 7 8 9 10 11 12; do echo line $n >&2; done; exit 3", &limits),
        "function `./function` failed: exited with code 3\nnote: last lines of stderr:\n  | line 3\n  | line 4\n  | line 5\n  \
         | line 6\n  | line 7\n  | line 8\n  | line 9\n  | line 10\n  | line 11\n  | line 12"
    );
    assert_eq!(run("exit 1", &limits), "function `./function` failed: exited with code 1");
}

#[test]
fn signals_have_names() {
    assert_eq!(
        run("echo oops >&2; kill -SEGV $$", &Limits::default()),
        "function `./function` failed: killed by signal 11 (SIGSEGV)\nnote: last lines of stderr:\n  | oops"
    );
    assert_eq!(
        run("kill -KILL $$", &Limits::default()),
        "function `./function` failed: killed by signal 9 (SIGKILL)\n\
         help: the process was killed, usually because of too little memory"
    );
}

#[test]
fn limits_name_the_flag_that_changes_them() {
    let limits = Limits { time: Duration::from_millis(1500), output: 1 << 20, ..Limits::default() };
    assert_eq!(
        run("echo reading the schema >&2; sleep 100", &limits),
        "function `./function` failed: timed out after 1.5 seconds\n\
         note: last lines of stderr:\n  | reading the schema\n\
         help: use --timeout to allow more time"
    );
    let limits = Limits { time: Duration::from_secs(60), ..limits };
    assert_eq!(
        run("exec yes", &limits),
        "function `./function` failed: wrote more than 1 MiB to stdout\n\
         help: check whether it writes without end"
    );
}

#[test]
fn invalid_output() {
    let limits = Limits::default();
    assert_eq!(
        run("true", &limits),
        "function `./function` failed: exited with code 0 but wrote nothing to stdout\n\
         help: write a ResourceList to stdout"
    );
    assert_eq!(
        run(r"printf 'a\377'", &limits),
        "function `./function` failed: stdout is not valid UTF-8 at byte 1"
    );
}

#[test]
fn commands_that_cannot_be_started() {
    let scripts = Scripts::new();
    let root = scripts.path().display();
    std::fs::write(scripts.path().join("text"), "").unwrap();
    let message = |command: &str| {
        let error: RunKind = scripts.exec(command).unwrap_err();
        lines(&cannot_run(Diagnostic::error(error), &label(None, command)))
    };
    assert_eq!(
        message("./missing a"),
        format!("cannot run function `./missing a`: command not found at {root}/./missing")
    );
    assert_eq!(
        message("./text"),
        format!(
            "cannot run function `./text`: `{root}/./text` is not executable\nhelp: run `chmod +x {root}/./text`"
        )
    );
}

#[test]
fn names_and_stderr_are_escaped_for_the_terminal() {
    let scripts = Scripts::new();
    scripts.write("function", r"printf '\033[31mred\033[0m\a\n' >&2; exit 1");
    let function = scripts.exec("./function '\u{1b}[2J'").unwrap();
    let execution = function.run(&mut Invocation::new(INPUT));
    assert_eq!(
        message(&execution, function.name()),
        "function `./function '\\u{1b}[2J'` failed: exited with code 1\nnote: last lines of stderr:\n  | red\\u{7}"
    );
}
