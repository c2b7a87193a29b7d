//! The documented differences between built-in functions and the programs of the catalog.
//!
//! Each id is on the page of its function; the rule `differences_are_documented` of tidy compares both. A test for a difference is as
//! narrow as possible, so that it does not hide a fault.

mod names;
mod old_packages;
mod search;
mod setters;

use std::collections::BTreeMap;

use super::outcome::{Difference, Node, Outcome, Part};

/// The input of a comparison, and both outputs.
pub(super) struct Case {
    /// The ResourceList.
    pub(super) input: Node,
    /// The ResourceList as it is written.
    pub(super) text: String,
    /// The references to setters in the resources, by the path of their field.
    pub(super) comments: BTreeMap<String, String>,
    /// The scalars of the resources, by path.
    pub(super) scalars: BTreeMap<String, String>,
    pub(super) ours: Outcome,
    pub(super) theirs: Outcome,
}

struct Documented {
    function: &'static str,
    id: &'static str,
    matches: fn(&Case, &Difference) -> bool,
}

const fn of(
    function: &'static str,
    id: &'static str,
    matches: fn(&Case, &Difference) -> bool,
) -> Documented {
    Documented { function, id, matches }
}

const DOCUMENTED: &[Documented] = &[
    of("annotate-apply-time-mutations", "both-sources", |_, it| {
        let list = |node| text(node).map(|it| it.split("- sourcePath: ").skip(1).collect());
        let (ours, theirs): (Option<Vec<&str>>, Option<Vec<&str>>) =
            (list(&it.ours), list(&it.theirs));
        // The substitutions of the comments are the last ones of both.
        it.path.last().is_some_and(|key| key == "config.kubernetes.io/apply-time-mutation")
            && ours.zip(theirs).is_some_and(|(ours, theirs)| {
                !theirs.is_empty() && ours.len() > theirs.len() && ours.ends_with(&theirs)
            })
    }),
    of("apply-replacements", "regex-select", names::is_selected_by_regex),
    of("apply-replacements", "selects-nothing", |_, it| ours_says(it, "selects no resource")),
    of("apply-setters", "string-stays", is_string_kept),
    of("apply-setters", "empty-list", |case, it| {
        fails(it, "original") && config_text(case, &["data", "list"]) == Some("[]")
    }),
    of("apply-setters", "type-change-warning", |_, it| ours_says(it, "warning: type changes from")),
    of("bind", "namespace-updated", names::is_namespace_updated),
    of("bind", "no-empty-namespace", names::is_empty_namespace),
    of("create-setters", "flow-in-flow", setters::is_flow_in_flow),
    of("create-setters", "comment-kept", setters::is_comment_kept),
    of("create-setters", "reference-kept", setters::is_reference_kept),
    of("create-setters", "tool-annotations", setters::is_of_tool),
    of("delete-annotations", "count", |_, it| says(it, "annotations were deleted from")),
    of("ensure-name-substring", "each-name", names::is_each_name),
    of("ensure-name-substring", "external-dependency", names::is_external_dependency),
    of("ensure-name-substring", "skipped-kinds", names::is_dependency_of_skipped_kind),
    of("fix", "function-kept", old_packages::is_function_kept),
    of("fix", "known-from-field", old_packages::is_known_from_field),
    of("fix", "no-empty-pipeline", old_packages::is_empty_pipeline),
    of("fix", "removals-reported", |_, it| ours_says(it, "warning: kpt-set cannot represent")),
    of("fix", "unknown-list", old_packages::is_unknown_list),
    of("format", "list-order", |case, it| {
        let Part::Item(at) = it.part else { return false };
        it.path.iter().any(|key| key == "containers" || key == "initContainers")
            && sorted_lists(&case.ours.items[at]) == sorted_lists(&case.theirs.items[at])
    }),
    of("format", "quotes-reported", |_, it| ours_says(it, "quotes, because the schema type is")),
    of("gatekeeper", "reader-warnings", |_, it| ours_says(it, "but Kubernetes reads")),
    of("gatekeeper", "namespace-warning", |_, it| ours_says(it, "selects by labels of namespaces")),
    of("generate-folders", "unchanged-fields", is_quoted_bool),
    of("list-setters", "every-field", setters::counts_every_field),
    of("search-replace", "string-stays", is_string_kept),
    of("search-replace", "comment-at-path", search::is_comment_at_path),
    of("search-replace", "quotes-in-results", search::differs_in_quotes),
    of("search-replace", "sequence-stays", search::is_sequence_kept),
    of("search-replace", "tool-annotations", search::is_of_tool),
    of("search-replace", "whole-value", search::is_part_of_value),
    of("set-image", "all-pods", |case, it| {
        let is_other =
            matches!(kind_of(case, it), Some("Job" | "CronJob" | "ReplicationController"));
        let is_image = it.path.last().is_some_and(|key| key == "image");
        is_image && (is_other || it.path.iter().any(|key| key == "initContainers"))
    }),
    of("set-image", "literal-name", |case, it| {
        let is_pattern = |name: Option<&str>| name.is_some_and(|it| it.contains("ngin."));
        let name = config_text(case, &["data", "name"]);
        is_pattern(name.or_else(|| config_text(case, &["image", "name"])))
            && it.path.last().is_some_and(|key| key == "image")
    }),
    of("set-image", "tag-and-digest", |case, it| {
        let given = |key| {
            let in_data = config_text(case, &["data", key]);
            in_data.or_else(|| config_text(case, &["image", key]))
        };
        let Some((ours, theirs)) = text(&it.ours).zip(text(&it.theirs)) else { return false };
        let without = |tag: &str| ours.replacen(&format!(":{tag}@"), "@", 1) == theirs;
        let both_given = given("digest").and(given("newTag"));
        it.path.last().is_some_and(|key| key == "image")
            && (ours.contains(":1.16.1@sha256:") || both_given.is_some_and(without))
    }),
    of("set-image", "colon-kept", |_, it| {
        let both = text(&it.ours).zip(text(&it.theirs));
        it.path.last().is_some_and(|key| key == "image")
            && both.is_some_and(|(ours, theirs)| {
                ours.rsplit_once(':').is_some_and(|(name, tag)| theirs == format!("{name}{tag}"))
            })
    }),
    of("set-image", "unchanged-fields", is_quoted_bool),
    of("set-image", "unused-warning", |_, it| ours_says(it, "warning: no image is named")),
    of("set-labels", "affinity", names::is_label_of_affinity),
    of("set-name-prefix", "no-empty-namespace", names::is_empty_namespace),
    of("set-name-prefix", "context-not-needed", |case, it| {
        fails(it, "original")
            && config_text(case, &["data", "prefix"]).is_some()
            && !case.scalars.values().any(|it| it == "kptfile.kpt.dev")
    }),
    of("set-namespace", "newer-kinds", |case, it| {
        kind_of(case, it) == Some("HorizontalPodAutoscaler")
            && it.shape() == "item metadata.namespace"
    }),
    of("set-namespace", "subjects", |case, it| {
        kind_of(case, it) == Some("RoleBinding") && it.shape() == "item subjects.[].namespace"
    }),
    of("set-namespace", "no-default", |case, it| {
        it.shape() == "item metadata.namespace"
            && it.ours.is_none()
            && text(&it.theirs) == Some("default")
            && config_text(case, &["data", "namespaceMatcher"])
                .or_else(|| config_text(case, &["namespaceMatcher"]))
                .is_some()
    }),
    of("set-namespace", "upstream-warnings", |_, it| {
        it.part == Part::Result
            && text(&it.theirs).is_some_and(|it| it.ends_with("does not have upstream origin."))
    }),
    of("set-namespace", "unmatched-warning", |_, it| ours_says(it, "warning: no namespace is")),
    of("set-project-id", "missing-id", |case, it| {
        fails(it, "krm") && config_text(case, &["data", "project-id"]).is_none()
    }),
    of("starlark", "unchanged-fields", is_quoted_bool),
];

/// The ids of a function, for the rule that compares them with its page.
pub(crate) fn ids(function: &str) -> impl Iterator<Item = &'static str> {
    DOCUMENTED.iter().filter(move |it| it.function == function).map(|it| it.id)
}

/// The id of the documented difference that a difference belongs to.
pub(super) fn id(function: &str, case: &Case, difference: &Difference) -> Option<&'static str> {
    let mut of_function = DOCUMENTED.iter().filter(|it| it.function == function);
    of_function.find(|it| (it.matches)(case, difference)).map(|it| it.id)
}

fn fails(difference: &Difference, who: &str) -> bool {
    difference.part == Part::Failure && difference.path == [who]
}

fn text(node: &Option<Node>) -> Option<&str> {
    node.as_ref().and_then(Node::text)
}

/// Whether only krm has a result with these words.
fn ours_says(difference: &Difference, words: &str) -> bool {
    difference.part == Part::Result && text(&difference.ours).is_some_and(|it| it.contains(words))
}

/// Whether a result of either has these words.
fn says(difference: &Difference, words: &str) -> bool {
    let sides = [&difference.ours, &difference.theirs];
    difference.part == Part::Result
        && sides.iter().any(|it| text(it).is_some_and(|it| it.contains(words)))
}

/// A text of the functionConfig.
fn config_text<'a>(case: &'a Case, keys: &[&str]) -> Option<&'a str> {
    case.input.get(&["functionConfig"])?.get(keys)?.text()
}

fn kind_of<'a>(case: &'a Case, difference: &Difference) -> Option<&'a str> {
    let Part::Item(at) = difference.part else { return None };
    case.ours.items.get(at)?.get(&["kind"])?.text()
}

/// A boolean of YAML 1.1 that the original writes as a string.
fn is_quoted_bool(_: &Case, difference: &Difference) -> bool {
    matches!(difference.part, Part::Item(_))
        && difference.ours.as_ref().is_some_and(|it| it.is_type("bool"))
        && difference.theirs.as_ref().is_some_and(|it| it.is_type("string"))
        && matches!(text(&difference.theirs), Some("yes" | "no"))
}

/// The resources of the input.
fn items(case: &Case) -> &[Node] {
    match case.input.get(&["items"]) {
        Some(Node::List(items)) => items,
        _ => &[],
    }
}

/// The same characters, which the original writes as another type.
fn is_string_kept(_: &Case, difference: &Difference) -> bool {
    let is_string = difference.ours.as_ref().is_some_and(|it| it.is_type("string"));
    matches!(difference.part, Part::Item(_))
        && is_string
        && text(&difference.ours) == text(&difference.theirs)
}

/// A value whose lists are sorted, to compare lists without their order.
fn sorted_lists(node: &Node) -> String {
    match node {
        Node::Scalar(..) => node.to_string(),
        Node::List(items) => {
            let mut items: Vec<String> = items.iter().map(sorted_lists).collect();
            items.sort();
            format!("[{}]", items.join(", "))
        }
        Node::Map(entries) => {
            let entries: Vec<String> = entries
                .iter()
                .map(|(key, value)| format!("{key}: {}", sorted_lists(value)))
                .collect();
            format!("{{{}}}", entries.join(", "))
        }
    }
}
