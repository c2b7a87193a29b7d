//! Walks two trees side by side and notes what is different.

use std::borrow::Cow;

use krm_yaml::{NodeKind, NodeRef, Path, Resolved, Scalar, Segment};

use super::comments::{self, Comments};
use super::entries::Entries;
use super::lists;
use super::{Difference, FieldChange, Format, FormatChange, What};

/// Deeper than any text nests; an alias may stand inside what it names.
const MOST_DEPTH: usize = 500;

pub(super) fn walk<'a>(
    before: &Comments<'a>,
    after: &Comments<'a>,
    old: NodeRef<'a>,
    new: NodeRef<'a>,
) -> Difference<'a> {
    let own = old.document().node_count() + new.document().node_count();
    let budget = own.saturating_mul(100).max(100_000);
    let steps = Vec::new();
    let mut walk = Walk { before, after, steps, budget, found: Difference::default() };
    walk.node(old, new, None);
    walk.found
}

enum Step<'a> {
    Key(Cow<'a, str>),
    Item(usize),
    Match(&'static str, Cow<'a, str>),
}

struct Walk<'c, 'a> {
    before: &'c Comments<'a>,
    after: &'c Comments<'a>,
    /// The way to what is looked at; a path is made only where something is found.
    steps: Vec<Step<'a>>,
    /// How many pairs of nodes may still be looked at: aliases can make few bytes mean very much.
    budget: usize,
    found: Difference<'a>,
}

type Both<'a> = (NodeRef<'a>, NodeRef<'a>);

impl<'a> Walk<'_, 'a> {
    fn path(&self) -> Path {
        let mut path = Path::default();
        for step in &self.steps {
            path.push(match step {
                Step::Key(name) => Segment::Key(name.to_string()),
                Step::Item(at) => Segment::Index(*at),
                Step::Match(key, value) => {
                    Segment::Match { key: (*key).to_owned(), value: value.to_string() }
                }
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

    fn node(&mut self, old: NodeRef<'a>, new: NodeRef<'a>, within: Option<Both<'a>>) {
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
                    self.mapping(was, is);
                    true
                }
                (NodeKind::Sequence, NodeKind::Sequence) => {
                    self.sequence(was, is);
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
                self.format(Format::Notation, old, new);
            }
            _ => {}
        }
    }

    fn mapping(&mut self, old: NodeRef<'a>, new: NodeRef<'a>) {
        let (before, after) = (Entries::of(old), Entries::of(new));
        let mut places = Vec::with_capacity(before.list.len());
        for (name, entry) in &before.list {
            self.steps.push(Step::Key(name.clone()));
            match after.get(name) {
                Some((at, other)) => {
                    places.push(at);
                    self.comments(entry.key, other.key);
                    self.node(entry.value, other.value, Some((old, new)));
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

    fn sequence(&mut self, old: NodeRef<'a>, new: NodeRef<'a>) {
        let (was, is): (Vec<_>, Vec<_>) = (old.children().collect(), new.children().collect());
        let aligned = lists::align(&was, &is);
        for (number, (from, to)) in aligned.pairs.iter().enumerate() {
            let position = to.or(*from).unwrap_or_default();
            self.steps.push(match &aligned.key {
                Some((key, names)) => Step::Match(key, names[number].clone()),
                None => Step::Item(position),
            });
            let within = Some((old, new));
            match (from.map(|at| was[at]), to.map(|at| is[at])) {
                (Some(before), Some(after)) => self.node(before, after, within),
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
            Resolved::String | Resolved::Int(None) => old.value() == new.value(),
            _ => true,
        }
}

/// Whether a scalar of the same meaning is written otherwise. How a text is broken into lines is layout.
fn is_restyled(old: Scalar<'_>, new: Scalar<'_>) -> bool {
    let is_one_line = |scalar: Scalar<'_>| !scalar.raw().contains(['\n', '\r']);
    old.style() != new.style() || (is_one_line(old) && is_one_line(new) && old.raw() != new.raw())
}
