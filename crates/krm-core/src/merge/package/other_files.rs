//! Files that are not YAML or JSON: they are merged as a whole.

use crate::merge::node::{Conflict, ConflictKind, OnConflict, Side, conflict_id};
use crate::print::json;

/// The result of merging a file as a whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OtherFileMerge {
    /// Whether upstream's version is taken: its content, or its deletion.
    pub takes_upstream: bool,
    /// The conflict where both sides changed it.
    pub conflict: Option<Conflict>,
}

/// Merges a file by its content in base, upstream and local; `None` where it does not exist.
///
/// ```
/// use krm_core::merge::{OnConflict, merge_other_file};
///
/// let contents = [Some(b"a".as_slice()), Some(b"b"), Some(b"a")];
/// let merged = merge_other_file("README.md", contents, OnConflict::Upstream);
/// assert!(merged.takes_upstream && merged.conflict.is_none());
/// ```
pub fn merge_other_file(
    path: &str,
    [base, upstream, local]: [Option<&[u8]>; 3],
    on_conflict: OnConflict,
) -> OtherFileMerge {
    if upstream == base || upstream == local {
        return OtherFileMerge { takes_upstream: false, conflict: None };
    }
    if local == base {
        return OtherFileMerge { takes_upstream: true, conflict: None };
    }
    let kind = match (base, upstream, local) {
        (None, _, _) => ConflictKind::Added,
        (_, None, _) => ConflictKind::DeletedUpstream,
        (_, _, None) => ConflictKind::DeletedLocally,
        _ => ConflictKind::Changed,
    };
    // A recorded conflict leaves the file as it is.
    let taken = if on_conflict == OnConflict::Mark { Side::Local } else { on_conflict.taken() };
    let text = |content: Option<&[u8]>| {
        let content = content?;
        let summary = || format!("binary, {} bytes", content.len());
        let text = std::str::from_utf8(content).map_or_else(|_| summary(), str::to_owned);
        Some(json::string(&text))
    };
    let conflict = Conflict {
        id: conflict_id("", path, kind),
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
        file: path.to_owned(),
        text: upstream.and_then(|it| std::str::from_utf8(it).ok()).map(str::to_owned),
        is_secret: false,
    };
    OtherFileMerge { takes_upstream: taken == Side::Upstream, conflict: Some(conflict) }
}
