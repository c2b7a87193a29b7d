//! Findings as JSON, with everything that krm knows about them.

use krm_core::Severity;
use krm_core::print::json;
use krm_yaml::Value;

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
        if let Some(replacement) = &finding.replacement {
            entries.push((Value::from("replacement"), Value::from(replacement.as_str())));
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
