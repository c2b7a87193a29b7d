//! The comments of a document by their owner, looked up once for all that is compared in it.

use std::collections::BTreeMap;

use krm_yaml::{CommentPosition, DocumentRef, NodeRef, Path};

use super::CommentChange;

/// An owner: where it starts, and whether it is a collection, which starts where its first key does.
type Owner = Option<(u32, bool)>;

/// The comments of the document that was looked at last.
#[derive(Debug, Default)]
pub(super) struct Comments<'a> {
    document: Option<DocumentId>,
    found: BTreeMap<(Owner, u8), Vec<&'a str>>,
}

/// Files stay where they are while they are compared.
type DocumentId = (*const krm_yaml::File, usize);

const PLACES: [CommentPosition; 4] =
    [CommentPosition::Head, CommentPosition::Line, CommentPosition::Foot, CommentPosition::Free];

impl<'a> Comments<'a> {
    pub(super) fn look_at(&mut self, document: DocumentRef<'a>) {
        let id = (std::ptr::from_ref(document.file()), document.index());
        if self.document == Some(id) {
            return;
        }
        self.document = Some(id);
        self.found.clear();
        if !document.text().contains('#') {
            return;
        }
        for comment in document.comments() {
            let owner = comment.owner.map(owner);
            self.found.entry((owner, comment.position as u8)).or_default().push(comment.text);
        }
    }

    /// The comments beside and above an entry.
    pub(super) fn on(&self, key: NodeRef<'a>, value: NodeRef<'a>) -> impl Iterator<Item = &'a str> {
        let [key, value] = [key, value].map(|node| Some(owner(node)));
        let beside = [key, value].map(|owner| self.of(owner, CommentPosition::Line));
        let above = self.of(key, CommentPosition::Head);
        beside.into_iter().chain([above]).flatten().copied()
    }

    fn of(&self, owner: Owner, place: CommentPosition) -> &[&'a str] {
        self.found.get(&(owner, place as u8)).map_or(&[], Vec::as_slice)
    }
}

fn owner(node: NodeRef<'_>) -> (u32, bool) {
    (node.start(), node.is_collection())
}

/// What changed in the comments of two nodes that are one.
pub(super) fn compare<'a>(
    (before, old): (&Comments<'a>, NodeRef<'a>),
    (after, new): (&Comments<'a>, NodeRef<'a>),
    path: impl Fn() -> Path,
) -> Vec<CommentChange<'a>> {
    if before.found.is_empty() && after.found.is_empty() {
        return Vec::new();
    }
    changes(before, Some(owner(old)), after, Some(owner(new)), path)
}

/// What changed in the comments that belong to the document.
pub(super) fn of_document<'a>(
    before: &Comments<'a>,
    after: &Comments<'a>,
) -> Vec<CommentChange<'a>> {
    changes(before, None, after, None, Path::default)
}

fn changes<'a>(
    before: &Comments<'a>,
    was: Owner,
    after: &Comments<'a>,
    is: Owner,
    path: impl Fn() -> Path,
) -> Vec<CommentChange<'a>> {
    let of = |place| (place, before.of(was, place), after.of(is, place));
    let differing = PLACES.into_iter().map(of).filter(|(_, old, new)| old != new);
    let change = |(place, old, new): (CommentPosition, &[&'a str], &[&'a str])| CommentChange {
        path: path(),
        place,
        old: old.to_vec(),
        new: new.to_vec(),
    };
    differing.map(change).collect()
}
