//! Two-way merge of mappings: field by field, with directives, and new keys behind the neighbour that they have in the source.

use std::collections::BTreeSet;

use krm_yaml::{NodeRef, ScalarStyle, ScalarType, Value};

use super::directives::{self, MappingDirectives, Patch};
use super::fields::{Field, Fields, share_merge_keys};
use super::ops::{Fill, Op};
use super::remarks::{Slot, key_step};
use super::same::{is_null, same};
use super::shape::{MapKind, Shape};
use super::two_way::{Beside, Copy, Done, merged_copy, value, whole};
use super::work::Work;
use super::{anchors, fill, two_lists};
use crate::Diagnostic;

/// Merges a mapping field by field.
pub(super) fn mapping<'a>(
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
            let fill = Fill::Value(Value::OwnedNode(graft));
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
            let fill = fill::with_comments(work, field, fill);
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
    let is_word = is_plain && scalar.is_some_and(|key| key.resolve_1_1() != ScalarType::String);
    match key.as_str() {
        Some(_) if is_word && is_bare && mapping.is_block() => Value::Node(key),
        Some(text) => Value::String(text),
        None if is_bare => Value::Node(key),
        None => anchors::word(key).or(anchors::scalar(key)).unwrap_or(Value::Node(key)),
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
