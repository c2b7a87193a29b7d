//! A value of any type in a functionConfig.

use std::fmt;

use krm_yaml::{ScalarType, Value};
use serde::de::{Deserializer, MapAccess, SeqAccess, Visitor};
use serde::ser::{Error as _, SerializeMap as _};
use serde::{Deserialize, Serialize, Serializer};

/// A value of any type, ready to be set somewhere. It can also be serialized, for a template or a typed object.
///
/// ```
/// use krm_sdk::{Any, Resource};
///
/// #[derive(serde::Deserialize)]
/// struct Config {
///     value: Any,
/// }
///
/// let config = Resource::parse("apiVersion: a/v1\nkind: Set\nvalue: {a: [1, b]}\n")?;
/// let config: Config = config.read_config()?;
/// let mut resource = Resource::parse("apiVersion: v1\nkind: Pod\n")?;
/// resource.set("spec", config.value.0)?;
/// assert_eq!(resource.get_text("spec.a[1]")?.as_deref(), Some("b"));
/// # Ok::<(), krm_sdk::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Any(pub Value<'static>);

/// The name by which our deserializer recognizes [`Any`]. It passes numbers as they are written, so that no digit is lost.
pub(crate) const NAME: &str = "$krm::Any";

impl<'de> Deserialize<'de> for Any {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_newtype_struct(NAME, AnyVisitor)
    }
}

impl Serialize for Any {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        AnyRef(&self.0).serialize(serializer)
    }
}

/// A borrowed value that can be serialized.
pub(crate) struct AnyRef<'v>(pub(crate) &'v Value<'v>);

impl Serialize for AnyRef<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Value::Null => serializer.serialize_unit(),
            Value::Bool(value) => serializer.serialize_bool(*value),
            Value::String(text) => serializer.serialize_str(text),
            Value::Number(text) => match ScalarType::of_plain(text) {
                ScalarType::Int(Some(number)) => {
                    match (i64::try_from(number), u64::try_from(number)) {
                        (Ok(number), _) => serializer.serialize_i64(number),
                        (_, Ok(number)) => serializer.serialize_u64(number),
                        _ => serializer.serialize_i128(number),
                    }
                }
                ScalarType::Float(number) => serializer.serialize_f64(number),
                _ => Err(S::Error::custom(format!("`{text}` is not a number of 128 bits"))),
            },
            Value::Sequence(items) => serializer.collect_seq(items.iter().map(AnyRef)),
            Value::Mapping(entries) => {
                let mut map = serializer.serialize_map(Some(entries.len()))?;
                for (key, value) in entries {
                    map.serialize_entry(&AnyRef(key), &AnyRef(value))?;
                }
                map.end()
            }
            Value::Node(_) | Value::OwnedNode(_) => {
                let value = self.0.clone().into_owned().map_err(S::Error::custom)?;
                AnyRef(&value).serialize(serializer)
            }
        }
    }
}

struct AnyVisitor;

impl<'de> Visitor<'de> for AnyVisitor {
    type Value = Any;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(self, inner: D) -> Result<Any, D::Error> {
        inner.deserialize_any(self)
    }

    /// A number as it is written; see [`NAME`].
    fn visit_bytes<E>(self, number: &[u8]) -> Result<Any, E> {
        let number = String::from_utf8_lossy(number).into_owned();
        Ok(Any(Value::Number(number.into())))
    }

    fn visit_unit<E>(self) -> Result<Any, E> {
        Ok(Any(Value::Null))
    }

    fn visit_bool<E>(self, value: bool) -> Result<Any, E> {
        Ok(Any(Value::Bool(value)))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Any, E> {
        Ok(Any(Value::int(number)))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Any, E> {
        Ok(Any(Value::Number(number.to_string().into())))
    }

    fn visit_i128<E>(self, number: i128) -> Result<Any, E> {
        Ok(Any(Value::Number(number.to_string().into())))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Any, E> {
        Ok(Any(Value::Number(number.to_string().into())))
    }

    fn visit_str<E>(self, text: &str) -> Result<Any, E> {
        Ok(Any(Value::String(text.to_owned().into())))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Any, A::Error> {
        let mut all = Vec::new();
        while let Some(Any(item)) = items.next_element()? {
            all.push(item);
        }
        Ok(Any(Value::Sequence(all)))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Any, A::Error> {
        let mut all = Vec::new();
        while let Some((Any(key), Any(value))) = entries.next_entry()? {
            all.push((key, value));
        }
        Ok(Any(Value::Mapping(all)))
    }
}
