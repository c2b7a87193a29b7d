//! Walks two trees side by side and collects what differs.

use std::collections::HashMap;

use krm_yaml::{CommentPosition, NodeKind, NodeRef, Path, Scalar, Segment};

use super::{ChangeKind, CommentChange, FieldChange, FormatChange, FormatKind, NodeDiff};
use crate::compare::sequences::{align_elements, list_type};
use crate::compare::{
    CommentIndex, CommentedEntry, Equality, Field, FieldSchema, Fields, ListOptions, key_name,
    scalars_equal,
};
use crate::print::one_line;

/// Documents do not nest deeper than this, but an alias may lead into the node that contains it.
const MAX_DEPTH: usize = 500;

const PLACES: [CommentPosition; 4] =
    [CommentPosition::Head, CommentPosition::Line, CommentPosition::Foot, CommentPosition::Free];

pub(super) fn diff_nodes<'a>(
    options: &ListOptions<'_>,
    [before, after]: [&CommentIndex<'a>; 2],
    old: NodeRef<'a>,
    new: NodeRef<'a>,
) -> NodeDiff<'a> {
    let own = old.document().node_count() + new.document().node_count();
    let remaining = own.saturating_mul(100).max(100_000);
    let path = Vec::new();
    let segments = own.saturating_mul(100);
    let (known, found) = (HashMap::new(), NodeDiff::default());
    let roots = (old, new);
    let mut walk = Walk {
        options,
        before,
        after,
        path,
        roots,
        remaining,
        segments,
        is_over: false,
        known,
        found,
    };
    let schema = FieldSchema::of_resource(options, new).or_resource(options, old);
    walk.node(old, new, None, &schema);
    walk.found
}

/// The comments of the documents themselves that differ.
pub(super) fn diff_document_comments<'a>(
    before: &CommentIndex<'a>,
    after: &CommentIndex<'a>,
) -> Vec<CommentChange<'a>> {
    diff_comments((before, None), (after, None), Path::default)
}

fn diff_comments<'a>(
    (before, old): (&CommentIndex<'a>, Option<NodeRef<'a>>),
    (after, new): (&CommentIndex<'a>, Option<NodeRef<'a>>),
    path: impl Fn() -> Path,
) -> Vec<CommentChange<'a>> {
    if before.is_empty() && after.is_empty() {
        return Vec::new();
    }
    let at = |place| (place, before.at(old, place), after.at(new, place));
    let changed = PLACES.into_iter().map(at).filter(|(_, old, new)| old != new);
    let change = |(place, old, new): (CommentPosition, &[&'a str], &[&'a str])| CommentChange {
        path: path(),
        place,
        old: old.to_vec(),
        new: new.to_vec(),
    };
    changed.map(change).collect()
}

enum PathStep<'a> {
    Key(NodeRef<'a>),
    Element(Segment),
}

struct Walk<'c, 'r, 'a> {
    options: &'c ListOptions<'r>,
    before: &'c CommentIndex<'a>,
    after: &'c CommentIndex<'a>,
    /// The steps to the current nodes. A path is built only where something differs, because most nodes do not.
    path: Vec<PathStep<'a>>,
    roots: Both<'a>,
    /// How many pairs of nodes may still be visited: aliases can expand a few bytes to billions of nodes.
    remaining: usize,
    /// How many segments the paths of further differences may have: those through aliases can be long and many.
    segments: usize,
    /// Whether no further difference is listed.
    is_over: bool,
    /// Which nodes that an alias leads to are equal, by their indexes: a long value may be compared thousands of times.
    known: HashMap<(usize, usize), bool>,
    found: NodeDiff<'a>,
}

type Both<'a> = (NodeRef<'a>, NodeRef<'a>);

impl<'r, 'a> Walk<'_, 'r, 'a> {
    fn path(&self) -> Path {
        let mut path = Path::default();
        for step in &self.path {
            path.push(match step {
                PathStep::Key(key) => Segment::Key(match key.resolve().as_scalar() {
                    Some(scalar) => scalar.value().into_owned(),
                    None => one_line(*key),
                }),
                PathStep::Element(segment) => segment.clone(),
            });
        }
        path
    }

    fn change(
        &mut self,
        kind: ChangeKind,
        old: Option<NodeRef<'a>>,
        new: Option<NodeRef<'a>>,
        parents: Option<Both<'a>>,
    ) {
        if self.has_space() {
            let path = self.path();
            self.found.fields.push(FieldChange { path, kind, old, new, parents });
        }
    }

    fn format(&mut self, kind: FormatKind, old: NodeRef<'a>, new: NodeRef<'a>) {
        if self.has_space() {
            let path = self.path();
            self.found.formatting.push(FormatChange { path, kind, old, new });
        }
    }

    /// Whether another difference can be listed. The first one that cannot is listed as a change of the whole, and ends the walk.
    fn has_space(&mut self) -> bool {
        if self.is_over {
            return false;
        }
        if let Some(left) = self.segments.checked_sub(self.path.len()) {
            self.segments = left;
            return true;
        }
        self.is_over = true;
        let (old, new) = (Some(self.roots.0), Some(self.roots.1));
        let (path, kind, parents) = (Path::default(), ChangeKind::Changed, None);
        self.found.fields.push(FieldChange { path, kind, old, new, parents });
        false
    }

    /// The number of differences so far.
    fn count(&self) -> usize {
        self.found.fields.len() + self.found.comments.len() + self.found.formatting.len()
    }

    fn comments(&mut self, old: NodeRef<'a>, new: NodeRef<'a>) {
        let sides = ((self.before, Some(old)), (self.after, Some(new)));
        let changes = diff_comments(sides.0, sides.1, || self.path());
        if !changes.is_empty() && self.has_space() {
            self.found.comments.extend(changes);
        }
    }

    fn node(
        &mut self,
        old: NodeRef<'a>,
        new: NodeRef<'a>,
        parents: Option<Both<'a>>,
        schema: &FieldSchema<'r>,
    ) {
        if self.is_over {
            return;
        }
        self.comments(old, new);
        let (was, is) = (old.resolve(), new.resolve());
        if self.remaining == 0 || self.path.len() > MAX_DEPTH {
            if was.text() != is.text() {
                self.change(ChangeKind::Changed, Some(old), Some(new), parents);
            }
            return;
        }
        self.remaining -= 1;
        let is_alias = [old, new].map(|node| node.kind() == NodeKind::Alias);
        let pair = (was.index(), is.index());
        let is_known = was.is_collection() && self.known.get(&pair) == Some(&true);
        if is_known && is_alias == [true; 2] {
            return self.style(was, is, parents);
        }
        let count = self.count();
        let is_equal = was.tag() == is.tag()
            && match (was.kind(), is.kind()) {
                (NodeKind::Mapping, NodeKind::Mapping) => {
                    self.mapping(was, is, schema);
                    true
                }
                (NodeKind::Sequence, NodeKind::Sequence) => {
                    self.sequence(was, is, schema);
                    true
                }
                _ => match (was.as_scalar(), is.as_scalar()) {
                    (Some(was), Some(is)) if is_alias.contains(&true) => {
                        let compare = || scalars_equal(was, is, Equality::Diff);
                        *self.known.entry(pair).or_insert_with(compare)
                    }
                    (Some(was), Some(is)) => scalars_equal(was, is, Equality::Diff),
                    _ => was.text() == is.text() && was.kind() == is.kind(),
                },
            };
        if is_equal && was.is_collection() && is_alias.contains(&true) {
            self.known.insert(pair, count == self.count());
        }
        if !is_equal {
            self.change(ChangeKind::Changed, Some(old), Some(new), parents);
        } else if is_alias[0] != is_alias[1] {
            self.format(FormatKind::Alias, old, new);
        } else {
            self.style(was, is, parents);
        }
    }

    fn style(&mut self, old: NodeRef<'a>, new: NodeRef<'a>, parents: Option<Both<'a>>) {
        // Everything inside flow style is in flow style, so only the outermost node that changed is reported.
        let is_outermost = parents.is_none_or(|(old, new)| old.is_block() == new.is_block());
        match (old.as_scalar(), new.as_scalar()) {
            (Some(was), Some(is)) if is_restyled(was, is) => {
                self.format(FormatKind::ScalarStyle, old, new);
            }
            (None, None) if is_outermost && old.is_block() != new.is_block() => {
                self.format(FormatKind::CollectionStyle, old, new);
            }
            _ => {}
        }
    }

    fn mapping(&mut self, old: NodeRef<'a>, new: NodeRef<'a>, schema: &FieldSchema<'r>) {
        let schema = schema.or_resource(self.options, new);
        let (before, after) = (Fields::of(old, true), Fields::of(new, true));
        let parents = Some((old, new));
        let mut positions = Vec::with_capacity(before.len());
        for (name, field) in before.iter() {
            self.path.push(PathStep::Key(field.key));
            match after.get(name) {
                Some(other) => {
                    positions.extend(after.position(name));
                    self.comments(field.key, other.key);
                    let schema = self.field_schema(&schema, name, [field, other]);
                    self.node(field.value, other.value, parents, &schema);
                }
                None => self.change(ChangeKind::Removed, Some(field.value), None, parents),
            }
            self.path.pop();
        }
        for (_, field) in after.iter().filter(|(name, _)| before.get(name).is_none()) {
            self.path.push(PathStep::Key(field.key));
            self.change(ChangeKind::Added, None, Some(field.value), parents);
            self.path.pop();
        }
        if before.has_merge_key != after.has_merge_key {
            self.format(FormatKind::Alias, old, new);
        } else if !positions.is_sorted() {
            self.format(FormatKind::KeyOrder, old, new);
        }
    }

    /// The schema of a field that both mappings have.
    fn field_schema(
        &self,
        schema: &FieldSchema<'r>,
        name: &str,
        [old, new]: [Field<'a>; 2],
    ) -> FieldSchema<'r> {
        let schema = schema.field(name);
        if !old.value.resolve().is_collection() || !new.value.resolve().is_collection() {
            return schema;
        }
        schema.with_comments(comments_of(self.before, old).chain(comments_of(self.after, new)))
    }

    /// The names of the fields on the path, by which options name a list.
    fn field_path(&self) -> String {
        let names = self.path.iter().filter_map(|step| match step {
            PathStep::Key(key) => Some(key_name(*key)),
            PathStep::Element(_) => None,
        });
        names.collect::<Vec<_>>().join(".")
    }

    fn sequence(&mut self, old: NodeRef<'a>, new: NodeRef<'a>, schema: &FieldSchema<'r>) {
        let sequences: [Vec<_>; 2] = [old, new].map(|sequence| sequence.children().collect());
        let list_type = list_type(self.options, &self.field_path(), schema, &sequences);
        let aligned = align_elements(&list_type, [old, new]);
        let [was, is] = sequences;
        let schema = schema.item();
        for (number, (from, to)) in aligned.pairs.iter().enumerate() {
            let segment = aligned.segments.get(number).cloned().flatten();
            let position = to.or(*from).unwrap_or_default();
            self.path.push(PathStep::Element(segment.unwrap_or(Segment::Index(position))));
            let parents = Some((old, new));
            match (from.map(|at| was[at]), to.map(|at| is[at])) {
                (Some(before), Some(after)) => self.node(before, after, parents, &schema),
                (Some(before), None) => {
                    self.change(ChangeKind::Removed, Some(before), None, parents);
                }
                (None, after) => self.change(ChangeKind::Added, None, after, parents),
            }
            self.path.pop();
        }
        if aligned.is_reordered {
            self.change(ChangeKind::Reordered, Some(old), Some(new), None);
        }
    }
}

/// The comments of a field that may hold a schema.
fn comments_of<'a>(index: &CommentIndex<'a>, field: Field<'a>) -> impl Iterator<Item = &'a str> {
    let entry = CommentedEntry { key: Some(field.key), value: field.value };
    index.beside(entry).into_iter().chain(index.above(entry))
}

/// Whether a scalar with the same value is written differently. Where a multi-line scalar breaks its lines is layout, not style.
fn is_restyled(old: Scalar<'_>, new: Scalar<'_>) -> bool {
    let is_one_line = |scalar: Scalar<'_>| !scalar.raw().contains(['\n', '\r']);
    old.style() != new.style() || (is_one_line(old) && is_one_line(new) && old.raw() != new.raw())
}
