//! Which resource of the list is which generated one.

use krm_core::Identity;

use super::GENERATED_BY;
use crate::Resource;

/// A generated resource of an owner.
pub(super) struct Owned<'g> {
    pub(super) owner: &'g str,
    /// The identity with which it was generated.
    pub(super) identity: &'g Identity,
}

impl Owned<'_> {
    /// The value of the annotation.
    pub(super) fn tag(&self) -> String {
        format!("{}: {}", self.owner, self.identity)
    }

    /// The resource that certainly is this one. Copies have the annotation, too; then it is the one that kept its identity.
    pub(super) fn find(&self, items: &[Resource]) -> Option<usize> {
        let tag = self.tag();
        let has_tag = |it: &Resource| it.annotation(GENERATED_BY).as_deref() == Some(&*tag);
        let tagged: Vec<usize> = positions(items, has_tag);
        match tagged[..] {
            [only] => Some(only),
            _ => {
                let same = tagged.into_iter().filter(|at| self.has_identity(&items[*at]));
                let same: Vec<usize> = same.collect();
                if let [only] = same[..] { Some(only) } else { None }
            }
        }
    }

    /// The resource with the same identity that nobody else generated.
    pub(super) fn find_unclaimed(&self, items: &[Resource]) -> Option<usize> {
        let is_it = |it: &Resource| {
            let is_claimed = || {
                let tag = it.annotation(GENERATED_BY);
                tag.is_some_and(|tag| tag != self.tag())
            };
            self.has_identity(it) && !is_claimed()
        };
        positions(items, is_it).first().copied()
    }

    /// The other owner that generates a resource with the same identity.
    pub(super) fn other_owner(&self, items: &[Resource]) -> Option<String> {
        let of = |it: &Resource| {
            let tag = it.annotation(GENERATED_BY).filter(|_| self.has_identity(it))?;
            let owner = tag.strip_suffix(&format!(": {}", self.identity))?;
            (owner != self.owner).then(|| owner.to_owned())
        };
        items.iter().find_map(of)
    }

    fn has_identity(&self, item: &Resource) -> bool {
        item.view().identity().as_ref() == Some(self.identity)
    }
}

/// The resources that have the annotation of an owner, and that it generated with an identity that it does not know any more.
pub(super) fn forgotten(owner: &str, known: &[&Identity], items: &[Resource]) -> Vec<usize> {
    let tags: Vec<String> = known.iter().map(|identity| Owned { owner, identity }.tag()).collect();
    let is_it = |it: &Resource| {
        let tag = it.annotation(GENERATED_BY);
        tag.is_some_and(|tag| tag.starts_with(&format!("{owner}: ")) && !tags.contains(&tag))
    };
    positions(items, is_it)
}

fn positions(items: &[Resource], is_it: impl Fn(&Resource) -> bool) -> Vec<usize> {
    let all = items.iter().enumerate().filter(|(_, it)| is_it(it));
    all.map(|(at, _)| at).collect()
}
