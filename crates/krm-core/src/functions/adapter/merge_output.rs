//! Merges the output of a program into the list that it was started for, keeping what users changed in generated resources.

use krm_yaml::{Edit, EditError, EditErrorKind, File, NodeRef, Value};

use super::existing::{self, Existing};
use super::{Input, results};
use crate::diagnostics::CommonKind;
use crate::files::placement::wrapped_output_path;
use crate::format::{FormatOptions, format};
use crate::functions::resource_list::ResourceListKind;
use crate::functions::resource_list::annotations::{LEGACY_PATH, PATH};
use crate::merge::{MergeOptions, Merger, Version};
use crate::model::resource::{field, is_null, is_resource, resources};
use crate::print::source_text;
use crate::{Diagnostic, Resource, annotate};

/// The list with the output of the program: an existing resource gets the fields that the program printed and keeps the others; a new one
/// is added, with the path `config/NAME_KIND.yaml` unless it has one. The results of the program are added to those of the list.
///
/// The input keeps its kind, its comments and its functionConfig. Spec: the resulting list is formatted.
pub fn merge_output(
    input: &File,
    output: String,
    rules: &MergeOptions<'_>,
) -> Result<String, Diagnostic> {
    let known = Existing::of(Input::new(input)?.resources());
    let output = prepare(output, &known)?;
    let printed: Vec<Resource<'_>> = output.documents().flat_map(resources).collect();
    let (old, new): (Vec<_>, Vec<_>) =
        printed.into_iter().partition(|it| known.find(*it).is_some());
    let mut edit = Edit::new(input).allow_shared(true).json(is_json(input));
    let mut merger = Merger::new(rules);
    for resource in &old {
        let Some(there) = known.find(*resource) else { continue };
        let [from, into] = [("output", resource.node), ("input", there.node)]
            .map(|(name, node)| Version::new(node, name));
        merger.two_way(from, into, &mut edit)?;
    }
    let edit_error = |error: &EditError| Diagnostic::from_edit(error, input);
    results::add(&mut edit, input, &results::results(&output)).map_err(|it| edit_error(&it))?;
    let list = list(input);
    let items = list.and_then(|list| field(list, "items"));
    if let Some(items) = items {
        add(&mut edit, items, &new).map_err(|error| edit_error(&error))?;
    }
    let text = edit.apply().map_err(|error| edit_error(&error))?;
    let text = if items.is_some() { text } else { with_documents(text, &new, list)? };
    let merged = File::parse(text).map_err(|error| Diagnostic::from(&error))?;
    Ok(formatted(&merged)?.unwrap_or_else(|| merged.into_text()))
}

/// The formatted text; none if nothing changes.
fn formatted(file: &File) -> Result<Option<String>, Diagnostic> {
    let options = FormatOptions { json: is_json(file), ..FormatOptions::default() };
    format(file, options).map(|formatted| formatted.text).map_err(first)
}

/// The list without its items, for a program whose output replaces them. Plain documents become an empty file.
pub fn without_items(input: &File) -> Result<File, Diagnostic> {
    let parse = |text: String| File::parse(text).map_err(|error| Diagnostic::from(&error));
    let Some(items) = list(input).and_then(|list| field(list, "items")) else {
        return parse(match list(input) {
            Some(_) => input.text().to_owned(),
            None => String::new(),
        });
    };
    let edit_error = |error: &EditError| Diagnostic::from_edit(error, input);
    let mut edit = Edit::new(input).allow_shared(true).json(is_json(input));
    edit.set(items, Value::Sequence(Vec::new())).map_err(|error| edit_error(&error))?;
    parse(edit.apply().map_err(|error| edit_error(&error))?)
}

/// The output of the program, formatted, with a path for each new resource.
fn prepare(output: String, known: &Existing<'_>) -> Result<File, Diagnostic> {
    let parse = |text: String| File::parse(text).map_err(|error| Diagnostic::from(&error));
    let mut file = parse(output)?;
    if let Some(error) = file.errors().next() {
        return Err(Diagnostic::from_syntax(error, &file));
    }
    let roots = file.documents().filter_map(|document| document.root());
    if let Some(other) = roots.filter(|root| !is_null(*root)).find(|root| !has_resources(*root)) {
        let kind = CommonKind::wrong_type("a resource", other);
        return Err(Diagnostic::error(kind).at(&file, other.span()));
    }
    if let Some(text) = formatted(&file)? {
        file = parse(text)?;
    }
    let has_legacy = known.has_legacy_path();
    let mut without_path = Vec::new();
    for resource in file.documents().flat_map(resources) {
        if known.find(resource).is_none() && existing::path(resource).is_none() {
            let path = wrapped_output_path(resource);
            let mut paths = vec![(PATH.to_owned(), path.clone())];
            paths.extend(has_legacy.then(|| (LEGACY_PATH.to_owned(), path)));
            without_path.push((resource.node, paths));
        }
    }
    let edit_error = |error: &EditError| Diagnostic::from_edit(error, &file);
    let mut edit = Edit::new(&file).json(is_json(&file));
    for (node, paths) in &without_path {
        annotate::add(&mut edit, *node, paths).map_err(|error| edit_error(&error))?;
    }
    let text = edit.apply().map_err(|error| edit_error(&error))?;
    parse(text)
}

fn first(errors: Vec<Diagnostic>) -> Diagnostic {
    let none = || Diagnostic::error(ResourceListKind::NoResource);
    errors.into_iter().next().unwrap_or_else(none)
}

fn has_resources(root: NodeRef<'_>) -> bool {
    is_resource(root) || root.as_sequence().is_some() || is_list(root)
}

pub(super) fn is_json(file: &File) -> bool {
    file.text().trim_start().starts_with('{')
}

pub(super) fn list(file: &File) -> Option<NodeRef<'_>> {
    file.documents().filter_map(|document| document.root()).find(|root| is_list(*root))
}

fn is_list(root: NodeRef<'_>) -> bool {
    field(root, "kind").and_then(NodeRef::as_str).is_some_and(|kind| kind.ends_with("List"))
}

fn add<'a>(edit: &mut Edit<'a>, items: NodeRef<'a>, new: &[Resource<'a>]) -> Result<(), EditError> {
    if new.is_empty() {
        return Ok(());
    }
    let is_empty = items.as_sequence().is_none_or(|items| items.items().next().is_none());
    if is_empty {
        let nodes = new.iter().map(|resource| Value::Node(resource.node)).collect();
        return edit.set(items, Value::Sequence(nodes));
    }
    new.iter().try_for_each(|resource| edit.append(items, Value::Node(resource.node)))
}

/// Adds resources if there is no `items` to add to: the input is plain documents, or a list without `items`.
fn with_documents(
    text: String,
    new: &[Resource<'_>],
    list: Option<NodeRef<'_>>,
) -> Result<String, Diagnostic> {
    if new.is_empty() {
        return Ok(text);
    }
    if list.is_some() {
        let file = File::parse(text).map_err(|error| Diagnostic::from(&error))?;
        let document = self::list(&file).map(|list| list.document());
        let document = document.ok_or_else(|| Diagnostic::error(EditErrorKind::NoDocument))?;
        let nodes = new.iter().map(|resource| Value::Node(resource.node)).collect();
        let mut edit = Edit::new(&file).json(is_json(&file));
        edit.set_at(document, &krm_yaml::Path::default().join("items"), Value::Sequence(nodes))
            .map_err(|error| Diagnostic::from_edit(&error, &file))?;
        return edit.apply().map_err(|error| Diagnostic::from_edit(&error, &file));
    }
    let mut text = if text.trim().is_empty() { String::new() } else { source_text::closed(text) };
    for resource in new {
        if !text.is_empty() {
            text.push_str("---\n");
        }
        text.push_str(&source_text::lines(resource.node));
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::functions::adapter::with_results;

    fn merged(input: &str, output: &str) -> String {
        let file = File::parse(input.to_owned()).unwrap();
        merge_output(&file, output.to_owned(), &MergeOptions::default()).unwrap()
    }

    const MADE: &str =
        "kind: Deployment\napiVersion: apps/v1\nmetadata: {name: web}\nspec:\n  replicas: 5\n";

    #[test]
    fn new_resource_is_formatted_and_gets_a_path() {
        let input = "# list\nkind: ResourceList\napiVersion: config.kubernetes.io/v1\nfunctionConfig: {a: b}\nitems: []\n";
        let wanted = "# list\napiVersion: config.kubernetes.io/v1\nkind: ResourceList\nfunctionConfig: {a: b}\nitems:\n- apiVersion: apps/v1\n  kind: Deployment\n  metadata: {name: web, annotations: {internal.config.kubernetes.io/path: config/web_deployment.yaml}}\n  spec:\n    replicas: 5\n";
        assert_eq!(merged(input, MADE), wanted);
        let without = input.replace("items: []\n", "");
        assert_eq!(merged(&without, MADE), wanted);
    }

    #[test]
    fn user_changes_are_kept() {
        let input = "kind: ResourceList\nitems:\n- apiVersion: apps/v1\n  kind: Deployment\n  metadata:\n    name: web # mine\n    annotations: {config.kubernetes.io/path: a.yaml}\n  spec:\n    replicas: 3 # few\n    cpu: 1 # mine\n";
        let wanted = input.replace("replicas: 3", "replicas: 5");
        assert_eq!(merged(input, MADE), wanted);
        let more = merged(input, "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\n");
        assert!(more.starts_with(input), "{more}");
        assert!(more.contains("config.kubernetes.io/path: config/p_pod.yaml"), "{more}");
    }

    #[test]
    fn resource_without_a_name_is_merged_into_the_one_that_exists() {
        let kustomization =
            "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nnamePrefix: a-\n";
        let once = merged("kind: ResourceList\nitems: []\n", kustomization);
        assert_eq!(once.matches("kind: Kustomization").count(), 1, "{once}");
        let twice = merged(&once, &kustomization.replace("a-", "b-"));
        assert_eq!(twice, once.replace("a-", "b-"));
        let path = |path: &str| {
            format!("metadata: {{annotations: {{config.kubernetes.io/path: {path}}}}}\n")
        };
        let more = merged(&once, &format!("{kustomization}{}", path("x/kustomization.yaml")));
        assert_eq!(more.matches("kind: Kustomization").count(), 2, "{more}");
        // The default path tells the two apart.
        assert_eq!(merged(&more, kustomization), more);
        let own = format!("{kustomization}{}", path("kustomization.yaml"));
        let own = merged("kind: ResourceList\nitems: []\n", &own);
        assert_eq!(merged(&own, kustomization), own);
    }

    #[test]
    fn results_of_the_program_are_passed_on() {
        let input = "kind: ResourceList\nitems: []\n";
        let output = "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems: []\nresults:\n- message: hm # c\n";
        let once = merged(input, output);
        assert_eq!(once, format!("{input}results:\n- message: hm # c\n"));
        assert_eq!(merged(&once, output), format!("{once}- message: hm # c\n"));
        assert_eq!(merged("kind: List\nitems: []\n", output), "kind: List\nitems: []\n");
        let file = File::parse(input.to_owned()).unwrap();
        let failed = |output: &str| with_results(&file, output.to_owned()).unwrap();
        assert_eq!(failed(output).as_ref(), Some(&once));
        assert_eq!(failed("kind: ResourceList\n"), None);
    }

    #[test]
    fn list_is_formatted_after_the_merge() {
        let input = "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:\n- kind: A # a\n  spec: {b: 1}\n  metadata:\n    name: a\n  apiVersion: v1\n";
        let output = "apiVersion: v1\nkind: A\nmetadata: {name: a, labels: {x: y}}\n";
        let expected = "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:\n- apiVersion: v1\n  kind: A # a\n  metadata:\n    name: a\n    labels: {x: y}\n  spec: {b: 1}\n";
        assert_eq!(merged(input, output), expected);
    }

    #[test]
    fn output_can_replace_the_items() {
        let input = "# list\nkind: ResourceList\nitems:\n- apiVersion: v1\n  kind: A\nfunctionConfig: {a: b}\n";
        let file = File::parse(input.to_owned()).unwrap();
        let wanted = "# list\nkind: ResourceList\nitems: []\nfunctionConfig: {a: b}\n";
        assert_eq!(without_items(&file).unwrap().text(), wanted);
        let documents = File::parse("apiVersion: v1\nkind: A\n".to_owned()).unwrap();
        assert_eq!(without_items(&documents).unwrap().text(), "");
    }

    #[test]
    fn plain_documents_are_supported_and_other_output_is_an_error() {
        assert_eq!(merged("a: 1\n", "apiVersion: v1\nkind: P\nmetadata:\n  annotations: {config.kubernetes.io/path: x.yaml}\n").lines().nth(1), Some("---"));
        let file = File::parse("kind: List\nitems: []\n".to_owned()).unwrap();
        let error =
            merge_output(&file, "hello world\n".to_owned(), &MergeOptions::default()).unwrap_err();
        assert_eq!(error.message(), "expected a resource, found a string");
        assert_eq!(merged("kind: List\nitems: []\n", ""), "kind: List\nitems: []\n");
    }
}
