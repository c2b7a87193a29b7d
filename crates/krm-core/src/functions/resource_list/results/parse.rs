//! Reads results from what a function wrote, as far as they go.

use std::borrow::Cow;

use krm_yaml::{File, NodeRef, Value};

use super::{FieldRef, FileRef, FunctionResult, ResourceRef};
use crate::model::resource::{field, is_null, scalar_text};
use crate::{Diagnostic, Severity};

/// Results that were read, and what was odd about them.
#[derive(Clone, Debug, Default)]
pub struct ParsedResults {
    /// The results, in order.
    pub results: Vec<FunctionResult>,
    /// What breaks the specification; it was read as far as it goes.
    pub warnings: Vec<Diagnostic>,
}

/// Reads the results of a `ResourceList`; no results at all are fine.
///
/// ```
/// let text = "kind: ResourceList\nresults:\n- message: too many\n  field: {path: spec.replicas, proposedValue: 3}\n";
/// let file = krm_yaml::File::parse(text.to_owned())?;
/// let read = krm_core::functions::resource_list::results::parse(file.document(0).and_then(|it| it.root()).expect("it is there"));
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
    fn warn(&mut self, at: NodeRef<'a>, message: impl Into<String>) {
        self.read.warnings.push(Diagnostic::untyped_warning(message).at(self.file, at.span()));
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
                    "`results` is a list; this older form `{name, items}` is read, too",
                );
                self.list(items);
            }
            None if is_null(node) => {}
            None => self.warn(node, "`results` is no list, and is left out"),
        }
    }

    fn result(&mut self, node: NodeRef<'a>) {
        if node.as_mapping().is_none() {
            return self.warn(node, "a result is a mapping with a `message`, and this is left out");
        }
        let message = field(node, "message").and_then(scalar_text);
        if message.is_none() {
            self.warn(node, "a result without a `message`");
        }
        let result = FunctionResult {
            message: message.unwrap_or_default().into_owned(),
            severity: self.severity(node),
            resource: field(node, "resourceRef").and_then(|node| self.resource(node)),
            field: field(node, "field").and_then(|node| self.field(node)),
            file: field(node, "file").and_then(|node| self.place(node)),
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
        let (severity, hint) = match word.to_ascii_lowercase().as_str() {
            "warn" | "warning" => (Severity::Warning, "read as `warning`"),
            "info" | "information" | "debug" | "notice" => (Severity::Info, "read as `info`"),
            _ => (Severity::Error, "read as `error`"),
        };
        let message = format!("`{word}` is no severity, {hint}: error, warning and info are");
        self.warn(node, message);
        severity
    }

    fn resource(&mut self, node: NodeRef<'a>) -> Option<ResourceRef> {
        node.as_mapping()?;
        // Compat: the names once stood in `metadata`.
        let metadata = field(node, "metadata").unwrap_or(node);
        let text = |name| text(node, name).or_else(|| text_of(metadata, name)).unwrap_or_default();
        Some(ResourceRef {
            api_version: text("apiVersion"),
            kind: text("kind"),
            namespace: text("namespace"),
            name: text("name"),
        })
    }

    fn field(&mut self, node: NodeRef<'a>) -> Option<FieldRef> {
        node.as_mapping()?;
        let Some(path) = text(node, "path") else {
            self.warn(node, "a `field` without a `path`");
            return None;
        };
        let mut proposed = Vec::new();
        if let Some(values) = field(node, "proposedValues") {
            match values.as_sequence() {
                Some(values) => proposed.extend(values.items().filter_map(|it| self.value(it))),
                None => self.warn(values, "`proposedValues` is no list, and is left out"),
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
                self.warn(node, error.to_string());
                None
            }
        }
    }

    fn place(&mut self, node: NodeRef<'a>) -> Option<FileRef> {
        node.as_mapping()?;
        let Some(path) = text(node, "path") else {
            self.warn(node, "a `file` without a `path`");
            return None;
        };
        let index = field(node, "index").filter(|index| !is_null(*index));
        let number = index.map(|index| (index, scalar_text(index).unwrap_or_default()));
        let index = number.map_or(Some(0), |(index, number)| {
            let read = number.parse().ok();
            if read.is_none() {
                self.warn(index, format!("`{number}` is no index of a resource in a file"));
            }
            read
        });
        Some(FileRef { path, index: index.unwrap_or(0) })
    }
}

fn text(node: NodeRef<'_>, name: &str) -> Option<String> {
    text_of(node, name).filter(|text| !text.is_empty())
}

fn text_of(node: NodeRef<'_>, name: &str) -> Option<String> {
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
        crate::print::json::write(&result.to_value(version))
    }

    #[test]
    fn a_result_keeps_all_that_the_specification_names() {
        let text = "- message: Invalid type\n  severity: warning\n  resourceRef: {apiVersion: v1, kind: Service, namespace: shop, name: web}\n  field:\n    path: spec.ports.0.port\n    currentValue: cool-port\n    proposedValues: [1337, 4242]\n  file: {path: service.yaml, index: 2}\n  tags: {a: b}\n";
        let result = one(text);
        assert_eq!(
            json(&result, Version::V2Alpha1),
            r#"{"message":"Invalid type","severity":"warning","resourceRef":{"apiVersion":"v1","kind":"Service","namespace":"shop","name":"web"},"field":{"path":"spec.ports.0.port","currentValue":"cool-port","proposedValues":[1337,4242]},"file":{"path":"service.yaml","index":2},"tags":{"a":"b"}}"#
        );
        assert!(json(&result, Version::V1).contains(r#""proposedValue":1337}"#));
        let told = result.to_diagnostic();
        assert_eq!(told.resource.as_deref(), Some("Service shop/web"));
        assert_eq!(told.hints, ["set `spec.ports.0.port` to one of 1337, 4242"]);
    }

    #[test]
    fn what_is_missing_has_the_defaults_of_the_specification() {
        let result = one("- message: a\n  file: {path: a.yaml}\n");
        assert_eq!(result.severity, Severity::Error);
        assert_eq!(result.file, Some(FileRef { path: "a.yaml".to_owned(), index: 0 }));
        assert_eq!(one("- {message: a, file: {path: a, index: \"3\"}}\n").file.unwrap().index, 3);
        assert!(results("").results.is_empty());
    }

    #[test]
    fn proposals_are_read_in_every_spelling() {
        for spelling in ["proposedValue: 1", "proposedValues: [1]", "suggestedValue: 1"] {
            let result = one(&format!("- {{message: a, field: {{path: b, {spelling}}}}}\n"));
            assert_eq!(
                crate::print::json::write(&result.field.unwrap().proposed[0]),
                "1",
                "{spelling}"
            );
        }
    }

    #[test]
    fn broken_results_are_read_as_far_as_they_go() {
        for (text, severity, warning) in [
            (
                "- {message: a, severity: warn}\n",
                Severity::Warning,
                "`warn` is no severity, read as `warning`: error, warning and info are",
            ),
            (
                "- {message: a, severity: fatal}\n",
                Severity::Error,
                "`fatal` is no severity, read as `error`: error, warning and info are",
            ),
            ("- {severity: info}\n", Severity::Info, "a result without a `message`"),
            (
                "- {message: a, file: {path: a, index: x}}\n",
                Severity::Error,
                "`x` is no index of a resource in a file",
            ),
            (
                "- {message: a, field: {currentValue: 1}}\n",
                Severity::Error,
                "a `field` without a `path`",
            ),
            (
                "  name: x\n  items: [{message: a}]\n",
                Severity::Error,
                "`results` is a list; this older form `{name, items}` is read, too",
            ),
        ] {
            let read = results(text);
            assert_eq!(read.results[0].severity, severity, "{text}");
            assert_eq!(read.warnings.iter().map(|it| it.message()).collect::<Vec<_>>(), [warning]);
            assert!(read.warnings[0].location.is_some());
        }
        assert_eq!(results("- 5\n- [a]\n").warnings.len(), 2);
        assert_eq!(results("  5\n").warnings[0].message(), "`results` is no list, and is left out");
    }

    #[test]
    fn the_names_of_a_resource_may_stand_in_its_metadata() {
        let result =
            one("- {message: a, resourceRef: {kind: Pod, metadata: {name: b, namespace: c}}}\n");
        assert_eq!(result.resource.unwrap().label(), "Pod c/b");
    }
}
