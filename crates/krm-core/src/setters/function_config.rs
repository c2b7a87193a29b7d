//! The functionConfig of apply-setters: where packages of kpt keep the values of their setters.

use krm_yaml::{File, NodeKind, NodeRef, Value};

use super::definition::{NodeLocation, Setter, SetterSource, SetterValue, texts};
use crate::PackageFile;
use crate::model::package_path::PackagePath;
use crate::model::resource::{field, scalar_text};

/// A call of apply-setters in the pipeline of a package.
#[derive(Clone, Copy, Debug)]
pub(super) struct Function<'a> {
    /// The file with the pipeline.
    pub(super) kptfile: &'a PackageFile,
    /// The file with the values: the Kptfile, or the one that `configPath` names.
    pub(super) file: &'a PackageFile,
    /// The function in the pipeline.
    pub(super) node: NodeRef<'a>,
    /// The mapping from names to values, where there is one.
    pub(super) data: Option<NodeRef<'a>>,
}

/// The calls of apply-setters in the pipelines of these files.
pub(super) fn functions<'a>(files: &[&'a PackageFile]) -> Vec<Function<'a>> {
    let kptfiles = files.iter().filter(|file| file.path.name() == "Kptfile");
    kptfiles.flat_map(|file| in_pipeline(file, files)).collect()
}

fn in_pipeline<'a>(file: &'a PackageFile, files: &[&'a PackageFile]) -> Vec<Function<'a>> {
    let root = file.file().and_then(|text| text.document(0)?.root());
    let pipeline = root.and_then(|root| field(root, "pipeline"));
    let list = pipeline.and_then(|it| field(it, "mutators")).and_then(|it| it.as_sequence());
    let calls = list.into_iter().flat_map(|list| list.items()).filter(|it| is_apply_setters(*it));
    calls.map(|call| values(file, call, files)).collect()
}

/// By the last part of its image or program, without tag and digest.
fn is_apply_setters(call: NodeRef<'_>) -> bool {
    let named = ["image", "exec"].iter().find_map(|name| scalar_text(field(call, name)?));
    named.is_some_and(|name| {
        let program = name.split_whitespace().next().unwrap_or_default();
        let last = program.rsplit('/').next().unwrap_or_default();
        last.split([':', '@']).next() == Some("apply-setters")
    })
}

fn values<'a>(file: &'a PackageFile, call: NodeRef<'a>, files: &[&'a PackageFile]) -> Function<'a> {
    let inline = field(call, "configMap");
    let path = field(call, "configPath").and_then(scalar_text);
    let Some(path) = path.filter(|_| inline.is_none()) else {
        return Function {
            kptfile: file,
            file,
            node: call,
            data: inline.filter(|it| it.as_mapping().is_some()),
        };
    };
    let folder = file.path.directory();
    let path = PackagePath::new(format!("{folder}/{path}").trim_start_matches('/')).ok();
    let other = path.and_then(|path| files.iter().find(|file| file.path == path));
    let data = other.and_then(|file| {
        let root = file.file()?.document(0)?.root()?;
        Some((*file, field(root, "data").filter(|it| it.as_mapping().is_some())?))
    });
    match data {
        Some((other, data)) => {
            Function { kptfile: file, file: other, node: call, data: Some(data) }
        }
        None => Function { kptfile: file, file, node: call, data: None },
    }
}

/// The setters that a call of apply-setters has values for.
pub(super) fn setters<'a>(function: &Function<'a>) -> Vec<Setter<'a>> {
    function.data.map(|data| of_data(function.file, data)).unwrap_or_default()
}

/// The setters that the `data` of a functionConfig has values for.
pub(super) fn of_data<'a>(file: &'a PackageFile, data: NodeRef<'a>) -> Vec<Setter<'a>> {
    let entries = data.as_mapping().into_iter().flat_map(|data| data.entries().collect::<Vec<_>>());
    let setter = |entry: krm_yaml::Entry<'a>| {
        let name = scalar_text(entry.key)?.into_owned();
        let mut setter = Setter::new(name, SetterSource::FunctionConfig { value: entry.value });
        setter.location = Some(NodeLocation { file, node: entry.key });
        setter.value = match entry.value.resolve().as_scalar() {
            Some(scalar) => SetterValue::Text(scalar.value().into_owned()),
            None => SetterValue::List(texts(entry.value.resolve())),
        };
        Some(setter)
    };
    entries.filter_map(setter).collect()
}

/// A list that is written as a text of YAML; an empty text is an empty list.
pub(super) fn list(text: &str) -> Option<Vec<String>> {
    if text.trim().is_empty() {
        return Some(Vec::new());
    }
    let file = File::parse(text.to_owned()).ok()?;
    let root = sequence(&file)?;
    root.children().all(|it| it.as_scalar().is_some()).then(|| texts(root))
}

/// The items of such a list, of any kind and with the types that they are written with.
pub(super) fn items(text: &str) -> Option<Vec<Value<'static>>> {
    if text.trim().is_empty() {
        return Some(Vec::new());
    }
    let file = File::parse(text.to_owned()).ok()?;
    let items = sequence(&file)?.children().map(|item| item.to_value()?.into_owned());
    items.collect::<Result<_, _>>().ok()
}

fn sequence(file: &File) -> Option<NodeRef<'_>> {
    let is_whole = file.errors().next().is_none() && file.documents().len() == 1;
    file.document(0)?.root().filter(|root| is_whole && root.kind() == NodeKind::Sequence)
}

/// A list as a text of YAML: in brackets, or in lines where the old text has lines.
pub(super) fn list_text(items: &[String], old: &str) -> String {
    let item = |item: &String| match Value::plain(item.clone()) {
        Value::String(_) if is_simple(item) => item.clone(),
        Value::Number(_) => item.clone(),
        _ => crate::print::json::write(&Value::string(item.clone())),
    };
    let items: Vec<String> = items.iter().map(item).collect();
    if !old.trim_start().starts_with('-') || items.is_empty() {
        return format!("[{}]", items.join(", "));
    }
    let end = if old.ends_with('\n') { "\n" } else { "" };
    format!("- {}{end}", items.join("\n- "))
}

fn is_simple(text: &str) -> bool {
    let ends = |c: char| c.is_ascii_alphanumeric();
    text.starts_with(ends)
        && text.chars().all(|c| c.is_ascii_alphanumeric() || "-_./:".contains(c))
        && text.ends_with(ends)
}
