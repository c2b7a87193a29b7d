//! `search-replace`: finds fields by path, value and file, and puts values or comments there.

mod glob;
mod path;
mod search;
mod visit;

use krm_core::schema::ValueKind;
use krm_core::setters::{can_have_line_comment, typed_value};
use krm_sdk::yaml::{CommentPosition, NodeRef, Path, Value};
use krm_sdk::{Diagnostic, Error, FunctionResult, Resource, ResourceList, Severity};

use crate::config::failing;
use crate::{Builtin, field_type, own_config, telling};
use search::Search;
use visit::Found;

/// The function as it is listed.
pub const BUILTIN: Builtin = Builtin {
    name: "search-replace",
    aliases: &[],
    summary: "find fields by path, value and file, and put values or comments there",
    doc: include_str!("../../doc/search-replace.md"),
    tags: &["v0.1", "v0.1.0", "v0.2", "v0.2.0"],
    run,
};

/// Finds, and puts.
pub fn run(list: &mut ResourceList) -> Result<(), Error> {
    let around = |words: &str| {
        format!("failed to perform search-replace operation: {}", telling::quoted(words))
    };
    search_and_replace(list).map_err(|error| failing(error, around))
}

fn search_and_replace(list: &mut ResourceList) -> Result<(), Error> {
    let search = Search::read(list)?;
    let mut results = Vec::new();
    let (mut errors, mut parts) = (Vec::new(), 0);
    let own = own_config::text(list);
    for item in list.items.iter_mut().filter(|it| !own_config::is_it(it, own.as_deref())) {
        let file = item.path().map(|path| path.as_str().to_owned()).unwrap_or_default();
        if !search.is_in(&file) {
            continue;
        }
        let done = match search.target() {
            Some(names) => put_at(item, &search, &names),
            None => replace(item, &search, &mut parts),
        };
        match done {
            Ok(told) => results.extend(told),
            Err(error) if search.missing_group.as_ref() == Some(&error) => return Err(error),
            Err(error) => errors.extend(error.diagnostics),
        }
    }
    if !errors.is_empty() {
        return Err(errors.into());
    }
    if results.is_empty() {
        list.say(Severity::Info, "no matches");
        if parts > 0 {
            let words = format!(
                "by-value-regex fits a part of {parts} values, and is held against whole ones; write `.*` for the rest"
            );
            list.say(Severity::Warning, words);
        }
    }
    list.results.extend(results);
    Ok(())
}

/// Puts the value at a path of its own, which is made where it is missing.
fn put_at(
    item: &mut Resource,
    search: &Search,
    names: &[&str],
) -> Result<Vec<FunctionResult>, Error> {
    let path = path::resolve(item.root(), names);
    let put = search.put_value.as_deref().unwrap_or_default();
    let there = item.root().document().find(&path);
    if let Some(node) = there.filter(|node| node.resolve().as_scalar().is_none()) {
        let words = format!("`{path}` leads to no value, and put-value is one");
        return Err(refused(item, node, words));
    }
    let value = match there.and_then(|node| node.resolve().as_scalar()) {
        Some(scalar) => {
            typed_value(scalar.node(), put, field_type::of(item, &path).map(ValueKind::name))
        }
        None => new_value(put, field_type::of(item, &path)),
    };
    item.edit(|edit, root| edit.set_at(root.document(), &path, value.clone())).map_err(
        |mut error| {
            let hint =
                "name a field below mappings; items of lists are `[0]`, `[*]` or `[name=value]`";
            error.diagnostics.iter_mut().for_each(|it| it.hints.push(hint.to_owned()));
            error
        },
    )?;
    if let Some(comment) = &search.put_comment {
        put_comment(item, &path, comment)?;
    }
    let field = names.join(".");
    let message = match item.root().document().find(&path) {
        Some(node) => telling::value(item, node, put),
        None => telling::quoted(put),
    };
    Ok(vec![telling::of_field(item, field, format!("Mutated field value to {message}"))])
}

fn put_comment(item: &mut Resource, path: &Path, comment: &str) -> Result<(), Error> {
    item.edit(|edit, root| {
        match root.document().find(path).filter(|node| can_have_line_comment(*node)) {
            Some(node) => edit.set_comment(node, CommentPosition::Line, Some(&line(comment))),
            None => Ok(()),
        }
    })
}

/// Finds fields, and changes them where something is put.
fn replace(
    item: &mut Resource,
    search: &Search,
    parts: &mut usize,
) -> Result<Vec<FunctionResult>, Error> {
    let found = visit::find(item, search, parts);
    if found.is_empty() {
        return Ok(Vec::new());
    }
    if let Some(error) = &search.missing_group {
        return Err(error.clone());
    }
    let mut told = Vec::new();
    for it in found.iter().filter(|it| it.comment.is_some() && !it.can_have_line_comment) {
        let words = format!("no comment can stand beside `{}`, so it gets none", it.path);
        told.push(item.result(Severity::Warning, words).field(&it.path.to_string()).into());
    }
    item.edit(|edit, root| {
        for it in &found {
            let Some(node) = root.document().find(&it.path) else { continue };
            if let Some(value) = &it.value {
                edit.set(node, typed_value(node, value, None))?;
            }
            if let Some(comment) = it.comment.as_deref().filter(|_| it.can_have_line_comment) {
                edit.set_comment(node, CommentPosition::Line, Some(&line(comment)))?;
            }
        }
        Ok(())
    })?;
    let action = if search.puts() { "Mutated field value to" } else { "Matched field value" };
    let comments = visit::comments(item);
    for it in &found {
        let Some(node) = item.root().document().find(&it.path) else { continue };
        let value = telling::value(item, node, &shown(node, it, &comments));
        told.push(telling::of_field(item, telling::path(node), format!("{action} {value}")));
    }
    Ok(told)
}

/// The value as it is written, with the comment beside it.
fn shown(node: NodeRef<'_>, found: &Found, comments: &[(u32, String)]) -> String {
    if found.is_list {
        return in_brackets(node);
    }
    let is_block = node.as_scalar().is_some_and(|it| it.style().is_block());
    let beside = comments.iter().find(|(at, _)| *at == node.start() && !is_block);
    match beside {
        Some((_, comment)) => format!("{} {comment}", node.text().trim_end()),
        None => node.text().trim_end().to_owned(),
    }
}

/// A list on one line, as deep as the text is nested.
fn in_brackets(node: NodeRef<'_>) -> String {
    if let Some(list) = node.as_sequence() {
        let items: Vec<String> = list.items().map(in_brackets).collect();
        return format!("[{}]", items.join(", "));
    }
    let Some(mapping) = node.as_mapping() else { return node.text().trim_end().to_owned() };
    let entry =
        |it: krm_sdk::yaml::Entry<'_>| format!("{}: {}", it.key.text(), in_brackets(it.value));
    let entries: Vec<String> = mapping.entries().map(entry).collect();
    format!("{{{}}}", entries.join(", "))
}

fn line(comment: &str) -> String {
    if comment.starts_with('#') { comment.to_owned() } else { format!("# {comment}") }
}

fn refused(item: &Resource, node: NodeRef<'_>, words: String) -> Error {
    let mut error = Diagnostic::untyped_error(words).at(item.item().file(), node.full_span());
    error.file = item.path().map(|path| path.as_str().into());
    error.resource = Some(item.view().label().into());
    error.hint("name the field in it that is meant").into()
}

fn new_value(text: &str, shape: Option<ValueKind>) -> Value<'static> {
    match shape {
        Some(ValueKind::String) => Value::string(text.to_owned()),
        _ => Value::plain(text.to_owned()),
    }
}
