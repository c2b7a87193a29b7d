//! Write KRM functions in Rust: typed functionConfigs, edits that keep comments and formatting, results with locations.
//!
//! A function takes a [`ResourceList`] and changes it:
//!
//! ```
//! use krm_sdk::{Error, ResourceList, Severity};
//! use serde::Deserialize;
//!
//! #[derive(Deserialize)]
//! struct Config {
//!     replicas: u32,
//! }
//!
//! fn set_replicas(list: &mut ResourceList) -> Result<(), Error> {
//!     let config: Config = list.config()?;
//!     for deployment in list.of_kind_mut("Deployment") {
//!         deployment.set("spec.replicas", config.replicas)?;
//!     }
//!     if config.replicas == 1 {
//!         list.add_result(Severity::Warning, "a single replica is not highly available");
//!     }
//!     Ok(())
//! }
//!
//! # mod program { use super::*;
//! // src/main.rs: reads stdin and writes stdout, or edits files, as the command line requests.
//! fn main() {
//!     krm_sdk::run(set_replicas)
//! }
//! # }
//!
//! // A test. Comments, quotes and the order of fields are preserved.
//! use krm_sdk::{Resource, testing};
//!
//! # fn main() -> Result<(), Error> {
//! let mut list = testing::list(&["\
//! apiVersion: apps/v1
//! kind: Deployment
//! metadata:
//!   name: web # the shop
//! spec:
//!   replicas: 3 # for now
//! "]);
//! list.function_config = Some(Resource::parse("\
//! apiVersion: example.com/v1
//! kind: SetReplicas
//! replicas: 1
//! ")?);
//! set_replicas(&mut list)?;
//!
//! assert_eq!(list.items[0].text(), "\
//! apiVersion: apps/v1
//! kind: Deployment
//! metadata:
//!   name: web # the shop
//! spec:
//!   replicas: 1 # for now
//! ");
//! assert_eq!(list.results[0].message, "a single replica is not highly available");
//! # Ok(())
//! # }
//! ```
//!
//! # Where to find what
//!
//! | task | item |
//! |---|---|
//! | read the functionConfig | [`ResourceList::config`], [`ResourceList::config_or_default`]; [`schema`] derives its JSON Schema |
//! | select resources | [`ResourceList::select`], [`ResourceList::of_kind`], [`Selector`], [`Pattern`] |
//! | read and change fields | [`Resource::get`], which documents the path syntax, [`Resource::set`], [`Resource::set_in`], [`value!`] |
//! | use typed objects, such as those of `k8s-openapi` | [`Resource::read`], [`Resource::read_at`], [`Resource::write`], [`Resource::set_at`], [`Resource::from_typed`] |
//! | patch resources and containers | [`ResourceList::patch`], [`Patch`], [`JsonPatch`], [`ContainerSelector`] |
//! | report results | [`ResourceList::check`], [`Findings`], [`Error`], [`Context`] |
//! | generate resources, keep what people changed, and prune | [`ResourceList::sync_generated`], [`Generation`] |
//! | write resources and patches as templates | `Templates`, with the feature `templates` |
//! | test a function | [`testing::golden`] on directories of files, [`testing::golden_under`] with krm, kpt and kustomize |
//! | make a program of it | [`run`], [`run_many`], [`Function`] |
//! | read and write a list without a program | [`stream`], the ResourceList of the [KRM function specification](https://github.com/kubernetes-sigs/kustomize/blob/master/cmd/config/docs/api-conventions/functions-spec.md) |
//!
//! # Features
//!
//! Both are off by default, because each adds a dependency.
//!
//! - `templates`: `Templates`, which renders resources and patches in the syntax of Jinja. Values are quoted as YAML needs it, and errors have the
//!   line of the template.
//! - `schemars`: schemas with documentation and defaults, for types that derive `JsonSchema`.
//!
//! The [examples](https://github.com/krm-toolkit/krm/tree/main/crates/krm-sdk/examples) are complete functions with tests.

mod batch;
mod comments;
mod config;
mod error;
mod finding;
mod function;
mod generated;
pub mod kinds;
mod list;
mod metadata;
mod output;
mod patch;
mod process;
mod resource;
pub mod schema;
mod selector;
pub mod stream;
#[cfg(feature = "templates")]
mod templates;
pub mod testing;
mod typed;
mod value;
mod wire_annotations;
mod workload;

pub use config::Any;
pub use error::{Context, Error};
pub use finding::{Finding, Findings, ResultBuilder};
pub use function::Function;
pub use generated::{ConflictSide, GENERATED_BY, Generation, Synced};
pub use krm_core::functions::resource_list::{FunctionResult, Item, results};
pub use krm_core::{Diagnostic, PackagePath, Severity};
pub use krm_yaml as yaml;
pub use krm_yaml::CommentPosition;
pub use list::ResourceList;
pub use output::FunctionOutput;
pub use patch::{ContainerSelector, JsonPatch, JsonPatchOperation, Patch};
pub use process::{run, run_many};
pub use resource::Resource;
pub use selector::{Operator, Pattern, Requirement, Selector};
#[cfg(feature = "templates")]
pub use templates::Templates;
pub use value::to_json;
pub use workload::Container;

use kinds::{ConfigKind, FunctionKind, ResourceKind, SelectorKind, StreamKind, TemplateKind};
use krm_core::diagnostics::explain::Area;

/// The kinds that krm-sdk declares, with their explanations.
pub const EXPLANATIONS: &[Area] = &[Area {
    title: "Functions",
    ids: &[
        FunctionKind::IDS,
        ConfigKind::IDS,
        StreamKind::IDS,
        ResourceKind::IDS,
        SelectorKind::IDS,
        TemplateKind::IDS,
    ],
    text: include_str!("../explain/functions.md"),
}];

/// The guide in `docs/`, so that its examples are compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/writing-functions.md")]
pub struct WritingFunctions;

/// The README, so that its examples are compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct Readme;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_is_explained_with_an_example() {
        let gaps: Vec<String> = EXPLANATIONS.iter().flat_map(Area::gaps).collect();
        assert!(gaps.is_empty(), "{gaps:#?}");
    }
}
