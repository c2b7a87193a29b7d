//! What serde goes through one by one: entries, items, and the content of a variant.

use std::borrow::Cow;

use krm_yaml::{NodeRef, ScalarType};
use serde::de::value::StringDeserializer;
use serde::de::{
    DeserializeSeed, Deserializer, EnumAccess, IntoDeserializer, MapAccess, SeqAccess,
    VariantAccess, Visitor,
};
use serde::forward_to_deserialize_any;

use super::node::{Field, Node};
use super::problem::{Problem, unknown};

/// The entries of a mapping, one after the other.
pub(super) struct Fields<'a> {
    pub(super) of: Node<'a>,
    pub(super) fields: std::vec::IntoIter<Field<'a>>,
    pub(super) next: Option<NodeRef<'a>>,
}

impl<'de> MapAccess<'de> for Fields<'_> {
    type Error = Problem;

    fn next_key_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, Problem> {
        let Some(field) = self.fields.next() else { return Ok(None) };
        self.next = Some(field.value);
        let key = seed.deserialize(Key { name: field.name, node: field.key });
        key.map(Some).map_err(|problem| problem.at(field.key))
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, Problem> {
        let value = self.next.take().ok_or_else(|| Problem::told("a value without a key"))?;
        let value = self.of.child(value)?;
        seed.deserialize(value).map_err(|problem| problem.at(value.node))
    }
}

/// The key of an entry: text, also where it reads as a number.
struct Key<'a> {
    name: Cow<'a, str>,
    node: NodeRef<'a>,
}

impl<'de> Deserializer<'de> for Key<'_> {
    type Error = Problem;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Problem> {
        visitor.visit_str(&self.name)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Problem> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_i64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Problem> {
        Node::visit_scalar(&self.name, ScalarType::of_plain(&self.name), visitor)
    }

    fn deserialize_u64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Problem> {
        self.deserialize_i64(visitor)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        known: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Problem> {
        if !known.contains(&&*self.name) {
            let message = format!("`{}` is none of the values that are known", self.name);
            return Err(unknown(message, &self.name, known).at(self.node));
        }
        visitor.visit_enum(self.name.into_deserializer())
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i128 u8 u16 u32 u128 f32 f64 char str string bytes byte_buf option unit
        unit_struct seq tuple tuple_struct map struct identifier ignored_any
    }
}

/// The items of a list, one after the other.
pub(super) struct Items<'a> {
    pub(super) of: Node<'a>,
    pub(super) items: std::vec::IntoIter<NodeRef<'a>>,
}

impl<'de> SeqAccess<'de> for Items<'_> {
    type Error = Problem;

    fn next_element_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, Problem> {
        let Some(item) = self.items.next() else { return Ok(None) };
        let item = self.of.child(item)?;
        seed.deserialize(item).map(Some).map_err(|problem| problem.at(item.node))
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.items.len())
    }
}

/// A variant by its name, with what it holds.
pub(super) struct Variant<'a> {
    pub(super) name: String,
    pub(super) content: Option<Node<'a>>,
}

/// What a variant holds; nothing where it is only named.
pub(super) struct Content<'a>(Option<Node<'a>>);

impl<'de, 'a> EnumAccess<'de> for Variant<'a> {
    type Error = Problem;
    type Variant = Content<'a>;

    fn variant_seed<S: DeserializeSeed<'de>>(
        self,
        seed: S,
    ) -> Result<(S::Value, Content<'a>), Problem> {
        let name: StringDeserializer<Problem> = self.name.into_deserializer();
        Ok((seed.deserialize(name)?, Content(self.content)))
    }
}

impl<'a> Content<'a> {
    fn node(self) -> Result<Node<'a>, Problem> {
        let missing = "this value has fields of its own, and they are missing";
        self.0.ok_or_else(|| Problem::told(missing))
    }
}

impl<'de> VariantAccess<'de> for Content<'_> {
    type Error = Problem;

    fn unit_variant(self) -> Result<(), Problem> {
        match self.0 {
            Some(node) if !node.is_null() => Err(Problem::wanted("nothing").at(node.node)),
            _ => Ok(()),
        }
    }

    fn newtype_variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<S::Value, Problem> {
        seed.deserialize(self.node()?)
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, Problem> {
        self.node()?.sequence(visitor)
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        known: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Problem> {
        self.node()?.mapping(Some(known), visitor)
    }
}
