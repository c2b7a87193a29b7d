//! Changes to the files of a package: collected by an operation, applied as edits file by file.

use std::collections::{BTreeMap, BTreeSet};

use krm_yaml::{
    Comment, CommentPosition, Edit, EditError, EditErrorKind, EmptyParents, File, KeyPosition,
    NodeRef, Path, Span, Value,
};

use super::typed_value::{NewItems, model_element};
use crate::{Diagnostic, PackageFile};

/// One edit of a file.
#[derive(Clone, Debug)]
pub(super) enum EditOp<'a> {
    /// Sets a value.
    Set(NodeRef<'a>, Value<'a>),
    /// Writes a value again, even if it means the same.
    Rewrite(NodeRef<'a>, Value<'a>),
    /// Sets the elements of a sequence; equal elements keep their position, style and comments.
    SetItems(NodeRef<'a>, NewItems<'a>),
    /// Inserts a key after the last existing one of `after`, or else before another one.
    Insert {
        mapping: NodeRef<'a>,
        key: &'static str,
        value: Value<'a>,
        after: &'static [&'static str],
        before: &'static str,
    },
    /// Sets a value at a path of the first document, and creates missing parents.
    SetPath(Path, Value<'a>),
    /// Inserts an element before all others.
    Prepend(NodeRef<'a>, Value<'a>),
    /// Removes an entry, and collections that become empty.
    Remove(NodeRef<'a>),
    /// Renames a key.
    RenameKey(NodeRef<'a>, String),
    /// Adds a line comment.
    AddComment(NodeRef<'a>, String),
    /// Adds a line comment, and a line break after it if more follows in a flow collection.
    AddLineComment(NodeRef<'a>, String),
    /// Replaces a comment; none removes it.
    SetComment(Comment<'a>, Option<String>),
}

/// What an edit changes: the document, the offset of the node, what is edited there, and the key of a new entry.
type EditKey = (usize, u32, u8, String);

impl EditOp<'_> {
    /// The number of bytes of new values.
    pub(super) fn text_length(&self) -> usize {
        match self {
            Self::Set(_, value) | Self::Rewrite(_, value) => value.text_length(),
            Self::SetItems(_, items) => items.text_length(),
            _ => 0,
        }
    }

    fn key(&self, document: usize) -> EditKey {
        let (start, part, key) = match self {
            Self::Set(node, _)
            | Self::Rewrite(node, _)
            | Self::SetItems(node, _)
            | Self::Remove(node) => (node.start(), 0, String::new()),
            Self::RenameKey(node, _) => (node.start(), 1, String::new()),
            Self::AddComment(node, _) | Self::AddLineComment(node, _) => {
                (node.start(), 2, String::new())
            }
            Self::SetComment(comment, _) => (comment.span.start, 3, String::new()),
            Self::Insert { mapping, key, .. } => (mapping.start(), 4, (*key).to_owned()),
            Self::Prepend(list, _) => (list.start(), 5, String::new()),
            Self::SetPath(path, _) => (0, 6, path.to_string()),
        };
        (document, start, part, key)
    }
}

/// A file, and its edits with the index of their document.
type FileEdits<'a> = (&'a PackageFile, Vec<(usize, EditOp<'a>)>);

/// The changes of an operation, by file.
#[derive(Debug, Default)]
pub struct Changes<'a> {
    files: BTreeMap<String, FileEdits<'a>>,
    allow_shared: bool,
}

impl<'a> Changes<'a> {
    /// Adds an edit of a document.
    pub(super) fn add(&mut self, file: &'a PackageFile, document: usize, op: EditOp<'a>) {
        let entry = self.files.entry(file.display_path.clone());
        entry.or_insert_with(|| (file, Vec::new())).1.push((document, op));
    }

    /// Adds an edit of the document that contains a node.
    pub(super) fn add_at(&mut self, file: &'a PackageFile, node: NodeRef<'a>, op: EditOp<'a>) {
        self.add(file, node.document().index(), op);
    }

    /// Allows edits of anchored values, which change every alias of them.
    pub(super) fn allow_shared(&mut self, allow: bool) {
        self.allow_shared = allow;
    }

    /// Adds the changes of the same operation in another package.
    ///
    /// What both edit is edited once, as in an OpenAPI document that both share. The outer package, which comes first, wins: its
    /// functions run last.
    pub fn merge(&mut self, other: Changes<'a>) {
        for (name, (file, ops)) in other.files {
            let (_, own) = self.files.entry(name).or_insert_with(|| (file, Vec::new()));
            let seen: BTreeSet<EditKey> = own.iter().map(|(at, op)| op.key(*at)).collect();
            own.extend(ops.into_iter().filter(|(at, op)| !seen.contains(&op.key(*at))));
        }
        self.allow_shared |= other.allow_shared;
    }

    /// The edited files, sorted by name.
    pub fn files(&self) -> impl Iterator<Item = &'a PackageFile> {
        self.files.values().map(|(file, _)| *file)
    }

    /// The new text of a file; none if it is not edited.
    pub fn text(&self, file: &PackageFile) -> Result<Option<String>, Diagnostic> {
        self.edited(file, Edit::apply)
    }

    /// The same as a parsed file, which is faster than parsing the text.
    pub fn file(&self, file: &PackageFile) -> Result<Option<File>, Diagnostic> {
        self.edited(file, Edit::apply_to_file)
    }

    fn edited<'e, T>(
        &'e self,
        file: &PackageFile,
        finish: impl FnOnce(Edit<'e>) -> Result<T, EditError>,
    ) -> Result<Option<T>, Diagnostic> {
        let Some((file, ops)) = self.files.get(&file.display_path) else { return Ok(None) };
        let Some(old) = file.file() else { return Ok(None) };
        let in_file = |error: Diagnostic| error.in_file(&*file.display_path);
        let mut edit = Edit::new(old).json(file.path.is_json()).allow_shared(self.allow_shared);
        for (document, op) in ops {
            apply(&mut edit, old, *document, op).map_err(in_file)?;
        }
        finish(edit).map(Some).map_err(|error| in_file(Diagnostic::from_edit(&error, old)))
    }

    /// The new texts of all edited files, with their names.
    pub fn texts(&self) -> Result<Vec<(String, String)>, Vec<Diagnostic>> {
        let (mut texts, mut errors) = (Vec::new(), Vec::new());
        for file in self.files() {
            match self.text(file) {
                Ok(text) => texts.extend(text.map(|text| (file.display_path.clone(), text))),
                Err(error) => errors.push(error),
            }
        }
        if errors.is_empty() { Ok(texts) } else { Err(errors) }
    }
}

fn apply<'a>(
    edit: &mut Edit<'a>,
    file: &'a File,
    document: usize,
    op: &EditOp<'a>,
) -> Result<(), Diagnostic> {
    let result = match op {
        EditOp::Set(node, value) => edit.set(*node, value.clone()),
        EditOp::Rewrite(node, value) => edit.overwrite(*node, value.clone()),
        EditOp::SetItems(node, items) => set_items(edit, *node, items),
        EditOp::Insert { mapping, key, value, after, before } => {
            let has = |name: &str| mapping.as_mapping().is_some_and(|it| it.get(name).is_some());
            let last = after.iter().rev().find(|name| has(name));
            let place = last.map_or(KeyPosition::Before(before), |name| KeyPosition::After(name));
            edit.insert_key(*mapping, key, value.clone(), place)
        }
        EditOp::SetPath(path, value) => match file.document(document) {
            Some(document) => edit.set_at(document, path, value.clone()),
            None => Err(EditError::new(Span::empty(0), EditErrorKind::NoDocument)),
        },
        EditOp::Prepend(list, value) => edit.insert_element(*list, 0, value.clone()),
        EditOp::Remove(node) => edit.remove(*node, EmptyParents::Remove),
        EditOp::RenameKey(key, name) => edit.rename(*key, name),
        EditOp::AddComment(node, text) => {
            edit.set_comment(*node, CommentPosition::Line, Some(text))
        }
        EditOp::AddLineComment(node, text) => {
            edit.set_line_comment(*node, text);
            Ok(())
        }
        EditOp::SetComment(comment, text) => {
            edit.replace_comment(document, comment, text.as_deref());
            Ok(())
        }
    };
    result.map_err(|error| Diagnostic::from_edit(&error, file))
}

/// Keeps the longest common subsequence. Between its elements, old elements are replaced in place as long as there are
/// any, so that their comments and types stay with the position.
fn set_items<'a>(
    edit: &mut Edit<'a>,
    node: NodeRef<'a>,
    items: &NewItems<'a>,
) -> Result<(), EditError> {
    let old: Vec<NodeRef<'a>> = node.children().collect();
    if old.is_empty() || items.len() == 0 {
        return edit.set(node, Value::Sequence(items.values()));
    }
    let text = |item: &NodeRef<'_>| item.as_scalar().map(|it| it.value().into_owned());
    let texts: Vec<String> = old.iter().map(|item| text(item).unwrap_or_default()).collect();
    let new: Vec<&str> = (0..items.len()).map(|at| items.text(at)).collect();
    let model = model_element(&old);
    let (mut from_old, mut from_new) = (0, 0);
    let common = longest_common_subsequence(&texts, &new);
    for (at_old, at_new) in common.into_iter().chain([(old.len(), new.len())]) {
        let pairs = (at_old - from_old).min(at_new - from_new);
        for (item, at) in old[from_old..].iter().zip(from_new..).take(pairs) {
            edit.set(*item, items.value(at, Some(*item)))?;
        }
        for item in &old[from_old + pairs..at_old] {
            edit.remove(*item, EmptyParents::Keep)?;
        }
        for at in from_new + pairs..at_new {
            edit.insert_element(node, at_old, items.value(at, model))?;
        }
        // The same characters can have another type: a quoted number that is given, or a type of the schema.
        if let (Some(item), true) = (old.get(at_old), at_new < items.len()) {
            edit.set(*item, items.value(at_new, Some(*item)))?;
        }
        (from_old, from_new) = (at_old + 1, at_new + 1);
    }
    Ok(())
}

/// The longest common subsequence of two lists, as pairs of indices.
fn longest_common_subsequence(old: &[String], new: &[&str]) -> Vec<(usize, usize)> {
    // The table is quadratic, so of very long lists only the common prefix is used.
    if old.len().saturating_mul(new.len()) > 4_000_000 {
        let prefix = old.iter().zip(new).take_while(|(a, b)| a == *b).count();
        return (0..prefix).map(|at| (at, at)).collect();
    }
    let width = new.len() + 1;
    let mut best = vec![0_u32; (old.len() + 1) * width];
    for a in (0..old.len()).rev() {
        for b in (0..new.len()).rev() {
            best[a * width + b] = match old[a] == new[b] {
                true => best[(a + 1) * width + b + 1] + 1,
                false => best[(a + 1) * width + b].max(best[a * width + b + 1]),
            };
        }
    }
    let (mut a, mut b, mut pairs) = (0, 0, Vec::new());
    while a < old.len() && b < new.len() {
        if old[a] == new[b] {
            pairs.push((a, b));
            (a, b) = (a + 1, b + 1);
        } else if best[(a + 1) * width + b] >= best[a * width + b + 1] {
            a += 1;
        } else {
            b += 1;
        }
    }
    pairs
}
