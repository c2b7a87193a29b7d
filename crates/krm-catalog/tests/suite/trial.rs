//! One call of a built-in function on plain texts, as cases and pages need it.

use krm_catalog::find;
use krm_core::PackagePath;
use krm_sdk::{Diagnostic, Error, FunctionResult, Item, Resource, ResourceList};

/// The name of the file that all resources of a trial are in.
pub(crate) const FILE: &str = "input.yaml";

/// What a function made of its input.
pub(crate) struct Trial {
    /// The resources.
    pub(crate) items: Vec<Resource>,
    /// What the function said, a line each.
    pub(crate) results: Vec<String>,
    /// The words of it alone.
    pub(crate) messages: Vec<String>,
}

impl Trial {
    /// The resources as one file.
    pub(crate) fn text(&self) -> String {
        let texts: Vec<String> = self.items.iter().map(text).collect();
        texts.join("---\n")
    }
}

/// Runs a function.
///
/// # Errors
/// The function failed: what it said before, and what it told, a line each.
pub(crate) fn run(name: &str, config: Option<&str>, items: Vec<Resource>) -> Result<Trial, String> {
    let builtin = find(name).unwrap_or_else(|| panic!("no function is called `{name}`"));
    let function_config = config.map(|text| Resource::parse(text).expect("the functionConfig"));
    let mut list = ResourceList { items, function_config, ..ResourceList::default() };
    let ran = builtin.call(&mut list);
    let said = |list: &ResourceList| -> String {
        list.results.iter().map(|it| format!("{}\n", line(it))).collect()
    };
    ran.map_err(|error| said(&list) + &told(&error))?;
    let results = list.results.iter().map(line).collect();
    let messages = list.results.into_iter().map(|result| result.message).collect();
    Ok(Trial { items: list.items, results, messages })
}

/// The resources of a text, which `---` lines part, all in one file but those that begin with a line of their own for it.
pub(crate) fn items(input: &str) -> Vec<Resource> {
    let texts = input.split_inclusive('\n').fold(vec![String::new()], |mut texts, line| {
        match line {
            "---\n" => texts.push(String::new()),
            _ => texts.last_mut().unwrap().push_str(line),
        }
        texts
    });
    let item = |(index, text): (usize, String)| {
        let (path, text) = match named(&text) {
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

/// The file that the first line names, as it does in an output, and the rest.
fn named(text: &str) -> Option<(&str, &str)> {
    let (path, rest) = text.strip_prefix("# ")?.split_once('\n')?;
    let is_file = path.ends_with("Kptfile") || path.ends_with(".yaml");
    (is_file && !path.contains(' ')).then_some((path, rest))
}

/// A resource of the output. One that has another file says so on a line of its own.
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

fn told(error: &Error) -> String {
    error.diagnostics.iter().map(diagnostic).collect()
}

fn diagnostic(it: &Diagnostic) -> String {
    let place = it.location.as_ref().map(|at| format!("{}:{} ", at.line, at.column));
    let hints: String = it.hints.iter().map(|hint| format!("hint: {hint}\n")).collect();
    format!("{}: {}{}\n{hints}", it.severity.name(), place.unwrap_or_default(), it.message())
}
