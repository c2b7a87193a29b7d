//! Rule `no_io_below`: the pure crates never use disk, network, processes, environment, clock or terminal.

use super::{Finding, TextFile, rust_source};

/// The crates that ARCHITECTURE.md lists as free of side effects.
const PURE: &[&str] = &["krm-yaml", "krm-core", "krm-catalog"];

/// The modules of `std` that access anything besides the arguments.
const MODULES: &[&str] = &["env", "fs", "io", "net", "os", "path", "process", "thread", "time"];

/// Files of pure crates that use a module all the same, and why.
const EXCEPTIONS: &[(&str, &str)] = &[
    // A stack of known size, without which a deep script ends the process.
    ("crates/krm-catalog/src/interpreter/in_process.rs", "thread"),
];

/// The macros that print.
const MACROS: &[&str] = &["print!", "println!", "eprint!", "eprintln!", "dbg!"];

pub(super) fn no_io_below(files: &[TextFile]) -> Vec<Finding> {
    files.iter().filter(|file| is_pure_source(&file.path)).flat_map(findings).collect()
}

/// Whether this is a source file of a pure crate; test modules in their own files are called `tests`.
fn is_pure_source(path: &str) -> bool {
    let in_src = |name: &str| path.starts_with(&format!("crates/{name}/src/"));
    let is_test = path.ends_with("/tests.rs") || path.contains("/tests/");
    path.ends_with(".rs") && PURE.iter().any(|name| in_src(name)) && !is_test
}

fn findings(file: &TextFile) -> Vec<Finding> {
    let code = rust_source::code_without_tests(&file.text);
    let mut findings = Vec::new();
    for (at, _) in code.match_indices("std::").filter(|(at, _)| starts_word(&code, *at)) {
        let inside = at + "std::".len();
        for (offset, name) in names_after(&code[inside..]) {
            if MODULES.contains(&name) && !EXCEPTIONS.contains(&(file.path.as_str(), name)) {
                let message = format!(
                    "std::{name} in a pure crate; pass the value as an argument, or move the code to krm-run or krm-cli"
                );
                findings.push(Finding::new(file, line_of(&code, inside + offset), message));
            }
        }
    }
    for name in MACROS {
        for (at, _) in code.match_indices(name).filter(|(at, _)| starts_word(&code, *at)) {
            let message = format!("{name} in a pure crate; return a Diagnostic instead");
            findings.push(Finding::new(file, line_of(&code, at), message));
        }
    }
    findings.sort_by_key(|finding| finding.line);
    findings
}

/// The module after `std::`, or all modules in `std::{…}`, with their offsets.
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
    fn forbidden_modules_and_macros_are_found_with_their_lines() {
        let text = "//! Bad.\nuse std::fs;\nuse std::{\n    fmt,\n    io::{self, Read},\n};\nfn f() { println!(); std::env::var(\"A\"); }\n";
        assert_eq!(lines("crates/krm-core/src/bad.rs", text), [2, 5, 7, 7]);
    }

    #[test]
    fn every_listed_module_and_macro_is_found() {
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
    fn comments_strings_and_similar_names_are_ignored() {
        let text = "//! Uses no std::fs.\nuse std::{collections::BTreeMap, fmt};\nfn f() { my_std::fs(); let s = \"std::io\"; pretty_print!(s) }\n";
        assert!(lines("crates/krm-yaml/src/good.rs", text).is_empty());
    }

    #[test]
    fn tests_and_other_crates_are_ignored() {
        let text = "#[cfg(test)]\nmod tests { use std::fs; }\n";
        assert!(lines("crates/krm-yaml/src/a.rs", text).is_empty());
        for path in [
            "crates/krm-yaml/src/tests.rs",
            "crates/krm-yaml/tests/it/main.rs",
            "crates/krm-cli/src/main.rs",
        ] {
            assert!(lines(path, "use std::fs;").is_empty(), "{path}");
        }
    }
}
