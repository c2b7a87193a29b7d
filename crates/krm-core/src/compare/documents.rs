//! Documents that hold no resource, such as a Helm values file: they have no identity and pair by file, content and position.

use std::collections::{BTreeMap, HashMap};

use krm_yaml::NodeRef;

use super::fingerprint;
use crate::model::resource::{is_resource, is_written, resources};
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
/// them, and the rest in order, between those that are paired.
fn pair_in_file<'a, const N: usize>(
    sides: &[Vec<(&'a PackageFile, NodeRef<'a>)>; N],
) -> Vec<PairedDocument<'a, N>> {
    let mut pairs: Vec<PairedDocument<'a, N>> = Vec::new();
    for (side, documents) in sides.iter().enumerate() {
        let equal = match documents.len().max(pairs.len()) {
            0 | 1 => vec![None; documents.len()],
            _ => equal_pairs(&pairs, documents),
        };
        for (document, found) in documents.iter().zip(&equal) {
            if let Some(found) = found {
                pairs[*found][side] = Some(*document);
            }
        }
        let mut next = 0;
        for (document, found) in documents.iter().zip(equal) {
            if let Some(found) = found {
                next = found + 1;
                continue;
            }
            match pairs.get_mut(next).filter(|pair| pair[side].is_none()) {
                Some(pair) => {
                    pair[side] = Some(*document);
                    next += 1;
                }
                None => {
                    let mut pair = [None; N];
                    pair[side] = Some(*document);
                    pairs.push(pair);
                }
            }
        }
    }
    pairs
}

/// The pair with an equal document for each document of a side, where only one pair and only one document of the side has that content.
fn equal_pairs<const N: usize>(
    pairs: &[PairedDocument<'_, N>],
    documents: &[(&PackageFile, NodeRef<'_>)],
) -> Vec<Option<usize>> {
    // A two-way merge inserts documents without their nulls, and must find them again.
    let print = if N == 2 { fingerprint::of_returned } else { fingerprint::of };
    let mut by_print: HashMap<u64, Vec<usize>> = HashMap::new();
    for (at, pair) in pairs.iter().enumerate() {
        for (_, document) in pair.iter().flatten() {
            let equal = by_print.entry(print(*document)).or_default();
            if equal.last() != Some(&at) {
                equal.push(at);
            }
        }
    }
    let prints: Vec<u64> = documents.iter().map(|(_, root)| print(*root)).collect();
    let mut counts: HashMap<u64, usize> = HashMap::new();
    prints.iter().for_each(|print| *counts.entry(*print).or_default() += 1);
    let only = |print: &u64| match by_print.get(print).map(Vec::as_slice) {
        Some([pair]) if counts[print] == 1 => Some(*pair),
        _ => None,
    };
    prints.iter().map(only).collect()
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
    roots.filter(|root| is_written(*root))
}
