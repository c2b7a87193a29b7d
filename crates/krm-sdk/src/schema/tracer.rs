//! The deserializer that traces a type.

use std::cell::RefCell;

use serde::de::value::StrDeserializer;
use serde::de::{
    DeserializeSeed, Deserializer, EnumAccess, IntoDeserializer, MapAccess, SeqAccess,
    VariantAccess, Visitor,
};

use super::json_schema::FieldType;
use super::trace::{SAMPLE_STRINGS, State, TraceError, TracePass, TraceProblem};
use crate::config::ANY;

/// The maximal nesting of options, sequences and mappings, so that tracing a recursive type ends.
const MAX_DEPTH: usize = 8;

/// Records which type is deserialized at each path, and answers with a made-up value.
pub(super) struct Tracer<'s> {
    pub(super) path: String,
    pub(super) state: &'s RefCell<State>,
    pub(super) depth: usize,
}

impl<'s> Tracer<'s> {
    fn record(&self, field_type: FieldType) {
        self.state.borrow_mut().types.at.entry(self.path.clone()).or_insert(field_type);
    }

    fn rejected(&self) -> usize {
        self.state.borrow().rejected.get(&self.path).copied().unwrap_or(0)
    }

    fn inner(&self, step: &str) -> Tracer<'s> {
        let path = format!("{}/{step}", self.path);
        Tracer { path, state: self.state, depth: self.depth + 1 }
    }

    fn is_deep(&self) -> bool {
        self.depth > MAX_DEPTH
    }

    fn integer<'de, V: Visitor<'de>>(
        self,
        least: Option<i128>,
        most: Option<i128>,
        visitor: V,
    ) -> Result<V::Value, TraceError> {
        self.record(FieldType::Integer(least, most));
        let number = i64::try_from(self.rejected()).unwrap_or_default();
        visitor.visit_i64(number).map_err(|error: TraceError| error.at(&self.path))
    }

    fn number<'de, V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, TraceError> {
        self.record(FieldType::Number);
        let number = self.rejected() as f64;
        visitor.visit_f64(number).map_err(|error: TraceError| error.at(&self.path))
    }

    fn string<'de, V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, TraceError> {
        self.record(FieldType::String);
        let text = SAMPLE_STRINGS.get(self.rejected()).copied().unwrap_or_default();
        visitor.visit_str(text).map_err(|error: TraceError| error.at(&self.path))
    }

    fn fields<'de, V: Visitor<'de>>(
        self,
        names: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, TraceError> {
        self.record(FieldType::Struct(names.to_vec()));
        let path = self.path.clone();
        let mut state = self.state.borrow_mut();
        for name in names {
            state.enqueue(TracePass { path: path.clone(), without: Some(name) });
        }
        let pass = state.pass.clone().filter(|pass| pass.path == path);
        let without = pass.and_then(|pass| pass.without);
        let is_passed = |name: &&&str| {
            without != Some(name) && !state.types.aliases.contains(&format!("{path}/{name}"))
        };
        let passed: Vec<&'static str> = names.iter().filter(is_passed).copied().collect();
        drop(state);
        let state_of = self.state;
        let access = Fields { of: self, names: passed.into_iter(), at: "" };
        visitor.visit_map(access).map_err(|error: TraceError| match error.problem {
            TraceProblem::Duplicate => error.at(&state_of.borrow().last),
            _ => error.at(&path),
        })
    }

    fn items<'de, V: Visitor<'de>>(self, count: usize, visitor: V) -> Result<V::Value, TraceError> {
        self.record(FieldType::Sequence);
        let path = self.path.clone();
        let left = if self.is_deep() { 0 } else { count };
        visitor.visit_seq(Elements { of: self, left }).map_err(|error: TraceError| error.at(&path))
    }
}

macro_rules! integers {
    ($($name:ident $least:expr, $most:expr;)*) => {$(
        fn $name<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, TraceError> {
            self.integer($least, $most, visitor)
        }
    )*};
}

macro_rules! strings {
    ($($name:ident)*) => {$(
        fn $name<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, TraceError> {
            self.string(visitor)
        }
    )*};
}

impl<'de> Deserializer<'de> for Tracer<'_> {
    type Error = TraceError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, TraceError> {
        self.record(FieldType::Any);
        let path = self.path.clone();
        match self.rejected() {
            0 => visitor.visit_unit(),
            1 => visitor.visit_str(""),
            2 => visitor.visit_i64(0),
            3 => visitor.visit_bool(false),
            4 => visitor.visit_map(Fields { of: self, names: Vec::new().into_iter(), at: "" }),
            _ => visitor.visit_seq(Elements { of: self, left: 0 }),
        }
        .map_err(|error: TraceError| error.at(&path))
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

    strings! {
        deserialize_str deserialize_string deserialize_identifier deserialize_bytes
        deserialize_byte_buf
    }

    fn deserialize_char<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, TraceError> {
        self.record(FieldType::String);
        visitor.visit_char('a')
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, TraceError> {
        self.record(FieldType::Bool);
        visitor.visit_bool(self.rejected() > 0).map_err(|error: TraceError| error.at(&self.path))
    }

    fn deserialize_f32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, TraceError> {
        self.number(visitor)
    }

    fn deserialize_f64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, TraceError> {
        self.number(visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, TraceError> {
        self.state.borrow_mut().types.nullable.insert(self.path.clone());
        if self.is_deep() { visitor.visit_none() } else { visitor.visit_some(self) }
    }

    fn deserialize_unit<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, TraceError> {
        visitor.visit_unit()
    }

    fn deserialize_unit_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, TraceError> {
        visitor.visit_unit()
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, TraceError> {
        if name == ANY { self.deserialize_any(visitor) } else { visitor.visit_newtype_struct(self) }
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, TraceError> {
        self.items(1, visitor)
    }

    fn deserialize_tuple<V: Visitor<'de>>(
        self,
        count: usize,
        visitor: V,
    ) -> Result<V::Value, TraceError> {
        self.items(count, visitor)
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        count: usize,
        visitor: V,
    ) -> Result<V::Value, TraceError> {
        self.items(count, visitor)
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, TraceError> {
        self.record(FieldType::Map);
        let path = self.path.clone();
        let left = usize::from(!self.is_deep());
        visitor.visit_map(Elements { of: self, left }).map_err(|error: TraceError| error.at(&path))
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        names: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, TraceError> {
        self.fields(names, visitor)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        names: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, TraceError> {
        self.record(FieldType::Enum(names.to_vec()));
        let path = self.path.clone();
        let prefix = format!("{path}/=");
        let mut state = self.state.borrow_mut();
        for name in names {
            state.enqueue(TracePass { path: format!("{prefix}{name}"), without: None });
        }
        let selected = state.pass.as_ref().and_then(|pass| pass.path.strip_prefix(&prefix));
        let selected = selected.map(|rest| rest.split('/').next().unwrap_or_default().to_owned());
        drop(state);
        let first = names.first().copied().unwrap_or_default();
        let name = selected.and_then(|it| names.iter().find(|name| **name == it)).copied();
        let access = Variant { of: self, name: name.unwrap_or(first) };
        visitor.visit_enum(access).map_err(|error: TraceError| error.at(&path))
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, TraceError> {
        visitor.visit_unit()
    }
}

struct Fields<'s> {
    of: Tracer<'s>,
    names: std::vec::IntoIter<&'static str>,
    at: &'static str,
}

impl<'de> MapAccess<'de> for Fields<'_> {
    type Error = TraceError;

    fn next_key_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, TraceError> {
        let Some(name) = self.names.next() else { return Ok(None) };
        self.at = name;
        self.of.state.borrow_mut().last = format!("{}/{name}", self.of.path);
        let name: StrDeserializer<'_, TraceError> = name.into_deserializer();
        seed.deserialize(name).map(Some)
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<S::Value, TraceError> {
        seed.deserialize(self.of.inner(self.at))
    }
}

/// A number of equal entries of a mapping, or elements of a sequence.
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
    type Error = TraceError;

    fn next_key_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, TraceError> {
        self.next("key of").map(|key| seed.deserialize(key)).transpose()
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<S::Value, TraceError> {
        seed.deserialize(self.of.inner("*"))
    }
}

impl<'de> SeqAccess<'de> for Elements<'_> {
    type Error = TraceError;

    fn next_element_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, TraceError> {
        self.next("#").map(|element| seed.deserialize(element)).transpose()
    }
}

struct Variant<'s> {
    of: Tracer<'s>,
    name: &'static str,
}

impl<'de, 's> EnumAccess<'de> for Variant<'s> {
    type Error = TraceError;
    type Variant = Content<'s>;

    fn variant_seed<S: DeserializeSeed<'de>>(
        self,
        seed: S,
    ) -> Result<(S::Value, Content<'s>), TraceError> {
        let name: StrDeserializer<'_, TraceError> = self.name.into_deserializer();
        let content = Content(self.of.inner(&format!("={}", self.name)));
        Ok((seed.deserialize(name)?, content))
    }
}

struct Content<'s>(Tracer<'s>);

impl<'s> Content<'s> {
    fn with_content(self) -> Tracer<'s> {
        self.0.state.borrow_mut().types.with_content.insert(self.0.path.clone());
        self.0
    }
}

impl<'de> VariantAccess<'de> for Content<'_> {
    type Error = TraceError;

    fn unit_variant(self) -> Result<(), TraceError> {
        Ok(())
    }

    fn newtype_variant_seed<S: DeserializeSeed<'de>>(
        self,
        seed: S,
    ) -> Result<S::Value, TraceError> {
        seed.deserialize(self.with_content())
    }

    fn tuple_variant<V: Visitor<'de>>(
        self,
        count: usize,
        visitor: V,
    ) -> Result<V::Value, TraceError> {
        self.with_content().items(count, visitor)
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        names: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, TraceError> {
        self.with_content().fields(names, visitor)
    }
}
