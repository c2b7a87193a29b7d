//! SARIF 2.1.0, for code scanning of GitHub and other viewers.

use std::collections::BTreeMap;

use krm_core::Severity;
use krm_core::print::json;
use krm_yaml::Value;

use super::Finding;
use super::json::{object, text};
use crate::explanations;

const SCHEMA: &str = "https://json.schemastore.org/sarif-2.1.0.json";

/// The name of the fingerprint and the version of what it is made of.
const FINGERPRINT: &str = "krm/v1";

pub(super) fn write(findings: &[Finding]) -> String {
    let mut rules: BTreeMap<&str, i64> = findings.iter().map(|it| (it.rule.as_str(), 0)).collect();
    rules.values_mut().zip(0..).for_each(|(index, at)| *index = at);
    let driver = object([
        ("name", text("krm")),
        ("semanticVersion", text(env!("CARGO_PKG_VERSION"))),
        ("informationUri", text(env!("CARGO_PKG_REPOSITORY"))),
        ("rules", Value::Sequence(rules.keys().map(|rule| describe(rule)).collect())),
    ]);
    let results = findings.iter().map(|finding| result(finding, rules[finding.rule.as_str()]));
    let run = object([
        ("tool", object([("driver", driver)])),
        ("columnKind", text("unicodeCodePoints")),
        ("results", Value::Sequence(results.collect())),
    ]);
    let log = object([
        ("$schema", text(SCHEMA)),
        ("version", text("2.1.0")),
        ("runs", Value::Sequence(vec![run])),
    ]);
    format!("{}\n", json::display(&log))
}

/// A rule with what `krm explain` prints about it. Rules of functions are described by their name only.
fn describe(rule: &str) -> Value<'static> {
    let explanation = explanations::areas().find_map(|area| area.explanation(rule));
    let summary = explanation.map(explanations::summary);
    let summary = summary.unwrap_or_else(|| format!("Reported by the function {rule}."));
    let help = explanation.map_or_else(|| summary.clone(), str::to_owned);
    let help = object([("text", text(help.clone())), ("markdown", text(help))]);
    object([
        ("id", text(rule)),
        ("name", text(pascal_case(rule))),
        ("shortDescription", object([("text", text(summary.clone()))])),
        ("fullDescription", object([("text", text(summary))])),
        ("help", help),
    ])
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
    if let (Some(new), Some(region), Some(file)) =
        (&finding.replacement, region(finding), finding.file())
    {
        let replacement =
            object([("deletedRegion", region), ("insertedContent", object([("text", text(new))]))]);
        let change = object([
            ("artifactLocation", artifact(file)),
            ("replacements", Value::Sequence(vec![replacement])),
        ]);
        let fix = object([
            ("description", object([("text", text(format!("write {new}")))])),
            ("artifactChanges", Value::Sequence(vec![change])),
        ]);
        entries.push(("fixes", Value::Sequence(vec![fix])));
    }
    object(entries)
}

fn location(finding: &Finding) -> Value<'static> {
    // Code scanning needs a file; a finding about none is shown at the root of the repository.
    let mut physical = vec![("artifactLocation", artifact(finding.file().unwrap_or(".")))];
    if let Some(region) = region(finding).filter(|_| finding.file().is_some()) {
        physical.push(("region", region));
    }
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
