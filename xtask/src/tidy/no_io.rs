//! Law `no_io_below`: the pure rooms never touch disk, network, processes, environment, clock or terminal.

use super::{Finding, TextFile, rust_text};

/// The rooms whose row in the table of rooms says "nothing outside".
const PURE: &[&str] = &["krm-yaml", "krm-core", "krm-catalog"];

/// The modules of `std` that reach outside the process, or outside the text that was passed in.
const MODULES: &[&str] = &["env", "fs", "io", "net", "os", "path", "process", "thread", "time"];

/// The macros that write to the terminal.
const MACROS: &[&str] = &["print!", "println!", "eprint!", "eprintln!", "dbg!"];

pub(super) fn no_io_below(files: &[TextFile]) -> Vec<Finding> {
    files.iter().filter(|file| is_pure_source(&file.path)).flat_map(findings).collect()
}

/// Test modules in files of their own are named `tests`, as a folder or as a file.
fn is_pure_source(path: &str) -> bool {
    let in_src = |room: &str| path.strip_prefix(&format!("crates/{room}/src/")).is_some();
    let is_test = path.ends_with("/tests.rs") || path.contains("/tests/");
    path.ends_with(".rs") && PURE.iter().any(|room| in_src(room)) && !is_test
}

fn findings(file: &TextFile) -> Vec<Finding> {
    let code = rust_text::code_without_tests(&file.text);
    let mut findings = Vec::new();
    for (at, _) in code.match_indices("std::").filter(|(at, _)| starts_word(&code, *at)) {
        let inside = at + "std::".len();
        for (offset, name) in names_after(&code[inside..]) {
            if MODULES.contains(&name) {
                let message = format!(
                    "std::{name} in a pure crate; pass the value in, or move this to krm-run or krm-cli"
                );
                findings.push(Finding::new(file, line_of(&code, inside + offset), message));
            }
        }
    }
    for name in MACROS {
        for (at, _) in code.match_indices(name).filter(|(at, _)| starts_word(&code, *at)) {
            let message = format!("{name} in a pure crate; give back a Diagnostic instead");
            findings.push(Finding::new(file, line_of(&code, at), message));
        }
    }
    findings.sort_by_key(|finding| finding.line);
    findings
}

/// The module named after `std::`, or each one in `std::{…}`, with where it stands.
fn names_after(rest: &str) -> Vec<(usize, &str)> {
    if !rest.starts_with('{') {
        return vec![(0, word(rest))];
    }
    let mut names = Vec::new();
    let mut depth = 0_usize;
    for (at, c) in rest.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 {
            break;
        }
        if depth == 1 && matches!(c, '{' | ',') {
            let tail = rest[at + 1..].trim_start();
            names.push((rest.len() - tail.len(), word(tail)));
        }
    }
    names
}

fn word(text: &str) -> &str {
    let end = text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len());
    &text[..end]
}

fn starts_word(text: &str, at: usize) -> bool {
    !text[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_')
}

fn line_of(text: &str, at: usize) -> usize {
    text[..at].matches('\n').count() + 1
}

#[cfg(test)]
mod tests {
    use super::super::tests::file;
    use super::*;

    fn lines(path: &str, text: &str) -> Vec<usize> {
        no_io_below(&[file(path, text)]).iter().map(|finding| finding.line).collect()
    }

    #[test]
    fn each_way_outside_is_found_with_its_line() {
        let text = "//! Bad.\nuse std::fs;\nuse std::{\n    fmt,\n    io::{self, Read},\n};\nfn f() { println!(); std::env::var(\"A\"); }\n";
        assert_eq!(lines("crates/krm-core/src/bad.rs", text), [2, 5, 7, 7]);
    }

    #[test]
    fn every_module_and_macro_can_fail() {
        for module in MODULES {
            assert_eq!(
                lines("crates/krm-yaml/src/a.rs", &format!("use std::{module}::x;")),
                [1],
                "{module}"
            );
        }
        for name in MACROS {
            assert_eq!(
                lines("crates/krm-catalog/src/a/b.rs", &format!("fn f() {{ {name}(\"\") }}")),
                [1],
                "{name}"
            );
        }
    }

    #[test]
    fn words_that_only_look_like_it_pass() {
        let text = "//! Uses no std::fs.\nuse std::{collections::BTreeMap, fmt};\nfn f() { my_std::fs(); let s = \"std::io\"; pretty_print!(s) }\n";
        assert_eq!(lines("crates/krm-yaml/src/good.rs", text), []);
    }

    #[test]
    fn tests_and_other_rooms_may() {
        let text = "#[cfg(test)]\nmod tests { use std::fs; }\n";
        assert_eq!(lines("crates/krm-yaml/src/a.rs", text), []);
        for path in [
            "crates/krm-yaml/src/tests.rs",
            "crates/krm-yaml/tests/it/main.rs",
            "crates/krm-cli/src/main.rs",
        ] {
            assert_eq!(lines(path, "use std::fs;"), [], "{path}");
        }
    }
}
