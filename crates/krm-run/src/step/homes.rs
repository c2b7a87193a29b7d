//! Files for new resources of a function that a package below the root asks for: they stay in that package.

use krm_core::files::Placement;
use krm_core::functions::resource_list::Item;
use krm_core::{Identity, PackagePath};

use super::Made;

/// Gives a file to every new item that names none. In the root package that is done when the files are put together.
pub(super) fn give(made: &mut Made, all: &[Item], folder: &str) {
    let is_homeless = |item: &Item| item.path.is_none() && item.origin.is_none();
    if folder.is_empty() || !made.items.iter().any(is_homeless) {
        return;
    }
    let mut placement = Placement::default();
    for path in all.iter().chain(&made.items).filter_map(|item| item.path.as_ref()) {
        if let Some(inside) = relative(path, folder) {
            _ = placement.claim(inside.as_str());
        }
    }
    for item in made.items.iter_mut().filter(|item| is_homeless(item)) {
        let resource = item.resource();
        let identity = resource.identity().unwrap_or_else(|| Identity {
            group: resource.group(),
            kind: resource.kind().into_owned(),
            namespace: resource.namespace().into_owned(),
            name: String::new(),
        });
        item.path = PackagePath::new(&format!("{folder}/{}", placement.new_file(&identity))).ok();
    }
}

/// A path as the package in a folder knows it.
pub(super) fn relative(path: &PackagePath, folder: &str) -> Option<PackagePath> {
    match folder {
        "" => Some(path.clone()),
        _ => PackagePath::new(path.as_str().strip_prefix(folder)?.strip_prefix('/')?).ok(),
    }
}
