//! JUnit's XML: a suite for each file, a failed test case for each error, and one passed test case if there are none.

use krm_core::Severity;

use super::xml::escape;
use super::{Finding, count};

pub(super) fn write(findings: &[Finding]) -> String {
    let suites: Vec<&[Finding]> = findings.chunk_by(|a, b| a.file() == b.file()).collect();
    let tests = findings.len().max(1);
    let failures = count(findings, Severity::Error);
    let mut out = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"krm\" tests=\"{tests}\" failures=\"{failures}\" errors=\"0\">\n"
    );
    if suites.is_empty() {
        // A suite without test cases counts as missing in some CI systems.
        out.push_str(
            "  <testsuite name=\"krm\" tests=\"1\" failures=\"0\" errors=\"0\" skipped=\"0\">\n    <testcase name=\"no findings\" classname=\"krm\"/>\n  </testsuite>\n",
        );
    }
    for suite in suites {
        let name = escape(suite[0].file().unwrap_or("krm"));
        out.push_str(&format!(
            "  <testsuite name=\"{name}\" tests=\"{}\" failures=\"{}\" errors=\"0\" skipped=\"0\">\n",
            suite.len(),
            count(suite, Severity::Error)
        ));
        suite.iter().for_each(|finding| out.push_str(&case(finding, &name)));
        out.push_str("  </testsuite>\n");
    }
    out.push_str("</testsuites>\n");
    out
}

/// Warnings and infos pass, with their message as output.
fn case(finding: &Finding, suite: &str) -> String {
    let line = finding.line().map(|line| format!(":{line}")).unwrap_or_default();
    let subject = finding.subject();
    let title = [finding.rule.as_str(), &subject].join(" ");
    let text = escape(&finding.text());
    let place = format!("{}{line}", finding.file().unwrap_or("krm"));
    let content = match finding.diagnostic.severity {
        Severity::Error => format!(
            "      <failure message=\"{}\" type=\"{}\">{}: {text}</failure>\n",
            escape(finding.diagnostic.message()),
            escape(&finding.rule),
            escape(&place)
        ),
        other => {
            format!("      <system-out>{}: {}: {text}</system-out>\n", escape(&place), other.name())
        }
    };
    format!(
        "    <testcase name=\"{}\" classname=\"{suite}\">\n{content}    </testcase>\n",
        escape(title.trim_end())
    )
}
