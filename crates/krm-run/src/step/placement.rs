//! Paths of new resources of a function below the root: they stay in the directory of that function.

use krm_core::files::Placement;
use krm_core::functions::resource_list::Item;
use krm_core::{Identity, PackagePath};

/// Assigns a path in `directory` to every new item without one. In the root package, paths are assigned when files are
/// assembled.
pub(super) fn assign_paths(returned: &mut [Item], existing: &[Item], directory: &str) {
    let needs_path = |item: &Item| item.path.is_none() && item.origin.is_none();
    if directory.is_empty() || !returned.iter().any(needs_path) {
        return;
    }
    let mut placement = Placement::default();
    for path in existing.iter().chain(&*returned).filter_map(|item| item.path.as_ref()) {
        if let Some(inside) = relative(path, directory) {
            _ = placement.claim(inside.as_str());
        }
    }
    for item in returned.iter_mut().filter(|item| needs_path(item)) {
        let resource = item.resource();
        let identity = resource.identity().unwrap_or_else(|| Identity {
            group: resource.group(),
            kind: resource.kind().into_owned(),
            namespace: resource.namespace().into_owned(),
            name: String::new(),
        });
        item.path =
            PackagePath::new(&format!("{directory}/{}", placement.new_file(&identity))).ok();
        item.index = None;
    }
}

/// The path relative to a directory; none if it is outside.
pub(super) fn relative(path: &PackagePath, directory: &str) -> Option<PackagePath> {
    match directory {
        "" => Some(path.clone()),
        _ => PackagePath::new(path.as_str().strip_prefix(directory)?.strip_prefix('/')?).ok(),
    }
}
