//! Checkstyle's XML, which many CI systems read.

use krm_core::Severity;

use super::Finding;
use super::xml::escape;

pub(super) fn write(findings: &[Finding]) -> String {
    let mut out =
        String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<checkstyle version=\"4.3\">\n");
    // Findings are in the order of their files.
    for same_file in findings.chunk_by(|a, b| a.file() == b.file()) {
        let file = same_file[0].file().unwrap_or("krm");
        out.push_str(&format!("  <file name=\"{}\">\n", escape(file)));
        for finding in same_file {
            let location = finding.diagnostic.location.as_ref();
            let (line, column) = location.map_or((1, 1), |it| (it.line, it.column));
            let severity = match finding.diagnostic.severity {
                Severity::Error => "error",
                Severity::Warning => "warning",
                Severity::Info => "info",
            };
            out.push_str(&format!(
                "    <error line=\"{line}\" column=\"{column}\" severity=\"{severity}\" message=\"{}\" source=\"krm.{}\"/>\n",
                escape(&finding.text()),
                escape(&finding.rule)
            ));
        }
        out.push_str("  </file>\n");
    }
    out.push_str("</checkstyle>\n");
    out
}
