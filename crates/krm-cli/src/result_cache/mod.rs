//! Results of functions on disk, for [`krm_run::ResultCache`], and the index of packages that are already rendered.

mod kinds;
mod render_index;
mod store;

pub(crate) use kinds::CacheKind;
pub(crate) use render_index::{Counts, Input, RenderIndex, RenderedPackage, has_reliable_times};
pub(crate) use store::{DirectoryStore, Usage};
