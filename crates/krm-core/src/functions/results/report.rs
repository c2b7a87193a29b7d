//! The report of a run: the results of every function. Compat: kpt's `FunctionResultList`, with two fields added.

use krm_yaml::{File, NodeRef, Value};

use super::ResultKind;
use super::locate::root_path;
use crate::Diagnostic;
use crate::functions::resource_list::Version;
use crate::functions::resource_list::results::{self, FunctionResult};
use crate::functions::resource_list::serialize::block_document;
use crate::model::resource::{field, scalar_text};

/// The record of one function of a run.
#[derive(Clone, Debug, Default)]
pub struct FunctionRecord {
    /// Its name: the image, the command or the file.
    pub name: String,
    /// Its runtime: `image`, `exec`, `wasm` or `starlark`.
    pub runtime: &'static str,
    /// Whether a built-in function ran in place of the image.
    pub is_builtin: bool,
    /// The digest of the image that record.
    pub image: Option<String>,
    /// The directory of the package that declares it; empty for the root package.
    pub package: String,
    /// Its exit code.
    pub exit_code: i32,
    /// What it wrote to stderr.
    pub stderr: String,
    /// Its results.
    pub results: Vec<FunctionResult>,
}

impl FunctionRecord {
    /// Whether it ran in a container.
    pub fn is_container(&self) -> bool {
        self.runtime == "image" && !self.is_builtin
    }

    /// What record, as summaries show it.
    pub fn how(&self) -> &'static str {
        match self.is_builtin {
            true => "built in",
            false if self.is_container() => "container",
            false => self.runtime,
        }
    }

    /// Its name in the report, with the digest of the image that record, so that the run can be repeated.
    fn qualified_name(&self) -> String {
        match &self.image {
            Some(image) => format!("{} ({image})", self.name),
            None => self.name.clone(),
        }
    }
}

/// The records of all functions of a run, in order.
#[derive(Clone, Debug, Default)]
pub struct RunReport {
    /// The exit code of the run.
    pub exit_code: i32,
    /// The records.
    pub records: Vec<FunctionRecord>,
}

const RUNTIMES: [&str; 4] = ["image", "exec", "wasm", "starlark"];

impl RunReport {
    /// The report as YAML.
    pub fn to_yaml(&self) -> Result<String, Diagnostic> {
        let report = mapping(vec![
            ("apiVersion", Value::from("kpt.dev/v1")),
            ("kind", Value::from("FunctionResultList")),
            ("metadata", mapping(vec![("name", Value::from("fnresults"))])),
            ("exitCode", Value::int(self.exit_code.into())),
            ("items", Value::Sequence(self.records.iter().map(item).collect())),
        ]);
        block_document(report).map_err(|error| Diagnostic::error(error.kind))
    }

    /// Parses a report of krm or kpt, with warnings about invalid results.
    pub fn parse(file: &File) -> Result<(Self, Vec<Diagnostic>), Diagnostic> {
        if let Some(error) = file.errors().next() {
            return Err(Diagnostic::from_syntax(error, file));
        }
        let root = file.documents().find_map(|document| document.root());
        let root = root.ok_or_else(|| {
            Diagnostic::error(ResultKind::NotAReport { found: "an empty file".to_owned() })
        })?;
        let kind = field(root, "kind").and_then(scalar_text).unwrap_or_default();
        let mut report = Self { exit_code: number(root), records: Vec::new() };
        let mut warnings = Vec::new();
        match &*kind {
            "FunctionResultList" => {
                let items = field(root, "items").and_then(NodeRef::as_sequence);
                for item in items.into_iter().flat_map(|items| items.items()) {
                    report.records.push(record(item.resolve(), &mut warnings));
                }
            }
            // The saved output of a single function.
            "ResourceList" => report.records.push(record(root, &mut warnings)),
            other => {
                let found = match other {
                    "" => "a document without `kind`".to_owned(),
                    kind => format!("a resource of kind `{kind}`"),
                };
                let error = Diagnostic::error(ResultKind::NotAReport { found });
                return Err(error.at(file, root.span()));
            }
        }
        Ok((report, warnings))
    }
}

fn record(node: NodeRef<'_>, warnings: &mut Vec<Diagnostic>) -> FunctionRecord {
    let text = |name: &str| field(node, name).and_then(scalar_text).map(|it| it.into_owned());
    let known = RUNTIMES.into_iter().find_map(|runtime| Some((runtime, text(runtime)?)));
    let (runtime, name) = known.unwrap_or(("image", String::new()));
    let read = results::parse(node);
    warnings.extend(read.warnings);
    FunctionRecord {
        name,
        runtime,
        package: text("pkg").unwrap_or_default(),
        exit_code: number(node),
        // The name has the digest already.
        image: None,
        is_builtin: false,
        stderr: text("stderr").unwrap_or_default(),
        results: read.results,
    }
}

fn number(node: NodeRef<'_>) -> i32 {
    let text = field(node, "exitCode").and_then(scalar_text);
    text.and_then(|text| text.parse().ok()).unwrap_or(0)
}

fn item(record: &FunctionRecord) -> Value<'_> {
    let mut entries = vec![(record.runtime, Value::string(record.qualified_name()))];
    if !record.package.is_empty() {
        entries.push(("pkg", Value::from(record.package.as_str())));
    }
    if !record.stderr.is_empty() {
        entries.push(("stderr", Value::from(record.stderr.as_str())));
    }
    entries.push(("exitCode", Value::int(record.exit_code.into())));
    if !record.results.is_empty() {
        let results = record.results.iter().map(|result| with_root(record, result));
        entries.push(("results", Value::Sequence(results.collect())));
    }
    mapping(entries)
}

/// A result with the path of its file relative to the root package, because the paths of two packages can be equal.
fn with_root<'a>(record: &'a FunctionRecord, result: &'a FunctionResult) -> Value<'a> {
    // Version 1 cannot represent several proposed values.
    let many = result.field.as_ref().is_some_and(|field| field.proposed.len() > 1);
    let mut value = result.to_value(if many { Version::V2Alpha1 } else { Version::V1 });
    if let (Value::Mapping(entries), Some(file)) = (&mut value, &result.file) {
        for (key, value) in entries.iter_mut() {
            if let (Value::String(key), Value::Mapping(file_entries)) = (key, value)
                && key == "file"
            {
                let path = root_path(&record.package, file);
                file_entries.push((Value::from("rootPath"), Value::string(path)));
            }
        }
    }
    value
}

fn mapping<'a>(entries: Vec<(&'static str, Value<'a>)>) -> Value<'a> {
    Value::Mapping(entries.into_iter().map(|(name, value)| (Value::from(name), value)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn report_round_trips() {
        let list = "results:\n- message: 'too many: \"9\"'\n  severity: warning\n  resourceRef: {apiVersion: v1, kind: Pod, name: p}\n  field: {path: spec.x, currentValue: 9, proposedValues: [1, 2]}\n  file: {path: a.yaml, index: 1}\n- message: |\n    two\n    lines\n  severity: info\n";
        let file = File::parse(list.to_owned()).unwrap();
        let results = results::parse(file.document(0).unwrap().root().unwrap()).results;
        let record = FunctionRecord {
            name: "example.com/check:v1".to_owned(),
            runtime: "image",
            package: "sub".to_owned(),
            exit_code: 1,
            stderr: "first\nsecond\n".to_owned(),
            results,
            is_builtin: false,
            image: Some("sha256:12".to_owned()),
        };
        assert!(record.is_container());
        let report = RunReport { exit_code: 1, records: vec![record] };
        let text = report.to_yaml().unwrap();
        let wanted = "apiVersion: kpt.dev/v1
kind: FunctionResultList
metadata:
  name: fnresults
exitCode: 1
items:
- image: example.com/check:v1 (sha256:12)
  pkg: sub
  stderr: |
    first
    second
  exitCode: 1
  results:
  - message: \"too many: \\\"9\\\"\"
    severity: warning
    resourceRef:
      apiVersion: v1
      kind: Pod
      name: p
    field:
      path: spec.x
      currentValue: 9
      proposedValues:
      - 1
      - 2
    file:
      path: a.yaml
      index: 1
      rootPath: sub/a.yaml
  - message: |
      two
      lines
    severity: info
";
        assert_eq!(text, wanted);
        let file = File::parse(text.clone()).unwrap();
        let (again, warnings) = RunReport::parse(&file).unwrap();
        assert!(warnings.is_empty());
        assert_eq!(again.to_yaml().unwrap(), text);
    }

    #[test]
    fn run_without_functions_has_a_report() {
        assert!(RunReport::default().to_yaml().unwrap().ends_with("exitCode: 0\nitems: []\n"));
    }

    #[test]
    fn other_files_are_errors() {
        for text in ["", "kind: Pod\n", "a: [\n"] {
            assert!(RunReport::parse(&File::parse(text.to_owned()).unwrap()).is_err(), "{text}");
        }
    }
}
