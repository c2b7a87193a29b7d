//! Edits of a file by path, in one call.

use super::{Edit, EditError, EditErrorKind, EmptyParents};
use crate::file::File;
use crate::node_ref::NodeRef;
use crate::path::Path;
use crate::span::Span;
use crate::value::Value;

/// Access by path to the first document. For other documents, or for several changes at once, use [`Edit`].
impl File {
    /// The node at a path of the first document, following aliases and merge keys. `None` if it does not exist, or if the path cannot be
    /// parsed.
    ///
    /// ```
    /// # use krm_yaml::{File, ScalarType};
    /// let file = File::parse("spec: {replicas: 3, args: [-v]}\n".to_owned())?;
    /// let replicas = file.get("spec.replicas").and_then(|node| node.as_scalar());
    /// assert_eq!(replicas.map(|scalar| scalar.resolve()), Some(ScalarType::Int(Some(3))));
    /// assert_eq!(file.get("spec.args[0]").map(|node| node.text()), Some("-v"));
    /// assert!(file.get("spec.paused").is_none());
    /// # Ok::<(), krm_yaml::ReadError>(())
    /// ```
    pub fn get(&self, path: &str) -> Option<NodeRef<'_>> {
        self.document(0)?.find(&path.parse().ok()?)
    }

    /// Sets the value at a path of the first document, and creates missing parents. Comments, quotes and all other text stay as they are.
    ///
    /// ```
    /// # use krm_yaml::File;
    /// let mut file = File::parse("spec:\n  replicas: 3 # for now\n".to_owned())?;
    /// file.set("spec.replicas", 5)?;
    /// file.set("metadata.labels.app", "web")?;
    /// assert_eq!(file.text(), "spec:\n  replicas: 5 # for now\nmetadata:\n  labels:\n    app: web\n");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// The path is invalid, leads through an alias or a scalar, or the value cannot be changed without changing anything else. The file is
    /// unchanged then.
    pub fn set<'v>(&mut self, path: &str, value: impl Into<Value<'v>>) -> Result<(), EditError> {
        self.change(path, PathChange::Set(value.into()))
    }

    /// Inserts a value at a path of the first document, which must not exist. An index inserts before the element that is there.
    ///
    /// ```
    /// # use krm_yaml::{EditErrorKind, File};
    /// let mut file = File::parse("args:\n- b\n".to_owned())?;
    /// file.insert("args[0]", "a")?;
    /// file.insert("args[-]", "c")?;
    /// file.insert("tty", true)?;
    /// assert_eq!(file.text(), "args:\n- a\n- b\n- c\ntty: true\n");
    /// let error = file.insert("tty", false).expect_err("the key exists");
    /// assert!(matches!(error.kind, EditErrorKind::KeyExists { .. }));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As for [`File::set`], and if the path exists.
    pub fn insert<'v>(&mut self, path: &str, value: impl Into<Value<'v>>) -> Result<(), EditError> {
        self.change(path, PathChange::Insert(value.into()))
    }

    /// Removes the node at a path of the first document, with the comments that belong to it.
    ///
    /// ```
    /// # use krm_yaml::{EditErrorKind, File};
    /// let mut file = File::parse("a: 1\n# the second\nb: 2\nc: 3\n".to_owned())?;
    /// file.remove("b")?;
    /// assert_eq!(file.text(), "a: 1\nc: 3\n");
    /// let error = file.remove("b").expect_err("the key is gone");
    /// assert!(matches!(error.kind, EditErrorKind::PathNotFound { .. }));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As for [`File::set`], and if the path does not exist.
    pub fn remove(&mut self, path: &str) -> Result<(), EditError> {
        self.change(path, PathChange::Remove)
    }

    fn change(&mut self, path: &str, change: PathChange<'_>) -> Result<(), EditError> {
        let refuse = |kind: EditErrorKind| EditError::new(Span::empty(0), kind);
        let path: Path = path.parse().map_err(|error: crate::PathError| {
            refuse(EditErrorKind::InvalidPath { path: path.to_owned(), error: error.to_string() })
        })?;
        let document = self.document(0).ok_or_else(|| refuse(EditErrorKind::NoDocument))?;
        let mut edit = Edit::new(self);
        match change {
            PathChange::Set(value) => edit.set_at(document, &path, value)?,
            PathChange::Insert(value) => edit.insert_at(document, &path, value)?,
            PathChange::Remove => edit.remove_at(document, &path, EmptyParents::Keep)?,
        }
        if edit.is_empty() {
            return Ok(());
        }
        *self = edit.apply_to_file()?;
        Ok(())
    }
}

enum PathChange<'v> {
    Set(Value<'v>),
    Insert(Value<'v>),
    Remove,
}
