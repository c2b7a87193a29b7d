//! Findings as JSON, with everything that krm knows about them.

use krm_core::Severity;
use krm_core::print::json;
use krm_yaml::{Position, Value};

use super::fix::Fix;
use super::{Finding, count};

/// The version of the format: it changes when a field changes its meaning or goes.
const VERSION: i64 = 1;

pub(super) fn write(findings: &[Finding]) -> String {
    let counts = [Severity::Error, Severity::Warning, Severity::Info].map(|severity| {
        let count = i64::try_from(count(findings, severity)).unwrap_or(i64::MAX);
        (severity.name(), Value::int(count))
    });
    let all = findings.iter().map(|finding| {
        let Value::Mapping(mut entries) = finding.diagnostic.to_value() else {
            return Value::Null;
        };
        entries.insert(0, (Value::from("rule"), Value::from(finding.rule.as_str())));
        entries.push((Value::from("fingerprint"), Value::from(finding.fingerprint.as_str())));
        if let Some(fix) = &finding.fix {
            entries.push((Value::from("fix"), replacement(fix)));
        }
        Value::Mapping(entries)
    });
    let report = object([
        ("version", Value::int(VERSION)),
        ("counts", object(counts)),
        ("findings", Value::Sequence(all.collect())),
    ]);
    format!("{}\n", json::display(&report))
}

/// The text of a fix, and the part of the file that it replaces.
fn replacement(fix: &Fix) -> Value<'static> {
    let mut entries = positions(fix.start, fix.end);
    entries.push(("text", text(&fix.text)));
    object(entries)
}

/// The start and the end of a part of a file, which is not in it. Lines and columns count from one.
pub(super) fn positions(start: Position, end: Position) -> Vec<(&'static str, Value<'static>)> {
    let number = |number: u32| Value::int(number.into());
    vec![
        ("startLine", number(start.line)),
        ("startColumn", number(start.column)),
        ("endLine", number(end.line)),
        ("endColumn", number(end.column)),
    ]
}

/// A mapping with these keys.
pub(super) fn object<'a>(
    entries: impl IntoIterator<Item = (&'static str, Value<'a>)>,
) -> Value<'a> {
    Value::Mapping(entries.into_iter().map(|(key, value)| (Value::from(key), value)).collect())
}

/// A string.
pub(super) fn text(text: impl Into<String>) -> Value<'static> {
    Value::string(text.into())
}
