//! Results in the format of the kpt functions.

use krm_core::Diagnostic;
use krm_core::diagnostics::contains_secret;
use krm_sdk::results::{FieldRef, FileRef};
use krm_sdk::yaml::{NodeRef, Path, Segment};
use krm_sdk::{FunctionResult, Resource, Severity};

/// A result about a field of a resource.
pub(crate) fn of_field(resource: &Resource, path: String, message: String) -> FunctionResult {
    let file = resource.path().map(|path| FileRef { path: path.into(), index: 0 });
    let field = Some(FieldRef::new(path));
    FunctionResult { field, file, ..FunctionResult::new(Severity::Info, message) }
}

/// A diagnostic as a result, whose message includes the source line and the hints.
pub(crate) fn warning(it: &Diagnostic) -> FunctionResult {
    let mut message = it.message().to_owned();
    if let Some(at) = &it.location {
        message.push_str(&format!(": `{}`", at.text.trim()));
    }
    it.hints.iter().for_each(|hint| message.push_str(&format!("; {hint}")));
    let file = it.file.as_ref().map(|path| FileRef { path: (&**path).into(), index: 0 });
    FunctionResult { file, ..FunctionResult::new(it.severity, message) }
}

/// Compat: the path of a field without quotes around keys.
pub(crate) fn path(node: NodeRef<'_>) -> String {
    path_text(&node.path())
}

/// Compat: a path without quotes around keys.
pub(crate) fn path_text(path: &Path) -> String {
    let mut text = String::new();
    for segment in path.segments() {
        match segment {
            Segment::Index(index) => text.push_str(&format!("[{index}]")),
            Segment::Key(key) if text.is_empty() => text.push_str(key),
            Segment::Key(key) => text.push_str(&format!(".{key}")),
            Segment::Match { .. } | Segment::End => {}
        }
    }
    text
}

/// A value quoted like `%q` in Go. Values of Secrets are masked.
pub(crate) fn value(resource: &Resource, field: NodeRef<'_>, text: &str) -> String {
    masked(contains_secret(resource.root().document()), &field.path(), text)
}

/// A value at a path, quoted like `%q` in Go, and masked if it is in the data of a Secret.
pub(crate) fn masked(is_secret: bool, path: &Path, text: &str) -> String {
    let first = path.segments().first();
    let is_data = matches!(first, Some(Segment::Key(key)) if key == "data" || key == "stringData");
    if is_secret && is_data { quoted("***") } else { quoted(text) }
}

/// A string quoted like `%q` in Go.
pub(crate) fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            c if (c as u32) < 0x20 || c as u32 == 0x7f => {
                out.push_str(&format!("\\x{:02x}", c as u32));
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}
