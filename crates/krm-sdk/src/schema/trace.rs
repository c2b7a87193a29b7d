//! Asking a type what it wants: it is read from nothing, again and again, until everything in it was met once.
//!
//! Each pass has a target: a variant that is to be chosen, or a field that is to be left out to see whether it is missed.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt;

use serde::de::value::StrDeserializer;
use serde::de::{
    DeserializeOwned, DeserializeSeed, Deserializer, EnumAccess, Error, IntoDeserializer,
    MapAccess, SeqAccess, VariantAccess, Visitor,
};

use super::shape::{Shape, Shapes};
use crate::config::ANY;

/// How often a type is read at most; one that is larger is known as far as that goes.
const MOST_PASSES: usize = 2000;

/// How deep options, lists and mappings are followed, so that a type that holds itself ends.
const MOST_DEPTH: usize = 8;

/// Texts that a type may want: most take any.
const TEXTS: [&str; 11] = [
    "",
    "a",
    "0",
    "1",
    "a.b/c",
    "true",
    "10s",
    "1.0.0",
    "127.0.0.1",
    "http://a.b/",
    "2024-01-01T00:00:00Z",
];

/// What a pass is for.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Target {
    path: String,
    /// The field of the struct at the path that is left out.
    without: Option<&'static str>,
}

#[derive(Debug, Default)]
struct State {
    shapes: Shapes,
    /// Which of the values that a place may want is tried there.
    tried: BTreeMap<String, usize>,
    target: Option<Target>,
    waiting: VecDeque<Target>,
    /// The field that was given last.
    last: String,
    met: BTreeSet<Target>,
}

impl State {
    fn wait_for(&mut self, target: Target) {
        if self.met.insert(target.clone()) {
            self.waiting.push_back(target);
        }
    }
}

/// What a type wants, everywhere in it.
pub(super) fn trace<T: DeserializeOwned>() -> Shapes {
    let state = RefCell::new(State::default());
    state.borrow_mut().wait_for(Target { path: String::new(), without: None });
    for _ in 0..MOST_PASSES {
        let next = state.borrow_mut().waiting.pop_front();
        let Some(target) = next else { break };
        state.borrow_mut().target = Some(target.clone());
        let failed = T::deserialize(Tracer { path: String::new(), state: &state, depth: 0 }).err();
        if failed.is_some_and(|refusal| state.borrow_mut().learn(&target, refusal)) {
            state.borrow_mut().waiting.push_front(target);
        }
    }
    state.into_inner().shapes
}

impl State {
    /// Learns from a pass that failed; says whether it is worth another try.
    fn learn(&mut self, target: &Target, refusal: Refusal) -> bool {
        let path = refusal.path.unwrap_or_default();
        match refusal.why {
            Why::Missing(name) => {
                let is_meant = target.path == path && target.without == Some(name);
                if is_meant {
                    self.shapes.required.insert(format!("{path}/{name}"));
                }
                false
            }
            Why::Twice => self.shapes.aliases.insert(path),
            Why::Value => {
                let tried = self.tried.entry(path).or_default();
                *tried += 1;
                *tried < TEXTS.len()
            }
        }
    }
}

/// Why a type did not take what it was given.
#[derive(Debug)]
struct Refusal {
    why: Why,
    path: Option<String>,
}

#[derive(Debug)]
enum Why {
    Missing(&'static str),
    Twice,
    Value,
}

impl Refusal {
    fn at(mut self, path: &str) -> Self {
        self.path.get_or_insert_with(|| path.to_owned());
        self
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.why)
    }
}

impl std::error::Error for Refusal {}

impl Error for Refusal {
    fn custom<T: fmt::Display>(_: T) -> Self {
        Self { why: Why::Value, path: None }
    }

    fn missing_field(name: &'static str) -> Self {
        Self { why: Why::Missing(name), path: None }
    }

    fn duplicate_field(_: &'static str) -> Self {
        Self { why: Why::Twice, path: None }
    }
}

struct Tracer<'s> {
    path: String,
    state: &'s RefCell<State>,
    depth: usize,
}

impl<'s> Tracer<'s> {
    fn met(&self, shape: Shape) {
        self.state.borrow_mut().shapes.at.entry(self.path.clone()).or_insert(shape);
    }

    fn tried(&self) -> usize {
        self.state.borrow().tried.get(&self.path).copied().unwrap_or(0)
    }

    fn inner(&self, step: &str) -> Tracer<'s> {
        let path = format!("{}/{step}", self.path);
        Tracer { path, state: self.state, depth: self.depth + 1 }
    }

    fn is_deep(&self) -> bool {
        self.depth > MOST_DEPTH
    }

    fn integer<'de, V: Visitor<'de>>(
        self,
        least: Option<i128>,
        most: Option<i128>,
        visitor: V,
    ) -> Result<V::Value, Refusal> {
        self.met(Shape::Integer(least, most));
        let number = i64::try_from(self.tried()).unwrap_or_default();
        visitor.visit_i64(number).map_err(|refusal: Refusal| refusal.at(&self.path))
    }

    fn number<'de, V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Refusal> {
        self.met(Shape::Number);
        let number = self.tried() as f64;
        visitor.visit_f64(number).map_err(|refusal: Refusal| refusal.at(&self.path))
    }

    fn text<'de, V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Refusal> {
        self.met(Shape::Text);
        let text = TEXTS.get(self.tried()).copied().unwrap_or_default();
        visitor.visit_str(text).map_err(|refusal: Refusal| refusal.at(&self.path))
    }

    fn fields<'de, V: Visitor<'de>>(
        self,
        names: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Refusal> {
        self.met(Shape::Struct(names.to_vec()));
        let path = self.path.clone();
        let mut state = self.state.borrow_mut();
        for name in names {
            state.wait_for(Target { path: path.clone(), without: Some(name) });
        }
        let target = state.target.clone().filter(|target| target.path == path);
        let without = target.and_then(|target| target.without);
        let is_given = |name: &&&str| {
            without != Some(name) && !state.shapes.aliases.contains(&format!("{path}/{name}"))
        };
        let given: Vec<&'static str> = names.iter().filter(is_given).copied().collect();
        drop(state);
        let state_of = self.state;
        let access = Fields { of: self, given: given.into_iter(), at: "" };
        visitor.visit_map(access).map_err(|refusal: Refusal| match refusal.why {
            Why::Twice => refusal.at(&state_of.borrow().last),
            _ => refusal.at(&path),
        })
    }

    fn items<'de, V: Visitor<'de>>(self, count: usize, visitor: V) -> Result<V::Value, Refusal> {
        self.met(Shape::List);
        let path = self.path.clone();
        let left = if self.is_deep() { 0 } else { count };
        visitor.visit_seq(Elements { of: self, left }).map_err(|refusal: Refusal| refusal.at(&path))
    }
}

macro_rules! integers {
    ($($name:ident $least:expr, $most:expr;)*) => {$(
        fn $name<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Refusal> {
            self.integer($least, $most, visitor)
        }
    )*};
}

macro_rules! texts {
    ($($name:ident)*) => {$(
        fn $name<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Refusal> {
            self.text(visitor)
        }
    )*};
}

impl<'de> Deserializer<'de> for Tracer<'_> {
    type Error = Refusal;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Refusal> {
        self.met(Shape::Any);
        let path = self.path.clone();
        match self.tried() {
            0 => visitor.visit_unit(),
            1 => visitor.visit_str(""),
            2 => visitor.visit_i64(0),
            3 => visitor.visit_bool(false),
            4 => visitor.visit_map(Fields { of: self, given: Vec::new().into_iter(), at: "" }),
            _ => visitor.visit_seq(Elements { of: self, left: 0 }),
        }
        .map_err(|refusal: Refusal| refusal.at(&path))
    }

    integers! {
        deserialize_i8 Some(i8::MIN.into()), Some(i8::MAX.into());
        deserialize_i16 Some(i16::MIN.into()), Some(i16::MAX.into());
        deserialize_i32 Some(i32::MIN.into()), Some(i32::MAX.into());
        deserialize_i64 None, None;
        deserialize_i128 None, None;
        deserialize_u8 Some(0), Some(u8::MAX.into());
        deserialize_u16 Some(0), Some(u16::MAX.into());
        deserialize_u32 Some(0), Some(u32::MAX.into());
        deserialize_u64 Some(0), None;
        deserialize_u128 Some(0), None;
    }

    texts! {
        deserialize_str deserialize_string deserialize_identifier deserialize_bytes
        deserialize_byte_buf
    }

    fn deserialize_char<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Refusal> {
        self.met(Shape::Text);
        visitor.visit_char('a')
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Refusal> {
        self.met(Shape::Bool);
        visitor.visit_bool(self.tried() > 0).map_err(|refusal: Refusal| refusal.at(&self.path))
    }

    fn deserialize_f32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Refusal> {
        self.number(visitor)
    }

    fn deserialize_f64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Refusal> {
        self.number(visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Refusal> {
        if self.is_deep() { visitor.visit_none() } else { visitor.visit_some(self) }
    }

    fn deserialize_unit<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Refusal> {
        visitor.visit_unit()
    }

    fn deserialize_unit_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Refusal> {
        visitor.visit_unit()
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Refusal> {
        if name == ANY { self.deserialize_any(visitor) } else { visitor.visit_newtype_struct(self) }
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Refusal> {
        self.items(1, visitor)
    }

    fn deserialize_tuple<V: Visitor<'de>>(
        self,
        count: usize,
        visitor: V,
    ) -> Result<V::Value, Refusal> {
        self.items(count, visitor)
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        count: usize,
        visitor: V,
    ) -> Result<V::Value, Refusal> {
        self.items(count, visitor)
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Refusal> {
        self.met(Shape::Map);
        let path = self.path.clone();
        let left = usize::from(!self.is_deep());
        visitor.visit_map(Elements { of: self, left }).map_err(|refusal: Refusal| refusal.at(&path))
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        names: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Refusal> {
        self.fields(names, visitor)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        names: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Refusal> {
        self.met(Shape::Enum(names.to_vec()));
        let path = self.path.clone();
        let prefix = format!("{path}/=");
        let mut state = self.state.borrow_mut();
        for name in names {
            state.wait_for(Target { path: format!("{prefix}{name}"), without: None });
        }
        let wanted = state.target.as_ref().and_then(|target| target.path.strip_prefix(&prefix));
        let wanted = wanted.map(|rest| rest.split('/').next().unwrap_or_default().to_owned());
        drop(state);
        let first = names.first().copied().unwrap_or_default();
        let name = wanted.and_then(|wanted| names.iter().find(|name| **name == wanted)).copied();
        let access = Variant { of: self, name: name.unwrap_or(first) };
        visitor.visit_enum(access).map_err(|refusal: Refusal| refusal.at(&path))
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Refusal> {
        visitor.visit_unit()
    }
}

struct Fields<'s> {
    of: Tracer<'s>,
    given: std::vec::IntoIter<&'static str>,
    at: &'static str,
}

impl<'de> MapAccess<'de> for Fields<'_> {
    type Error = Refusal;

    fn next_key_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, Refusal> {
        let Some(name) = self.given.next() else { return Ok(None) };
        self.at = name;
        self.of.state.borrow_mut().last = format!("{}/{name}", self.of.path);
        let name: StrDeserializer<'_, Refusal> = name.into_deserializer();
        seed.deserialize(name).map(Some)
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, Refusal> {
        seed.deserialize(self.of.inner(self.at))
    }
}

/// Entries of a mapping, or elements of a list: so many of one kind.
struct Elements<'s> {
    of: Tracer<'s>,
    left: usize,
}

impl<'s> Elements<'s> {
    fn next(&mut self, step: &str) -> Option<Tracer<'s>> {
        self.left = self.left.checked_sub(1)?;
        Some(self.of.inner(step))
    }
}

impl<'de> MapAccess<'de> for Elements<'_> {
    type Error = Refusal;

    fn next_key_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, Refusal> {
        self.next("key of").map(|key| seed.deserialize(key)).transpose()
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, Refusal> {
        seed.deserialize(self.of.inner("*"))
    }
}

impl<'de> SeqAccess<'de> for Elements<'_> {
    type Error = Refusal;

    fn next_element_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, Refusal> {
        self.next("#").map(|element| seed.deserialize(element)).transpose()
    }
}

struct Variant<'s> {
    of: Tracer<'s>,
    name: &'static str,
}

impl<'de, 's> EnumAccess<'de> for Variant<'s> {
    type Error = Refusal;
    type Variant = Content<'s>;

    fn variant_seed<S: DeserializeSeed<'de>>(
        self,
        seed: S,
    ) -> Result<(S::Value, Content<'s>), Refusal> {
        let name: StrDeserializer<'_, Refusal> = self.name.into_deserializer();
        let content = Content(self.of.inner(&format!("={}", self.name)));
        Ok((seed.deserialize(name)?, content))
    }
}

struct Content<'s>(Tracer<'s>);

impl<'s> Content<'s> {
    fn filled(self) -> Tracer<'s> {
        self.0.state.borrow_mut().shapes.filled.insert(self.0.path.clone());
        self.0
    }
}

impl<'de> VariantAccess<'de> for Content<'_> {
    type Error = Refusal;

    fn unit_variant(self) -> Result<(), Refusal> {
        Ok(())
    }

    fn newtype_variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<S::Value, Refusal> {
        seed.deserialize(self.filled())
    }

    fn tuple_variant<V: Visitor<'de>>(self, count: usize, visitor: V) -> Result<V::Value, Refusal> {
        self.filled().items(count, visitor)
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        names: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Refusal> {
        self.filled().fields(names, visitor)
    }
}
