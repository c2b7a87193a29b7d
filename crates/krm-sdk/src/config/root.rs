//! The root of a functionConfig: which fields are passed to the type depends on the kind and on the fields of the type.

use std::borrow::Cow;

use krm_core::diagnostics::CommonKind;
use krm_yaml::NodeRef;
use serde::de::value::CowStrDeserializer;
use serde::de::{
    DeserializeSeed, Deserializer, EnumAccess, IntoDeserializer, VariantAccess, Visitor,
};
use serde::forward_to_deserialize_any;

use super::describe::{OWNER, one_of};
use super::error::ConfigError;
use super::node::{ConfigField, MAX_DEPTH, NodeDeserializer, ReadState, fields};
use crate::kinds::ConfigKind;

/// Fields of every resource, which a type gets only if it has them.
const RESOURCE_FIELDS: [&str; 3] = ["apiVersion", "kind", "metadata"];

/// Deserializes the functionConfig itself.
#[derive(Clone, Copy)]
pub(super) struct RootDeserializer<'a> {
    pub(super) root: NodeRef<'a>,
    pub(super) state: &'a ReadState,
    /// Whether `data` is read as that of a ConfigMap, whatever the kind.
    pub(super) is_config_map: bool,
}

impl<'a> RootDeserializer<'a> {
    fn node(self, node: NodeRef<'a>, from_string: bool) -> NodeDeserializer<'a> {
        NodeDeserializer {
            node,
            state: self.state,
            from_string,
            depth: MAX_DEPTH,
            number_as_string: false,
        }
    }

    fn kind(self) -> Option<NodeRef<'a>> {
        self.root.as_mapping()?.get("kind").map(NodeRef::resolve)
    }

    /// The fields for the type, and the node that holds them.
    fn fields(self, known: &[&str]) -> (NodeDeserializer<'a>, Vec<ConfigField<'a>>) {
        let kind = self.kind().and_then(NodeRef::as_str);
        let all = fields(self.root, MAX_DEPTH);
        let own = |name: &str| all.iter().find(|field| field.name == name).map(|field| field.value);
        let is_config_map = self.is_config_map || kind.as_deref() == Some("ConfigMap");
        if is_config_map && !known.contains(&"data") {
            let data = own("data").map(NodeRef::resolve);
            let node = data.filter(|data| data.as_mapping().is_some()).unwrap_or(self.root);
            let fields = data.map(|data| fields(data, MAX_DEPTH)).unwrap_or_default();
            return (self.node(node, true), fields);
        }
        let is_own = |name: &str| known.contains(&name) || !RESOURCE_FIELDS.contains(&name);
        let spec = own("spec").map(NodeRef::resolve).filter(|spec| spec.as_mapping().is_some());
        let count = all.iter().filter(|field| is_own(&field.name)).count();
        match spec.filter(|_| count == 1 && !known.contains(&"spec")) {
            Some(spec) => (self.node(spec, false), fields(spec, MAX_DEPTH)),
            None => {
                let kept = all.into_iter().filter(|field| is_own(&field.name)).collect();
                (self.node(self.root, false), kept)
            }
        }
    }

    fn visit<'de, V: Visitor<'de>>(
        self,
        known: Option<&[&str]>,
        visitor: V,
    ) -> Result<V::Value, ConfigError> {
        let (node, fields) = self.fields(known.unwrap_or_default());
        node.visit_fields(fields, known, visitor)
    }
}

impl<'de> Deserializer<'de> for RootDeserializer<'_> {
    type Error = ConfigError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ConfigError> {
        self.visit(None, visitor)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        known: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ConfigError> {
        self.visit(Some(known), visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ConfigError> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, ConfigError> {
        visitor.visit_newtype_struct(self)
    }

    /// The kind selects the variant.
    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        known: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ConfigError> {
        let kind = self.kind().and_then(|kind| Some((kind, kind.as_str()?)));
        let Some((node, kind)) = kind else {
            let (field, owner) = ("kind".to_owned(), OWNER.to_owned());
            let kind = CommonKind::MissingField { field, owner };
            return Err(ConfigError::new(kind).at(self.root));
        };
        if !known.contains(&&*kind) {
            let expected = one_of(known);
            let error =
                ConfigError::new(ConfigKind::UnknownKind { kind: kind.to_string(), expected });
            return Err(error.suggest(&kind, known).at(node));
        }
        visitor.visit_enum(KindAccess { kind, body: self }).map_err(|error| error.at(self.root))
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit
        unit_struct seq tuple tuple_struct map identifier ignored_any
    }
}

struct KindAccess<'a> {
    kind: Cow<'a, str>,
    body: RootDeserializer<'a>,
}

impl<'de, 'a> EnumAccess<'de> for KindAccess<'a> {
    type Error = ConfigError;
    type Variant = RootDeserializer<'a>;

    fn variant_seed<S: DeserializeSeed<'de>>(
        self,
        seed: S,
    ) -> Result<(S::Value, RootDeserializer<'a>), ConfigError> {
        let name: CowStrDeserializer<'_, ConfigError> = self.kind.into_deserializer();
        Ok((seed.deserialize(name)?, self.body))
    }
}

impl<'de> VariantAccess<'de> for RootDeserializer<'_> {
    type Error = ConfigError;

    fn unit_variant(self) -> Result<(), ConfigError> {
        Ok(())
    }

    fn newtype_variant_seed<S: DeserializeSeed<'de>>(
        self,
        seed: S,
    ) -> Result<S::Value, ConfigError> {
        seed.deserialize(self)
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, ConfigError> {
        self.deserialize_any(visitor)
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        known: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ConfigError> {
        self.visit(Some(known), visitor)
    }
}
