//! Edits at a path. Missing parents are created, duplicate keys are removed together, and paths through aliases are refused.

use super::{Edit, EditError, EditErrorKind, EmptyParents, KeyPosition, is_null, wrong_kind};
use crate::document::DocumentRef;
use crate::lookup::PathLookup;
use crate::node::NodeKind;
use crate::node_ref::NodeRef;
use crate::path::{Path, Segment};
use crate::pattern::Place;
use crate::value::Value;

impl<'a> Edit<'a> {
    /// Sets the value at a path, and creates missing parents.
    ///
    /// ```
    /// use krm_yaml::{Edit, File};
    ///
    /// let file = File::parse("metadata:\n  name: web\n".to_owned())?;
    /// let mut edit = Edit::new(&file);
    /// for document in file.documents() {
    ///     edit.set_at(document, &"metadata.labels.app".parse()?, "web")?;
    /// }
    /// assert_eq!(edit.apply()?, "metadata:\n  name: web\n  labels:\n    app: web\n");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn set_at(
        &mut self,
        document: DocumentRef<'a>,
        path: &Path,
        value: impl Into<Value<'a>>,
    ) -> Result<(), EditError> {
        match document.lookup(path).ok_or_else(|| no_document(document))? {
            PathLookup::Found(node) => self.set(node, value),
            PathLookup::Shared { by } => Err(shared(by)),
            PathLookup::Missing { at, found } => self.make(at, path, found, value.into()),
        }
    }

    /// Sets the value at a place of a [`PathPattern`](crate::PathPattern), and creates missing parents.
    ///
    /// ```
    /// use krm_yaml::{Edit, File, PathPattern};
    ///
    /// let file = File::parse("containers:\n- {name: a}\n- {name: b, image: c}\n".to_owned())?;
    /// let pattern: PathPattern = "containers[*].image".parse()?;
    /// let root = file.document(0).and_then(|document| document.root()).expect("a root");
    /// let mut edit = Edit::new(&file);
    /// for place in pattern.places(root) {
    ///     edit.set_place(&place, "web")?;
    /// }
    /// assert_eq!(edit.apply()?, "containers:\n- {name: a, image: web}\n- {name: b, image: web}\n");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn set_place(
        &mut self,
        place: &Place<'a>,
        value: impl Into<Value<'a>>,
    ) -> Result<(), EditError> {
        match place {
            Place::Found { node, .. } => self.set(*node, value),
            Place::Missing { at, path, missing } => {
                let found = path.segments().len() - missing;
                self.make(*at, path, found, value.into())
            }
            Place::Shared { by } => Err(shared(*by)),
        }
    }

    /// Appends an element to the sequence at a place, which is created where it is missing.
    pub fn append_place(
        &mut self,
        place: &Place<'a>,
        value: impl Into<Value<'a>>,
    ) -> Result<(), EditError> {
        match place {
            Place::Found { node, .. } if node.kind() == NodeKind::Alias => Err(shared(*node)),
            Place::Found { node, .. } => self.append(*node, value),
            place => self.set_place(place, Value::Sequence(vec![value.into()])),
        }
    }

    /// Removes what is at a place of a pattern.
    pub fn remove_place(
        &mut self,
        place: &Place<'a>,
        empty_parents: EmptyParents,
    ) -> Result<(), EditError> {
        match place {
            Place::Found { node, .. } => self.remove_found(*node, empty_parents),
            Place::Shared { by } => Err(shared(*by)),
            Place::Missing { at, path, missing } => {
                let existing = &path.segments()[..path.segments().len() - missing];
                Err(not_found(*at, existing))
            }
        }
    }

    /// Removes a node that was found. Of duplicate keys, all are removed, as by [`Edit::remove_at`].
    fn remove_found(
        &mut self,
        node: NodeRef<'a>,
        empty_parents: EmptyParents,
    ) -> Result<(), EditError> {
        let duplicates = match node.parent().and_then(NodeRef::as_mapping) {
            Some(mapping) => self.positions.entries_with_key_of(mapping, node),
            None => vec![node],
        };
        duplicates.into_iter().try_for_each(|node| self.remove(node, empty_parents))
    }

    fn make(
        &mut self,
        at: NodeRef<'a>,
        path: &Path,
        found: usize,
        value: Value<'a>,
    ) -> Result<(), EditError> {
        // Creating the parents is recursive, so that this must be checked before.
        if path.segments().len() > Path::MAX_SEGMENTS {
            let limit = Path::MAX_SEGMENTS;
            return Err(EditError::at(at, EditErrorKind::PathTooDeep { limit }));
        }
        let (first, rest) =
            path.segments()[found..].split_first().expect("a missing path has a missing step");
        let value = rest.iter().rev().fold(value, |value, segment| wrap(segment, value));
        let count = at.children().count();
        let is_next = |index: &usize| *index == count;
        match (at.kind(), first) {
            (NodeKind::Mapping, Segment::Key(key)) => {
                self.insert_key(at, key, value, KeyPosition::Last)
            }
            (NodeKind::Sequence, Segment::End) => self.append(at, value),
            (NodeKind::Sequence, Segment::Index(index)) if is_next(index) => self.append(at, value),
            (NodeKind::Sequence, Segment::Key(key)) if key.parse().as_ref().is_ok_and(is_next) => {
                self.append(at, value)
            }
            (NodeKind::Sequence, Segment::Match { .. }) => {
                if !matches!(value, Value::Mapping(_)) {
                    let path = path.to_string();
                    return Err(EditError::at(at, EditErrorKind::ElementNotMapping { path }));
                }
                self.append(at, matching_element(first, value))
            }
            (NodeKind::Scalar(_), _) if is_null(at) => self.set(at, wrap(first, value)),
            _ => Err(mismatch(at, first)),
        }
    }

    /// Inserts a value at a path, which must not exist. An index inserts before the element that is there.
    pub fn insert_at(
        &mut self,
        document: DocumentRef<'a>,
        path: &Path,
        value: impl Into<Value<'a>>,
    ) -> Result<(), EditError> {
        match document.lookup(path).ok_or_else(|| no_document(document))? {
            PathLookup::Shared { by } => Err(shared(by)),
            PathLookup::Missing { at, found } => self.make(at, path, found, value.into()),
            PathLookup::Found(node) => match (path.segments().last(), node.parent()) {
                (Some(Segment::Index(index)), Some(sequence)) => {
                    self.insert_element(sequence, *index, value)
                }
                (None, _) if is_null(node) => self.set(node, value),
                _ => Err(EditError::at(node, EditErrorKind::KeyExists { key: path.to_string() })),
            },
        }
    }

    /// Removes the node at a path. Of duplicate keys, all are removed: readers take the last one, so removing only that would uncover
    /// another value.
    pub fn remove_at(
        &mut self,
        document: DocumentRef<'a>,
        path: &Path,
        empty_parents: EmptyParents,
    ) -> Result<(), EditError> {
        match document.lookup(path).ok_or_else(|| no_document(document))? {
            PathLookup::Shared { by } => Err(shared(by)),
            PathLookup::Missing { at, found } => Err(not_found(at, &path.segments()[..found])),
            PathLookup::Found(node) => self.remove_found(node, empty_parents),
        }
    }
}

/// The error for a path of which only these segments exist.
fn not_found(at: NodeRef<'_>, existing: &[Segment]) -> EditError {
    let found: Path = existing.iter().collect();
    EditError::at(at, EditErrorKind::PathNotFound { found: found.to_string() })
}

fn no_document(document: DocumentRef<'_>) -> EditError {
    EditError::new(document.span(), EditErrorKind::NoDocument)
}

fn shared(by: NodeRef<'_>) -> EditError {
    EditError::at(by, EditErrorKind::PathThroughAlias { alias: by.text().to_owned() })
}

fn mismatch(node: NodeRef<'_>, segment: &Segment) -> EditError {
    let (expected, subject) = match segment {
        Segment::Key(key) => ("a mapping", format!("key `{key}`")),
        Segment::Index(index) if node.kind() == NodeKind::Sequence => {
            let (index, length) = (*index, node.children().count());
            return EditError::at(node, EditErrorKind::IndexOutOfRange { index, length });
        }
        Segment::Index(index) => ("a sequence", format!("`[{index}]`")),
        Segment::Match { key, value } => ("a sequence", format!("`[{key}={value}]`")),
        Segment::End => ("a sequence", "a new element".to_owned()),
    };
    wrong_kind(node, expected, subject)
}

/// The parent that a missing segment needs.
fn wrap<'a>(segment: &Segment, value: Value<'a>) -> Value<'a> {
    match segment {
        Segment::Key(key) => Value::Mapping(vec![(Value::string(key.clone()), value)]),
        Segment::Index(_) | Segment::End => Value::Sequence(vec![value]),
        Segment::Match { .. } => Value::Sequence(vec![matching_element(segment, value)]),
    }
}

/// A new element that the segment selects.
fn matching_element<'a>(segment: &Segment, value: Value<'a>) -> Value<'a> {
    let Segment::Match { key, value: name } = segment else { return value };
    let mut entries = vec![(Value::string(key.clone()), Value::plain(name.clone()))];
    if let Value::Mapping(more) = value {
        entries.extend(
            more.into_iter()
                .filter(|(other, _)| !matches!(other, Value::String(other) if other == key)),
        );
    }
    Value::Mapping(entries)
}
