//! The functionConfig as a type: from a custom resource or the data of a ConfigMap, with every mistake told at its place.
//!
//! - A custom resource gives the fields beside `apiVersion`, `kind` and `metadata`, or those of its `spec` where it has nothing
//!   else. A type that names `spec` or `metadata` itself gets those.
//! - A ConfigMap gives its `data`. Its texts are read as numbers, booleans, lists and mappings where the type wants such.
//! - An enum is read by the kind: each variant is one that the function knows.
//! - A field that is null is one that is missing. One that the type does not know is refused, at any depth.

mod access;
mod any;
mod body;
mod node;
mod problem;
mod words;

use krm_core::Diagnostic;
use serde::de::DeserializeOwned;

pub use any::Any;
pub(crate) use any::NAME as ANY;
use body::Body;
use node::Reading;

use crate::{Error, Resource, ResourceList, schema};

impl ResourceList {
    /// The functionConfig as a type; it is an error if there is none.
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
    /// assert_eq!(error.diagnostics[0].message(), "`replica` is no field of the functionConfig");
    /// assert_eq!(error.diagnostics[0].hints, ["did you mean `replicas`?"]);
    /// # Ok::<(), krm_sdk::Error>(())
    /// ```
    ///
    /// A function that knows several kinds has an enum of them.
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
        schema::answer::<T>()?;
        match &self.function_config {
            Some(config) => config.read_config(),
            None => Err(Diagnostic::untyped_error("this function needs a functionConfig")
                .hint("give it a custom resource, or a ConfigMap with its fields as `data`")
                .into()),
        }
    }

    /// The functionConfig as a type, or the type's default where there is none.
    pub fn config_or_default<T: DeserializeOwned + Default>(&self) -> Result<T, Error> {
        schema::answer::<T>()?;
        match &self.function_config {
            Some(config) => config.read_config(),
            None => Ok(T::default()),
        }
    }
}

impl Resource {
    /// The resource as the configuration of a function: [`ResourceList::config`] is this of the functionConfig.
    pub fn read_config<T: DeserializeOwned>(&self) -> Result<T, Error> {
        let reading = Reading::default();
        let read = T::deserialize(Body { root: self.root(), reading: &reading });
        let mut problems = reading.problems.into_inner();
        let value = match read {
            Ok(value) if problems.is_empty() => return Ok(value),
            Ok(_) => None,
            Err(problem) => Some(problem),
        };
        problems.extend(value);
        let told = problems.into_iter().map(|problem| self.tell(problem));
        Err(told.collect::<Vec<_>>().into())
    }

    fn tell(&self, problem: problem::Problem) -> Diagnostic {
        let mut told = Diagnostic::untyped_error(problem.message);
        if let Some(span) = problem.span {
            told = told.at(self.item().file(), span);
        }
        told.file = self.path().map(|path| path.as_str().into());
        told.resource = Some(self.view().label().into());
        told.field = problem.field.map(Into::into);
        problem.hints.into_iter().fold(told, Diagnostic::hint)
    }
}

#[cfg(test)]
mod tests;
