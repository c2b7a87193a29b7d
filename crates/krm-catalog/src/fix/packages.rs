//! Which resources belong to which package.

use std::collections::BTreeMap;

use krm_core::PackagePath;
use krm_sdk::Resource;

/// The resources of each package, without those of its subpackages, by the index of the Kptfile.
pub(super) struct Packages {
    members: BTreeMap<usize, Vec<usize>>,
}

impl Packages {
    pub(super) fn of(items: &[Resource]) -> Self {
        let is_kptfile = |it: &Resource| it.kind() == "Kptfile";
        let directories: BTreeMap<&str, usize> = (0..items.len())
            .filter(|at| is_kptfile(&items[*at]))
            .map(|at| (directory(&items[at]), at))
            .collect();
        let mut members: BTreeMap<usize, Vec<usize>> =
            directories.values().map(|kptfile| (*kptfile, Vec::new())).collect();
        for at in (0..items.len()).filter(|at| !is_kptfile(&items[*at])) {
            let mut around = parents(directory(&items[at]));
            let kptfile = around.find_map(|directory| directories.get(directory));
            members.entry(*kptfile.unwrap_or(&usize::MAX)).or_default().push(at);
        }
        members.remove(&usize::MAX);
        Self { members }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    /// The resources of the package with this Kptfile; none if it is another resource.
    pub(super) fn members(&self, kptfile: usize) -> Option<&[usize]> {
        self.members.get(&kptfile).map(Vec::as_slice)
    }
}

fn directory(item: &Resource) -> &str {
    item.path().map_or("", PackagePath::directory)
}

/// A directory and those around it.
fn parents(directory: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(directory), |directory| match directory.rsplit_once('/') {
        Some((parent, _)) => Some(parent),
        None if directory.is_empty() => None,
        None => Some(""),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directories_around_a_file_end_with_the_root() {
        assert_eq!(parents("a/b").collect::<Vec<_>>(), ["a/b", "a", ""]);
        assert_eq!(parents("").collect::<Vec<_>>(), [""]);
    }

    #[test]
    fn resources_belong_to_the_innermost_package() {
        let resource = |kind: &str, path: &str| {
            let mut resource = Resource::parse(format!("apiVersion: v1\nkind: {kind}\n")).unwrap();
            resource.move_to(PackagePath::new(path).unwrap());
            resource
        };
        let items = [
            resource("Kptfile", "a/Kptfile"),
            resource("Pod", "a/x.yaml"),
            resource("Kptfile", "a/b/Kptfile"),
            resource("Pod", "a/b/c/x.yaml"),
            resource("Pod", "x.yaml"),
        ];
        let packages = Packages::of(&items);
        assert_eq!(packages.members(0), Some(&[1][..]));
        assert_eq!(packages.members(2), Some(&[3][..]));
        assert_eq!((packages.members(1), packages.members(4)), (None, None));
    }
}
