//! The wire between an orchestrator and a function: the `ResourceList` that goes out and the one that comes back.

pub mod annotations;
pub mod incoming;
pub mod item;
pub mod matching;
pub mod results;
pub mod sending;
pub mod version;

pub use item::Item;
pub use results::FunctionResult;
pub use version::Version;
