//! Documented differences of the functions that set names, namespaces and labels, and select by name.

use super::{Case, config_text, fails, items, kind_of, text};
use crate::differential::functions::outcome::{Difference, Node, Part};

fn name_of(item: &Node) -> Option<&str> {
    item.get(&["metadata", "name"])?.text()
}

/// A resource that only the regular expression of krm selects: its name is not the text of the expression.
pub(super) fn is_selected_by_regex(case: &Case, difference: &Difference) -> bool {
    let is_selected = |item: &Node| name_of(item).is_some_and(|it| it.starts_with("web"));
    let has_regex = case.text.contains("select: {name: web.*}");
    match difference.part {
        Part::Item(at) => has_regex && is_selected(&case.ours.items[at]),
        Part::Failure => {
            has_regex && fails(difference, "krm") && items(case).iter().any(is_selected)
        }
        _ => false,
    }
}

/// The original adds a namespace that is empty.
pub(super) fn is_empty_namespace(_: &Case, difference: &Difference) -> bool {
    matches!(difference.part, Part::Item(_))
        && difference.path.last().is_some_and(|key| key == "namespace")
        && difference.ours.is_none()
        && text(&difference.theirs) == Some("")
}

/// A subject with a namespace, which krm updates.
pub(super) fn is_namespace_updated(case: &Case, difference: &Difference) -> bool {
    let subject = |item: &Node, key: &str| {
        item.get(&["subjects", "0", key]).and_then(Node::text).map(str::to_owned)
    };
    let is_bound = |item: &Node| {
        subject(item, "name").as_deref() == Some("example") && subject(item, "namespace").is_some()
    };
    fails(difference, "original")
        && config_text(case, &["kind"]) == Some("ServiceAccount")
        && config_text(case, &["metadata", "namespace"]).is_some()
        && items(case).iter().any(is_bound)
}

/// One of several names at an additional field, which has the substring.
pub(super) fn is_each_name(case: &Case, difference: &Difference) -> bool {
    let Some(substring) = config_text(case, &["substring"]) else { return false };
    let Some((ours, theirs)) = text(&difference.ours).zip(text(&difference.theirs)) else {
        return false;
    };
    let is_twice = [format!("{substring}{ours}"), format!("{ours}{substring}")];
    difference.shape() == "item spec.parts.[].name"
        && case.text.contains("additionalNameFields")
        && ours.contains(substring)
        && is_twice.iter().any(|it| it == theirs)
}

/// A dependency that is not among the resources, which the original renames.
pub(super) fn is_external_dependency(case: &Case, difference: &Difference) -> bool {
    let is_annotation =
        difference.path.last().is_some_and(|key| key == "config.kubernetes.io/depends-on");
    let Some(ours) = text(&difference.ours).filter(|_| is_annotation) else { return false };
    let parts: Vec<&str> = ours.split('/').collect();
    let &[_, "namespaces", namespace, kind, name] = &parts[..] else { return false };
    let is_target = |item: &Node| {
        name_of(item) == Some(name)
            && item.get(&["kind"]).and_then(Node::text) == Some(kind)
            && item.get(&["metadata", "namespace"]).and_then(Node::text) == Some(namespace)
    };
    case.scalars.values().any(|it| it == ours) && !items(case).iter().any(is_target)
}

/// A dependency of a resource that keeps its name. The original leaves the dependency as it is, although its target is renamed.
pub(super) fn is_dependency_of_skipped_kind(case: &Case, difference: &Difference) -> bool {
    let Some((ours, theirs)) = text(&difference.ours).zip(text(&difference.theirs)) else {
        return false;
    };
    let is_renamed = |item: &Node| {
        ours.rsplit('/').next() == name_of(item)
            && ours.rsplit('/').nth(1) == item.get(&["kind"]).and_then(Node::text)
    };
    difference.path.last().is_some_and(|key| key == "config.kubernetes.io/depends-on")
        && kind_of(case, difference) == Some("APIService")
        && case.scalars.values().any(|it| it == theirs)
        && case.ours.items.iter().any(is_renamed)
}

/// A label of an affinity term, or the total that includes such labels.
pub(super) fn is_label_of_affinity(case: &Case, difference: &Difference) -> bool {
    let config = ["data", "labels"].into_iter().find_map(|key| {
        match case.input.get(&["functionConfig", key]) {
            Some(Node::Map(labels)) => Some(labels),
            _ => None,
        }
    });
    let Some(labels) = config else { return false };
    let in_term = difference.path.iter().any(|key| key == "podAntiAffinity");
    if matches!(difference.part, Part::Item(_)) {
        let label = difference.path.last().and_then(|key| labels.get(key));
        return in_term && label.is_some() && label.and_then(Node::text) == text(&difference.ours);
    }
    let total = |results: &[super::super::outcome::ResultText]| {
        let mut totals = results.iter().filter_map(|it| {
            it.text.strip_prefix("info: set ")?.strip_suffix(" labels in total")?.parse().ok()
        });
        totals.next().unwrap_or(0usize)
    };
    let (ours, theirs) = (total(&case.ours.results), total(&case.theirs.results));
    let terms = case.text.matches("podAntiAffinity").count();
    let is_total = [&difference.ours, &difference.theirs]
        .iter()
        .any(|it| text(it).is_some_and(|it| it.ends_with(" labels in total")));
    difference.part == Part::Result
        && is_total
        && terms > 0
        && ours > theirs
        && ours - theirs <= terms * labels.len()
}
