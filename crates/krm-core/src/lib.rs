//! What Kubernetes configuration means and what it should become: diagnostics, plans, and what is found in a document.
//!
//! Nothing here reads a disk or prints: text and trees come in, values go out.

pub mod diagnostic;
pub mod dialect;
pub mod duplicates;
pub mod json;
pub mod missing;
pub mod plan;
pub mod secrets;
pub mod subtree;

pub use diagnostic::{Diagnostic, Location, Severity};
pub use plan::{Action, Change, Plan};
