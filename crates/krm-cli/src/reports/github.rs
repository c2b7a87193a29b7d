//! Annotations of GitHub Actions, and the step summary for what does not fit.

use std::fs::OpenOptions;
use std::io::Write;

use krm_core::{Diagnostic, Severity};

use super::{Finding, markdown};
use crate::cli::ErrorFormat;
use crate::console::format_diagnostic;
use crate::disk::{self, FileKind};

/// GitHub shows at most ten annotations of a level for a step, and drops the others without a message.
const LIMIT: usize = 10;

/// The file that GitHub shows as the summary of a step.
const STEP_SUMMARY: &str = "GITHUB_STEP_SUMMARY";

/// Workflow commands: errors first, so that none is dropped for a warning.
pub(super) fn write(findings: &[Finding]) -> String {
    let mut out = String::new();
    for severity in [Severity::Error, Severity::Warning, Severity::Info] {
        let same = findings.iter().filter(|it| it.diagnostic.severity == severity);
        for finding in same.take(LIMIT) {
            out.push_str(&format_diagnostic(&finding.diagnostic, ErrorFormat::Github));
        }
    }
    out
}

/// Appends all findings to the summary of the step, if this runs in a workflow.
pub(super) fn append_to_step_summary(findings: &[Finding]) -> Result<(), Diagnostic> {
    let Some(path) = std::env::var_os(STEP_SUMMARY).filter(|path| !path.is_empty()) else {
        return Ok(());
    };
    let appended = OpenOptions::new()
        .append(true)
        .create(true)
        .open(&path)
        .and_then(|mut file| file.write_all(markdown::write(findings).as_bytes()));
    appended.map_err(|error| {
        let kind = FileKind::CannotCreate { reason: disk::io_reason(&error) };
        Diagnostic::error(kind).in_file(path.to_string_lossy().into_owned())
    })
}
