//! Three-way merge of mappings, field by field.

use krm_yaml::{NodeKind, NodeRef};

use super::comments::UpstreamUse;
use super::conflict::ConflictKind;
use super::ops::Op;
use super::options::Side;
use super::state::MergeState;
use super::three_way::{EntryAction, EntryContext, KEEP, Versions, merge_entry};
use super::two_way_mappings::{InsertPosition, key_value};
use super::{equal, equal_option, incoming, key_segment};
use crate::Diagnostic;
use crate::compare::{CommentedEntry, Field, FieldSchema, Fields, share_merge_keys};

pub(super) fn merge_mapping<'a>(
    state: &mut MergeState<'a, '_>,
    versions: Versions<'a>,
    local: NodeRef<'a>,
    upstream: NodeRef<'a>,
    context: EntryContext<'a, '_>,
) -> Result<EntryAction<'a>, Diagnostic> {
    let base = versions.base.map(NodeRef::resolve).filter(|it| it.kind() == NodeKind::Mapping);
    // Where both sides merge in the same anchors, a change of an inherited field is merged at the anchor.
    let with_merged = !share_merge_keys(&[local, upstream]);
    let old = base.map(|base| Fields::of(base, with_merged)).unwrap_or_default();
    let (ours, theirs) = (Fields::of(local, with_merged), Fields::of(upstream, with_merged));
    let schema = context.schema.or_resource(&state.options.lists, local);
    let mut merge = MappingMerge { local, upstream, old, ours };
    let mut position = InsertPosition::new(&theirs, &merge.ours);
    for (name, field) in theirs.iter() {
        position.advance(name, &merge.ours);
        merge.field(state, name, Some(field), &schema, position.after)?;
    }
    let local_names: Vec<String> = merge.ours.iter().map(|(name, _)| name.to_owned()).collect();
    for name in local_names.iter().filter(|name| theirs.get(name).is_none()) {
        merge.field(state, name, None, &schema, None)?;
    }
    Ok(KEEP)
}

struct MappingMerge<'a> {
    local: NodeRef<'a>,
    upstream: NodeRef<'a>,
    old: Fields<'a>,
    ours: Fields<'a>,
}

impl<'a> MappingMerge<'a> {
    fn field(
        &mut self,
        state: &mut MergeState<'a, '_>,
        name: &str,
        theirs: Option<Field<'a>>,
        schema: &FieldSchema<'_>,
        after: Option<usize>,
    ) -> Result<(), Diagnostic> {
        let (old, ours) = (self.old.get(name), self.ours.get(name));
        let versions: Vec<_> = [old, ours, theirs].into_iter().flatten().collect();
        let schema = state.schema_with_comments(schema.field(name), &versions);
        state.descend(key_segment(name), |state| {
            if let (Some(ours), Some(theirs)) = (ours.filter(|it| it.own.is_none()), theirs) {
                return self.inherited(state, old, ours, theirs, after);
            }
            let value = |field: Option<Field<'a>>| field.map(|field| field.value);
            let versions =
                Versions { base: value(old), local: value(ours), upstream: value(theirs) };
            let parents = [Some(self.local), Some(self.upstream)];
            let checkpoint = state.checkpoint();
            let context = EntryContext { parents, schema: &schema, merge_keys: None };
            match merge_entry(state, versions, context)? {
                EntryAction::Keep(upstream_use) => {
                    merge_comments(state, old, ours, theirs, upstream_use)
                }
                EntryAction::Remove => {
                    state.rewind(&checkpoint);
                    if ours.is_some_and(|ours| ours.own.is_none()) {
                        return Ok(());
                    }
                    if let Some(ours) = ours {
                        state.warn_about_removed_comments(ours.value, &[value(old), value(theirs)]);
                    }
                    let all = self.ours.all(name);
                    all.into_iter().try_for_each(|it| state.push_op(Op::Remove(it)))
                }
                EntryAction::Insert(new) => {
                    let Some(theirs) = theirs else { return Ok(()) };
                    let new = incoming::with_comments(state, theirs, new);
                    let key = key_value(theirs.key, self.local);
                    state.push_op(Op::InsertEntry { mapping: self.local, after, key, value: new })
                }
            }
        })
    }

    /// Merges a field that local gets from `<<`: upstream's change becomes a key of local's own mapping, which overrides `<<`.
    fn inherited(
        &mut self,
        state: &mut MergeState<'a, '_>,
        old: Option<Field<'a>>,
        ours: Field<'a>,
        theirs: Field<'a>,
        after: Option<usize>,
    ) -> Result<(), Diagnostic> {
        let base = old.map(|old| old.value);
        if equal_option(base, Some(theirs.value)) || equal(ours.value, theirs.value) {
            return Ok(());
        }
        if !equal_option(base, Some(ours.value)) {
            let nodes = [base, Some(ours.value), Some(theirs.value)];
            if state.record_conflict(ConflictKind::Changed, nodes, [None, None]) == Side::Local {
                return Ok(());
            }
        }
        let schema = FieldSchema::default();
        if state.clears(theirs.value) {
            return Ok(());
        }
        let new = incoming::from_upstream(state, theirs.value, Vec::new(), &schema, self.local)?;
        let key = key_value(theirs.key, self.local);
        state.push_op(Op::InsertEntry { mapping: self.local, after, key, value: new })
    }
}

fn merge_comments<'a>(
    state: &mut MergeState<'a, '_>,
    old: Option<Field<'a>>,
    ours: Option<Field<'a>>,
    theirs: Option<Field<'a>>,
    upstream_use: UpstreamUse,
) -> Result<(), Diagnostic> {
    let entry = |field: Field<'a>| CommentedEntry { key: Some(field.key), value: field.value };
    let (Some(ours), Some(theirs)) = (ours.filter(|it| it.own.is_some()), theirs) else {
        return Ok(());
    };
    state.merge_comments(old.map(entry), entry(ours), entry(theirs), upstream_use)
}
