//! Three-way merge of lists: element by element where elements have an identity, otherwise as one value.

use std::collections::{HashMap, HashSet};

use krm_yaml::{NodeRef, Value};

use super::comments::UpstreamUse;
use super::conflict::ConflictKind;
use super::list_order::{ListOrder, OrderedElement};
use super::markers;
use super::ops::{IncomingNode, Op};
use super::options::Side;
use super::state::MergeState;
use super::three_way::{self, EntryAction, EntryContext, KEEP, Versions};
use super::two_way_lists::{element_segment, find_list_type, warn_about_keys};
use crate::Diagnostic;
use crate::compare::sequences::{ElementId, Elements, ListType, align_duplicates};
use crate::compare::{CommentedEntry, FieldSchema};
use crate::print::json;

fn children(node: Option<NodeRef<'_>>) -> Vec<NodeRef<'_>> {
    node.into_iter().flat_map(NodeRef::children).collect()
}

pub(super) fn merge_list<'a>(
    state: &mut MergeState<'a, '_>,
    versions: Versions<'a>,
    local: NodeRef<'a>,
    upstream: NodeRef<'a>,
    context: EntryContext<'a, '_>,
) -> Result<EntryAction<'a>, Diagnostic> {
    let base = versions.base.map(NodeRef::resolve).filter(|it| it.as_sequence().is_some());
    let all = [base, Some(local), Some(upstream)].map(children);
    let list_type = find_list_type(state, context.schema, &all);
    if list_type == ListType::Atomic {
        return three_way::merge_value(state, versions, local, upstream, context);
    }
    let of = |list: Option<NodeRef<'a>>| Elements::of(list, &list_type, |_| true);
    let (mut old, mut ours, mut theirs) = (of(base), of(Some(local)), of(Some(upstream)));
    align_duplicates(&list_type, [&mut old, &mut ours, &mut theirs]);
    warn_about_keys(state, &theirs, &ours);
    let merge_keys: Vec<String> = match &list_type {
        ListType::Map(keys) => keys.iter().map(|key| key.name.clone()).collect(),
        _ => Vec::new(),
    };
    let checkpoint = state.checkpoint();
    let schema = context.schema.item();
    let mut merge = ListMerge {
        context: EntryContext {
            parents: [Some(local), Some(upstream)],
            schema: &schema,
            merge_keys: Some(&merge_keys),
        },
        list_type: &list_type,
        old: &old,
        ours: &ours,
        theirs: &theirs,
        removed: HashSet::new(),
        inserted: Vec::new(),
    };
    for (at, id) in theirs.ids.iter().enumerate() {
        merge.element(state, id, Some(at))?;
    }
    for id in ours.ids.iter().filter(|id| theirs.find(id).is_none()) {
        merge.element(state, id, None)?;
    }
    let order = merge.order(state);
    // A list that loses its last element is removed with its key: `[]` would be a value that nobody wrote.
    if order.is_empty() && ours.len() > 0 && theirs.len() > 0 && local.parent().is_some() {
        state.rewind(&checkpoint);
        return Ok(EntryAction::Remove);
    }
    merge.finish(state, local, order)?;
    Ok(KEEP)
}

/// Removes from a list that upstream deleted the elements that base had.
pub(super) fn keep_local_elements<'a>(
    state: &mut MergeState<'a, '_>,
    base: NodeRef<'a>,
    local: NodeRef<'a>,
    schema: &FieldSchema<'_>,
) -> Result<EntryAction<'a>, Diagnostic> {
    let versions = [children(Some(base)), children(Some(local))];
    let list_type = find_list_type(state, schema, &versions);
    if list_type == ListType::Atomic {
        return Ok(EntryAction::Remove);
    }
    let mut old = Elements::of(Some(base), &list_type, |_| true);
    let mut ours = Elements::of(Some(local), &list_type, |_| true);
    align_duplicates(&list_type, [&mut old, &mut ours, &mut Elements::default()]);
    let elements = ours.ids.iter().zip(&ours.nodes);
    let removed: Vec<NodeRef<'a>> =
        elements.filter(|(id, _)| old.find(id).is_some()).map(|(_, node)| *node).collect();
    if removed.len() == ours.len() {
        return Ok(EntryAction::Remove);
    }
    removed.into_iter().try_for_each(|node| state.push_op(Op::Remove(node)))?;
    Ok(KEEP)
}

struct ListMerge<'a, 'e> {
    context: EntryContext<'a, 'e>,
    list_type: &'e ListType,
    old: &'e Elements<'a>,
    ours: &'e Elements<'a>,
    theirs: &'e Elements<'a>,
    /// Positions of local elements that are removed.
    removed: HashSet<usize>,
    /// Elements that are inserted, with their positions upstream.
    inserted: Vec<(usize, IncomingNode<'a>)>,
}

impl<'a> ListMerge<'a, '_> {
    fn element(
        &mut self,
        state: &mut MergeState<'a, '_>,
        id: &ElementId,
        theirs: Option<usize>,
    ) -> Result<(), Diagnostic> {
        let found = self.ours.find(id);
        let versions = Versions {
            base: self.old.get(id),
            local: self.ours.get(id),
            upstream: self.theirs.get(id),
        };
        let at = found.or(theirs).unwrap_or_default();
        state.descend(element_segment(id, self.list_type, at), |state| {
            let checkpoint = state.checkpoint();
            let action = match (id.first_key(), versions.local, versions.upstream) {
                // Elements that are identified by their value are equal.
                (None, Some(_), Some(_)) => KEEP,
                _ => three_way::merge_entry(state, versions, self.context)?,
            };
            match (action, versions.local, versions.upstream) {
                (EntryAction::Keep { replaced }, Some(local), Some(upstream)) => {
                    let base = versions.base.map(CommentedEntry::element);
                    let [local, upstream] = [local, upstream].map(CommentedEntry::element);
                    let upstream_use = match replaced {
                        true => UpstreamUse::Replaced,
                        false => UpstreamUse::Merged,
                    };
                    state.merge_comments(base, local, upstream, upstream_use)?;
                }
                (EntryAction::Keep { .. } | EntryAction::KeepLocal, _, _) => {}
                (EntryAction::Remove, _, _) => {
                    state.rewind(&checkpoint);
                    self.removed.extend(found);
                }
                (EntryAction::Insert(new), _, _) => {
                    self.inserted.extend(theirs.map(|at| (at, new)));
                }
            }
            Ok(())
        })
    }

    /// The order of the merged list.
    fn order(&self, state: &mut MergeState<'a, '_>) -> ListOrder {
        match self.choose_order(state) {
            Side::Upstream => self.upstream_order(),
            Side::Local => self.local_order(),
        }
    }

    /// Local's order, with inserted elements at the end.
    fn local_order(&self) -> ListOrder {
        let mut order = ListOrder::keeping(self.ours.len(), &self.removed);
        order.append(self.inserted.len());
        order
    }

    /// Whose order is used: upstream's, unless local reordered elements of base.
    fn choose_order(&self, state: &mut MergeState<'a, '_>) -> Side {
        let common = |list: &Elements<'a>, others: [&Elements<'a>; 2]| -> Vec<ElementId> {
            let is_common = |id: &&ElementId| others.iter().all(|it| it.find(id).is_some());
            list.ids.iter().filter(is_common).cloned().collect()
        };
        let (old, ours, theirs) = (self.old, self.ours, self.theirs);
        if common(ours, [old, ours]) == common(old, [ours, old]) {
            return Side::Upstream;
        }
        let here = common(ours, [old, theirs]);
        let there = common(theirs, [old, ours]);
        let before = common(old, [ours, theirs]);
        if here == there || there == before || here == before {
            return if here == before && there != before { Side::Upstream } else { Side::Local };
        }
        let names = |ids: &[ElementId]| {
            let names = ids.iter().map(|id| Value::string(id.display()));
            Some(json::write(&Value::Sequence(names.collect())))
        };
        let values = [names(&before), names(&here), names(&there)];
        let side = state.push_conflict(ConflictKind::Order, values, self.context.parents);
        if let (Some(id), Some(list)) = (state.pending_marker_id(), self.context.parents[0]) {
            state.add_marker(list, self.order_marker(&id));
        }
        side
    }

    /// A marker that holds local's order as positions in upstream's.
    fn order_marker(&self, id: &str) -> String {
        let order = self.local_order().positions_in(&self.upstream_order()).into_iter();
        let name = |element: OrderedElement| match element {
            OrderedElement::Existing(at) => self.ours.ids[at].display(),
            OrderedElement::New(at) => self.theirs.ids[self.inserted[at].0].display(),
        };
        markers::for_order(id, order.map(|(position, element)| (position, name(element))))
    }

    /// Upstream's order. An element that only local has follows the element that it follows in local.
    fn upstream_order(&self) -> ListOrder {
        let inserted: HashMap<usize, usize> =
            self.inserted.iter().enumerate().map(|(at, (position, _))| (*position, at)).collect();
        let mut followers: HashMap<Option<usize>, Vec<usize>> = HashMap::new();
        let mut leader = None;
        for (at, id) in self.ours.ids.iter().enumerate() {
            match self.theirs.find(id) {
                _ if self.removed.contains(&at) => {}
                Some(position) => leader = Some(position),
                None => followers.entry(leader).or_default().push(at),
            }
        }
        let mut order = Vec::new();
        let mut follow = |order: &mut Vec<OrderedElement>, position: Option<usize>| {
            let found = followers.remove(&position).unwrap_or_default();
            order.extend(found.into_iter().map(OrderedElement::Existing));
        };
        follow(&mut order, None);
        for (position, id) in self.theirs.ids.iter().enumerate() {
            let existing = self.ours.find(id).filter(|at| !self.removed.contains(at));
            let new = || inserted.get(&position).copied().map(OrderedElement::New);
            order.extend(existing.map(OrderedElement::Existing).or_else(new));
            follow(&mut order, Some(position));
        }
        ListOrder::new(order, self.ours.len())
    }

    fn finish(
        self,
        state: &mut MergeState<'a, '_>,
        local: NodeRef<'a>,
        order: ListOrder,
    ) -> Result<(), Diagnostic> {
        let mut removed: Vec<usize> = self.removed.into_iter().collect();
        removed.sort_unstable();
        for at in removed {
            state.push_op(Op::Remove(self.ours.nodes[at]))?;
        }
        order.push_ops(state, local, self.inserted.into_iter().map(|(_, new)| new).collect())
    }
}
