//! What a run changes: files, and which function added which line.

use std::collections::BTreeMap;

use krm_core::PlannedChange;
use similar::{ChangeTag, TextDiff};

/// The changes of a run.
#[derive(Debug, Default)]
pub(crate) struct Changes {
    pub(super) files: Vec<PlannedChange>,
    /// The function that added a line, by file and text; the last one if several did.
    authors: BTreeMap<String, BTreeMap<String, String>>,
}

impl Changes {
    pub(super) fn add_file(&mut self, change: &PlannedChange) {
        self.files.push(change.clone());
    }

    /// Records the lines of a resource that a function added.
    pub(super) fn add_author(&mut self, file: &str, (before, after): (&str, &str), function: &str) {
        let diff = TextDiff::from_lines(before, after);
        let added = diff.iter_all_changes().filter(|change| change.tag() == ChangeTag::Insert);
        let authors = self.authors.entry(file.to_owned()).or_default();
        for line in added {
            authors.insert(line.value().trim().to_owned(), function.to_owned());
        }
    }

    pub(super) fn author(&self, file: &str, line: &str) -> Option<&str> {
        self.authors.get(file)?.get(line.trim()).map(String::as_str)
    }
}
