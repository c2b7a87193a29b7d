//! Comments below the last entry of a document. They belong to no entry, so they are merged as one comment of the document.

use krm_yaml::{Comment, DocumentRef, File, NodeRef};

use super::markers::MarkerLines;
use crate::compare::fingerprint;

/// A new comment at the end of a document of local.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::merge) struct FooterChange {
    /// The index of the document.
    document: usize,
    /// The comment with the blank lines before it; empty where it is removed.
    text: String,
}

/// The change of the footer that upstream made and local did not. Where both made one, local's comment stays.
pub(in crate::merge) fn footer_change(
    base: NodeRef<'_>,
    local: NodeRef<'_>,
    upstream: NodeRef<'_>,
) -> Option<FooterChange> {
    let roots = [base, local, upstream];
    if roots.iter().any(|root| root.parent().is_some()) {
        return None;
    }
    let texts = roots.map(|root| root.document().text());
    if texts.iter().all(|text| !text.contains('#')) || texts[0] == texts[2] {
        return None;
    }
    // Finding the comments needs a pass over the whole document, and most changes are not at its end.
    let ends = [base, upstream].map(|root| {
        let span = root.document().span();
        &root.document().file().text()[root.end() as usize..span.end as usize]
    });
    if ends[0] == ends[1] {
        return None;
    }
    let [old, ours, theirs] = roots.map(|root| Footer::of(root.document()));
    if old.lines() == theirs.lines() || ours.lines() != old.lines() {
        return None;
    }
    Some(FooterChange { document: local.document().index(), text: theirs.text().to_owned() })
}

/// The footer of a document: the comments after its root.
struct Footer<'a> {
    document: DocumentRef<'a>,
    comments: Vec<Comment<'a>>,
}

impl<'a> Footer<'a> {
    fn of(document: DocumentRef<'a>) -> Self {
        let end = document.root().map_or(u32::MAX, |root| root.end());
        let text = document.file().text();
        let mut markers = MarkerLines::default();
        let comments = document.comments().into_iter().filter(|comment| {
            !markers.is_marker(comment.text)
                && comment.span.start >= end
                && text[..comment.span.start as usize].trim_end_matches([' ', '\t']).ends_with('\n')
        });
        Self { document, comments: comments.collect() }
    }

    fn lines(&self) -> Vec<&'a str> {
        self.comments.iter().map(|comment| comment.text.trim_end()).collect()
    }

    /// From the blank lines before the first comment to the end of the last one.
    fn range(&self) -> Option<std::ops::Range<usize>> {
        let (first, last) = (self.comments.first()?, self.comments.last()?);
        let text = self.document.file().text();
        let before = &text[..first.span.start as usize];
        let content = before.trim_end_matches([' ', '\t', '\r', '\n']).len();
        let line_end = text[content..].find('\n').map_or(content, |at| content + at + 1);
        Some(line_end..last.span.end as usize)
    }

    fn text(&self) -> &'a str {
        self.range().map_or("", |range| &self.document.file().text()[range])
    }
}

/// Writes footers into a text whose documents are those of local. A footer that would change what a document means is left out.
pub(in crate::merge) fn write_footers(mut text: String, changes: &[FooterChange]) -> String {
    for change in changes {
        let Ok(file) = File::parse(text.clone()) else { return text };
        let Some(document) = file.document(change.document) else { continue };
        let new = with_footer(document, &change.text);
        if has_same_meaning(&file, &new) {
            text = new;
        }
    }
    text
}

fn with_footer(document: DocumentRef<'_>, footer: &str) -> String {
    let text = document.file().text();
    let footer = match text.contains("\r\n") {
        true => footer.replace("\r\n", "\n").replace('\n', "\r\n"),
        false => footer.replace("\r\n", "\n"),
    };
    if let Some(range) = Footer::of(document).range() {
        let end = match footer.is_empty() {
            true => text[range.end..].find('\n').map_or(text.len(), |at| range.end + at + 1),
            false => range.end,
        };
        return [&text[..range.start], &footer, &text[end..]].concat();
    }
    let end = document.span().end as usize;
    let body = text[..end].trim_end_matches([' ', '\t', '\r', '\n']);
    let body = body.strip_suffix("\n...").unwrap_or(body).len();
    let at = text[body..].find('\n').map_or(text.len(), |at| body + at + 1);
    let line_break = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let before = if text[..at].ends_with('\n') { "" } else { line_break };
    [&text[..at], before, &footer, line_break, &text[at..]].concat()
}

fn has_same_meaning(old: &File, new: &str) -> bool {
    let Ok(new) = File::parse(new.to_owned()) else { return false };
    let prints = |file: &File| -> Vec<Option<u64>> {
        file.documents().map(|document| document.root().map(fingerprint::of)).collect()
    };
    new.errors().next().is_none() && prints(old) == prints(&new)
}
