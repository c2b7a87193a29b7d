//! Markdown for a comment on a pull request.

use krm_core::Severity;
use krm_core::print::visible_line;

use super::{Finding, count};

/// GitHub refuses comments of more than 65,536 characters; some room is left for what a workflow adds.
const LIMIT: usize = 60_000;

pub(super) fn write(findings: &[Finding]) -> String {
    let mut out = String::from("### krm\n\n");
    if findings.is_empty() {
        out.push_str("No findings.\n");
        return out;
    }
    let counts = [Severity::Error, Severity::Warning, Severity::Info]
        .map(|severity| (count(findings, severity), severity.name()))
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, name)| format!("{count} {name}{}", if count == 1 { "" } else { "s" }));
    out.push_str(&counts.collect::<Vec<_>>().join(", "));
    out.push_str("\n\n| severity | file | resource | finding |\n|---|---|---|---|\n");
    // Errors come first: they must not be cut off.
    let mut sorted: Vec<&Finding> = findings.iter().collect();
    sorted.sort_by_key(|finding| std::cmp::Reverse(finding.diagnostic.severity));
    for (at, finding) in sorted.iter().enumerate() {
        let row = row(finding);
        if out.len() + row.len() > LIMIT {
            out.push_str(&format!("\n{} more findings are not shown.\n", sorted.len() - at));
            break;
        }
        out.push_str(&row);
    }
    out
}

fn row(finding: &Finding) -> String {
    let line = finding.line().map(|line| format!(":{line}")).unwrap_or_default();
    let file = finding.file().map(|file| code(&format!("{file}{line}"))).unwrap_or_default();
    let subject = finding.subject();
    let subject = if subject.is_empty() { subject } else { code(&subject) };
    let (severity, message) = (finding.diagnostic.severity.name(), finding.diagnostic.message());
    format!("| {severity} | {file} | {subject} | {} ({}) |\n", cell(message), code(&finding.rule))
}

/// Text in a cell of a table, in which nothing is markup.
fn cell(text: &str) -> String {
    let mut escaped = String::new();
    for c in visible_line(&text.replace('\n', " ")).chars() {
        if "\\`*_{}[]<>()#+!|~@".contains(c) {
            escaped.push('\\');
        }
        escaped.push(c);
    }
    escaped
}

/// Text as code. A bar would end the cell, and a backquote the code.
fn code(text: &str) -> String {
    format!("`{}`", visible_line(text).replace('|', "\\|").replace('`', "'"))
}
