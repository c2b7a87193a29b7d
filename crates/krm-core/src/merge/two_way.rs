//! Two-way merge: what the source says is set in the destination, and whatever it does not mention stays.

use std::collections::BTreeSet;

use krm_yaml::{Edit, File, Graft, NodeKind, NodeRef, Resolved, ScalarStyle, Value};

use super::directives::{self, MappingDirectives, Patch};
use super::fields::{Field, Fields, share_merge_keys};
use super::ops::{Fill, Op};
use super::remarks::{Slot, key_step};
use super::same::{is_null, own_tag, same};
use super::shape::{MapKind, Shape};
use super::work::Work;
use super::{Merger, Outcome, Version, anchors, fill, two_lists};
use crate::{Diagnostic, subtree};

/// What became of a value of the destination.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Done {
    /// It says what the source says.
    Same,
    /// It was changed, by a graft or otherwise.
    Changed { grafted: bool },
    /// It is to go.
    Gone,
}

/// What the source says of a field besides its value: directives that stand beside it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Beside<'a> {
    pub(super) delete: Option<NodeRef<'a>>,
    pub(super) order: Option<NodeRef<'a>>,
}

pub(super) fn root<'a>(
    work: &mut Work<'a, '_>,
    source: NodeRef<'a>,
    destination: NodeRef<'a>,
) -> Result<Outcome, Diagnostic> {
    let shape = work.shape.clone();
    // A document of nothing says nothing: what goes is named by `$patch`.
    if is_null(source) {
        return Ok(Outcome::Stays);
    }
    let done = value(work, source, destination, &shape, Beside::default())?;
    Ok(if done == Done::Gone { Outcome::Goes } else { Outcome::Stays })
}

/// Merges one value into another.
pub(super) fn value<'a>(
    work: &mut Work<'a, '_>,
    source: NodeRef<'a>,
    destination: NodeRef<'a>,
    shape: &Shape<'_>,
    beside: Beside<'a>,
) -> Result<Done, Diagnostic> {
    let is_alias = |node: NodeRef<'a>| node.kind() == NodeKind::Alias;
    if anchors::is_same_alias(source, destination) {
        return Ok(Done::Same);
    }
    let source = source.resolve();
    if is_null(source) {
        return Ok(Done::Gone);
    }
    if is_alias(destination) {
        return below_alias(work, source, destination, shape);
    }
    let is_retagged = own_tag(source).is_some() && own_tag(source) != own_tag(destination);
    work.guarded(destination, source, |work| match (source.kind(), destination.kind()) {
        _ if is_retagged => whole(work, source, destination, shape),
        (NodeKind::Mapping, NodeKind::Mapping) => mapping(work, source, destination, shape),
        (NodeKind::Sequence, NodeKind::Sequence) => {
            two_lists::list(work, source, destination, shape, beside)
        }
        _ => whole(work, source, destination, shape),
    })
}

/// Takes a value whole.
pub(super) fn whole<'a>(
    work: &mut Work<'a, '_>,
    source: NodeRef<'a>,
    destination: NodeRef<'a>,
    shape: &Shape<'_>,
) -> Result<Done, Diagnostic> {
    if same(source, destination) {
        return Ok(Done::Same);
    }
    let Some(fill) = fill::of_source(work, source, shape, destination)? else {
        return Ok(Done::Gone);
    };
    if is_filled_alike(&fill, destination) {
        return Ok(Done::Same);
    }
    let (new, old) = (noun(source), noun(destination));
    if new != old && !is_null(destination) {
        work.warn(destination, format!("this was {old} and becomes {new}"));
    }
    set(work, destination, source, fill)
}

/// Sets a value: a scalar in the destination's style and with the source's type, anything else as it stands there.
pub(super) fn set<'a>(
    work: &mut Work<'a, '_>,
    destination: NodeRef<'a>,
    source: NodeRef<'a>,
    fill: Fill<'a>,
) -> Result<Done, Diagnostic> {
    let source = source.resolve();
    let is_plain = source.as_scalar().is_some_and(|it| !it.style().is_block());
    let is_block = destination.as_scalar().is_some_and(|it| it.style().is_block());
    let fits = destination.as_scalar().is_some() && source.tag().is_none();
    let fill = match anchors::scalar(source) {
        Some(value) if fits && (is_plain || is_block) => Fill::Value(value),
        _ => fill,
    };
    // Where lines make room for a value there is no place of its own for a comment.
    let grafted = matches!(fill, Fill::Part { .. }) || destination.is_block();
    work.ask(Op::Set(destination, fill))?;
    Ok(Done::Changed { grafted })
}

/// Whether the destination already means what would be written there.
fn is_filled_alike(fill: &Fill<'_>, destination: NodeRef<'_>) -> bool {
    match fill {
        Fill::Part { node, without, .. } if without.is_empty() => same(*node, destination),
        Fill::Part { node, without, .. } => match anchors::written_out(*node, without) {
            Ok(value) => is_alike(&value, destination),
            Err(_) => false,
        },
        Fill::Value(value) => is_alike(value, destination),
    }
}

/// Whether a node means a value that was written out.
fn is_alike(value: &Value<'_>, node: NodeRef<'_>) -> bool {
    let text = crate::json::write(value);
    let Ok(file) = File::parse(text) else { return false };
    let root = file.document(0).and_then(|document| document.root());
    root.is_some_and(|root| same(root, node))
}

fn noun(node: NodeRef<'_>) -> &'static str {
    match node.resolve().kind() {
        NodeKind::Mapping => "a mapping",
        NodeKind::Sequence => "a list",
        _ => "a scalar",
    }
}

/// A change below an alias is made on the destination's own key: what the alias stands for is written out there.
fn below_alias<'a>(
    work: &mut Work<'a, '_>,
    source: NodeRef<'a>,
    alias: NodeRef<'a>,
    shape: &Shape<'_>,
) -> Result<Done, Diagnostic> {
    let there = alias.resolve();
    match merged_copy(work, source, there)? {
        Copy::Same => Ok(Done::Same),
        Copy::Gone => Ok(Done::Gone),
        Copy::Of(graft) => {
            work.ask(Op::Set(alias, Fill::Value(Value::Graft(graft))))?;
            Ok(Done::Changed { grafted: true })
        }
        Copy::Whole => whole(work, source, alias, shape),
    }
}

/// What a merge into a copy gives.
pub(super) enum Copy {
    Same,
    Gone,
    Of(Graft),
    /// There is nothing to merge with: the kinds differ.
    Whole,
}

/// Merges into a copy of a node that cannot be changed where it stands.
pub(super) fn merged_copy<'a>(
    work: &mut Work<'a, '_>,
    source: NodeRef<'a>,
    there: NodeRef<'a>,
) -> Result<Copy, Diagnostic> {
    if same(source, there) {
        return Ok(Copy::Same);
    }
    if source.kind() != there.kind() || !there.is_collection() {
        return Ok(Copy::Whole);
    }
    let text = subtree::end_line(subtree::texts(&[there]).concat());
    let copy = File::parse(text).map_err(|error| Diagnostic::from(&error))?;
    let root = copy.document(0).and_then(|document| document.root());
    let Some(root) = root else { return Ok(Copy::Whole) };
    let mut edit = Edit::new(&copy).allow_shared(true);
    let [ours, theirs] = work.files();
    let mut merger = Merger::new(work.rules);
    let report =
        merger.two_way(Version::new(source, theirs), Version::new(root, ours), &mut edit)?;
    if report.outcome == Outcome::Goes {
        return Ok(Copy::Gone);
    }
    let text = edit.apply().map_err(|error| work.error(there, error.message))?;
    let merged = File::parse(text).map_err(|error| Diagnostic::from(&error))?;
    Ok(Graft::root(merged).map_or(Copy::Whole, Copy::Of))
}

fn mapping<'a>(
    work: &mut Work<'a, '_>,
    source: NodeRef<'a>,
    destination: NodeRef<'a>,
    shape: &Shape<'_>,
) -> Result<Done, Diagnostic> {
    let found = directives::of_mapping(work, source, Some(destination))?;
    let shape = &shape.or_resource(work.rules, destination);
    match found.patch {
        Some(Patch::Delete) => return Ok(Done::Gone),
        Some(Patch::Replace) => return whole(work, source, destination, shape),
        _ if shape.mapping() == MapKind::Whole => return whole(work, source, destination, shape),
        _ => {}
    }
    let start = work.checkpoint();
    let with_merged = !share_merge_keys(&[source, destination]);
    let (ours, theirs) = (Fields::of(destination, true), Fields::of(source, with_merged));
    let gone = unretained(work, &found, &theirs, &ours, shape);
    let mut place = Position::new(&theirs, &ours);
    for (name, field) in theirs.iter().filter(|(_, it)| !found.entries.contains(&it.value)) {
        let beside = beside(&found, name);
        place.step(name, &ours);
        let old = ours.get(name).filter(|_| !gone.contains(name));
        let shape = shape.field(name);
        work.below(key_step(name), |work| match old {
            Some(old) if old.own.is_some() => own(work, field, old, &ours, name, &shape, beside),
            Some(old) => inherited(work, field, old, destination, place.after),
            None => added(work, field, destination, place.after, &shape),
        })?;
    }
    for name in gone.iter().filter(|name| ours.get(name).is_some_and(|it| it.own.is_some())) {
        for value in ours.all(name) {
            work.ask(Op::Remove(value))?;
        }
    }
    only_directives(work, &found, &theirs, &ours, shape)?;
    let is_idle = work.is_idle_since(&start);
    Ok(if is_idle { Done::Same } else { Done::Changed { grafted: false } })
}

fn beside<'a>(found: &MappingDirectives<'a>, name: &str) -> Beside<'a> {
    let of = |list: &[(String, NodeRef<'a>)]| {
        list.iter().find(|(field, _)| field == name).map(|(_, node)| *node)
    };
    Beside { delete: of(&found.delete_from), order: of(&found.order) }
}

/// A field that both have.
fn own<'a>(
    work: &mut Work<'a, '_>,
    field: Field<'a>,
    old: Field<'a>,
    ours: &Fields<'a>,
    name: &str,
    shape: &Shape<'_>,
    beside: Beside<'a>,
) -> Result<(), Diagnostic> {
    let entries = [(field.key, field.value), (old.key, old.value)];
    let shape = shape.clone().in_comments(work, &entries);
    match value(work, field.value, old.value, &shape, beside)? {
        Done::Same => Ok(()),
        Done::Gone => ours.all(name).into_iter().try_for_each(|it| work.ask(Op::Remove(it))),
        Done::Changed { grafted } => {
            let slot = |field: Field<'a>| Slot { key: Some(field.key), value: field.value };
            work.bring_comments(slot(field), slot(old), grafted)
        }
    }
}

/// A field that comes to the destination through `<<`: a change is made on a key of its own.
fn inherited<'a>(
    work: &mut Work<'a, '_>,
    field: Field<'a>,
    old: Field<'a>,
    mapping: NodeRef<'a>,
    after: Option<usize>,
) -> Result<(), Diagnostic> {
    let shape = Shape::default();
    if is_null(field.value) {
        let message = "this comes through `<<` and cannot be removed here";
        return Err(work.error(old.value, message).hint("write the fields out instead of `<<`"));
    }
    match merged_copy(work, field.value.resolve(), old.value.resolve())? {
        Copy::Same | Copy::Gone => Ok(()),
        Copy::Whole => added(work, field, mapping, after, &shape),
        Copy::Of(graft) => {
            let fill = Fill::Value(Value::Graft(graft));
            work.ask(Op::Entry { mapping, after, key: key_value(field.key, mapping), fill })
        }
    }
}

/// A field that only the source has.
fn added<'a>(
    work: &mut Work<'a, '_>,
    field: Field<'a>,
    mapping: NodeRef<'a>,
    after: Option<usize>,
    shape: &Shape<'_>,
) -> Result<(), Diagnostic> {
    let shape = shape.clone().in_comments(work, &[(field.key, field.value)]);
    match fill::of_source(work, field.value, &shape, mapping)? {
        None => Ok(()),
        Some(fill) => {
            work.ask(Op::Entry { mapping, after, key: key_value(field.key, mapping), fill })
        }
    }
}

/// A key as it is written anew: of a text the text, in the manners of its neighbours; of anything else the node.
pub(super) fn key_value<'a>(key: NodeRef<'a>, mapping: NodeRef<'a>) -> Value<'a> {
    let key = key.resolve();
    let is_bare = key.anchor().is_none();
    let scalar = key.as_scalar();
    let is_plain = scalar.is_some_and(|key| key.style() == ScalarStyle::Plain);
    // A word such as `on` was written without quotes on purpose, or at least with success.
    let is_word = is_plain && scalar.is_some_and(|key| key.resolve_1_1() != Resolved::String);
    match key.as_str() {
        Some(_) if is_word && is_bare && mapping.is_block() => Value::Node(key),
        Some(text) => Value::String(text),
        None if is_bare => Value::Node(key),
        None => anchors::scalar(key).unwrap_or(Value::Node(key)),
    }
}

/// Fields that only directives speak of.
fn only_directives<'a>(
    work: &mut Work<'a, '_>,
    found: &MappingDirectives<'a>,
    theirs: &Fields<'a>,
    ours: &Fields<'a>,
    shape: &Shape<'_>,
) -> Result<(), Diagnostic> {
    let mut names: Vec<&String> =
        found.delete_from.iter().chain(&found.order).map(|(name, _)| name).collect();
    names.sort();
    names.dedup();
    for name in names.into_iter().filter(|name| theirs.get(name).is_none()) {
        let Some(old) = ours.get(name).filter(|old| old.own.is_some()) else { continue };
        let beside = beside(found, name);
        let shape = shape.field(name);
        work.below(key_step(name), |work| two_lists::directed(work, old.value, &shape, beside))?;
    }
    Ok(())
}

/// The fields of the destination that make room: those that `$retainKeys` does not name.
fn unretained<'a>(
    work: &mut Work<'a, '_>,
    found: &MappingDirectives<'a>,
    theirs: &Fields<'a>,
    ours: &Fields<'a>,
    shape: &Shape<'_>,
) -> BTreeSet<String> {
    let retained: Box<dyn Fn(&str) -> bool> = match (&found.retain, shape.mapping()) {
        (Some(keys), _) => Box::new(|name| keys.iter().any(|key| key == name)),
        (None, MapKind::RetainKeys) if brings_another(theirs, ours) => {
            Box::new(|name| theirs.get(name).is_some())
        }
        _ => return BTreeSet::new(),
    };
    let mut gone = BTreeSet::new();
    for (name, field) in ours.iter().filter(|(_, field)| field.own.is_some()) {
        if retained(name) {
            continue;
        }
        gone.insert(name.to_owned());
        if found.retain.is_none() {
            let message =
                format!("`{name}` makes room: the schema retains only what the source has");
            work.warn(field.value, message);
        }
    }
    gone
}

/// Whether the source has a field that the destination lacks, or another value for a scalar of it.
fn brings_another(theirs: &Fields<'_>, ours: &Fields<'_>) -> bool {
    theirs.iter().filter(|(_, field)| !is_null(field.value)).any(|(name, field)| {
        ours.get(name).is_none_or(|old| {
            let is_scalar = field.value.resolve().as_scalar().is_some();
            is_scalar && !same(field.value, old.value)
        })
    })
}

/// Where new keys go: behind the neighbour that they have in the source, or before the next one.
pub(super) struct Position {
    /// The entry of the destination behind which the next new key goes; none: before the first.
    pub(super) after: Option<usize>,
}

impl Position {
    pub(super) fn new(theirs: &Fields<'_>, ours: &Fields<'_>) -> Self {
        // Keys that the source has before all common ones come before the first of those.
        let first = theirs.iter().find_map(|(name, _)| ours.get(name)?.own);
        let last = ours.count.checked_sub(1);
        Self { after: first.map_or(last, |first| first.checked_sub(1)) }
    }

    /// The source's next field.
    pub(super) fn step(&mut self, name: &str, ours: &Fields<'_>) {
        if let Some(at) = ours.get(name).and_then(|field| field.own) {
            self.after = Some(at);
        }
    }
}
