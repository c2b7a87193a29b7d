//! Who may read a Secret that moves from one file to another: never more users than before.
//!
//! A file that is replaced keeps its access, and a new file with a Secret is private. That leaves the Secret that a function moves from a
//! private file into an existing one.

use std::cmp::Ordering;

use krm_core::Diagnostic;

use super::FileKind;
use super::target::WriteTarget;

/// Takes access away from files that get a Secret out of a file which fewer users may access. Returns a warning for each.
pub(super) fn narrow(targets: &mut [WriteTarget<'_>]) -> Vec<Diagnostic> {
    let changed: Vec<(usize, Ordering)> = targets
        .iter()
        .enumerate()
        // A new file is private, and nobody could read one that did not exist.
        .filter(|(_, target)| target.original.is_some())
        .map(|(at, target)| {
            let old = target.change.old_bytes().map_or(0, count);
            let new = target.change.new_bytes().map_or(0, |bytes| count(&bytes));
            (at, new.cmp(&old))
        })
        .collect();
    let with = |order| changed.iter().filter(move |(_, it)| *it == order).map(|(at, _)| *at);
    let mut warnings = Vec::new();
    for to in with(Ordering::Greater) {
        for from in with(Ordering::Less) {
            let Ok([source, target]) = targets.get_disjoint_mut([from, to]) else { continue };
            let (Some(source_file), Some(file)) = (&source.original, &mut target.original) else {
                continue;
            };
            if file.attributes.narrow_like(&source_file.attributes) {
                let kind =
                    FileKind::AccessNarrowed { from: source.change.display_path.to_string() };
                warnings.push(Diagnostic::warning(kind).in_file(&*target.change.display_path));
            }
        }
    }
    warnings
}

/// How often a text has the kind of a Secret as a whole word: neither `imagePullSecrets` nor `ExternalSecret` holds values.
pub(super) fn count(bytes: &[u8]) -> usize {
    // Binary files have no word that counts.
    let text = std::str::from_utf8(bytes).unwrap_or_default();
    let is_part = |c: char| c.is_alphanumeric();
    let found = text.match_indices("Secret").filter(|(at, word)| {
        !text[..*at].ends_with(is_part) && !text[at + word.len()..].starts_with(is_part)
    });
    found.count()
}
