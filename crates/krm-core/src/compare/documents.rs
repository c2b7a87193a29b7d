//! Documents that hold no resource, such as a Helm values file: they have no identity and pair by file, content and position.

use std::collections::{BTreeMap, HashMap};

use krm_yaml::NodeRef;

use super::fingerprint;
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
    let mut files: BTreeMap<&str, [Vec<(&'a PackageFile, NodeRef<'a>)>; N]> = BTreeMap::new();
    for (side, package) in packages.into_iter().enumerate() {
        for file in package.files() {
            let path = if by_path { file.path.as_str() } else { "" };
            for root in document_roots(file, whole_documents) {
                let sides = files.entry(path).or_insert_with(|| [const { Vec::new() }; N]);
                sides[side].push((file, root));
            }
        }
    }
    files.into_values().flat_map(|sides| pair_in_file(&sides)).collect()
}

/// Pairs the documents of one file with those of the first package: equal ones first, because a document that is inserted before others moves
/// them, and the rest by position.
fn pair_in_file<'a, const N: usize>(
    sides: &[Vec<(&'a PackageFile, NodeRef<'a>)>; N],
) -> Vec<PairedDocument<'a, N>> {
    let mut pairs: Vec<PairedDocument<'a, N>> = Vec::new();
    for (side, documents) in sides.iter().enumerate() {
        let mut rest: Vec<usize> = (0..documents.len()).collect();
        if documents.len().max(pairs.len()) > 1 {
            let mut equal = EqualDocuments::new(&pairs);
            rest.retain(|at| {
                let found = equal.take(documents[*at].1);
                let found = found.filter(|found| pairs[*found][side].is_none());
                if let Some(found) = found {
                    pairs[found][side] = Some(documents[*at]);
                }
                found.is_none()
            });
        }
        for at in rest {
            match pairs.get_mut(at).filter(|pair| pair[side].is_none()) {
                Some(pair) => pair[side] = Some(documents[at]),
                None => {
                    let mut pair = [None; N];
                    pair[side] = Some(documents[at]);
                    pairs.push(pair);
                }
            }
        }
    }
    pairs
}

/// Pairs by the fingerprints of their documents.
struct EqualDocuments(HashMap<u64, Vec<usize>>);

impl EqualDocuments {
    fn new<const N: usize>(pairs: &[PairedDocument<'_, N>]) -> Self {
        let mut by_print: HashMap<u64, Vec<usize>> = HashMap::new();
        for (at, pair) in pairs.iter().enumerate() {
            for (_, document) in pair.iter().flatten() {
                let equal = by_print.entry(fingerprint::of(*document)).or_default();
                if equal.last() != Some(&at) {
                    equal.push(at);
                }
            }
        }
        Self(by_print)
    }

    /// The only pair with an equal document, which no other document gets then.
    fn take(&mut self, document: NodeRef<'_>) -> Option<usize> {
        let equal = self.0.get_mut(&fingerprint::of(document))?;
        if equal.len() == 1 { equal.pop() } else { None }
    }
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
