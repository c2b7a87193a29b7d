//! Searching a resource.

use krm_core::setters::can_get_line_comment;
use krm_sdk::Resource;
use krm_sdk::yaml::{CommentPosition, NodeKind, NodeRef, Path};

use super::path::FieldSegment;
use super::search::Search;

/// A field that was found, and what it gets.
pub(super) struct Found {
    pub(super) path: Path,
    pub(super) is_list: bool,
    /// Whether a comment can stand beside it.
    pub(super) can_get_line_comment: bool,
    pub(super) value: Option<String>,
    pub(super) comment: Option<String>,
}

/// The fields of a resource that are looked for, in order; counts values that hold it beside other text.
pub(super) fn find(item: &Resource, search: &Search, parts: &mut usize) -> Vec<Found> {
    let json = item.path().is_some_and(|path| path.is_json());
    let mut visit = Visit { search, parts, json, found: Vec::new() };
    visit.node(item.root(), &mut Vec::new());
    visit.found
}

struct Visit<'s> {
    search: &'s Search,
    parts: &'s mut usize,
    json: bool,
    found: Vec<Found>,
}

impl Visit<'_> {
    /// As deep as the text is nested, which the reader bounds.
    fn node<'a>(&mut self, node: NodeRef<'a>, path: &mut Vec<FieldSegment<'a>>) {
        if let Some(scalar) = node.as_scalar() {
            if self.search.matches(path, scalar) {
                let expand = |text: &String| self.search.expand_groups(text, &scalar.value());
                let value = self.search.put_value.as_ref().map(expand);
                let comment = self.search.put_comment.as_ref().map(expand);
                self.add(node, value, comment);
            } else if self.search.matches_part(scalar) {
                *self.parts += 1;
            }
        }
        if node.kind() == NodeKind::Sequence {
            if self.search.matches_sequence(path, node) {
                self.add(node, None, self.search.put_comment.clone());
            }
            for (at, item) in node.children().enumerate() {
                path.push(FieldSegment::Element(at, item));
                self.node(item, path);
                path.pop();
            }
        }
        for entry in node.as_mapping().into_iter().flat_map(|mapping| mapping.entries()) {
            let key = entry.key.as_scalar().map(|key| key.value()).unwrap_or_default();
            path.push(FieldSegment::Key(key.into_owned()));
            self.node(entry.value, path);
            path.pop();
        }
    }

    fn add(&mut self, node: NodeRef<'_>, value: Option<String>, comment: Option<String>) {
        self.found.push(Found {
            path: node.path(),
            is_list: node.kind() == NodeKind::Sequence,
            can_get_line_comment: !self.json && can_get_line_comment(node),
            value,
            comment,
        });
    }
}

/// Line comments with the offsets of their values.
pub(super) fn comments(item: &Resource) -> Vec<(u32, String)> {
    if !item.text().contains('#') {
        return Vec::new();
    }
    let comments = item.root().document().comments().into_iter();
    let line_comments = comments.filter(|comment| comment.position == CommentPosition::Line);
    line_comments.filter_map(|it| Some((it.owner?.start(), it.text.to_owned()))).collect()
}
