//! The expected spelling of values that are inserted into JSON.

use krm_yaml::{CollectionStyle, ScalarStyle};

use super::model::{Kind, Shape, Tree};

impl Tree {
    /// Whether a document is JSON: flow style, double quotes, and only string keys.
    pub(crate) fn is_json(&self) -> bool {
        let is_text = |key: &Tree| {
            matches!(key.shape, Shape::Scalar { style: Some(ScalarStyle::DoubleQuoted), .. })
        };
        match &self.shape {
            Shape::Scalar { kind: Kind::Text, .. } => is_text(self),
            Shape::Scalar { text, kind, .. } => spelled(text, *kind) == *text,
            Shape::Sequence { items, notation } => {
                *notation == Some(CollectionStyle::Flow) && items.iter().all(Self::is_json)
            }
            Shape::Mapping { entries, notation } => {
                let is_entry = |(key, value): &(Tree, Tree)| is_text(key) && value.is_json();
                *notation == Some(CollectionStyle::Flow) && entries.iter().all(is_entry)
            }
            Shape::Alias(_) => false,
        }
    }
}

/// The tree with its new values spelled as in JSON, except for keys.
pub(crate) fn spelled_as_json(tree: &Tree) -> Tree {
    let mut out = tree.clone();
    match &mut out.shape {
        Shape::Scalar { text, kind, style: None } => *text = spelled(text, *kind),
        Shape::Sequence { items, .. } => {
            items.iter_mut().for_each(|item| *item = spelled_as_json(item));
        }
        Shape::Mapping { entries, .. } => {
            entries.iter_mut().for_each(|(_, value)| *value = spelled_as_json(value));
        }
        _ => {}
    }
    out
}

/// The first scalar that is not valid JSON.
pub(crate) fn yaml_only_scalar(tree: &Tree) -> Option<String> {
    match &tree.shape {
        Shape::Scalar { text, kind, .. } => (spelled(text, *kind) != *text).then(|| text.clone()),
        Shape::Sequence { items, .. } => items.iter().find_map(yaml_only_scalar),
        Shape::Mapping { entries, .. } => {
            entries.iter().find_map(|(_, value)| yaml_only_scalar(value))
        }
        Shape::Alias(_) => None,
    }
}

/// The JSON spelling of a scalar; unchanged if JSON cannot represent it.
fn spelled(text: &str, kind: Kind) -> String {
    match kind {
        Kind::Null => "null".to_owned(),
        Kind::Bool(value) => value.to_string(),
        Kind::Int(Some(value)) if text.starts_with("0x") || text.starts_with("0o") => {
            value.to_string()
        }
        Kind::Int(_) => text.trim_start_matches('+').to_owned(),
        Kind::Float(value) if value.is_finite() => {
            let text = text.trim_start_matches('+').replace(".e", ".0e").replace(".E", ".0E");
            let text = if text.ends_with('.') { text + "0" } else { text };
            match text.strip_prefix('.') {
                Some(fraction) => format!("0.{fraction}"),
                None => text.replace("-.", "-0."),
            }
        }
        Kind::Float(_) | Kind::Text => text.to_owned(),
    }
}
