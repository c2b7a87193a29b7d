//! Edits: changes to nodes of a file, collected and applied together.
//!
//! [`Edit::apply`] turns the changes into splices of the text, so that all other bytes stay as they are. It parses the edited documents
//! again and refuses the result unless every change is there and nothing else changed its meaning (`verify`). The one exception are
//! scalars for which this can be proved beforehand (`plain_swap`).
//!
//! An edit is refused rather than guessed: changes to values that an alias shares (unless allowed), keys that exist already, comments that
//! a flow collection on one line has no room for, comments in JSON, and whatever does not parse back. Of random edits of documents without
//! anchors, fewer than one in a hundred is refused; most of these move `|+` block scalars next to blank lines, which are content in one
//! order of the entries and nothing in another.

mod anchors;
mod block;
mod block_scalar;
mod comments;
mod copy;
mod end_of_file;
mod entry_positions;
mod file;
mod first_entry;
mod flow;
mod json_numbers;
mod kubernetes;
mod line_joins;
mod lower;
mod moved_lines;
mod other_documents;
mod path;
mod plain_swap;
mod properties;
mod rebuild;
mod render;
mod replace;
mod root;
mod siblings;
mod small_map;
mod splice;
mod verify;

use std::collections::BTreeSet;

use crate::comment::{Comment, CommentPosition};
use crate::file::File;
use crate::node::NodeKind;
use crate::node_ref::NodeRef;
use crate::span::Span;
use crate::value::Value;

pub(crate) use crate::error::{EditError, EditErrorKind};
pub(crate) use end_of_file::closed;
pub(crate) use entry_positions::EntryPositions;
pub(crate) use small_map::SmallMap;
pub(crate) use verify::{Expected, read_back};

/// The position of a new key in its mapping.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyPosition<'a> {
    /// After the last key.
    Last,
    /// Before the first key.
    First,
    /// Before this key; last if there is no such key.
    Before(&'a str),
    /// After this key; last if there is no such key.
    After(&'a str),
    /// According to this order of keys: after the last existing key that precedes it.
    InOrder(&'a [&'a str]),
}

/// What happens to a collection whose last entry is removed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EmptyParents {
    /// An empty `{}` or `[]` is left.
    #[default]
    Keep,
    /// The collection is removed from its parent, too, and so on upward.
    Remove,
}

/// A new entry before the old entry `before`.
#[derive(Debug)]
pub(crate) struct Insertion<'a> {
    pub(crate) before: usize,
    pub(crate) adjacent: Adjacent,
    pub(crate) key: Option<Value<'a>>,
    pub(crate) value: Value<'a>,
}

/// The neighbour that a new entry is directly next to, if blank lines or comments separate the old ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Adjacent {
    Previous,
    Next,
}

/// Changes of the entries of one collection.
#[derive(Debug, Default)]
pub(crate) struct CollectionEdit<'a> {
    pub(crate) removed: BTreeSet<usize>,
    pub(crate) inserted: Vec<Insertion<'a>>,
    /// The old entries in their new order.
    pub(crate) order: Option<Vec<usize>>,
    pub(crate) empty_parents: EmptyParents,
}

impl CollectionEdit<'_> {
    /// Whether a key of this name is inserted.
    fn inserts(&self, name: &str) -> bool {
        self.inserted.iter().any(|new| matches!(&new.key, Some(Value::String(key)) if key == name))
    }
}

/// A comment that is set (`Some`) or removed (`None`).
#[derive(Debug)]
pub(crate) struct CommentEdit<'a> {
    pub(crate) target: CommentTarget<'a>,
    /// Whether what follows in a flow collection may go to the next line.
    pub(crate) breaks_line: bool,
    pub(crate) text: Option<String>,
}

impl CommentEdit<'_> {
    /// Whether this is a head comment.
    pub(crate) fn is_above(&self) -> bool {
        matches!(self.target, CommentTarget::Of(_, CommentPosition::Head))
    }
}

#[derive(Debug)]
pub(crate) enum CommentTarget<'a> {
    /// The comment of a node at a position.
    Of(NodeRef<'a>, CommentPosition),
    /// An existing comment.
    Existing(Span),
}

/// All changes to one document.
#[derive(Debug, Default)]
pub(crate) struct DocumentEdit<'a> {
    pub(crate) collections: SmallMap<CollectionEdit<'a>>,
    pub(crate) values: SmallMap<Value<'a>>,
    /// The nodes of `values` whose tags are replaced, too.
    pub(crate) retagged: BTreeSet<u32>,
    pub(crate) keys: SmallMap<String>,
    pub(crate) comments: Vec<CommentEdit<'a>>,
}

/// Changes to a file that are collected and then applied together.
///
/// ```
/// use krm_yaml::{Edit, File, KeyPosition};
///
/// let file = File::parse("spec:\n  replicas: 3 # for now\n".to_owned())?;
/// let mut edit = Edit::new(&file);
/// if let (Some(spec), Some(replicas)) = (file.get("spec"), file.get("spec.replicas")) {
///     edit.set(replicas, 5)?;
///     edit.insert_key(spec, "paused", true, KeyPosition::First)?;
/// }
/// assert_eq!(edit.apply()?, "spec:\n  paused: true\n  replicas: 5 # for now\n");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Edit<'a> {
    file: &'a File,
    documents: SmallMap<DocumentEdit<'a>>,
    positions: EntryPositions,
    allow_shared: bool,
    json: bool,
    /// The bytes of new values so far.
    added: usize,
}

impl<'a> Edit<'a> {
    /// The bytes of new values that one edit may have. One value may be set in very many places.
    const MAX_ADDED: usize = 128 << 20;

    /// An edit without changes.
    pub fn new(file: &'a File) -> Self {
        Self {
            file,
            documents: SmallMap::default(),
            positions: EntryPositions::default(),
            allow_shared: false,
            json: false,
            added: 0,
        }
    }

    /// Allows changes to values that aliases share. By default they are refused.
    #[must_use]
    pub fn allow_shared(mut self, allow: bool) -> Self {
        self.allow_shared = allow;
        self
    }

    /// Treats the file as JSON, even if its text does not look like it.
    #[must_use]
    pub fn json(mut self, json: bool) -> Self {
        self.json = json;
        self
    }

    /// Whether there are no changes.
    pub fn is_empty(&self) -> bool {
        self.documents.is_empty()
    }

    fn document(&mut self, node: NodeRef<'a>) -> &mut DocumentEdit<'a> {
        self.documents.get_or_default(node.document.table().index)
    }

    fn collection(&mut self, node: NodeRef<'a>) -> &mut CollectionEdit<'a> {
        self.document(node).collections.get_or_default(node.index)
    }

    fn insert(&mut self, node: NodeRef<'a>, new: Insertion<'a>) -> Result<(), EditError> {
        self.charge(node, &new.value)?;
        self.collection(node).inserted.push(new);
        Ok(())
    }

    /// Counts the bytes of a new value, before anything is written. Nodes are not counted: they are copied from another document, once.
    fn charge(&mut self, node: NodeRef<'a>, value: &Value<'_>) -> Result<(), EditError> {
        self.added = self.added.saturating_add(value.text_length());
        let limit = Self::MAX_ADDED;
        let kind = EditErrorKind::TooMuchAdded { limit };
        if self.added > limit { Err(EditError::at(node, kind)) } else { Ok(()) }
    }

    /// Sets the value of a node. A scalar keeps its style if the value allows it, and comments are kept. Setting an equal value changes
    /// nothing.
    pub fn set(&mut self, node: NodeRef<'a>, value: impl Into<Value<'a>>) -> Result<(), EditError> {
        let value = value.into();
        if value.is_meant_by(node, self.json) {
            return Ok(());
        }
        self.overwrite(node, value)
    }

    /// Like [`Edit::set`], but writes an equal value, too. This adds quotes to strings that YAML 1.1 or 1.2 would read as another type.
    pub fn overwrite(
        &mut self,
        node: NodeRef<'a>,
        value: impl Into<Value<'a>>,
    ) -> Result<(), EditError> {
        let value = value.into();
        self.charge(node, &value)?;
        match self.document(node).values.insert(node.index, value) {
            None => Ok(()),
            Some(_) => Err(EditError::at(node, EditErrorKind::conflict("the value is set twice"))),
        }
    }

    /// Inserts a key. A null value becomes a mapping.
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
        let pending = self.documents.get(mapping.document.table().index);
        let list = pending.and_then(|edit| edit.collections.get(mapping.index));
        for (at, entry) in view.entries().enumerate() {
            let is_removed = list.is_some_and(|list| list.removed.contains(&at));
            let new_name = pending.and_then(|edit| edit.keys.get(entry.key.index));
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
        let value = value.into();
        self.insert(mapping, Insertion { before, adjacent, key, value })
    }

    /// Inserts an entry directly after the entry at index `after`, or before the first one.
    ///
    /// The key may be of any type. It is not checked whether it exists already.
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
        let value = value.into();
        self.insert(mapping, Insertion { before, adjacent, key: Some(key.into()), value })
    }

    /// Inserts an element before the one at `index`, or at the end. A null value becomes a sequence.
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
        let value = value.into();
        self.insert(sequence, Insertion { before, adjacent, key: None, value })
    }

    /// Appends an element.
    pub fn append(
        &mut self,
        sequence: NodeRef<'a>,
        value: impl Into<Value<'a>>,
    ) -> Result<(), EditError> {
        self.insert_element(sequence, usize::MAX, value)
    }

    /// Removes an element, or an entry of a mapping (given by its key or its value), with the comments that belong to it.
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

    /// Moves the element at `from` to the index `to`.
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

    /// Reorders the entries of a collection, each with its own comments.
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
        let list = key.parent().and_then(|parent| edit.collections.get(parent.index));
        if list.is_some_and(|list| list.inserts(name)) {
            let conflict = format!("the key `{name}` is inserted, too");
            return Err(EditError::at(key, EditErrorKind::conflict(conflict)));
        }
        edit.keys.insert(key.index, name.to_owned());
        Ok(())
    }

    /// Sets, replaces or (with `None`) removes the head or line comment of a node.
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
        self.document(node).comments.push(CommentEdit {
            target: CommentTarget::Of(node, place),
            breaks_line: false,
            text,
        });
        Ok(())
    }

    /// Sets or replaces the line comment of a node. What follows the node on its line in a flow collection goes to the next line,
    /// where [`Edit::set_comment`] is an error.
    pub fn set_line_comment(&mut self, node: NodeRef<'a>, text: &str) {
        let target = CommentTarget::Of(node, CommentPosition::Line);
        let edit = CommentEdit { target, breaks_line: true, text: Some(text.to_owned()) };
        self.document(node).comments.push(edit);
    }

    /// Replaces or (with `None`) removes an existing comment. A comment on a line of its own may be replaced with several lines.
    pub fn replace_comment(&mut self, document: usize, comment: &Comment<'a>, text: Option<&str>) {
        let text = text.map(str::to_owned);
        let comments = &mut self.documents.get_or_default(document as u32).comments;
        let target = CommentTarget::Existing(comment.span);
        comments.push(CommentEdit { target, breaks_line: false, text });
    }

    /// Whether [`Edit::apply`] succeeds without parsing the result again. For tests, which parse it all the same.
    #[doc(hidden)]
    pub fn is_certain(&self) -> bool {
        self.documents.iter().all(|(index, edit)| {
            let document = document_at(self.file, index);
            lower::is_certain(document, edit, self.allow_shared, self.json)
        })
    }

    /// Applies all changes and returns the new text of the file.
    pub fn apply(self) -> Result<String, EditError> {
        let text = self.file.text();
        let mut out = String::with_capacity(text.len() + 64);
        let mut at = 0;
        let mut lengths = SmallMap::default();
        let mut may_change_others = false;
        for (index, edit) in self.documents.iter() {
            let document = document_at(self.file, index);
            let span = document.span();
            out.push_str(&text[at as usize..span.start as usize]);
            let edited = lower::apply(document, edit, self.allow_shared, self.json)?;
            may_change_others |= other_documents::may_change(self.file, &edited);
            let edited = edited.into_text();
            lengths.insert(index, edited.len() as u32);
            out.push_str(&edited);
            at = span.end;
        }
        out.push_str(&text[at as usize..]);
        if may_change_others {
            other_documents::verify(self.file, &out, &lengths)?;
        }
        Ok(out)
    }

    /// Applies all changes and returns the new file. Faster than parsing the new text, because the text of an edited document is parsed to
    /// verify it.
    ///
    /// ```
    /// use krm_yaml::{Edit, File};
    ///
    /// let file = File::parse("replicas: 3 # for now\n".to_owned())?;
    /// let mut edit = Edit::new(&file);
    /// edit.set(file.get("replicas").expect("it is there"), 5)?;
    /// let new = edit.apply_to_file()?;
    /// assert_eq!(new.get("replicas").map(|node| node.text()), Some("5"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn apply_to_file(self) -> Result<File, EditError> {
        let (file, (lines, columns)) = (self.file, self.file.offset());
        let new = match self.documents.first() {
            // The only document of a file is the whole of it.
            Some((0, edit)) if file.tables().len() == 1 => {
                let document = document_at(file, 0);
                lower::apply(document, edit, self.allow_shared, self.json)?
            }
            _ => {
                let text = self.apply()?;
                let file = File::parse(text);
                let file = file.map_err(|error| EditError::new(Span::empty(0), error))?;
                return Ok(file.with_offset(lines, columns));
            }
        };
        let new = match new {
            lower::EditedDocument::Parsed(file) => file,
            lower::EditedDocument::Text(text, ranges) => {
                let file = File::parse_changed(document_at(file, 0), text, &ranges);
                file.map_err(|error| EditError::new(Span::empty(0), error))?
            }
        };
        Ok(new.with_offset(lines, columns))
    }
}

fn document_at(file: &File, index: u32) -> crate::DocumentRef<'_> {
    crate::DocumentRef::new(file, &file.tables()[index as usize])
}

/// The error for a node of another kind than an edit needs.
fn wrong_kind(node: NodeRef<'_>, expected: &'static str, subject: impl Into<String>) -> EditError {
    let kind =
        EditErrorKind::WrongNodeKind { expected, subject: subject.into(), found: describe(node) };
    EditError::at(node, kind)
}

/// The kind of a node, as messages name it.
fn describe(node: NodeRef<'_>) -> &'static str {
    match node.kind() {
        NodeKind::Mapping => "a mapping",
        NodeKind::Sequence => "a sequence",
        NodeKind::Scalar(_) => "a scalar",
        NodeKind::Alias => "an alias",
    }
}

/// Whether a node is null, so that entries can be added by replacing it.
pub(crate) fn is_null(node: NodeRef<'_>) -> bool {
    node.as_scalar().is_some_and(|scalar| scalar.resolve() == crate::ScalarType::Null)
}

/// The index of the entry before which a new key is inserted.
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
