//! Parses the results of a function leniently: what can be understood is used, and the rest is a warning.

use std::borrow::Cow;

use krm_yaml::{DiagnosticKind, File, NodeRef, Value};

use super::{FieldRef, FileRef, FunctionResult, ResourceRef};
use crate::diagnostics::CommonKind;
use crate::functions::resource_list::ResourceListKind;
use crate::model::resource::{field, is_null, scalar_text};
use crate::{Diagnostic, Severity};

/// The results, and warnings about parts that do not follow the specification.
#[derive(Clone, Debug, Default)]
pub struct ParsedResults {
    /// The results, in order.
    pub results: Vec<FunctionResult>,
    /// What does not follow the specification.
    pub warnings: Vec<Diagnostic>,
}

/// Parses the results of a `ResourceList`, which may have none.
///
/// ```
/// let text = "kind: ResourceList\nresults:\n- message: too many\n  field: {path: spec.replicas, proposedValue: 3}\n";
/// let file = krm_yaml::File::parse(text.to_owned())?;
/// let read = krm_core::functions::resource_list::results::parse(file.document(0).and_then(|it| it.root()).expect("the document has a root"));
/// assert_eq!(read.results[0].message, "too many");
/// assert_eq!(read.results[0].severity, krm_core::Severity::Error);
/// # Ok::<(), krm_yaml::ReadError>(())
/// ```
pub fn parse(list: NodeRef<'_>) -> ParsedResults {
    let mut reader = Reader { file: list.document().file(), read: ParsedResults::default() };
    if let Some(results) = field(list, "results") {
        reader.list(results);
    }
    reader.read
}

struct Reader<'a> {
    file: &'a File,
    read: ParsedResults,
}

impl<'a> Reader<'a> {
    fn warn(&mut self, at: NodeRef<'a>, kind: impl DiagnosticKind) {
        self.read.warnings.push(Diagnostic::warning(kind).at(self.file, at.span()));
    }

    fn list(&mut self, node: NodeRef<'a>) {
        if let Some(results) = node.as_sequence() {
            results.items().for_each(|result| self.result(result.resolve()));
            return;
        }
        // Compat: results were once wrapped in `{name, items}`.
        match field(node, "items").filter(|items| items.as_sequence().is_some()) {
            Some(items) => {
                self.warn(
                    node,
                    invalid(
                        "expected a sequence in `results`, found the older form `{name, items}`",
                    ),
                );
                self.list(items);
            }
            None if is_null(node) => {}
            None => self.warn(node, CommonKind::wrong_type("a sequence in `results`", node)),
        }
    }

    fn result(&mut self, node: NodeRef<'a>) {
        if node.as_mapping().is_none() {
            return self.warn(node, CommonKind::wrong_type("a result (a mapping)", node));
        }
        let message = field(node, "message").and_then(scalar_text);
        if message.is_none() {
            self.warn(node, missing("message", "a result"));
        }
        let result_field = field(node, "field").and_then(|node| self.field(node));
        // Spec: "If defined, `ResourceRef` must also be provided." Compat: functions of the kpt catalog give the file instead, which
        // is enough to find the field. Without a location: the line may have a value of a Secret.
        let has_file = field(node, "file").and_then(|file| non_empty(file, "path")).is_some();
        let has_resource = field(node, "resourceRef").is_some_and(|it| !is_null(it));
        if result_field.is_some() && !has_resource && !has_file {
            let owner = format!("result {}, which has `field`", self.read.results.len());
            self.read.warnings.push(Diagnostic::warning(missing("resourceRef", &owner)));
        }
        let result = FunctionResult {
            message: message.unwrap_or_default().into_owned(),
            severity: self.severity(node),
            is_severity_default: field(node, "severity").is_none_or(is_null),
            resource: field(node, "resourceRef").and_then(|node| self.resource(node)).map(Box::new),
            field: result_field,
            file: field(node, "file").and_then(|node| self.file(node)),
            tags: field(node, "tags").map(tags).unwrap_or_default(),
        };
        self.read.results.push(result);
    }

    /// Spec: without a severity a result is an error.
    fn severity(&mut self, result: NodeRef<'a>) -> Severity {
        let Some(node) = field(result, "severity").filter(|node| !is_null(*node)) else {
            return Severity::Error;
        };
        let word = scalar_text(node).unwrap_or_default();
        let known = [Severity::Error, Severity::Warning, Severity::Info];
        if let Some(severity) = known.into_iter().find(|known| known.name() == word) {
            return severity;
        }
        let severity = match word.to_ascii_lowercase().as_str() {
            "warn" | "warning" => Severity::Warning,
            "info" | "information" | "debug" | "notice" => Severity::Info,
            _ => Severity::Error,
        };
        let (used, word) = (severity.name(), word.into_owned().into());
        self.warn(node, ResourceListKind::InvalidSeverity { severity: word, used });
        severity
    }

    fn resource(&mut self, node: NodeRef<'a>) -> Option<ResourceRef> {
        node.as_mapping()?;
        // Compat: older functions write the names in `metadata`.
        let metadata = field(node, "metadata").unwrap_or(node);
        let text =
            |name| non_empty(node, name).or_else(|| string(metadata, name)).unwrap_or_default();
        Some(ResourceRef {
            api_version: text("apiVersion"),
            kind: text("kind"),
            namespace: text("namespace"),
            name: text("name"),
        })
    }

    fn field(&mut self, node: NodeRef<'a>) -> Option<FieldRef> {
        node.as_mapping()?;
        let Some(path) = non_empty(node, "path") else {
            self.warn(node, missing("path", "`field`"));
            return None;
        };
        let mut proposed = Vec::new();
        if let Some(values) = field(node, "proposedValues") {
            match values.as_sequence() {
                Some(values) => proposed.extend(values.items().filter_map(|it| self.value(it))),
                None => {
                    self.warn(
                        values,
                        CommonKind::wrong_type("a sequence in `proposedValues`", values),
                    );
                }
            }
        }
        // Compat: `suggestedValue` is older than the specification.
        for name in ["proposedValue", "suggestedValue"] {
            if proposed.is_empty() {
                proposed.extend(field(node, name).and_then(|value| self.value(value)));
            }
        }
        let current = field(node, "currentValue").and_then(|value| self.value(value));
        Some(FieldRef { path, current, proposed })
    }

    fn value(&mut self, node: NodeRef<'a>) -> Option<Value<'static>> {
        match node.to_value().and_then(Value::into_owned) {
            Ok(value) => Some(value),
            Err(error) => {
                self.warn(node, invalid(error.to_string()));
                None
            }
        }
    }

    fn file(&mut self, node: NodeRef<'a>) -> Option<FileRef> {
        node.as_mapping()?;
        let Some(path) = non_empty(node, "path") else {
            self.warn(node, missing("path", "`file`"));
            return None;
        };
        let index = field(node, "index").filter(|index| !is_null(*index));
        let number = index.map(|index| (index, scalar_text(index).unwrap_or_default()));
        let index = number.map_or(Some(0), |(index, number)| {
            let read = parse_index(&number);
            if read.is_none() {
                let kind = ResourceListKind::InvalidIndex { index: number.into_owned() };
                self.warn(index, kind);
            }
            read
        });
        Some(FileRef { path: path.into(), index: index.unwrap_or(0) })
    }
}

/// The index in a result. Spec: it is a number, and a serializer of numbers may write 1 as `1.0`.
fn parse_index(number: &str) -> Option<u64> {
    let is_zero = |fraction: &str| !fraction.is_empty() && fraction.bytes().all(|it| it == b'0');
    match number.split_once('.') {
        Some((whole, fraction)) if is_zero(fraction) => whole.parse().ok(),
        _ => number.parse().ok(),
    }
}

fn invalid(problem: impl Into<String>) -> ResourceListKind {
    ResourceListKind::InvalidResult { problem: problem.into() }
}

fn missing(field: &str, owner: &str) -> CommonKind {
    CommonKind::MissingField { field: field.to_owned(), owner: owner.to_owned() }
}

fn non_empty(node: NodeRef<'_>, name: &str) -> Option<String> {
    string(node, name).filter(|text| !text.is_empty())
}

fn string(node: NodeRef<'_>, name: &str) -> Option<String> {
    field(node, name).and_then(scalar_text).map(Cow::into_owned)
}

fn tags(node: NodeRef<'_>) -> Vec<(String, String)> {
    let entries = node.as_mapping().into_iter().flat_map(|mapping| mapping.entries());
    let pairs = entries.filter_map(|it| Some((scalar_text(it.key)?, scalar_text(it.value)?)));
    pairs.map(|(key, value)| (key.into_owned(), value.into_owned())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::functions::resource_list::Version;

    fn results(text: &str) -> ParsedResults {
        let file = File::parse(format!("results:\n{text}")).unwrap();
        parse(file.document(0).and_then(|document| document.root()).unwrap())
    }

    fn one(text: &str) -> FunctionResult {
        let read = results(text);
        assert!(read.warnings.is_empty(), "{:?}", read.warnings);
        read.results.into_iter().next().unwrap()
    }

    fn json(result: &FunctionResult, version: Version) -> String {
        crate::print::json::display(&result.to_value(version))
    }

    #[test]
    fn every_field_of_the_specification_is_parsed() {
        let text = "- message: Invalid type\n  severity: warning\n  resourceRef: {apiVersion: v1, kind: Service, namespace: shop, name: web}\n  field:\n    path: spec.ports.0.port\n    currentValue: cool-port\n    proposedValues: [1337, 4242]\n  file: {path: service.yaml, index: 2}\n  tags: {a: b}\n";
        let result = one(text);
        assert_eq!(
            json(&result, Version::V2Alpha1),
            r#"{"message":"Invalid type","severity":"warning","resourceRef":{"apiVersion":"v1","kind":"Service","namespace":"shop","name":"web"},"field":{"path":"spec.ports.0.port","currentValue":"cool-port","proposedValues":[1337,4242]},"file":{"path":"service.yaml","index":2},"tags":{"a":"b"}}"#
        );
        assert!(json(&result, Version::V1).contains(r#""proposedValue":1337}"#));
        let diagnostic = result.to_diagnostic();
        assert_eq!(diagnostic.resource.as_deref(), Some("Service shop/web"));
        assert_eq!(diagnostic.hints, ["set `spec.ports.0.port` to one of 1337, 4242"]);
    }

    #[test]
    fn missing_fields_have_the_defaults_of_the_specification() {
        let result = one("- message: a\n  file: {path: a.yaml}\n");
        assert_eq!(result.severity, Severity::Error);
        assert_eq!(result.file, Some(FileRef { path: "a.yaml".into(), index: 0 }));
        assert_eq!(one("- {message: a, file: {path: a, index: \"3\"}}\n").file.unwrap().index, 3);
        assert!(results("").results.is_empty());
    }

    #[test]
    fn index_is_a_number_in_any_notation() {
        let index = |text: &str| {
            let read = results(&format!("- {{message: a, file: {{path: a, index: {text}}}}}\n"));
            (read.results[0].file.as_ref().unwrap().index, read.warnings.len())
        };
        assert_eq!(["1", "1.0", "\"2\"", "3.00"].map(index), [(1, 0), (1, 0), (2, 0), (3, 0)]);
        assert_eq!(["1.5", "-1", "1.", "a"].map(index), [(0, 1); 4]);
    }

    #[test]
    fn result_with_a_field_and_no_resource_is_a_warning() {
        let read = results("- {message: a, field: {path: b}}\n");
        let messages: Vec<&str> = read.warnings.iter().map(|it| it.message()).collect();
        assert_eq!(messages, ["missing field `resourceRef` in result 0, which has `field`"]);
        let read = results("- {message: a, field: {path: b}, file: {path: ''}}\n");
        // The empty path is another warning.
        assert_eq!(read.warnings.len(), 2);
        let read = results("- {message: a, field: {path: b}, file: {path: a.yaml}}\n");
        assert_eq!(read.warnings.len(), 0);
    }

    #[test]
    fn proposed_values_are_parsed_from_all_fields() {
        for spelling in ["proposedValue: 1", "proposedValues: [1]", "suggestedValue: 1"] {
            let resource = "resourceRef: {apiVersion: v1, kind: A, name: a}";
            let field = format!("field: {{path: b, {spelling}}}");
            let result = one(&format!("- {{message: a, {resource}, {field}}}\n"));
            assert_eq!(
                crate::print::json::display(&result.field.unwrap().proposed[0]),
                "1",
                "{spelling}"
            );
        }
    }

    #[test]
    fn invalid_parts_are_warnings() {
        for (text, severity, warning) in [
            (
                "- {message: a, severity: warn}\n",
                Severity::Warning,
                "expected severity `error`, `warning` or `info`, found `warn`; `warning` is used",
            ),
            (
                "- {message: a, severity: fatal}\n",
                Severity::Error,
                "expected severity `error`, `warning` or `info`, found `fatal`; `error` is used",
            ),
            ("- {severity: info}\n", Severity::Info, "missing field `message` in a result"),
            (
                "- {message: a, file: {path: a, index: x}}\n",
                Severity::Error,
                "expected the index of a resource in its file, found `x`",
            ),
            (
                "- {message: a, field: {currentValue: 1}}\n",
                Severity::Error,
                "missing field `path` in `field`",
            ),
            (
                "  name: x\n  items: [{message: a}]\n",
                Severity::Error,
                "expected a sequence in `results`, found the older form `{name, items}`",
            ),
        ] {
            let read = results(text);
            assert_eq!(read.results[0].severity, severity, "{text}");
            assert_eq!(read.warnings.iter().map(|it| it.message()).collect::<Vec<_>>(), [warning]);
            assert!(read.warnings[0].location.is_some());
        }
        assert_eq!(results("- 5\n- [a]\n").warnings.len(), 2);
        assert_eq!(
            results("  5\n").warnings[0].message(),
            "expected a sequence in `results`, found an integer"
        );
    }

    #[test]
    fn resource_names_may_be_in_metadata() {
        let result =
            one("- {message: a, resourceRef: {kind: Pod, metadata: {name: b, namespace: c}}}\n");
        assert_eq!(result.resource.unwrap().label(), "Pod c/b");
    }
}
