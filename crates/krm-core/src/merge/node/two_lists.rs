//! Two-way merge of lists: elements pair by their keys, sets are united, and any other list is taken whole.

use std::collections::HashSet;

use krm_yaml::{NodeRef, Segment};

use super::arrange::{self, Final};
use super::directives::{self, Patch};
use super::element::{ElementId, Elements};
use super::ops::{Fill, Op};
use super::remarks::Slot;
use super::rules::NewItems;
use super::shape::{ListKind, Shape};
use super::two_way::{self, Beside, Done, value};
use super::work::Work;
use super::{fill, lists};
use crate::Diagnostic;

pub(super) fn list<'a>(
    work: &mut Work<'a, '_>,
    source: NodeRef<'a>,
    destination: NodeRef<'a>,
    shape: &Shape<'_>,
    beside: Beside<'a>,
) -> Result<Done, Diagnostic> {
    let found = directives::of_list(work, source)?;
    match found.patch {
        Some(Patch::Delete) => return Ok(Done::Gone),
        Some(Patch::Replace) => return two_way::whole(work, source, destination, shape),
        _ => {}
    }
    let is_element = |node: NodeRef<'a>| !found.elements.contains(&node);
    let theirs: Vec<NodeRef<'a>> = source.children().filter(|it| is_element(*it)).collect();
    let kind = kind_of(work, shape, &[theirs, destination.children().collect()]);
    if kind == ListKind::Whole {
        return two_way::whole(work, source, destination, shape);
    }
    let theirs = Elements::of(Some(source), &kind, is_element);
    let ours = Elements::of(Some(destination), &kind, |_| true);
    tell_odd(work, &theirs, &ours);
    let start = work.checkpoint();
    let mut merge = ListMerge { ours: &ours, gone: HashSet::new(), new: Vec::new() };
    let mut after = None;
    for (at, id) in theirs.ids.iter().enumerate() {
        let found = ours.find(id);
        merge.element(work, (id, theirs.nodes[at]), (after, destination), shape, &kind)?;
        after = found.or(after);
    }
    merge.delete(beside.delete, &kind);
    merge.finish(work, destination, beside.order, &kind)?;
    let is_idle = work.is_idle_since(&start);
    Ok(if is_idle { Done::Same } else { Done::Changed { grafted: false } })
}

/// How a list pairs, with a word where an ambiguous key made it a list that is taken whole.
pub(super) fn kind_of<'a>(
    work: &mut Work<'a, '_>,
    shape: &Shape<'_>,
    versions: &[Vec<NodeRef<'a>>],
) -> ListKind {
    let path = work.field_path();
    let found = lists::kind_of(work.rules, &path, shape, versions);
    if let Some((node, key)) = found.double.filter(|_| found.kind == ListKind::Whole) {
        let message = format!("`{key}` stands twice in this list, which is therefore taken whole");
        work.warn(node, message);
    }
    found.kind
}

/// Elements that cannot pair for sure.
pub(super) fn tell_odd<'a>(work: &mut Work<'a, '_>, theirs: &Elements<'a>, ours: &Elements<'a>) {
    let twice = "an element with the same key stands before this one; they pair in their order";
    let none = "this element has no key; it pairs with an equal one only";
    let odd = [
        (ours.double, twice),
        (ours.keyless, none),
        (theirs.double, twice),
        (theirs.keyless, none),
    ];
    for (node, message) in odd {
        node.into_iter().for_each(|node| work.warn(node, message));
    }
}

/// A list of which only its elements' order and some deletions are told.
pub(super) fn directed<'a>(
    work: &mut Work<'a, '_>,
    destination: NodeRef<'a>,
    shape: &Shape<'_>,
    beside: Beside<'a>,
) -> Result<(), Diagnostic> {
    let kind = match beside.delete {
        Some(_) => ListKind::Set,
        None => kind_of(work, shape, &[destination.children().collect()]),
    };
    let ours = Elements::of(Some(destination), &kind, |_| true);
    let mut merge = ListMerge { ours: &ours, gone: HashSet::new(), new: Vec::new() };
    merge.delete(beside.delete, &kind);
    merge.finish(work, destination, beside.order, &kind)
}

/// The merge of one list.
struct ListMerge<'a, 'e> {
    ours: &'e Elements<'a>,
    /// Elements of the destination that go.
    gone: HashSet<usize>,
    /// Elements that come, each with its name and the one that it comes behind in the source.
    new: Vec<(ElementId, Option<usize>, Fill<'a>)>,
}

/// The step to an element.
pub(super) fn step(id: &ElementId, kind: &ListKind, at: usize) -> Segment {
    match (id.first_key(), kind) {
        (Some(value), ListKind::Keyed(keys)) => {
            Segment::Match { key: keys[0].name.clone(), value: value.to_owned() }
        }
        _ => Segment::Index(at),
    }
}

impl<'a> ListMerge<'a, '_> {
    fn element(
        &mut self,
        work: &mut Work<'a, '_>,
        (id, source): (&ElementId, NodeRef<'a>),
        (after, destination): (Option<usize>, NodeRef<'a>),
        shape: &Shape<'_>,
        kind: &ListKind,
    ) -> Result<(), Diagnostic> {
        let shape = shape.item();
        let found = self.ours.find(id);
        work.below(step(id, kind, found.unwrap_or(self.ours.len())), |work| match found {
            Some(_) if *kind == ListKind::Set => Ok(()),
            Some(at) => {
                let old = self.ours.nodes[at];
                // Elements that pair by their value are equal.
                if id.first_key().is_none() {
                    return Ok(());
                }
                match value(work, source, old, &shape, Beside::default())? {
                    Done::Same => Ok(()),
                    Done::Gone => {
                        self.gone.insert(at);
                        Ok(())
                    }
                    Done::Changed { grafted } => {
                        work.bring_comments(Slot::item(source), Slot::item(old), grafted)
                    }
                }
            }
            None if super::same::is_null(source) => {
                let fill = fill::part(work, source, Vec::new(), destination)?;
                self.new.push((id.clone(), after, fill));
                Ok(())
            }
            None => {
                if let Some(fill) = fill::of_source(work, source, &shape, destination)? {
                    self.new.push((id.clone(), after, fill));
                }
                Ok(())
            }
        })
    }

    fn delete(&mut self, list: Option<NodeRef<'a>>, kind: &ListKind) {
        let values = Elements::of(list, kind, |_| true);
        self.gone.extend(values.ids.iter().filter_map(|id| self.ours.find(id)));
    }

    fn finish(
        self,
        work: &mut Work<'a, '_>,
        list: NodeRef<'a>,
        order: Option<NodeRef<'a>>,
        kind: &ListKind,
    ) -> Result<(), Diagnostic> {
        let mut all = Final::kept(self.ours.len(), &self.gone);
        let placed: Vec<(ElementId, Option<usize>)> =
            self.new.iter().map(|(id, after, _)| (id.clone(), *after)).collect();
        match work.rules.new_items {
            NewItems::Last => all.append(placed.len()),
            NewItems::First => all.prepend(placed.len()),
            NewItems::SourceOrder => all.behind(placed.iter().map(|(_, after)| *after)),
        }
        if order.is_some() {
            let wanted = Elements::of(order, kind, |_| true);
            let rank = |slot: &arrange::Slot| match slot {
                arrange::Slot::Old(at) => wanted.find(&self.ours.ids[*at]),
                arrange::Slot::New(at) => wanted.find(&placed[*at].0),
            };
            all.sort_within(rank);
        }
        let mut gone: Vec<usize> = self.gone.into_iter().collect();
        gone.sort_unstable();
        for at in gone {
            work.ask(Op::Remove(self.ours.nodes[at]))?;
        }
        let fills = self.new.into_iter().map(|(_, _, fill)| fill).collect();
        all.ask(work, list, fills)
    }
}
