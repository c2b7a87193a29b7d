//! Values from the command line, with the type that they are to have.

use std::borrow::Cow;

use clap::ValueEnum;
use krm_core::Diagnostic;
use krm_core::diagnostics::CommonKind;
use krm_core::print::{json, source_text};
use krm_yaml::{
    EditErrorKind, File, NodeRef, Path, ReadError, ScalarStyle, ScalarType, Segment, Value,
};

/// The type of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum ValueType {
    /// String, whatever it looks like
    String,
    /// Integer
    Int,
    /// true or false
    Bool,
    /// Number
    Float,
    /// Null: null, ~ or an empty argument
    Null,
    /// Any YAML, including mappings and sequences
    Yaml,
}

impl ValueType {
    /// What an error says was expected.
    fn expected(self) -> &'static str {
        match self {
            Self::String => "a string",
            Self::Int => "an integer",
            Self::Bool => "true or false",
            Self::Float => "a number",
            Self::Null => "null",
            Self::Yaml => "one YAML document",
        }
    }
}

/// An argument and the type as which it is read.
#[derive(Debug)]
pub(super) struct TypedValue<'a> {
    text: Cow<'a, str>,
    kind: Option<ValueType>,
    /// The argument as YAML.
    file: Result<File, ReadError>,
}

impl<'a> TypedValue<'a> {
    /// Fails if the argument does not have the requested type.
    pub(super) fn new(
        text: impl Into<Cow<'a, str>>,
        kind: Option<ValueType>,
    ) -> Result<Self, Diagnostic> {
        let text = text.into();
        let file = File::parse(text.clone().into_owned());
        let value = Self { text, kind, file };
        let scalar = value.root().and_then(|root| root.as_scalar());
        let resolved = scalar.map(|scalar| scalar.resolve());
        let is_valid = match kind {
            Some(ValueType::Int) => matches!(resolved, Some(ScalarType::Int(_))),
            Some(ValueType::Float) => {
                matches!(resolved, Some(ScalarType::Int(_) | ScalarType::Float(_)))
            }
            Some(ValueType::Bool) => matches!(resolved, Some(ScalarType::Bool(_))),
            Some(ValueType::Null) => value.text.is_empty() || resolved == Some(ScalarType::Null),
            Some(ValueType::Yaml) => value.check_yaml().map(|()| true)?,
            Some(ValueType::String) | None => true,
        };
        match kind {
            Some(kind) if !is_valid => Err(Diagnostic::error(CommonKind::InvalidValue {
                value: (&*value.text).into(),
                expected: kind.expected().to_owned(),
            })),
            _ => Ok(value),
        }
    }

    /// The value as a snippet to merge.
    pub(super) fn into_snippet(self) -> Result<File, Diagnostic> {
        self.check_yaml()?;
        self.file.map_err(|error| Diagnostic::from(&error))
    }

    fn check_yaml(&self) -> Result<(), Diagnostic> {
        let file = self.file.as_ref().map_err(Diagnostic::from)?;
        if let Some(error) = file.errors().next() {
            return Err(Diagnostic::from_syntax(error, file).in_file("VALUE"));
        }
        let count = file.documents().count();
        if count > 1 {
            return Err(Diagnostic::error(CommonKind::WrongType {
                expected: ValueType::Yaml.expected().to_owned(),
                found: format!("{count} documents").into(),
            }));
        }
        match self.root().map(NodeRef::to_value) {
            Some(Err(error)) => Err(Diagnostic::error(EditErrorKind::from(error))),
            _ => Ok(()),
        }
    }

    /// A value of a file of edits: quoted scalars are strings, collections are copied as they are written, and other scalars are read as
    /// arguments are.
    pub(super) fn from_node(
        node: NodeRef<'_>,
        kind: Option<ValueType>,
    ) -> Result<TypedValue<'static>, Diagnostic> {
        let (text, inferred) = match node.as_scalar() {
            Some(scalar) if scalar.style() != ScalarStyle::Plain => {
                (scalar.value().into_owned(), Some(ValueType::String))
            }
            Some(scalar) => {
                let is_null = scalar.resolve() == ScalarType::Null;
                (scalar.value().into_owned(), is_null.then_some(ValueType::Null))
            }
            None => (source_text::text(node), Some(ValueType::Yaml)),
        };
        TypedValue::new(text, kind.or(inferred))
    }

    fn root(&self) -> Option<NodeRef<'_>> {
        let file = self.file.as_ref().ok()?;
        (file.documents().count() == 1).then(|| file.document(0)?.root()).flatten()
    }

    /// The value to write at `path`, in place of `current`. Without a type, a string stays a string, and so does what `is_string`
    /// says about the fields of the value.
    pub(super) fn replacing(
        &self,
        current: Option<NodeRef<'_>>,
        path: &Path,
        is_string: &dyn Fn(&Path) -> bool,
    ) -> Value<'_> {
        match self.kind {
            Some(ValueType::String) => Value::string(&*self.text),
            Some(ValueType::Null) => Value::Null,
            Some(ValueType::Yaml) => self.any_yaml(current),
            Some(ValueType::Int | ValueType::Float | ValueType::Bool) => {
                Value::plain(self.text.trim())
            }
            None if matches!(&*self.text, "\"\"" | "''") => Value::string(""),
            None if current.is_some_and(|node| node.as_str().is_some()) => {
                Value::string(&*self.text)
            }
            None => match self.inferred(current) {
                value @ Value::String(_) => value,
                Value::Node(node) => node_with_strings(node, path, is_string),
                // The argument itself, because `True` and `true` are one boolean, but two strings.
                _ if is_string(path) => Value::string(&*self.text),
                value => with_strings(value, path, is_string),
            },
        }
    }

    /// YAML in block style is written as it is, with its comments; flow style in the style of the file. Anchors and aliases are resolved,
    /// as their names could collide with those of the file.
    fn any_yaml(&self, current: Option<NodeRef<'_>>) -> Value<'_> {
        let Some(root) = self.root() else { return Value::Null };
        let as_written = root.is_block() || root.is_collection() && is_filled_flow(current);
        if as_written && !self.text.contains(['&', '*']) {
            return Value::Node(root);
        }
        root.to_value().unwrap_or(Value::Node(root))
    }

    /// The argument as YAML reads it: a scalar, or a collection in flow style. `a: b` is read as a string, as an argument is rarely meant
    /// as a block mapping.
    fn inferred(&self, current: Option<NodeRef<'_>>) -> Value<'_> {
        let plain = || Value::plain(&*self.text);
        let Some(root) = self.root().filter(|root| root.text() == &*self.text) else {
            return plain();
        };
        match root.as_scalar() {
            Some(scalar) if scalar.style().is_quoted() => Value::String(scalar.value()),
            Some(_) => plain(),
            None if root.is_block() || has_collection_keys(root) => plain(),
            None if is_filled_flow(current) => Value::Node(root),
            None => root.to_value().unwrap_or_else(|_| plain()),
        }
    }
}

/// The node as it is written, unless the schema has strings where it has other scalars.
fn node_with_strings<'v>(
    node: NodeRef<'v>,
    path: &Path,
    is_string: &dyn Fn(&Path) -> bool,
) -> Value<'v> {
    let Ok(value) = node.to_value() else { return Value::Node(node) };
    let before = json::display(&value);
    let value = with_strings(value, path, is_string);
    if json::display(&value) == before { Value::Node(node) } else { value }
}

/// The value, with strings where the schema has them.
fn with_strings<'v>(value: Value<'v>, path: &Path, is_string: &dyn Fn(&Path) -> bool) -> Value<'v> {
    match value {
        Value::Bool(value) if is_string(path) => Value::string(value.to_string()),
        Value::Number(text) if is_string(path) => Value::String(text),
        Value::Mapping(entries) => {
            let entry = |(key, value): (Value<'v>, Value<'v>)| match &key {
                Value::String(name) => {
                    let path = path.join(name);
                    (key, with_strings(value, &path, is_string))
                }
                _ => (key, value),
            };
            Value::Mapping(entries.into_iter().map(entry).collect())
        }
        Value::Sequence(items) => {
            let element = |(index, value)| {
                let mut path = path.clone();
                path.push(Segment::Index(index));
                with_strings(value, &path, is_string)
            };
            Value::Sequence((0..).zip(items).map(element).collect())
        }
        other => other,
    }
}

/// Whether the current value is a flow collection with elements, whose style the new value keeps.
fn is_filled_flow(current: Option<NodeRef<'_>>) -> bool {
    current.is_some_and(|node| {
        node.is_collection() && !node.is_block() && node.children().next().is_some()
    })
}

/// Whether a key is a collection: `{{ name }}` parses as a mapping whose key is a mapping, but is meant as a template string.
fn has_collection_keys(node: NodeRef<'_>) -> bool {
    let has = node
        .as_mapping()
        .is_some_and(|mapping| mapping.entries().any(|entry| entry.key.is_collection()));
    has || node.children().any(has_collection_keys)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, kind: Option<ValueType>) -> Result<String, String> {
        let value = TypedValue::new(text, kind).map_err(|error| error.message().to_owned())?;
        Ok(json::display(&value.replacing(None, &Path::default(), &|_| false)))
    }

    #[test]
    fn type_is_inferred_as_yaml_reads_the_value() {
        let cases = [
            ("5", "5"),
            ("1.50", "1.50"),
            ("true", "true"),
            ("yes", r#""yes""#),
            ("~", "null"),
            ("\"\"", r#""""#),
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
    fn fields_that_are_strings_get_strings() {
        let read = |text, at: &str| {
            let is_string = |path: &Path| path.to_string().starts_with(at);
            let value = TypedValue::new(text, None).unwrap();
            json::display(&value.replacing(None, &"m".parse().unwrap(), &is_string))
        };
        assert_eq!(read("1.10", "m"), r#""1.10""#);
        assert_eq!(read("True", "m"), r#""True""#);
        assert_eq!(read("~", "m"), r#""~""#);
        assert_eq!(read("'1'", "m"), r#""1""#);
        assert_eq!(read("{a: 1.10, b: 1}", "m.a"), r#"{"a":"1.10","b":1}"#);
        assert_eq!(read("[{a: 1}, {a: true}]", "m[1].a"), r#"[{"a":1},{"a":"true"}]"#);
    }

    #[test]
    fn value_must_have_the_requested_type() {
        assert_eq!(read("5", Some(ValueType::String)).as_deref(), Ok(r#""5""#));
        assert_eq!(read("-7", Some(ValueType::Int)).as_deref(), Ok("-7"));
        assert_eq!(read("7", Some(ValueType::Float)).as_deref(), Ok("7"));
        assert_eq!(read("", Some(ValueType::Null)).as_deref(), Ok("null"));
        assert_eq!(read("a: b", Some(ValueType::Yaml)).as_deref(), Ok(r#"{"a":"b"}"#));
        assert_eq!(
            read("x", Some(ValueType::Int)),
            Err("invalid value `x`: expected an integer".to_owned())
        );
        assert_eq!(
            read("1.5", Some(ValueType::Int)),
            Err("invalid value `1.5`: expected an integer".to_owned())
        );
        assert_eq!(
            read("\"5\"", Some(ValueType::Int)),
            Err("invalid value `\"5\"`: expected an integer".to_owned())
        );
        assert_eq!(
            read("yes", Some(ValueType::Bool)),
            Err("invalid value `yes`: expected true or false".to_owned())
        );
        assert!(read("[a", Some(ValueType::Yaml)).is_err());
        assert!(read("a\n---\nb", Some(ValueType::Yaml)).is_err());
    }
}
