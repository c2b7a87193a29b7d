//! Looking up paths: through aliases and merge keys for reading, and without them for editing.

use std::collections::BTreeSet;

use crate::document::DocumentRef;
use crate::node::NodeKind;
use crate::node_ref::{Entry, Mapping, NodeRef};
use crate::path::{Path, Segment};

/// The result of [`DocumentRef::lookup`].
#[derive(Clone, Copy, Debug)]
pub enum PathLookup<'a> {
    /// The node at the path.
    Found(NodeRef<'a>),
    /// The path does not exist.
    Missing {
        /// The last node of the path that exists.
        at: NodeRef<'a>,
        /// The number of segments that lead to it.
        found: usize,
    },
    /// The path goes through an alias, so its value is shared with other paths.
    Shared {
        /// The alias, or the value of the merge key.
        by: NodeRef<'a>,
    },
}

impl<'a> DocumentRef<'a> {
    /// The node at a path, following aliases and `<<` keys.
    pub fn find(self, path: &Path) -> Option<NodeRef<'a>> {
        path.segments().iter().try_fold(self.root()?, |node, segment| node.step(segment))
    }

    /// The node that an edit at a path would change. Aliases and merge keys are not followed, because an edit behind them would change
    /// other paths, too. `None` if the document could not be read.
    pub fn lookup(self, path: &Path) -> Option<PathLookup<'a>> {
        let mut node = self.root()?;
        for (found, segment) in path.segments().iter().enumerate() {
            let is_last = found + 1 == path.segments().len();
            node = match node.editable_step(segment, is_last) {
                PathLookup::Found(next) => next,
                PathLookup::Missing { at, .. } => return Some(PathLookup::Missing { at, found }),
                shared => return Some(shared),
            };
        }
        Some(PathLookup::Found(node))
    }
}

impl<'a> NodeRef<'a> {
    /// The child that a path segment selects, following aliases and `<<` keys.
    pub fn step(self, segment: &Segment) -> Option<NodeRef<'a>> {
        let node = self.resolve();
        node.own_step(segment).or_else(|| match segment {
            Segment::Key(key) => node.as_mapping()?.merged(key).map(|(value, _)| value),
            _ => None,
        })
    }

    /// The child that an edit below a path segment would change. The value of the last segment may be inherited through `<<`: an edit adds
    /// it here.
    pub(crate) fn editable_step(self, segment: &Segment, is_last: bool) -> PathLookup<'a> {
        if self.kind() == NodeKind::Alias {
            return PathLookup::Shared { by: self };
        }
        if let Some(next) = self.own_step(segment) {
            return PathLookup::Found(next);
        }
        let merged = self.as_mapping().and_then(|mapping| match segment {
            Segment::Key(key) => mapping.merged(key),
            _ => None,
        });
        match merged {
            Some((_, by)) if !is_last => PathLookup::Shared { by },
            _ => PathLookup::Missing { at: self, found: 0 },
        }
    }

    pub(crate) fn own_step(self, segment: &Segment) -> Option<NodeRef<'a>> {
        match segment {
            Segment::Key(key) => match self.kind() {
                NodeKind::Mapping => self.as_mapping()?.get(key),
                _ => self.as_sequence()?.items().nth(key.parse().ok()?),
            },
            Segment::Index(index) => self.as_sequence()?.items().nth(*index),
            Segment::Match { key, value } => {
                let field = Segment::Key(key.clone());
                self.as_sequence()?.items().find(|item| {
                    let found = item.step(&field).and_then(|field| field.resolve().as_scalar());
                    found.is_some_and(|scalar| scalar.is(value))
                })
            }
            Segment::End => None,
        }
    }

    /// The path of this node from the root.
    pub fn path(self) -> Path {
        let mut steps = Vec::new();
        let mut node = self;
        while let Some(parent) = node.parent() {
            let at = parent.children().take_while(|child| child.index < node.index).count();
            steps.push(match parent.kind() {
                NodeKind::Mapping => {
                    let key = if node.node().is_key() {
                        Some(node)
                    } else {
                        parent.children().nth(at - 1)
                    };
                    let key = key.and_then(|key| key.resolve().as_scalar());
                    Segment::Key(key.map(|key| key.value().into_owned()).unwrap_or_default())
                }
                _ => Segment::Index(at),
            });
            node = parent;
        }
        let mut path = Path::default();
        for step in steps.into_iter().rev() {
            path.push(step);
        }
        path
    }
}

impl<'a> Mapping<'a> {
    /// A value that is inherited through a `<<` key, and the value of that key.
    pub(crate) fn merged(self, name: &str) -> Option<(NodeRef<'a>, NodeRef<'a>)> {
        let mut seen = BTreeSet::from([self.node().index]);
        let mut sources = self.merge_sources();
        sources.find_map(|by| inherited(by, name, &mut seen).map(|value| (value, by)))
    }

    /// The entries that are inherited through `<<` keys and not overridden, each key once.
    pub(crate) fn inherited_entries(self) -> Vec<Entry<'a>> {
        let name = |entry: &Entry<'a>| entry.key.resolve().as_scalar().map(|key| key.value());
        let own: BTreeSet<_> = self.entries().filter_map(|entry| name(&entry)).collect();
        let (mut names, mut found) = (own, Vec::new());
        let mut seen = BTreeSet::from([self.node().index]);
        let mut waiting: Vec<NodeRef<'a>> = self.merge_sources().flat_map(named_mappings).collect();
        waiting.reverse();
        while let Some(next) = waiting.pop() {
            let Some(mapping) = next.as_mapping().filter(|_| seen.insert(next.index)) else {
                continue;
            };
            for entry in mapping.entries().filter(|entry| !entry.is("<<")) {
                if name(&entry).is_some_and(|name| names.insert(name)) {
                    found.push(entry);
                }
            }
            let deeper: Vec<NodeRef<'a>> =
                mapping.merge_sources().flat_map(named_mappings).collect();
            waiting.extend(deeper.into_iter().rev());
        }
        found
    }

    /// The values of the `<<` keys.
    fn merge_sources(self) -> impl Iterator<Item = NodeRef<'a>> {
        self.entries().filter(|entry| entry.is("<<")).map(|entry| entry.value)
    }
}

/// The mappings that the value of a `<<` key refers to: one, or a sequence of them.
fn named_mappings(source: NodeRef<'_>) -> Vec<NodeRef<'_>> {
    let source = source.resolve();
    match source.as_sequence() {
        Some(list) => list.items().map(NodeRef::resolve).collect(),
        None => vec![source],
    }
}

/// The value of a key in the mappings of a `<<` key. Each mapping is visited once, because merge keys can form cycles.
fn inherited<'a>(source: NodeRef<'a>, name: &str, seen: &mut BTreeSet<u32>) -> Option<NodeRef<'a>> {
    let mut waiting = named_mappings(source);
    waiting.reverse();
    while let Some(next) = waiting.pop() {
        let Some(mapping) = next.as_mapping().filter(|_| seen.insert(next.index)) else { continue };
        if let Some(value) = mapping.get(name) {
            return Some(value);
        }
        let deeper: Vec<NodeRef<'a>> = mapping.merge_sources().flat_map(named_mappings).collect();
        waiting.extend(deeper.into_iter().rev());
    }
    None
}
