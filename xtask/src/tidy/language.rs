//! Rule `plain_language`: messages, help texts and documentation use plain technical English.

use super::{Finding, TextFile, rust_source};

/// A phrase that readers outside the project would not use, and what to write instead.
struct Phrase {
    text: &'static str,
    /// Idiomatic uses: what may come directly before or after the phrase.
    except_after: &'static [&'static str],
    except_before: &'static [&'static str],
    advice: &'static str,
}

const fn phrase(text: &'static str, advice: &'static str) -> Phrase {
    Phrase { text, except_after: &[], except_before: &[], advice }
}

const PHRASES: &[Phrase] = &[
    Phrase {
        except_after: &["there", "There"],
        except_before: &["longer", "more"],
        ..phrase("is no", "write `is not a …` or `expected X, found Y`")
    },
    phrase("is wanted", "write `expected X, found Y`"),
    phrase("are wanted", "write `expected X, found Y`"),
    Phrase {
        except_before: &["for"],
        ..phrase("stands", "name what is there: `is`, `contains`, `the value is`")
    },
    phrase("it said", "write `last lines of stderr:`"),
    phrase("told", "write `reported` or `printed`"),
    phrase("words for", "write `messages for`"),
    phrase("folder", "write `directory`"),
    phrase("folders", "write `directories`"),
    phrase("a whole number from", "write `a positive integer` or `an integer of at least …`"),
    phrase("anew", "write `again`"),
];

/// Files in which `folder` is a term: a keyword in the format of the journal, and a resource of Google Cloud.
const EXEMPT: &[&str] = &[
    "crates/krm-cli/src/disk/journal.rs",
    "crates/krm-catalog/doc/export-terraform.md",
    "crates/krm-catalog/doc/generate-folders.md",
    "docs/functions/export-terraform.md",
    "docs/functions/generate-folders.md",
    "crates/krm-catalog/src/export_terraform/graph.rs",
    "crates/krm-catalog/src/export_terraform/iam.rs",
    "crates/krm-catalog/src/export_terraform/mod.rs",
    "crates/krm-catalog/src/generate_folders/mod.rs",
    "crates/krm-catalog/src/generate_folders/tree.rs",
];

pub(super) fn plain_language(files: &[TextFile]) -> Vec<Finding> {
    files.iter().flat_map(findings).collect()
}

fn findings(file: &TextFile) -> Vec<Finding> {
    if EXEMPT.contains(&file.path.as_str()) {
        return Vec::new();
    }
    if file.is_library_source() {
        let mut findings = find(file, &rust_source::literals_without_tests(&file.text));
        // The doc comments of the command line are its help texts.
        if file.path.starts_with("crates/krm-cli/") {
            findings.extend(find(file, &rust_source::comments_without_tests(&file.text)));
        }
        findings.sort_by_key(|finding| finding.line);
        return findings;
    }
    if file.path.ends_with(".md") {
        return find(file, &file.text);
    }
    Vec::new()
}

fn find(file: &TextFile, text: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (number, line) in text.lines().enumerate() {
        for phrase in PHRASES.iter().filter(|phrase| phrase.is_in(line)) {
            let message = format!("`{}`: {}", phrase.text, phrase.advice);
            findings.push(Finding::new(file, number + 1, message));
        }
    }
    findings
}

impl Phrase {
    fn is_in(&self, line: &str) -> bool {
        let in_word = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
        line.match_indices(self.text).any(|(at, _)| {
            let (before, after) = (&line[..at], &line[at + self.text.len()..]);
            let is_whole = !before.ends_with(in_word) && !after.starts_with(in_word);
            let is_idiom = ends_with_any(before.trim_end(), self.except_after)
                || starts_with_any(after.trim_start(), self.except_before);
            is_whole && !is_idiom
        })
    }
}

fn ends_with_any(text: &str, options: &[&str]) -> bool {
    options.iter().any(|option| text.ends_with(option))
}

fn starts_with_any(text: &str, options: &[&str]) -> bool {
    options.iter().any(|option| text.starts_with(option))
}

#[cfg(test)]
mod tests {
    use super::super::tests::file;
    use super::*;

    fn lines(path: &str, text: &str) -> Vec<usize> {
        plain_language(&[file(path, text)]).iter().map(|finding| finding.line).collect()
    }

    #[test]
    fn every_phrase_is_found_in_documentation() {
        for phrase in PHRASES {
            let text = format!("one\nthis {} something\n", phrase.text);
            assert!(lines("docs/a.md", &text).contains(&2), "{}", phrase.text);
        }
    }

    #[test]
    fn idioms_and_longer_words_pass() {
        let text = "there is no file\nit is no longer used\n`-` stands for stdin\nthe holder\n";
        assert!(lines("docs/a.md", text).is_empty());
    }

    #[test]
    fn messages_are_checked_and_code_is_not() {
        let text = "//! A folder.\nfn folder() { f(\"a list is wanted\") }\n";
        assert_eq!(lines("crates/krm-core/src/a.rs", text), [2]);
        assert!(lines("crates/krm-core/tests/a.rs", text).is_empty());
        let test = "#[cfg(test)]\nmod tests { const A: &str = \"a list is wanted\"; }\n";
        assert!(lines("crates/krm-core/src/a.rs", test).is_empty());
    }

    #[test]
    fn help_texts_are_checked() {
        let text = "/// The folder to read.\nstruct Args;\n";
        assert_eq!(lines("crates/krm-cli/src/commands/a.rs", text), [1]);
    }
}
