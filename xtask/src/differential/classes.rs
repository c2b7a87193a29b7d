//! The classes of differences between krm's merges and kyaml's, each with its reason.

use krm_core::diff::{FieldChange, What};
use krm_core::merge::node::same_in_yaml_1_2;
use krm_yaml::{NodeRef, Path, Resolved, Segment};

/// What was merged.
pub(super) struct Case<'a> {
    pub(super) ways: usize,
    pub(super) base: Option<NodeRef<'a>>,
    pub(super) upstream: Option<NodeRef<'a>>,
    pub(super) local: Option<NodeRef<'a>>,
}

/// A class: its name, why krm differs, and what belongs to it.
struct Class {
    name: &'static str,
    reason: &'static str,
    holds: fn(&Case<'_>, &FieldChange<'_>) -> bool,
}

const CLASSES: &[Class] = &[
    Class {
        name: "retyped",
        reason: "kyaml keeps the destination's quotes and so changes the type; a changed value takes the source's type",
        holds: is_retyped,
    },
    Class {
        name: "hollow",
        reason: "kyaml leaves `m: {}` behind or brings it back where a side deleted it; krm does neither",
        holds: is_left_hollow,
    },
    Class {
        name: "empty-value",
        reason: "kyaml deletes values of nothing that nobody mentioned; krm keeps them",
        holds: is_empty_value,
    },
    Class {
        name: "inferred-key",
        reason: "the seeds infer seven keys, kyaml only `name`",
        holds: is_inferred,
    },
    Class {
        name: "type-change",
        reason: "upstream changed only the type, as from '1' to 1; kyaml compares texts and sees no change",
        holds: is_type_change,
    },
    Class {
        name: "local-elements",
        reason: "elements that only local has are kept when upstream deletes the list; kyaml loses them",
        holds: is_local_elements,
    },
    Class {
        name: "null-clears",
        reason: "the seeds clear what is null in the destination; kyaml takes upstream's change of a list",
        holds: is_cleared,
    },
    Class {
        name: "restored-key",
        reason: "what was deleted locally and changed upstream comes back as it was; kyaml makes a text of its key",
        holds: is_restored,
    },
    Class {
        name: "order",
        reason: "krm takes upstream's order where local's still is the base's; kyaml ignores it",
        holds: is_order,
    },
    Class {
        name: "set",
        reason: "a set has what either side has and no side removed; kyaml brings removed elements back, or loses added ones",
        holds: is_set,
    },
];

const KIND_CHANGE: &str = "kind-change";
const NO_KEY: &str = "no-key";

/// What kyaml's refusals begin with, their class, and its reason.
const REFUSALS: [(&str, &str, &str); 3] = [
    (
        "wrong node kind",
        KIND_CHANGE,
        "kyaml refuses a value of another kind; krm takes the source's and says so",
    ),
    ("conflicting merge keys", NO_KEY, NO_KEY_REASON),
    ("no merge key found", NO_KEY, NO_KEY_REASON),
];

const NO_KEY_REASON: &str =
    "kyaml refuses lists that are empty or of which only some elements have a key; krm merges them";

/// The class of a merge that kyaml refuses.
pub(super) fn of_their_error(error: &str) -> Option<&'static str> {
    REFUSALS.iter().find(|(start, ..)| error.starts_with(start)).map(|(_, class, _)| *class)
}

/// The class of one difference; `old` is kyaml's and `new` is krm's.
pub(super) fn of(case: &Case<'_>, change: &FieldChange<'_>) -> Option<&'static str> {
    CLASSES.iter().find(|class| (class.holds)(case, change)).map(|class| class.name)
}

pub(super) fn reason(name: &str) -> &'static str {
    let refusal = REFUSALS.iter().find(|(_, class, _)| *class == name).map(|(.., reason)| *reason);
    let class = CLASSES.iter().find(|class| class.name == name).map(|class| class.reason);
    class.or(refusal).unwrap_or_default()
}

fn at<'a>(root: Option<NodeRef<'a>>, path: &Path) -> Option<NodeRef<'a>> {
    root?.document().find(path)
}

fn is_null(node: NodeRef<'_>) -> bool {
    node.as_scalar().is_some_and(|scalar| scalar.resolve() == Resolved::Null)
}

fn is_retyped(case: &Case<'_>, change: &FieldChange<'_>) -> bool {
    let scalar = |node: Option<NodeRef<'_>>| {
        node.and_then(NodeRef::as_scalar).map(|it| (it.value().into_owned(), it.resolve()))
    };
    let (theirs, ours) = (scalar(change.old), scalar(change.new));
    let upstream = scalar(at(case.upstream, &change.path));
    theirs.zip(ours.clone()).is_some_and(|(theirs, ours)| theirs.0 == ours.0) && ours == upstream
}

fn is_left_hollow(case: &Case<'_>, change: &FieldChange<'_>) -> bool {
    // One that somebody wrote is data, and not to be lost where upstream still has it.
    let is_written = |side| {
        let node = at(side, &change.path);
        node.is_some_and(|it| it.is_collection() && it.children().next().is_none())
    };
    let is_deleted = at(case.upstream, &change.path).is_none();
    case.ways == 3
        && change.what == What::Removed
        && change.old.is_some_and(is_hollow)
        && (is_deleted || !(is_written(case.local) || is_written(case.upstream)))
}

/// Whether nothing is left but empty collections and the keys of elements.
fn is_hollow(node: NodeRef<'_>) -> bool {
    match node.as_mapping() {
        Some(mapping) => mapping
            .entries()
            .all(|entry| KEYS.iter().any(|key| entry.is(key)) || is_hollow(entry.value)),
        None => node.is_collection() && node.children().all(is_hollow),
    }
}

const KEYS: [&str; 8] =
    ["mountPath", "devicePath", "ip", "type", "topologyKey", "name", "containerPort", "port"];

fn is_empty_value(case: &Case<'_>, change: &FieldChange<'_>) -> bool {
    let is_empty = |node: NodeRef<'_>| is_null(node) && node.text().is_empty();
    change.what == What::Added
        && change.new.is_some_and(is_empty)
        && at(case.local, &change.path).is_some_and(is_empty)
}

fn is_inferred(_: &Case<'_>, change: &FieldChange<'_>) -> bool {
    let others = ["mountPath", "devicePath", "ip", "type", "topologyKey", "containerPort"];
    let is_other = |step: &Segment| matches!(step, Segment::Match { key, .. } if others.contains(&key.as_str()));
    let has_other = |item: NodeRef<'_>| {
        let mut entries = item.as_mapping().into_iter().flat_map(|mapping| mapping.entries());
        entries.any(|entry| others.iter().any(|key| entry.is(key)))
    };
    let is_list =
        |node: NodeRef<'_>| node.as_sequence().is_some() && node.children().all(has_other);
    change.path.segments().iter().any(is_other)
        || (change.what == What::Reordered && change.new.is_some_and(is_list))
}

fn is_type_change(case: &Case<'_>, change: &FieldChange<'_>) -> bool {
    let scalar = |root| at(root, &change.path).and_then(NodeRef::as_scalar);
    let (Some(base), Some(upstream)) = (scalar(case.base), scalar(case.upstream)) else {
        return false;
    };
    let ours = change.new.and_then(NodeRef::as_scalar);
    let takes_upstream = ours.is_some_and(|ours| {
        ours.value() == upstream.value() && ours.resolve() == upstream.resolve()
    });
    case.ways == 3
        && takes_upstream
        && base.value() == upstream.value()
        && base.resolve() != upstream.resolve()
}

fn is_local_elements(case: &Case<'_>, change: &FieldChange<'_>) -> bool {
    let (Some(ours), Some(base)) = (change.new, at(case.base, &change.path)) else { return false };
    let is_new = |item: NodeRef<'_>| !base.children().any(|it| same_in_yaml_1_2(it, item));
    case.ways == 3
        && change.what == What::Added
        && ours.as_sequence().is_some()
        && at(case.upstream, &change.path).is_none_or(is_null)
        && ours.children().all(is_new)
}

fn is_cleared(case: &Case<'_>, change: &FieldChange<'_>) -> bool {
    let is_list = |node: NodeRef<'_>| node.as_sequence().is_some();
    case.ways == 3
        && change.what == What::Removed
        && change.old.is_some_and(is_list)
        && at(case.local, &change.path).is_some_and(is_null)
}

fn is_restored(case: &Case<'_>, change: &FieldChange<'_>) -> bool {
    let Some((list, _)) = change.path.split_last() else { return false };
    let key = |item: NodeRef<'_>| {
        let mapping = item.as_mapping()?;
        let key = mapping.get("port").or_else(|| mapping.get("containerPort"))?;
        Some(key.as_scalar()?.value().into_owned())
    };
    let Some(wanted) = change.new.or(change.old).and_then(key) else { return false };
    let find = |root| at(root, &list)?.children().find(|it| key(*it).as_ref() == Some(&wanted));
    let (base, upstream) = (find(case.base), find(case.upstream));
    let is_changed =
        base.zip(upstream).is_some_and(|(base, upstream)| !same_in_yaml_1_2(base, upstream));
    let is_one_sided = matches!(change.what, What::Added | What::Removed);
    case.ways == 3 && is_one_sided && is_changed && find(case.local).is_none()
}

fn is_order(case: &Case<'_>, change: &FieldChange<'_>) -> bool {
    let has_same = |a: NodeRef<'_>, b: NodeRef<'_>| {
        a.children().all(|item| b.children().any(|other| same_in_yaml_1_2(item, other)))
    };
    let in_set = || {
        set(change).is_some_and(|(theirs, ours)| has_same(theirs, ours) && has_same(ours, theirs))
    };
    case.ways == 3 && (change.what == What::Reordered || in_set())
}

/// The set of both results that a difference is in. Finalizers are the set that the trees have.
fn set<'a>(change: &FieldChange<'a>) -> Option<(NodeRef<'a>, NodeRef<'a>)> {
    let (list, _) = change.path.split_last()?;
    change.within.filter(|_| list.to_string() == "metadata.finalizers")
}

/// Whether krm's set is what the rule says, so that the difference is kyaml's.
fn is_set(case: &Case<'_>, change: &FieldChange<'_>) -> bool {
    let Some((_, ours)) = set(change) else { return false };
    let is_removed = |item: NodeRef<'_>| {
        has(case.base, item) && !(has(case.upstream, item) && has(case.local, item))
    };
    let is_wanted = |item: NodeRef<'_>| !(case.ways == 3 && is_removed(item));
    let in_ours = |item: NodeRef<'_>| ours.children().any(|other| same_in_yaml_1_2(item, other));
    let sides = [case.upstream, case.local].into_iter().filter_map(finalizers);
    let all: Vec<NodeRef<'_>> =
        sides.flat_map(|list| list.children().collect::<Vec<_>>()).collect();
    all.iter().all(|item| is_wanted(*item) == in_ours(*item))
        && ours.children().all(|item| all.iter().any(|other| same_in_yaml_1_2(item, *other)))
}

fn finalizers(root: Option<NodeRef<'_>>) -> Option<NodeRef<'_>> {
    at(root, &Path::default().join("metadata").join("finalizers"))
}

fn has(root: Option<NodeRef<'_>>, item: NodeRef<'_>) -> bool {
    finalizers(root).is_some_and(|list| list.children().any(|other| same_in_yaml_1_2(item, other)))
}
