//! The functionConfig of apply-setters, where packages of kpt keep the values of their setters.

use krm_yaml::{File, NodeKind, NodeRef, Value};

use super::definition::{NodeLocation, Setter, SetterSource, SetterValue, scalar_elements};
use super::typed_value::is_string_list;
use super::{mapping_entries, root};
use crate::PackageFile;
use crate::functions::kptfile::{self, Selection};
use crate::model::package_path::PackagePath;
use crate::model::resource::{field, scalar_text};

/// A call of apply-setters in the pipeline of a Kptfile.
#[derive(Clone, Copy, Debug)]
pub(super) struct ApplySettersCall<'a> {
    /// The file with the pipeline.
    pub(super) kptfile: &'a PackageFile,
    /// The file with the values: the Kptfile, or the one that `configPath` names.
    pub(super) file: &'a PackageFile,
    /// The function in the pipeline.
    pub(super) node: NodeRef<'a>,
    /// The mapping from names to values, if there is one.
    pub(super) data: Option<NodeRef<'a>>,
}

impl<'a> ApplySettersCall<'a> {
    /// The resources that the call gets; none if it gets all of them.
    pub(super) fn selection(&self) -> Option<Selection> {
        Some(kptfile::selection(self.node)).filter(|it| *it != Selection::default())
    }

    /// The setters that the call has values for.
    pub(super) fn setters(&self) -> Vec<Setter<'a>> {
        self.data.map(|data| setters_of_data(self.file, data)).unwrap_or_default()
    }
}

/// The calls of apply-setters in the pipelines of these files.
pub(super) fn find_calls<'a>(files: &[&'a PackageFile]) -> Vec<ApplySettersCall<'a>> {
    let kptfiles = files.iter().filter(|file| file.path.name() == "Kptfile");
    kptfiles.flat_map(|file| calls_in(file, files)).collect()
}

fn calls_in<'a>(kptfile: &'a PackageFile, files: &[&'a PackageFile]) -> Vec<ApplySettersCall<'a>> {
    let pipeline = root(kptfile).and_then(|root| field(root, "pipeline"));
    let list = pipeline.and_then(|it| field(it, "mutators")).and_then(|it| it.as_sequence());
    let calls = list.into_iter().flat_map(|list| list.items()).filter(|it| is_apply_setters(*it));
    calls.map(|node| with_config(kptfile, node, files)).collect()
}

/// Compares the last part of the image or program, without tag and digest.
fn is_apply_setters(function: NodeRef<'_>) -> bool {
    let named = ["image", "exec"].iter().find_map(|name| scalar_text(field(function, name)?));
    named.is_some_and(|name| {
        let program = name.split_whitespace().next().unwrap_or_default();
        let last = program.rsplit('/').next().unwrap_or_default();
        last.split([':', '@']).next() == Some("apply-setters")
    })
}

fn with_config<'a>(
    kptfile: &'a PackageFile,
    node: NodeRef<'a>,
    files: &[&'a PackageFile],
) -> ApplySettersCall<'a> {
    let is_mapping = |node: &NodeRef<'_>| node.as_mapping().is_some();
    let inline = field(node, "configMap");
    let path = field(node, "configPath").and_then(scalar_text);
    let Some(path) = path.filter(|_| inline.is_none()) else {
        let data = inline.filter(is_mapping);
        return ApplySettersCall { kptfile, file: kptfile, node, data };
    };
    let directory = kptfile.path.directory();
    let path = PackagePath::new(format!("{directory}/{path}").trim_start_matches('/')).ok();
    let config = path.and_then(|path| files.iter().find(|file| file.path == path));
    let data =
        config.and_then(|file| Some((*file, field(root(file)?, "data").filter(is_mapping)?)));
    match data {
        Some((file, data)) => ApplySettersCall { kptfile, file, node, data: Some(data) },
        None => ApplySettersCall { kptfile, file: kptfile, node, data: None },
    }
}

/// The setters that the `data` of a functionConfig has values for.
pub(super) fn setters_of_data<'a>(file: &'a PackageFile, data: NodeRef<'a>) -> Vec<Setter<'a>> {
    let setter = |entry: krm_yaml::Entry<'a>| {
        let name = scalar_text(entry.key)?.into_owned();
        let mut setter = Setter::new(name, SetterSource::FunctionConfig { value: entry.value });
        setter.location = Some(NodeLocation { file, node: entry.key });
        setter.value = SetterValue::of_node(entry.value.resolve());
        Some(setter)
    };
    mapping_entries(data).filter_map(setter).collect()
}

/// The elements of a sequence of scalars that is written as a string of YAML. An empty string is an empty list.
pub(super) fn parse_scalar_list(text: &str) -> Option<Vec<String>> {
    if text.trim().is_empty() {
        return Some(Vec::new());
    }
    let file = File::parse(text.to_owned()).ok()?;
    let root = root_sequence(&file)?;
    root.children().all(|it| it.as_scalar().is_some()).then(|| scalar_elements(root))
}

/// The elements of a sequence that is written as a string of YAML, of any type.
pub(super) fn parse_list(text: &str) -> Option<Vec<Value<'static>>> {
    if text.trim().is_empty() {
        return Some(Vec::new());
    }
    list_values(root_sequence(&File::parse(text.to_owned()).ok()?)?)
}

/// The elements of a sequence as values.
pub(super) fn list_values(list: NodeRef<'_>) -> Option<Vec<Value<'static>>> {
    let items = list.as_sequence()?.items().map(|item| item.to_value()?.into_owned());
    items.collect::<Result<_, _>>().ok()
}

fn root_sequence(file: &File) -> Option<NodeRef<'_>> {
    let is_valid = file.errors().next().is_none() && file.documents().len() == 1;
    file.document(0)?.root().filter(|root| is_valid && root.kind() == NodeKind::Sequence)
}

/// A setter value as a string for a ConfigMap. `fields` are those that follow the setter.
pub(super) fn config_string<'a>(
    value: &SetterValue,
    fields: impl IntoIterator<Item = NodeRef<'a>>,
) -> String {
    match value {
        SetterValue::List(items) => format_list(items, &ListStyle::of_fields("", fields)),
        other => other.to_string(),
    }
}

/// How a list is written as a string of YAML.
pub(super) struct ListStyle<'o> {
    /// The string before; its style and final line break are kept.
    old: &'o str,
    /// Whether fields have strings only, so that a number must be quoted to stay a string when kpt applies it.
    strings: bool,
}

impl<'o> ListStyle<'o> {
    /// The style of the old string, with the types of the fields that follow it.
    pub(super) fn of_fields<'a>(
        old: &'o str,
        fields: impl IntoIterator<Item = NodeRef<'a>>,
    ) -> Self {
        Self { old, strings: fields.into_iter().any(is_string_list) }
    }
}

/// A list as a string of YAML: in block style if the old string has block style, otherwise in flow style.
pub(super) fn format_list(items: &[String], style: &ListStyle<'_>) -> String {
    let item = |item: &String| match Value::plain(item.clone()) {
        Value::String(_) if needs_no_quotes(item) => item.clone(),
        Value::Number(_) | Value::Bool(_) if !style.strings => item.clone(),
        _ => crate::print::json::string(item),
    };
    let items: Vec<String> = items.iter().map(item).collect();
    if !style.old.trim_start().starts_with('-') || items.is_empty() {
        return format!("[{}]", items.join(", "));
    }
    let end = if style.old.ends_with('\n') { "\n" } else { "" };
    format!("- {}{end}", items.join("\n- "))
}

fn needs_no_quotes(text: &str) -> bool {
    let is_alphanumeric = |c: char| c.is_ascii_alphanumeric();
    text.starts_with(is_alphanumeric)
        && text.chars().all(|c| c.is_ascii_alphanumeric() || "-_./:".contains(c))
        && text.ends_with(is_alphanumeric)
}
