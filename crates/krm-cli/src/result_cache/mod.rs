//! Results of functions on disk and on a server, for [`krm_run::ResultCache`], and the index of packages that are already rendered.

mod kinds;
mod render_index;
mod shared;
mod store;

pub(crate) use kinds::CacheKind;
pub(crate) use render_index::{Counts, Input, RenderIndex, RenderedPackage, has_reliable_times};
pub(crate) use shared::{ServerAddress, SharedServer, open as open_server, uploads_by_variable};
pub(crate) use store::{DirectoryStore, Usage};
