//! How do I write a function in Rust? Resources, results and configuration of KRM functions, without losing a byte.
//!
//! ```
//! use krm_sdk::{Error, ResourceList};
//!
//! fn scale(list: &mut ResourceList) -> Result<(), Error> {
//!     for deployment in list.items.iter_mut().filter(|it| it.kind() == "Deployment") {
//!         deployment.set("spec.replicas", 3)?;
//!     }
//!     Ok(())
//! }
//! ```

mod batch;
mod comments;
mod config;
mod error;
mod finding;
mod function;
mod generated;
mod list;
mod metadata;
mod outcome;
mod place;
mod process;
mod resource;
pub mod schema;
mod selector;
pub mod stream;
pub mod testing;
mod workload;

pub use config::Any;
pub use error::Error;
pub use finding::Finding;
pub use function::Function;
pub use krm_core::functions::resource_list::{FunctionResult, Item, results};
pub use krm_core::{Diagnostic, PackagePath, Severity};
pub use krm_yaml as yaml;
pub use krm_yaml::CommentPosition;
pub use list::ResourceList;
pub use outcome::Outcome;
pub use process::{run, run_many};
pub use resource::Resource;
pub use selector::Selector;
pub use workload::Container;

/// The page in `docs/`, so that its code is compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/writing-functions.md")]
pub struct WritingFunctions;
