//! Rules about single files: a summary on the first line, a maximum size, no leftovers, no absolute paths of one machine.

use super::{Finding, TextFile, rust_source};

/// Longer files contain a second concept that belongs in its own file.
const MAX_LINES: usize = 600;

/// Directories that exist on one machine only; written in two parts so that the rule does not match this file.
const MACHINE_DIRECTORIES: &[&str] = &[concat!("/", "work/"), concat!("/", "root/")];

pub(super) fn files_start_with_a_summary(files: &[TextFile]) -> Vec<Finding> {
    let ours = ["crates/", "xtask/", "fuzz/"];
    let rust = files.iter().filter(|file| {
        file.is_rust() && ours.iter().any(|directory| file.path.starts_with(directory))
    });
    rust.filter(|file| !starts_with_summary(&file.text))
        .map(|file| {
            Finding::new(
                file,
                1,
                "start the file with one `//!` sentence that says what it contains",
            )
        })
        .collect()
}

fn starts_with_summary(text: &str) -> bool {
    text.lines()
        .next()
        .and_then(|line| line.strip_prefix("//!"))
        .is_some_and(|summary| !summary.trim().is_empty())
}

pub(super) fn files_are_small(files: &[TextFile]) -> Vec<Finding> {
    files
        .iter()
        .filter(|file| file.is_rust())
        .filter_map(|file| {
            let lines = file.text.lines().count();
            let message =
                format!("{lines} lines; move a concept to its own file (maximum: {MAX_LINES})");
            (lines > MAX_LINES).then(|| Finding::new(file, MAX_LINES + 1, message))
        })
        .collect()
}

pub(super) fn no_leftovers(files: &[TextFile]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in files {
        if file.is_rust() {
            let code = rust_source::code(&file.text);
            let unfinished = "finish it, or remove it";
            find(file, &code, "todo!", unfinished, &mut findings);
            find(file, &code, "unimplemented!", unfinished, &mut findings);
            find(file, &code, "#[ignore", "make the test pass, or remove it", &mut findings);
            find_markers(file, &rust_source::code_and_comments(&file.text), &mut findings);
        } else if is_documentation_or_script(&file.path) {
            find_markers(file, &file.text, &mut findings);
        }
    }
    findings
}

fn find_markers(file: &TextFile, text: &str, findings: &mut Vec<Finding>) {
    for word in ["FIXME", "XXX"] {
        find(file, text, word, "do it now, or open an issue", findings);
    }
}

/// Case files and other data may contain any text.
fn is_documentation_or_script(path: &str) -> bool {
    [".md", ".toml", ".go", ".sh", ".ci/run"].iter().any(|ending| path.ends_with(ending))
}

pub(super) fn no_machine_paths(files: &[TextFile]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in files {
        for (number, line) in file.text.lines().enumerate() {
            for directory in
                MACHINE_DIRECTORIES.iter().filter(|directory| starts_a_path(line, directory))
            {
                let message = format!(
                    "{directory} exists on one machine only; use a relative path or a variable"
                );
                findings.push(Finding::new(file, number + 1, message));
            }
        }
    }
    findings
}

/// Whether an absolute path starts with the directory; `a/root/b` is part of a longer path or URL.
fn starts_a_path(line: &str, directory: &str) -> bool {
    let continues_path = |c: char| c.is_alphanumeric() || "_-.$}/~".contains(c);
    line.match_indices(directory).any(|(at, _)| !line[..at].ends_with(continues_path))
}

/// Adds a finding for each line that contains `word` as a whole word.
fn find(file: &TextFile, text: &str, word: &str, advice: &str, findings: &mut Vec<Finding>) {
    let in_word = |c: char| c.is_alphanumeric() || c == '_';
    for (number, line) in text.lines().enumerate() {
        let is_whole_word = |at: usize| {
            !line[..at].ends_with(in_word) && !line[at + word.len()..].starts_with(in_word)
        };
        if line.match_indices(word).any(|(at, _)| is_whole_word(at)) {
            findings.push(Finding::new(file, number + 1, format!("leftover `{word}`: {advice}")));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::file;
    use super::*;

    fn lines(findings: &[Finding]) -> Vec<usize> {
        findings.iter().map(|finding| finding.line).collect()
    }

    #[test]
    fn missing_summaries_are_found() {
        let bad = [
            "",
            "fn f() {}\n",
            "\n//! Late.\n",
            "//!\nfn f() {}\n",
            "/// Of the item.\nfn f() {}\n",
        ];
        for text in bad {
            assert_eq!(
                lines(&files_start_with_a_summary(&[file("crates/a/tests/b.rs", text)])),
                [1],
                "{text:?}"
            );
        }
        assert_eq!(files_start_with_a_summary(&[file("fuzz/a.rs", "//! For a.\n")]), []);
    }

    #[test]
    fn long_files_are_found() {
        let long = "x\n".repeat(MAX_LINES + 1);
        assert_eq!(lines(&files_are_small(&[file("xtask/a.rs", &long)])), [MAX_LINES + 1]);
        assert_eq!(files_are_small(&[file("xtask/a.rs", &long[2..]), file("a.md", &long)]), []);
    }

    #[test]
    fn leftovers_are_found_in_code_and_documentation() {
        let rust = "//! A.\nfn f() { todo!() }\nfn g() { unimplemented!(\"\") }\n#[ignore = \"slow\"]\n// FIXME: later\n// XXX\n";
        assert_eq!(lines(&no_leftovers(&[file("a.rs", rust)])), [2, 3, 4, 5, 6]);
        assert_eq!(lines(&no_leftovers(&[file("a.md", "one\nFIXME two\n")])), [2]);
    }

    #[test]
    fn strings_longer_names_and_data_are_not_leftovers() {
        let rust = "//! A.\nfn f() { g(\"todo!() FIXME\"); not_todo!(); }\n// mktemp XXXXXX\n";
        assert_eq!(no_leftovers(&[file("a.rs", rust), file("a.yaml", "a: FIXME\n")]), []);
    }

    #[test]
    fn machine_paths_are_found_in_any_file() {
        for directory in MACHINE_DIRECTORIES {
            let text = format!("a: b\nsee {directory}x\n");
            assert_eq!(lines(&no_machine_paths(&[file("a.yaml", &text)])), [2], "{directory}");
            assert_eq!(
                no_machine_paths(&[file(
                    "a.md",
                    &format!("target{directory}x and ${{X}}{directory}")
                )]),
                []
            );
        }
    }
}
