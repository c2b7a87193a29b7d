//! `list-setters`: lists setters with their values and the number of their fields.

use std::collections::BTreeMap;

use krm_core::PackageFile;
use krm_core::setters::{
    FieldScan, ListSetters, ListedSetter, ReferenceTarget, SetterSource, SetterValue, Setters,
    find_setter_fields,
};
use krm_sdk::yaml::{CommentPosition, ScalarType};
use krm_sdk::{Error, FunctionResult, Resource, ResourceList, Severity};

use crate::{Builtin, Run, releases, results};

/// The description of the function.
pub const BUILTIN: Builtin = Builtin {
    name: "list-setters",
    aliases: &[],
    summary: "list the setters of `kpt-set` comments, with their values and the number of their fields",
    doc: include_str!("../doc/list-setters.md"),
    releases: releases::LIST_SETTERS,
    run: Run::Native(run),
};

/// A setter with its value, type and number of fields.
pub(crate) struct SetterRow {
    pub(crate) name: String,
    pub(crate) value: String,
    pub(crate) kind: &'static str,
    pub(crate) count: usize,
}

/// Reports the setters.
pub fn run(list: &mut ResourceList) -> Result<(), Error> {
    let (rows, warnings) = list_setters(&list.items);
    let mut results: Vec<FunctionResult> = warnings;
    if rows.is_empty() {
        results.push(FunctionResult::new(Severity::Warning, "no setters found"));
    }
    let infos = rows.into_iter().map(|SetterRow { name, value, kind, count }| {
        let line = format!("Name: {name}, Value: {value}, Type: {kind}, Count: {count}");
        FunctionResult::new(Severity::Info, line)
    });
    list.results.extend(infos.chain(results));
    Ok(())
}

/// The setters, sorted by name.
pub(crate) fn rows(items: &[Resource]) -> Vec<SetterRow> {
    list_setters(items).0
}

fn list_setters(items: &[Resource]) -> (Vec<SetterRow>, Vec<FunctionResult>) {
    let files: Vec<PackageFile> = items.iter().map(|it| it.item().package_file()).collect();
    // Compat: values come from the Kptfile of this package only; fields of subpackages count.
    let is_in_package =
        |file: &&PackageFile| file.path.name() != "Kptfile" || file.path.directory().is_empty();
    let sources = files.iter().filter(is_in_package).collect();
    let setters = Setters::new(sources, &[], files.iter().map(patterns).collect());
    let warnings = setters.warnings().iter().map(results::warning).collect();
    let listed = ListSetters::default().compute(&setters);
    let setters = listed
        .setters
        .iter()
        .filter(|it| !matches!(it.setter.source, SetterSource::OpenApi { .. }));
    let rows: BTreeMap<&str, SetterRow> =
        setters.map(|it| (it.setter.name.as_str(), row(it))).collect();
    (rows.into_values().collect(), warnings)
}

/// The fields that refer to setters in line comments.
fn patterns(file: &PackageFile) -> FieldScan<'_> {
    let mut found = find_setter_fields(file);
    found.fields.retain(|field| {
        let is_pattern = matches!(field.reference.target, ReferenceTarget::Pattern(_));
        is_pattern && field.comment.position == CommentPosition::Line
    });
    found
}

fn row(listed: &ListedSetter<'_, '_>) -> SetterRow {
    let setter = listed.setter;
    let in_function_config = matches!(setter.source, SetterSource::FunctionConfig { .. });
    let (value, kind) = match &setter.value {
        SetterValue::List(items) => (format_list(items, in_function_config), "array"),
        SetterValue::Scalar(text) => match items_of(text).filter(|_| in_function_config) {
            Some(items) => (format_list(&items, true), "array"),
            None => (text.clone(), kind(listed)),
        },
        SetterValue::Unset => (String::new(), kind(listed)),
    };
    SetterRow { name: setter.name.clone(), value, kind, count: listed.fields.len() }
}

/// Compat: elements of a field are sorted, those of the functionConfig are not.
fn format_list(items: &[String], is_ordered: bool) -> String {
    let mut items: Vec<&str> = items.iter().map(String::as_str).collect();
    if !is_ordered {
        items.sort_unstable();
    }
    format!("[{}]", items.join(", "))
}

/// The elements of a YAML sequence in a string.
fn items_of(text: &str) -> Option<Vec<String>> {
    let file = krm_sdk::yaml::File::parse(text.to_owned()).ok()?;
    let items = file.document(0)?.root()?.as_sequence()?.items();
    items.map(|item| Some(item.as_scalar()?.value().into_owned())).collect()
}

/// The type of the first field that is not a string.
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
