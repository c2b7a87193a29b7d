//! The cases in `tests/cases`: command lines with their output, exit code and changed files.

use krm_testkit::{Case, Section, diff};

use crate::sandbox::{Output, Sandbox};

#[test]
fn cases() {
    krm_testkit::run_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cases"), run_action);
}

pub(crate) fn run_action(case: &Case, action: &Section) -> String {
    let line =
        action.title.strip_prefix("$ ").expect("an action is a command line that starts with `$ `");
    let sandbox = Sandbox::new();
    for input in case.sections().iter().filter(|section| section.is_input()) {
        sandbox.write(input.file_name().expect("the section is an input"), &input.input_bytes());
    }
    let before = sandbox.files();
    let ran = sandbox.run(line);
    let after = sandbox.files();
    let mut body = describe_output(&ran);
    for (name, new) in &after {
        let old = before.get(name).map_or("", String::as_str);
        if old != new {
            body.push_str(&format!("[{name}]\n{}", visible(&diff(old, new))));
        }
    }
    for name in before.keys().filter(|name| !after.contains_key(*name)) {
        body.push_str(&format!("[{name}]\nis gone\n"));
    }
    body
}

fn describe_output(ran: &Output) -> String {
    let mut body = visible(&ran.stdout);
    if !ran.stdout.is_empty() && !ran.stdout.ends_with('\n') {
        body.push_str("\n\\ no final newline\n");
    }
    if !ran.stderr.is_empty() {
        body.push_str(&format!("[stderr]\n{}", visible(&ran.stderr)));
    }
    if ran.exit != 0 {
        body.push_str(&format!("[exit {}]\n", ran.exit));
    }
    body
}

/// Replaces characters that an editor would hide or change.
fn visible(text: &str) -> String {
    text.replace('\r', "␍").replace('\u{1b}', "␛").replace('\u{feff}', "<BOM>")
}
