//! Files that a side moved: a resource goes where it was moved to, and keeps what the other side did to it.

use super::unit::Unit;
use crate::PackagePath;
use crate::merge::node::conflict::{id_of, place_of};
use crate::merge::node::{Conflict, ConflictKind, OnConflict, Side};

/// Where a unit goes, if upstream moved it, and the conflict where both sides did.
pub(super) fn target(
    unit: &Unit<'_>,
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
    let taken = if on_conflict == OnConflict::Local { Side::Local } else { Side::Upstream };
    let text =
        |path: &PackagePath| Some(crate::print::json::write(&krm_yaml::Value::from(path.as_str())));
    let resource = local.label();
    let conflict = Conflict {
        id: id_of(&resource, was.as_str(), ConflictKind::Moved),
        resource,
        path: was.as_str().to_owned(),
        kind: ConflictKind::Moved,
        base: text(was),
        local: text(ours),
        upstream: text(theirs),
        local_at: Some(place_of(local.node, &local.file.display_path)),
        upstream_at: Some(place_of(upstream.node, &upstream.file.display_path)),
        taken,
        is_marked: false,
        is_secret: false,
    };
    let target = (taken == Side::Upstream).then(|| theirs.clone());
    Some((target, Some(conflict)))
}
