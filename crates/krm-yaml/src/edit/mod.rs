//! Edits: symbolic changes to a file, collected, applied once, and read back.
//!
//! An edit names nodes and says what should become of them. [`Edit::apply`]
//! turns all of them into splices of the text, so that whatever nobody named is
//! the same bytes; reads the touched documents again; and refuses the result
//! unless it means what was asked for and nothing else changed its meaning. Only
//! where that is certain beforehand (`plain_swap`) nothing is read again.

mod anchors;
mod block;
mod block_scalar;
mod comments;
mod copy;
mod end_of_file;
mod first_entry;
mod flow;
mod json_numbers;
mod line_joins;
mod lower;
mod path;
mod plain_swap;
mod properties;
mod rebuild;
mod render;
mod replace;
mod root;
mod splice;
mod verify;

use std::collections::{BTreeMap, BTreeSet};

use crate::comment::{Comment, CommentPosition};
use crate::file::File;
use crate::node::NodeKind;
use crate::node_ref::NodeRef;
use crate::span::Span;
use crate::value::Value;

pub(crate) use crate::error::{EditError, EditErrorKind};
pub(crate) use verify::read_back;

/// Where a new key goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyPosition<'a> {
    /// After the last key.
    Last,
    /// Before the first key.
    First,
    /// Before this key; last where it is missing.
    Before(&'a str),
    /// After this key; last where it is missing.
    After(&'a str),
    /// Where this order of keys has it: after the last key that comes before it.
    InOrder(&'a [&'a str]),
}

/// What becomes of a collection whose last entry is removed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EmptyParents {
    /// `{}` or `[]` stays.
    #[default]
    Keep,
    /// Its own entry is removed, too, and so on upward.
    Remove,
}

/// One entry to be inserted before the old entry `before`.
#[derive(Debug)]
pub(crate) struct Insertion<'a> {
    pub(crate) before: usize,
    pub(crate) adjacent: Adjacent,
    pub(crate) key: Option<Value<'a>>,
    pub(crate) value: Value<'a>,
}

/// Which neighbour a new entry stands directly beside, where blank lines or comments separate the two.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Adjacent {
    Previous,
    Next,
}

/// What changes in the list of a collection's entries.
#[derive(Debug, Default)]
pub(crate) struct CollectionEdit<'a> {
    pub(crate) removed: BTreeSet<usize>,
    pub(crate) inserted: Vec<Insertion<'a>>,
    /// The old entries in their new order.
    pub(crate) order: Option<Vec<usize>>,
    pub(crate) empty_parents: EmptyParents,
}

impl CollectionEdit<'_> {
    /// Whether a key of this name comes in.
    fn inserts(&self, name: &str) -> bool {
        self.inserted.iter().any(|new| matches!(&new.key, Some(Value::String(key)) if key == name))
    }
}

/// A comment to be set (with text) or removed (without).
#[derive(Debug)]
pub(crate) struct CommentEdit<'a> {
    pub(crate) target: CommentTarget<'a>,
    pub(crate) text: Option<String>,
}

impl CommentEdit<'_> {
    /// Whether it stands on lines of its own above an entry.
    pub(crate) fn is_above(&self) -> bool {
        matches!(self.target, CommentTarget::Of(_, CommentPosition::Head))
    }
}

#[derive(Debug)]
pub(crate) enum CommentTarget<'a> {
    /// By its owner.
    Of(NodeRef<'a>, CommentPosition),
    /// One that is there.
    Existing(Span),
}

/// All changes to one document.
#[derive(Debug, Default)]
pub(crate) struct DocumentEdit<'a> {
    pub(crate) collections: BTreeMap<u32, CollectionEdit<'a>>,
    pub(crate) values: BTreeMap<u32, Value<'a>>,
    pub(crate) keys: BTreeMap<u32, String>,
    pub(crate) comments: Vec<CommentEdit<'a>>,
}

/// Changes to a file, collected before they are made together.
///
/// ```
/// use krm_yaml::{Edit, File, KeyPosition};
///
/// let file = File::parse("spec:\n  replicas: 3 # for now\n".to_owned())?;
/// let spec = file.document(0).unwrap().root().unwrap().as_mapping().unwrap().get("spec").unwrap();
/// let mut edit = Edit::new(&file);
/// edit.set(spec.as_mapping().unwrap().get("replicas").unwrap(), 5)?;
/// edit.insert_key(spec, "paused", true, KeyPosition::First)?;
/// assert_eq!(edit.apply()?, "spec:\n  paused: true\n  replicas: 5 # for now\n");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Edit<'a> {
    file: &'a File,
    documents: BTreeMap<u32, DocumentEdit<'a>>,
    positions: EntryPositions,
    allow_shared: bool,
    json: bool,
}

impl<'a> Edit<'a> {
    /// No changes yet.
    pub fn new(file: &'a File) -> Self {
        Self {
            file,
            documents: BTreeMap::new(),
            positions: EntryPositions::default(),
            allow_shared: false,
            json: false,
        }
    }

    /// Allows to change what aliases share; without it such a change is refused.
    #[must_use]
    pub fn allow_shared(mut self, allow: bool) -> Self {
        self.allow_shared = allow;
        self
    }

    /// Says that the file is JSON, also where its text does not tell.
    #[must_use]
    pub fn json(mut self, json: bool) -> Self {
        self.json = json;
        self
    }

    /// Whether nothing is to be changed.
    pub fn is_empty(&self) -> bool {
        self.documents.is_empty()
    }

    fn document(&mut self, node: NodeRef<'a>) -> &mut DocumentEdit<'a> {
        self.documents.entry(node.document.index).or_default()
    }

    fn collection(&mut self, node: NodeRef<'a>) -> &mut CollectionEdit<'a> {
        self.document(node).collections.entry(node.index).or_default()
    }

    /// Gives a node a new value: a scalar keeps its style where the value allows it,
    /// and its comments stay. An equal value changes nothing.
    pub fn set(&mut self, node: NodeRef<'a>, value: impl Into<Value<'a>>) -> Result<(), EditError> {
        let value = value.into();
        if value.is_meant_by(node, self.json) {
            return Ok(());
        }
        self.overwrite(node, value)
    }

    /// Writes a value anew, also where it is meant already: a text gets quotes where some reader takes it for something
    /// else.
    pub fn overwrite(
        &mut self,
        node: NodeRef<'a>,
        value: impl Into<Value<'a>>,
    ) -> Result<(), EditError> {
        let value = value.into();
        match self.document(node).values.insert(node.index, value) {
            None => Ok(()),
            Some(_) => Err(EditError::at(node, EditErrorKind::conflict("the value is set twice"))),
        }
    }

    /// Inserts a key.
    pub fn insert_key(
        &mut self,
        mapping: NodeRef<'a>,
        key: &str,
        value: impl Into<Value<'a>>,
        place: KeyPosition<'_>,
    ) -> Result<(), EditError> {
        if is_null(mapping) {
            return self
                .set(mapping, Value::Mapping(vec![(Value::string(key.to_owned()), value.into())]));
        }
        let Some(view) = mapping.as_mapping() else {
            return Err(wrong_kind(mapping, "a mapping", format!("key `{key}`")));
        };
        let pending = self.documents.get(&mapping.document.index);
        let list = pending.and_then(|edit| edit.collections.get(&mapping.index));
        for (at, entry) in view.entries().enumerate() {
            let is_removed = list.is_some_and(|list| list.removed.contains(&at));
            let new_name = pending.and_then(|edit| edit.keys.get(&entry.key.index));
            let is_named = new_name.map_or_else(|| entry.is(key), |name| name == key);
            if is_named && !is_removed {
                return Err(EditError::at(
                    entry.key,
                    EditErrorKind::KeyExists { key: key.to_owned() },
                ));
            }
        }
        if list.is_some_and(|list| list.inserts(key)) {
            let conflict = format!("the key `{key}` is inserted twice");
            return Err(EditError::at(mapping, EditErrorKind::conflict(conflict)));
        }
        let (before, adjacent) = position(view, key, place);
        let key = Some(Value::String(key.to_owned().into()));
        self.collection(mapping).inserted.push(Insertion {
            before,
            adjacent,
            key,
            value: value.into(),
        });
        Ok(())
    }

    /// Inserts an entry directly behind the entry at `after`, or before the first one.
    ///
    /// The key may be of any kind, and whoever calls this knows that it is not there: that is not looked for again.
    pub fn insert_entry(
        &mut self,
        mapping: NodeRef<'a>,
        after: Option<usize>,
        key: impl Into<Value<'a>>,
        value: impl Into<Value<'a>>,
    ) -> Result<(), EditError> {
        if mapping.kind() != NodeKind::Mapping {
            return Err(wrong_kind(mapping, "a mapping", "a new key"));
        }
        let count = self.positions.children(mapping).len() / 2;
        let (before, adjacent) = match after {
            Some(at) => ((at + 1).min(count), Adjacent::Previous),
            None => (0, Adjacent::Next),
        };
        self.collection(mapping).inserted.push(Insertion {
            before,
            adjacent,
            key: Some(key.into()),
            value: value.into(),
        });
        Ok(())
    }

    /// Inserts an item before the one at `index`; at the end where there is none.
    pub fn insert_element(
        &mut self,
        sequence: NodeRef<'a>,
        index: usize,
        value: impl Into<Value<'a>>,
    ) -> Result<(), EditError> {
        if is_null(sequence) {
            return self.set(sequence, Value::Sequence(vec![value.into()]));
        }
        if sequence.kind() != NodeKind::Sequence {
            return Err(wrong_kind(sequence, "a sequence", "a new element"));
        }
        let count = self.positions.children(sequence).len();
        let before = index.min(count);
        let adjacent = if before == count { Adjacent::Previous } else { Adjacent::Next };
        self.collection(sequence).inserted.push(Insertion {
            before,
            adjacent,
            key: None,
            value: value.into(),
        });
        Ok(())
    }

    /// Appends an item.
    pub fn append(
        &mut self,
        sequence: NodeRef<'a>,
        value: impl Into<Value<'a>>,
    ) -> Result<(), EditError> {
        self.insert_element(sequence, usize::MAX, value)
    }

    /// Removes an entry of a mapping (named by its key or its value) or an item, with the comments that are its own.
    pub fn remove(
        &mut self,
        node: NodeRef<'a>,
        empty_parents: EmptyParents,
    ) -> Result<(), EditError> {
        let Some(parent) = node.parent() else {
            return Err(EditError::at(node, EditErrorKind::RemoveRoot));
        };
        let at = self.positions.entry(parent, node);
        let collection = self.collection(parent);
        collection.removed.insert(at);
        collection.empty_parents = empty_parents;
        Ok(())
    }

    /// Moves the item at `from` so that it stands at `to`.
    pub fn move_element(
        &mut self,
        sequence: NodeRef<'a>,
        from: usize,
        to: usize,
    ) -> Result<(), EditError> {
        let count = sequence.children().count();
        if sequence.kind() != NodeKind::Sequence {
            return Err(wrong_kind(sequence, "a sequence", "an element to move"));
        }
        if from >= count || to >= count {
            let kind = EditErrorKind::IndexOutOfRange { index: from.max(to), length: count };
            return Err(EditError::at(sequence, kind));
        }
        let mut order: Vec<usize> = (0..count).collect();
        let item = order.remove(from);
        order.insert(to, item);
        self.reorder(sequence, order)
    }

    /// Puts the entries of a collection in a new order, each with its own comments.
    pub fn reorder(&mut self, collection: NodeRef<'a>, order: Vec<usize>) -> Result<(), EditError> {
        let children = collection.children().count();
        let count = if collection.kind() == NodeKind::Mapping { children / 2 } else { children };
        let mut sorted = order.clone();
        sorted.sort_unstable();
        if !sorted.iter().copied().eq(0..count) {
            return Err(EditError::at(collection, EditErrorKind::InvalidOrder));
        }
        if order.is_sorted() {
            return Ok(());
        }
        match self.collection(collection).order.replace(order) {
            None => Ok(()),
            Some(_) => {
                let conflict = "the collection is reordered twice";
                Err(EditError::at(collection, EditErrorKind::conflict(conflict)))
            }
        }
    }

    /// Renames a key.
    pub fn rename(&mut self, key: NodeRef<'a>, name: &str) -> Result<(), EditError> {
        let mapping = key.parent().and_then(NodeRef::as_mapping);
        let Some(mapping) =
            mapping.filter(|mapping| mapping.entries().any(|entry| entry.key == key))
        else {
            return Err(EditError::at(key, EditErrorKind::RenameValue));
        };
        if key.as_scalar().is_some_and(|scalar| scalar.is(name)) {
            return Ok(());
        }
        if let Some(entry) = mapping.entry(name) {
            let kind = EditErrorKind::KeyExists { key: name.to_owned() };
            return Err(EditError::at(entry.key, kind));
        }
        let edit = self.document(key);
        let list = key.parent().and_then(|parent| edit.collections.get(&parent.index));
        if list.is_some_and(|list| list.inserts(name)) {
            let conflict = format!("the key `{name}` is inserted, too");
            return Err(EditError::at(key, EditErrorKind::conflict(conflict)));
        }
        edit.keys.insert(key.index, name.to_owned());
        Ok(())
    }

    /// Sets, replaces or (without a text) removes the comment above or beside a node.
    pub fn set_comment(
        &mut self,
        node: NodeRef<'a>,
        place: CommentPosition,
        text: Option<&str>,
    ) -> Result<(), EditError> {
        if !matches!(place, CommentPosition::Head | CommentPosition::Line) {
            let reason = "only comments above or beside a node can be set";
            return Err(EditError::at(node, EditErrorKind::CommentNotAllowed { reason }));
        }
        let text = text.map(str::to_owned);
        self.document(node)
            .comments
            .push(CommentEdit { target: CommentTarget::Of(node, place), text });
        Ok(())
    }

    /// Replaces or (without a text) removes a comment that is there. One on a line of its own may become several lines.
    pub fn replace_comment(&mut self, document: usize, comment: &Comment<'a>, text: Option<&str>) {
        let text = text.map(str::to_owned);
        let comments = &mut self.documents.entry(document as u32).or_default().comments;
        comments.push(CommentEdit { target: CommentTarget::Existing(comment.span), text });
    }

    /// Whether all changes can be made and their outcome is certain, so that [`Edit::apply`] reads nothing back.
    /// For the tests, which read it back all the same.
    #[doc(hidden)]
    pub fn is_certain(&self) -> bool {
        self.documents.iter().all(|(&index, edit)| {
            let document = crate::DocumentRef { file: self.file, index };
            lower::is_certain(document, edit, self.allow_shared, self.json)
        })
    }

    /// Makes all changes: the new text of the file.
    pub fn apply(self) -> Result<String, EditError> {
        let text = self.file.text();
        let mut out = String::with_capacity(text.len() + 64);
        let mut at = 0;
        for (index, edit) in &self.documents {
            let document = crate::DocumentRef { file: self.file, index: *index };
            let span = document.span();
            out.push_str(&text[at as usize..span.start as usize]);
            out.push_str(&lower::apply(document, edit, self.allow_shared, self.json)?);
            at = span.end;
        }
        out.push_str(&text[at as usize..]);
        Ok(out)
    }
}

/// A node that is not what an edit needs.
fn wrong_kind(node: NodeRef<'_>, expected: &'static str, subject: impl Into<String>) -> EditError {
    let kind =
        EditErrorKind::WrongNodeKind { expected, subject: subject.into(), found: describe(node) };
    EditError::at(node, kind)
}

/// What a node is, in a message.
fn describe(node: NodeRef<'_>) -> &'static str {
    match node.kind() {
        NodeKind::Mapping => "a mapping",
        NodeKind::Sequence => "a sequence",
        NodeKind::Scalar(_) => "a scalar",
        NodeKind::Alias => "an alias",
    }
}

/// Whether nothing stands here that entries could be added to.
pub(crate) fn is_null(node: NodeRef<'_>) -> bool {
    node.as_scalar().is_some_and(|scalar| scalar.resolve() == crate::ScalarType::Null)
}

/// Which entry of its collection a node belongs to, looked up once per collection.
///
/// A collection can have a hundred thousand entries and an edit name each of them.
#[derive(Debug, Default)]
pub(crate) struct EntryPositions {
    children: BTreeMap<(u32, u32), Vec<u32>>,
}

impl EntryPositions {
    fn children(&mut self, parent: NodeRef<'_>) -> &[u32] {
        let key = (parent.document.index, parent.index);
        let children = || parent.children().map(|child| child.index).collect();
        self.children.entry(key).or_insert_with(children)
    }

    pub(crate) fn entry(&mut self, parent: NodeRef<'_>, node: NodeRef<'_>) -> usize {
        let all = self.children(parent);
        let at = all.partition_point(|&child| child < node.index);
        if parent.kind() == NodeKind::Mapping { at / 2 } else { at }
    }
}

/// Before which entry a new key goes.
fn position(mapping: crate::Mapping<'_>, key: &str, place: KeyPosition<'_>) -> (usize, Adjacent) {
    let count = mapping.entries().count();
    let of = |name: &str| mapping.entries().position(|entry| entry.is(name));
    let last = (count, if count == 0 { Adjacent::Next } else { Adjacent::Previous });
    let after = |at: usize| (at + 1, Adjacent::Previous);
    match place {
        KeyPosition::Last => last,
        KeyPosition::First => (0, Adjacent::Next),
        KeyPosition::Before(name) => of(name).map_or(last, |at| (at, Adjacent::Next)),
        KeyPosition::After(name) => of(name).map_or(last, after),
        KeyPosition::InOrder(order) => {
            let Some(rank) = order.iter().position(|name| *name == key) else { return last };
            let earlier = order[..rank].iter().filter_map(|name| of(name)).max();
            let later = order[rank + 1..].iter().filter_map(|name| of(name)).min();
            earlier.map(after).or(later.map(|at| (at, Adjacent::Next))).unwrap_or(last)
        }
    }
}
