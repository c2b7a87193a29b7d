//! The wire between an orchestrator and a function: the `ResourceList` that goes out and the one that comes back.

pub mod annotations;
mod apply;
mod input;
mod item;
mod item_text;
mod items;
mod output;
mod pairing;
pub mod results;
pub(crate) mod serialize;
mod version;

pub use apply::{AppliedOutput, OutputError, OutputKind};
pub(crate) use apply::{replace_element, revise_element};
pub use input::{InputList, InputOptions};
pub use item::Item;
pub use items::Items;
pub use output::parse_results;
pub use results::FunctionResult;
pub use version::Version;
