//! Three-way merge of mappings: field by field, with what comes through `<<` on keys of their own.

use krm_yaml::{NodeKind, NodeRef};

use super::conflict::ConflictKind;
use super::fields::{Field, Fields, share_merge_keys};
use super::fill;
use super::ops::Op;
use super::remarks::{Slot, Taken, key_step};
use super::rules::Side;
use super::same::{same, same_slot};
use super::shape::Shape;
use super::three_way::{Fate, KEEP, Place, Versions, slot};
use super::two_mappings::{Position, key_value};
use super::work::Work;
use crate::Diagnostic;

/// Merges a mapping field by field.
pub(super) fn mapping<'a>(
    work: &mut Work<'a, '_>,
    versions: Versions<'a>,
    local: NodeRef<'a>,
    upstream: NodeRef<'a>,
    place: Place<'a, '_>,
) -> Result<Fate<'a>, Diagnostic> {
    let base = versions.base.map(NodeRef::resolve).filter(|it| it.kind() == NodeKind::Mapping);
    let with_merged = !share_merge_keys(&[local, upstream]);
    let old = base.map(|base| Fields::of(base, with_merged)).unwrap_or_default();
    let (ours, theirs) = (Fields::of(local, with_merged), Fields::of(upstream, with_merged));
    let shape = place.shape.or_resource(work.rules, local);
    let checkpoint = work.checkpoint();
    let mut merge = Mapping { local, upstream, old, ours, gone: 0, came: false };
    let mut position = Position::new(&theirs, &merge.ours);
    for (name, field) in theirs.iter() {
        position.step(name, &merge.ours);
        merge.field(work, name, Some(field), &shape, position.after)?;
    }
    let only: Vec<String> = merge.ours.iter().map(|(name, _)| name.to_owned()).collect();
    for name in only.iter().filter(|name| theirs.get(name).is_none()) {
        merge.field(work, name, None, &shape, None)?;
    }
    let is_emptied = merge.gone > 0 && merge.gone == merge.ours.len() && !merge.came;
    if is_emptied && !theirs.is_empty() && local.parent().is_some() {
        work.rewind(&checkpoint);
        return Ok(Fate::Goes);
    }
    Ok(KEEP)
}

/// The merge of one mapping.
struct Mapping<'a> {
    local: NodeRef<'a>,
    upstream: NodeRef<'a>,
    old: Fields<'a>,
    ours: Fields<'a>,
    /// How many fields of local go.
    gone: usize,
    /// Whether one comes.
    came: bool,
}

impl<'a> Mapping<'a> {
    fn field(
        &mut self,
        work: &mut Work<'a, '_>,
        name: &str,
        theirs: Option<Field<'a>>,
        shape: &Shape<'_>,
        after: Option<usize>,
    ) -> Result<(), Diagnostic> {
        let (old, ours) = (self.old.get(name), self.ours.get(name));
        let all: Vec<_> =
            [old, ours, theirs].into_iter().flatten().map(|it| (it.key, it.value)).collect();
        let shape = shape.field(name).in_comments(work, &all);
        work.below(key_step(name), |work| {
            if let (Some(ours), Some(theirs)) = (ours.filter(|it| it.own.is_none()), theirs) {
                return self.inherited(work, old, ours, theirs, after);
            }
            let value = |field: Option<Field<'a>>| field.map(|field| field.value);
            let versions =
                Versions { base: value(old), local: value(ours), upstream: value(theirs) };
            let holders = [Some(self.local), Some(self.upstream)];
            let checkpoint = work.checkpoint();
            match slot(work, versions, Place { holders, shape: &shape, keys: None })? {
                Fate::Kept => comments(work, old, ours, theirs, Taken::Nothing),
                Fate::Stays { grafted: true } => {
                    comments(work, old, ours, theirs, Taken::OwnedNode)
                }
                Fate::Stays { .. } => comments(work, old, ours, theirs, Taken::Value),
                Fate::Goes => {
                    work.rewind(&checkpoint);
                    if ours.is_some_and(|ours| ours.own.is_none()) {
                        return Ok(());
                    }
                    self.gone += 1;
                    self.ours.all(name).into_iter().try_for_each(|it| work.ask(Op::Remove(it)))
                }
                Fate::Comes(fill) => {
                    let Some(theirs) = theirs else { return Ok(()) };
                    self.came = true;
                    let fill = fill::with_comments(work, theirs, fill);
                    let key = key_value(theirs.key, self.local);
                    work.ask(Op::Entry { mapping: self.local, after, key, fill })
                }
            }
        })
    }

    /// A field that local has through `<<`: what upstream made of it becomes a key of its own.
    fn inherited(
        &mut self,
        work: &mut Work<'a, '_>,
        old: Option<Field<'a>>,
        ours: Field<'a>,
        theirs: Field<'a>,
        after: Option<usize>,
    ) -> Result<(), Diagnostic> {
        let base = old.map(|old| old.value);
        if same_slot(base, Some(theirs.value)) || same(ours.value, theirs.value) {
            return Ok(());
        }
        if !same_slot(base, Some(ours.value)) {
            let nodes = [base, Some(ours.value), Some(theirs.value)];
            if work.clash(ConflictKind::Changed, nodes, [None, None]) == Side::Local {
                return Ok(());
            }
        }
        let shape = Shape::default();
        let fill = fill::of_upstream(work, theirs.value, Vec::new(), &shape, self.local)?;
        let Some(fill) = fill else { return Ok(()) };
        self.came = true;
        work.ask(Op::Entry {
            mapping: self.local,
            after,
            key: key_value(theirs.key, self.local),
            fill,
        })
    }
}

fn comments<'a>(
    work: &mut Work<'a, '_>,
    old: Option<Field<'a>>,
    ours: Option<Field<'a>>,
    theirs: Option<Field<'a>>,
    taken: Taken,
) -> Result<(), Diagnostic> {
    let slot = |field: Field<'a>| Slot { key: Some(field.key), value: field.value };
    let (Some(ours), Some(theirs)) = (ours.filter(|it| it.own.is_some()), theirs) else {
        return Ok(());
    };
    work.merge_comments(old.map(slot), slot(ours), slot(theirs), taken)
}
