//! Random changes of a document.

use krm_yaml::{CommentPosition, DocumentRef, Edit, EditError, EmptyParents, KeyPosition, NodeRef};

use super::draw::Draw;
use super::generate;
use super::model::{Shape, Tree};

/// One change of a node. Its path consists of indices of children, counting keys.
#[derive(Clone, Debug)]
pub(crate) struct Change {
    pub(crate) path: Vec<usize>,
    pub(crate) what: What,
}

#[derive(Clone, Debug)]
pub(crate) enum What {
    Set(Tree),
    InsertKey { key: String, value: Tree, at: usize, place: PositionArgument },
    InsertItem { value: Tree, at: usize, last: bool },
    Remove { prune: bool },
    Move { from: usize, to: usize },
    Reorder(Vec<usize>),
    Rename(String),
    Comment { place: CommentPosition, text: String },
}

/// A position as the caller passes it; the resulting index is stored beside it.
#[derive(Clone, Debug)]
pub(crate) enum PositionArgument {
    Last,
    First,
    Before(String),
    After(String),
    InOrder(Vec<String>),
}

/// Options for choosing a change.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ChangeOptions {
    /// The number of changes chosen before, so that each one inserts another key.
    pub(crate) number: usize,
    /// Only values that JSON can represent.
    pub(crate) json: bool,
}

impl Change {
    /// Chooses a change of some node of the document; `None` if the choice does not fit it.
    pub(crate) fn choose(draw: &mut Draw<'_>, tree: &Tree, options: ChangeOptions) -> Option<Self> {
        let mut targets = Vec::new();
        collect(tree, &mut Vec::new(), &mut targets);
        let path = targets[draw.below(targets.len())].clone();
        let node = at_path(tree, &path);
        let is_key = parent_is_mapping(tree, &path) && path.last().is_some_and(|at| at % 2 == 0);
        let what = if is_key {
            let old = node.as_text()?;
            let name = fresh_key(draw, tree, options);
            if old == "<<" { return None } else { What::Rename(name) }
        } else {
            choose_for(draw, tree, node, path.is_empty(), options)?
        };
        Some(Self { path, what })
    }

    /// Chooses a new value for a scalar, as a setter does.
    pub(crate) fn swap(draw: &mut Draw<'_>, tree: &Tree, json: bool) -> Option<Self> {
        let mut targets = Vec::new();
        collect(tree, &mut Vec::new(), &mut targets);
        targets.retain(|path| {
            let is_key = parent_is_mapping(tree, path) && path.last().is_some_and(|at| at % 2 == 0);
            !is_key && at_path(tree, path).as_text().is_some()
        });
        if !draw.once_in(4) {
            let in_words = |text: &str| text.bytes().all(|b| b.is_ascii_alphanumeric());
            targets.retain(|path| at_path(tree, path).as_text().is_some_and(in_words));
        }
        let path = targets.get(draw.below(targets.len()))?.clone();
        Some(Self { path, what: What::Set(generate::swapped(draw, json)) })
    }

    /// Reorders all mappings, as a formatter does.
    pub(crate) fn sort_all(draw: &mut Draw<'_>, tree: &Tree) -> Vec<Self> {
        let mut targets = Vec::new();
        collect(tree, &mut Vec::new(), &mut targets);
        let mappings = targets.into_iter().filter_map(|path| match &at_path(tree, &path).shape {
            Shape::Mapping { entries, .. } if entries.len() > 1 => {
                let what = What::Reorder(shuffled(draw, entries.len()));
                // A mapping that is a key cannot be reordered.
                let in_key = (0..path.len())
                    .any(|end| path[end] % 2 == 0 && parent_is_mapping(tree, &path[..=end]));
                (!in_key).then_some(Self { path, what })
            }
            _ => None,
        });
        mappings.collect()
    }

    /// Adds the change to an edit.
    pub(crate) fn request<'a>(
        &self,
        document: DocumentRef<'a>,
        edit: &mut Edit<'a>,
    ) -> Result<(), EditError> {
        let node = node_at(document, &self.path).expect("the path was taken from this document");
        match &self.what {
            What::Set(value) => edit.set(node, value.to_value()),
            What::InsertKey { key, value, place, .. } => {
                let order: Vec<&str> = match place {
                    PositionArgument::InOrder(order) => order.iter().map(String::as_str).collect(),
                    _ => Vec::new(),
                };
                let place = match place {
                    PositionArgument::Last => KeyPosition::Last,
                    PositionArgument::First => KeyPosition::First,
                    PositionArgument::Before(name) => KeyPosition::Before(name),
                    PositionArgument::After(name) => KeyPosition::After(name),
                    PositionArgument::InOrder(_) => KeyPosition::InOrder(&order),
                };
                edit.insert_key(node, key, value.to_value(), place)
            }
            What::InsertItem { value, last: true, .. } => edit.append(node, value.to_value()),
            What::InsertItem { value, at, .. } => edit.insert_element(node, *at, value.to_value()),
            What::Remove { prune } => {
                edit.remove(node, if *prune { EmptyParents::Remove } else { EmptyParents::Keep })
            }
            What::Move { from, to } => edit.move_element(node, *from, *to),
            What::Reorder(order) => edit.reorder(node, order.clone()),
            What::Rename(name) => edit.rename(node, name),
            What::Comment { place, text } => edit.set_comment(node, *place, Some(text)),
        }
    }

    /// The kind of the change and of what it meets, in a few text.
    pub(crate) fn brief(&self, tree: &Tree) -> String {
        let of = |tree: &Tree| match &tree.shape {
            Shape::Scalar { text, style, .. } if text.contains('\n') => format!("lines {style:?}"),
            Shape::Scalar { style, .. } => format!("scalar {style:?}"),
            Shape::Sequence { items, notation } => {
                format!("{} list {notation:?}", if items.is_empty() { "empty" } else { "filled" })
            }
            Shape::Mapping { entries, notation } => {
                format!(
                    "{} mapping {notation:?}",
                    if entries.is_empty() { "empty" } else { "filled" }
                )
            }
            Shape::Alias(_) => "alias".to_owned(),
        };
        let what = match &self.what {
            What::Set(value) => format!("set to {}", of(value)),
            What::InsertKey { value, .. } | What::InsertItem { value, .. } => {
                format!("insert {}", of(value))
            }
            What::Remove { .. } => "remove".to_owned(),
            What::Move { .. } | What::Reorder(_) => "reorder".to_owned(),
            What::Rename(_) => "rename".to_owned(),
            What::Comment { .. } => "comment".to_owned(),
        };
        let up = self.path.split_last().map_or("root".to_owned(), |(_, up)| of(at_path(tree, up)));
        format!("{what} at {} in {up}", of(at_path(tree, &self.path)))
    }

    /// Whether this change would hide or conflict with another one.
    pub(crate) fn covers(&self, other: &Change) -> bool {
        // A removed or replaced entry includes its key and its comments.
        let entry = |path: &[usize]| {
            path.split_last().map_or(Vec::new(), |(last, up)| [up, &[last / 2]].concat())
        };
        let swallows = matches!(self.what, What::Set(_) | What::Remove { .. });
        let inside = other.path.starts_with(&self.path);
        let beside = !self.path.is_empty()
            && other.path.len() >= self.path.len()
            && entry(&other.path[..self.path.len()]) == entry(&self.path);
        swallows && (inside || beside) || self.path == other.path
    }
}

/// The node at a path.
pub(crate) fn node_at<'a>(document: DocumentRef<'a>, path: &[usize]) -> Option<NodeRef<'a>> {
    path.iter().try_fold(document.root()?, |node, &at| node.children().nth(at))
}

pub(crate) fn at_path<'t>(tree: &'t Tree, path: &[usize]) -> &'t Tree {
    path.iter().fold(tree, |tree, &at| match &tree.shape {
        Shape::Sequence { items, .. } => &items[at],
        Shape::Mapping { entries, .. } if at % 2 == 0 => &entries[at / 2].0,
        Shape::Mapping { entries, .. } => &entries[at / 2].1,
        _ => tree,
    })
}

fn parent_is_mapping(tree: &Tree, path: &[usize]) -> bool {
    let up = &path[..path.len().saturating_sub(1)];
    !path.is_empty() && matches!(at_path(tree, up).shape, Shape::Mapping { .. })
}

/// All nodes but those inside of keys.
fn collect(tree: &Tree, path: &mut Vec<usize>, out: &mut Vec<Vec<usize>>) {
    out.push(path.clone());
    match &tree.shape {
        Shape::Sequence { items, .. } => {
            for (at, item) in items.iter().enumerate() {
                path.push(at);
                collect(item, path, out);
                path.pop();
            }
        }
        Shape::Mapping { entries, .. } => {
            for (at, (_, value)) in entries.iter().enumerate() {
                path.push(at * 2);
                out.push(path.clone());
                path.pop();
                path.push(at * 2 + 1);
                collect(value, path, out);
                path.pop();
            }
        }
        _ => {}
    }
}

/// A key that the document does not contain.
fn fresh_key(draw: &mut Draw<'_>, tree: &Tree, options: ChangeOptions) -> String {
    let mut taken = Vec::new();
    generate::texts(tree, &mut taken);
    let mut key = if draw.once_in(3) { generate::string(draw) } else { "fresh".to_owned() };
    while taken.contains(&key)
        || key == "<<"
        || options.number > 0 && !key.ends_with(&options.number.to_string())
    {
        key.push_str(&format!("-{}", options.number));
    }
    key
}

fn choose_for(
    draw: &mut Draw<'_>,
    tree: &Tree,
    node: &Tree,
    is_root: bool,
    options: ChangeOptions,
) -> Option<What> {
    let which = draw.below(12);
    // One removal in an edit, and no comments beside other changes: their range is another's.
    let quiet = options.number > 0;
    Some(match (&node.shape, which) {
        (_, 10 | 11) if !is_root && !quiet => What::Remove { prune: draw.once_in(3) },
        (_, 9) if !is_root && !quiet => {
            let place = draw.pick(&[CommentPosition::Head, CommentPosition::Line]);
            What::Comment { place, text: format!("note {}", draw.pick(&["one", "two: [", "# x"])) }
        }
        (Shape::Mapping { entries, .. }, 0..=4) => insert_key(draw, tree, entries, options),
        (Shape::Mapping { entries, .. }, 5 | 6) if entries.len() > 1 => {
            What::Reorder(shuffled(draw, entries.len()))
        }
        (Shape::Sequence { items, .. }, 0..=4) => {
            let last = draw.once_in(2);
            let at = if last { items.len() } else { draw.below(items.len() + 1) };
            What::InsertItem { value: generate::value(draw, options.json), at, last }
        }
        (Shape::Sequence { items, .. }, 5) if items.len() > 1 => {
            What::Move { from: draw.below(items.len()), to: draw.below(items.len()) }
        }
        (Shape::Sequence { items, .. }, 6) if items.len() > 1 => {
            What::Reorder(shuffled(draw, items.len()))
        }
        _ => What::Set(generate::value(draw, options.json)),
    })
}

fn insert_key(
    draw: &mut Draw<'_>,
    tree: &Tree,
    entries: &[(Tree, Tree)],
    options: ChangeOptions,
) -> What {
    let key = fresh_key(draw, tree, options);
    let count = entries.len();
    // Only a string key that occurs once identifies a position.
    let named: Vec<usize> = (0..count)
        .filter(|&at| {
            let text = entries[at].0.as_text();
            text.is_some()
                && entries.iter().filter(|(other, _)| other.as_text() == text).count() == 1
        })
        .collect();
    let has_alias = entries.iter().any(|(key, _)| matches!(key.shape, Shape::Alias(_)));
    let (place, at) = match draw.below(6) {
        0 | 1 => (PositionArgument::Last, count),
        2 => (PositionArgument::First, 0),
        _ if named.is_empty() || has_alias => (PositionArgument::Last, count),
        way => {
            let at = named[draw.below(named.len())];
            let name = entries[at].0.as_text().unwrap_or_default().to_owned();
            match way {
                3 => (PositionArgument::Before(name), at),
                4 => (PositionArgument::After(name), at + 1),
                _ => (PositionArgument::InOrder(vec![name, key.clone()]), at + 1),
            }
        }
    };
    What::InsertKey { key, value: generate::value(draw, options.json), at, place }
}

fn shuffled(draw: &mut Draw<'_>, count: usize) -> Vec<usize> {
    let mut left: Vec<usize> = (0..count).collect();
    (0..count).map(|_| left.remove(draw.below(left.len()))).collect()
}
