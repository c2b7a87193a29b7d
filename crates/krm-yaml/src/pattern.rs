//! Patterns: paths that can match many nodes, such as `spec.containers[*].image` and `**.image`.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use crate::error::PathErrorKind;
use crate::lookup::PathLookup;
use crate::node::NodeKind;
use crate::node_ref::{Entry, NodeRef, Scalar};
use crate::path::{self, Path, PathError, Segment, Wildcards};

/// How many more nodes than the document has a pattern may find, because several aliases lead to the same node.
const MAX_REPEATED: usize = 100_000;

/// One step of a pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PatternStep {
    /// A segment of a path. Unlike in a path, `[name=web]` selects every element with that value, not only the first.
    Plain(Segment),
    /// An element counted from the end of a sequence: `[-1]` is the last one.
    FromEnd(usize),
    /// Every value of a mapping, or every element of a sequence: `*` or `[*]`.
    All,
    /// Any number of levels, none included: `**`. As the last step it selects all scalars below.
    Deep,
}

/// A path that can match many nodes, printed as it was parsed.
///
/// Every [`Path`] is a pattern. A key that is a star is quoted: `rules."*"`. A JSON pointer has no wildcards.
///
/// ```
/// use krm_yaml::{File, PathPattern};
///
/// let text = "spec:\n  web: {image: a}\n  jobs:\n  - {name: x, image: b}\n  - {name: y, image: c}\n";
/// let file = File::parse(text.to_owned())?;
/// let root = file.document(0).and_then(|document| document.root()).expect("a root");
/// let found = |pattern: &str| {
///     let pattern: PathPattern = pattern.parse().expect("a pattern");
///     pattern.find(root).iter().map(|node| node.text()).collect::<Vec<_>>().join(" ")
/// };
/// assert_eq!(found("spec.jobs[*].image"), "b c");
/// assert_eq!(found("spec.*.image"), "a");
/// assert_eq!(found("**.image"), "a b c");
/// assert_eq!(found("spec.jobs[-1].name"), "y");
/// assert_eq!(found("spec.web.**"), "a");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PathPattern {
    steps: Vec<PatternStep>,
    text: String,
}

/// Where an edit at a pattern applies. Aliases and merge keys are not followed, because an edit behind them would change other paths, too.
#[derive(Clone, Debug)]
pub enum Place<'a> {
    /// A node that exists.
    Found {
        /// The node.
        node: NodeRef<'a>,
        /// Its path.
        path: Path,
    },
    /// A place that does not exist, and can be created.
    Missing {
        /// The last node of the path that exists.
        at: NodeRef<'a>,
        /// The whole path.
        path: Path,
        /// The number of segments at its end that are missing.
        missing: usize,
    },
    /// The pattern leads through an alias.
    Shared {
        /// The alias, or the value of the merge key.
        by: NodeRef<'a>,
    },
}

/// Decides whether the element with this value of its field is selected, for a step such as `[name=web]` at an index.
type Matches<'m> = &'m dyn Fn(usize, Scalar<'_>) -> bool;

/// The nodes that match, or the last ones that were found and the number of the step that matches none of their children.
type Walked<'a> = Result<Vec<NodeRef<'a>>, (Vec<NodeRef<'a>>, usize)>;

/// The segment that led to a node.
enum Taken<'s, 'a> {
    Segment(&'s Segment),
    Index(usize),
    Key(NodeRef<'a>),
}

impl Taken<'_, '_> {
    fn to_segment(&self) -> Segment {
        match self {
            Self::Segment(segment) => (*segment).clone(),
            Self::Index(index) => Segment::Index(*index),
            Self::Key(key) => {
                let key = key.resolve().as_scalar();
                Segment::Key(key.map(|key| key.value().into_owned()).unwrap_or_default())
            }
        }
    }
}

impl PathPattern {
    /// The steps from the root.
    pub fn steps(&self) -> &[PatternStep] {
        &self.steps
    }

    /// The pattern as a path, unless it has wildcards.
    pub fn as_path(&self) -> Option<Path> {
        let mut path = Path::default();
        for step in &self.steps {
            let PatternStep::Plain(segment) = step else { return None };
            path.push(segment.clone());
        }
        Some(path)
    }

    /// Appends a step.
    pub fn push(&mut self, step: PatternStep) {
        let dot = if self.text.is_empty() { "" } else { "." };
        match &step {
            PatternStep::Plain(segment) => path::write_segment(&mut self.text, segment),
            PatternStep::FromEnd(count) => self.text.push_str(&format!("[-{count}]")),
            PatternStep::All => self.text.push_str(&format!("{dot}*")),
            PatternStep::Deep => self.text.push_str(&format!("{dot}**")),
        }
        self.steps.push(step);
    }

    /// All matching nodes below a node, in order, following aliases and `<<` keys. `**` does not follow aliases: it finds the anchored
    /// original.
    ///
    /// A node is found as often as aliases lead to it. If these are billions of ways, it is found once.
    pub fn find<'a>(&self, root: NodeRef<'a>) -> Vec<NodeRef<'a>> {
        self.find_with(root, &|at, field| self.is_match(at, field))
    }

    /// Like [`PathPattern::find`], with another comparison for steps such as `[name=web]`: it gets the index of the step and the field.
    pub fn find_with<'a>(
        &self,
        root: NodeRef<'a>,
        matches: &dyn Fn(usize, Scalar<'_>) -> bool,
    ) -> Vec<NodeRef<'a>> {
        self.walk(root, matches).unwrap_or_default()
    }

    /// How far a pattern without a match leads: the last nodes that it finds, and the number of steps to them. None if it matches.
    pub fn reach<'a>(&self, root: NodeRef<'a>) -> Option<(Vec<NodeRef<'a>>, usize)> {
        self.reach_with(root, &|at, field| self.is_match(at, field))
    }

    /// Like [`PathPattern::reach`], with another comparison for steps such as `[name=web]`.
    pub fn reach_with<'a>(
        &self,
        root: NodeRef<'a>,
        matches: &dyn Fn(usize, Scalar<'_>) -> bool,
    ) -> Option<(Vec<NodeRef<'a>>, usize)> {
        self.walk(root, matches).err()
    }

    fn is_match(&self, at: usize, field: Scalar<'_>) -> bool {
        match &self.steps[at] {
            PatternStep::Plain(Segment::Match { value, .. }) => field.is(value),
            _ => false,
        }
    }

    /// The nodes that match, or the last ones before the step that matches nothing.
    fn walk<'a>(&self, root: NodeRef<'a>, matches: Matches<'_>) -> Walked<'a> {
        // Most patterns are paths of keys, which need no list of nodes.
        let (mut node, mut start) = (root.resolve(), 0);
        while let Some(PatternStep::Plain(segment @ (Segment::Key(_) | Segment::Index(_)))) =
            self.steps.get(start)
        {
            node = node.step(segment).ok_or_else(|| (vec![node], start))?.resolve();
            start += 1;
        }
        let limit = root.document().node_count() + MAX_REPEATED;
        self.walk_wildcards((node, start), matches, Some(limit))
            .or_else(|| self.walk_wildcards((node, start), matches, None))
            .expect("if each node is found once, there are no more than the document has")
    }

    /// The same from a node and a step on; none if a step finds more nodes than the limit. Without a limit, each node is found once.
    fn walk_wildcards<'a>(
        &self,
        (node, start): (NodeRef<'a>, usize),
        matches: Matches<'_>,
        limit: Option<usize>,
    ) -> Option<Walked<'a>> {
        let mut found = vec![node];
        for (at, step) in self.steps.iter().enumerate().skip(start) {
            let mut next = Found { nodes: Vec::new(), limit, seen: BTreeSet::new() };
            if *step == PatternStep::Deep {
                let is_last = at + 1 == self.steps.len();
                deep(found.iter().copied(), &mut |node| {
                    if !is_last || node.as_scalar().is_some() {
                        next.add(node);
                    }
                });
            } else {
                for node in &found {
                    let add = &mut |child: NodeRef<'a>, _: Taken<'_, 'a>| next.add(child.resolve());
                    each_child(*node, (at, step), true, matches, add);
                    if next.is_too_long() {
                        return None;
                    }
                }
            }
            if next.nodes.is_empty() {
                return Some(Err((found, at)));
            }
            found = next.nodes;
        }
        Some(Ok(found))
    }

    /// Where an edit at this pattern applies below a node, in order.
    ///
    /// What is missing can be created, if there are no wildcards after it and no `**` before it. After other wildcards, only fields of
    /// mappings and elements of sequences are missing: `*.image` does not select what cannot have an image.
    pub fn places<'a>(&self, root: NodeRef<'a>) -> Vec<Place<'a>> {
        let matches: Matches<'_> = &|at, field| self.is_match(at, field);
        let (mut places, mut found) = (Vec::new(), vec![(root, Path::default())]);
        let mut is_deep = false;
        for (at, step) in self.steps.iter().enumerate() {
            let is_last = at + 1 == self.steps.len();
            let mut next = Vec::new();
            if *step == PatternStep::Deep {
                is_deep = true;
                found = deep_with_paths(found);
                if is_last {
                    found.retain(|(node, _)| node.as_scalar().is_some());
                }
                continue;
            }
            for (node, mut path) in found {
                let before = next.len();
                let lookup = match step {
                    PatternStep::Plain(segment @ (Segment::Key(_) | Segment::Index(_))) => {
                        node.editable_step(segment, is_last)
                    }
                    _ if node.kind() == NodeKind::Alias => PathLookup::Shared { by: node },
                    _ => {
                        each_child(node, (at, step), false, matches, &mut |child, taken| {
                            let mut path = path.clone();
                            path.push(taken.to_segment());
                            next.push((child, path));
                        });
                        PathLookup::Missing { at: node, found: at }
                    }
                };
                match (lookup, step) {
                    (PathLookup::Found(child), PatternStep::Plain(segment)) => {
                        path.push(segment.clone());
                        next.push((child, path));
                    }
                    // The anchored original of an alias is found by itself.
                    (PathLookup::Shared { by }, _) if !is_deep => places.push(Place::Shared { by }),
                    (PathLookup::Missing { .. }, _) if next.len() == before && !is_deep => {
                        places.extend(self.missing(node, path, at));
                    }
                    _ => {}
                }
            }
            found = next;
        }
        places.extend(found.into_iter().map(|(node, path)| Place::Found { node, path }));
        // What is missing was found before what exists.
        places.sort_by_key(|place| match place {
            Place::Found { node, .. } => node.index,
            Place::Missing { at, .. } => at.index,
            Place::Shared { by } => by.index,
        });
        places
    }

    /// The place that is missing from a step on, if it can be created.
    fn missing<'a>(&self, at: NodeRef<'a>, mut path: Path, step: usize) -> Option<Place<'a>> {
        let (before, rest) = self.steps.split_at(step);
        let is_wild = !before.iter().all(|step| matches!(step, PatternStep::Plain(_)));
        let fits = matches!(
            (at.kind(), rest.first()),
            (NodeKind::Mapping, Some(PatternStep::Plain(Segment::Key(_))))
                | (
                    NodeKind::Sequence,
                    Some(PatternStep::Plain(Segment::Match { .. } | Segment::End))
                )
        );
        if is_wild && !fits {
            return None;
        }
        for step in rest {
            let PatternStep::Plain(segment) = step else { return None };
            path.push(segment.clone());
        }
        Some(Place::Missing { at, path, missing: rest.len() })
    }
}

/// The nodes that a step finds.
struct Found<'a> {
    nodes: Vec<NodeRef<'a>>,
    limit: Option<usize>,
    /// The indexes of the nodes, without a limit.
    seen: BTreeSet<u32>,
}

impl<'a> Found<'a> {
    fn add(&mut self, node: NodeRef<'a>) {
        if self.limit.is_some() || self.seen.insert(node.index) {
            self.nodes.push(node);
        }
    }

    fn is_too_long(&self) -> bool {
        self.limit.is_some_and(|limit| self.nodes.len() > limit)
    }
}

/// Visits the children that a step other than `**` selects.
fn each_child<'a, 's>(
    node: NodeRef<'a>,
    (at, step): (usize, &'s PatternStep),
    follow: bool,
    matches: Matches<'_>,
    visit: &mut dyn FnMut(NodeRef<'a>, Taken<'s, 'a>),
) {
    match step {
        PatternStep::Plain(segment @ Segment::Match { key, .. }) => {
            let field = Segment::Key(key.clone());
            for item in node.as_sequence().into_iter().flat_map(|list| list.items()) {
                let found = item.step(&field).and_then(|field| field.resolve().as_scalar());
                if found.is_some_and(|field| matches(at, field)) {
                    visit(item, Taken::Segment(segment));
                }
            }
        }
        PatternStep::Plain(segment) => {
            let child = if follow { node.step(segment) } else { node.own_step(segment) };
            child.into_iter().for_each(|child| visit(child, Taken::Segment(segment)));
        }
        PatternStep::FromEnd(count) => {
            let Some(list) = node.as_sequence() else { return };
            let Some(index) = list.items().count().checked_sub(*count) else { return };
            list.items().nth(index).into_iter().for_each(|it| visit(it, Taken::Index(index)));
        }
        PatternStep::All => {
            values(node, visit);
            if let Some(mapping) = node.as_mapping().filter(|it| follow && it.get("<<").is_some()) {
                let inherited = mapping.inherited_entries();
                inherited.into_iter().for_each(|it| visit(it.value, Taken::Key(it.key)));
            }
        }
        PatternStep::Deep => {}
    }
}

/// Visits the values of a mapping without those of `<<` keys, or the elements of a sequence.
fn values<'a, 's>(node: NodeRef<'a>, visit: &mut dyn FnMut(NodeRef<'a>, Taken<'s, 'a>)) {
    match node.as_mapping() {
        Some(mapping) => {
            let own = mapping.entries().filter(|entry: &Entry<'a>| !entry.is("<<"));
            own.for_each(|entry| visit(entry.value, Taken::Key(entry.key)));
        }
        None => {
            let items = node.as_sequence().into_iter().flat_map(|list| list.items());
            items.enumerate().for_each(|(at, item)| visit(item, Taken::Index(at)));
        }
    }
}

/// Visits nodes and everything below them, each node once. Aliases are not followed.
fn deep<'a>(roots: impl Iterator<Item = NodeRef<'a>>, visit: &mut dyn FnMut(NodeRef<'a>)) {
    let mut seen = BTreeSet::new();
    for root in roots {
        let mut waiting = vec![root];
        while let Some(node) = waiting.pop() {
            if node.kind() == NodeKind::Alias || !seen.insert(node.index) {
                continue;
            }
            visit(node);
            let from = waiting.len();
            values(node, &mut |child, _| waiting.push(child));
            waiting[from..].reverse();
        }
    }
}

/// Nodes and everything below them, with paths.
fn deep_with_paths(roots: Vec<(NodeRef<'_>, Path)>) -> Vec<(NodeRef<'_>, Path)> {
    let (mut seen, mut found) = (BTreeSet::new(), Vec::new());
    for root in roots {
        let mut waiting = vec![root];
        while let Some((node, path)) = waiting.pop() {
            if node.kind() == NodeKind::Alias || !seen.insert(node.index) {
                continue;
            }
            let from = waiting.len();
            values(node, &mut |child, taken| {
                let mut path = path.clone();
                path.push(taken.to_segment());
                waiting.push((child, path));
            });
            waiting[from..].reverse();
            found.push((node, path));
        }
    }
    found
}

impl fmt::Display for PathPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl From<&Path> for PathPattern {
    fn from(path: &Path) -> Self {
        let steps = path.segments().iter().cloned().map(PatternStep::Plain).collect();
        Self { steps, text: path.to_string() }
    }
}

impl FromStr for PathPattern {
    type Err = PathError;

    fn from_str(text: &str) -> Result<Self, PathError> {
        let steps = match text.strip_prefix('/') {
            Some(pointer) => {
                path::parse_pointer(pointer)?.into_iter().map(PatternStep::Plain).collect()
            }
            None => path::read_steps(text, Wildcards::Select)?,
        };
        if steps.len() > Path::MAX_SEGMENTS {
            let kind = PathErrorKind::TooDeep { limit: Path::MAX_SEGMENTS };
            return Err(PathError { kind, at: 0 });
        }
        Ok(Self { steps, text: text.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::File;

    const TEXT: &str = "\
base: &base {image: x, tag: 1}
spec:
  containers:
  - {name: a, image: one}
  - {name: b, image: two, <<: *base}
  - {name: b}
  other: *base
  '*': star
";

    fn pattern(text: &str) -> PathPattern {
        text.parse().unwrap()
    }

    fn found(text: &str) -> Vec<String> {
        let file = File::parse(TEXT.to_owned()).unwrap();
        let root = file.document(0).unwrap().root().unwrap();
        pattern(text).find(root).iter().map(|node| node.text().to_owned()).collect()
    }

    fn places(text: &str) -> Vec<String> {
        let file = File::parse(TEXT.to_owned()).unwrap();
        let root = file.document(0).unwrap().root().unwrap();
        let show = |place: &Place<'_>| match place {
            Place::Found { path, .. } => path.to_string(),
            Place::Missing { path, missing, .. } => format!("{path} -{missing}"),
            Place::Shared { by } => by.text().to_owned(),
        };
        pattern(text).places(root).iter().map(show).collect()
    }

    #[test]
    fn wildcards_find_all_matching_nodes() {
        assert_eq!(found("spec.containers[*].image"), ["one", "two"]);
        assert_eq!(found("spec.containers.*.name"), ["a", "b", "b"]);
        assert_eq!(found("spec.containers[name=b].image"), ["two"]);
        assert_eq!(found("spec.containers[-1].name"), ["b"]);
        assert_eq!(found("spec.containers[-4]"), [""; 0]);
        assert_eq!(found("**.tag"), ["1", "1"]);
        assert_eq!(found("spec.containers[0].**"), ["a", "one"]);
        assert_eq!(found("spec.'*'"), ["star"]);
        assert_eq!(found(r"spec.\*"), ["star"]);
        assert_eq!(found("/spec/*"), ["star"]);
        assert_eq!(found("."), [TEXT.trim_end()]);
    }

    #[test]
    fn reading_follows_aliases_and_merge_keys() {
        assert_eq!(found("spec.other.*"), ["x", "1"]);
        assert_eq!(found("spec.containers[1].*"), ["b", "two", "1"]);
    }

    #[test]
    fn node_to_which_billions_of_aliases_lead_is_found_once() {
        let mut text = "a0: &a0 [{k: x}, {k: y}]\n".to_owned();
        for level in 1..12 {
            let aliases = vec![format!("*a{}", level - 1); 10].join(", ");
            text.push_str(&format!("a{level}: &a{level} [{aliases}]\n"));
        }
        let file = File::parse(text).unwrap();
        let root = file.document(0).unwrap().root().unwrap();
        let found = |levels: usize, key: &str| {
            let pattern = pattern(&format!("a{levels}{}.{key}", "[*]".repeat(levels + 1)));
            let found = pattern.find(root);
            (found.len(), found.iter().take(2).map(|node| node.text()).collect::<Vec<_>>())
        };
        assert_eq!(found(3, "k"), (2_000, vec!["x", "y"]));
        assert_eq!(found(11, "k"), (2, vec!["x", "y"]));
        assert_eq!(found(11, "other"), (0, vec![]));
    }

    #[test]
    fn editing_finds_places_and_what_is_missing() {
        let all =
            |last: &'static str| (0..3).map(move |at| format!("spec.containers[{at}].{last}"));
        assert_eq!(places("spec.containers[*].name"), all("name").collect::<Vec<_>>());
        let images = ["spec.containers[0].image", "spec.containers[1].image"];
        assert_eq!(places("spec.containers[*].image")[..2], images);
        assert_eq!(places("spec.containers[*].image")[2], "spec.containers[2].image -1");
        assert_eq!(places("spec.x.y"), ["spec.x.y -2"]);
        assert_eq!(places("spec.x.*"), [""; 0]);
        assert_eq!(places("spec.containers[name=c].image"), ["spec.containers[name=c].image -2"]);
        assert_eq!(places("spec.other.image"), ["*base"]);
        assert_eq!(places("spec.*.image"), ["*base"]);
        assert_eq!(
            places("**.image"),
            ["base.image", "spec.containers[0].image", "spec.containers[1].image"]
        );
    }

    #[test]
    fn patterns_round_trip() {
        for text in ["a.*", "a[*].b", "**.x", "a.**", "a[-2]", "a[name=x].*", "*", "/a/*"] {
            assert_eq!(pattern(text).to_string(), text);
            let mut built = PathPattern::default();
            pattern(text).steps().iter().for_each(|step| built.push(step.clone()));
            assert_eq!(pattern(&built.to_string()).steps(), pattern(text).steps(), "{built}");
        }
        assert_eq!(pattern("a.*.b").as_path(), None);
        assert_eq!(pattern("a.\"*\"").as_path().unwrap().to_string(), "a.\"*\"");
        assert!("a[-0]".parse::<PathPattern>().is_err());
        assert!("a[**]".parse::<PathPattern>().is_err());
    }

    #[test]
    fn reach_is_the_last_step_that_exists() {
        let file = File::parse(TEXT.to_owned()).unwrap();
        let root = file.document(0).unwrap().root().unwrap();
        let reach = |text: &str| pattern(text).reach(root).map(|(nodes, at)| (nodes.len(), at));
        assert_eq!(reach("spec.containers[*].name"), None);
        assert_eq!(reach("spec.containers[*].nmae"), Some((3, 3)));
        assert_eq!(reach("spce"), Some((1, 0)));
        assert_eq!(reach("spec.containers[name=x]"), Some((1, 2)));
    }

    #[test]
    fn nested_wildcards_visit_each_node_once() {
        let mut text = String::new();
        for depth in 0..60 {
            text.push_str(&format!("{}a:\n", " ".repeat(depth)));
        }
        let file = File::parse(text).unwrap();
        let root = file.document(0).unwrap().root().unwrap();
        let pattern = pattern(&["**"; 100].join("."));
        assert_eq!(pattern.find(root).len(), 1);
        assert_eq!(pattern.places(root).len(), 1);
    }
}
