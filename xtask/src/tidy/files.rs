//! Rules about single files: a purpose on the first line, a bounded size, no leftovers, no machine's paths.

use super::{Finding, TextFile, rust_text};

/// Above this, a file holds a second noun that wants a file of its own.
const MOST_LINES: usize = 600;

/// Folders of one person's or one machine's disk; split so that this file does not find itself.
const MACHINE_FOLDERS: &[&str] = &[concat!("/", "work/"), concat!("/", "root/")];

pub(super) fn files_say_what_they_are_for(files: &[TextFile]) -> Vec<Finding> {
    let ours = ["crates/", "xtask/", "fuzz/"];
    let rust = files
        .iter()
        .filter(|file| file.is_rust() && ours.iter().any(|folder| file.path.starts_with(folder)));
    rust.filter(|file| !opens_with_purpose(&file.text))
        .map(|file| {
            Finding::new(file, 1, "open the file with one `//!` sentence that says what it is for")
        })
        .collect()
}

fn opens_with_purpose(text: &str) -> bool {
    text.lines()
        .next()
        .and_then(|line| line.strip_prefix("//!"))
        .is_some_and(|words| !words.trim().is_empty())
}

pub(super) fn files_stay_small(files: &[TextFile]) -> Vec<Finding> {
    files
        .iter()
        .filter(|file| file.is_rust())
        .filter_map(|file| {
            let lines = file.text.lines().count();
            let message = format!(
                "{lines} lines; find the second noun in it and give it a file (most: {MOST_LINES})"
            );
            (lines > MOST_LINES).then(|| Finding::new(file, MOST_LINES + 1, message))
        })
        .collect()
}

pub(super) fn nothing_is_left_over(files: &[TextFile]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in files {
        if file.is_rust() {
            let code = rust_text::code(&file.text);
            let unfinished = "finish it, or say in the notes that it is not there";
            find(file, &code, "todo!", unfinished, &mut findings);
            find(file, &code, "unimplemented!", unfinished, &mut findings);
            find(
                file,
                &code,
                "#[ignore",
                "make the test pass, or remove it and say why",
                &mut findings,
            );
            notes_to_self(file, &rust_text::code_and_comments(&file.text), &mut findings);
        } else if is_prose_or_script(&file.path) {
            notes_to_self(file, &file.text, &mut findings);
        }
    }
    findings
}

fn notes_to_self(file: &TextFile, text: &str, findings: &mut Vec<Finding>) {
    for word in ["FIXME", "XXX"] {
        find(file, text, word, "do it now, or open an issue and leave the code clean", findings);
    }
}

/// Cases and manifests are data and may hold any word.
fn is_prose_or_script(path: &str) -> bool {
    [".md", ".toml", ".go", ".sh", ".ci/run"].iter().any(|ending| path.ends_with(ending))
}

pub(super) fn no_machine_paths(files: &[TextFile]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in files {
        for (number, line) in file.text.lines().enumerate() {
            for folder in MACHINE_FOLDERS.iter().filter(|folder| starts_a_path(line, folder)) {
                let message = format!(
                    "{folder} is a folder of one machine; use a relative path or a variable"
                );
                findings.push(Finding::new(file, number + 1, message));
            }
        }
    }
    findings
}

/// `a/root/b` goes on from a path or an address; only a path that begins here is a machine's.
fn starts_a_path(line: &str, folder: &str) -> bool {
    let goes_on = |c: char| c.is_alphanumeric() || "_-.$}/~".contains(c);
    line.match_indices(folder).any(|(at, _)| !line[..at].ends_with(goes_on))
}

/// Adds a finding for each place where `word` stands as a word of its own.
fn find(file: &TextFile, text: &str, word: &str, advice: &str, findings: &mut Vec<Finding>) {
    let in_word = |c: char| c.is_alphanumeric() || c == '_';
    for (number, line) in text.lines().enumerate() {
        let alone = |at: usize| {
            !line[..at].ends_with(in_word) && !line[at + word.len()..].starts_with(in_word)
        };
        if line.match_indices(word).any(|(at, _)| alone(at)) {
            findings.push(Finding::new(
                file,
                number + 1,
                format!("`{word}` is left over: {advice}"),
            ));
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
    fn a_file_without_a_purpose_is_found() {
        let bad = [
            "",
            "fn f() {}\n",
            "\n//! Late.\n",
            "//!\nfn f() {}\n",
            "/// Of the item.\nfn f() {}\n",
        ];
        for text in bad {
            assert_eq!(
                lines(&files_say_what_they_are_for(&[file("crates/a/tests/b.rs", text)])),
                [1],
                "{text:?}"
            );
        }
        assert_eq!(files_say_what_they_are_for(&[file("fuzz/a.rs", "//! For a.\n")]), []);
    }

    #[test]
    fn a_long_file_is_found() {
        let long = "x\n".repeat(MOST_LINES + 1);
        assert_eq!(lines(&files_stay_small(&[file("xtask/a.rs", &long)])), [MOST_LINES + 1]);
        assert_eq!(files_stay_small(&[file("xtask/a.rs", &long[2..]), file("a.md", &long)]), []);
    }

    #[test]
    fn leftovers_are_found_in_code_and_prose() {
        let rust = "//! A.\nfn f() { todo!() }\nfn g() { unimplemented!(\"\") }\n#[ignore = \"slow\"]\n// FIXME: later\n// XXX\n";
        assert_eq!(lines(&nothing_is_left_over(&[file("a.rs", rust)])), [2, 3, 4, 5, 6]);
        assert_eq!(lines(&nothing_is_left_over(&[file("a.md", "one\nFIXME two\n")])), [2]);
    }

    #[test]
    fn words_in_strings_names_and_data_are_not_leftovers() {
        let rust = "//! A.\nfn f() { g(\"todo!() FIXME\"); not_todo!(); }\n// mktemp XXXXXX\n";
        assert_eq!(nothing_is_left_over(&[file("a.rs", rust), file("a.yaml", "a: FIXME\n")]), []);
    }

    #[test]
    fn a_path_of_one_machine_is_found_anywhere() {
        for folder in MACHINE_FOLDERS {
            let text = format!("a: b\nsee {folder}x\n");
            assert_eq!(lines(&no_machine_paths(&[file("a.yaml", &text)])), [2], "{folder}");
            assert_eq!(
                no_machine_paths(&[file("a.md", &format!("target{folder}x and ${{X}}{folder}"))]),
                []
            );
        }
    }
}
