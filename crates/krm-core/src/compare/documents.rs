//! Documents that hold no resource, such as a Helm values file: they have no identity and pair by file and position.

use std::collections::BTreeMap;

use krm_yaml::NodeRef;

use crate::model::resource::{is_resource, resources};
use crate::{Package, PackageFile};

/// A document of each package that has it, with its file.
pub(crate) type PairedDocument<'a, const N: usize> = [Option<(&'a PackageFile, NodeRef<'a>)>; N];

/// Pairs the documents without resources of several packages. Without `by_path` the packages are single files whose names do not matter.
pub(crate) fn pair_documents<'a, const N: usize>(
    packages: [&'a Package; N],
    by_path: bool,
    whole_documents: bool,
) -> Vec<PairedDocument<'a, N>> {
    let mut found: BTreeMap<(&str, usize), PairedDocument<'a, N>> = BTreeMap::new();
    for (side, package) in packages.into_iter().enumerate() {
        for file in package.files() {
            let path = if by_path { file.path.as_str() } else { "" };
            for (number, root) in document_roots(file, whole_documents).enumerate() {
                found.entry((path, number)).or_insert([None; N])[side] = Some((file, root));
            }
        }
    }
    found.into_values().collect()
}

/// The roots of the documents of a file that hold no resource, without empty documents. With `whole_documents` a list is a resource, and a
/// bare sequence is not.
pub(crate) fn document_roots(
    file: &PackageFile,
    whole_documents: bool,
) -> impl Iterator<Item = NodeRef<'_>> {
    content_roots(file).filter(move |root| match whole_documents {
        true => !is_resource(*root),
        false => resources(root.document()).is_empty(),
    })
}

/// The roots of the documents of a file that are not empty.
pub(crate) fn content_roots(file: &PackageFile) -> impl Iterator<Item = NodeRef<'_>> {
    let documents = file.file().into_iter().flat_map(|it| it.documents());
    let roots = documents.filter_map(|document| document.root());
    roots.filter(|root| root.is_collection() || !root.text().is_empty())
}
