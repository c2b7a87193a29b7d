//! What one function did to each resource.

use std::collections::BTreeMap;

use krm_core::functions::resource_list::Item;

/// A resource that a function changed, made or took away.
#[derive(Clone, Debug)]
pub struct Changed {
    /// As it was; none for one that is new.
    pub before: Option<Item>,
    /// As it is; none for one that is gone.
    pub after: Option<Item>,
}

/// What became of the resources, in their order; new ones come last.
pub fn trace(before: &[Item], after: &[Item]) -> Vec<Changed> {
    let mut left: BTreeMap<Name<'_>, Vec<usize>> = BTreeMap::new();
    for (at, item) in after.iter().enumerate().rev() {
        left.entry(name(item)).or_default().push(at);
    }
    let mut is_paired = vec![false; after.len()];
    let mut changes = Vec::new();
    for was in before {
        let found = left.get_mut(&name(was)).and_then(Vec::pop);
        let is = found.map(|at| &after[at]);
        found.into_iter().for_each(|at| is_paired[at] = true);
        if is.is_none_or(|is| !is_same(was, is)) {
            changes.push(Changed { before: Some(was.clone()), after: is.cloned() });
        }
    }
    let new = after.iter().zip(is_paired).filter(|(_, is_paired)| !is_paired);
    changes.extend(new.map(|(item, _)| Changed { before: None, after: Some(item.clone()) }));
    changes
}

/// What a resource is known by: its number among those that were read, or else its place.
type Name<'a> = (Option<usize>, Option<(&'a str, Option<usize>)>);

fn name(item: &Item) -> Name<'_> {
    match item.origin {
        Some(origin) => (Some(origin), None),
        None => (None, item.path.as_ref().map(|path| (path.as_str(), item.index))),
    }
}

fn is_same(was: &Item, is: &Item) -> bool {
    let has_place = was.path == is.path && was.index == is.index;
    has_place && (is.shares_text(was) || is.text() == was.text())
}
