//! Three-way merge of lists: element by element where they have names, with upstream's order where local kept the base's.

use std::collections::{HashMap, HashSet};

use krm_yaml::NodeRef;

use super::arrange::{Final, Slot as At};
use super::conflict::ConflictKind;
use super::element::{ElementId, Elements};
use super::marks;
use super::ops::{Fill, Op};
use super::remarks::{Slot, Taken};
use super::rules::Side;
use super::shape::{ListKind, Shape};
use super::three_way::{self, Fate, KEEP, Place, Versions};
use super::two_lists::{kind_of, step, tell_odd};
use super::work::Work;
use crate::Diagnostic;

fn children(node: Option<NodeRef<'_>>) -> Vec<NodeRef<'_>> {
    node.into_iter().flat_map(NodeRef::children).collect()
}

pub(super) fn list<'a>(
    work: &mut Work<'a, '_>,
    versions: Versions<'a>,
    local: NodeRef<'a>,
    upstream: NodeRef<'a>,
    place: Place<'a, '_>,
) -> Result<Fate<'a>, Diagnostic> {
    let base = versions.base.map(NodeRef::resolve).filter(|it| it.as_sequence().is_some());
    let all = [base, Some(local), Some(upstream)].map(children);
    let kind = kind_of(work, place.shape, &all);
    if kind == ListKind::Whole {
        return three_way::whole(work, versions, local, upstream, place);
    }
    let of = |list: Option<NodeRef<'a>>| Elements::of(list, &kind, |_| true);
    let (old, ours, theirs) = (of(base), of(Some(local)), of(Some(upstream)));
    tell_odd(work, &theirs, &ours);
    let keys: Vec<String> = match &kind {
        ListKind::Keyed(keys) => keys.iter().map(|key| key.name.clone()).collect(),
        _ => Vec::new(),
    };
    let checkpoint = work.checkpoint();
    let shape = place.shape.item();
    let mut merge = ListMerge {
        place: Place { holders: [Some(local), Some(upstream)], shape: &shape, keys: Some(&keys) },
        kind: &kind,
        old: &old,
        ours: &ours,
        theirs: &theirs,
        gone: HashSet::new(),
        new: Vec::new(),
    };
    for (at, id) in theirs.ids.iter().enumerate() {
        merge.element(work, id, Some(at))?;
    }
    for id in ours.ids.iter().filter(|id| theirs.find(id).is_none()) {
        merge.element(work, id, None)?;
    }
    let order = merge.order(work);
    if order.is_empty() && ours.len() > 0 && theirs.len() > 0 && local.parent().is_some() {
        work.rewind(&checkpoint);
        return Ok(Fate::Goes);
    }
    merge.finish(work, local, order)?;
    Ok(KEEP)
}

/// Of a list that upstream deleted, the elements stay that only local has.
pub(super) fn elements_left<'a>(
    work: &mut Work<'a, '_>,
    base: NodeRef<'a>,
    local: NodeRef<'a>,
    shape: &Shape<'_>,
) -> Result<Fate<'a>, Diagnostic> {
    let kind = kind_of(work, shape, &[children(Some(base)), children(Some(local))]);
    if kind == ListKind::Whole {
        return Ok(Fate::Goes);
    }
    let old = Elements::of(Some(base), &kind, |_| true);
    let ours = Elements::of(Some(local), &kind, |_| true);
    let gone: Vec<NodeRef<'a>> = ours
        .ids
        .iter()
        .zip(&ours.nodes)
        .filter(|(id, _)| old.find(id).is_some())
        .map(|it| *it.1)
        .collect();
    if gone.len() == ours.len() {
        return Ok(Fate::Goes);
    }
    gone.into_iter().try_for_each(|node| work.ask(Op::Remove(node)))?;
    Ok(KEEP)
}

/// The merge of one list.
struct ListMerge<'a, 'e> {
    place: Place<'a, 'e>,
    kind: &'e ListKind,
    old: &'e Elements<'a>,
    ours: &'e Elements<'a>,
    theirs: &'e Elements<'a>,
    /// Elements of local that go.
    gone: HashSet<usize>,
    /// Elements that come, by their place upstream.
    new: Vec<(usize, Fill<'a>)>,
}

impl<'a> ListMerge<'a, '_> {
    fn element(
        &mut self,
        work: &mut Work<'a, '_>,
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
        work.below(step(id, self.kind, at), |work| {
            let checkpoint = work.checkpoint();
            let fate = match (id.first_key(), versions.local, versions.upstream) {
                // Those that pair by their value are equal.
                (None, Some(_), Some(_)) => KEEP,
                _ => three_way::slot(work, versions, self.place)?,
            };
            match (fate, versions.local, versions.upstream) {
                (Fate::Stays { grafted }, Some(local), Some(upstream)) => {
                    let base = versions.base.map(Slot::item);
                    let taken = if grafted { Taken::OwnedNode } else { Taken::Value };
                    work.merge_comments(base, Slot::item(local), Slot::item(upstream), taken)?;
                }
                (Fate::Stays { .. } | Fate::Kept, _, _) => {}
                (Fate::Goes, _, _) => {
                    work.rewind(&checkpoint);
                    self.gone.extend(found);
                }
                (Fate::Comes(fill), _, _) => self.new.extend(theirs.map(|at| (at, fill))),
            }
            Ok(())
        })
    }

    /// The list to be.
    fn order(&self, work: &mut Work<'a, '_>) -> Final {
        match self.whose_order(work) {
            Side::Upstream => self.upstream_order(),
            Side::Local => self.local_order(),
        }
    }

    /// Local's order, with what comes behind it.
    fn local_order(&self) -> Final {
        let mut all = Final::kept(self.ours.len(), &self.gone);
        all.append(self.new.len());
        all
    }

    /// Whose order is taken: upstream's where local's still is the base's.
    fn whose_order(&self, work: &mut Work<'a, '_>) -> Side {
        let common = |list: &Elements<'a>, one: &Elements<'a>, two: &Elements<'a>| {
            let ids = list.ids.iter().filter(|id| one.find(id).is_some() && two.find(id).is_some());
            ids.cloned().collect::<Vec<ElementId>>()
        };
        let ours = common(self.ours, self.old, self.ours);
        if ours == common(self.old, self.ours, self.old) {
            return Side::Upstream;
        }
        let all = |list| {
            common(
                list,
                self.old,
                if std::ptr::eq(list, self.ours) { self.theirs } else { self.ours },
            )
        };
        let (here, there) = (all(self.ours), all(self.theirs));
        let before: Vec<ElementId> = self
            .old
            .ids
            .iter()
            .filter(|id| self.ours.find(id).is_some() && self.theirs.find(id).is_some())
            .cloned()
            .collect();
        if here == there || there == before || here == before {
            return if here == before && there != before { Side::Upstream } else { Side::Local };
        }
        let shown = |ids: &[ElementId]| {
            let names: Vec<krm_yaml::Value<'_>> =
                ids.iter().map(|id| krm_yaml::Value::string(id.shown())).collect();
            Some(crate::print::json::write(&krm_yaml::Value::Sequence(names)))
        };
        let values = [shown(&before), shown(&here), shown(&there)];
        let side = work.conflict(ConflictKind::Order, values, self.place.holders);
        if let (Some(id), Some(list)) = (work.mark_wanted(), self.place.holders[0]) {
            work.mark(list, self.order_mark(&id));
        }
        side
    }

    /// Local's order, told by where its elements stand in upstream's.
    fn order_mark(&self, id: &str) -> String {
        let order = self.local_order().within(&self.upstream_order()).into_iter();
        let name = |slot: At| match slot {
            At::Old(at) => self.ours.ids[at].shown(),
            At::New(at) => self.theirs.ids[self.new[at].0].shown(),
        };
        marks::of_order(id, order.map(|(place, slot)| (place, name(slot))))
    }

    /// Upstream's order, with what only local has behind the element that it stands behind there.
    fn upstream_order(&self) -> Final {
        let new: HashMap<usize, usize> =
            self.new.iter().enumerate().map(|(at, (place, _))| (*place, at)).collect();
        let mut followers: HashMap<Option<usize>, Vec<usize>> = HashMap::new();
        let mut leader = None;
        for (at, id) in self.ours.ids.iter().enumerate() {
            match self.theirs.find(id) {
                _ if self.gone.contains(&at) => {}
                Some(place) => leader = Some(place),
                None => followers.entry(leader).or_default().push(at),
            }
        }
        let mut slots = Vec::new();
        let mut follow = |slots: &mut Vec<At>, place: Option<usize>| {
            slots.extend(followers.remove(&place).unwrap_or_default().into_iter().map(At::Old));
        };
        follow(&mut slots, None);
        for (place, id) in self.theirs.ids.iter().enumerate() {
            let old = self.ours.find(id).filter(|at| !self.gone.contains(at)).map(At::Old);
            slots.extend(old.or(new.get(&place).copied().map(At::New)));
            follow(&mut slots, Some(place));
        }
        Final::of(slots, self.ours.len())
    }

    fn finish(
        self,
        work: &mut Work<'a, '_>,
        local: NodeRef<'a>,
        order: Final,
    ) -> Result<(), Diagnostic> {
        let mut gone: Vec<usize> = self.gone.into_iter().collect();
        gone.sort_unstable();
        for at in gone {
            work.ask(Op::Remove(self.ours.nodes[at]))?;
        }
        order.ask(work, local, self.new.into_iter().map(|(_, fill)| fill).collect())
    }
}
