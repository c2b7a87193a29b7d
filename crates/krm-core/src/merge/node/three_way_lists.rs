//! Three-way merge of lists: element by element where elements have an identity, otherwise as one value.

use std::collections::{HashMap, HashSet};

use krm_yaml::{NodeRef, Value};

use super::conflict::ConflictKind;
use super::list_order::{ListOrder, OrderedElement};
use super::ops::{IncomingNode, Op};
use super::options::Side;
use super::state::MergeState;
use super::three_way::{self, EntryAction, EntryContext, KEEP, Versions};
use super::two_way_lists::{element_segment, find_list_type, warn_about_keys};
use super::{diff3, markers};
use crate::Diagnostic;
use crate::compare::CommentedEntry;
use crate::compare::sequences::{ElementId, Elements, ListType, align_duplicates};
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
        return match diff3::merge_atomic_list(state, base, local, upstream, context)? {
            Some(action) => Ok(action),
            None => three_way::merge_value(state, versions, local, upstream, context),
        };
    }
    let of = |list: Option<NodeRef<'a>>| Elements::of(list, &list_type, |_| true);
    let (mut old, mut ours, mut theirs) = (of(base), of(Some(local)), of(Some(upstream)));
    align_duplicates(&list_type, [&mut old, &mut ours, &mut theirs]);
    warn_about_keys(state, &theirs, &ours);
    ours.adopt_identities(&old);
    theirs.adopt_identities(&old);
    let merge_keys = list_type.merge_keys();
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
    merge.finish(state, local, order)?;
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
                (EntryAction::Keep(upstream_use), Some(local), Some(upstream)) => {
                    let base = versions.base.map(CommentedEntry::element);
                    let [local, upstream] = [local, upstream].map(CommentedEntry::element);
                    state.merge_comments(base, local, upstream, upstream_use)?;
                }
                (EntryAction::Keep(_), _, _) => {}
                (EntryAction::Remove, local, _) => {
                    state.rewind(&checkpoint);
                    if let Some(local) = local {
                        state.warn_about_removed_comments(local, &[versions.base]);
                    }
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

    /// Whose order is used: upstream's, unless local reordered elements of base and upstream did not follow.
    fn choose_order(&self, state: &mut MergeState<'a, '_>) -> Side {
        let common = |list: &Elements<'a>, others: [&Elements<'a>; 2]| -> Vec<ElementId> {
            let is_common = |id: &&ElementId| others.iter().all(|it| it.find(id).is_some());
            list.ids.iter().filter(is_common).cloned().collect()
        };
        let (old, ours, theirs) = (self.old, self.ours, self.theirs);
        let is_unchanged = common(ours, [old, ours]) == common(old, [ours, old]);
        if is_unchanged || common(ours, [theirs, ours]) == common(theirs, [ours, theirs]) {
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
            Some(json::display(&Value::Sequence(names.collect())))
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
