//! Conversions of Rust values into [`Value`].

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};

use super::Value;
use crate::node_ref::NodeRef;

impl<'a> From<&'a str> for Value<'a> {
    fn from(text: &'a str) -> Self {
        Self::String(text.into())
    }
}

impl From<String> for Value<'_> {
    fn from(text: String) -> Self {
        Self::String(text.into())
    }
}

impl<'a> From<&'a String> for Value<'a> {
    fn from(text: &'a String) -> Self {
        Self::String(text.into())
    }
}

impl<'a> From<Cow<'a, str>> for Value<'a> {
    fn from(text: Cow<'a, str>) -> Self {
        Self::String(text)
    }
}

impl From<bool> for Value<'_> {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

macro_rules! integers {
    ($($integer:ty)*) => {$(
        impl From<$integer> for Value<'_> {
            fn from(number: $integer) -> Self {
                Self::Number(number.to_string().into())
            }
        }
    )*};
}

integers! { i8 i16 i32 i64 i128 isize u8 u16 u32 u64 u128 usize }

/// A float is written so that it is read as one again: `3.0`, `.inf`.
impl From<f64> for Value<'_> {
    fn from(number: f64) -> Self {
        Self::Number(match number {
            number if number.is_nan() => ".nan".into(),
            f64::INFINITY => ".inf".into(),
            f64::NEG_INFINITY => "-.inf".into(),
            // The debug format always has a point or an exponent, the display format does not.
            number => format!("{number:?}").into(),
        })
    }
}

impl From<f32> for Value<'_> {
    fn from(number: f32) -> Self {
        match number.is_finite() {
            // The shortest digits that are this `f32`; as `f64` there would be more of them.
            true => Self::Number(format!("{number:?}").into()),
            false => f64::from(number).into(),
        }
    }
}

/// `None` is null.
impl<'a, T: Into<Value<'a>>> From<Option<T>> for Value<'a> {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

impl<'a, T: Into<Value<'a>>> From<Vec<T>> for Value<'a> {
    fn from(items: Vec<T>) -> Self {
        Self::Sequence(items.into_iter().map(Into::into).collect())
    }
}

impl<'a, T: Into<Value<'a>>, const N: usize> From<[T; N]> for Value<'a> {
    fn from(items: [T; N]) -> Self {
        Self::Sequence(items.into_iter().map(Into::into).collect())
    }
}

impl<'a, T: Clone + Into<Value<'a>>> From<&[T]> for Value<'a> {
    fn from(items: &[T]) -> Self {
        Self::Sequence(items.iter().cloned().map(Into::into).collect())
    }
}

impl<'a, K: Into<Value<'a>>, V: Into<Value<'a>>> From<BTreeMap<K, V>> for Value<'a> {
    fn from(entries: BTreeMap<K, V>) -> Self {
        entries.into_iter().collect()
    }
}

/// The entries are sorted, so that they are written in the same order each time.
impl<'a, K: Into<Value<'a>> + Ord, V: Into<Value<'a>>, S> From<HashMap<K, V, S>> for Value<'a> {
    fn from(entries: HashMap<K, V, S>) -> Self {
        entries.into_iter().collect::<BTreeMap<K, V>>().into()
    }
}

/// A mapping, in the order of the entries.
impl<'a, K: Into<Value<'a>>, V: Into<Value<'a>>> FromIterator<(K, V)> for Value<'a> {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(entries: I) -> Self {
        let entry = |(key, value): (K, V)| (key.into(), value.into());
        Self::Mapping(entries.into_iter().map(entry).collect())
    }
}

impl<'a> From<NodeRef<'a>> for Value<'a> {
    fn from(node: NodeRef<'a>) -> Self {
        Self::Node(node)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written<'a>(value: impl Into<Value<'a>>) -> String {
        let file = crate::File::parse("a: 1\nx: ~\n".to_owned()).unwrap();
        let mut edit = crate::Edit::new(&file);
        edit.set(file.get("x").unwrap(), value.into()).unwrap();
        let text = edit.apply().unwrap();
        text.strip_prefix("a: 1\nx:").unwrap().trim_start_matches(' ').to_owned()
    }

    #[test]
    fn values_of_all_types_are_written_and_read_as_their_types() {
        assert_eq!(written(String::from("5")), "\"5\"\n");
        assert_eq!(written(5_u16), "5\n");
        assert_eq!(written(u128::MAX), "340282366920938463463374607431768211455\n");
        assert_eq!(written(3.0), "3.0\n");
        assert_eq!(written(0.1_f32), "0.1\n");
        assert_eq!(written(f64::NEG_INFINITY), "-.inf\n");
        assert_eq!(written(1e300), "1e300\n");
        assert_eq!(written(vec![Some("a"), None]), "\n- a\n- null\n");
        assert_eq!(written(["a", "b"]), "\n- a\n- b\n");
        assert_eq!(written(BTreeMap::from([("b", 1), ("a", 2)])), "\n  a: 2\n  b: 1\n");
        assert_eq!(written(HashMap::from([("b", 1), ("a", 2)])), "\n  a: 2\n  b: 1\n");
    }
}
