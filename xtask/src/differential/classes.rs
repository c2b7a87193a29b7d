//! Known differences between the merges of krm and kyaml, each with its reason.

use krm_core::compare::equal_in_yaml_1_2;
use krm_core::diff::{ChangeKind, FieldChange};
use krm_yaml::{NodeRef, Path, ScalarType, Segment};

/// The inputs of a merge.
pub(super) struct Case<'a> {
    pub(super) ways: usize,
    pub(super) base: Option<NodeRef<'a>>,
    pub(super) upstream: Option<NodeRef<'a>>,
    pub(super) local: Option<NodeRef<'a>>,
}

/// A class of differences: its name, why krm differs, and the test for it.
struct Class {
    name: &'static str,
    reason: &'static str,
    matches: fn(&Case<'_>, &FieldChange<'_>) -> bool,
}

const CLASSES: &[Class] = &[
    Class {
        name: "retyped",
        reason: "kyaml keeps the quotes of the destination and so changes the type; krm takes the type of the source",
        matches: is_retyped,
    },
    Class {
        name: "hollow",
        reason: "kyaml leaves or restores `m: {}` where a side deleted it; krm does neither",
        matches: is_left_hollow,
    },
    Class {
        name: "empty-value",
        reason: "kyaml deletes unrelated empty values; krm keeps them",
        matches: is_empty_value,
    },
    Class {
        name: "inferred-key",
        reason: "the specification infers seven merge keys, kyaml only `name`",
        matches: is_inferred,
    },
    Class {
        name: "type-change",
        reason: "upstream changed only the type, such as '1' to 1; kyaml compares the text and sees no change",
        matches: is_type_change,
    },
    Class {
        name: "local-elements",
        reason: "local-only elements survive when upstream deletes the list; kyaml loses them",
        matches: is_local_elements,
    },
    Class {
        name: "null-clears",
        reason: "null in the destination clears the field; kyaml takes the list of upstream",
        matches: is_cleared,
    },
    Class {
        name: "null-kept",
        reason: "a null that local has already stays as written, because clearing it changes nothing; kyaml removes it or leaves an empty list",
        matches: is_null_kept,
    },
    Class {
        name: "restored-key",
        reason: "an element that was deleted locally and changed upstream is restored as it was; kyaml turns its key into a string",
        matches: is_restored,
    },
    Class {
        name: "order",
        reason: "krm takes the order of upstream if local did not change it; kyaml ignores it",
        matches: is_order,
    },
    Class {
        name: "set",
        reason: "a set keeps what a side has and no side removed; kyaml restores removed elements or loses added ones",
        matches: is_set,
    },
];

const KIND_CHANGE: &str = "kind-change";
const NO_KEY: &str = "no-key";

/// Errors of kyaml: the start of the message, the class, and its reason.
const ERRORS: [(&str, &str, &str); 3] = [
    (
        "wrong node kind",
        KIND_CHANGE,
        "kyaml rejects a value of another kind; krm takes the value of the source and warns",
    ),
    ("conflicting merge keys", NO_KEY, NO_KEY_REASON),
    ("no merge key found", NO_KEY, NO_KEY_REASON),
];

const NO_KEY_REASON: &str =
    "kyaml rejects lists that are empty or have elements without a key; krm merges them";

/// The class of a merge that kyaml rejects.
pub(super) fn of_kyaml_error(error: &str) -> Option<&'static str> {
    ERRORS.iter().find(|(start, ..)| error.starts_with(start)).map(|(_, class, _)| *class)
}

/// The class of one difference; `old` is the result of kyaml and `new` that of krm.
pub(super) fn of(case: &Case<'_>, change: &FieldChange<'_>) -> Option<&'static str> {
    CLASSES.iter().find(|class| (class.matches)(case, change)).map(|class| class.name)
}

pub(super) fn reason(name: &str) -> &'static str {
    let error = ERRORS.iter().find(|(_, class, _)| *class == name).map(|(.., reason)| *reason);
    let class = CLASSES.iter().find(|class| class.name == name).map(|class| class.reason);
    class.or(error).unwrap_or_default()
}

fn at<'a>(root: Option<NodeRef<'a>>, path: &Path) -> Option<NodeRef<'a>> {
    root?.document().find(path)
}

fn is_null(node: NodeRef<'_>) -> bool {
    node.as_scalar().is_some_and(|scalar| scalar.resolve() == ScalarType::Null)
}

fn is_retyped(case: &Case<'_>, change: &FieldChange<'_>) -> bool {
    let scalar = |node: Option<NodeRef<'_>>| {
        node.and_then(NodeRef::as_scalar).map(|it| (it.value().into_owned(), it.resolve()))
    };
    let (kyaml, krm) = (scalar(change.old), scalar(change.new));
    let upstream = scalar(at(case.upstream, &change.path));
    kyaml.zip(krm.clone()).is_some_and(|(kyaml, krm)| kyaml.0 == krm.0) && krm == upstream
}

fn is_left_hollow(case: &Case<'_>, change: &FieldChange<'_>) -> bool {
    // An empty collection in an input is data, which must not be lost while upstream still has it.
    let is_in_input = |side| {
        let node = at(side, &change.path);
        node.is_some_and(|it| it.is_collection() && it.children().next().is_none())
    };
    let is_deleted = at(case.upstream, &change.path).is_none();
    case.ways == 3
        && change.kind == ChangeKind::Removed
        && change.old.is_some_and(is_hollow)
        && (is_deleted || !(is_in_input(case.local) || is_in_input(case.upstream)))
}

/// Whether only empty collections and merge keys are left.
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
    change.kind == ChangeKind::Added
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
        || (change.kind == ChangeKind::Reordered && change.new.is_some_and(is_list))
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
    let is_new = |item: NodeRef<'_>| !base.children().any(|it| equal_in_yaml_1_2(it, item));
    case.ways == 3
        && change.kind == ChangeKind::Added
        && ours.as_sequence().is_some()
        && at(case.upstream, &change.path).is_none_or(is_null)
        && ours.children().all(is_new)
}

fn is_cleared(case: &Case<'_>, change: &FieldChange<'_>) -> bool {
    let is_list = |node: NodeRef<'_>| node.as_sequence().is_some();
    case.ways == 3
        && change.new.is_none_or(is_null)
        && change.old.is_some_and(is_list)
        && at(case.local, &change.path).is_some_and(is_null)
}

fn is_null_kept(case: &Case<'_>, change: &FieldChange<'_>) -> bool {
    case.ways == 3
        && change.old.is_none_or(is_hollow)
        && change.new.is_some_and(is_null)
        && at(case.local, &change.path).is_some_and(is_null)
}

fn is_restored(case: &Case<'_>, change: &FieldChange<'_>) -> bool {
    let Some((list, _)) = change.path.split_last() else { return false };
    let key = |item: NodeRef<'_>| {
        let mapping = item.as_mapping()?;
        let key = mapping.get("port").or_else(|| mapping.get("containerPort"))?;
        Some(key.as_scalar()?.value().into_owned())
    };
    let Some(expected) = change.new.or(change.old).and_then(key) else { return false };
    let find = |root| at(root, &list)?.children().find(|it| key(*it).as_ref() == Some(&expected));
    let (base, upstream) = (find(case.base), find(case.upstream));
    let is_changed =
        base.zip(upstream).is_some_and(|(base, upstream)| !equal_in_yaml_1_2(base, upstream));
    let is_one_sided = matches!(change.kind, ChangeKind::Added | ChangeKind::Removed);
    case.ways == 3 && is_one_sided && is_changed && find(case.local).is_none()
}

fn is_order(case: &Case<'_>, change: &FieldChange<'_>) -> bool {
    let has_same = |a: NodeRef<'_>, b: NodeRef<'_>| {
        a.children().all(|item| b.children().any(|other| equal_in_yaml_1_2(item, other)))
    };
    let in_set = || {
        set(change).is_some_and(|(theirs, ours)| has_same(theirs, ours) && has_same(ours, theirs))
    };
    case.ways == 3 && (change.kind == ChangeKind::Reordered || in_set())
}

/// The set in both results that contains the difference. `finalizers` is the only set in the generated resources.
fn set<'a>(change: &FieldChange<'a>) -> Option<(NodeRef<'a>, NodeRef<'a>)> {
    let (list, _) = change.path.split_last()?;
    change.parents.filter(|_| list.to_string() == "metadata.finalizers")
}

/// Whether krm's set follows the rule, so that kyaml is wrong.
fn is_set(case: &Case<'_>, change: &FieldChange<'_>) -> bool {
    let Some((_, ours)) = set(change) else { return false };
    let is_removed = |item: NodeRef<'_>| {
        has(case.base, item) && !(has(case.upstream, item) && has(case.local, item))
    };
    let is_expected = |item: NodeRef<'_>| !(case.ways == 3 && is_removed(item));
    let in_ours = |item: NodeRef<'_>| ours.children().any(|other| equal_in_yaml_1_2(item, other));
    let sides = [case.upstream, case.local].into_iter().filter_map(finalizers);
    let all: Vec<NodeRef<'_>> =
        sides.flat_map(|list| list.children().collect::<Vec<_>>()).collect();
    all.iter().all(|item| is_expected(*item) == in_ours(*item))
        && ours.children().all(|item| all.iter().any(|other| equal_in_yaml_1_2(item, *other)))
}

fn finalizers(root: Option<NodeRef<'_>>) -> Option<NodeRef<'_>> {
    at(root, &Path::default().join("metadata").join("finalizers"))
}

fn has(root: Option<NodeRef<'_>>, item: NodeRef<'_>) -> bool {
    finalizers(root).is_some_and(|list| list.children().any(|other| equal_in_yaml_1_2(item, other)))
}
