//! Counting resources by kind.

use std::collections::BTreeMap;

use crate::model::resource::Resource;

/// The number of resources of each kind, sorted by kind.
///
/// ```
/// use krm_core::print::count_by_kind;
/// use krm_core::model::resources;
///
/// let file = krm_yaml::File::parse("- {apiVersion: v1, kind: Pod}\n- {apiVersion: v1, kind: Pod}\n".to_owned())?;
/// let found = resources(file.document(0).expect("there is one"));
/// assert_eq!(count_by_kind(found).into_iter().collect::<Vec<_>>(), [("Pod".to_owned(), 2)]);
/// # Ok::<(), krm_yaml::ReadError>(())
/// ```
pub fn count_by_kind<'a>(
    resources: impl IntoIterator<Item = Resource<'a>>,
) -> BTreeMap<String, usize> {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for resource in resources {
        let kind = resource.kind();
        match counts.get_mut(&*kind) {
            Some(count) => *count += 1,
            None => {
                counts.insert(kind.into_owned(), 1);
            }
        }
    }
    counts
}
