//! The cases of `tests/cases`: command lines, with everything that came of them.

use krm_testkit::{Case, Section, diff};

use crate::sandbox::{Ran, Sandbox};

#[test]
fn command_lines_do_what_their_cases_say() {
    krm_testkit::run_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cases"), act);
}

fn act(case: &Case, action: &Section) -> String {
    let line = action.title.strip_prefix("$ ").expect("an action is a command line after `$ `");
    let sandbox = Sandbox::new();
    for input in case.sections().iter().filter(|section| section.is_input()) {
        sandbox.write(input.file_name().expect("it is an input"), &input.input_bytes());
    }
    let before = sandbox.files();
    let ran = sandbox.run(line);
    let after = sandbox.files();
    let mut body = printed(&ran);
    for (name, new) in &after {
        let old = before.get(name).map_or("", String::as_str);
        if old != new {
            body.push_str(&format!("[{name}]\n{}", shown(&diff(old, new))));
        }
    }
    for name in before.keys().filter(|name| !after.contains_key(*name)) {
        body.push_str(&format!("[{name}]\nis gone\n"));
    }
    body
}

fn printed(ran: &Ran) -> String {
    let mut body = shown(&ran.stdout);
    if !ran.stdout.is_empty() && !ran.stdout.ends_with('\n') {
        body.push_str("\n\\ no final newline\n");
    }
    if !ran.stderr.is_empty() {
        body.push_str(&format!("[stderr]\n{}", shown(&ran.stderr)));
    }
    if ran.exit != 0 {
        body.push_str(&format!("[exit {}]\n", ran.exit));
    }
    body
}

/// What an editor would hide or change is spelled out.
fn shown(text: &str) -> String {
    text.replace('\r', "␍").replace('\u{1b}', "␛").replace('\u{feff}', "<BOM>")
}
