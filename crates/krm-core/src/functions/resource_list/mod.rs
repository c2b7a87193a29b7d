//! The ResourceList protocol: the list that an orchestrator sends to a function, the list that it returns, and the edits between them.
//!
//! [`Items`] are taken from a package, an [`InputList`] is made of them, and [`InputList::apply_output`] turns the function's output into edits
//! of the original text.

pub mod annotations;
mod apply;
mod input;
mod item;
mod item_text;
mod items;
mod kinds;
mod output;
mod pairing;
pub mod results;
pub(crate) mod serialize;
mod strip;
mod version;

pub use apply::{AppliedOutput, OutputError, OutputKind};
pub(crate) use apply::{replace_element, revise_element, to_json};
pub use input::{InputList, InputOptions};
pub use item::Item;
pub use items::Items;
pub use kinds::ResourceListKind;
pub use output::{check_name, parse_results, returned_path};
pub use results::FunctionResult;
pub use strip::without_wire_annotations;
pub use version::Version;
