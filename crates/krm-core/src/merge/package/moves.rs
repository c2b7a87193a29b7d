//! Resources that a side moved to another file: they keep the new path and the changes of the other side.

use super::unit::MergeUnit;
use crate::PackagePath;
use crate::merge::node::{Conflict, ConflictKind, OnConflict, Side, conflict_id, location_of};
use crate::print::json;

/// The new path of a unit that upstream moved, and the conflict where both sides moved it.
pub(super) fn target(
    unit: &MergeUnit<'_>,
    on_conflict: OnConflict,
) -> Option<(Option<PackagePath>, Option<Conflict>)> {
    let (base, upstream, local) = (unit.base?, unit.upstream?, unit.local?);
    let [was, theirs, ours] = [base, upstream, local].map(|part| &part.file.path);
    if theirs == was || theirs == ours {
        return None;
    }
    if ours == was {
        return Some((Some(theirs.clone()), None));
    }
    // A recorded conflict leaves the resource where it is.
    let taken = if on_conflict == OnConflict::Mark { Side::Local } else { on_conflict.taken() };
    let text = |path: &PackagePath| Some(json::string(path.as_str()));
    let resource = local.label();
    let conflict = Conflict {
        id: conflict_id(&resource, was.as_str(), ConflictKind::Moved),
        resource,
        path: was.as_str().to_owned(),
        kind: ConflictKind::Moved,
        base: text(was),
        local: text(ours),
        upstream: text(theirs),
        local_at: Some(location_of(local.node, &local.file.display_path)),
        upstream_at: Some(location_of(upstream.node, &upstream.file.display_path)),
        taken,
        is_marked: false,
        file: ours.as_str().to_owned(),
        text: None,
        is_secret: false,
    };
    let target = (taken == Side::Upstream).then(|| theirs.clone());
    Some((target, Some(conflict)))
}
