//! Merges a sequence whose elements have no merge key, element by element: elements are aligned by their content.
//!
//! An element that all versions have, changed or not, is stable. Between stable elements lie regions, in which at least one side added or
//! removed elements. As in diff3, a region that one side left alone is taken from the other side, and a region that both sides changed is
//! a conflict. What is not changed keeps its bytes and comments, which replacing the whole sequence would lose.

use krm_yaml::{NodeRef, Segment, Value};

use super::comments::UpstreamUse;
use super::conflict::ConflictKind;
use super::ops::Op;
use super::options::{Sequences, Side};
use super::sequence_plan::{Region, SequencePlan};
use super::state::MergeState;
use super::three_way::{EntryAction, EntryContext, KEEP, Versions, merge_entry};
use super::two_way::{self, Merged, OldTag};
use super::{equal, incoming};
use crate::Diagnostic;
use crate::compare::CommentedEntry;
use crate::print::json;

/// Merges an atomic list by its elements; `None` where it is to be merged as one value.
pub(super) fn merge_atomic_list<'a>(
    state: &mut MergeState<'a, '_>,
    base: Option<NodeRef<'a>>,
    local: NodeRef<'a>,
    upstream: NodeRef<'a>,
    context: EntryContext<'a, '_>,
) -> Result<Option<EntryAction<'a>>, Diagnostic> {
    let Some(base) = base.filter(|_| can_align(local, upstream)) else { return Ok(None) };
    // Where only one side changed the list, both ways of merging have the same result.
    let may_align = state.options.sequences == Sequences::Diff3
        || equal(base, local)
        || equal(base, upstream)
        || equal(local, upstream);
    if !may_align {
        return Ok(None);
    }
    let Some(plan) = SequencePlan::of([base, local, upstream], state.options.on_conflict) else {
        return Ok(None);
    };
    let schema = context.schema.item();
    let context = EntryContext {
        parents: [Some(local), Some(upstream)],
        schema: &schema,
        merge_keys: Some(&[]),
    };
    for [base, local, upstream] in plan.stable() {
        state.descend(Segment::Index(local), |state| {
            let versions = Versions {
                base: Some(plan.base[base]),
                local: Some(plan.local[local]),
                upstream: Some(plan.upstream[upstream]),
            };
            state.with_null_values(|state| merge_element(state, versions, context))
        })?;
    }
    for region in &plan.regions {
        if plan.takes_upstream(state, region, [local, upstream]) {
            plan.replace(state, region, [local, upstream])?;
        }
    }
    Ok(Some(KEEP))
}

/// Whether sequences can be aligned. Aliases have no content of their own, and an anchor must not be removed before its aliases. A
/// sequence in flow style cannot take over the lines and comments of one in block style.
pub(super) fn can_align(destination: NodeRef<'_>, source: NodeRef<'_>) -> bool {
    let has_no_anchors = |it: NodeRef<'_>| it.document().anchored().next().is_none();
    has_no_anchors(destination)
        && has_no_anchors(source)
        && (destination.is_block() || !source.is_block())
}

fn merge_element<'a>(
    state: &mut MergeState<'a, '_>,
    versions: Versions<'a>,
    context: EntryContext<'a, '_>,
) -> Result<(), Diagnostic> {
    let (Some(local), Some(upstream)) = (versions.local, versions.upstream) else { return Ok(()) };
    let upstream_use = match merge_entry(state, versions, context)? {
        EntryAction::Keep(upstream_use) => upstream_use,
        _ => UpstreamUse::Merged,
    };
    let base = versions.base.map(CommentedEntry::element);
    let [local, upstream] = [local, upstream].map(CommentedEntry::element);
    state.merge_comments(base, local, upstream, upstream_use)
}

impl<'a> SequencePlan<'a> {
    /// Whether upstream's version of a region is taken. Records the conflict where both sides changed it.
    fn takes_upstream(
        &self,
        state: &mut MergeState<'a, '_>,
        region: &Region,
        lists: [NodeRef<'a>; 2],
    ) -> bool {
        if !region.is_conflict {
            return true;
        }
        let values = [
            &self.base[region.base.clone()],
            &self.local[region.local.clone()],
            &self.upstream[region.upstream.clone()],
        ];
        let at = [values[1].first().copied(), values[2].first().copied()];
        let at = [at[0].or(Some(lists[0])), at[1].or(Some(lists[1]))];
        let as_json = |nodes: &[NodeRef<'a>]| {
            let nodes = nodes.iter().map(|node| Value::Node(*node));
            Some(json::display(&Value::Sequence(nodes.collect())))
        };
        let values = values.map(as_json);
        let taken = state.descend(Segment::Index(region.local.start), |state| {
            state.push_conflict(ConflictKind::Changed, values, at)
        });
        taken == Side::Upstream
    }

    /// Replaces local's version of a region by upstream's.
    pub(super) fn replace(
        &self,
        state: &mut MergeState<'a, '_>,
        region: &Region,
        [list, upstream]: [NodeRef<'a>; 2],
    ) -> Result<(), Diagnostic> {
        let (old, new) =
            (&self.local[region.local.clone()], &self.upstream[region.upstream.clone()]);
        let is_scalar = |node: &NodeRef<'a>| node.as_scalar().is_some();
        if old.len() == new.len() && old.iter().chain(new).all(is_scalar) {
            return self.set_scalars(state, region, list);
        }
        let others = [self.base.first().copied().filter(|_| self.has_base), Some(upstream)];
        for node in old {
            state.warn_about_removed_comments(*node, &others);
            state.push_op(Op::Remove(*node))?;
        }
        for node in new {
            let value = incoming::excluding(state, *node, Vec::new(), list)?;
            state.push_op(Op::InsertElement { list, before: region.local.end, value })?;
        }
        Ok(())
    }

    /// Sets as many scalars as there were, each in the style of the one in its place and with its comments.
    fn set_scalars(
        &self,
        state: &mut MergeState<'a, '_>,
        region: &Region,
        list: NodeRef<'a>,
    ) -> Result<(), Diagnostic> {
        let has_base = region.base.len() == region.local.len();
        for (at, (here, there)) in region.local.clone().zip(region.upstream.clone()).enumerate() {
            let (local, upstream) = (self.local[here], self.upstream[there]);
            let new = incoming::excluding(state, upstream, Vec::new(), list)?;
            let merged = two_way::set_value(state, local, upstream, new, OldTag::Removed)?;
            let base = has_base.then(|| self.base[region.base.start + at]);
            let upstream_use = match merged {
                Merged::Changed { replaced: true } => UpstreamUse::Replaced,
                _ => UpstreamUse::Merged,
            };
            let [entry, source] = [local, upstream].map(CommentedEntry::element);
            if !self.has_base {
                let replaced = upstream_use == UpstreamUse::Replaced;
                state.copy_comments(source, entry, replaced)?;
            } else {
                let base = base.map(CommentedEntry::element);
                state.merge_comments(base, entry, source, upstream_use)?;
            }
        }
        Ok(())
    }
}
