//! Suggestions: the existing name that is most similar to a name that does not exist.

use std::collections::BTreeSet;

use crate::Package;

/// How many names are compared at most. A hint is not worth more time.
const MAX_NAMES: usize = 1000;

/// The name that is most similar to `name`, if one is similar enough; the first of several.
///
/// Similar enough means at most one edit (an insertion, deletion, substitution or swap of neighbours) for every three characters, and
/// three in all. More would suggest unrelated names.
///
/// ```
/// use krm_core::diagnostics::closest_name;
///
/// assert_eq!(closest_name(["Service", "Deployment"], "Deploymnet"), Some("Deployment"));
/// assert_eq!(closest_name(["Service", "Deployment"], "Pod"), None);
/// ```
pub fn closest_name<'n>(names: impl IntoIterator<Item = &'n str>, name: &str) -> Option<&'n str> {
    let max_distance = (name.chars().count() / 3).min(3);
    let similar = names.into_iter().take(MAX_NAMES).filter_map(|candidate| {
        let distance = match candidate.eq_ignore_ascii_case(name) {
            true => 0,
            false => strsim::osa_distance(candidate, name),
        };
        (distance <= max_distance).then_some((distance, candidate))
    });
    similar.min_by_key(|(distance, _)| *distance).map(|(_, candidate)| candidate)
}

/// The kind of a resource in the package that is most similar to `kind`; none if the package has the kind itself.
pub fn closest_kind(package: &Package, kind: &str) -> Option<String> {
    let kinds: BTreeSet<String> =
        package.resources().map(|resource| resource.resource.kind().into_owned()).collect();
    let exists = kinds.contains(kind);
    closest_name(kinds.iter().map(String::as_str), kind).filter(|_| !exists).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::package::tests::package;

    #[test]
    fn swapped_characters_are_one_edit() {
        assert_eq!(closest_name(["abc"], "acb"), Some("abc"));
        assert_eq!(closest_name(["replicas"], "replica"), Some("replicas"));
        assert_eq!(closest_name(["abc"], "xyz"), None);
    }

    #[test]
    fn existing_kind_has_no_suggestion() {
        let package = package(&[("a.yaml", "apiVersion: v1\nkind: Service\n")]);
        assert_eq!(closest_kind(&package, "service"), Some("Service".to_owned()));
        assert_eq!(closest_kind(&package, "Servcie"), Some("Service".to_owned()));
        assert_eq!(closest_kind(&package, "Service"), None);
        assert_eq!(closest_kind(&package, "Pod"), None);
    }
}
