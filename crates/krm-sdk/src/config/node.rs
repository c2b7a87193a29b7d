//! Nodes as serde reads them: a type asks, and the text answers, through aliases and `<<` keys.

use std::borrow::Cow;
use std::cell::{Cell, RefCell};

use krm_yaml::{File, NodeKind, NodeRef, ScalarStyle, ScalarType};
use serde::de::{Deserializer, Visitor};
use serde::forward_to_deserialize_any;

use super::access::{Fields, Items, Variant};
use super::any;
use super::problem::{Problem, unknown};

/// How deep a functionConfig may be, so that an alias to what holds it ends.
pub(super) const MOST_DEPTH: usize = 128;

/// How many values are read, so that aliases of aliases end.
const MOST_VALUES: usize = 1_000_000;

/// What is known while one functionConfig is read.
#[derive(Debug)]
pub(super) struct Reading {
    /// Fields that nobody knows; reading goes on without them.
    pub(super) problems: RefCell<Vec<Problem>>,
    left: Cell<usize>,
}

impl Default for Reading {
    fn default() -> Self {
        Self { problems: RefCell::default(), left: Cell::new(MOST_VALUES) }
    }
}

/// One field of a mapping.
#[derive(Clone)]
pub(super) struct Field<'a> {
    pub(super) name: Cow<'a, str>,
    pub(super) key: NodeRef<'a>,
    pub(super) value: NodeRef<'a>,
}

/// The fields of a mapping as a reader sees them: of duplicates the last, and what `<<` brings.
pub(super) fn fields(mapping: NodeRef<'_>, depth: usize) -> Vec<Field<'_>> {
    let mut all: Vec<Field<'_>> = Vec::new();
    let mut merged = Vec::new();
    for entry in mapping.as_mapping().into_iter().flat_map(|mapping| mapping.entries()) {
        let Some(key) = entry.key.resolve().as_scalar() else { continue };
        let name = key.value();
        if name == "<<" && key.style() == ScalarStyle::Plain {
            merged.push(entry.value);
            continue;
        }
        let field = Field { name, key: entry.key, value: entry.value };
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

/// A value of a functionConfig.
#[derive(Clone, Copy)]
pub(super) struct Node<'a> {
    pub(super) node: NodeRef<'a>,
    pub(super) reading: &'a Reading,
    /// Whether texts may stand for numbers, lists and so on: a ConfigMap has nothing else.
    pub(super) loose: bool,
    pub(super) depth: usize,
}

impl<'a> Node<'a> {
    fn resolved(self) -> NodeRef<'a> {
        self.node.resolve()
    }

    pub(super) fn is_null(self) -> bool {
        self.resolved().as_scalar().is_some_and(|scalar| scalar.resolve() == ScalarType::Null)
    }

    pub(super) fn child(self, node: NodeRef<'a>) -> Result<Self, Problem> {
        let left = self.reading.left.get().checked_sub(1);
        let (Some(left), Some(depth)) = (left, self.depth.checked_sub(1)) else {
            let message = format!(
                "the functionConfig is larger than {MOST_VALUES} values, or deeper than {MOST_DEPTH} levels"
            );
            return Err(Problem::told(message).at(self.node));
        };
        self.reading.left.set(left);
        Ok(Self { node, depth, ..self })
    }

    /// Reads a mapping; where its fields are known the others are problems.
    pub(super) fn visit_fields<'de, V: Visitor<'de>>(
        self,
        mut fields: Vec<Field<'a>>,
        known: Option<&[&str]>,
        visitor: V,
    ) -> Result<V::Value, Problem> {
        if let Some(known) = known {
            fields.retain(|field| {
                let is_known = known.contains(&&*field.name);
                if !is_known {
                    self.unknown(field, known);
                }
                is_known && !Node { node: field.value, ..self }.is_null()
            });
        }
        let access = Fields { of: self, fields: fields.into_iter(), next: None };
        visitor.visit_map(access).map_err(|problem| problem.at(self.node))
    }

    fn unknown(self, field: &Field<'_>, known: &[&str]) {
        let message = format!("`{}` is no field of the functionConfig", field.name);
        let problem = unknown(message, &field.name, known);
        let problem = problem.placed(field.key.span(), &field.value.path());
        self.reading.problems.borrow_mut().push(problem);
    }

    pub(super) fn mapping<'de, V: Visitor<'de>>(
        self,
        known: Option<&[&str]>,
        visitor: V,
    ) -> Result<V::Value, Problem> {
        let node = self.resolved();
        if node.as_mapping().is_some() {
            return self.visit_fields(fields(node, MOST_DEPTH), known, visitor);
        }
        self.in_text(NodeKind::Mapping, "a mapping", |inner| inner.mapping(known, visitor))
    }

    pub(super) fn sequence<'de, V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Problem> {
        if let Some(sequence) = self.resolved().as_sequence() {
            let items: Vec<NodeRef<'a>> = sequence.items().collect();
            let access = Items { of: self, items: items.into_iter() };
            return visitor.visit_seq(access).map_err(|problem| problem.at(self.node));
        }
        self.in_text(NodeKind::Sequence, "a list", |inner| inner.sequence(visitor))
    }

    /// Reads a collection that a ConfigMap holds as text; problems in it are told at the text.
    fn in_text<T>(
        self,
        kind: NodeKind,
        wanted: &str,
        read: impl FnOnce(Node<'_>) -> Result<T, Problem>,
    ) -> Result<T, Problem> {
        let refuse = || Problem::wanted(wanted).at(self.node);
        let scalar = self.resolved().as_scalar().filter(|_| self.loose).ok_or_else(refuse)?;
        let file = File::parse(scalar.value().into_owned()).map_err(|_| refuse())?;
        let mut roots = file.documents().filter_map(|document| document.root());
        let root = roots.next().filter(|root| root.kind() == kind).ok_or_else(refuse)?;
        let known = self.reading.problems.borrow().len();
        let place = |problem: Problem| problem.inside(self.node);
        let reading = self.reading;
        let read =
            read(Node { node: root, reading, loose: true, depth: self.depth }).map_err(place);
        let mut problems = reading.problems.borrow_mut();
        let inner: Vec<Problem> = problems.drain(known..).map(place).collect();
        problems.extend(inner);
        read
    }

    /// What a scalar is taken for, where the type wants anything but text.
    fn scalar(self) -> Option<(Cow<'a, str>, ScalarType)> {
        let scalar = self.resolved().as_scalar()?;
        let text = scalar.value();
        let resolved = match scalar.resolve() {
            ScalarType::String if self.loose => ScalarType::of_plain(text.trim()),
            other => other,
        };
        Some((text, resolved))
    }

    pub(super) fn visit_scalar<'de, V: Visitor<'de>>(
        text: &str,
        resolved: ScalarType,
        visitor: V,
    ) -> Result<V::Value, Problem> {
        match resolved {
            ScalarType::Null => visitor.visit_unit(),
            ScalarType::Bool(value) => visitor.visit_bool(value),
            ScalarType::Int(Some(number)) => match (i64::try_from(number), u64::try_from(number)) {
                (Ok(number), _) => visitor.visit_i64(number),
                (_, Ok(number)) => visitor.visit_u64(number),
                _ => visitor.visit_i128(number),
            },
            ScalarType::Int(None) => Err(Problem::told("this number has too many digits")),
            ScalarType::Float(number) => visitor.visit_f64(number),
            ScalarType::String => visitor.visit_str(text),
        }
    }

    fn number<'de, V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Problem> {
        match self.scalar() {
            Some((text, resolved)) => Self::visit_scalar(&text, resolved, visitor),
            None => self.visit_other(visitor),
        }
        .map_err(|problem| problem.at(self.node))
    }

    /// Lets the visitor say that it wants no collection.
    fn visit_other<'de, V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Problem> {
        match self.resolved().kind() {
            NodeKind::Mapping => self.mapping(None, visitor),
            NodeKind::Sequence => self.sequence(visitor),
            _ => Err(Problem::told("this alias leads to itself").at(self.node)),
        }
    }
}

/// Ways to ask that are one and the same for a node.
macro_rules! as_one {
    ($one:ident: $($name:ident)*) => {$(
        fn $name<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Problem> {
            self.$one(visitor)
        }
    )*};
}

impl<'de> Deserializer<'de> for Node<'_> {
    type Error = Problem;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Problem> {
        match self.resolved().as_scalar() {
            Some(scalar) => Self::visit_scalar(&scalar.value(), scalar.resolve(), visitor),
            None => self.visit_other(visitor),
        }
        .map_err(|problem| problem.at(self.node))
    }

    as_one! { number:
        deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64 deserialize_i128
        deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64 deserialize_u128
        deserialize_f32 deserialize_f64
    }

    /// Compat: `yes` and `on` are true for Kubernetes' own reader.
    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Problem> {
        let old = self.resolved().as_scalar().map(|scalar| scalar.resolve_1_1());
        match old {
            Some(ScalarType::Bool(value)) => visitor.visit_bool(value),
            _ => self.number(visitor),
        }
    }

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Problem> {
        match self.resolved().as_scalar() {
            Some(scalar) if self.is_null() && self.loose => {
                visitor.visit_str(if scalar.raw().is_empty() { "" } else { scalar.raw() })
            }
            Some(scalar) if self.loose => visitor.visit_str(&scalar.value()),
            _ => self.deserialize_any(visitor),
        }
        .map_err(|problem| problem.at(self.node))
    }

    as_one! { deserialize_str:
        deserialize_string deserialize_char deserialize_identifier deserialize_bytes
        deserialize_byte_buf
    }

    forward_to_deserialize_any! { unit unit_struct }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Problem> {
        if self.is_null() { visitor.visit_none() } else { visitor.visit_some(self) }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Problem> {
        let scalar = self.resolved().as_scalar().filter(|_| name == any::NAME);
        match scalar.map(|scalar| (scalar.resolve(), scalar.value())) {
            Some((ScalarType::Int(_) | ScalarType::Float(_), text)) => {
                visitor.visit_bytes(text.as_bytes())
            }
            _ => visitor.visit_newtype_struct(self),
        }
        .map_err(|problem: Problem| problem.at(self.node))
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Problem> {
        self.sequence(visitor)
    }

    fn deserialize_tuple<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, Problem> {
        self.sequence(visitor)
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: usize,
        visitor: V,
    ) -> Result<V::Value, Problem> {
        self.sequence(visitor)
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Problem> {
        self.mapping(None, visitor)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        known: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Problem> {
        self.mapping(Some(known), visitor)
    }

    /// A text is a variant without anything; a mapping of one entry a variant with its content.
    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        known: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Problem> {
        let node = self.resolved();
        let (name, content) = match (node.as_scalar(), &fields(node, MOST_DEPTH)[..]) {
            (Some(scalar), _) if !self.is_null() => (scalar.value().into_owned(), None),
            (None, [field]) => (field.name.clone().into_owned(), Some(self.child(field.value)?)),
            _ => {
                let problem = Problem::wanted("one of the known values").at(self.node);
                return Err(problem.hint(format!("known are {}", super::words::list(known))));
            }
        };
        if !known.contains(&name.as_str()) {
            let message = format!("`{name}` is none of the values that are known");
            return Err(unknown(message, &name, known).at(self.node));
        }
        let access = Variant { name, content };
        visitor.visit_enum(access).map_err(|problem| problem.at(self.node))
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Problem> {
        visitor.visit_unit()
    }
}
