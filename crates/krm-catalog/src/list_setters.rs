//! `list-setters`: which setters there are, what they hold, and how many fields follow them.

use std::collections::BTreeMap;

use krm_core::PackageFile;
use krm_core::setters::{
    FieldScan, ListSetters, ListedSetter, ReferenceTarget, SetterSource, SetterValue, Setters,
    find_setter_fields,
};
use krm_sdk::yaml::{CommentPosition, ScalarType};
use krm_sdk::{Error, FunctionResult, ResourceList, Severity};

use crate::{Builtin, results};

/// The function as it is listed.
pub const BUILTIN: Builtin = Builtin {
    name: "list-setters",
    aliases: &[],
    summary: "list the setters of `kpt-set` comments, with their values and how many fields follow them",
    doc: include_str!("../doc/list-setters.md"),
    tags: &["v0.1", "v0.1.0"],
    run,
};

/// Says what there is; changes nothing.
pub fn run(list: &mut ResourceList) -> Result<(), Error> {
    let files: Vec<PackageFile> = list.items.iter().map(|it| it.item().package_file()).collect();
    // Compat: the values are those of this package; sub-packages have only fields.
    let is_own =
        |file: &&PackageFile| file.path.name() != "Kptfile" || file.path.directory().is_empty();
    let own = files.iter().filter(is_own).collect();
    let setters = Setters::new(own, &[], files.iter().map(patterns).collect());
    let mut results: Vec<FunctionResult> =
        setters.warnings().iter().map(results::warning).collect();
    let listed = ListSetters::default().compute(&setters);
    let kept = listed
        .setters
        .iter()
        .filter(|it| !matches!(it.setter.source, SetterSource::OpenApi { .. }));
    let lines: BTreeMap<&str, String> =
        kept.map(|it| (it.setter.name.as_str(), line(it))).collect();
    if lines.is_empty() {
        results.push(FunctionResult::new(Severity::Warning, "no setters found"));
    }
    let told = lines.into_values().map(|line| FunctionResult::new(Severity::Info, line));
    list.results.extend(told.chain(results));
    Ok(())
}

/// The fields that `kpt-set` comments beside them bind to setters.
fn patterns(file: &PackageFile) -> FieldScan<'_> {
    let mut found = find_setter_fields(file);
    found.fields.retain(|field| {
        let is_pattern = matches!(field.reference.target, ReferenceTarget::Pattern(_));
        is_pattern && field.comment.position == CommentPosition::Line
    });
    found
}

fn line(listed: &ListedSetter<'_, '_>) -> String {
    let setter = listed.setter;
    let of_function = matches!(setter.source, SetterSource::FunctionConfig { .. });
    let (value, kind) = match &setter.value {
        SetterValue::List(items) => (shown(items, of_function), "array"),
        SetterValue::Scalar(text) => match items_of(text).filter(|_| of_function) {
            Some(items) => (shown(&items, true), "array"),
            None => (text.clone(), kind(listed)),
        },
        SetterValue::Unset => (String::new(), kind(listed)),
    };
    format!("Name: {}, Value: {value}, Type: {kind}, Count: {}", setter.name, listed.fields.len())
}

/// Compat: the values of a field are sorted, and those of the functionConfig are not.
fn shown(items: &[String], is_ordered: bool) -> String {
    let mut items: Vec<&str> = items.iter().map(String::as_str).collect();
    if !is_ordered {
        items.sort_unstable();
    }
    format!("[{}]", items.join(", "))
}

/// A list that is written as a text of YAML.
fn items_of(text: &str) -> Option<Vec<String>> {
    let file = krm_sdk::yaml::File::parse(text.to_owned()).ok()?;
    let items = file.document(0)?.root()?.as_sequence()?.items();
    items.map(|item| Some(item.as_scalar()?.value().into_owned())).collect()
}

/// The type of the first field that is no text.
fn kind(listed: &ListedSetter<'_, '_>) -> &'static str {
    let scalars = listed.fields.iter().filter_map(|field| field.node.as_scalar());
    let mut kinds = scalars.map(|scalar| match scalar.resolve() {
        ScalarType::Int(_) => "int",
        ScalarType::Float(_) => "float",
        ScalarType::Bool(_) => "bool",
        ScalarType::Null => "null",
        ScalarType::String => "str",
    });
    kinds.find(|kind| *kind != "str").unwrap_or("str")
}
