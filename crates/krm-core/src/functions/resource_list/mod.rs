//! The wire between an orchestrator and a function: the `ResourceList` that goes out and the one that comes back.

mod annotated;
pub mod annotations;
pub mod answer;
pub mod incoming;
pub mod item;
pub mod items;
pub mod matching;
pub mod results;
pub mod sending;
pub mod version;
pub(crate) mod written;

pub use answer::{Answer, Refused};
pub use item::Item;
pub use items::Items;
pub use results::FunctionResult;
pub use sending::{SendOptions, Sending};
pub use version::Version;
