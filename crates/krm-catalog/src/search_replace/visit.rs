//! Goes through a resource and finds the fields that are looked for.

use krm_core::setters::can_have_line_comment;
use krm_sdk::Resource;
use krm_sdk::yaml::{CommentPosition, NodeKind, NodeRef, Path};

use super::path::Way;
use super::search::Search;

/// A field that was found, and what it gets.
pub(super) struct Found {
    pub(super) path: Path,
    pub(super) is_list: bool,
    /// Whether a comment can stand beside it.
    pub(super) can_have_line_comment: bool,
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
    fn node<'a>(&mut self, node: NodeRef<'a>, way: &mut Vec<Way<'a>>) {
        if let Some(scalar) = node.as_scalar() {
            if self.search.takes(way, scalar) {
                let fill = |text: &String| self.search.filled(text, &scalar.value());
                let value = self.search.put_value.as_ref().map(fill);
                let comment = self.search.put_comment.as_ref().map(fill);
                self.add(node, value, comment);
            } else if self.search.takes_part(scalar) {
                *self.parts += 1;
            }
        }
        if node.kind() == NodeKind::Sequence {
            if self.search.takes_list(way, node) {
                self.add(node, None, self.search.put_comment.clone());
            }
            for (at, item) in node.children().enumerate() {
                way.push(Way::Item(at, item));
                self.node(item, way);
                way.pop();
            }
        }
        for entry in node.as_mapping().into_iter().flat_map(|mapping| mapping.entries()) {
            let key = entry.key.as_scalar().map(|key| key.value()).unwrap_or_default();
            way.push(Way::Key(key.into_owned()));
            self.node(entry.value, way);
            way.pop();
        }
    }

    fn add(&mut self, node: NodeRef<'_>, value: Option<String>, comment: Option<String>) {
        self.found.push(Found {
            path: node.path(),
            is_list: node.kind() == NodeKind::Sequence,
            can_have_line_comment: !self.json && can_have_line_comment(node),
            value,
            comment,
        });
    }
}

/// The comments beside values, with where the values begin.
pub(super) fn comments(item: &Resource) -> Vec<(u32, String)> {
    if !item.text().contains('#') {
        return Vec::new();
    }
    let comments = item.root().document().comments().into_iter();
    let beside = comments.filter(|comment| comment.position == CommentPosition::Line);
    beside.filter_map(|it| Some((it.owner?.start(), it.text.to_owned()))).collect()
}
