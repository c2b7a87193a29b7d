//! Searching a resource.

use std::collections::HashMap;

use krm_core::setters::can_get_line_comment;
use krm_sdk::Resource;
use krm_sdk::yaml::{CommentPosition, NodeKind, NodeRef, Path, Segment};

use super::path::FieldSegment;
use super::search::Search;
use crate::value_budget::ValueBudget;

/// A field that was found, and what it gets.
pub(super) struct Found {
    /// The number of the node, in the order of the text.
    pub(super) number: usize,
    pub(super) path: Path,
    pub(super) is_list: bool,
    /// Whether a comment can stand beside it.
    pub(super) can_get_line_comment: bool,
    pub(super) value: Option<String>,
    pub(super) comment: Option<String>,
}

/// The fields of a resource that are looked for, in order; counts values that hold it beside other text. Incomplete if
/// the budget is exceeded.
pub(super) fn find(
    item: &Resource,
    search: &Search,
    parts: &mut usize,
    budget: &mut ValueBudget,
) -> Vec<Found> {
    let json = item.path().is_some_and(|path| path.is_json());
    let first = item.root().index();
    let mut visit = Visit { search, parts, budget, json, first, found: Vec::new() };
    visit.node(item.root(), &mut Vec::new());
    visit.found
}

struct Visit<'s> {
    search: &'s Search,
    parts: &'s mut usize,
    budget: &'s mut ValueBudget,
    json: bool,
    /// The index of the root.
    first: usize,
    found: Vec<Found>,
}

impl Visit<'_> {
    /// As deep as the text is nested, which the reader bounds.
    fn node<'a>(&mut self, node: NodeRef<'a>, path: &mut Vec<FieldSegment<'a>>) {
        if let Some(scalar) = node.as_scalar() {
            if self.search.matches(path, scalar) {
                self.add_scalar(node, path, &scalar.value());
            } else if self.search.matches_part(scalar) {
                *self.parts += 1;
            }
        }
        if node.kind() == NodeKind::Sequence {
            if self.search.matches_sequence(path, node) {
                self.add(node, path, None, self.search.put_comment.clone());
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

    fn add_scalar(&mut self, node: NodeRef<'_>, path: &[FieldSegment<'_>], old: &str) {
        let (search, rest) = (self.search, self.budget.rest());
        let expand = |text: &Option<String>| {
            text.as_ref().map(|text| search.expand_groups(text, old, rest)).transpose()
        };
        match expand(&search.put_value).and_then(|value| Ok((value, expand(&search.put_comment)?)))
        {
            Ok((value, comment)) => self.add(node, path, value, comment),
            Err(length) => _ = self.budget.charge(length),
        }
    }

    fn add(
        &mut self,
        node: NodeRef<'_>,
        path: &[FieldSegment<'_>],
        value: Option<String>,
        comment: Option<String>,
    ) {
        let length = |text: &Option<String>| text.as_ref().map_or(0, String::len);
        if !self.budget.charge(length(&value) + length(&comment)) {
            return;
        }
        self.found.push(Found {
            number: node.index() - self.first,
            path: path_of(path),
            is_list: node.kind() == NodeKind::Sequence,
            can_get_line_comment: !self.json && can_get_line_comment(node),
            value,
            comment,
        });
    }
}

/// The path of a field. `NodeRef::path` counts the entries before it, which takes quadratic time for all fields of a mapping.
fn path_of(segments: &[FieldSegment<'_>]) -> Path {
    let mut path = Path::default();
    for segment in segments {
        path.push(match segment {
            FieldSegment::Key(key) => Segment::Key(key.clone()),
            FieldSegment::Element(at, _) => Segment::Index(*at),
        });
    }
    path
}

/// Line comments with the offsets of their values.
pub(super) fn comments(item: &Resource) -> HashMap<u32, String> {
    if !item.text().contains('#') {
        return HashMap::new();
    }
    let comments = item.root().document().comments().into_iter();
    let line_comments = comments.filter(|comment| comment.position == CommentPosition::Line);
    line_comments.filter_map(|it| Some((it.owner?.start(), it.text.to_owned()))).collect()
}
