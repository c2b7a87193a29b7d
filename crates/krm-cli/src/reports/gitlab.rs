//! GitLab's code quality report.

use krm_core::Severity;
use krm_core::print::json;
use krm_yaml::Value;

use super::Finding;
use super::json::{object, text};

pub(super) fn write(findings: &[Finding]) -> String {
    let issues = findings.iter().map(|finding| {
        let severity = match finding.diagnostic.severity {
            Severity::Error => "critical",
            Severity::Warning => "minor",
            Severity::Info => "info",
        };
        // GitLab requires a path and a line.
        let lines = object([("begin", Value::int(finding.line().unwrap_or(1).into()))]);
        object([
            ("description", text(finding.text())),
            ("check_name", text(&finding.rule)),
            ("fingerprint", text(&finding.fingerprint)),
            ("severity", text(severity)),
            ("location", object([("path", text(finding.file().unwrap_or("."))), ("lines", lines)])),
        ])
    });
    format!("{}\n", json::display(&Value::Sequence(issues.collect())))
}
