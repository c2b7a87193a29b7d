//! Elements of an associative list whose merge keys were removed.

use super::similar_elements::resemblance;
use super::{ElementId, Elements};

impl Elements<'_> {
    /// Gives elements without merge keys the identity of the element of `base` that they resemble most, if this version has no other
    /// element with its keys. Otherwise the element would count as deleted and another one as added, and a merge would restore a part of
    /// the first one beside the second.
    pub(crate) fn adopt_identities(&mut self, base: &Self) {
        if self.keyless.is_none() {
            return;
        }
        let is_keyless = |id: &ElementId| id.first_key().is_none() && base.find(id).is_none();
        let keyless: Vec<usize> = (0..self.len()).filter(|at| is_keyless(&self.ids[*at])).collect();
        for at in keyless {
            let is_free = |before: &usize| {
                let id = &base.ids[*before];
                id.first_key().is_some() && self.find(id).is_none()
            };
            let score = |before: usize| resemblance(base.nodes[before], self.nodes[at]);
            let alike = (0..base.len()).filter(is_free).filter(|before| score(*before) > 0);
            // Of several that are alike, the one whose position is nearest.
            let best =
                alike.max_by_key(|before| (score(*before), usize::MAX - before.abs_diff(at)));
            if let Some(best) = best {
                self.set_id(at, base.ids[best].clone());
            }
        }
    }
}
