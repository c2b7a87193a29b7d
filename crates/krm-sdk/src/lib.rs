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

mod config;
mod error;
mod finding;
mod list;
mod resource;

pub use config::Any;
pub use error::Error;
pub use finding::Finding;
pub use krm_core::wire::{FunctionResult, Item, results};
pub use krm_core::{Diagnostic, Severity};
pub use krm_yaml as yaml;
pub use list::ResourceList;
pub use resource::Resource;
