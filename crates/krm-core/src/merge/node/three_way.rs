//! Three-way merge: what changed between base and upstream is made in local, and what local made of it is told.

use krm_yaml::{NodeKind, NodeRef};

use super::conflict::ConflictKind;
use super::fields::Fields;
use super::ops::{Fill, Op};
use super::rules::{Restore, Side};
use super::same::{is_null, own_tag, same, same_slot};
use super::shape::{MapKind, Shape};
use super::two_way::{self, Copy, Done};
use super::work::Work;
use super::{Outcome, anchors, delta, fill, marks, three_lists, three_mappings};
use crate::Diagnostic;

/// The three versions of one thing.
#[derive(Clone, Copy, Debug)]
pub(super) struct Versions<'a> {
    pub(super) base: Option<NodeRef<'a>>,
    pub(super) local: Option<NodeRef<'a>>,
    pub(super) upstream: Option<NodeRef<'a>>,
}

impl<'a> Versions<'a> {
    fn nodes(self) -> [Option<NodeRef<'a>>; 3] {
        [self.base, self.local, self.upstream]
    }
}

/// What is to become of an entry of local.
#[derive(Debug)]
pub(super) enum Fate<'a> {
    /// It stays, with what was asked for inside it.
    Stays { grafted: bool },
    /// It stays as it is, with its comments: upstream's was not taken.
    Kept,
    /// It goes.
    Goes,
    /// It is not there and comes.
    Comes(Fill<'a>),
}

pub(super) const KEEP: Fate<'static> = Fate::Stays { grafted: false };

/// Where an entry stands, and what it is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place<'a, 's> {
    /// The mappings or lists of local and upstream that hold it.
    pub(super) holders: [Option<NodeRef<'a>>; 2],
    pub(super) shape: &'s Shape<'s>,
    /// The fields that name it, where it is an element of a list.
    pub(super) keys: Option<&'s [String]>,
}

pub(super) fn root<'a>(
    work: &mut Work<'a, '_>,
    base: Option<NodeRef<'a>>,
    local: Option<NodeRef<'a>>,
    upstream: Option<NodeRef<'a>>,
) -> Result<Outcome, Diagnostic> {
    let versions = Versions { base, local, upstream };
    match (local, upstream) {
        (Some(local), None) => Ok(deleted_whole(work, versions, local)),
        (None, Some(upstream)) => Ok(match base {
            None => Outcome::Comes,
            Some(base) if same(base, upstream) => Outcome::Stays,
            Some(_) => {
                let side = work.clash(ConflictKind::DeletedLocally, versions.nodes(), [None, None]);
                if side == Side::Local { Outcome::Stays } else { Outcome::Comes }
            }
        }),
        (None, None) => Ok(Outcome::Stays),
        (Some(local), Some(upstream)) => {
            let shape = work.shape.clone();
            let place = Place { holders: [None, None], shape: &shape, keys: None };
            let checkpoint = work.checkpoint();
            let fate = slot(work, versions, place)?;
            if matches!(fate, Fate::Goes) {
                work.rewind(&checkpoint);
                return Ok(Outcome::Goes);
            }
            work.merge_heads(base, local, upstream)?;
            Ok(Outcome::Stays)
        }
    }
}

/// Upstream does not have the document or resource.
fn deleted_whole<'a>(
    work: &mut Work<'a, '_>,
    versions: Versions<'a>,
    local: NodeRef<'a>,
) -> Outcome {
    match versions.base {
        None => Outcome::Stays,
        Some(base) if same(base, local) => Outcome::Goes,
        Some(_) => {
            let kind = ConflictKind::DeletedUpstream;
            match work.clash(kind, versions.nodes(), [None, None]) {
                Side::Local => Outcome::Stays,
                Side::Upstream => Outcome::Goes,
            }
        }
    }
}

/// Merges one entry.
pub(super) fn slot<'a>(
    work: &mut Work<'a, '_>,
    versions: Versions<'a>,
    place: Place<'a, '_>,
) -> Result<Fate<'a>, Diagnostic> {
    match (versions.local, versions.upstream) {
        (None, None) => Ok(KEEP),
        (Some(local), None) => deleted(work, versions, local, place),
        (None, Some(upstream)) => missing(work, versions, upstream, place),
        (Some(local), Some(upstream)) => both(work, versions, local, upstream, place),
    }
}

/// Upstream does not have it.
fn deleted<'a>(
    work: &mut Work<'a, '_>,
    versions: Versions<'a>,
    local: NodeRef<'a>,
    place: Place<'a, '_>,
) -> Result<Fate<'a>, Diagnostic> {
    let Some(base) = versions.base else {
        return Ok(if is_null(local) { Fate::Goes } else { KEEP });
    };
    if is_null(local) || same(base, local) {
        return Ok(Fate::Goes);
    }
    if work.clash(ConflictKind::DeletedUpstream, versions.nodes(), place.holders) == Side::Local {
        return Ok(KEEP);
    }
    if let Some(id) = work.mark_wanted() {
        work.mark(local, marks::of_deleted_upstream(&id));
        return Ok(KEEP);
    }
    let (before, now) = (base.resolve(), local);
    match (before.kind(), now.kind()) {
        // An element without its key would be none.
        _ if place.keys.is_some() => Ok(Fate::Goes),
        (NodeKind::Mapping, NodeKind::Mapping) => fields_left(work, before, now),
        (NodeKind::Sequence, NodeKind::Sequence) => {
            three_lists::elements_left(work, before, now, place.shape)
        }
        _ => Ok(Fate::Goes),
    }
}

/// Of a mapping that upstream deleted, the fields stay that only local has.
fn fields_left<'a>(
    work: &mut Work<'a, '_>,
    base: NodeRef<'a>,
    local: NodeRef<'a>,
) -> Result<Fate<'a>, Diagnostic> {
    let (old, ours) = (Fields::of(base, true), Fields::of(local, false));
    let gone: Vec<&str> =
        ours.iter().map(|(name, _)| name).filter(|name| old.get(name).is_some()).collect();
    if gone.len() == ours.len() {
        return Ok(Fate::Goes);
    }
    for value in gone.into_iter().flat_map(|name| ours.all(name)) {
        work.ask(Op::Remove(value))?;
    }
    Ok(KEEP)
}

/// Local does not have it.
fn missing<'a>(
    work: &mut Work<'a, '_>,
    versions: Versions<'a>,
    upstream: NodeRef<'a>,
    place: Place<'a, '_>,
) -> Result<Fate<'a>, Diagnostic> {
    let holder = place.holders[0].unwrap_or(upstream);
    if is_null(upstream) && place.keys.is_none() {
        return Ok(KEEP);
    }
    let Some(base) = versions.base else {
        let fill = fill::of_upstream(work, upstream, Vec::new(), place.shape, holder);
        return Ok(fill?.map_or(KEEP, Fate::Comes));
    };
    if same(base, upstream) {
        return Ok(KEEP);
    }
    let side = work.clash(ConflictKind::DeletedLocally, versions.nodes(), place.holders);
    if side == Side::Local {
        return Ok(KEEP);
    }
    let mark = work.mark_wanted();
    let keys = place.keys.unwrap_or_default();
    let without = match work.rules.restore {
        Restore::Whole => Some(Vec::new()),
        Restore::Delta => delta::unchanged(work, base, upstream, place.shape, keys),
    };
    let Some(without) = without else {
        // Upstream only took away from it: nothing is left to come back.
        if mark.is_some() {
            work.marked();
        }
        return Ok(KEEP);
    };
    let fill = fill::of_upstream(work, upstream, without, place.shape, holder)?;
    let Some(mut fill) = fill else { return Ok(KEEP) };
    if let (Some(id), Fill::Part { note, node, .. }) = (mark, &mut fill)
        && work.takes_note(*node, krm_yaml::CommentPosition::Head)
        && work.ground(holder).takes_comments
    {
        *note = Some(marks::of_deleted_locally(&id));
        work.marked();
    }
    Ok(Fate::Comes(fill))
}

/// Both have it.
fn both<'a>(
    work: &mut Work<'a, '_>,
    versions: Versions<'a>,
    local: NodeRef<'a>,
    upstream: NodeRef<'a>,
    place: Place<'a, '_>,
) -> Result<Fate<'a>, Diagnostic> {
    let is_alias = local.kind() == NodeKind::Alias;
    let is_unchanged = versions.base.is_some_and(|base| anchors::is_same_alias(base, upstream));
    if is_alias && is_unchanged || anchors::is_same_alias(local, upstream) {
        return Ok(KEEP);
    }
    if is_null(local) || is_null(upstream) {
        return cleared(work, versions, local, upstream, place);
    }
    if versions.base.is_some_and(|base| is_untouched(base, upstream)) && holds_no_more(local) {
        return Ok(KEEP);
    }
    let theirs = upstream.resolve();
    if is_alias {
        return below_alias(work, versions, local, theirs, place);
    }
    let is_retagged = own_tag(local) != own_tag(theirs);
    work.guarded(local, theirs, |work| match (local.kind(), theirs.kind()) {
        _ if is_retagged => whole(work, versions, local, theirs, place),
        (NodeKind::Mapping, NodeKind::Mapping) if place.shape.mapping() != MapKind::Whole => {
            three_mappings::mapping(work, versions, local, theirs, place)
        }
        (NodeKind::Sequence, NodeKind::Sequence) => {
            three_lists::list(work, versions, local, theirs, place)
        }
        _ => whole(work, versions, local, theirs, place),
    })
}

/// Whether upstream has a collection just as base has it: then there is nothing to take from it.
fn is_untouched(base: NodeRef<'_>, upstream: NodeRef<'_>) -> bool {
    upstream.is_collection() && base.is_written_as(upstream)
}

/// Whether nothing in local goes even so: a null is cleared, and what is shared is looked at below.
fn holds_no_more(local: NodeRef<'_>) -> bool {
    local
        .descendants()
        .all(|node| node.kind() != NodeKind::Alias && node.anchor().is_none() && !is_null(node))
}

/// Null on either side clears the value.
fn cleared<'a>(
    work: &mut Work<'a, '_>,
    versions: Versions<'a>,
    local: NodeRef<'a>,
    upstream: NodeRef<'a>,
    place: Place<'a, '_>,
) -> Result<Fate<'a>, Diagnostic> {
    if place.keys.is_some() {
        return Ok(KEEP);
    }
    let is_at_odds = versions.base.is_some_and(|base| !same(base, local) && !same(base, upstream));
    if is_at_odds && !same(local, upstream) {
        let side = work.clash(ConflictKind::Changed, versions.nodes(), place.holders);
        if side == Side::Local && !is_null(local) {
            return Ok(Fate::Kept);
        }
        if let Some(id) = work.mark_wanted().filter(|_| !is_null(local)) {
            work.mark(local, marks::of_deleted_upstream(&id));
            return Ok(Fate::Kept);
        }
    }
    Ok(Fate::Goes)
}

/// Takes a value whole, where upstream changed it.
pub(super) fn whole<'a>(
    work: &mut Work<'a, '_>,
    versions: Versions<'a>,
    local: NodeRef<'a>,
    upstream: NodeRef<'a>,
    place: Place<'a, '_>,
) -> Result<Fate<'a>, Diagnostic> {
    if same_slot(versions.base, Some(upstream)) || same(local, upstream) {
        return Ok(KEEP);
    }
    let at_odds = !same_slot(versions.base, Some(local));
    if at_odds {
        let kind = match versions.base {
            Some(_) => ConflictKind::Changed,
            None => ConflictKind::Added,
        };
        if work.clash(kind, versions.nodes(), place.holders) == Side::Local {
            return Ok(Fate::Kept);
        }
        if let Some(id) = work.mark_wanted() {
            work.mark(local, marks::of_value(&id, local));
        }
    }
    let (nulls, _) = fill::nulls(work, upstream, place.shape);
    let fill = fill::part(work, upstream, nulls, local)?;
    match two_way::set(work, local, upstream, fill)? {
        Done::Changed { grafted } => Ok(Fate::Stays { grafted }),
        _ => Ok(KEEP),
    }
}

/// Local has an alias: what changed below it is made on a copy, on local's own key.
fn below_alias<'a>(
    work: &mut Work<'a, '_>,
    versions: Versions<'a>,
    alias: NodeRef<'a>,
    upstream: NodeRef<'a>,
    place: Place<'a, '_>,
) -> Result<Fate<'a>, Diagnostic> {
    let local = alias.resolve();
    if same_slot(versions.base, Some(upstream)) || same(local, upstream) {
        return Ok(KEEP);
    }
    if same_slot(versions.base, Some(local)) || !local.is_collection() {
        return whole(work, versions, alias, upstream, place);
    }
    let side = work.clash(ConflictKind::Changed, versions.nodes(), place.holders);
    if side == Side::Local {
        return Ok(Fate::Kept);
    }
    match two_way::merged_copy(work, upstream, local)? {
        Copy::Of(graft) => {
            work.ask(Op::Set(alias, Fill::Value(krm_yaml::Value::OwnedNode(graft))))?;
            Ok(Fate::Stays { grafted: true })
        }
        Copy::Same => Ok(KEEP),
        Copy::Gone => Ok(Fate::Goes),
        Copy::Whole => {
            let (nulls, _) = fill::nulls(work, upstream, place.shape);
            let fill = fill::part(work, upstream, nulls, alias)?;
            work.ask(Op::Set(alias, fill))?;
            Ok(Fate::Stays { grafted: true })
        }
    }
}
