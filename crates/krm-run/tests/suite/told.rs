//! What people are told when a function fails: which one, how it ended, what it said last, what to do.

use std::time::Duration;

use krm_core::Diagnostic;
use krm_run::{Failure, Function, Interrupt, Limits};

use crate::programs::{INPUT, Scripts};

fn told(failure: &Failure) -> String {
    let diagnostic = Diagnostic::from(failure);
    assert!(diagnostic.is_error());
    let hints: Vec<String> =
        diagnostic.hints.iter().map(|hint| format!("\nhint: {hint}")).collect();
    diagnostic.message().to_owned() + &hints.concat()
}

fn of(text: &str, limits: &Limits) -> String {
    told(&Scripts::new().run(text, limits).unwrap_err())
}

#[test]
fn an_exit_code_and_the_last_words() {
    let limits = Limits::default();
    assert_eq!(
        of("for n in 1 2 3 4 5 6 7 8 9 10 11 12; do echo line $n >&2; done; exit 3", &limits),
        "function `./function` ended with exit code 3; it said last:\n  line 3\n  line 4\n  line 5\n  \
         line 6\n  line 7\n  line 8\n  line 9\n  line 10\n  line 11\n  line 12"
    );
    assert_eq!(of("exit 1", &limits), "function `./function` ended with exit code 1");
}

#[test]
fn a_signal_is_named() {
    assert_eq!(
        of("echo oops >&2; kill -SEGV $$", &Limits::default()),
        "function `./function` was ended by signal 11 (SIGSEGV); it said last:\n  oops"
    );
    assert_eq!(
        of("kill -KILL $$", &Limits::default()),
        "function `./function` was ended by signal 9 (SIGKILL)\n\
         hint: something killed it; too little memory is the usual cause"
    );
}

#[test]
fn a_limit_is_told_with_the_flag_that_moves_it() {
    let limits = Limits { time: Duration::from_millis(1500), output: 1 << 20, ..Limits::default() };
    assert_eq!(
        of("echo reading the schema >&2; sleep 100", &limits),
        "function `./function` was stopped after 1.5 seconds; it said last:\n  reading the schema\n\
         hint: give it more time with `--timeout`"
    );
    let limits = Limits { time: Duration::from_secs(60), ..limits };
    assert_eq!(
        of("exec yes", &limits),
        "function `./function` wrote more than 1 MiB\n\
         hint: it was stopped after 1 MiB; does it write without end?"
    );
}

#[test]
fn an_answer_that_is_none() {
    let limits = Limits::default();
    assert_eq!(
        of("true", &limits),
        "function `./function` ended with exit code 0 and wrote nothing\n\
         hint: a function writes a ResourceList to standard output"
    );
    assert_eq!(
        of(r"printf 'a\377'", &limits),
        "function `./function` wrote what is not UTF-8, from byte 1 on"
    );
}

#[test]
fn a_command_that_is_none() {
    let scripts = Scripts::new();
    let root = scripts.path().display();
    std::fs::write(scripts.path().join("text"), "").unwrap();
    assert_eq!(
        told(&scripts.exec("./missing a").unwrap_err()),
        format!("function `./missing a` was not found at {root}/./missing")
    );
    assert_eq!(
        told(&scripts.exec("./text").unwrap_err()),
        format!(
            "function `./text` is not executable: {root}/./text\nhint: make it so with `chmod +x {root}/./text`"
        )
    );
}

#[test]
fn the_name_and_the_words_of_a_function_do_not_reach_the_terminal_raw() {
    let scripts = Scripts::new();
    scripts.write("function", r"printf '\033[31mred\033[0m\a\n' >&2; exit 1");
    let function = scripts.exec("./function '\u{1b}[2J'").unwrap();
    let failure = function.run(INPUT, &Limits::default(), &Interrupt::new()).unwrap_err();
    let told = told(&failure);
    assert_eq!(
        told,
        "function `./function '\\u{1b}[2J'` ended with exit code 1; it said last:\n  red\\u{7}"
    );
}
