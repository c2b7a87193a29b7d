//! JSON patches (RFC 6902) as edits.

use std::fmt;

use krm_core::Diagnostic;
use krm_yaml::{DocumentCopy, NodeKind, NodeRef, Path, Segment, Value};
use serde::Deserialize;
use serde::de::{Deserializer, Error as _};

use crate::kinds::ResourceKind;
use crate::typed::is_equal;
use crate::{Any, Error, Resource};

/// A JSON patch (RFC 6902): operations that are applied in order, all or none.
///
/// ```
/// use krm_sdk::{JsonPatch, Resource};
///
/// #[derive(serde::Deserialize)]
/// struct Config {
///     patch: JsonPatch,
/// }
///
/// let config: Config = Resource::parse("\
/// apiVersion: example.com/v1
/// kind: Config
/// patch:
/// - {op: test, path: /spec/replicas, value: 1}
/// - {op: replace, path: /spec/replicas, value: 3}
/// - {op: add, path: /spec/args/0, value: first}
/// - {op: move, from: /spec/old, path: /spec/new}
/// - {op: remove, path: /metadata/labels/a~1b}
/// ")?.read_config()?;
/// let text = "apiVersion: v1\nkind: X\nmetadata: {labels: {a/b: c, d: e}}\nspec:\n  replicas: 1 # one\n  args: [x]\n  old: {y: z}\n";
/// let mut resource = Resource::parse(text)?;
/// resource.patch_json(&config.patch)?;
/// assert_eq!(resource.text(), "apiVersion: v1\nkind: X\nmetadata: {labels: {d: e}}\nspec:\n  replicas: 3 # one\n  args: [first, x]\n  new: {y: z}\n");
/// # Ok::<(), krm_sdk::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct JsonPatch {
    /// The operations.
    pub operations: Vec<JsonPatchOperation>,
}

/// One operation of a JSON patch. Paths are JSON pointers.
#[derive(Clone, Debug)]
pub enum JsonPatchOperation {
    /// Adds a field, replaces one that exists, or inserts an element before the index; `-` is the end.
    Add {
        /// Where.
        path: String,
        /// What.
        value: Value<'static>,
    },
    /// Removes what must exist.
    Remove {
        /// Where.
        path: String,
    },
    /// Replaces what must exist.
    Replace {
        /// Where.
        path: String,
        /// By what.
        value: Value<'static>,
    },
    /// Removes a value and adds it somewhere else.
    Move {
        /// From where.
        from: String,
        /// To where.
        path: String,
    },
    /// Adds a copy of a value.
    Copy {
        /// From where.
        from: String,
        /// To where.
        path: String,
    },
    /// Fails unless the value is equal.
    Test {
        /// Where.
        path: String,
        /// The expected value.
        value: Value<'static>,
    },
}

impl fmt::Display for JsonPatchOperation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Add { path, .. } => write!(f, "add {path}"),
            Self::Remove { path } => write!(f, "remove {path}"),
            Self::Replace { path, .. } => write!(f, "replace {path}"),
            Self::Move { from, path } => write!(f, "move {from} {path}"),
            Self::Copy { from, path } => write!(f, "copy {from} {path}"),
            Self::Test { path, .. } => write!(f, "test {path}"),
        }
    }
}

impl<'de> Deserialize<'de> for JsonPatch {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self { operations: Vec::deserialize(deserializer)? })
    }
}

impl<'de> Deserialize<'de> for JsonPatchOperation {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(rename_all = "lowercase")]
        enum Op {
            Add,
            Remove,
            Replace,
            Move,
            Copy,
            Test,
        }
        #[derive(Deserialize)]
        struct Fields {
            op: Op,
            path: String,
            from: Option<String>,
            value: Option<Any>,
        }
        let Fields { op, path, from, value } = Fields::deserialize(deserializer)?;
        if !path.is_empty() && !path.starts_with('/') {
            return Err(D::Error::custom("expected a JSON pointer such as `/spec/replicas`"));
        }
        // A null value is read as none.
        let value = value.map_or(Value::Null, |Any(value)| value);
        let from = || from.clone().ok_or_else(|| D::Error::missing_field("from"));
        Ok(match op {
            Op::Add => Self::Add { path, value },
            Op::Remove => Self::Remove { path },
            Op::Replace => Self::Replace { path, value },
            Op::Move => Self::Move { from: from()?, path },
            Op::Copy => Self::Copy { from: from()?, path },
            Op::Test => Self::Test { path, value },
        })
    }
}

impl Resource {
    /// Applies a JSON patch. If one operation fails, nothing changes.
    pub fn patch_json(&mut self, patch: &JsonPatch) -> Result<(), Error> {
        let mut new = self.clone();
        for operation in &patch.operations {
            new.apply_operation(operation)?;
        }
        *self = new;
        Ok(())
    }

    fn apply_operation(&mut self, operation: &JsonPatchOperation) -> Result<(), Error> {
        let failed = |reason: &str| -> Error {
            let (operation, reason) = (operation.to_string(), reason.to_owned().into());
            Diagnostic::error(ResourceKind::PatchFailed { operation, reason }).into()
        };
        let missing = || failed("there is no such field");
        match operation {
            JsonPatchOperation::Add { path, value } => self.add_value(path, value.clone(), failed),
            JsonPatchOperation::Replace { path, value } => {
                self.find_node(path)?.ok_or_else(missing)?;
                self.set(path, value.clone())
            }
            JsonPatchOperation::Remove { path } => match self.remove(path)? {
                true => Ok(()),
                false => Err(missing()),
            },
            JsonPatchOperation::Test { path, value } => {
                let node = self.get(path)?.ok_or_else(missing)?;
                let current = crate::resource::owned(node)?;
                match is_equal(&current, value) {
                    true => Ok(()),
                    false => Err(failed("the value is different")),
                }
            }
            JsonPatchOperation::Copy { from, path } => {
                let value = self.copied(from)?.ok_or_else(missing)?;
                self.add_value(path, value, failed)
            }
            JsonPatchOperation::Move { from, path } => {
                if path.strip_prefix(from.as_str()).is_some_and(|rest| rest.starts_with('/')) {
                    return Err(failed("a value cannot be moved into itself"));
                }
                let value = self.copied(from)?.ok_or_else(missing)?;
                self.remove(from)?;
                self.add_value(path, value, failed)
            }
        }
    }

    /// A copy of the node at a path, with its comments and style.
    fn copied(&self, path: &str) -> Result<Option<Value<'static>>, Error> {
        let Some(node) = self.get(path)? else { return Ok(None) };
        let document = node.document();
        // A copy of an anchor would define it twice.
        if document.has_properties() {
            return crate::resource::owned(node).map(Some);
        }
        let copy = DocumentCopy::new(document, &[], &[])
            .map_err(|error| Diagnostic::from_edit(&error, document.file()))?;
        Ok(Some(Value::OwnedNode(copy.owned_node(node))))
    }

    fn add_value(
        &mut self,
        path: &str,
        value: Value<'static>,
        failed: impl Fn(&str) -> Error,
    ) -> Result<(), Error> {
        let path: Path = crate::resource::parse_path(path)?;
        let Some((parent, last)) = path.split_last() else {
            return Err(failed("the whole resource cannot be replaced"));
        };
        let node = self.root().document().find(&parent).map(NodeRef::resolve);
        let node = node.ok_or_else(|| failed("the parent does not exist"))?;
        let count = node.children().count();
        let index = match (node.kind(), last) {
            (NodeKind::Mapping, _) => None,
            (NodeKind::Sequence, Segment::End) => Some(count),
            (NodeKind::Sequence, Segment::Key(key)) => {
                let index = key.parse().ok().filter(|index| *index <= count);
                Some(index.ok_or_else(|| failed("there is no such index"))?)
            }
            _ => return Err(failed("the parent is not a mapping or a sequence")),
        };
        self.edit(|edit, root| match (index, root.document().find(&parent)) {
            (Some(index), Some(sequence)) => edit.insert_element(sequence, index, value),
            _ => edit.set_at(root.document(), &path, value),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn patched(text: &str, operations: &str) -> Result<String, String> {
        #[derive(Deserialize)]
        struct Config {
            patch: JsonPatch,
        }
        let config = format!("apiVersion: a/v1\nkind: C\npatch:\n{operations}");
        let config = Resource::parse(config).unwrap().read_config::<Config>();
        let patch = config.map_err(|error| error.to_string())?.patch;
        let mut resource = Resource::parse(text).unwrap();
        resource.patch_json(&patch).map_err(|error| error.to_string())?;
        Ok(resource.text().to_owned())
    }

    #[test]
    fn operations_follow_the_rfc() {
        for (before, operation, after) in [
            ("a: {b: 1}\n", "{op: add, path: /a/c, value: 2}", Ok("a: {b: 1, c: 2}\n")),
            ("a: {b: 1}\n", "{op: add, path: /a/b, value: 2}", Ok("a: {b: 2}\n")),
            ("a: [x, y]\n", "{op: add, path: /a/1, value: z}", Ok("a: [x, z, y]\n")),
            ("a: [x, y]\n", "{op: add, path: /a/-, value: z}", Ok("a: [x, y, z]\n")),
            ("a: [x, y]\n", "{op: add, path: /a/2, value: z}", Ok("a: [x, y, z]\n")),
            (
                "a: [x]\n",
                "{op: add, path: /a/5, value: z}",
                Err("cannot apply `add /a/5`: there is no such index"),
            ),
            (
                "a: 1\n",
                "{op: add, path: /b/c, value: 2}",
                Err("cannot apply `add /b/c`: the parent does not exist"),
            ),
            ("a: 1\n", "{op: add, path: /b, value: null}", Ok("a: 1\nb: null\n")),
            ("a: [x, y]\n", "{op: remove, path: /a/0}", Ok("a: [y]\n")),
            (
                "a: 1\n",
                "{op: replace, path: /b, value: 2}",
                Err("cannot apply `replace /b`: there is no such field"),
            ),
            ("a: 1 # one\n", "{op: replace, path: /a, value: 1.20}", Ok("a: 1.20 # one\n")),
            (
                "a: {x: 1}\nb: 2\n",
                "{op: copy, from: /a, path: /c}",
                Ok("a: {x: 1}\nb: 2\nc: {x: 1}\n"),
            ),
            (
                "a: {x: 1}\n",
                "{op: move, from: /a, path: /a/x}",
                Err("cannot apply `move /a /a/x`: a value cannot be moved into itself"),
            ),
            (
                "a: {x: [1, y]}\n",
                "{op: test, path: /a, value: {x: [1, y]}}",
                Ok("a: {x: [1, y]}\n"),
            ),
            (
                "a: 1\n",
                "{op: test, path: /a, value: '1'}",
                Err("cannot apply `test /a`: the value is different"),
            ),
            (
                "a: 1\n",
                "{op: remove, path: a}",
                Err("expected a JSON pointer such as `/spec/replicas`"),
            ),
            (
                "a: 1\n",
                "{op: delete, path: /a}",
                Err(
                    "invalid value `delete`: expected one of `add`, `remove`, `replace`, `move`, `copy`, `test`",
                ),
            ),
        ] {
            let result = patched(before, &format!("- {operation}\n"));
            assert_eq!(result.as_deref().map_err(String::as_str), after, "{before} {operation}");
        }
    }

    #[test]
    fn failed_operation_undoes_the_ones_before() {
        let mut resource = Resource::parse("a: 1\n").unwrap();
        let replace = JsonPatchOperation::Replace { path: "/a".to_owned(), value: Value::from(2) };
        let remove = JsonPatchOperation::Remove { path: "/b".to_owned() };
        assert!(resource.patch_json(&JsonPatch { operations: vec![replace, remove] }).is_err());
        assert_eq!(resource.text(), "a: 1\n");
    }
}
