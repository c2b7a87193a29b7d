//! Documented differences of `fix`.

use super::{Case, items, ours_says, text};
use crate::differential::functions::outcome::{Difference, Node, Part};

/// The Kptfile of the root package or of the subpackage.
fn kptfile(case: &Case, is_sub: bool) -> Option<&Node> {
    let path = if is_sub { "sub/Kptfile" } else { "Kptfile" };
    items(case).iter().find(|it| {
        let annotation = ["metadata", "annotations", "config.kubernetes.io/path"];
        it.get(&annotation).and_then(Node::text) == Some(path)
    })
}

/// A functionConfig of a package of a later version, which the original moves and whose annotation it removes.
pub(super) fn is_function_kept(case: &Case, difference: &Difference) -> bool {
    let (Part::Item(at) | Part::File(at)) = difference.part else { return false };
    let Some(name) = case.ours.items[at].get(&["metadata", "name"]).and_then(Node::text) else {
        return false;
    };
    let version =
        kptfile(case, name == "labels-sub").and_then(|it| it.get(&["apiVersion"])?.text());
    let is_function = matches!(name, "labels" | "labels-sub");
    let is_annotation = difference.path.get(1).is_some_and(|key| key == "annotations")
        && difference.theirs.is_none()
        && difference.ours.as_ref().is_some_and(|it| it.to_string().contains("container:"));
    let is_moved = difference.path.is_empty()
        && text(&difference.ours).is_some_and(|it| it.ends_with("functions/labels.yaml"));
    is_function && version != Some("kpt.dev/v1alpha1") && (is_annotation || is_moved)
}

/// The original writes a pipeline without functions.
pub(super) fn is_empty_pipeline(_: &Case, difference: &Difference) -> bool {
    let is_empty = matches!(&difference.theirs, Some(Node::Map(fields)) if fields.is_empty());
    difference.path == ["pipeline"] && difference.ours.is_none() && is_empty
}

/// A reference in the old form to a setter that another field has in the new form, and the warning that the values of both differ.
pub(super) fn is_known_from_field(case: &Case, difference: &Difference) -> bool {
    if ours_says(difference, "warning: field differs from its setter") {
        return case.comments.values().any(|it| it.starts_with("kpt-set: "));
    }
    let path = difference.path.concat();
    let is_elsewhere = |ours: &str| case.comments.iter().any(|(at, it)| *at != path && it == ours);
    difference.part == Part::Comment
        && difference.theirs.is_none()
        && !case.comments.contains_key(&path)
        && text(&difference.ours).is_some_and(is_elsewhere)
}

/// The comment of a list whose setter is not defined.
pub(super) fn is_unknown_list(case: &Case, difference: &Difference) -> bool {
    let path = difference.path.concat();
    let item = path.strip_prefix("items[").and_then(|it| it.split_once(']')?.0.parse().ok());
    let item = item.and_then(|at: usize| items(case).get(at));
    let name = item.and_then(|it| it.get(&["metadata", "name"])?.text());
    let definitions = kptfile(case, name == Some("deployment-sub"));
    let definitions = definitions.and_then(|it| it.get(&["openAPI", "definitions"]));
    let is_defined = definitions.is_some_and(|it| it.get(&["io.k8s.cli.setters.list"]).is_some());
    difference.part == Part::Comment
        && path.ends_with(".args")
        && difference.ours.is_none()
        && text(&difference.theirs) == Some("kpt-set: ${list}")
        && !is_defined
}
