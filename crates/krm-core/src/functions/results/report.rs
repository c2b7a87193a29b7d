//! What is kept of a run: for every function what it said and found. Compat: kpt's `FunctionResultList`, with two fields added.

use krm_yaml::{Edit, File, NodeRef, Value};

use super::locate::root_path;
use crate::Diagnostic;
use crate::functions::resource_list::Version;
use crate::functions::resource_list::results::{self, FunctionResult};
use crate::model::resource::{field, scalar_text};

/// What one function did.
#[derive(Clone, Debug, Default)]
pub struct Ran {
    /// What people call it: the image, the command, the file.
    pub name: String,
    /// How it was run: `image`, `exec`, `wasm`, `starlark`.
    pub runtime: &'static str,
    /// Whether what ran for it is built in.
    pub is_builtin: bool,
    /// The image that ran, to the byte.
    pub image: Option<String>,
    /// The folder of the package that declares it; empty for the one that was read.
    pub package: String,
    /// Its exit code.
    pub exit_code: i32,
    /// What it said, where it said something.
    pub stderr: String,
    /// What it found.
    pub results: Vec<FunctionResult>,
}

impl Ran {
    /// Whether it ran in a container.
    pub fn is_container(&self) -> bool {
        self.runtime == "image" && !self.is_builtin
    }

    /// What ran, in a word for people.
    pub fn how(&self) -> &'static str {
        match self.is_builtin {
            true => "built in",
            false if self.is_container() => "container",
            false => self.runtime,
        }
    }

    /// What it is called in the file: with the image that ran, which is the one to be run again.
    fn whole_name(&self) -> String {
        match &self.image {
            Some(image) => format!("{} ({image})", self.name),
            None => self.name.clone(),
        }
    }
}

/// All functions of a run, in order.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// The exit code of the run.
    pub exit_code: i32,
    /// The functions.
    pub ran: Vec<Ran>,
}

const RUNTIMES: [&str; 4] = ["image", "exec", "wasm", "starlark"];

impl Report {
    /// The report as a file.
    pub fn to_yaml(&self) -> Result<String, Diagnostic> {
        let file = File::parse("apiVersion: kpt.dev/v1\nkind: FunctionResultList\nmetadata:\n  name: fnresults\nexitCode: 0\n".to_owned())
            .map_err(|error| Diagnostic::from(&error))?;
        let document =
            file.document(0).ok_or_else(|| Diagnostic::untyped_error("there is no report"))?;
        let mut edit = Edit::new(&file);
        let told = |error: krm_yaml::EditError| Diagnostic::from_edit(&error, &file);
        let mut set = |name: &str, value| {
            let path = krm_yaml::Path::default().join(name);
            edit.set_at(document, &path, value).map_err(told)
        };
        set("exitCode", Value::int(self.exit_code.into()))?;
        set("items", Value::Sequence(self.ran.iter().map(item).collect()))?;
        edit.apply().map_err(|error| Diagnostic::from_edit(&error, &file))
    }

    /// Reads a report, krm's or kpt's; what is odd in it is told.
    pub fn read(file: &File) -> Result<(Self, Vec<Diagnostic>), Diagnostic> {
        if let Some(error) = file.errors().next() {
            return Err(Diagnostic::from_syntax(error, file));
        }
        let root = file.documents().find_map(|document| document.root());
        let root = root.ok_or_else(|| Diagnostic::untyped_error("the file is empty"))?;
        let kind = field(root, "kind").and_then(scalar_text).unwrap_or_default();
        let mut report = Self { exit_code: number(root), ran: Vec::new() };
        let mut told = Vec::new();
        match &*kind {
            "FunctionResultList" => {
                let items = field(root, "items").and_then(NodeRef::as_sequence);
                for item in items.into_iter().flat_map(|items| items.items()) {
                    report.ran.push(ran(item.resolve(), &mut told));
                }
            }
            // The output of a function that somebody kept.
            "ResourceList" => report.ran.push(ran(root, &mut told)),
            other => {
                let words = format!("a FunctionResultList is wanted, and this is {other:?}");
                return Err(Diagnostic::untyped_error(words).at(file, root.span()));
            }
        }
        Ok((report, told))
    }
}

fn ran(node: NodeRef<'_>, told: &mut Vec<Diagnostic>) -> Ran {
    let text = |name: &str| field(node, name).and_then(scalar_text).map(|it| it.into_owned());
    let known = RUNTIMES.into_iter().find_map(|runtime| Some((runtime, text(runtime)?)));
    let (runtime, name) = known.unwrap_or(("image", String::new()));
    let read = results::parse(node);
    told.extend(read.warnings);
    Ran {
        name,
        runtime,
        package: text("pkg").unwrap_or_default(),
        exit_code: number(node),
        // The name has it.
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

fn item(ran: &Ran) -> Value<'_> {
    let mut entries = vec![(ran.runtime, Value::string(ran.whole_name()))];
    if !ran.package.is_empty() {
        entries.push(("pkg", Value::from(ran.package.as_str())));
    }
    if !ran.stderr.is_empty() {
        entries.push(("stderr", Value::from(ran.stderr.as_str())));
    }
    entries.push(("exitCode", Value::int(ran.exit_code.into())));
    if !ran.results.is_empty() {
        let results = ran.results.iter().map(|result| with_root(ran, result));
        entries.push(("results", Value::Sequence(results.collect())));
    }
    mapping(entries)
}

/// A result with the path of its file from the root of what was read: those of two packages can be the same.
fn with_root<'a>(ran: &'a Ran, result: &'a FunctionResult) -> Value<'a> {
    // Several proposals have no place in the older form.
    let many = result.field.as_ref().is_some_and(|field| field.proposed.len() > 1);
    let mut value = result.to_value(if many { Version::V2Alpha1 } else { Version::V1 });
    if let (Value::Mapping(entries), Some(file)) = (&mut value, &result.file) {
        for (key, value) in entries.iter_mut() {
            if let (Value::String(key), Value::Mapping(file_entries)) = (key, value)
                && key == "file"
            {
                let path = root_path(&ran.package, file);
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
    fn a_report_is_read_as_it_was_written() {
        let list = "results:\n- message: 'too many: \"9\"'\n  severity: warning\n  resourceRef: {apiVersion: v1, kind: Pod, name: p}\n  field: {path: spec.x, currentValue: 9, proposedValues: [1, 2]}\n  file: {path: a.yaml, index: 1}\n- message: |\n    two\n    lines\n  severity: info\n";
        let file = File::parse(list.to_owned()).unwrap();
        let results = results::parse(file.document(0).unwrap().root().unwrap()).results;
        let ran = Ran {
            name: "example.com/check:v1".to_owned(),
            runtime: "image",
            package: "sub".to_owned(),
            exit_code: 1,
            stderr: "it said\nthis\n".to_owned(),
            results,
            is_builtin: false,
            image: Some("sha256:12".to_owned()),
        };
        assert!(ran.is_container());
        let report = Report { exit_code: 1, ran: vec![ran] };
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
    it said
    this
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
        let (again, told) = Report::read(&file).unwrap();
        assert!(told.is_empty());
        assert_eq!(again.to_yaml().unwrap(), text);
    }

    #[test]
    fn a_run_without_functions_has_a_report() {
        assert!(Report::default().to_yaml().unwrap().ends_with("exitCode: 0\nitems: []\n"));
    }

    #[test]
    fn other_files_are_no_reports() {
        for text in ["", "kind: Pod\n", "a: [\n"] {
            assert!(Report::read(&File::parse(text.to_owned()).unwrap()).is_err(), "{text}");
        }
    }
}
