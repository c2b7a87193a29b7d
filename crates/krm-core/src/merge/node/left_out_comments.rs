//! Comments of upstream that belong to no entry, and so are not merged with one: they are reported.

use krm_yaml::{Comment, CommentPosition, NodeRef};

/// The first line of each comment that upstream added apart from entries, and that is not in the merged text.
///
/// Nothing says where such a comment belongs in local, whose entries may differ. Comments at the head and at the end of a document are
/// merged, and so are those of entries.
pub(in crate::merge) fn left_out_comments<'a>(
    base: NodeRef<'a>,
    upstream: NodeRef<'a>,
    merged: &str,
) -> Vec<&'a str> {
    let [old, new] = [base, upstream].map(|root| root.document().text());
    // Attributing comments needs a pass over the whole document, so it is done only if a comment is missing.
    let is_missing = |(at, _): (usize, &str)| {
        let comment = new[at..].lines().next().unwrap_or_default().trim_end();
        !old.contains(comment) && !merged.contains(comment)
    };
    let is_part = base.parent().is_some() || upstream.parent().is_some();
    if is_part || old == new || !new.match_indices('#').any(is_missing) {
        return Vec::new();
    }
    let is_apart =
        |it: &Comment<'_>| matches!(it.position, CommentPosition::Free | CommentPosition::Foot);
    let comments = upstream.document().comments().into_iter().filter(is_apart);
    let is_left_out =
        |comment: &Comment<'_>| !old.contains(comment.text) && !merged.contains(comment.text);
    let text = upstream.document().file().text();
    let mut first_lines = Vec::new();
    let mut end_of_last = None;
    for comment in comments.filter(is_left_out) {
        let continues_last = end_of_last.replace(comment.span.end).is_some_and(|end| {
            text[end as usize..comment.span.start as usize].matches('\n').count() == 1
        });
        if !continues_last {
            first_lines.push(comment.text);
        }
    }
    first_lines
}
