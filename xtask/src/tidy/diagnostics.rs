//! Rules about diagnostics: code matches on kinds, never on message text, and every diagnostic has a kind.

use super::{Finding, TextFile, rust_source};

/// The methods and operators that depend on the text of a message.
const COMPARISONS: &[&str] = &[
    ".contains(",
    ".starts_with(",
    ".ends_with(",
    ".strip_prefix(",
    ".strip_suffix(",
    ".split(",
    ".split_once(",
    ".rsplit(",
    ".rsplit_once(",
    ".find(",
    "==",
    "!=",
];

/// Constructors of diagnostics without a kind; removed once nothing uses them.
const UNTYPED: &[&str] =
    &["untyped_error", "untyped_warning", "set_untyped", "Diagnostic::untyped"];

pub(super) fn no_code_matches_on_messages(files: &[TextFile]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in files.iter().filter(|file| file.is_library_source()) {
        let code = rust_source::code_without_tests(&file.text);
        for (at, found) in code.match_indices(".message()") {
            let (before, after) = (code[..at].trim_end(), code[at + found.len()..].trim_start());
            let is_compared = COMPARISONS.iter().any(|it| after.starts_with(it));
            if is_compared || is_right_operand(before) {
                let message = "match on the kind of the diagnostic, not on its message";
                findings.push(Finding::new(file, line_of(&code, at), message));
            }
        }
    }
    findings
}

/// Whether the expression that ends here is the right side of a comparison, or is matched on.
fn is_right_operand(before: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || "_.&*()[]".contains(c);
    let rest = before.trim_end_matches(is_part).trim_end();
    rest.ends_with("==") || rest.ends_with("!=") || rest.ends_with("match")
}

pub(super) fn every_diagnostic_has_a_kind(files: &[TextFile]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in files.iter().filter(|file| file.is_library_source()) {
        let code = rust_source::code_without_tests(&file.text);
        for (number, line) in code.lines().enumerate() {
            if UNTYPED.iter().any(|name| line.contains(name)) {
                let message = "declare a kind with `diagnostic_kinds!` and use it here";
                findings.push(Finding::new(file, number + 1, message));
            }
        }
    }
    findings
}

fn line_of(text: &str, at: usize) -> usize {
    text[..at].matches('\n').count() + 1
}

#[cfg(test)]
mod tests {
    use super::super::tests::file;
    use super::*;

    const PATH: &str = "crates/krm-core/src/a.rs";

    fn lines(rule: super::super::Rule, text: &str) -> Vec<usize> {
        rule(&[file(PATH, text)]).iter().map(|finding| finding.line).collect()
    }

    #[test]
    fn comparisons_of_messages_are_found() {
        for comparison in COMPARISONS {
            let text = format!("//! A.\nfn f() {{ x.message(){comparison} y }}\n");
            assert_eq!(lines(no_code_matches_on_messages, &text), [2], "{comparison}");
        }
        let text = "fn f() { if a == b.message() {} }\nfn g() { match c.message() { _ => {} } }\n";
        assert_eq!(lines(no_code_matches_on_messages, text), [1, 2]);
        let chained = "fn f() { x\n  .message()\n  .starts_with(\"a\") }\n";
        assert_eq!(lines(no_code_matches_on_messages, chained), [2]);
    }

    #[test]
    fn other_uses_of_messages_pass() {
        let text = "fn f() { print(x.message()); y = x.message().to_owned(); }\n\
                    #[cfg(test)]\nmod tests { fn t() { assert!(x.message().contains(\"a\")) } }\n";
        assert!(lines(no_code_matches_on_messages, text).is_empty());
    }

    #[test]
    fn diagnostics_without_a_kind_are_found() {
        let text = "fn f() { Diagnostic::untyped_error(\"a\"); }\nfn untyped() {}\n";
        assert_eq!(lines(every_diagnostic_has_a_kind, text), [1]);
    }
}
