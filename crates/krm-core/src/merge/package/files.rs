//! Files that are no YAML: taken as a whole, and only where one side alone changed them.

use crate::merge::node::conflict::id_of;
use crate::merge::node::{Conflict, ConflictKind, OnConflict, Side};

/// What becomes of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// Whether upstream's is taken: its content, or that there is none.
    pub takes_upstream: bool,
    /// Where both sides changed it.
    pub conflict: Option<Conflict>,
}

/// Merges one file by its content on each side; none where it is not there.
///
/// ```
/// use krm_core::merge::node::OnConflict;
/// use krm_core::merge::package::files::merge;
///
/// let verdict = merge("README.md", [Some(b"a"), Some(b"b"), Some(b"a")], OnConflict::Upstream);
/// assert!(verdict.takes_upstream && verdict.conflict.is_none());
/// ```
pub fn merge(
    path: &str,
    [base, upstream, local]: [Option<&[u8]>; 3],
    on_conflict: OnConflict,
) -> Verdict {
    if upstream == base || upstream == local {
        return Verdict { takes_upstream: false, conflict: None };
    }
    if local == base {
        return Verdict { takes_upstream: true, conflict: None };
    }
    let kind = match (base, upstream, local) {
        (None, _, _) => ConflictKind::Added,
        (_, None, _) => ConflictKind::DeletedUpstream,
        (_, _, None) => ConflictKind::DeletedLocally,
        _ => ConflictKind::Changed,
    };
    let taken = if on_conflict == OnConflict::Local { Side::Local } else { Side::Upstream };
    let text = |content: Option<&[u8]>| {
        let text = content.map(String::from_utf8_lossy);
        text.map(|text| crate::print::json::write(&krm_yaml::Value::String(text)))
    };
    let conflict = Conflict {
        id: id_of("", path, kind),
        resource: String::new(),
        path: path.to_owned(),
        kind,
        base: text(base),
        local: text(local),
        upstream: text(upstream),
        local_at: None,
        upstream_at: None,
        taken,
        is_marked: false,
        is_secret: false,
    };
    Verdict { takes_upstream: taken == Side::Upstream, conflict: Some(conflict) }
}
