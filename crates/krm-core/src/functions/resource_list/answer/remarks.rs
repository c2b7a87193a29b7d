//! The comments of a document by what they stand at, and which of those that came back are new.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

use krm_yaml::{Comment, CommentPosition, DocumentRef, NodeRef};

/// An entry: a value with its key, or an item.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slot<'a> {
    pub(super) key: Option<NodeRef<'a>>,
    pub(super) value: NodeRef<'a>,
}

/// The comments of one document.
#[derive(Debug, Default)]
pub(in crate::functions::resource_list) struct Remarks<'a> {
    /// By the index of their owner.
    above: HashMap<usize, Vec<&'a str>>,
    beside: HashMap<usize, &'a str>,
    pub(super) head: Vec<Comment<'a>>,
    /// All of them in order, with the index of their owner.
    all: Vec<(Option<usize>, &'a str)>,
}

impl<'a> Remarks<'a> {
    pub(in crate::functions::resource_list) fn of(document: DocumentRef<'a>) -> Self {
        let mut remarks = Self::default();
        if !document.text().contains('#') {
            return remarks;
        }
        for comment in document.comments() {
            let text = comment.text.trim_end();
            let owner = comment.owner.map(NodeRef::index);
            remarks.all.push((owner, text));
            match (owner, comment.position) {
                (None, CommentPosition::Head) => remarks.head.push(comment),
                (Some(owner), CommentPosition::Head) => {
                    remarks.above.entry(owner).or_default().push(text);
                }
                (Some(owner), CommentPosition::Line) => {
                    remarks.beside.entry(owner).or_insert(text);
                }
                _ => {}
            }
        }
        remarks
    }

    pub(super) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// The lines above an entry.
    pub(super) fn above(&self, slot: Slot<'a>) -> &[&'a str] {
        let owner = slot.key.unwrap_or(slot.value).index();
        self.above.get(&owner).map_or(&[], Vec::as_slice)
    }

    /// The comment beside an entry.
    pub(super) fn beside(&self, slot: Slot<'a>) -> Option<&'a str> {
        let mut nodes = slot.key.into_iter().chain([slot.value]);
        nodes.find_map(|node| self.beside.get(&node.index()).copied())
    }

    /// How often each comment is there, without those of nodes that go.
    pub(super) fn staying(&self, gone: &[Range<usize>]) -> BTreeMap<&'a str, usize> {
        let mut counts = BTreeMap::new();
        for (owner, text) in &self.all {
            if !owner.is_some_and(|owner| gone.iter().any(|range| range.contains(&owner))) {
                *counts.entry(*text).or_insert(0) += 1;
            }
        }
        counts
    }

    /// Whether a comment stands anywhere.
    pub(super) fn has(&self, text: &str) -> bool {
        self.all.iter().any(|(_, it)| *it == text)
    }

    /// The lines that should stand where these stand, if something is new: what was there stays where it still came back,
    /// what stands elsewhere already does not come again.
    pub(super) fn news(&self, ours: &[&'a str], theirs: &[&'a str]) -> Option<Vec<&'a str>> {
        let is_new = |line: &&'a str| !self.has(line);
        if !theirs.iter().any(is_new) {
            return None;
        }
        let wanted = |line: &&&'a str| ours.contains(line) || is_new(line);
        Some(theirs.iter().filter(wanted).copied().collect())
    }
}
