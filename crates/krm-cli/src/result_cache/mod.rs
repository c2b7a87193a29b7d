//! Results of functions on disk, for [`krm_run::ResultCache`].

mod kinds;
mod store;

pub(crate) use kinds::CacheKind;
pub(crate) use store::{DirectoryStore, Usage};
