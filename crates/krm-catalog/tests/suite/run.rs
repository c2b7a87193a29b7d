//! Calling a built-in function on text.

use krm_catalog::{BuiltinRelease, Host, TagMatch, find};
use krm_core::PackagePath;
use krm_sdk::{Diagnostic, Error, FunctionResult, Item, Resource, ResourceList};

use crate::recorded::{RecordedDocuments, RecordedHelm};

/// The file of resources that name none.
pub(crate) const FILE: &str = "input.yaml";

/// The output of a function.
pub(crate) struct Output {
    /// The resources.
    pub(crate) items: Vec<Resource>,
    /// The results, one line each.
    pub(crate) results: Vec<String>,
    /// The messages of the results.
    pub(crate) messages: Vec<String>,
}

impl Output {
    /// The resources as one file.
    pub(crate) fn text(&self) -> String {
        let texts: Vec<String> = self.items.iter().map(text).collect();
        texts.join("---\n")
    }
}

/// Runs a function. A tag in the name selects the release.
///
/// # Errors
/// The function failed: its results and its errors, one line each.
pub(crate) fn run(
    name: &str,
    config: Option<&str>,
    items: Vec<Resource>,
) -> Result<Output, String> {
    let (name, tag) = name.split_once(':').map_or((name, None), |(name, tag)| (name, Some(tag)));
    let builtin = find(name).unwrap_or_else(|| panic!("`{name}` is not built in"));
    let release = match tag.map(|tag| (tag, builtin.release(tag))) {
        None => BuiltinRelease::from(builtin),
        Some((_, Some(TagMatch::Known(version)))) => {
            BuiltinRelease { version, ..BuiltinRelease::from(builtin) }
        }
        Some((tag, _)) => panic!("`{tag}` is not a release of `{name}`"),
    };
    let function_config = config.map(|text| Resource::parse(text).expect("the functionConfig"));
    let mut list = ResourceList { items, function_config, ..ResourceList::default() };
    let documents = RecordedDocuments::default();
    let host = Host { helm: &RecordedHelm, documents: &documents, ..Host::default() };
    let called = release.call_with(&mut list, host);
    let results: Vec<String> = list.results.iter().map(line).collect();
    called.map_err(|error| {
        let results: String = results.iter().map(|line| format!("{line}\n")).collect();
        results + &errors(&error)
    })?;
    let messages = list.results.into_iter().map(|result| result.message).collect();
    Ok(Output { items: list.items, results, messages })
}

/// The resources of a text, separated by `---`. A first line `# PATH` sets the file of a resource.
pub(crate) fn items(input: &str) -> Vec<Resource> {
    let texts = input.split_inclusive('\n').fold(vec![String::new()], |mut texts, line| {
        match line {
            "---\n" => texts.push(String::new()),
            _ => texts.last_mut().unwrap().push_str(line),
        }
        texts
    });
    let item = |(index, text): (usize, String)| {
        let (path, text) = match file_name(&text) {
            Some((path, rest)) => (path, rest.to_owned()),
            None => (FILE, text.clone()),
        };
        let mut item = Item::parse(text).expect("a resource of the input");
        item.path = Some(PackagePath::new(path).unwrap());
        (item.index, item.origin) = (Some(index), Some(index));
        Resource::from(item)
    };
    texts.into_iter().filter(|text| !text.trim().is_empty()).enumerate().map(item).collect()
}

/// The file in the first line, and the rest.
fn file_name(text: &str) -> Option<(&str, &str)> {
    let (path, rest) = text.strip_prefix("# ")?.split_once('\n')?;
    let is_file = path.ends_with("Kptfile") || path.ends_with(".yaml");
    (is_file && !path.contains(' ')).then_some((path, rest))
}

/// A resource of the output, with its file in the first line if it is another one.
fn text(resource: &Resource) -> String {
    let path = resource.path().map_or_else(String::new, ToString::to_string);
    match path.as_str() {
        FILE => resource.text().to_owned(),
        "" => format!("# new\n{}", resource.text()),
        path => format!("# {path}\n{}", resource.text()),
    }
}

fn line(result: &FunctionResult) -> String {
    let mut line = format!("{}: {}", result.severity.name(), result.message);
    if let Some(resource) = &result.resource {
        line.push_str(&format!(" [{}]", resource.label()));
    }
    if let Some(field) = &result.field {
        line.push_str(&format!(" [{}]", field.path));
    }
    if let Some(file) = &result.file {
        line.push_str(&format!(" [{} {}]", file.path, file.index));
    }
    line
}

fn errors(error: &Error) -> String {
    error.diagnostics.iter().map(diagnostic).collect()
}

fn diagnostic(it: &Diagnostic) -> String {
    let location = it.location.as_ref().map(|at| format!("{}:{} ", at.line, at.column));
    let hints: String = it.hints.iter().map(|hint| format!("hint: {hint}\n")).collect();
    format!("{}: {}{}\n{hints}", it.severity.name(), location.unwrap_or_default(), it.message())
}
