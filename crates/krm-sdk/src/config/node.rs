//! Deserializing nodes of a functionConfig, through aliases and `<<` keys.

use std::borrow::Cow;
use std::cell::{Cell, RefCell};

use krm_yaml::{File, NodeKind, NodeRef, ScalarStyle, ScalarType};
use serde::de::{Deserializer, Visitor};
use serde::forward_to_deserialize_any;

use super::access::{Fields, Items, Variant};
use super::any;
use super::describe::one_of;
use super::error::ConfigError;
use crate::kinds::ConfigKind;

/// The maximal nesting, so that an alias to its own parent is an error.
pub(super) const MAX_DEPTH: usize = 128;

/// The maximal number of values, so that aliases of aliases cannot exhaust memory.
const MAX_VALUES: usize = 1_000_000;

/// The state while one functionConfig is read.
#[derive(Debug)]
pub(super) struct ReadState {
    /// Fields that nobody knows; state goes on without them.
    pub(super) errors: RefCell<Vec<ConfigError>>,
    left: Cell<usize>,
    mode: ReadMode,
}

/// How strictly a type is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReadMode {
    /// Unknown fields are errors.
    Strict,
    /// Unknown fields are ignored, and a quantity may be a number, as Kubernetes reads it.
    Lenient,
}

impl ReadState {
    pub(super) fn new(mode: ReadMode) -> Self {
        Self { errors: RefCell::default(), left: Cell::new(MAX_VALUES), mode }
    }
}

/// One field of a mapping.
#[derive(Clone)]
pub(super) struct ConfigField<'a> {
    pub(super) name: Cow<'a, str>,
    pub(super) key: NodeRef<'a>,
    pub(super) value: NodeRef<'a>,
}

/// The fields of a mapping: the last of duplicates, including those merged by `<<`.
pub(super) fn fields(mapping: NodeRef<'_>, depth: usize) -> Vec<ConfigField<'_>> {
    let mut all: Vec<ConfigField<'_>> = Vec::new();
    let mut merged = Vec::new();
    for entry in mapping.as_mapping().into_iter().flat_map(|mapping| mapping.entries()) {
        let Some(key) = entry.key.resolve().as_scalar() else { continue };
        let name = key.value();
        if name == "<<" && key.style() == ScalarStyle::Plain {
            merged.push(entry.value);
            continue;
        }
        let field = ConfigField { name, key: entry.key, value: entry.value };
        match all.iter_mut().find(|other| other.name == field.name) {
            Some(other) => *other = field,
            None => all.push(field),
        }
    }
    let Some(depth) = depth.checked_sub(1) else { return all };
    for source in merged.into_iter().map(NodeRef::resolve) {
        let sources = match source.as_sequence() {
            Some(sources) => sources.items().map(NodeRef::resolve).collect(),
            None => vec![source],
        };
        for field in sources.into_iter().flat_map(|source| fields(source, depth)) {
            if !all.iter().any(|other| other.name == field.name) {
                all.push(field);
            }
        }
    }
    all
}

/// Deserializes one value of a functionConfig.
#[derive(Clone, Copy)]
pub(super) struct NodeDeserializer<'a> {
    pub(super) node: NodeRef<'a>,
    pub(super) state: &'a ReadState,
    /// Whether strings may hold numbers, sequences and so on: a ConfigMap has only strings.
    pub(super) from_string: bool,
    pub(super) depth: usize,
    /// Whether a number is read as the string that it is written as.
    pub(super) number_as_string: bool,
}

impl<'a> NodeDeserializer<'a> {
    fn resolved(self) -> NodeRef<'a> {
        self.node.resolve()
    }

    pub(super) fn is_null(self) -> bool {
        self.resolved().as_scalar().is_some_and(|scalar| scalar.resolve() == ScalarType::Null)
    }

    pub(super) fn child(self, node: NodeRef<'a>) -> Result<Self, ConfigError> {
        let left = self.state.left.get().checked_sub(1);
        let (Some(left), Some(depth)) = (left, self.depth.checked_sub(1)) else {
            let kind = ConfigKind::TooLarge { values: MAX_VALUES, levels: MAX_DEPTH };
            return Err(ConfigError::new(kind).at(self.node));
        };
        self.state.left.set(left);
        Ok(Self { node, depth, number_as_string: false, ..self })
    }

    /// Visits the fields of a mapping. If the type lists its fields, any other is an error.
    pub(super) fn visit_fields<'de, V: Visitor<'de>>(
        self,
        mut fields: Vec<ConfigField<'a>>,
        known: Option<&[&str]>,
        visitor: V,
    ) -> Result<V::Value, ConfigError> {
        if let Some(known) = known {
            fields.retain(|field| {
                let is_known = known.contains(&&*field.name);
                if !is_known && self.state.mode == ReadMode::Strict {
                    self.unknown(field, known);
                }
                is_known && !NodeDeserializer { node: field.value, ..self }.is_null()
            });
        }
        let access = Fields { of: self, fields: fields.into_iter(), next: None };
        visitor.visit_map(access).map_err(|error| error.at(self.node))
    }

    fn unknown(self, field: &ConfigField<'_>, known: &[&str]) {
        let error = ConfigError::unknown_field(&field.name, known);
        let error = error.located(field.key.span(), &field.value.path());
        self.state.errors.borrow_mut().push(error);
    }

    pub(super) fn mapping<'de, V: Visitor<'de>>(
        self,
        known: Option<&[&str]>,
        visitor: V,
    ) -> Result<V::Value, ConfigError> {
        let node = self.resolved();
        if node.as_mapping().is_some() {
            return self.visit_fields(fields(node, MAX_DEPTH), known, visitor);
        }
        self.parse_string(NodeKind::Mapping, "a mapping", |inner| inner.mapping(known, visitor))
    }

    pub(super) fn sequence<'de, V: Visitor<'de>>(
        self,
        visitor: V,
    ) -> Result<V::Value, ConfigError> {
        if let Some(sequence) = self.resolved().as_sequence() {
            let items: Vec<NodeRef<'a>> = sequence.items().collect();
            let access = Items { of: self, items: items.into_iter() };
            return visitor.visit_seq(access).map_err(|error| error.at(self.node));
        }
        self.parse_string(NodeKind::Sequence, "a sequence", |inner| inner.sequence(visitor))
    }

    /// Reads a collection that a ConfigMap holds as a string. Errors in it are located at the string.
    fn parse_string<T>(
        self,
        kind: NodeKind,
        expected: &str,
        read: impl FnOnce(NodeDeserializer<'_>) -> Result<T, ConfigError>,
    ) -> Result<T, ConfigError> {
        let wrong_type = || ConfigError::wrong_type(expected).at(self.node);
        let scalar =
            self.resolved().as_scalar().filter(|_| self.from_string).ok_or_else(wrong_type)?;
        let file = File::parse(scalar.value().into_owned()).map_err(|_| wrong_type())?;
        let mut roots = file.documents().filter_map(|document| document.root());
        let root = roots.next().filter(|root| root.kind() == kind).ok_or_else(wrong_type)?;
        let known = self.state.errors.borrow().len();
        let locate = |error: ConfigError| error.inside(self.node);
        let state = self.state;
        let read =
            read(NodeDeserializer { node: root, state, from_string: true, ..self }).map_err(locate);
        let mut errors = state.errors.borrow_mut();
        let inner: Vec<ConfigError> = errors.drain(known..).map(locate).collect();
        errors.extend(inner);
        read
    }

    /// A scalar for a type other than a string.
    fn scalar(self) -> Option<(Cow<'a, str>, ScalarType)> {
        let scalar = self.resolved().as_scalar()?;
        let text = scalar.value();
        let resolved = match scalar.resolve() {
            ScalarType::String if self.from_string => ScalarType::of_plain(text.trim()),
            other => other,
        };
        Some((text, resolved))
    }

    pub(super) fn visit_scalar<'de, V: Visitor<'de>>(
        text: &str,
        resolved: ScalarType,
        visitor: V,
    ) -> Result<V::Value, ConfigError> {
        match resolved {
            ScalarType::Null => visitor.visit_unit(),
            ScalarType::Bool(value) => visitor.visit_bool(value),
            ScalarType::Int(Some(number)) => match (i64::try_from(number), u64::try_from(number)) {
                (Ok(number), _) => visitor.visit_i64(number),
                (_, Ok(number)) => visitor.visit_u64(number),
                _ => visitor.visit_i128(number),
            },
            ScalarType::Int(None) => Err(ConfigError::invalid("this number has too many digits")),
            ScalarType::Float(number) => visitor.visit_f64(number),
            ScalarType::String => visitor.visit_str(text),
        }
    }

    fn number<'de, V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ConfigError> {
        match self.scalar() {
            Some((text, resolved)) => Self::visit_scalar(&text, resolved, visitor),
            None => self.visit_other(visitor),
        }
        .map_err(|error| error.at(self.node))
    }

    /// Lets the visitor reject a collection.
    fn visit_other<'de, V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ConfigError> {
        match self.resolved().kind() {
            NodeKind::Mapping => self.mapping(None, visitor),
            NodeKind::Sequence => self.sequence(visitor),
            _ => Err(ConfigError::invalid("this alias refers to itself").at(self.node)),
        }
    }
}

fn is_number(resolved: ScalarType) -> bool {
    matches!(resolved, ScalarType::Int(_) | ScalarType::Float(_))
}

/// Forwards methods to another one than `deserialize_any`, which `serde::forward_to_deserialize_any!` cannot do: a ConfigMap
/// holds numbers as strings, so the type decides how a scalar is read.
macro_rules! forward_to {
    ($one:ident: $($name:ident)*) => {$(
        fn $name<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ConfigError> {
            self.$one(visitor)
        }
    )*};
}

impl<'de> Deserializer<'de> for NodeDeserializer<'_> {
    type Error = ConfigError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ConfigError> {
        match self.resolved().as_scalar() {
            Some(scalar) => Self::visit_scalar(&scalar.value(), scalar.resolve(), visitor),
            None => self.visit_other(visitor),
        }
        .map_err(|error| error.at(self.node))
    }

    forward_to! { number:
        deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64 deserialize_i128
        deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64 deserialize_u128
        deserialize_f32 deserialize_f64
    }

    /// Compat: Kubernetes reads YAML 1.1, where `yes` and `on` are true.
    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ConfigError> {
        let old = self.resolved().as_scalar().map(|scalar| scalar.resolve_1_1());
        match old {
            Some(ScalarType::Bool(value)) => visitor.visit_bool(value),
            _ => self.number(visitor),
        }
    }

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ConfigError> {
        match self.resolved().as_scalar() {
            Some(scalar) if self.is_null() && self.from_string => {
                visitor.visit_str(if scalar.raw().is_empty() { "" } else { scalar.raw() })
            }
            Some(scalar) if self.from_string => visitor.visit_str(&scalar.value()),
            Some(scalar) if self.number_as_string && is_number(scalar.resolve()) => {
                visitor.visit_str(&scalar.value())
            }
            _ => self.deserialize_any(visitor),
        }
        .map_err(|error| error.at(self.node))
    }

    forward_to! { deserialize_str:
        deserialize_string deserialize_char deserialize_identifier deserialize_bytes
        deserialize_byte_buf
    }

    forward_to_deserialize_any! { unit unit_struct }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ConfigError> {
        if self.is_null() { visitor.visit_none() } else { visitor.visit_some(self) }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, ConfigError> {
        let scalar = self.resolved().as_scalar().filter(|_| name == any::NAME);
        match scalar.map(|scalar| (scalar.resolve(), scalar.value())) {
            Some((ScalarType::Int(_) | ScalarType::Float(_), text)) => {
                visitor.visit_bytes(text.as_bytes())
            }
            // Compat: Kubernetes reads `cpu: 2` as the quantity `2`.
            _ => {
                let number_as_string = self.state.mode == ReadMode::Lenient && name == "Quantity";
                visitor.visit_newtype_struct(Self { number_as_string, ..self })
            }
        }
        .map_err(|error: ConfigError| error.at(self.node))
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ConfigError> {
        self.sequence(visitor)
    }

    fn deserialize_tuple<V: Visitor<'de>>(
        self,
        _: usize,
        visitor: V,
    ) -> Result<V::Value, ConfigError> {
        self.sequence(visitor)
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: usize,
        visitor: V,
    ) -> Result<V::Value, ConfigError> {
        self.sequence(visitor)
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ConfigError> {
        self.mapping(None, visitor)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        known: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ConfigError> {
        self.mapping(Some(known), visitor)
    }

    /// A string names a variant without content; a mapping of one entry holds a variant and its content.
    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        known: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ConfigError> {
        let node = self.resolved();
        let (name, content) = match (node.as_scalar(), &fields(node, MAX_DEPTH)[..]) {
            (Some(scalar), _) if !self.is_null() => (scalar.value().into_owned(), None),
            (None, [field]) => (field.name.clone().into_owned(), Some(self.child(field.value)?)),
            _ => {
                return Err(ConfigError::wrong_type(one_of(known)).at(self.node));
            }
        };
        if !known.contains(&name.as_str()) {
            return Err(ConfigError::unknown_value(&name, known).at(self.node));
        }
        let access = Variant { name, content };
        visitor.visit_enum(access).map_err(|error| error.at(self.node))
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ConfigError> {
        visitor.visit_unit()
    }
}
