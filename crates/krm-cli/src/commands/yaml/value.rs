//! From the word on the command line to the value that is meant.

use clap::ValueEnum;
use krm_core::Diagnostic;
use krm_yaml::{File, NodeRef, Resolved, Value};

/// What a value is to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Type {
    /// A text, whatever it looks like
    String,
    /// A whole number
    Int,
    /// true or false
    Bool,
    /// A number
    Float,
    /// Nothing: null, ~ or an empty word
    Null,
    /// Any YAML, collections too
    Yaml,
}

/// A word and how it is to be read.
#[derive(Debug)]
pub(super) struct Wanted<'a> {
    text: &'a str,
    kind: Option<Type>,
    /// The word as YAML.
    file: Option<File>,
}

impl<'a> Wanted<'a> {
    /// Refuses a word that cannot be read as the type that is asked for.
    pub(super) fn new(text: &'a str, kind: Option<Type>) -> Result<Self, Diagnostic> {
        let wanted = Self { text, kind, file: File::parse(text.to_owned()).ok() };
        let resolved =
            wanted.root().and_then(|root| root.as_scalar()).map(|scalar| scalar.resolve());
        let wrong = |what: &str| Err(Diagnostic::untyped_error(format!("`{text}` is not {what}")));
        match (kind, resolved) {
            (Some(Type::Int), Some(Resolved::Int(_))) => {}
            (Some(Type::Int), _) => return wrong("a whole number"),
            (Some(Type::Float), Some(Resolved::Int(_) | Resolved::Float(_))) => {}
            (Some(Type::Float), _) => return wrong("a number"),
            (Some(Type::Bool), Some(Resolved::Bool(_))) => {}
            (Some(Type::Bool), _) => return wrong("true or false"),
            (Some(Type::Null), Some(Resolved::Null)) => {}
            (Some(Type::Null), _) if text.is_empty() => {}
            (Some(Type::Null), _) => return wrong("null"),
            (Some(Type::Yaml), _) => wanted.check_yaml()?,
            (Some(Type::String) | None, _) => {}
        }
        Ok(wanted)
    }

    fn check_yaml(&self) -> Result<(), Diagnostic> {
        let Some(file) = &self.file else {
            return Err(Diagnostic::untyped_error("the value is too large"));
        };
        if let Some(error) = file.errors().next() {
            return Err(Diagnostic::from_syntax(error, file).in_file("VALUE"));
        }
        if file.documents().count() > 1 {
            return Err(Diagnostic::untyped_error("the value has more than one document"));
        }
        match self.root().map(NodeRef::to_value) {
            Some(Err(error)) => Err(Diagnostic::untyped_error(error.to_string())),
            _ => Ok(()),
        }
    }

    fn root(&self) -> Option<NodeRef<'_>> {
        let file = self.file.as_ref()?;
        (file.documents().count() == 1).then(|| file.document(0)?.root()).flatten()
    }

    /// The value to write in the place of `there`.
    pub(super) fn instead_of(&self, there: Option<NodeRef<'_>>) -> Value<'_> {
        match self.kind {
            Some(Type::String) => Value::string(self.text),
            Some(Type::Null) => Value::Null,
            Some(Type::Yaml) => self.any_yaml(there),
            Some(Type::Int | Type::Float | Type::Bool) => Value::plain(self.text.trim()),
            None if there.is_some_and(|node| node.as_str().is_some()) => Value::string(self.text),
            None => self.as_read(there),
        }
    }

    /// Lines of YAML are written as they stand, with their comments; anything on one line in the manner of the file.
    fn any_yaml(&self, there: Option<NodeRef<'_>>) -> Value<'_> {
        let Some(root) = self.root() else { return Value::Null };
        let as_written = root.is_block() || root.is_collection() && is_filled_flow(there);
        if as_written && !self.text.contains(['&', '*']) {
            return Value::Node(root);
        }
        root.to_value().unwrap_or(Value::Node(root))
    }

    /// One word as YAML reads it: a scalar, or a collection in brackets. `a: b` is taken for a text.
    fn as_read(&self, there: Option<NodeRef<'_>>) -> Value<'_> {
        let plain = || Value::plain(self.text);
        let Some(root) = self.root().filter(|root| root.text() == self.text) else {
            return plain();
        };
        match root.as_scalar() {
            Some(scalar) if scalar.style().is_quoted() => Value::String(scalar.value()),
            Some(_) => plain(),
            None if root.is_block() || has_odd_keys(root) => plain(),
            None if is_filled_flow(there) => Value::Node(root),
            None => root.to_value().unwrap_or_else(|_| plain()),
        }
    }
}

/// Brackets are answered with brackets, unless they are empty.
fn is_filled_flow(there: Option<NodeRef<'_>>) -> bool {
    there.is_some_and(|node| {
        node.is_collection() && !node.is_block() && node.children().next().is_some()
    })
}

/// `{{ name }}` reads as a mapping whose key is a mapping, and is meant as a text.
fn has_odd_keys(node: NodeRef<'_>) -> bool {
    let odd = node
        .as_mapping()
        .is_some_and(|mapping| mapping.entries().any(|entry| entry.key.is_collection()));
    odd || node.children().any(has_odd_keys)
}

#[cfg(test)]
mod tests {
    use super::*;
    use krm_core::print::json;

    fn read(text: &str, kind: Option<Type>) -> Result<String, String> {
        let wanted =
            Wanted::new(text, kind).map_err(|diagnostic| diagnostic.message().to_owned())?;
        Ok(json::write(&wanted.instead_of(None)))
    }

    #[test]
    fn without_a_type_yaml_decides() {
        let cases = [
            ("5", "5"),
            ("1.50", "1.50"),
            ("true", "true"),
            ("yes", r#""yes""#),
            ("~", "null"),
            ("", "null"),
            ("nginx:1.27", r#""nginx:1.27""#),
            ("note: this", r#""note: this""#),
            ("- x", r#""- x""#),
            ("{{ name }}", r#""{{ name }}""#),
            ("[a, 1]", r#"["a",1]"#),
            ("{a: {b: 1}}", r#"{"a":{"b":1}}"#),
            ("[a", r#""[a""#),
            (r#""5""#, r#""5""#),
            ("'5'", r#""5""#),
            ("a # b", r##""a # b""##),
            (" a ", r#"" a ""#),
            ("*x", r#""*x""#),
        ];
        for (text, expected) in cases {
            assert_eq!(read(text, None).as_deref(), Ok(expected), "{text}");
        }
    }

    #[test]
    fn a_type_is_kept_to() {
        assert_eq!(read("5", Some(Type::String)).as_deref(), Ok(r#""5""#));
        assert_eq!(read("-7", Some(Type::Int)).as_deref(), Ok("-7"));
        assert_eq!(read("7", Some(Type::Float)).as_deref(), Ok("7"));
        assert_eq!(read("", Some(Type::Null)).as_deref(), Ok("null"));
        assert_eq!(read("a: b", Some(Type::Yaml)).as_deref(), Ok(r#"{"a":"b"}"#));
        assert_eq!(read("x", Some(Type::Int)), Err("`x` is not a whole number".to_owned()));
        assert_eq!(read("1.5", Some(Type::Int)), Err("`1.5` is not a whole number".to_owned()));
        assert_eq!(read("\"5\"", Some(Type::Int)), Err("`\"5\"` is not a whole number".to_owned()));
        assert_eq!(read("yes", Some(Type::Bool)), Err("`yes` is not true or false".to_owned()));
        assert!(read("[a", Some(Type::Yaml)).is_err());
        assert!(read("a\n---\nb", Some(Type::Yaml)).is_err());
    }
}
