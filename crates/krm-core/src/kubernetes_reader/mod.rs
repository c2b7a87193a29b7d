//! Documents as Kubernetes reads them: `sigs.k8s.io/yaml`, a YAML 1.1 reader that converts every document to JSON.
//!
//! krm reads YAML 1.2. A validator has to judge what a cluster gets, so it is given [`read()`], and reports where the two differ.
//! The table in `tests/kubernetes_reader.tsv` records what the Go reader returns; the test beside it says how to record it again.

mod differences;
mod kinds;
mod line_breaks;
mod numbers;
mod question_marks;
mod read;
mod scalars;

pub use differences::{Difference, find as differences};
pub use kinds::ReaderKind;
pub use read::{Unreadable, is_read_as_written, read};
pub use scalars::resolve;

use krm_yaml::File;

use crate::Diagnostic;
use crate::diagnostics::explain::Area;

/// The errors for text of a file in which Kubernetes reads something that a reader of YAML 1.2 does not see: raw U+0085, U+2028 and
/// U+2029, and `?` at the start of a scalar in a flow collection.
///
/// ```
/// let text = "# harmless\u{2028}hostNetwork: true\n";
/// let file = krm_yaml::File::parse(text.to_owned())?;
/// let found = krm_core::kubernetes_reader::hidden_text(&file);
/// assert_eq!(found[0].message(), "raw U+2028 (line separator) ends a line for Kubernetes, but not in YAML 1.2");
/// # Ok::<(), krm_yaml::ReadError>(())
/// ```
pub fn hidden_text(file: &File) -> Vec<Diagnostic> {
    let mut found = line_breaks::find(file);
    found.extend(question_marks::find(file));
    found
}

/// The kinds of diagnostics about what Kubernetes reads.
pub(crate) const AREA: Area = Area {
    title: "Kubernetes' reader",
    ids: &[ReaderKind::IDS],
    text: include_str!("../../explain/kubernetes_reader.md"),
};
