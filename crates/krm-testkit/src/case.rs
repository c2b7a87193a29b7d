//! Parsing of case files: a description, then sections with a title and a body.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

/// A parsed case file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Case {
    path: PathBuf,
    description: String,
    sections: Vec<Section>,
}

/// One section of a case: an input file or an action.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Section {
    /// The text between the dashes: a file name with flags, or an action.
    pub title: String,
    /// The lines up to the next title, including their line breaks.
    pub body: String,
    /// The 1-based line of the title in the case file.
    pub line: usize,
}

/// Why a case file cannot be loaded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CaseError {
    /// The case file.
    pub path: PathBuf,
    /// The 1-based line, or 0 if the error is about the whole file.
    pub line: usize,
    /// What is wrong.
    pub message: String,
}

impl fmt::Display for CaseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.path.display(), self.line, self.message)
    }
}

impl std::error::Error for CaseError {}

impl Case {
    /// Reads the case file at `path`.
    ///
    /// # Errors
    /// The file cannot be read, or its text is not a valid case (see [`Case::parse`]).
    pub fn load(path: impl AsRef<Path>) -> Result<Case, CaseError> {
        let path = path.as_ref();
        let text = fs::read_to_string(path).map_err(|error| CaseError {
            path: path.to_owned(),
            line: 0,
            message: error.to_string(),
        })?;
        Case::parse(path, &text)
    }

    /// Parses the text of a case file; `path` is only used in messages.
    ///
    /// # Errors
    /// A case needs a description, an input and an action, so that a misspelled title is noticed. Unknown flags and
    /// duplicate titles are errors, too.
    pub fn parse(path: impl AsRef<Path>, text: &str) -> Result<Case, CaseError> {
        let path = path.as_ref();
        let fail = |line, message: String| Err(CaseError { path: path.to_owned(), line, message });
        let mut description = String::new();
        let mut sections: Vec<Section> = Vec::new();
        for (index, line) in text.split_inclusive('\n').enumerate() {
            match (title_of(line), sections.last_mut()) {
                (Some(title), _) => sections.push(Section {
                    title: title.to_owned(),
                    body: String::new(),
                    line: index + 1,
                }),
                (None, Some(section)) => section.body.push_str(line),
                (None, None) => description.push_str(line),
            }
        }
        if description.trim().is_empty() {
            return fail(1, "expected a description before the first section".to_owned());
        }
        if !sections.first().is_some_and(Section::is_input) {
            return fail(0, "expected the first section to be an input".to_owned());
        }
        if sections.iter().all(Section::is_input) {
            return fail(0, "no action".to_owned());
        }
        for (index, section) in sections.iter().enumerate() {
            if let Some(flag) = section.unknown_flag() {
                return fail(section.line, format!("unknown flag `{flag}`"));
            }
            if sections[..index].iter().any(|earlier| earlier.title == section.title) {
                return fail(section.line, format!("duplicate section `{}`", section.title));
            }
        }
        Ok(Case { path: path.to_owned(), description, sections })
    }

    /// The path of the case file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The lines before the first section.
    pub fn description(&self) -> &str {
        &self.description
    }

    /// All sections, inputs and actions, in file order.
    pub fn sections(&self) -> &[Section] {
        &self.sections
    }

    /// The sections that are actions; their bodies are the expected outcomes.
    pub fn actions(&self) -> impl Iterator<Item = &Section> {
        self.sections.iter().filter(|section| !section.is_input())
    }

    /// The first input, which actions work on.
    pub fn input(&self) -> &Section {
        &self.sections[0]
    }

    /// The input with this file name.
    pub fn input_named(&self, name: &str) -> Option<&Section> {
        self.sections.iter().find(|section| section.file_name() == Some(name))
    }

    /// The text of the case file with the bodies of its actions replaced, in order, by `bodies`.
    pub(crate) fn with_bodies(&self, bodies: &[String]) -> String {
        let mut text = self.description.clone();
        let mut bodies = bodies.iter();
        for section in &self.sections {
            let body = if section.is_input() { None } else { bodies.next() };
            text.push_str(&format!("-- {} --\n", section.title));
            text.push_str(body.unwrap_or(&section.body));
        }
        text
    }
}

impl Section {
    /// Whether the title is a file name.
    pub fn is_input(&self) -> bool {
        self.file_name().is_some()
    }

    /// The file name of an input, without its flags. A title without spaces that contains `.` or `/` is a file name.
    pub fn file_name(&self) -> Option<&str> {
        let name = self.split_flags().0;
        (name.contains(['.', '/']) && !name.contains(char::is_whitespace)).then_some(name)
    }

    /// Whether this is an input with the given flag.
    pub fn has_flag(&self, flag: &str) -> bool {
        self.is_input() && self.flags().any(|it| it == flag)
    }

    /// The text of an input after applying its flags.
    pub fn input_text(&self) -> String {
        let mut text = self.body.clone();
        if self.has_flag("no-final-newline") && text.ends_with('\n') {
            text.pop();
        }
        if self.has_flag("crlf") {
            text = text.replace('\n', "\r\n");
        }
        if self.has_flag("bom") {
            text.insert(0, '\u{FEFF}');
        }
        text
    }

    /// The bytes of an input after applying its flags.
    pub fn input_bytes(&self) -> Vec<u8> {
        self.input_text().into_bytes()
    }

    fn flags(&self) -> impl Iterator<Item = &str> {
        self.split_flags().1.split(',').map(str::trim).filter(|flag| !flag.is_empty())
    }

    fn split_flags(&self) -> (&str, &str) {
        match self.title.strip_suffix(')').and_then(|title| title.split_once(" (")) {
            Some((name, flags)) => (name, flags),
            None => (&self.title, ""),
        }
    }

    fn unknown_flag(&self) -> Option<&str> {
        if !self.is_input() {
            return None;
        }
        self.flags().find(|flag| !matches!(*flag, "crlf" | "no-final-newline" | "bom"))
    }
}

/// The title of a section, if this line starts one.
pub(crate) fn title_of(line: &str) -> Option<&str> {
    let title = line.strip_suffix('\n').unwrap_or(line).strip_prefix("-- ")?.strip_suffix(" --")?;
    (!title.is_empty() && title.trim() == title).then_some(title)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "Prose.\n\n-- input.yaml (crlf, no-final-newline, bom) --\na: 1\n\n--- x\nb: 2\n-- noop --\n\
                        -- set a (b) --\n@@ 1\n";

    #[test]
    fn a_section_ends_at_the_next_title() {
        let case = Case::parse("x.case", TEXT).unwrap();
        assert_eq!(case.description(), "Prose.\n\n");
        let seen: Vec<_> =
            case.sections().iter().map(|it| (it.line, &*it.title, &*it.body)).collect();
        let flags = "input.yaml (crlf, no-final-newline, bom)";
        let expected =
            [(3, flags, "a: 1\n\n--- x\nb: 2\n"), (8, "noop", ""), (9, "set a (b)", "@@ 1\n")];
        assert_eq!(seen, expected);
        assert_eq!(case.actions().count(), 2);
        assert_eq!(case.input_named("input.yaml"), Some(case.input()));
        assert_eq!(case.input_named("other.yaml"), None);
    }

    #[test]
    fn flags_are_applied_to_input_bytes() {
        let case = Case::parse("x.case", TEXT).unwrap();
        assert_eq!(case.input().input_bytes(), "\u{FEFF}a: 1\r\n\r\n--- x\r\nb: 2".as_bytes());
        let plain = Case::parse("x.case", "P\n-- a.yaml --\na: 1\n-- noop --\n").unwrap();
        assert_eq!(plain.input().input_bytes(), b"a: 1\n");
        let empty =
            Case::parse("x.case", "P\n-- a.yaml (no-final-newline) --\n-- noop --\n").unwrap();
        assert_eq!(empty.input().input_bytes(), b"");
    }

    #[test]
    fn malformed_cases_are_rejected() {
        let message = |text| Case::parse("x.case", text).unwrap_err().to_string();
        assert_eq!(
            message("-- a.yaml --\n-- noop --\n"),
            "x.case:1: expected a description before the first section"
        );
        assert_eq!(
            message("P\n-- noop --\n"),
            "x.case:0: expected the first section to be an input"
        );
        assert_eq!(message("P\n-- a.yaml --\na: 1\n"), "x.case:0: no action");
        assert_eq!(
            message("P\n-- a.yaml (clrf) --\n-- noop --\n"),
            "x.case:2: unknown flag `clrf`"
        );
        assert_eq!(
            message("P\n-- a.yaml --\n-- noop --\n-- noop --\n"),
            "x.case:4: duplicate section `noop`"
        );
    }

    #[test]
    fn with_bodies_replaces_action_bodies_and_keeps_inputs() {
        let case = Case::parse("x.case", TEXT).unwrap();
        let old: Vec<_> = case.actions().map(|it| it.body.clone()).collect();
        assert_eq!(case.with_bodies(&old), TEXT);
        let new = case.with_bodies(&["x\n".to_owned(), String::new()]);
        assert!(new.ends_with("b: 2\n-- noop --\nx\n-- set a (b) --\n"), "{new}");
    }

    #[test]
    fn only_a_whole_line_is_a_title() {
        assert_eq!(title_of("-- a --\n"), Some("a"));
        assert_eq!(title_of("-- a --"), Some("a"));
        for line in
            ["---\n", "-- --\n", "--  --\n", " -- a --\n", "-- a --b\n", "-- a\n", "--a--\n"]
        {
            assert_eq!(title_of(line), None, "{line:?}");
        }
    }
}
