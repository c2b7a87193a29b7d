//! Markdown for a comment on a pull request: the findings, and what changes.

use krm_core::Severity;
use krm_core::print::visible_line;

use super::changes::{ChangedResource, Changes};
use super::{Finding, by_severity, count};

/// GitHub refuses comments of more than 65,536 characters; some room is left for what a workflow adds.
const LIMIT: usize = 60_000;

/// If there are changes to show, findings leave this part of the space to them.
const FINDINGS_SHARE: usize = 2;

/// The bytes that closing tags and the numbers of what is left out need.
const RESERVE: usize = 300;

pub(super) fn write(findings: &[Finding], changes: &Changes, show_secrets: bool) -> String {
    write_within(findings, changes, show_secrets, LIMIT)
}

/// The same with another limit in bytes.
pub(super) fn write_within(
    findings: &[Finding],
    changes: &Changes,
    show_secrets: bool,
    limit: usize,
) -> String {
    let resources = changes.resources(show_secrets);
    let limit = limit.saturating_sub(RESERVE);
    let mut out = String::from("### krm\n\n");
    out.push_str(&summary(findings, &resources));
    if !findings.is_empty() {
        let share = if resources.is_empty() { limit } else { limit / FINDINGS_SHARE };
        write_findings(findings, share, &mut out);
    }
    if !resources.is_empty() {
        write_changes(&resources, &changes.authors.functions, limit, &mut out);
    }
    out
}

/// `1 error, 2 warnings; 3 resources changed`
fn summary(findings: &[Finding], resources: &[ChangedResource]) -> String {
    let counts = [Severity::Error, Severity::Warning, Severity::Info]
        .map(|severity| (count(findings, severity), severity.name()))
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, name)| plural(count, name));
    let mut parts = vec![counts.collect::<Vec<_>>().join(", ")];
    if findings.is_empty() {
        parts = vec!["No findings".to_owned()];
    }
    for verb in ["changed", "created", "deleted"] {
        let count = resources.iter().filter(|it| it.verb() == verb).count();
        parts.extend((count > 0).then(|| format!("{} {verb}", plural(count, "resource"))));
    }
    format!("{}.\n", parts.join("; "))
}

fn plural(count: usize, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

/// A table. Errors come first: they must not be cut off.
fn write_findings(findings: &[Finding], limit: usize, out: &mut String) {
    out.push_str("\n| severity | file | resource | finding |\n|---|---|---|---|\n");
    for (at, finding) in by_severity(findings).into_iter().enumerate() {
        let row = row(finding);
        if out.len() + row.len() > limit {
            let more = plural(findings.len() - at, "more finding");
            out.push_str(&format!("\n{more} not shown.\n"));
            break;
        }
        out.push_str(&row);
    }
}

fn row(finding: &Finding) -> String {
    let line = finding.line().map(|line| format!(":{line}")).unwrap_or_default();
    let code = |text: &str| code(text).replace('|', "\\|");
    let file = finding.file().map(|file| code(&format!("{file}{line}"))).unwrap_or_default();
    let subject = finding.subject();
    let subject = if subject.is_empty() { subject } else { code(&subject) };
    let (severity, message) = (finding.diagnostic.severity.name(), finding.diagnostic.message());
    format!("| {severity} | {file} | {subject} | {} ({}) |\n", cell(message), code(&finding.rule))
}

/// A collapsed section for each package, with the changed fields of its resources.
fn write_changes(
    resources: &[ChangedResource],
    functions: &[String],
    limit: usize,
    out: &mut String,
) {
    let mut shown = 0;
    for package in resources.chunk_by(|a, b| a.package == b.package) {
        let name = html(&package[0].package);
        let count = plural(package.len(), "resource");
        let start = format!("\n<details><summary><code>{name}</code>: {count}</summary>\n\n");
        let end = "\n</details>\n";
        let mut inside = String::new();
        for resource in package {
            let section = section(resource, functions);
            let length = out.len() + start.len() + inside.len() + section.len() + end.len();
            if length > limit {
                break;
            }
            inside.push_str(&section);
            shown += 1;
        }
        if inside.is_empty() {
            break;
        }
        out.push_str(&[&start, &inside, end].concat());
    }
    if shown < resources.len() {
        let more = plural(resources.len() - shown, "more resource");
        out.push_str(&format!("\n{more} not shown.\n"));
    }
}

/// A resource: its file, the functions that changed it, and its fields as a diff.
fn section(resource: &ChangedResource, functions: &[String]) -> String {
    let by = resource.functions().into_iter().filter_map(|at| functions.get(at));
    let by: Vec<String> = by.map(|it| code(it.rsplit('/').next().unwrap_or_default())).collect();
    let by = if by.is_empty() { String::new() } else { format!(" by {}", by.join(", ")) };
    let (title, file) = (code(&resource.title), code(&resource.file));
    let heading = format!("{title} in {file}: {}{by}\n", resource.verb());
    if resource.fields.is_empty() {
        let what = match resource.verb() {
            "changed" => "\nOnly comments or formatting change.\n\n",
            _ => "\n",
        };
        return format!("{heading}{what}");
    }
    let lines: String =
        resource.fields.iter().map(|field| format!("{}\n", visible_line(field))).collect();
    // The fence is longer than every run of backquotes inside.
    let runs = lines.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(runs.max(2) + 1);
    format!("{heading}{fence}diff\n{lines}{fence}\n\n")
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

/// Text as code, which a backquote would end.
fn code(text: &str) -> String {
    format!("`{}`", visible_line(text).replace('`', "'"))
}

/// Text in an element of HTML.
fn html(text: &str) -> String {
    let text = visible_line(text);
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('`', "&#96;")
}
