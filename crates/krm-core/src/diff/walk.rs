//! Walks two trees side by side and notes what is different.

use std::borrow::Cow;

use krm_yaml::{Entry, NodeKind, NodeRef, Path, Scalar, ScalarType, Segment};

use super::comments::{self, Comments};
use super::entries::Entries;
use super::lists;
use super::{Difference, FieldChange, Format, FormatChange, What};
use crate::merge::node::{Rules, Shape, kind_of};

/// Deeper than any text nests; an alias may stand inside what it names.
const MOST_DEPTH: usize = 500;

pub(super) fn walk<'a>(
    rules: &Rules<'_>,
    [before, after]: [&Comments<'a>; 2],
    old: NodeRef<'a>,
    new: NodeRef<'a>,
) -> Difference<'a> {
    let own = old.document().node_count() + new.document().node_count();
    let budget = own.saturating_mul(100).max(100_000);
    let steps = Vec::new();
    let mut walk = Walk { rules, before, after, steps, budget, found: Difference::default() };
    walk.node(old, new, None, &Shape::of_resource(rules, new).or_resource(rules, old));
    walk.found
}

enum Step<'a> {
    Key(Cow<'a, str>),
    Element(Segment),
}

struct Walk<'c, 'r, 'a> {
    rules: &'c Rules<'r>,
    before: &'c Comments<'a>,
    after: &'c Comments<'a>,
    /// The way to what is looked at; a path is made only where something is found.
    steps: Vec<Step<'a>>,
    /// How many pairs of nodes may still be looked at: aliases can make few bytes mean very much.
    budget: usize,
    found: Difference<'a>,
}

type Both<'a> = (NodeRef<'a>, NodeRef<'a>);

impl<'r, 'a> Walk<'_, 'r, 'a> {
    fn path(&self) -> Path {
        let mut path = Path::default();
        for step in &self.steps {
            path.push(match step {
                Step::Key(name) => Segment::Key(name.to_string()),
                Step::Element(step) => step.clone(),
            });
        }
        path
    }

    fn change(
        &mut self,
        what: What,
        old: Option<NodeRef<'a>>,
        new: Option<NodeRef<'a>>,
        within: Option<Both<'a>>,
    ) {
        let path = self.path();
        self.found.fields.push(FieldChange { path, what, old, new, within });
    }

    fn format(&mut self, format: Format, old: NodeRef<'a>, new: NodeRef<'a>) {
        let path = self.path();
        self.found.formatting.push(FormatChange { path, format, old, new });
    }

    fn comments(&mut self, old: NodeRef<'a>, new: NodeRef<'a>) {
        let changes = comments::compare((self.before, old), (self.after, new), || self.path());
        self.found.comments.extend(changes);
    }

    fn node(
        &mut self,
        old: NodeRef<'a>,
        new: NodeRef<'a>,
        within: Option<Both<'a>>,
        shape: &Shape<'r>,
    ) {
        self.comments(old, new);
        let (was, is) = (old.resolve(), new.resolve());
        if self.budget == 0 || self.steps.len() > MOST_DEPTH {
            if was.text() != is.text() {
                self.change(What::Changed, Some(old), Some(new), within);
            }
            return;
        }
        self.budget -= 1;
        let is_same = was.tag() == is.tag()
            && match (was.kind(), is.kind()) {
                (NodeKind::Mapping, NodeKind::Mapping) => {
                    self.mapping(was, is, shape);
                    true
                }
                (NodeKind::Sequence, NodeKind::Sequence) => {
                    self.sequence(was, is, shape);
                    true
                }
                _ => match (was.as_scalar(), is.as_scalar()) {
                    (Some(was), Some(is)) => means(was, is),
                    _ => was.text() == is.text() && was.kind() == is.kind(),
                },
            };
        if !is_same {
            self.change(What::Changed, Some(old), Some(new), within);
        } else if (old.kind() == NodeKind::Alias) != (new.kind() == NodeKind::Alias) {
            self.format(Format::Alias, old, new);
        } else {
            self.style(was, is, within);
        }
    }

    fn style(&mut self, old: NodeRef<'a>, new: NodeRef<'a>, within: Option<Both<'a>>) {
        // What stands in brackets has brackets inside.
        let is_alone = within.is_none_or(|(old, new)| old.is_block() == new.is_block());
        match (old.as_scalar(), new.as_scalar()) {
            (Some(was), Some(is)) if is_restyled(was, is) => self.format(Format::Style, old, new),
            (None, None) if is_alone && old.is_block() != new.is_block() => {
                self.format(Format::CollectionStyle, old, new);
            }
            _ => {}
        }
    }

    fn mapping(&mut self, old: NodeRef<'a>, new: NodeRef<'a>, shape: &Shape<'r>) {
        let shape = shape.or_resource(self.rules, new);
        let (before, after) = (Entries::of(old), Entries::of(new));
        let mut places = Vec::with_capacity(before.list.len());
        for (name, entry) in &before.list {
            self.steps.push(Step::Key(name.clone()));
            match after.get(name) {
                Some((at, other)) => {
                    places.push(at);
                    self.comments(entry.key, other.key);
                    let shape = self.field(&shape, name, [*entry, other]);
                    self.node(entry.value, other.value, Some((old, new)), &shape);
                }
                None => self.change(What::Removed, Some(entry.value), None, Some((old, new))),
            }
            self.steps.pop();
        }
        for (name, entry) in after.list.iter().filter(|(name, _)| before.get(name).is_none()) {
            self.steps.push(Step::Key(name.clone()));
            self.change(What::Added, None, Some(entry.value), Some((old, new)));
            self.steps.pop();
        }
        if before.is_merged != after.is_merged {
            self.format(Format::Alias, old, new);
        } else if !places.is_sorted() {
            self.format(Format::KeyOrder, old, new);
        }
    }

    /// What is known of a field that both have.
    fn field(&self, shape: &Shape<'r>, name: &str, [old, new]: [Entry<'a>; 2]) -> Shape<'r> {
        let shape = shape.field(name);
        if !old.value.resolve().is_collection() || !new.value.resolve().is_collection() {
            return shape;
        }
        let on_old = self.before.on(old.key, old.value);
        shape.said(on_old.chain(self.after.on(new.key, new.value)))
    }

    /// The names of the fields on the way, for the rules of lists.
    fn field_path(&self) -> String {
        let names = self.steps.iter().filter_map(|step| match step {
            Step::Key(name) => Some(&**name),
            Step::Element(_) => None,
        });
        names.collect::<Vec<_>>().join(".")
    }

    fn sequence(&mut self, old: NodeRef<'a>, new: NodeRef<'a>, shape: &Shape<'r>) {
        let lists: [Vec<_>; 2] = [old, new].map(|list| list.children().collect());
        let kind = kind_of(self.rules, &self.field_path(), shape, &lists).kind;
        let aligned = lists::align(&kind, [old, new]);
        let [was, is] = lists;
        let shape = shape.item();
        for (number, (from, to)) in aligned.pairs.iter().enumerate() {
            let step = aligned.steps.get(number).cloned().flatten();
            let position = to.or(*from).unwrap_or_default();
            self.steps.push(Step::Element(step.unwrap_or(Segment::Index(position))));
            let within = Some((old, new));
            match (from.map(|at| was[at]), to.map(|at| is[at])) {
                (Some(before), Some(after)) => self.node(before, after, within, &shape),
                (Some(before), None) => self.change(What::Removed, Some(before), None, within),
                (None, after) => self.change(What::Added, None, after, within),
            }
            self.steps.pop();
        }
        if aligned.is_reordered {
            self.change(What::Reordered, Some(old), Some(new), None);
        }
    }
}

/// Whether two scalars mean the same to readers of YAML 1.2 and of 1.1.
fn means(old: Scalar<'_>, new: Scalar<'_>) -> bool {
    let resolved = old.resolve();
    resolved == new.resolve()
        && old.resolve_1_1() == new.resolve_1_1()
        && match resolved {
            ScalarType::String | ScalarType::Int(None) => old.value() == new.value(),
            _ => true,
        }
}

/// Whether a scalar of the same meaning is written otherwise. How a text is broken into lines is layout.
fn is_restyled(old: Scalar<'_>, new: Scalar<'_>) -> bool {
    let is_one_line = |scalar: Scalar<'_>| !scalar.raw().contains(['\n', '\r']);
    old.style() != new.style() || (is_one_line(old) && is_one_line(new) && old.raw() != new.raw())
}
