//! The JSON Schema of a functionConfig, derived from the type as which a function reads it.
//!
//! `--schema` calls the function with an empty list. Where it reads its functionConfig, the type is traced and the call ends. So
//! the schema always agrees with what is read, and authors derive nothing but `Deserialize`.
//!
//! The alternative, `schemars`, needs a second derive on every type of a functionConfig and a `JsonSchema` bound on
//! [`crate::ResourceList::config`], which types of other crates rarely meet; and it describes the type without the conventions
//! of [`crate::ResourceList::config`] (`spec`, kinds as variants), which would have to be added here all the same.

mod json_schema;
mod trace;
mod tracer;

use std::cell::RefCell;

use krm_yaml::Value;
use serde::de::DeserializeOwned;

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
/// let schema = krm_core::print::json::display(&krm_sdk::schema::of::<Config>());
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
