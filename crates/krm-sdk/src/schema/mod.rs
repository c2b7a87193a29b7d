//! The JSON Schema of a functionConfig, derived from the type as which a function reads it.
//!
//! `--schema` calls the function with an empty list. Where it reads its functionConfig, the type is traced and the call ends. So
//! the schema always agrees with what is read, and authors derive nothing but `Deserialize`.
//!
//! `serde` does not know documentation and defaults. A type that derives `JsonSchema`, too, has them with the feature `schemars`; it is
//! not required, because types of other crates rarely derive it.
//!
//! A schema accepts every form that [`crate::ResourceList::config`] reads: fields at the top level, in `spec`, or in the `data` of a
//! ConfigMap, where every value may be a string.

#[cfg(feature = "schemars")]
mod documented;
mod forms;
mod json_schema;
mod trace;
mod tracer;

use std::cell::RefCell;

use krm_yaml::Value;
use serde::de::DeserializeOwned;

#[cfg(feature = "schemars")]
pub use documented::of_documented;

use crate::{Error, ResourceList};

thread_local! {
    /// Whether a schema is requested, and the captured one.
    static REQUEST: RefCell<Option<Option<Value<'static>>>> = const { RefCell::new(None) };
}

/// The JSON Schema (2020-12) of a resource with the fields of a type.
///
/// ```
/// #[derive(serde::Deserialize)]
/// struct Config {
///     replicas: u8,
///     #[serde(default)]
///     names: Vec<String>,
/// }
///
/// let schema = krm_sdk::to_json(&krm_sdk::schema::of::<Config>());
/// assert!(schema.contains(r#""replicas":{"type":"integer","minimum":0,"maximum":255}"#));
/// assert!(schema.contains(r#""names":{"type":"array","items":{"type":"string"}}"#));
/// assert!(schema.contains(r#""required":["apiVersion","kind","replicas"]"#));
/// ```
pub fn of<T: DeserializeOwned>() -> Value<'static> {
    json_schema::document(&trace::trace::<T>())
}

/// The schema of the functionConfig that a function reads; none if it reads none.
pub(crate) fn of_function(run: impl FnOnce(&mut ResourceList)) -> Option<Value<'static>> {
    REQUEST.with(|request| *request.borrow_mut() = Some(None));
    run(&mut ResourceList::default());
    REQUEST.with(|request| request.borrow_mut().take()).flatten()
}

/// Captures the schema if one is requested. The error ends the function, of which only the type is needed.
pub(crate) fn capture<T: DeserializeOwned>() -> Result<(), Error> {
    if REQUEST.with(|request| request.borrow().is_none()) {
        return Ok(());
    }
    let schema = of::<T>();
    REQUEST.with(|request| *request.borrow_mut() = Some(Some(schema)));
    Err(Error::new("stopped after the schema of the functionConfig was captured"))
}

#[cfg(test)]
mod tests;
