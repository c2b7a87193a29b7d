//! Which function wrote which line of a resource.
//!
//! Lines are followed from function to function: the lines that a function leaves as they are keep their author, whatever their text is,
//! so two functions that write the same line in different places are distinguished.

use std::collections::{BTreeMap, HashMap};

use similar::{ChangeTag, TextDiff};

/// The author of each line: the position of a function, or none for a line that no function wrote.
pub(super) type LineAuthors = Vec<Option<usize>>;

/// A resource as the last function left it.
#[derive(Debug)]
struct Tracked {
    label: String,
    text: String,
    lines: LineAuthors,
}

/// The resources that functions changed, by their files.
#[derive(Debug, Default)]
pub(crate) struct Authors {
    pub(super) functions: Vec<String>,
    /// By file and text. Two resources of a file can have the same text.
    resources: BTreeMap<String, BTreeMap<String, Vec<Tracked>>>,
}

/// A resource that a function got or returned.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ResourceText<'a> {
    pub(crate) file: &'a str,
    /// `Deployment shop/web`.
    pub(crate) label: &'a str,
    pub(crate) text: &'a str,
}

impl Authors {
    /// Records that a function changed or created a resource.
    pub(super) fn record(
        &mut self,
        before: Option<ResourceText<'_>>,
        after: ResourceText<'_>,
        function: &str,
    ) {
        let known = self.functions.iter().position(|it| it == function);
        let author = known.unwrap_or_else(|| {
            self.functions.push(function.to_owned());
            self.functions.len() - 1
        });
        let old = before.map(|it| (it.text, self.take(it).unwrap_or_default()));
        let (old_text, old_lines) = old.unwrap_or_default();
        let lines = follow(old_text, &old_lines, after.text, Some(author));
        let tracked = Tracked { label: after.label.to_owned(), text: after.text.to_owned(), lines };
        let file = self.resources.entry(after.file.to_owned()).or_default();
        file.entry(key(after.text).to_owned()).or_default().push(tracked);
    }

    /// The authors of a resource as an earlier function left it.
    fn take(&mut self, before: ResourceText<'_>) -> Option<LineAuthors> {
        let same = self.resources.get_mut(before.file)?.get_mut(key(before.text))?;
        same.pop().map(|tracked| tracked.lines)
    }

    /// The index of all resources, for [`AuthorIndex::of`].
    pub(super) fn index(&self) -> AuthorIndex<'_> {
        let mut by_label: HashMap<(&str, &str), &Tracked> = HashMap::new();
        for (file, texts) in &self.resources {
            for tracked in texts.values().flatten() {
                by_label.insert((file, &tracked.label), tracked);
            }
        }
        AuthorIndex { authors: self, by_label }
    }
}

/// Finds the authors of documents.
pub(super) struct AuthorIndex<'a> {
    authors: &'a Authors,
    by_label: HashMap<(&'a str, &'a str), &'a Tracked>,
}

impl AuthorIndex<'_> {
    /// The authors of the lines of a document that was written. Its text can differ from what the last function returned: it has markers,
    /// and values of Secrets are masked.
    pub(super) fn of(&self, file: &str, label: &str, text: &str) -> LineAuthors {
        let by_text = || self.authors.resources.get(file)?.get(key(text))?.first();
        let found = by_text().or_else(|| self.by_label.get(&(file, label)).copied());
        found.map(|it| follow(&it.text, &it.lines, text, None)).unwrap_or_default()
    }
}

/// Texts are compared without the marker and blank lines around them, which belong to the file.
fn key(text: &str) -> &str {
    let text = text.trim();
    text.strip_prefix("---\n").unwrap_or(text).trim_start()
}

/// The authors of the lines of `new`: those of the lines that `old` has, too, and `author` for the others.
fn follow(old: &str, authors: &[Option<usize>], new: &str, author: Option<usize>) -> LineAuthors {
    let diff = TextDiff::from_lines(old, new);
    let changes = diff.iter_all_changes().filter_map(|change| match change.tag() {
        ChangeTag::Delete => None,
        ChangeTag::Insert => Some(author),
        ChangeTag::Equal => {
            let at = change.old_index()?;
            Some(authors.get(at).copied().flatten())
        }
    });
    changes.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> ResourceText<'_> {
        ResourceText { file: "web.yaml", label: "Deployment web", text }
    }

    #[test]
    fn same_line_of_two_functions_has_two_authors() {
        let mut authors = Authors::default();
        let (first, second) = ("a:\n  x: 1\nb:\n", "a:\n  x: 1\nb:\n  x: 1\n");
        authors.record(Some(text("a:\nb:\n")), text(first), "one");
        authors.record(Some(text(first)), text(second), "two");
        let found = authors.index().of("web.yaml", "Deployment web", second);
        assert_eq!(found, [None, Some(0), None, Some(1)]);
        assert_eq!(authors.functions, ["one", "two"]);
    }

    #[test]
    fn document_is_found_by_its_label_if_its_text_differs() {
        let mut authors = Authors::default();
        authors.record(None, text("a: 1\nb: 2\n"), "one");
        let index = authors.index();
        assert_eq!(index.of("web.yaml", "", "---\na: 1\nb: 2\n"), [None, Some(0), Some(0)]);
        assert_eq!(index.of("web.yaml", "Deployment web", "a: 1\nb: '***'\n"), [Some(0), None]);
        assert_eq!(index.of("web.yaml", "Deployment other", "b: 2\n"), []);
        assert_eq!(index.of("other.yaml", "Deployment web", "b: 2\n"), []);
    }
}
