//! Documents that hold no resource, such as a Helm values file: they have no identity and pair by file and position.

use std::collections::BTreeMap;

use krm_yaml::NodeRef;

use crate::model::resource::resources;
use crate::{Package, PackageFile};

/// A document of each package that has it, with its file.
pub(crate) type PairedDocument<'a, const N: usize> = [Option<(&'a PackageFile, NodeRef<'a>)>; N];

/// Pairs the documents without resources of several packages. Without `by_path` the packages are single files whose names do not matter.
pub(crate) fn pair_documents<'a, const N: usize>(
    packages: [&'a Package; N],
    by_path: bool,
) -> Vec<PairedDocument<'a, N>> {
    let mut found: BTreeMap<(&str, usize), PairedDocument<'a, N>> = BTreeMap::new();
    for (side, package) in packages.into_iter().enumerate() {
        for file in package.files() {
            let path = if by_path { file.path.as_str() } else { "" };
            for (number, root) in document_roots(file).enumerate() {
                found.entry((path, number)).or_insert([None; N])[side] = Some((file, root));
            }
        }
    }
    found.into_values().collect()
}

/// The roots of the documents of a file that hold no resource, without empty documents.
pub(crate) fn document_roots(file: &PackageFile) -> impl Iterator<Item = NodeRef<'_>> {
    let documents = file.file().into_iter().flat_map(|it| it.documents());
    let others = documents.filter(|document| resources(*document).is_empty());
    let roots = others.filter_map(|document| document.root());
    roots.filter(|root| root.is_collection() || !root.text().is_empty())
}
