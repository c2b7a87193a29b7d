//! Documents as Kubernetes reads them: `sigs.k8s.io/yaml`, a YAML 1.1 reader that converts every document to JSON.
//!
//! krm reads YAML 1.2. A validator has to judge what a cluster gets, so it is given [`read()`], and reports where the two differ.
//! The table in `tests/kubernetes_reader.tsv` records what the Go reader returns; the test beside it says how to record it again.

mod differences;
mod kinds;
mod line_breaks;
mod numbers;
mod read;
mod scalars;

pub use differences::{Difference, find as differences};
pub use kinds::ReaderKind;
pub use line_breaks::find as line_breaks;
pub use read::{Unreadable, is_read_as_written, read};
pub use scalars::resolve;

use crate::diagnostics::explain::Area;

/// The kinds of diagnostics about what Kubernetes reads.
pub(crate) const AREA: Area = Area {
    title: "Kubernetes' reader",
    ids: &[ReaderKind::IDS],
    text: include_str!("../../explain/kubernetes_reader.md"),
};
