//! SARIF 2.1.0, for code scanning of GitHub and other viewers.

use std::collections::BTreeMap;

use krm_core::Severity;
use krm_core::print::json;
use krm_yaml::{Position, Value};

use super::json::{object, positions, text};
use super::{Finding, by_severity};
use crate::explanations;

const SCHEMA: &str = "https://json.schemastore.org/sarif-2.1.0.json";

/// GitHub refuses runs with more results.
const LIMIT: usize = 25_000;

/// The name of the fingerprint and the version of what it is made of.
const FINGERPRINT: &str = "krm/v1";

pub(super) fn write(findings: &[Finding]) -> String {
    // Errors come first: they must not be cut off.
    let shown = &by_severity(findings)[..findings.len().min(LIMIT)];
    let mut rules: BTreeMap<&str, i64> = shown.iter().map(|it| (it.rule.as_str(), 0)).collect();
    rules.values_mut().zip(0..).for_each(|(index, at)| *index = at);
    let driver = object([
        ("name", text("krm")),
        ("semanticVersion", text(env!("CARGO_PKG_VERSION"))),
        ("informationUri", text(env!("CARGO_PKG_REPOSITORY"))),
        ("rules", Value::Sequence(rules.keys().map(|rule| describe(rule)).collect())),
    ]);
    let results = shown.iter().map(|finding| result(finding, rules[finding.rule.as_str()]));
    let mut run = vec![
        ("tool", object([("driver", driver)])),
        ("columnKind", text("unicodeCodePoints")),
        ("results", Value::Sequence(results.collect())),
    ];
    if shown.len() < findings.len() {
        run.push(("invocations", Value::Sequence(vec![cut_off(findings.len() - shown.len())])));
    }
    let run = object(run);
    let log = object([
        ("$schema", text(SCHEMA)),
        ("version", text("2.1.0")),
        ("runs", Value::Sequence(vec![run])),
    ]);
    format!("{}\n", json::display(&log))
}

/// Says how many results are missing.
fn cut_off(count: usize) -> Value<'static> {
    let message = object([("text", text(format!("{count} more findings are left out")))]);
    let notification = object([("level", text("warning")), ("message", message)]);
    object([
        ("executionSuccessful", Value::Bool(true)),
        ("toolExecutionNotifications", Value::Sequence(vec![notification])),
    ])
}

/// A rule with what `krm explain` prints about it. Rules of functions are described by their name only.
fn describe(rule: &str) -> Value<'static> {
    let explanation = explanations::areas().find_map(|area| area.explanation(rule));
    let summary = explanation.map(explanations::summary);
    let summary = summary.unwrap_or_else(|| format!("Reported by the function {rule}."));
    let help = explanation.map_or_else(|| summary.clone(), str::to_owned);
    let help = object([("text", text(help.clone())), ("markdown", text(help))]);
    let mut entries = vec![
        ("id", text(rule)),
        ("name", text(pascal_case(rule))),
        ("shortDescription", object([("text", text(summary.clone()))])),
        ("fullDescription", object([("text", text(summary))])),
        ("help", help),
    ];
    if explanation.is_some() {
        let page = concat!(env!("CARGO_PKG_REPOSITORY"), "/blob/main/docs/errors.md");
        entries.push(("helpUri", text(format!("{page}#{rule}"))));
    }
    object(entries)
}

/// SARIF recommends names of rules in this form.
fn pascal_case(rule: &str) -> String {
    let words = rule.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let capital = |word: &str| {
        let mut chars = word.chars();
        chars.next().map(|first| first.to_uppercase().chain(chars).collect::<String>())
    };
    words.filter_map(capital).collect()
}

fn result(finding: &Finding, rule: i64) -> Value<'static> {
    let level = match finding.diagnostic.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Info => "note",
    };
    let mut entries = vec![
        ("ruleId", text(&finding.rule)),
        ("ruleIndex", Value::int(rule)),
        ("level", text(level)),
        ("message", object([("text", text(finding.text()))])),
        ("locations", Value::Sequence(vec![location(finding)])),
        ("partialFingerprints", object([(FINGERPRINT, text(&finding.fingerprint))])),
    ];
    if let (Some(fix), Some(file)) = (&finding.fix, finding.file()) {
        let replacement = object([
            ("deletedRegion", object(positions(fix.start, fix.end))),
            ("insertedContent", object([("text", text(&fix.text))])),
        ]);
        let change = object([
            ("artifactLocation", artifact(file)),
            ("replacements", Value::Sequence(vec![replacement])),
        ]);
        let fix = object([
            ("description", object([("text", text("Write the proposed value."))])),
            ("artifactChanges", Value::Sequence(vec![change])),
        ]);
        entries.push(("fixes", Value::Sequence(vec![fix])));
    }
    object(entries)
}

fn location(finding: &Finding) -> Value<'static> {
    // Code scanning needs a file; a finding about none is shown at the root of the repository.
    let mut physical = vec![("artifactLocation", artifact(finding.file().unwrap_or(".")))];
    // Viewers also need a region; a finding about a whole file is shown at its start.
    let start = Position { line: 1, column: 1 };
    let own = region(finding).filter(|_| finding.file().is_some());
    let source = own.is_some().then(|| source_line(finding)).flatten();
    physical.push(("region", own.unwrap_or_else(|| object(positions(start, start)))));
    physical.extend(source.map(|line| ("contextRegion", line)));
    let mut entries = vec![("physicalLocation", object(physical))];
    if let Some(resource) = &finding.diagnostic.resource {
        let field = finding.diagnostic.field.as_deref().map(|field| format!("/{field}"));
        let qualified = format!("{resource}{}", field.unwrap_or_default());
        let logical = object([
            ("name", text(&**resource)),
            ("fullyQualifiedName", text(qualified)),
            ("kind", text("resource")),
        ]);
        entries.push(("logicalLocations", Value::Sequence(vec![logical])));
    }
    object(entries)
}

/// The marked text.
fn region(finding: &Finding) -> Option<Value<'static>> {
    let location = finding.diagnostic.location.as_deref()?;
    let marked = location.text.get(location.marked.clone()).unwrap_or_default();
    let width = i64::try_from(marked.chars().count()).unwrap_or(0);
    let column = i64::from(location.column);
    Some(object([
        ("startLine", Value::int(location.line.into())),
        ("startColumn", Value::int(column)),
        ("endColumn", Value::int(column + width.max(1))),
    ]))
}

/// The line of the marked text, for viewers that do not have the file.
fn source_line(finding: &Finding) -> Option<Value<'static>> {
    let location = finding.diagnostic.location.as_deref()?;
    let snippet = object([("text", text(&location.text))]);
    Some(object([("startLine", Value::int(location.line.into())), ("snippet", snippet)]))
}

fn artifact(file: &str) -> Value<'static> {
    let is_absolute = file.starts_with('/');
    let uri = format!("{}{}", if is_absolute { "file://" } else { "" }, percent_encoded(file));
    if is_absolute {
        return object([("uri", text(uri))]);
    }
    object([("uri", text(uri)), ("uriBaseId", text("%SRCROOT%"))])
}

/// Everything but unreserved characters and slashes is encoded. A colon in the first segment would look like a scheme.
fn percent_encoded(path: &str) -> String {
    let mut encoded = String::with_capacity(path.len());
    for byte in path.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                encoded.push(char::from(byte));
            }
            other => encoded.push_str(&format!("%{other:02X}")),
        }
    }
    encoded
}
