//! Two-way merge of mappings, field by field. New keys are inserted after the field that they follow in the source.

use std::collections::BTreeSet;

use krm_yaml::{NodeRef, ScalarStyle, ScalarType, Value};

use super::directives::{self, MappingDirectives, Patch};
use super::ops::{IncomingNode, Op};
use super::state::MergeState;
use super::two_way::{
    FieldDirectives, Merged, MergedCopy, merge_into_copy, merge_node, replace_node,
};
use super::{anchors, equal, incoming, is_null, key_segment, two_way_lists};
use crate::Diagnostic;
use crate::compare::{CommentedEntry, Field, FieldSchema, Fields, MapStrategy, share_merge_keys};
use crate::merge::kinds::MergeKind;

pub(super) fn merge_mapping<'a>(
    state: &mut MergeState<'a, '_>,
    source: NodeRef<'a>,
    destination: NodeRef<'a>,
    schema: &FieldSchema<'_>,
) -> Result<Merged, Diagnostic> {
    let found = directives::of_mapping(state, source, Some(destination))?;
    let schema = &schema.or_resource(&state.options.lists, destination);
    match found.patch {
        Some(Patch::Delete) => return Ok(Merged::Removed),
        Some(Patch::Replace) => return replace_node(state, source, destination, schema),
        _ if schema.mapping() == MapStrategy::Replace => {
            return replace_node(state, source, destination, schema);
        }
        _ => {}
    }
    let start = state.checkpoint();
    let with_merged = !share_merge_keys(&[source, destination]);
    let (ours, theirs) = (Fields::of(destination, true), Fields::of(source, with_merged));
    let removed = fields_not_retained(state, &found, &theirs, &ours, schema);
    let mut position = InsertPosition::new(&theirs, &ours);
    for (name, field) in theirs.iter().filter(|(_, it)| !found.entries.contains(&it.value)) {
        let directives = field_directives(&found, name);
        position.advance(name, &ours);
        let old = ours.get(name).filter(|_| !removed.contains(name));
        let schema = schema.field(name);
        state.descend(key_segment(name), |state| match old {
            Some(old) if old.own.is_some() => {
                merge_field(state, [field, old], (&ours, name), &schema, directives)
            }
            Some(old) => merge_inherited(state, field, old, destination, position.after),
            None => insert_field(state, field, destination, position.after, &schema),
        })?;
    }
    for name in removed.iter().filter(|name| ours.get(name).is_some_and(|it| it.own.is_some())) {
        for value in ours.all(name) {
            state.push_op(Op::Remove(value))?;
        }
    }
    apply_directives_alone(state, &found, &theirs, &ours, schema)?;
    let is_unchanged = state.is_unchanged_since(&start);
    Ok(if is_unchanged { Merged::Unchanged } else { Merged::Changed { replaced: false } })
}

fn field_directives<'a>(found: &MappingDirectives<'a>, name: &str) -> FieldDirectives<'a> {
    let of = |list: &[(String, NodeRef<'a>)]| {
        list.iter().find(|(field, _)| field == name).map(|(_, node)| *node)
    };
    FieldDirectives { delete: of(&found.delete_from), order: of(&found.order) }
}

/// Merges a field that both mappings have.
fn merge_field<'a>(
    state: &mut MergeState<'a, '_>,
    [field, old]: [Field<'a>; 2],
    (ours, name): (&Fields<'a>, &str),
    schema: &FieldSchema<'_>,
    directives: FieldDirectives<'a>,
) -> Result<(), Diagnostic> {
    let schema = state.schema_with_comments(schema.clone(), &[field, old]);
    match merge_node(state, field.value, old.value, &schema, directives)? {
        Merged::Unchanged => Ok(()),
        Merged::Removed => {
            ours.all(name).into_iter().try_for_each(|it| state.push_op(Op::Remove(it)))
        }
        Merged::Changed { replaced } => {
            let entry =
                |field: Field<'a>| CommentedEntry { key: Some(field.key), value: field.value };
            state.copy_comments(entry(field), entry(old), replaced)
        }
    }
}

/// Merges a field that the destination gets from `<<`: a change becomes a key of its own mapping, which overrides `<<`.
fn merge_inherited<'a>(
    state: &mut MergeState<'a, '_>,
    field: Field<'a>,
    old: Field<'a>,
    mapping: NodeRef<'a>,
    after: Option<usize>,
) -> Result<(), Diagnostic> {
    let schema = FieldSchema::default();
    if is_null(field.value) {
        return Err(state.error(old.value, MergeKind::InheritedField));
    }
    match merge_into_copy(state, field.value.resolve(), old.value.resolve())? {
        MergedCopy::Unchanged | MergedCopy::Removed => Ok(()),
        MergedCopy::Incompatible => insert_field(state, field, mapping, after, &schema),
        MergedCopy::Changed(graft) => {
            let value = IncomingNode::Value(Value::OwnedNode(graft));
            let key = key_value(field.key, mapping);
            state.push_op(Op::InsertEntry { mapping, after, key, value })
        }
    }
}

/// Inserts a field that only the source has.
fn insert_field<'a>(
    state: &mut MergeState<'a, '_>,
    field: Field<'a>,
    mapping: NodeRef<'a>,
    after: Option<usize>,
    schema: &FieldSchema<'_>,
) -> Result<(), Diagnostic> {
    let schema = state.schema_with_comments(schema.clone(), &[field]);
    match incoming::from_source(state, field.value, &schema, mapping)? {
        None => Ok(()),
        Some(value) => {
            let value = incoming::with_comments(state, field, value);
            let key = key_value(field.key, mapping);
            state.push_op(Op::InsertEntry { mapping, after, key, value })
        }
    }
}

/// A key to be inserted: of a string the value, so that it gets the style of its neighbours, and otherwise the node.
pub(super) fn key_value<'a>(key: NodeRef<'a>, mapping: NodeRef<'a>) -> Value<'a> {
    let key = key.resolve();
    let has_no_anchor = key.anchor().is_none();
    let scalar = key.as_scalar();
    let is_plain = scalar.is_some_and(|key| key.style() == ScalarStyle::Plain);
    // Quotes would turn `on` into a string for YAML 1.1 readers, who take it for a boolean.
    let is_yaml_1_1_word =
        is_plain && scalar.is_some_and(|key| key.resolve_1_1() != ScalarType::String);
    match key.as_str() {
        Some(_) if is_yaml_1_1_word && has_no_anchor && mapping.is_block() => Value::Node(key),
        Some(text) => Value::String(text),
        None if has_no_anchor => Value::Node(key),
        None => anchors::plain_word(key).or(anchors::scalar_value(key)).unwrap_or(Value::Node(key)),
    }
}

/// Applies the directives about fields that the source does not set.
fn apply_directives_alone<'a>(
    state: &mut MergeState<'a, '_>,
    found: &MappingDirectives<'a>,
    theirs: &Fields<'a>,
    ours: &Fields<'a>,
    schema: &FieldSchema<'_>,
) -> Result<(), Diagnostic> {
    let mut names: Vec<&String> =
        found.delete_from.iter().chain(&found.order).map(|(name, _)| name).collect();
    names.sort();
    names.dedup();
    for name in names.into_iter().filter(|name| theirs.get(name).is_none()) {
        let Some(old) = ours.get(name).filter(|old| old.own.is_some()) else { continue };
        let directives = field_directives(found, name);
        let schema = schema.field(name);
        state.descend(key_segment(name), |state| {
            two_way_lists::apply_directives(state, old.value, &schema, directives)
        })?;
    }
    Ok(())
}

/// The fields of the destination that are removed because `$retainKeys`, or a schema with that strategy, does not retain them.
fn fields_not_retained<'a>(
    state: &mut MergeState<'a, '_>,
    found: &MappingDirectives<'a>,
    theirs: &Fields<'a>,
    ours: &Fields<'a>,
    schema: &FieldSchema<'_>,
) -> BTreeSet<String> {
    let is_retained: Box<dyn Fn(&str) -> bool> = match (&found.retain, schema.mapping()) {
        // Compat: Kubernetes requires that the directive lists all fields that the patch sets. One that it forgets is set all the same.
        (Some(keys), _) => {
            Box::new(|name| keys.iter().any(|key| key == name) || theirs.get(name).is_some())
        }
        (None, MapStrategy::RetainKeys) if sets_another_field(theirs, ours) => {
            Box::new(|name| theirs.get(name).is_some())
        }
        _ => return BTreeSet::new(),
    };
    let mut removed = BTreeSet::new();
    for (name, field) in ours.iter().filter(|(_, field)| field.own.is_some()) {
        if is_retained(name) {
            continue;
        }
        removed.insert(name.to_owned());
        // A directive asked for it; a schema did so silently.
        if found.retain.is_none() {
            state.warn(field.value, MergeKind::RetainKeys { field: name.to_owned() });
        }
    }
    removed
}

/// Whether the source has a field that the destination lacks, or another value for a scalar of it.
fn sets_another_field(theirs: &Fields<'_>, ours: &Fields<'_>) -> bool {
    theirs.iter().filter(|(_, field)| !is_null(field.value)).any(|(name, field)| {
        ours.get(name).is_none_or(|old| {
            let is_scalar = field.value.resolve().as_scalar().is_some();
            is_scalar && !equal(field.value, old.value)
        })
    })
}

/// Where new keys are inserted: after the field that they follow in the source, or before the first that both mappings have.
pub(super) struct InsertPosition {
    /// The entry of the destination after which the next new key goes; `None` for before the first.
    pub(super) after: Option<usize>,
}

impl InsertPosition {
    pub(super) fn new(theirs: &Fields<'_>, ours: &Fields<'_>) -> Self {
        let first = theirs.iter().find_map(|(name, _)| ours.get(name)?.own);
        let last = ours.count.checked_sub(1);
        Self { after: first.map_or(last, |first| first.checked_sub(1)) }
    }

    /// Moves on to the next field of the source.
    pub(super) fn advance(&mut self, name: &str, ours: &Fields<'_>) {
        if let Some(at) = ours.get(name).and_then(|field| field.own) {
            self.after = Some(at);
        }
    }
}
