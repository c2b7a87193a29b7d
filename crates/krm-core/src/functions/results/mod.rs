//! Results of functions: the resource and field that each one is about, the report of a run, and the fixes that results propose.

mod field;
mod fixes;
mod kinds;
mod locate;
mod report;

pub use field::FieldLookup;
pub use fixes::{Fixes, PackageResult};
pub use kinds::ResultKind;
pub use locate::{LocatedResult, ResultLocator};
pub use report::{FunctionRecord, RunReport};
