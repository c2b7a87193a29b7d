//! JSON values that can be changed and written.

use std::fmt;

use krm_yaml::{File, NodeRef, ScalarType};

use crate::TaskResult;

/// A value.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Json {
    Null,
    Bool(bool),
    Number(String),
    String(String),
    Array(Vec<Json>),
    Object(Vec<(String, Json)>),
}

impl Json {
    pub(super) fn parse(text: &str) -> TaskResult<Self> {
        let file = File::parse(text.to_owned())?;
        let root = file.document(0).and_then(|it| it.root()).ok_or("an empty document")?;
        Ok(Self::of(root))
    }

    fn of(node: NodeRef<'_>) -> Self {
        if let Some(list) = node.as_sequence() {
            return Self::Array(list.items().map(Self::of).collect());
        }
        let Some(scalar) = node.as_scalar() else {
            let entries = node.as_mapping().into_iter().flat_map(|it| it.entries());
            let key = |node: NodeRef<'_>| node.as_scalar().map(|it| it.value().into_owned());
            return Self::Object(
                entries.map(|it| (key(it.key).unwrap_or_default(), Self::of(it.value))).collect(),
            );
        };
        match scalar.resolve() {
            ScalarType::Null => Self::Null,
            ScalarType::Bool(value) => Self::Bool(value),
            ScalarType::Int(_) | ScalarType::Float(_) => Self::Number(scalar.value().into_owned()),
            _ => Self::String(scalar.value().into_owned()),
        }
    }

    pub(super) fn string(text: &str) -> Self {
        Self::String(text.to_owned())
    }

    pub(super) fn get(&self, key: &str) -> Option<&Self> {
        let Self::Object(entries) = self else { return None };
        entries.iter().find(|(name, _)| name == key).map(|(_, value)| value)
    }

    /// The value at a path of keys.
    pub(super) fn at(&self, path: &[&str]) -> Option<&Self> {
        path.iter().try_fold(self, |value, key| value.get(key))
    }

    pub(super) fn set(&mut self, key: &str, value: Self) {
        let Self::Object(entries) = self else { return };
        match entries.iter_mut().find(|(name, _)| name == key) {
            Some(entry) => entry.1 = value,
            None => entries.push((key.to_owned(), value)),
        }
    }

    pub(super) fn text(&self) -> Option<&str> {
        match self {
            Self::String(text) => Some(text),
            _ => None,
        }
    }

    pub(super) fn entries(&self) -> &[(String, Self)] {
        match self {
            Self::Object(entries) => entries,
            _ => &[],
        }
    }

    pub(super) fn items(&self) -> &[Self] {
        match self {
            Self::Array(items) => items,
            _ => &[],
        }
    }
}

impl fmt::Display for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("null"),
            Self::Bool(value) => write!(f, "{value}"),
            Self::Number(text) => f.write_str(text),
            Self::String(text) => string(f, text),
            Self::Array(items) => {
                f.write_str("[")?;
                for (at, item) in items.iter().enumerate() {
                    write!(f, "{}{item}", if at > 0 { "," } else { "" })?;
                }
                f.write_str("]")
            }
            Self::Object(entries) => {
                f.write_str("{")?;
                for (at, (key, value)) in entries.iter().enumerate() {
                    f.write_str(if at > 0 { "," } else { "" })?;
                    string(f, key)?;
                    write!(f, ":{value}")?;
                }
                f.write_str("}")
            }
        }
    }
}

fn string(f: &mut fmt::Formatter<'_>, text: &str) -> fmt::Result {
    f.write_str("\"")?;
    for c in text.chars() {
        match c {
            '"' | '\\' => write!(f, "\\{c}")?,
            c if (c as u32) < 0x20 => write!(f, "\\u{:04x}", c as u32)?,
            c => write!(f, "{c}")?,
        }
    }
    f.write_str("\"")
}
