//! Rule `architecture_names_exist`: paths and identifiers in backquotes in ARCHITECTURE.md exist in the tree.

use std::collections::BTreeSet;

use super::{Finding, TextFile, rust_source};

const DOCUMENT: &str = "ARCHITECTURE.md";

pub(super) fn architecture_names_exist(files: &[TextFile]) -> Vec<Finding> {
    let Some(document) = files.iter().find(|file| file.path == DOCUMENT) else { return Vec::new() };
    let tree = Tree::new(files);
    let mut findings = Vec::new();
    for (line, span) in code_spans(&document.text) {
        if let Some(missing) = tree.missing(span) {
            findings.push(Finding::new(document, line, format!("`{missing}` does not exist")));
        }
    }
    findings
}

/// The text in backquotes outside fenced blocks, with its line number.
fn code_spans(text: &str) -> Vec<(usize, &str)> {
    let mut spans = Vec::new();
    let mut in_fence = false;
    for (number, line) in text.lines().enumerate() {
        if line.starts_with("```") {
            in_fence = !in_fence;
        } else if !in_fence {
            spans.extend(line.split('`').skip(1).step_by(2).map(|span| (number + 1, span)));
        }
    }
    spans
}

/// Everything that the document may name.
struct Tree<'f> {
    paths: BTreeSet<&'f str>,
    /// All identifiers in Rust code.
    identifiers: BTreeSet<String>,
    /// The names of all packages in Cargo.lock.
    packages: BTreeSet<&'f str>,
}

impl<'f> Tree<'f> {
    fn new(files: &'f [TextFile]) -> Self {
        let mut identifiers = BTreeSet::new();
        for file in files.iter().filter(|file| file.is_rust()) {
            let code = rust_source::code(&file.text);
            let names = code.split(|c: char| !c.is_alphanumeric() && c != '_');
            identifiers.extend(names.filter(|name| !name.is_empty()).map(str::to_owned));
            // A module is named by its file.
            identifiers.extend(file.path.split(['/', '.']).map(str::to_owned));
        }
        let lock = files.iter().find(|file| file.path == "Cargo.lock");
        let names = lock.into_iter().flat_map(|file| file.text.lines());
        let packages = names.filter_map(|line| line.strip_prefix("name = \"")?.strip_suffix('"'));
        Self {
            paths: files.iter().map(|file| file.path.as_str()).collect(),
            identifiers,
            packages: packages.collect(),
        }
    }

    /// The name in a code span that does not exist; `None` if it exists or is not a name at all.
    fn missing<'s>(&self, span: &'s str) -> Option<&'s str> {
        if span.contains(char::is_whitespace) || span.starts_with('-') {
            return None; // A command line, a flag or an example.
        }
        if is_path(span) {
            return (!self.has_path(span.trim_end_matches('/'))).then_some(span);
        }
        let parts: Vec<&str> = span.trim_end_matches("()").split("::").collect();
        if parts.iter().all(|part| is_identifier(part)) {
            let is_known = |part: &&str| self.identifiers.contains(*part);
            return parts.iter().find(|part| !is_known(part)).copied();
        }
        let is_package = span.contains('-') && span.split('-').all(is_identifier);
        (is_package && !self.packages.contains(span)).then_some(span)
    }

    /// Whether a file or directory exists, relative to the root or to `crates/`; a file name alone may be anywhere.
    fn has_path(&self, path: &str) -> bool {
        if !path.contains('/') && self.paths.iter().any(|it| it.ends_with(&format!("/{path}"))) {
            return true;
        }
        [path.to_owned(), format!("crates/{path}")].iter().any(|path| {
            let directory = format!("{path}/");
            self.paths.contains(path.as_str())
                || self.paths.iter().any(|known| known.starts_with(&directory))
        })
    }
}

fn is_path(span: &str) -> bool {
    let extensions = [".rs", ".md", ".toml", ".txt", ".star", ".case"];
    let is_plain = span.chars().all(|c| c.is_alphanumeric() || "/._-".contains(c));
    is_plain
        && (span.contains('/') || extensions.iter().any(|it| span.ends_with(it) && span != *it))
}

fn is_identifier(text: &str) -> bool {
    !text.is_empty()
        && !text.starts_with(|c: char| c.is_ascii_digit())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

#[cfg(test)]
mod tests {
    use super::super::tests::file;
    use super::*;

    fn missing(document: &str) -> Vec<String> {
        let files = [
            file(DOCUMENT, document),
            file("Cargo.lock", "[[package]]\nname = \"granit-parser\"\n"),
            file("crates/krm-core/src/merge/mod.rs", "//! M.\npub struct Plan; // Comment\n"),
        ];
        architecture_names_exist(&files).into_iter().map(|finding| finding.message).collect()
    }

    #[test]
    fn existing_names_pass() {
        let text = "`krm-core/src/merge`, `crates/krm-core/src/merge/mod.rs`, `Plan`, `merge::Plan`,\n\
                    `mod.rs`, `granit-parser`, `cargo xtask tidy`, `--check`, `m: {}`, `.case`\n";
        assert_eq!(missing(text), [""; 0]);
    }

    #[test]
    fn missing_names_are_found() {
        let text = "`krm-core/src/diff.rs`\n`diff.rs`\n`Plans`\n`merge::Tree`\n`Comment`\n`other-parser`\n";
        let expected =
            ["krm-core/src/diff.rs", "diff.rs", "Plans", "Tree", "Comment", "other-parser"];
        assert_eq!(missing(text), expected.map(|name| format!("`{name}` does not exist")));
    }

    #[test]
    fn fenced_blocks_are_not_checked() {
        assert_eq!(missing("```text\n`Plans`\n```\n"), [""; 0]);
    }
}
