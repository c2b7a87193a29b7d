//! Checks that comments which one side added are in the result.

use std::collections::BTreeMap;

use krm_core::merge::{ConflictKind, MergedFile};

use super::Fault;

/// Comments that a side added, and that neither are in the result nor reported.
pub(super) fn lost(versions: [&str; 4], merged: &MergedFile) -> Vec<Fault> {
    let [base, local, upstream, result] = versions.map(comments);
    let is_reported = !merged.warnings.is_empty()
        || merged.conflicts.iter().any(|conflict| conflict.kind != ConflictKind::Order);
    if is_reported {
        return Vec::new();
    }
    let check = |side: &BTreeMap<&str, usize>, other: &BTreeMap<&str, usize>, class| {
        let count =
            |all: &BTreeMap<&str, usize>, comment: &str| all.get(comment).copied().unwrap_or(0);
        // A comment that the other side removed may be missing: it was attached to something that was deleted.
        let is_lost = |comment: &&str| {
            count(side, comment) > count(&base, comment)
                && count(&result, comment) < count(side, comment)
                && count(other, comment) >= count(&base, comment)
        };
        let lost = side.keys().copied().filter(is_lost);
        lost.map(|comment| Fault::new(class, format!("`{comment}`"))).collect::<Vec<_>>()
    };
    let mut faults = check(&local, &upstream, "a local comment is lost");
    faults.extend(check(&upstream, &local, "an upstream comment is lost"));
    faults
}

/// How often each comment occurs. Lines of block scalars that look like comments count, too: they must not be lost, either.
fn comments(text: &str) -> BTreeMap<&str, usize> {
    let mut counts = BTreeMap::new();
    for line in text.lines() {
        let at = if line.trim_start().starts_with('#') { line.find('#') } else { line.find(" #") };
        if let Some(at) = at {
            *counts.entry(line[at..].trim()).or_insert(0) += 1;
        }
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_comment_is_a_fault_unless_it_is_reported() {
        let merged =
            MergedFile { text: String::new(), conflicts: Vec::new(), warnings: Vec::new() };
        let faults = lost(["a: 1\n", "a: 1 # mine\n", "a: 2\n", "a: 2\n"], &merged);
        assert_eq!(
            faults.iter().map(|it| it.class).collect::<Vec<_>>(),
            ["a local comment is lost"]
        );
        assert!(lost(["a: 1\n", "a: 1 # mine\n", "a: 2\n", "a: 2 # mine\n"], &merged).is_empty());
    }
}
