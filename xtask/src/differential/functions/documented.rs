//! The documented differences between built-in functions and the programs of the catalog.
//!
//! Each id is on the page of its function; the rule `differences_are_documented` of tidy compares both. A test for a difference is as
//! narrow as possible, so that it does not hide a fault.

use std::collections::BTreeMap;

use super::outcome::{Difference, Node, Outcome, Part};

/// The input of a comparison, and both outputs.
pub(super) struct Case {
    /// The ResourceList.
    pub(super) input: Node,
    /// The functionConfig as it is written.
    pub(super) config: String,
    /// The references to setters in it, by the path of their field.
    pub(super) comments: BTreeMap<String, String>,
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
    of("apply-replacements", "regex-select", |case, _| {
        case.config.contains("select: {name: web.*}")
    }),
    of("apply-replacements", "selects-nothing", |_, it| ours_says(it, "selects no resource")),
    of("apply-setters", "string-stays", is_string_kept),
    of("apply-setters", "empty-list", |case, it| {
        fails(it, "original") && config_text(case, &["data", "list"]) == Some("[]")
    }),
    of("apply-setters", "type-change-warning", |_, it| ours_says(it, "warning: type changes from")),
    of("create-setters", "comment-kept", |_, it| {
        comments(it).is_some_and(|(ours, theirs)| {
            ours.split_once(" kpt-set: ")
                .is_some_and(|(_, rest)| theirs == format!("kpt-set: {rest}"))
        })
    }),
    of("create-setters", "reference-kept", is_reference_kept),
    of("create-setters", "tool-annotations", |_, it| {
        let path = it.path.concat();
        it.part == Part::Comment
            && it.ours.is_none()
            && path.contains("annotations.\"config.kubernetes.io/")
    }),
    of("delete-annotations", "count", |_, it| says(it, "annotations were deleted from")),
    of("format", "list-order", |case, it| {
        let Part::Item(at) = it.part else { return false };
        it.path.iter().any(|key| key == "containers" || key == "initContainers")
            && sorted_lists(&case.ours.items[at]) == sorted_lists(&case.theirs.items[at])
    }),
    of("format", "quotes-reported", |_, it| ours_says(it, "quotes, because the schema type is")),
    of("gatekeeper", "reader-warnings", |_, it| ours_says(it, "but Kubernetes reads")),
    of("gatekeeper", "namespace-warning", |_, it| ours_says(it, "selects by labels of namespaces")),
    of("search-replace", "string-stays", is_string_kept),
    of("search-replace", "comment-at-path", |case, it| {
        let config = |key: &str| config_text(case, &["data", key]);
        it.part == Part::Comment
            && config("by-path").is_some_and(|path| !path.contains('*'))
            && config("put-value").is_some()
            && config("put-comment").is_some()
    }),
    of("search-replace", "quotes-in-results", |case, it| {
        it.part == Part::Result && config_text(case, &["data", "put-value"]) == Some("\"x\"")
    }),
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
    of("set-image", "tag-and-digest", |_, it| {
        it.path.last().is_some_and(|key| key == "image")
            && text(&it.ours).is_some_and(|it| it.contains("1.16.1@sha256:"))
    }),
    of("set-image", "unused-warning", |_, it| ours_says(it, "warning: no image is named")),
    of("set-labels", "affinity", |case, it| {
        let in_input = case.input.to_string().contains("podAntiAffinity");
        it.path.iter().any(|key| key == "podAntiAffinity")
            || in_input && says(it, "labels in total")
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
    of("starlark", "unchanged-fields", |_, it| {
        matches!(it.part, Part::Item(_))
            && it.ours.as_ref().is_some_and(|it| it.is_type("bool"))
            && it.theirs.as_ref().is_some_and(|it| it.is_type("string"))
            && matches!(text(&it.theirs), Some("yes" | "no"))
    }),
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

/// The same characters, which the original writes as another type.
fn is_string_kept(_: &Case, difference: &Difference) -> bool {
    let is_string = difference.ours.as_ref().is_some_and(|it| it.is_type("string"));
    matches!(difference.part, Part::Item(_))
        && is_string
        && text(&difference.ours) == text(&difference.theirs)
}

/// Both references in the comment of a field.
fn comments(difference: &Difference) -> Option<(&str, &str)> {
    let both = text(&difference.ours).zip(text(&difference.theirs));
    both.filter(|_| difference.part == Part::Comment)
}

/// The field had a reference already, which krm keeps or extends.
fn is_reference_kept(case: &Case, difference: &Difference) -> bool {
    let before = difference.path.first().and_then(|path| case.comments.get(path));
    before.is_some() && comments(difference).is_some()
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
