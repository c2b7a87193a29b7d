//! The resources of a list that a program's output is merged into, found by identity or, without a name, by file.

use std::collections::BTreeMap;

use crate::Resource;
use crate::files::placement::wrapped_output_path;
use crate::functions::resource_list::annotations::{LEGACY_PATH, PATH};
use crate::model::resource::Identity;

/// The resources of the input.
pub(super) struct Existing<'a> {
    named: BTreeMap<Identity, Resource<'a>>,
    /// Resources without a name, such as a Kustomization.
    nameless: Vec<Resource<'a>>,
}

impl<'a> Existing<'a> {
    pub(super) fn of(resources: impl Iterator<Item = Resource<'a>>) -> Self {
        let (mut named, mut nameless) = (BTreeMap::new(), Vec::new());
        for resource in resources {
            match resource.identity() {
                Some(identity) => _ = named.insert(identity, resource),
                None => nameless.push(resource),
            }
        }
        Self { named, nameless }
    }

    /// The resource that a printed one is. Without a name it is the one of its kind in the same file, or the only one of its kind:
    /// otherwise every run of the program would add another copy.
    pub(super) fn find(&self, printed: Resource<'_>) -> Option<Resource<'a>> {
        if let Some(identity) = printed.identity() {
            return self.named.get(&identity).copied();
        }
        let key =
            |it: Resource<'_>| (it.group(), it.kind().into_owned(), it.namespace().into_owned());
        let wanted = key(printed);
        let same: Vec<Resource<'a>> =
            self.nameless.iter().copied().filter(|it| key(*it) == wanted).collect();
        let own = path(printed);
        let file = own.clone().unwrap_or_else(|| wrapped_output_path(printed));
        let in_file = same.iter().find(|it| path(**it).as_ref() == Some(&file)).copied();
        let only = match same[..] {
            // One that names another file is another resource.
            [only] if own.is_none() || path(only).is_none() => Some(only),
            _ => None,
        };
        in_file.or(only)
    }

    /// Whether a resource has the path annotation of older functions.
    pub(super) fn has_legacy_path(&self) -> bool {
        let mut all = self.named.values().chain(&self.nameless);
        all.any(|it| it.annotation(LEGACY_PATH).is_some())
    }
}

/// The file that a resource names.
pub(super) fn path(resource: Resource<'_>) -> Option<String> {
    let path = [PATH, LEGACY_PATH].into_iter().find_map(|name| resource.annotation(name));
    path.map(|path| path.into_owned())
}
