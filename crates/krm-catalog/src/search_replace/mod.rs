//! `search-replace`: finds fields by path, value and file, and puts values or comments there.

mod glob;
mod path;
mod search;
mod visit;

use std::collections::HashMap;

use krm_core::diagnostics::contains_secret;
use krm_core::schema::ValueKind;
use krm_core::setters::{can_get_line_comment, typed_value};
use krm_sdk::yaml::{NodeRef, Path, Value};
use krm_sdk::{Diagnostic, Error, FunctionResult, Resource, ResourceList, Severity};

use crate::changes::in_resource;
use crate::config::map_diagnostics;
use crate::kinds::CatalogKind;
use crate::value_budget::ValueBudget;
use crate::{Builtin, Run, config, field_type, releases, results};
use search::Search;
use visit::Found;

/// The description of the function.
pub const BUILTIN: Builtin = Builtin {
    name: "search-replace",
    aliases: &[],
    summary: "find fields by path, value and file, and set their values or comments",
    doc: include_str!("../../doc/search-replace.md"),
    releases: releases::SEARCH_REPLACE,
    run: Run::Native(run),
};

/// Searches all resources, and replaces what was found.
pub fn run(list: &mut ResourceList) -> Result<(), Error> {
    let mut budget = ValueBudget::new();
    let searched = search_and_replace(list, &mut budget);
    // The original has no such limit, so this error keeps its own message and id.
    match budget.is_exceeded() {
        true => searched,
        false => searched.map_err(|error| map_diagnostics(error, in_original_words)),
    }
}

/// Compat: the original wraps its errors in this message, quoted as Go's `%q` does.
fn in_original_words(error: Diagnostic) -> Diagnostic {
    let message = results::quoted(error.message());
    let message = format!("failed to perform search-replace operation: {message}").into();
    let mut reworded = Diagnostic::error(CatalogKind::Failed { message }).located_as(&error);
    reworded.hints = error.hints;
    reworded
}

fn search_and_replace(list: &mut ResourceList, budget: &mut ValueBudget) -> Result<(), Error> {
    let search = Search::read(list)?;
    let mut results = Vec::new();
    let (mut errors, mut parts) = (Vec::new(), 0);
    let config_text = config::config_text(list);
    for item in
        list.items.iter_mut().filter(|it| !config::is_function_config(it, config_text.as_deref()))
    {
        let file = item.path().map(|path| path.as_str().to_owned()).unwrap_or_default();
        if !search.includes_file(&file) {
            continue;
        }
        let replaced = match search.path_to_create() {
            Some(names) => put_at(item, &search, &names, budget),
            None => replace(item, &search, &mut parts, budget),
        };
        match replaced {
            Ok(replaced) => results.extend(replaced),
            Err(error) if search.missing_group.as_ref() == Some(&error) => return Err(error),
            Err(error) if budget.is_exceeded() => return Err(error),
            Err(error) => errors.extend(error.diagnostics),
        }
    }
    if !errors.is_empty() {
        return Err(Error::of_diagnostics(errors));
    }
    if results.is_empty() {
        list.add_result(Severity::Info, "no matches");
        if parts > 0 {
            let message = format!(
                "by-value-regex matches a part of {parts} values, but must match whole values; add `.*` for the rest"
            );
            list.add_result(Severity::Warning, message);
        }
    }
    list.results.extend(results);
    Ok(())
}

/// Sets the value at a path without wildcards, which is created if it is missing.
fn put_at(
    item: &mut Resource,
    search: &Search,
    names: &[&str],
    budget: &mut ValueBudget,
) -> Result<Vec<FunctionResult>, Error> {
    let path = path::resolve(item.root(), names);
    let put = search.put_value.as_deref().unwrap_or_default();
    budget.charge(put.len() + search.put_comment.as_ref().map_or(0, String::len));
    budget.check(item)?;
    let existing = item.root().document().find(&path);
    if let Some(node) = existing.filter(|node| node.resolve().as_scalar().is_none()) {
        let error = Diagnostic::error(CatalogKind::NotAScalar { field: path.to_string() });
        return Err(in_resource(item, error.at(item.item().file(), node.full_span())));
    }
    let value = match existing.and_then(|node| node.resolve().as_scalar()) {
        Some(scalar) => {
            typed_value(scalar.node(), put, field_type::of(item, &path).map(ValueKind::name))
        }
        None => new_value(put, field_type::of(item, &path)),
    };
    let edited = item.edit(|edit, root| edit.set_at(root.document(), &path, value.clone()));
    edited.map_err(|mut error| {
        let hint =
            "use a path through mappings; elements of sequences are `[0]`, `[*]` or `[name=value]`";
        error.diagnostics.iter_mut().for_each(|it| it.hints.push(hint.to_owned()));
        error
    })?;
    if let Some(comment) = &search.put_comment {
        put_comment(item, &path, comment)?;
    }
    let field = names.join(".");
    let message = match item.root().document().find(&path) {
        Some(node) => results::value(item, node, put),
        None => results::quoted(put),
    };
    Ok(vec![results::of_field(item, field, format!("Mutated field value to {message}"))])
}

fn put_comment(item: &mut Resource, path: &Path, comment: &str) -> Result<(), Error> {
    item.edit(|edit, root| {
        let node = root.document().find(path).filter(|node| can_get_line_comment(*node));
        if let Some(node) = node {
            edit.set_line_comment(node, &line(comment));
        }
        Ok(())
    })
}

/// Searches a resource, and changes the matching fields.
fn replace(
    item: &mut Resource,
    search: &Search,
    parts: &mut usize,
    budget: &mut ValueBudget,
) -> Result<Vec<FunctionResult>, Error> {
    let found = visit::find(item, search, parts, budget);
    budget.check(item)?;
    if found.is_empty() {
        return Ok(Vec::new());
    }
    if let Some(error) = &search.missing_group {
        return Err(error.clone());
    }
    let mut results = Vec::new();
    for it in found.iter().filter(|it| it.comment.is_some() && !it.can_get_line_comment) {
        let message = format!("cannot add a comment to `{}`", it.path);
        results.push(item.result(Severity::Warning, message).field(&it.path.to_string()).into());
    }
    item.edit(|edit, root| {
        let nodes: Vec<NodeRef<'_>> = root.descendants().collect();
        for it in &found {
            let Some(&node) = nodes.get(it.number) else { continue };
            if let Some(value) = &it.value {
                edit.set(node, typed_value(node, value, None))?;
            }
            if let Some(comment) = it.comment.as_deref().filter(|_| it.can_get_line_comment) {
                edit.set_line_comment(node, &line(comment));
            }
        }
        Ok(())
    })?;
    let action = if search.replaces() { "Mutated field value to" } else { "Matched field value" };
    let comments = visit::comments(item);
    let is_secret = contains_secret(item.root().document());
    // A scalar was replaced by a scalar, so every node has the number that it had before.
    let nodes: Vec<NodeRef<'_>> = item.root().descendants().collect();
    for it in &found {
        let Some(&node) = nodes.get(it.number) else { continue };
        let source = source_with_comment(node, it, &comments);
        let value = results::masked(is_secret, &it.path, &source);
        let field = results::path_text(&it.path);
        results.push(results::of_field(item, field, format!("{action} {value}")));
    }
    Ok(results)
}

/// The value as it is written, with its line comment.
fn source_with_comment(
    node: NodeRef<'_>,
    found: &Found,
    comments: &HashMap<u32, String>,
) -> String {
    if found.is_list {
        return flow_style(node);
    }
    let is_block = node.as_scalar().is_some_and(|it| it.style().is_block());
    match comments.get(&node.start()).filter(|_| !is_block) {
        Some(comment) => format!("{} {comment}", node.text().trim_end()),
        None => node.text().trim_end().to_owned(),
    }
}

/// A value in flow style.
fn flow_style(node: NodeRef<'_>) -> String {
    if let Some(list) = node.as_sequence() {
        let items: Vec<String> = list.items().map(flow_style).collect();
        return format!("[{}]", items.join(", "));
    }
    let Some(mapping) = node.as_mapping() else { return node.text().trim_end().to_owned() };
    let entry =
        |it: krm_sdk::yaml::Entry<'_>| format!("{}: {}", it.key.text(), flow_style(it.value));
    let entries: Vec<String> = mapping.entries().map(entry).collect();
    format!("{{{}}}", entries.join(", "))
}

fn line(comment: &str) -> String {
    if comment.starts_with('#') { comment.to_owned() } else { format!("# {comment}") }
}

fn new_value(text: &str, shape: Option<ValueKind>) -> Value<'static> {
    match shape {
        Some(ValueKind::String) => Value::string(text.to_owned()),
        _ => Value::plain(text.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Finding every match by its path would take quadratic time, which is minutes here.
    #[test]
    fn every_match_of_a_large_resource_is_replaced() {
        for count in [10_000, 20_000] {
            let fields: String = (0..count).map(|at| format!("  k{at}: old # c{at}\n")).collect();
            let text =
                format!("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n{fields}");
            let config = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: f\ndata:\n  by-value: old\n  put-value: new\n";
            let parse = |text: &str| Resource::parse(text).expect("the text is a resource");
            let (items, function_config) = (vec![parse(&text)], Some(parse(config)));
            let mut list = ResourceList { items, function_config, ..ResourceList::default() };
            run(&mut list).expect("all values are scalars");
            assert_eq!(list.items[0].text(), text.replace(": old #", ": new #"));
            assert_eq!(list.results.len(), count);
            let last = &list.results[count - 1];
            assert_eq!(last.message, format!("Mutated field value to \"new # c{}\"", count - 1));
        }
    }
}
