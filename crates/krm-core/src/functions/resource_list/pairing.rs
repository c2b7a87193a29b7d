//! Pairs the items of a function's output with the items of its input.

use std::collections::{BTreeMap, BTreeSet};

use super::ResourceListKind;
use super::input::InputItem;
use super::output::OutputItem;
use crate::Diagnostic;

/// The pairs, as indices into the two lists, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ItemPairs {
    /// InputItem and returned, in the order of what was returned.
    pub(crate) kept: Vec<(usize, usize)>,
    /// OutputItem, and never sent.
    pub(crate) new: Vec<usize>,
    /// InputItem, and not returned.
    pub(crate) gone: Vec<usize>,
}

/// Finds the input item of every output item: by its id, then by path, index and identity together, then by whichever of them the
/// function did not change.
///
/// Ids come first, because a function may rename and move a resource, but it may also drop annotations, or copy a resource together with
/// its id. Of several items with one id, the one that kept its identity is paired, and the others are new. Without ids, a resource that
/// was renamed is found by its path and index, unless both names exist on the other side: then the resources changed their positions.
/// A changed internal annotation is an error.
pub(crate) fn pair_items(
    sent: &[InputItem<'_>],
    returned: &[OutputItem<'_>],
) -> Result<ItemPairs, Diagnostic> {
    let (to, taken) = (vec![None; returned.len()], vec![false; sent.len()]);
    let mut matching = ItemPairing { sent, returned, to, taken };
    matching.by_id();
    let sent_place =
        |sent: &InputItem<'_>| Some((sent.path.clone()?, sent.item.index.unwrap_or(0)));
    let place =
        |it: &OutputItem<'_>| Some((it.path.any()?.clone(), it.index.any().copied().unwrap_or(0)));
    let sent_name = |sent: &InputItem<'_>| sent.item.resource().identity();
    let name = |it: &OutputItem<'_>| it.resource.identity();
    matching.by(|it| Some((sent_place(it)?, sent_name(it)?)), |it| Some((place(it)?, name(it)?)));
    if !matching.is_complete() {
        let sent_names: BTreeSet<_> = sent.iter().filter_map(sent_name).collect();
        let names: BTreeSet<_> = returned.iter().filter_map(name).collect();
        let is_in =
            |names: &BTreeSet<_>, name: Option<_>| name.is_some_and(|it| names.contains(&it));
        matching.by(
            |it| sent_place(it).filter(|_| !is_in(&names, sent_name(it))),
            |it| place(it).filter(|_| !is_in(&sent_names, name(it))),
        );
        matching.by(sent_name, name);
        matching.by(sent_place, place);
    }
    let found = matching.finish();
    for (sent_at, returned_at) in &found.kept {
        check_internal_annotations(&sent[*sent_at], &returned[*returned_at])?;
    }
    Ok(found)
}

struct ItemPairing<'s, 'a> {
    sent: &'s [InputItem<'a>],
    returned: &'s [OutputItem<'a>],
    /// The input item of each output item.
    to: Vec<Option<usize>>,
    taken: Vec<bool>,
}

impl ItemPairing<'_, '_> {
    fn by_id(&mut self) {
        let mut candidates: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (at, returned) in self.returned.iter().enumerate() {
            if let Some(sent) = self.of_id(returned) {
                candidates.entry(sent).or_default().push(at);
            }
        }
        for (sent, returned) in candidates {
            // Most items are returned once, and need no comparison.
            if let [it] = returned[..] {
                self.pair(sent, it);
                continue;
            }
            let identity = self.sent[sent].item.resource().identity();
            let kept = |at: &&usize| self.returned[**at].resource.identity() == identity;
            let it = returned.iter().find(kept).or(returned.first()).copied();
            if let Some(it) = it {
                self.pair(sent, it);
            }
        }
    }

    /// Pairs the unpaired items that have the same key on both sides.
    fn by<K: Ord>(
        &mut self,
        of_sent: impl Fn(&InputItem<'_>) -> Option<K>,
        of_returned: impl Fn(&OutputItem<'_>) -> Option<K>,
    ) {
        let free = self.sent.iter().enumerate().filter(|(at, _)| !self.taken[*at]);
        let mut keys: BTreeMap<K, usize> = BTreeMap::new();
        for (at, sent) in free {
            if let Some(key) = of_sent(sent) {
                keys.entry(key).or_insert(at);
            }
        }
        for at in 0..self.returned.len() {
            // A copy of an input item is new, whatever path and index it copied along.
            let is_copy = self.of_id(&self.returned[at]).is_some();
            if self.to[at].is_none() && !is_copy {
                let sent = of_returned(&self.returned[at]).and_then(|key| keys.remove(&key));
                sent.into_iter().for_each(|sent| self.pair(sent, at));
            }
        }
    }

    /// Whether no item is left that could be paired.
    fn is_complete(&self) -> bool {
        self.to.iter().all(Option::is_some) || self.taken.iter().all(|taken| *taken)
    }

    fn of_id(&self, returned: &OutputItem<'_>) -> Option<usize> {
        let id: usize = returned.id.as_deref()?.parse().ok()?;
        (id < self.sent.len()).then_some(id)
    }

    fn pair(&mut self, sent: usize, returned: usize) {
        self.to[returned] = Some(sent);
        self.taken[sent] = true;
    }

    fn finish(self) -> ItemPairs {
        let mut found = ItemPairs::default();
        for (at, sent) in self.to.iter().enumerate() {
            match sent {
                Some(sent) => found.kept.push((*sent, at)),
                None => found.new.push(at),
            }
        }
        found.gone = (0..self.sent.len()).filter(|at| !self.taken[*at]).collect();
        found
    }
}

/// Spec: a function must not change internal annotations other than path and index. A missing annotation is not a change.
fn check_internal_annotations(
    sent: &InputItem<'_>,
    returned: &OutputItem<'_>,
) -> Result<(), Diagnostic> {
    for (name, value) in &sent.internal {
        let changed = returned.internal.iter().find(|(other, now)| other == name && now != value);
        if let Some((_, now)) = changed {
            let node = returned.resource.node;
            let kind = ResourceListKind::ChangedInternalAnnotation {
                name: name.clone(),
                resource: sent.item.resource().label(),
                old: value.clone(),
                new: now.to_string(),
            };
            return Err(Diagnostic::error(kind).at(node.document().file(), node.span()));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PackagePath;
    use crate::functions::resource_list::{InputList, InputOptions, Item, output};
    use krm_yaml::File;

    fn pod(name: &str, annotations: &str) -> String {
        format!(
            "{{apiVersion: v1, kind: Pod, metadata: {{name: {name}, annotations: {{{annotations}}}}}}}"
        )
    }

    /// The pairs of two pods of one file with these output items.
    fn found(returned: &[String]) -> Result<ItemPairs, Diagnostic> {
        let own = "internal.config.kubernetes.io/x: '1'";
        let items = ["a", "b"].into_iter().enumerate().map(|(index, name)| {
            let mut item = Item::parse(pod(name, own)).unwrap();
            (item.path, item.index) = (PackagePath::new("a.yaml").ok(), Some(index));
            item
        });
        let items: Vec<Item> = items.collect();
        let input = InputList::of(&items, &InputOptions::default()).unwrap();
        let text = format!("kind: ResourceList\nitems: [{}]\n", returned.join(", "));
        let theirs = File::parse(text).unwrap();
        let returned = output::parse(&theirs).unwrap().unwrap();
        pair_items(&input.sent, &returned)
    }

    fn id(id: u32) -> String {
        format!("internal.config.kubernetes.io/krm-id: '{id}'")
    }

    fn place(path: &str, index: u32) -> String {
        format!("config.kubernetes.io/path: {path}, config.kubernetes.io/index: '{index}'")
    }

    #[test]
    fn id_takes_precedence_over_path_and_identity() {
        let found =
            found(&[pod("x", &id(1)), pod("y", &format!("{}, {}", id(0), place("b.yaml", 7)))]);
        assert_eq!(
            found.unwrap(),
            ItemPairs { kept: vec![(1, 0), (0, 1)], new: vec![], gone: vec![] }
        );
    }

    #[test]
    fn of_two_items_with_one_id_the_one_with_the_same_identity_is_paired() {
        let place = place("a.yaml", 0);
        let copy = format!("{}, {place}", id(0));
        let found = found(&[pod("copy", &copy), pod("a", &copy)]).unwrap();
        assert_eq!(found, ItemPairs { kept: vec![(0, 1)], new: vec![0], gone: vec![1] });
    }

    #[test]
    fn items_without_id_are_paired_by_path_then_by_identity() {
        let found =
            found(&[pod("renamed", &place("a.yaml", 1)), pod("a", ""), pod("new", "")]).unwrap();
        assert_eq!(found, ItemPairs { kept: vec![(1, 0), (0, 1)], new: vec![2], gone: vec![] });
    }

    #[test]
    fn items_without_id_that_changed_places_are_paired_by_identity() {
        let found = found(&[pod("b", &place("a.yaml", 0)), pod("a", &place("a.yaml", 1))]).unwrap();
        assert_eq!(found, ItemPairs { kept: vec![(1, 0), (0, 1)], new: vec![], gone: vec![] });
    }

    #[test]
    fn changed_internal_annotation_is_an_error_but_a_missing_one_is_not() {
        let changed = format!("{}, internal.config.kubernetes.io/x: '2'", id(0));
        let error = found(&[pod("a", &changed)]).unwrap_err();
        assert_eq!(
            error.message(),
            "the function changed annotation `internal.config.kubernetes.io/x` of Pod a from `1` to `2`"
        );
        assert!(
            found(&[pod("a", &id(0)), pod("b", "internal.config.kubernetes.io/new: 'y'")]).is_ok()
        );
    }

    #[test]
    fn items_missing_from_the_output_are_gone() {
        assert_eq!(found(&[]).unwrap().gone, [0, 1]);
    }
}
