//! Reading a functionConfig into a type, from a custom resource or the data of a ConfigMap. Every error has a location.
//!
//! - Of a custom resource the type gets the fields beside `apiVersion`, `kind` and `metadata`, or those of `spec` if there are
//!   no others. A type that has a field `spec` or `metadata` gets that.
//! - Of a ConfigMap the type gets `data`. Strings are read as numbers, booleans, sequences and mappings if the type needs that.
//! - The variants of an enum are the kinds that the function accepts.
//! - A null field counts as missing. An unknown field is an error, at any depth.

mod access;
mod any;
mod describe;
mod error;
mod node;
mod root;

use krm_core::Diagnostic;
use krm_yaml::NodeRef;
use serde::de::DeserializeOwned;

pub use any::Any;
pub(crate) use any::AnyRef;
pub(crate) use any::NAME as ANY;
use error::{ConfigError, Owner};
pub(crate) use node::ReadMode;
use node::{MAX_DEPTH, NodeDeserializer, ReadState};
use root::RootDeserializer;

use crate::kinds::ConfigKind;
use crate::{Error, Resource, ResourceList, schema};

impl ResourceList {
    /// Reads the functionConfig into a type; an error if there is none.
    ///
    /// ```
    /// use krm_sdk::{Resource, ResourceList};
    ///
    /// #[derive(serde::Deserialize)]
    /// #[serde(rename_all = "camelCase")]
    /// struct SetReplicas {
    ///     replicas: u32,
    ///     #[serde(default)]
    ///     dry_run: bool,
    /// }
    ///
    /// let mut list = ResourceList::default();
    /// let text = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\ndata:\n  replicas: \"3\"\n";
    /// list.function_config = Some(Resource::parse(text)?);
    /// let config: SetReplicas = list.config()?;
    /// assert_eq!((config.replicas, config.dry_run), (3, false));
    ///
    /// let text = "apiVersion: example.com/v1\nkind: SetReplicas\nreplica: 3\n";
    /// list.function_config = Some(Resource::parse(text)?);
    /// let error = list.config::<SetReplicas>().err().expect("the field is misspelled");
    /// assert_eq!(error.diagnostics[0].message(), "unknown field `replica` in the functionConfig");
    /// assert_eq!(error.diagnostics[0].hints, ["did you mean `replicas`?"]);
    /// # Ok::<(), krm_sdk::Error>(())
    /// ```
    ///
    /// A function that accepts several kinds reads an enum.
    ///
    /// ```
    /// # use krm_sdk::{Resource, ResourceList};
    /// #[derive(serde::Deserialize, Debug, PartialEq)]
    /// enum Config {
    ///     SetName { name: String },
    ///     ConfigMap(std::collections::BTreeMap<String, String>),
    /// }
    ///
    /// let mut list = ResourceList::default();
    /// let text = "apiVersion: example.com/v1\nkind: SetName\nspec:\n  name: web\n";
    /// list.function_config = Some(Resource::parse(text)?);
    /// assert_eq!(list.config::<Config>()?, Config::SetName { name: "web".to_owned() });
    /// # Ok::<(), krm_sdk::Error>(())
    /// ```
    pub fn config<T: DeserializeOwned>(&self) -> Result<T, Error> {
        schema::capture::<T>()?;
        match &self.function_config {
            Some(config) => config.read_config(),
            None => Err(Diagnostic::error(ConfigKind::Missing).into()),
        }
    }

    /// Reads the functionConfig into a type, or returns the default if there is none.
    pub fn config_or_default<T: DeserializeOwned + Default>(&self) -> Result<T, Error> {
        schema::capture::<T>()?;
        match &self.function_config {
            Some(config) => config.read_config(),
            None => Ok(T::default()),
        }
    }
}

impl Resource {
    /// Reads this resource into a type, as [`ResourceList::config`] does with the functionConfig.
    pub fn read_config<T: DeserializeOwned>(&self) -> Result<T, Error> {
        self.read_function_config(false)
    }

    /// Reads `data` into a type as [`Resource::read_config`] does for a ConfigMap, whatever the kind of this resource.
    ///
    /// ```
    /// use std::collections::BTreeMap;
    /// use krm_sdk::Resource;
    ///
    /// let settings = Resource::parse("apiVersion: example.com/v1\nkind: Settings\ndata:\n  size: 3\n")?;
    /// let data: BTreeMap<String, String> = settings.read_data()?;
    /// assert_eq!(data["size"], "3");
    /// # Ok::<(), krm_sdk::Error>(())
    /// ```
    pub fn read_data<T: DeserializeOwned>(&self) -> Result<T, Error> {
        self.read_function_config(true)
    }

    fn read_function_config<T: DeserializeOwned>(&self, is_config_map: bool) -> Result<T, Error> {
        let state = ReadState::new(ReadMode::Strict);
        let root = RootDeserializer { root: self.root(), state: &state, is_config_map };
        let read = T::deserialize(root);
        finish(self, read, state, &Owner::Config)
    }

    fn read_diagnostic(&self, error: ConfigError, owner: &Owner) -> Diagnostic {
        let mut diagnostic = Diagnostic::error(error.kind(self.root(), owner));
        if let Some(span) = error.span {
            diagnostic = diagnostic.at(self.item().file(), span);
        }
        diagnostic.file = self.path().map(|path| path.as_str().into());
        diagnostic.resource = Some(self.view().label().into());
        diagnostic.field = error.field.map(Into::into);
        error.hints.into_iter().fold(diagnostic, Diagnostic::hint)
    }
}

/// Reads a node of a resource into a type.
pub(crate) fn read_node<T: DeserializeOwned>(
    resource: &Resource,
    node: NodeRef<'_>,
    mode: ReadMode,
) -> Result<T, Error> {
    let state = ReadState::new(mode);
    let deserializer = NodeDeserializer {
        node,
        state: &state,
        from_string: false,
        depth: MAX_DEPTH,
        number_as_string: false,
    };
    let read = T::deserialize(deserializer).map_err(|error| error.at(node));
    finish(resource, read, state, &Owner::Resource(resource.display_name()))
}

fn finish<T>(
    resource: &Resource,
    read: Result<T, ConfigError>,
    state: ReadState,
    owner: &Owner,
) -> Result<T, Error> {
    let mut errors = state.errors.into_inner();
    match read {
        Ok(value) if errors.is_empty() => return Ok(value),
        Ok(_) => {}
        Err(error) => errors.push(error),
    }
    let diagnostics = errors.into_iter().map(|error| resource.read_diagnostic(error, owner));
    Err(Error::of_diagnostics(diagnostics.collect()))
}

#[cfg(test)]
mod tests;
