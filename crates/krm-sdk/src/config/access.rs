//! Serde access to the entries of a mapping, the elements of a sequence and the content of an enum variant.

use std::borrow::Cow;

use krm_yaml::{NodeRef, ScalarType};
use serde::de::value::StringDeserializer;
use serde::de::{
    DeserializeSeed, Deserializer, EnumAccess, IntoDeserializer, MapAccess, SeqAccess,
    VariantAccess, Visitor,
};
use serde::forward_to_deserialize_any;

use super::error::ConfigError;
use super::node::{ConfigField, NodeDeserializer};

/// The entries of a mapping.
pub(super) struct Fields<'a> {
    pub(super) of: NodeDeserializer<'a>,
    pub(super) fields: std::vec::IntoIter<ConfigField<'a>>,
    pub(super) next: Option<NodeRef<'a>>,
}

impl<'de> MapAccess<'de> for Fields<'_> {
    type Error = ConfigError;

    fn next_key_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, ConfigError> {
        let Some(field) = self.fields.next() else { return Ok(None) };
        self.next = Some(field.value);
        let key = seed.deserialize(Key { name: field.name, node: field.key });
        key.map(Some).map_err(|error| error.at(field.key))
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<S::Value, ConfigError> {
        let value = self
            .next
            .take()
            .ok_or_else(|| ConfigError::invalid("expected a key before the value"))?;
        let value = self.of.child(value)?;
        seed.deserialize(value).map_err(|error| error.at(value.node))
    }
}

/// The key of an entry: a string, even if it reads as a number.
struct Key<'a> {
    name: Cow<'a, str>,
    node: NodeRef<'a>,
}

impl<'de> Deserializer<'de> for Key<'_> {
    type Error = ConfigError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ConfigError> {
        visitor.visit_str(&self.name)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, ConfigError> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_i64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ConfigError> {
        NodeDeserializer::visit_scalar(&self.name, ScalarType::of_plain(&self.name), visitor)
    }

    fn deserialize_u64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ConfigError> {
        self.deserialize_i64(visitor)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        known: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ConfigError> {
        if !known.contains(&&*self.name) {
            return Err(ConfigError::unknown_value(&self.name, known).at(self.node));
        }
        visitor.visit_enum(self.name.into_deserializer())
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i128 u8 u16 u32 u128 f32 f64 char str string bytes byte_buf option unit
        unit_struct seq tuple tuple_struct map struct identifier ignored_any
    }
}

/// The elements of a sequence.
pub(super) struct Items<'a> {
    pub(super) of: NodeDeserializer<'a>,
    pub(super) items: std::vec::IntoIter<NodeRef<'a>>,
}

impl<'de> SeqAccess<'de> for Items<'_> {
    type Error = ConfigError;

    fn next_element_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, ConfigError> {
        let Some(item) = self.items.next() else { return Ok(None) };
        let item = self.of.child(item)?;
        seed.deserialize(item).map(Some).map_err(|error| error.at(item.node))
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.items.len())
    }
}

/// A variant of an enum.
pub(super) struct Variant<'a> {
    pub(super) name: String,
    pub(super) content: Option<NodeDeserializer<'a>>,
}

/// The content of a variant; none for a bare name.
pub(super) struct Content<'a>(Option<NodeDeserializer<'a>>);

impl<'de, 'a> EnumAccess<'de> for Variant<'a> {
    type Error = ConfigError;
    type Variant = Content<'a>;

    fn variant_seed<S: DeserializeSeed<'de>>(
        self,
        seed: S,
    ) -> Result<(S::Value, Content<'a>), ConfigError> {
        let name: StringDeserializer<ConfigError> = self.name.into_deserializer();
        Ok((seed.deserialize(name)?, Content(self.content)))
    }
}

impl<'a> Content<'a> {
    fn node(self) -> Result<NodeDeserializer<'a>, ConfigError> {
        self.0.ok_or_else(|| ConfigError::wrong_type("a mapping with the content of this value"))
    }
}

impl<'de> VariantAccess<'de> for Content<'_> {
    type Error = ConfigError;

    fn unit_variant(self) -> Result<(), ConfigError> {
        match self.0 {
            Some(node) if !node.is_null() => Err(ConfigError::wrong_type("null").at(node.node)),
            _ => Ok(()),
        }
    }

    fn newtype_variant_seed<S: DeserializeSeed<'de>>(
        self,
        seed: S,
    ) -> Result<S::Value, ConfigError> {
        seed.deserialize(self.node()?)
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, ConfigError> {
        self.node()?.sequence(visitor)
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        known: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ConfigError> {
        self.node()?.mapping(Some(known), visitor)
    }
}
