//! The progress line and colors, which are for terminals only.
#![cfg(target_os = "linux")]

use crate::sandbox::Sandbox;

const ERASE: &str = "\r\u{1b}[K";
const COUNTED: &str = "p/\r\nPod: 3\r\n";
/// Input that arrives after two seconds.
const SLOW: &str = "(sleep 2; cat p/a.yaml) | krm cfg count -";

fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    for name in ["a", "b", "c"] {
        sandbox.write(&format!("p/{name}.yaml"), b"apiVersion: v1\nkind: Pod\n");
    }
    let kptfile = "apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: p\npipeline:\n  mutators:\n  - exec: sh -c 'sleep 2; cat'\n";
    sandbox.write("r/Kptfile", kptfile.as_bytes());
    sandbox
}

/// The output of a command line on a terminal.
fn on_a_terminal(environment: &str, line: &str) -> String {
    let sandbox = sandbox();
    sandbox.write("line.sh", format!("{line}\n").as_bytes());
    let ran = sandbox.run(&format!("env {environment} script -qec 'sh line.sh' /dev/null"));
    assert_eq!(ran.stderr, "", "{line}");
    ran.stdout
}

#[test]
fn long_runs_say_what_they_are_doing_and_erase_it() {
    for (line, activity) in [
        (SLOW, "reading standard input …"),
        ("krm fn eval p --exec 'sh -c \"sleep 2; cat\"'", "running sh -c \"sleep 2; cat\" on p …"),
        ("krm fn render r --allow-exec", "rendering r …"),
        ("krm fn wrap -- sleep 2 < /dev/null", "running sleep 2 …"),
    ] {
        let drawn = on_a_terminal("TERM=xterm", line);
        assert!(drawn.starts_with(&format!("{ERASE}{activity}")), "{line}: {drawn:?}");
        let after = drawn.rsplit(ERASE).next().unwrap();
        assert!(!after.contains(" …"), "{line}: {drawn:?}");
    }
}

#[test]
fn short_runs_draw_no_progress() {
    let delay = "KRM_TEST_PROGRESS_DELAY_MS=600000";
    assert_eq!(on_a_terminal(&format!("TERM=xterm {delay}"), "krm cfg count p"), COUNTED);
}

#[test]
fn quiet_or_dumb_terminals_get_no_progress() {
    let counted = "Pod: 1\r\n";
    assert_eq!(on_a_terminal("TERM=dumb", SLOW), counted);
    assert_eq!(on_a_terminal("TERM=xterm CI=true", SLOW), counted);
    assert_eq!(on_a_terminal("TERM=xterm", &format!("{SLOW} -q")), counted);
    assert_eq!(on_a_terminal("TERM=xterm", &format!("{SLOW} --error-format json")), counted);
    assert_eq!(on_a_terminal("TERM=xterm", &format!("{SLOW} 2> stderr; cat stderr")), counted);
}

#[test]
fn verdicts_are_colored_on_a_terminal() {
    let line = "krm fn eval p -i set-labels -- a=b";
    let passed = on_a_terminal("TERM=xterm", line);
    assert!(passed.contains("[\u{1b}[1m\u{1b}[32mPASS\u{1b}[0m] \""), "{passed:?}");
    let failed = on_a_terminal("TERM=xterm", "krm fn eval p --exec false");
    assert!(failed.contains("[\u{1b}[1m\u{1b}[31mFAIL\u{1b}[0m] \""), "{failed:?}");
    let plain = on_a_terminal("TERM=xterm NO_COLOR=1", line);
    assert!(plain.contains("[PASS] \""), "{plain:?}");
}

#[test]
fn commands_do_not_wait_for_a_terminal() {
    for line in [
        "krm fn sink",
        "krm fn sink out",
        "krm fn call set-labels",
        "krm fn wrap -- cat",
        "krm fn xargs -- cat",
        "krm cfg merge",
        "krm cfg merge p",
    ] {
        let ended = on_a_terminal("TERM=xterm", &format!("timeout 20 {line}; echo $?"));
        assert!(ended.contains("[stdin-is-a-terminal]"), "{line}: {ended:?}");
        assert!(ended.ends_with("2\r\n"), "{line}: {ended:?}");
    }
}
