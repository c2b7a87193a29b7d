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
    let mut left_out: Vec<Comment<'a>> = Vec::new();
    let mut first_lines = Vec::new();
    for comment in comments.filter(is_left_out) {
        let text = upstream.document().file().text();
        let between =
            |last: &Comment<'_>| &text[last.span.end as usize..comment.span.start as usize];
        let goes_on = left_out.last().is_some_and(|last| between(last).matches('\n').count() == 1);
        left_out.push(comment);
        if !goes_on {
            first_lines.push(comment.text);
        }
    }
    first_lines
}
