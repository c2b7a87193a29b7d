//! Serializing a type into a [`Value`].

use std::fmt;

use krm_core::Diagnostic;
use krm_yaml::Value;
use serde::ser::{
    Serialize, SerializeMap, SerializeSeq, SerializeStruct, SerializeStructVariant, SerializeTuple,
    SerializeTupleStruct, SerializeTupleVariant, Serializer,
};

use crate::Error;
use crate::kinds::ResourceKind;

/// The value of an object. A field of a struct that is null is left out, because a null field counts as missing when it is read.
pub(crate) fn to_value<T: Serialize + ?Sized>(object: &T) -> Result<Value<'static>, Error> {
    object.serialize(ValueSerializer).map_err(|error| {
        Diagnostic::error(ResourceKind::CannotSerialize { reason: error.0.into() }).into()
    })
}

/// Why a type cannot be serialized: the message of its own implementation.
#[derive(Debug)]
pub(super) struct SerializeError(String);

impl fmt::Display for SerializeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for SerializeError {}

impl serde::ser::Error for SerializeError {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self(message.to_string())
    }
}

type Out = Result<Value<'static>, SerializeError>;

struct ValueSerializer;

macro_rules! scalars {
    ($($name:ident $type:ty)*) => {$(
        fn $name(self, value: $type) -> Out {
            Ok(Value::from(value))
        }
    )*};
}

impl Serializer for ValueSerializer {
    type Ok = Value<'static>;
    type Error = SerializeError;
    type SerializeSeq = Elements;
    type SerializeTuple = Elements;
    type SerializeTupleStruct = Elements;
    type SerializeTupleVariant = Elements;
    type SerializeMap = Entries;
    type SerializeStruct = Entries;
    type SerializeStructVariant = Entries;

    scalars! {
        serialize_bool bool
        serialize_i8 i8 serialize_i16 i16 serialize_i32 i32 serialize_i64 i64 serialize_i128 i128
        serialize_u8 u8 serialize_u16 u16 serialize_u32 u32 serialize_u64 u64 serialize_u128 u128
        serialize_f32 f32 serialize_f64 f64
    }

    fn serialize_char(self, value: char) -> Out {
        Ok(Value::from(value.to_string()))
    }

    fn serialize_str(self, value: &str) -> Out {
        Ok(Value::from(value.to_owned()))
    }

    fn serialize_bytes(self, bytes: &[u8]) -> Out {
        Ok(Value::from(bytes))
    }

    fn serialize_none(self) -> Out {
        Ok(Value::Null)
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Out {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Out {
        Ok(Value::Null)
    }

    fn serialize_unit_struct(self, _: &'static str) -> Out {
        Ok(Value::Null)
    }

    fn serialize_unit_variant(self, _: &'static str, _: u32, variant: &'static str) -> Out {
        Ok(Value::from(variant))
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, _: &'static str, value: &T) -> Out {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        value: &T,
    ) -> Out {
        Ok(wrap(Some(variant), value.serialize(self)?))
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Elements, SerializeError> {
        Ok(Elements::default())
    }

    fn serialize_tuple(self, _: usize) -> Result<Elements, SerializeError> {
        Ok(Elements::default())
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Elements, SerializeError> {
        Ok(Elements::default())
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Elements, SerializeError> {
        Ok(Elements { variant: Some(variant), ..Elements::default() })
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Entries, SerializeError> {
        Ok(Entries::default())
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Entries, SerializeError> {
        Ok(Entries::default())
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Entries, SerializeError> {
        Ok(Entries { variant: Some(variant), ..Entries::default() })
    }
}

fn wrap(variant: Option<&'static str>, content: Value<'static>) -> Value<'static> {
    match variant {
        Some(variant) => Value::Mapping(vec![(Value::from(variant), content)]),
        None => content,
    }
}

#[derive(Default)]
struct Elements {
    items: Vec<Value<'static>>,
    variant: Option<&'static str>,
}

impl Elements {
    fn push<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), SerializeError> {
        self.items.push(value.serialize(ValueSerializer)?);
        Ok(())
    }

    fn finish(self) -> Out {
        Ok(wrap(self.variant, Value::Sequence(self.items)))
    }
}

macro_rules! sequences {
    ($($trait:ident $method:ident)*) => {$(
        impl $trait for Elements {
            type Ok = Value<'static>;
            type Error = SerializeError;

            fn $method<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), SerializeError> {
                self.push(value)
            }

            fn end(self) -> Out {
                self.finish()
            }
        }
    )*};
}

sequences! {
    SerializeSeq serialize_element
    SerializeTuple serialize_element
    SerializeTupleStruct serialize_field
    SerializeTupleVariant serialize_field
}

#[derive(Default)]
struct Entries {
    entries: Vec<(Value<'static>, Value<'static>)>,
    key: Option<Value<'static>>,
    variant: Option<&'static str>,
}

impl Entries {
    fn push_field<T: Serialize + ?Sized>(
        &mut self,
        name: &'static str,
        value: &T,
    ) -> Result<(), SerializeError> {
        let value = value.serialize(ValueSerializer)?;
        if !matches!(value, Value::Null) {
            self.entries.push((Value::from(name), value));
        }
        Ok(())
    }

    fn finish(self) -> Out {
        Ok(wrap(self.variant, Value::Mapping(self.entries)))
    }
}

impl SerializeMap for Entries {
    type Ok = Value<'static>;
    type Error = SerializeError;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), SerializeError> {
        self.key = Some(as_key(key.serialize(ValueSerializer)?));
        Ok(())
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), SerializeError> {
        let key = self.key.take();
        let key =
            key.ok_or_else(|| SerializeError("expected a key before the value".to_owned()))?;
        self.entries.push((key, value.serialize(ValueSerializer)?));
        Ok(())
    }

    fn end(self) -> Out {
        self.finish()
    }
}

macro_rules! structs {
    ($($trait:ident)*) => {$(
        impl $trait for Entries {
            type Ok = Value<'static>;
            type Error = SerializeError;

            fn serialize_field<T: Serialize + ?Sized>(
                &mut self,
                name: &'static str,
                value: &T,
            ) -> Result<(), SerializeError> {
                self.push_field(name, value)
            }

            fn end(self) -> Out {
                self.finish()
            }
        }
    )*};
}

structs! { SerializeStruct SerializeStructVariant }

/// A key of a map: numbers and booleans become strings, because keys of Kubernetes are strings.
fn as_key(key: Value<'static>) -> Value<'static> {
    match key {
        Value::Number(number) => Value::String(number),
        Value::Bool(value) => Value::from(value.to_string()),
        other => other,
    }
}
