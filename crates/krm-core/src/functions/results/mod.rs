//! What functions found: where in a package each result points, what is kept of a run, and how proposals are applied.

pub mod field;
pub mod finder;
pub mod fixes;
pub mod report;

pub use finder::Finder;
pub use fixes::Fixes;
pub use report::{Ran, Report};
