//! Comments of the destination that are lost with the value that they belong to.

use std::ops::Range;

use krm_yaml::NodeRef;

use super::state::MergeState;
use crate::merge::kinds::MergeKind;

impl<'a> MergeState<'a, '_> {
    /// Warns about the comments of an entry that is removed.
    pub(super) fn warn_about_removed_comments(
        &mut self,
        value: NodeRef<'a>,
        others: &[Option<NodeRef<'a>>],
    ) {
        let first = value.key().unwrap_or(value).index();
        self.warn_about_lost_comments(value, first..end(value), others);
    }

    /// Warns about the comments in a collection that is replaced. Those of the entry itself are merged.
    pub(super) fn warn_about_replaced_comments(
        &mut self,
        value: NodeRef<'a>,
        others: &[Option<NodeRef<'a>>],
    ) {
        self.warn_about_lost_comments(value, value.index() + 1..end(value), others);
    }

    /// Comments that another version has as well are not reported: it kept them, or decided to remove them.
    fn warn_about_lost_comments(
        &mut self,
        value: NodeRef<'a>,
        owners: Range<usize>,
        others: &[Option<NodeRef<'a>>],
    ) {
        let info = self.info(value);
        let comments: Vec<&'a str> = info.comments.owned_by(owners).collect();
        if comments.is_empty() {
            return;
        }
        let others: Vec<_> = others.iter().flatten().map(|node| self.info(*node)).collect();
        for comment in comments {
            if !others.iter().any(|info| info.has_comment(comment)) {
                self.warn(value, MergeKind::CommentRemoved { comment: comment.into() });
            }
        }
    }
}

/// The index behind the last node in a value.
fn end(value: NodeRef<'_>) -> usize {
    value.descendants().last().map_or(value.index(), NodeRef::index) + 1
}
