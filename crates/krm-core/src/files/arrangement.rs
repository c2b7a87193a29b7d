//! Inserts resources into a file and removes them: whole documents, or items of a list.

use std::collections::{BTreeMap, BTreeSet};

use krm_yaml::{DocumentRef, Edit, EditError, EditErrorKind, EmptyParents, File, NodeRef, Span};

use crate::compare::fingerprint;
use crate::files::remove;
use crate::model::resource::{is_written, resources};
use crate::print::source_text;

/// The position of a resource in its file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ResourcePosition {
    /// The index of the document.
    pub(crate) document: usize,
    /// The index in the list that the document is; none for a whole document.
    pub(crate) item: Option<usize>,
}

impl ResourcePosition {
    pub(crate) fn of(node: NodeRef<'_>, item: Option<usize>) -> Self {
        Self { document: node.document().index(), item }
    }
}

/// A resource that is inserted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Addition<'a> {
    /// The resource, which may be part of another file.
    pub(crate) node: NodeRef<'a>,
    /// Where it is inserted.
    pub(crate) position: InsertPosition,
}

/// Where a resource is inserted into a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum InsertPosition {
    /// Directly before another resource, in its list if it is in one.
    Before(ResourcePosition),
    /// Directly after another resource, in its list if it is in one.
    After(ResourcePosition),
    /// After all others, as a document.
    AtEnd,
}

impl InsertPosition {
    fn neighbour(self) -> Option<ResourcePosition> {
        match self {
            Self::Before(neighbour) | Self::After(neighbour) => Some(neighbour),
            Self::AtEnd => None,
        }
    }
}

/// The resources to remove from a file and to insert into it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Arrangement<'a> {
    pub(crate) removed: BTreeSet<ResourcePosition>,
    pub(crate) added: Vec<Addition<'a>>,
    /// Whether a file that has only comments left is kept.
    pub(crate) keeps_comments: bool,
}

impl Arrangement<'_> {
    pub(crate) fn is_empty(&self) -> bool {
        self.removed.is_empty() && self.added.is_empty()
    }

    /// The new text of the file; none if nothing is left in it. Documents that stay keep their meaning, which is verified.
    pub(crate) fn apply(&self, file: &File, is_json: bool) -> Result<Option<String>, EditError> {
        let emptied = self.emptied(file);
        let items = self.edit_items(file, is_json, &emptied)?;
        let parsed;
        let file = match items {
            Some(text) => {
                let whole = |error: krm_yaml::ReadError| EditError::new(whole_span(file), error);
                parsed = File::parse(text).map_err(whole)?;
                &parsed
            }
            None => file,
        };
        let text = self.join(file, is_json, &emptied)?;
        let is_empty = if self.keeps_comments { !has_content(&text) } else { is_blank(&text) };
        if !self.removed.is_empty() && is_empty {
            return Ok(None);
        }
        self.check(file, &text, &emptied)?;
        Ok(Some(text))
    }

    /// Documents that are removed as a whole: those requested, and lists that lose all their items and have no other fields.
    fn emptied(&self, file: &File) -> BTreeSet<usize> {
        let mut counts: BTreeMap<usize, usize> = BTreeMap::new();
        let mut removed = BTreeSet::new();
        for position in &self.removed {
            match position.item {
                None => _ = removed.insert(position.document),
                Some(_) => *counts.entry(position.document).or_default() += 1,
            }
        }
        let gets_items = |document: usize| {
            let mut neighbours =
                self.added.iter().filter_map(|addition| addition.position.neighbour());
            neighbours.any(|it| it.document == document && it.item.is_some())
        };
        let is_all = |at: usize, count| {
            file.document(at).is_some_and(|document| is_list_of(document, count)) && !gets_items(at)
        };
        removed.extend(counts.into_iter().filter(|(at, count)| is_all(*at, *count)).map(|it| it.0));
        removed
    }

    /// The text after items of lists were removed and inserted; none if no list changes.
    fn edit_items(
        &self,
        file: &File,
        is_json: bool,
        emptied: &BTreeSet<usize>,
    ) -> Result<Option<String>, EditError> {
        let mut edit = Edit::new(file).allow_shared(true).json(is_json);
        for position in self.removed.iter().filter(|it| !emptied.contains(&it.document)) {
            let item = position.item.and_then(|at| list_at(file, *position)?.children().nth(at));
            if let Some(item) = item {
                edit.remove(item, EmptyParents::Keep)?;
            }
        }
        for addition in &self.added {
            let Some(neighbour) = addition.position.neighbour() else { continue };
            if let (Some(item), Some(list)) = (neighbour.item, list_at(file, neighbour)) {
                let at = if addition.position == InsertPosition::Before(neighbour) {
                    item
                } else {
                    item + 1
                };
                edit.insert_element(list, at, addition.node)?;
            }
        }
        if edit.is_empty() { Ok(None) } else { edit.apply().map(Some) }
    }

    /// The documents that stay, with the inserted ones between them.
    fn join(
        &self,
        file: &File,
        is_json: bool,
        emptied: &BTreeSet<usize>,
    ) -> Result<String, EditError> {
        let mut new = NewDocuments::default();
        for addition in self.added.iter().filter(|it| !is_item(it, file)) {
            let text = document_text(addition.node);
            match addition.position {
                InsertPosition::Before(neighbour) => {
                    new.before.entry(neighbour.document).or_default().push(text);
                }
                InsertPosition::After(neighbour) => {
                    new.after.entry(neighbour.document).or_default().push(text);
                }
                InsertPosition::AtEnd => new.last.push(text),
            }
        }
        let line_break = line_break(file, &new);
        let is_marked = file.document(0).is_some_and(|first| first.start_marker().is_some());
        let mut out = String::with_capacity(file.text().len());
        let push = |out: &mut String, new: Vec<String>| {
            for text in new {
                if is_json && !is_blank(out) {
                    return Err(EditError::new(whole_span(file), EditErrorKind::JsonDocuments));
                }
                push_document(out, &text, line_break);
            }
            Ok(())
        };
        // A file without documents can have comments.
        if file.document(0).is_none() && has_content(file.text()) {
            out.push_str(file.text());
        }
        for document in file.documents() {
            let index = document.index();
            let leading = new.before.remove(&index).unwrap_or_default();
            let is_led = !leading.is_empty();
            push(&mut out, leading)?;
            let needs_marker = is_led && document.start_marker().is_none();
            if needs_marker && !emptied.contains(&index) {
                out.extend(["---", line_break]);
            }
            out.push_str(match emptied.contains(&index) {
                true => remove::own_comments(document),
                false if out.is_empty() && !is_marked => remove::without_separator(document),
                false if needs_marker => document.text().trim_start_matches('\u{feff}'),
                false => document.text(),
            });
            push(&mut out, new.after.remove(&index).unwrap_or_default())?;
        }
        push(&mut out, new.after.into_values().flatten().chain(new.last).collect())?;
        let is_missing = file.text().starts_with('\u{feff}') && !out.starts_with('\u{feff}');
        Ok(if is_missing { format!("\u{feff}{out}") } else { out })
    }

    /// Verifies that documents that stay keep their meaning. Example of a change: a block scalar at the end of a file without a final
    /// line break gets one when a document is appended.
    fn check(&self, file: &File, text: &str, emptied: &BTreeSet<usize>) -> Result<(), EditError> {
        let new = File::parse(text.to_owned())
            .map_err(|error| EditError::new(whole_span(file), error))?;
        let is_there = |root: &NodeRef<'_>| is_written(*root);
        let print =
            |document: DocumentRef<'_>| document.root().filter(is_there).map(fingerprint::of);
        let kept = file.documents().filter(|document| !emptied.contains(&document.index()));
        let mut found = new.documents().filter_map(print);
        for document in kept {
            let Some(expected) = print(document) else { continue };
            if !found.any(|print| print == expected) {
                let subject = "a document that the edit does not name".to_owned();
                let kind = EditErrorKind::ChangesMeaning { subject };
                return Err(EditError::new(document.span(), kind));
            }
        }
        Ok(())
    }
}

/// The text of a document that is inserted behind a `---` line.
fn document_text(node: NodeRef<'_>) -> String {
    let text = source_text::lines(node);
    // What follows `---` on its line moves to the next one.
    let is_beside_marker = node.parent().is_none() && node.document().text().starts_with("--- ");
    if is_beside_marker { text.trim_start().to_owned() } else { text }
}

/// The texts of inserted documents, by the document that they are next to.
#[derive(Default)]
struct NewDocuments {
    before: BTreeMap<usize, Vec<String>>,
    after: BTreeMap<usize, Vec<String>>,
    last: Vec<String>,
}

/// The fields of a list that has nothing but items.
const LIST_FIELDS: [&str; 4] = ["apiVersion", "kind", "metadata", "items"];

/// Whether a document is a list of exactly `count` resources without other fields.
fn is_list_of(document: DocumentRef<'_>, count: usize) -> bool {
    let Some(root) = document.root() else { return false };
    let is_plain = root.as_mapping().is_none_or(|mapping| {
        mapping.entries().all(|entry| LIST_FIELDS.iter().any(|name| entry.is(name)))
    });
    let items = list(document).map_or(0, |list| list.children().count());
    is_plain && items == count && resources(document).len() == count
}

/// Whether there is more than markers and blank lines.
fn has_content(text: &str) -> bool {
    text.lines()
        .any(|line| !matches!(line.trim_start_matches('\u{feff}').trim(), "" | "---" | "..."))
}

/// Whether a resource is inserted into a list.
fn is_item(addition: &Addition<'_>, file: &File) -> bool {
    let neighbour = addition.position.neighbour();
    neighbour.is_some_and(|it| it.item.is_some() && list_at(file, it).is_some())
}

fn list_at(file: &File, position: ResourcePosition) -> Option<NodeRef<'_>> {
    list(file.document(position.document)?)
}

/// The sequence whose items are resources.
fn list(document: DocumentRef<'_>) -> Option<NodeRef<'_>> {
    let root = document.root()?;
    match root.as_mapping() {
        Some(mapping) => mapping.get("items").filter(|items| items.as_sequence().is_some()),
        None => root.as_sequence().map(|list| list.node()),
    }
}

fn whole_span(file: &File) -> Span {
    Span::new(0, u32::try_from(file.text().len()).unwrap_or(u32::MAX))
}

/// Whether there are only markers and comments.
pub(crate) fn is_blank(text: &str) -> bool {
    let is_ignorable = |line: &str| {
        let line = line.trim_start_matches('\u{feff}').trim();
        line.is_empty() || line.starts_with(['#', '%']) || line == "---" || line == "..."
    };
    text.lines().all(is_ignorable)
}

/// The line break of the file, or of the first inserted text if the file has none.
fn line_break(file: &File, new: &NewDocuments) -> &'static str {
    let all = || new.before.values().chain(new.after.values()).flatten().chain(&new.last);
    let first = || all().next().map_or("", String::as_str);
    let text = if file.text().contains('\n') { file.text() } else { first() };
    if text.contains("\r\n") { "\r\n" } else { "\n" }
}

fn push_document(out: &mut String, text: &str, line_break: &str) {
    // The comments of a file without documents are those above the first one that is added.
    if is_blank(out) && text.starts_with(out.trim_end()) {
        out.clear();
    }
    if !out.is_empty() {
        *out = source_text::closed(std::mem::take(out));
        out.push_str("---");
        out.push_str(line_break);
    }
    for line in text.split_inclusive('\n') {
        let bare = line.strip_suffix('\n').map(|line| line.strip_suffix('\r').unwrap_or(line));
        match bare {
            Some(bare) => out.extend([bare, line_break]),
            None => out.push_str(line),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arranged(
        text: &str,
        removed: &[ResourcePosition],
        new: &str,
        after: Option<ResourcePosition>,
    ) -> Option<String> {
        let [file, new] = [text, new].map(|text| File::parse(text.to_owned()).unwrap());
        let nodes = new.documents().filter_map(|document| document.root());
        let position = after.map_or(InsertPosition::AtEnd, InsertPosition::After);
        let added = nodes.map(|node| Addition { node, position }).collect();
        let removed = removed.iter().copied().collect();
        Arrangement { removed, added, ..Arrangement::default() }.apply(&file, false).unwrap()
    }

    fn document(document: usize) -> ResourcePosition {
        ResourcePosition { document, item: None }
    }

    fn item(at: usize) -> ResourcePosition {
        ResourcePosition { document: 0, item: Some(at) }
    }

    #[test]
    fn removed_document_takes_its_comments_with_it() {
        let text = "# a\na: 1\n---\n# b\nb: 1\n---\nc: 1\n";
        assert_eq!(arranged(text, &[document(1)], "", None).unwrap(), "# a\na: 1\n---\nc: 1\n");
        assert_eq!(
            arranged(text, &[document(2)], "", None).unwrap(),
            "# a\na: 1\n---\n# b\nb: 1\n"
        );
        assert_eq!(arranged(text, &[0, 1, 2].map(document), "", None), None);
    }

    #[test]
    fn document_is_inserted_after_its_neighbour_or_at_the_end() {
        let text = "a: 1\n---\nb: 1";
        let new = "# why\nx: 1 # so\n";
        assert_eq!(
            arranged(text, &[], new, Some(document(0))).unwrap(),
            "a: 1\n---\n# why\nx: 1 # so\n---\nb: 1"
        );
        assert_eq!(
            arranged(text, &[], new, None).unwrap(),
            "a: 1\n---\nb: 1\n---\n# why\nx: 1 # so\n"
        );
        assert_eq!(
            arranged(text, &[document(0)], new, None).unwrap(),
            "b: 1\n---\n# why\nx: 1 # so\n"
        );
        assert_eq!(arranged("", &[], new, None).unwrap(), new);
        assert_eq!(arranged("a: 1\r\n", &[], "x: 1\n", None).unwrap(), "a: 1\r\n---\r\nx: 1\r\n");
    }

    #[test]
    fn block_scalar_at_the_end_without_a_line_break_keeps_its_value() {
        assert_eq!(
            arranged("a: |\n  x", &[], "b: >2\n    y", None).unwrap(),
            "a: |-\n  x\n---\nb: >2-\n    y\n"
        );
        assert_eq!(arranged("a: |\n  x\n", &[], "b: 1", None).unwrap(), "a: |\n  x\n---\nb: 1\n");
        assert_eq!(
            arranged("a: |+\r\n  x", &[], "b: 1\n", None).unwrap(),
            "a: |-\r\n  x\r\n---\r\nb: 1\r\n"
        );
    }

    #[test]
    fn list_items_are_removed_and_inserted() {
        let kind = "apiVersion: v1\n  kind";
        let text = format!("apiVersion: v1\nkind: List\nitems:\n- {kind}: A # one\n- {kind}: B\n");
        let text = &text;
        let head = "apiVersion: v1\nkind: List\nitems:\n";
        assert_eq!(arranged(text, &[item(0)], "", None).unwrap(), format!("{head}- {kind}: B\n"));
        assert_eq!(
            arranged(text, &[item(1)], "x: 1\n", Some(item(0))).unwrap(),
            format!("{head}- {kind}: A # one\n- x: 1\n")
        );
        assert_eq!(
            arranged(text, &[item(0), item(1)], "", None),
            None,
            "a list without items is removed"
        );
    }
}
