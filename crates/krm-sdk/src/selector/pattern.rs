//! Patterns of selectors: exact strings and regular expressions.

use std::fmt;

use krm_core::Diagnostic;
use regex_lite::Regex;
use serde::Deserialize;
use serde::de::{Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};

use crate::Error;
use crate::kinds::SelectorKind;

/// A string that must be equal, or a regular expression that must match. In a functionConfig it is `web`, or `{regex: ^web-}`.
///
/// ```
/// use krm_sdk::Pattern;
///
/// assert!(Pattern::from("web").matches("web") && !Pattern::from("web").matches("web-1"));
/// assert!(Pattern::regex("^web(-[0-9]+)?$")?.matches("web-1"));
/// assert!(Pattern::regex("(").is_err());
/// # Ok::<(), krm_sdk::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Pattern(Kind);

#[derive(Clone, Debug)]
enum Kind {
    Exact(String),
    Regex(Regex),
}

impl Pattern {
    /// A regular expression, which matches anywhere in the string unless it has anchors.
    ///
    /// # Errors
    /// The expression is invalid.
    pub fn regex(expression: &str) -> Result<Self, Error> {
        compile(expression).map_err(|reason| {
            let expression = expression.to_owned();
            Diagnostic::error(SelectorKind::InvalidRegex { expression, reason }).into()
        })
    }

    /// Whether a string matches.
    pub fn matches(&self, text: &str) -> bool {
        match &self.0 {
            Kind::Exact(exact) => exact == text,
            Kind::Regex(regex) => regex.is_match(text),
        }
    }

    fn text(&self) -> (bool, &str) {
        match &self.0 {
            Kind::Exact(exact) => (false, exact),
            Kind::Regex(regex) => (true, regex.as_str()),
        }
    }
}

fn compile(expression: &str) -> Result<Pattern, String> {
    let regex = Regex::new(expression).map_err(|error| error.to_string())?;
    Ok(Pattern(Kind::Regex(regex)))
}

impl<T: Into<String>> From<T> for Pattern {
    fn from(exact: T) -> Self {
        Self(Kind::Exact(exact.into()))
    }
}

impl PartialEq for Pattern {
    fn eq(&self, other: &Self) -> bool {
        self.text() == other.text()
    }
}

impl Eq for Pattern {}

impl<'de> Deserialize<'de> for Pattern {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct PatternVisitor;

        impl<'de> Visitor<'de> for PatternVisitor {
            type Value = Pattern;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string or `regex`")
            }

            fn visit_str<E>(self, text: &str) -> Result<Pattern, E> {
                Ok(text.into())
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Pattern, A::Error> {
                let Some((key, expression)) = map.next_entry::<String, String>()? else {
                    return Err(A::Error::missing_field("regex"));
                };
                if key != "regex" || map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {
                    return Err(A::Error::unknown_field(&key, &["regex"]));
                }
                compile(&expression).map_err(|reason| {
                    let kind = SelectorKind::InvalidRegex { expression, reason };
                    A::Error::custom(kind)
                })
            }
        }
        deserializer.deserialize_any(PatternVisitor)
    }
}

/// One value, or a sequence of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct OneOrMany<T>(pub(crate) Vec<T>);

impl<T> Default for OneOrMany<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for OneOrMany<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct OneOrManyVisitor<T>(std::marker::PhantomData<T>);

        impl<'de, T: Deserialize<'de>> Visitor<'de> for OneOrManyVisitor<T> {
            type Value = OneOrMany<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a value or a sequence of values")
            }

            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<OneOrMany<T>, E> {
                let one = T::deserialize(serde::de::value::StrDeserializer::new(text))?;
                Ok(OneOrMany(vec![one]))
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<OneOrMany<T>, A::Error> {
                let one = T::deserialize(serde::de::value::MapAccessDeserializer::new(map))?;
                Ok(OneOrMany(vec![one]))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<OneOrMany<T>, A::Error> {
                let mut all = Vec::new();
                while let Some(item) = items.next_element()? {
                    all.push(item);
                }
                Ok(OneOrMany(all))
            }
        }
        deserializer.deserialize_any(OneOrManyVisitor(std::marker::PhantomData))
    }
}
