//! The functionConfig as a whole: which of its fields are the function's, by its kind and by what the type knows.

use std::borrow::Cow;

use krm_yaml::NodeRef;
use serde::de::value::CowStrDeserializer;
use serde::de::{
    DeserializeSeed, Deserializer, EnumAccess, IntoDeserializer, VariantAccess, Visitor,
};
use serde::forward_to_deserialize_any;

use super::node::{Field, MOST_DEPTH, Node, Reading, fields};
use super::problem::{Problem, unknown};

/// Fields of a resource that are not the function's.
const FRAME: [&str; 3] = ["apiVersion", "kind", "metadata"];

/// The functionConfig itself: what its type gets depends on the type.
#[derive(Clone, Copy)]
pub(super) struct Body<'a> {
    pub(super) root: NodeRef<'a>,
    pub(super) reading: &'a Reading,
}

impl<'a> Body<'a> {
    fn node(self, node: NodeRef<'a>, loose: bool) -> Node<'a> {
        Node { node, reading: self.reading, loose, depth: MOST_DEPTH }
    }

    fn kind(self) -> Option<NodeRef<'a>> {
        self.root.as_mapping()?.get("kind").map(NodeRef::resolve)
    }

    /// The fields of the function's own, and the node that holds them.
    fn fields(self, known: &[&str]) -> (Node<'a>, Vec<Field<'a>>) {
        let kind = self.kind().and_then(NodeRef::as_str);
        let all = fields(self.root, MOST_DEPTH);
        let own = |name: &str| all.iter().find(|field| field.name == name).map(|field| field.value);
        if kind.as_deref() == Some("ConfigMap") && !known.contains(&"data") {
            let data = own("data").map(NodeRef::resolve);
            let node = data.filter(|data| data.as_mapping().is_some()).unwrap_or(self.root);
            let fields = data.map(|data| fields(data, MOST_DEPTH)).unwrap_or_default();
            return (self.node(node, true), fields);
        }
        let is_own = |name: &str| known.contains(&name) || !FRAME.contains(&name);
        let spec = own("spec").map(NodeRef::resolve).filter(|spec| spec.as_mapping().is_some());
        let count = all.iter().filter(|field| is_own(&field.name)).count();
        match spec.filter(|_| count == 1 && !known.contains(&"spec")) {
            Some(spec) => (self.node(spec, false), fields(spec, MOST_DEPTH)),
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
    ) -> Result<V::Value, Problem> {
        let (node, fields) = self.fields(known.unwrap_or_default());
        node.visit_fields(fields, known, visitor)
    }
}

impl<'de> Deserializer<'de> for Body<'_> {
    type Error = Problem;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Problem> {
        self.visit(None, visitor)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        known: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Problem> {
        self.visit(Some(known), visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Problem> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Problem> {
        visitor.visit_newtype_struct(self)
    }

    /// The kind says which variant it is.
    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        known: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Problem> {
        let kind = self.kind().and_then(|kind| Some((kind, kind.as_str()?)));
        let Some((node, kind)) = kind else {
            return Err(Problem::told("a functionConfig with a `kind` is wanted").at(self.root));
        };
        if !known.contains(&&*kind) {
            let message = format!("`{kind}` is no kind of functionConfig that this function knows");
            return Err(unknown(message, &kind, known).at(node));
        }
        visitor.visit_enum(KindAccess { kind, body: self }).map_err(|problem| problem.at(self.root))
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit
        unit_struct seq tuple tuple_struct map identifier ignored_any
    }
}

struct KindAccess<'a> {
    kind: Cow<'a, str>,
    body: Body<'a>,
}

impl<'de, 'a> EnumAccess<'de> for KindAccess<'a> {
    type Error = Problem;
    type Variant = Body<'a>;

    fn variant_seed<S: DeserializeSeed<'de>>(
        self,
        seed: S,
    ) -> Result<(S::Value, Body<'a>), Problem> {
        let name: CowStrDeserializer<'_, Problem> = self.kind.into_deserializer();
        Ok((seed.deserialize(name)?, self.body))
    }
}

impl<'de> VariantAccess<'de> for Body<'_> {
    type Error = Problem;

    fn unit_variant(self) -> Result<(), Problem> {
        Ok(())
    }

    fn newtype_variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<S::Value, Problem> {
        seed.deserialize(self)
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, Problem> {
        self.deserialize_any(visitor)
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        known: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Problem> {
        self.visit(Some(known), visitor)
    }
}
