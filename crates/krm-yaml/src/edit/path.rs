//! Edits at a path: missing parents are made, duplicates go together, shared ground is refused.

use super::{Edit, EditError, Place, WhenEmpty, is_null};
use crate::document::DocumentRef;
use crate::find::Located;
use crate::node::NodeKind;
use crate::path::{Path, Segment};
use crate::span::Span;
use crate::value::Value;
use crate::view::NodeRef;

/// Why an edit at a path was not made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PathEditError {
    /// The document could not be read, or is empty.
    NoDocument,
    /// Nothing is there.
    NotFound {
        /// The last node of the path that is there.
        span: Span,
        /// The part of the path that is there.
        found: Path,
    },
    /// The edit itself is refused.
    Refused(EditError),
}

impl std::fmt::Display for PathEditError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::NoDocument => f.write_str("there is no document to edit"),
            Self::NotFound { found, .. } if found.segments().is_empty() => {
                f.write_str("no such path")
            }
            Self::NotFound { found, .. } => write!(f, "no such path: only `{found}` is there"),
            Self::Refused(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for PathEditError {}

impl From<EditError> for PathEditError {
    fn from(error: EditError) -> Self {
        Self::Refused(error)
    }
}

impl<'a> Edit<'a> {
    /// Sets the value at a path; missing parents are made.
    ///
    /// ```
    /// use krm_yaml::{Edit, File};
    ///
    /// let file = File::parse("metadata:\n  name: web\n".to_owned())?;
    /// let mut edit = Edit::new(&file);
    /// edit.set_at(file.document(0).unwrap(), &"metadata.labels.app".parse()?, "web")?;
    /// assert_eq!(edit.apply()?, "metadata:\n  name: web\n  labels:\n    app: web\n");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn set_at(
        &mut self,
        document: DocumentRef<'a>,
        path: &Path,
        value: impl Into<Value<'a>>,
    ) -> Result<(), PathEditError> {
        match document.locate(path).ok_or(PathEditError::NoDocument)? {
            Located::Node(node) => Ok(self.set(node, value)?),
            Located::Shared { by } => Err(shared(by)),
            Located::Missing { at, found } => self.make(at, path, found, value.into()),
        }
    }

    fn make(
        &mut self,
        at: NodeRef<'a>,
        path: &Path,
        found: usize,
        value: Value<'a>,
    ) -> Result<(), PathEditError> {
        let (first, rest) =
            path.segments()[found..].split_first().expect("a missing path has a missing step");
        let value = rest.iter().rev().fold(value, |value, segment| wrap(segment, value));
        let count = at.children().count();
        let is_next = |index: &usize| *index == count;
        match (at.kind(), first) {
            (NodeKind::Mapping, Segment::Key(key)) => {
                Ok(self.insert_key(at, key, value, Place::Last)?)
            }
            (NodeKind::Sequence, Segment::End) => Ok(self.append(at, value)?),
            (NodeKind::Sequence, Segment::Index(index)) if is_next(index) => {
                Ok(self.append(at, value)?)
            }
            (NodeKind::Sequence, Segment::Key(key)) if key.parse().as_ref().is_ok_and(is_next) => {
                Ok(self.append(at, value)?)
            }
            (NodeKind::Sequence, Segment::Match { .. }) => {
                if !matches!(value, Value::Mapping(_)) {
                    let message = format!("a new item for `{path}` must be a mapping");
                    return Err(EditError::at(at, message).into());
                }
                Ok(self.append(at, named_item(first, value))?)
            }
            (NodeKind::Scalar(_), _) if is_null(at) => Ok(self.set(at, wrap(first, value))?),
            (kind, _) => Err(EditError::at(at, mismatch(kind, first)).into()),
        }
    }

    /// Removes what is at a path; all of them where a key is there more than once.
    pub fn remove_at(
        &mut self,
        document: DocumentRef<'a>,
        path: &Path,
        when_empty: WhenEmpty,
    ) -> Result<(), PathEditError> {
        match document.locate(path).ok_or(PathEditError::NoDocument)? {
            Located::Shared { by } => Err(shared(by)),
            Located::Missing { at, found } => {
                let mut there = Path::default();
                for segment in &path.segments()[..found] {
                    there.push(segment.clone());
                }
                Err(PathEditError::NotFound { span: at.full_span(), found: there })
            }
            Located::Node(node) => {
                let duplicates =
                    match (path.segments().last(), node.parent().and_then(NodeRef::as_mapping)) {
                        (Some(Segment::Key(key)), Some(mapping)) => mapping
                            .entries()
                            .filter(|entry| entry.is(key))
                            .map(|entry| entry.value)
                            .collect(),
                        _ => vec![node],
                    };
                for node in duplicates {
                    self.remove(node, when_empty)?;
                }
                Ok(())
            }
        }
    }
}

fn shared(by: NodeRef<'_>) -> PathEditError {
    let anchor = by.text();
    EditError::at(by, format!("the path goes through `{anchor}`: what stands there is shared; edit the anchored original, or write the values out here"))
        .into()
}

fn mismatch(kind: NodeKind, segment: &Segment) -> String {
    let wanted = match segment {
        Segment::Key(key) => format!("the key `{key}` wants a mapping"),
        Segment::Index(index) => format!("the item [{index}] wants a list that is long enough"),
        Segment::Match { key, value } => format!("[{key}={value}] wants a list"),
        Segment::End => "a new item wants a list".to_owned(),
    };
    let there = match kind {
        NodeKind::Mapping => "a mapping",
        NodeKind::Sequence => "a list",
        NodeKind::Scalar(_) => "a value",
        NodeKind::Alias => "an alias",
    };
    format!("{wanted}, and this is {there}")
}

/// The parent that a missing step needs.
fn wrap<'a>(segment: &Segment, value: Value<'a>) -> Value<'a> {
    match segment {
        Segment::Key(key) => Value::Mapping(vec![(Value::string(key.clone()), value)]),
        Segment::Index(_) | Segment::End => Value::Sequence(vec![value]),
        Segment::Match { .. } => Value::Sequence(vec![named_item(segment, value)]),
    }
}

/// A new item that the step would find.
fn named_item<'a>(segment: &Segment, value: Value<'a>) -> Value<'a> {
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
