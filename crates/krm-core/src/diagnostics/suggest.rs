//! The name that was probably meant: of those that exist, the one that is spelled most like what was typed.

use std::collections::BTreeSet;

use crate::Package;

/// More names than this are not compared; somebody who reads a hint has no time.
const MOST_NAMES: usize = 1000;

/// The name that is spelled most like `wanted`, where one is near enough. Of several the first counts.
///
/// ```
/// use krm_core::diagnostics::closest_name;
///
/// assert_eq!(closest_name(["Service", "Deployment"], "Deploymnet"), Some("Deployment"));
/// assert_eq!(closest_name(["Service", "Deployment"], "Pod"), None);
/// ```
pub fn closest_name<'n>(names: impl IntoIterator<Item = &'n str>, wanted: &str) -> Option<&'n str> {
    let most = (wanted.chars().count() / 3).min(3);
    let near = names.into_iter().take(MOST_NAMES).filter_map(|name| {
        let distance =
            if name.eq_ignore_ascii_case(wanted) { 0 } else { distance(name, wanted, most)? };
        Some((distance, name))
    });
    near.min_by_key(|(distance, _)| *distance).map(|(_, name)| name)
}

/// The kind of a package that was probably meant; none where the package has the kind, or nothing like it.
pub fn closest_kind(package: &Package, wanted: &str) -> Option<String> {
    let kinds: BTreeSet<String> =
        package.resources().map(|placed| placed.resource.kind().into_owned()).collect();
    let is_there = kinds.contains(wanted);
    closest_name(kinds.iter().map(String::as_str), wanted).filter(|_| !is_there).map(str::to_owned)
}

/// How many letters must be put in, taken out, changed or swapped with their neighbour; none beyond `most`.
fn distance(a: &str, b: &str, most: usize) -> Option<usize> {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    if a.len().abs_diff(b.len()) > most {
        return None;
    }
    let mut before: Vec<usize> = Vec::new();
    let mut above: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, y) in b.iter().enumerate() {
            let mut best = (above[j] + usize::from(x != y)).min(above[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && *x == b[j - 1] && a[i - 1] == *y {
                best = best.min(before[j - 1] + 1);
            }
            row.push(best);
        }
        before = std::mem::replace(&mut above, row);
    }
    above.last().copied().filter(|distance| *distance <= most)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::package::tests::package;

    #[test]
    fn distances_count_swaps_once() {
        assert_eq!(distance("ab", "ba", 3), Some(1));
        assert_eq!(distance("replica", "replicas", 3), Some(1));
        assert_eq!(distance("abc", "xyz", 2), None);
    }

    #[test]
    fn a_kind_that_is_there_needs_no_hint() {
        let package = package(&[("a.yaml", "apiVersion: v1\nkind: Service\n")]);
        assert_eq!(closest_kind(&package, "service"), Some("Service".to_owned()));
        assert_eq!(closest_kind(&package, "Servcie"), Some("Service".to_owned()));
        assert_eq!(closest_kind(&package, "Service"), None);
        assert_eq!(closest_kind(&package, "Pod"), None);
    }
}
