//! The edits of a command line: `PATH VALUE`, `-e PATH=VALUE`, and files of edits.

use std::sync::Arc;

use clap::ValueEnum;
use krm_core::Diagnostic;
use krm_core::diagnostics::{CommonKind, closest_name};
use krm_core::query::{Query, split_assignment};
use krm_yaml::{DiagnosticKind, EmptyParents, File, NodeRef, ScalarType};

use super::operation::Operation;
use super::path_edit::{PathEdit, parse_path};
use super::typed_value::{TypedValue, ValueType};
use crate::commands::kinds::CommandKind;
use crate::disk;

/// What a value is used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ValueUse {
    Set,
    Append,
    Merge,
}

impl ValueUse {
    /// The operation with a value.
    pub(super) fn operation(self, value: TypedValue<'_>) -> Result<Operation<'_>, Diagnostic> {
        Ok(match self {
            Self::Set => Operation::Set(value),
            Self::Append => Operation::Append(value),
            Self::Merge => Operation::Merge(Arc::new(value.into_snippet()?)),
        })
    }
}

/// Parses `PATH=VALUE`.
pub(super) fn assignment(text: &str) -> Result<(&str, &str), Diagnostic> {
    split_assignment(text)
        .filter(|(path, _)| !path.is_empty())
        .ok_or_else(|| Diagnostic::error(CommandKind::InvalidAssignment { text: text.to_owned() }))
}

/// An edit without a query of its own.
pub(super) fn edit<'a>(path: &str, operation: Operation<'a>) -> Result<PathEdit<'a>, Diagnostic> {
    let pattern = parse_path(path).map_err(|reason| {
        Diagnostic::error(CommandKind::InvalidEditPath { path: path.to_owned(), reason })
    })?;
    Ok(PathEdit { pattern, operation, query: None })
}

/// The fields of an entry that say what to do.
const OPERATIONS: [&str; 5] = ["value", "append", "merge", "increment", "remove"];

/// All fields of an entry.
const FIELDS: [&str; 8] =
    ["path", "where", "type", "value", "append", "merge", "increment", "remove"];

/// Reads a file of edits: a sequence of mappings with `path`, what to do there, and optionally `where` and `type`.
pub(super) fn read(name: &str, file: &File) -> Result<Vec<PathEdit<'static>>, Vec<Diagnostic>> {
    let reader = EditsReader { name: disk::display_name(name), file };
    let root = file.document(0).and_then(|document| document.root());
    let list = root.and_then(|root| root.as_sequence());
    let Some(list) = list else {
        let expected = "a sequence of edits";
        let error = match root {
            Some(root) => reader.error(root, CommonKind::wrong_type(expected, root)),
            None => Diagnostic::error(CommonKind::WrongType {
                expected: expected.to_owned(),
                found: "an empty file".into(),
            })
            .in_file(reader.name),
        };
        return Err(vec![error]);
    };
    let (mut edits, mut errors) = (Vec::new(), Vec::new());
    for entry in list.items() {
        match reader.entry(entry.resolve()) {
            Ok(edit) => edits.push(edit),
            Err(error) => errors.push(error),
        }
    }
    if errors.is_empty() { Ok(edits) } else { Err(errors) }
}

struct EditsReader<'a> {
    name: &'a str,
    file: &'a File,
}

impl<'a> EditsReader<'a> {
    fn error(&self, at: NodeRef<'_>, kind: impl DiagnosticKind) -> Diagnostic {
        self.locate(at, Diagnostic::error(kind))
    }

    fn locate(&self, at: NodeRef<'_>, error: Diagnostic) -> Diagnostic {
        error.at(self.file, at.span()).in_file(self.name)
    }

    fn entry(&self, entry: NodeRef<'a>) -> Result<PathEdit<'static>, Diagnostic> {
        let Some(mapping) = entry.as_mapping() else {
            return Err(self.error(entry, CommonKind::wrong_type("a mapping", entry)));
        };
        for field in mapping.entries() {
            let key = field.key.as_scalar().map(|key| key.value()).unwrap_or_default();
            if !FIELDS.contains(&&*key) {
                let (field_name, owner) = (key.clone().into_owned(), "the edit".to_owned());
                let error =
                    Diagnostic::error(CommonKind::UnknownField { field: field_name, owner });
                let error = match closest_name(FIELDS, &key) {
                    Some(similar) => error.hint(format!("did you mean `{similar}`?")),
                    None => error,
                };
                return Err(self.locate(field.key, error));
            }
        }
        let get = |name: &str| mapping.get(name).map(|node| node.resolve());
        let Some(path) = get("path") else {
            let (field, owner) = ("path".to_owned(), "the edit".to_owned());
            return Err(self.error(entry, CommonKind::MissingField { field, owner }));
        };
        let count = OPERATIONS.iter().filter(|name| get(name).is_some()).count();
        if count != 1 {
            return Err(self.error(entry, CommandKind::EditWithoutOperation { count }));
        }
        let kind = get("type").map(|node| self.value_type(node)).transpose()?;
        let query = get("where").map(|node| self.query(node)).transpose()?;
        let value = |name: &str, kind: Option<ValueType>| {
            let node = get(name)?;
            Some(TypedValue::from_node(node, kind).map_err(|error| self.locate(node, error)))
        };
        let operation = if let Some(value) = value("value", kind) {
            Operation::Set(value?)
        } else if let Some(value) = value("append", kind) {
            Operation::Append(value?)
        } else if let Some(value) = value("merge", Some(ValueType::Yaml)) {
            ValueUse::Merge.operation(value?).map_err(|error| self.locate(entry, error))?
        } else if let Some(by) = get("increment") {
            let number = by.as_scalar().and_then(|it| it.value().parse().ok());
            let invalid = || self.error(by, CommonKind::wrong_type("an integer", by));
            Operation::Increment(number.ok_or_else(invalid)?)
        } else {
            self.remove(get("remove").unwrap_or(entry))?
        };
        let mut edit = edit(&self.text(path)?, operation).map_err(|it| self.locate(path, it))?;
        edit.query = query;
        Ok(edit)
    }

    fn text(&self, node: NodeRef<'_>) -> Result<String, Diagnostic> {
        let text = node.as_scalar().map(|scalar| scalar.value().into_owned());
        text.ok_or_else(|| self.error(node, CommonKind::wrong_type("a string", node)))
    }

    fn value_type(&self, node: NodeRef<'_>) -> Result<ValueType, Diagnostic> {
        let text = self.text(node)?;
        ValueType::from_str(&text, false).map_err(|_| {
            let names: Vec<String> = ValueType::value_variants()
                .iter()
                .filter_map(|it| Some(it.to_possible_value()?.get_name().to_owned()))
                .collect();
            let expected = names.join(", ");
            self.error(node, CommonKind::InvalidValue { value: (&*text).into(), expected })
        })
    }

    fn query(&self, node: NodeRef<'_>) -> Result<Query, Diagnostic> {
        let text = self.text(node)?;
        text.parse().map_err(|error: krm_core::query::QueryError| self.error(node, error))
    }

    /// `remove: true`, or `remove: prune` to remove parents that become empty.
    fn remove(&self, node: NodeRef<'_>) -> Result<Operation<'static>, Diagnostic> {
        match node.as_scalar() {
            Some(scalar) if scalar.resolve() == ScalarType::Bool(true) => {
                Ok(Operation::Remove(EmptyParents::Keep))
            }
            Some(scalar) if scalar.is("prune") => Ok(Operation::Remove(EmptyParents::Remove)),
            scalar => {
                let value = scalar.map(|it| it.value().into_owned()).unwrap_or_default();
                let expected = "true or prune".to_owned();
                let value = (&*value).into();
                Err(self.error(node, CommonKind::InvalidValue { value, expected }))
            }
        }
    }
}
