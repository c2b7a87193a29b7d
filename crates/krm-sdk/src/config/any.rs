//! A value of any type in a functionConfig.

use std::fmt;

use krm_yaml::Value;
use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, SeqAccess, Visitor};

/// A value of any type, ready to be set somewhere.
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
