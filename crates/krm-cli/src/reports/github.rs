//! Annotations of GitHub Actions, and the step summary for what does not fit.

use std::ffi::OsString;
use std::fs::OpenOptions;
use std::io::Write;

use krm_core::{Diagnostic, Severity};

use super::changes::Changes;
use super::{Finding, markdown};
use crate::cli::ErrorFormat;
use crate::commands::kinds::CommandKind;
use crate::console::format_diagnostic;
use crate::disk::{self, FileKind};

/// GitHub shows at most ten annotations of a level for a step, and drops the others without a message.
const LIMIT: usize = 10;

/// GitHub refuses larger summaries.
const SUMMARY_LIMIT: usize = 1 << 20;

/// The file that GitHub shows as the summary of a step.
const STEP_SUMMARY: &str = "GITHUB_STEP_SUMMARY";

/// Workflow commands: errors first, so that none is dropped for a warning. The last one of a level counts the others.
pub(super) fn write(findings: &[Finding]) -> String {
    let mut out = String::new();
    for severity in [Severity::Error, Severity::Warning, Severity::Info] {
        let same = findings.iter().filter(|it| it.diagnostic.severity == severity);
        let same: Vec<&Finding> = same.collect();
        let (shown, hidden) = match same.len() {
            count if count > LIMIT => (LIMIT - 1, count + 1 - LIMIT),
            count => (count, 0),
        };
        for finding in &same[..shown] {
            out.push_str(&format_diagnostic(&finding.diagnostic, ErrorFormat::Github));
        }
        if hidden > 0 {
            let kind = CommandKind::FindingsOmitted { count: hidden };
            let more = Diagnostic::new(severity, kind);
            out.push_str(&format_diagnostic(&more, ErrorFormat::Github));
        }
    }
    out
}

/// Appends all findings and changes to the summary of the step, if this runs in a workflow.
pub(super) fn append_to_step_summary(
    findings: &[Finding],
    changes: &Changes,
    show_secrets: bool,
) -> Result<(), Diagnostic> {
    let Some(path) = step_summary() else { return Ok(()) };
    let used = std::fs::metadata(&path).map_or(0, |it| usize::try_from(it.len()).unwrap_or(0));
    let limit = SUMMARY_LIMIT.saturating_sub(used);
    let text = markdown::write_within(findings, changes, show_secrets, limit);
    if text.len() > limit {
        // GitHub drops a summary that is too large as a whole.
        return Ok(());
    }
    let appended = OpenOptions::new()
        .append(true)
        .create(true)
        .open(&path)
        .and_then(|mut file| file.write_all(text.as_bytes()));
    appended.map_err(|error| {
        let kind = FileKind::CannotCreate { reason: disk::io_reason(&error) };
        Diagnostic::error(kind).in_file(path.to_string_lossy().into_owned())
    })
}

/// The file of the step summary, in a workflow.
pub(super) fn step_summary() -> Option<OsString> {
    std::env::var_os(STEP_SUMMARY).filter(|path| !path.is_empty())
}
