//! The JSON schema of a functionConfig, from the type that a function asks for.
//!
//! `--schema` calls the function with nothing in its list; where it asks for its functionConfig, the type is looked at
//! and the function ends. So there is nothing to derive, and nothing that could say something else than what is read.

mod shape;
mod trace;

use std::cell::RefCell;

use krm_yaml::Value;
use serde::de::DeserializeOwned;

use crate::{Error, ResourceList};

thread_local! {
    /// Whether a schema is asked for, and the one that was given.
    static ASKED: RefCell<Option<Option<Value<'static>>>> = const { RefCell::new(None) };
}

/// The schema of a type, as JSON Schema (2020-12) of a resource with its fields.
///
/// ```
/// #[derive(serde::Deserialize)]
/// struct Config {
///     replicas: u8,
///     #[serde(default)]
///     names: Vec<String>,
/// }
///
/// let schema = krm_core::print::json::write(&krm_sdk::schema::of::<Config>());
/// assert!(schema.contains(r#""replicas":{"type":"integer","minimum":0,"maximum":255}"#));
/// assert!(schema.contains(r#""names":{"type":"array","items":{"type":"string"}}"#));
/// assert!(schema.contains(r#""required":["apiVersion","kind","replicas"]"#));
/// ```
pub fn of<T: DeserializeOwned>() -> Value<'static> {
    shape::document(&trace::trace::<T>())
}

/// The schema of the functionConfig that a function asks for; none where it asks for none.
pub(crate) fn of_function(run: impl FnOnce(&mut ResourceList)) -> Option<Value<'static>> {
    ASKED.with(|asked| *asked.borrow_mut() = Some(None));
    run(&mut ResourceList::default());
    ASKED.with(|asked| asked.borrow_mut().take()).flatten()
}

/// Answers the question for a schema, where there is one: the function ends with an error.
pub(crate) fn answer<T: DeserializeOwned>() -> Result<(), Error> {
    if ASKED.with(|asked| asked.borrow().is_none()) {
        return Ok(());
    }
    let schema = of::<T>();
    ASKED.with(|asked| *asked.borrow_mut() = Some(Some(schema)));
    Err(Error::new("only the schema of the functionConfig was asked for"))
}

#[cfg(test)]
mod tests;
