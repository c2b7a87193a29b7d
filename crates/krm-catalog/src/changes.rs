//! What is to change in one resource: values that are there and keys that are missing, made by one edit.

use std::collections::{BTreeMap, BTreeSet};

use krm_sdk::{Diagnostic, Error, Resource};
use krm_yaml::{Edit, EditError, KeyPosition, NodeKind, NodeRef, ScalarType, Segment, Value};

/// The changes of one resource, collected before any of them is made.
#[derive(Default)]
pub(crate) struct Changes<'a> {
    values: BTreeMap<usize, (NodeRef<'a>, Value<'static>)>,
    new: BTreeMap<usize, (NodeRef<'a>, Branch)>,
    /// Aliases that somebody went through.
    aliases: BTreeSet<usize>,
    /// Where paths ended that went through none, and those that did.
    direct: BTreeSet<usize>,
    indirect: BTreeSet<usize>,
    /// The aliases of the last path, and mappings that are to get nothing new where an alias stands for them.
    last: Vec<usize>,
    declined: BTreeSet<(usize, usize)>,
}

/// Keys of a mapping that are to be made, in order.
type Branch = Vec<(String, Tree)>;

enum Tree {
    Leaf(Value<'static>),
    Branch(Branch),
}

/// What stands at the end of a path.
#[derive(Clone, Debug)]
pub(crate) enum Spot<'a> {
    /// A node.
    There(NodeRef<'a>),
    /// A node that a `<<` key brings into a mapping, under this key: another value is written beside it.
    Merged(NodeRef<'a>, NodeRef<'a>, String),
    /// Nothing: these keys are missing below a mapping, or below a null that can become one.
    Missing(NodeRef<'a>, Vec<String>),
}

impl<'a> Spot<'a> {
    /// The node, where there is one.
    pub(crate) fn node(&self) -> Option<NodeRef<'a>> {
        match self {
            Self::There(node) | Self::Merged(node, ..) => Some(*node),
            Self::Missing(..) => None,
        }
    }
}

impl<'a> Changes<'a> {
    /// Goes one key down, through aliases and `<<` keys. None where the node is no mapping.
    pub(crate) fn step(&mut self, node: NodeRef<'a>, key: &str) -> Option<Option<NodeRef<'a>>> {
        let node = self.resolve(node);
        let mapping = node.as_mapping()?;
        let own = mapping.get(key);
        let merged = || mapping.get("<<").and_then(|_| node.step(&Segment::Key(key.to_owned())));
        Some(own.or_else(merged))
    }

    /// The node that an alias stands for; who goes through an alias means what it shares.
    pub(crate) fn resolve(&mut self, node: NodeRef<'a>) -> NodeRef<'a> {
        if node.kind() == NodeKind::Alias {
            self.aliases.insert(node.index());
        }
        node.resolve()
    }

    /// Notes that a path ends at a node, and whether it went through an alias.
    pub(crate) fn arrive(&mut self, node: NodeRef<'a>, is_shared: bool) {
        let ends = if is_shared { &mut self.indirect } else { &mut self.direct };
        ends.insert(node.index());
    }

    /// Whether a node was only reached through an alias, or is one.
    pub(crate) fn is_shared(&self, node: NodeRef<'a>) -> bool {
        let index = node.resolve().index();
        let is_indirect = self.indirect.contains(&index) && !self.direct.contains(&index);
        node.kind() == NodeKind::Alias || is_indirect
    }

    /// Follows keys down from a node. None where something on the way is neither a mapping nor null.
    pub(crate) fn follow(&mut self, from: NodeRef<'a>, keys: &[&str]) -> Option<Spot<'a>> {
        let mut is_shared = self.is_shared(from);
        let mut node = self.resolve(from);
        self.last.clear();
        if is_shared {
            self.last.extend(&self.aliases);
        }
        for (at, key) in keys.iter().enumerate() {
            let next = if is_null(node) { None } else { self.step(node, key)? };
            let Some(next) = next else {
                self.arrive(node, is_shared);
                let missing = keys[at..].iter().map(|key| (*key).to_owned());
                return Some(Spot::Missing(node, missing.collect()));
            };
            if at + 1 == keys.len() && next.parent() != Some(node) {
                self.arrive(node, is_shared);
                return Some(Spot::Merged(next.resolve(), node, (*key).to_owned()));
            }
            is_shared |= next.kind() == NodeKind::Alias || next.parent() != Some(node);
            self.last.extend((next.kind() == NodeKind::Alias).then(|| next.index()));
            node = self.resolve(next);
        }
        self.arrive(node, is_shared);
        Some(Spot::There(node))
    }

    /// Says that what was followed last, and is missing, is not to be made.
    pub(crate) fn decline(&mut self, spot: &Spot<'a>) {
        if let Spot::Missing(at, _) = spot {
            self.declined.extend(self.last.drain(..).map(|alias| (at.index(), alias)));
        }
    }

    /// Puts a text where a path ends, and makes what is missing.
    pub(crate) fn set(&mut self, spot: &Spot<'a>, text: &str) {
        self.set_value(spot, Value::string(text.to_owned()));
    }

    /// Puts a value where a path ends.
    pub(crate) fn set_value(&mut self, spot: &Spot<'a>, value: Value<'static>) {
        match spot {
            Spot::There(node) => {
                self.values.insert(node.index(), (*node, value));
            }
            Spot::Merged(node, ..) if node.as_str().is_some_and(|it| is_text(&value, &it)) => {}
            Spot::Merged(_, at, key) => self.add(*at, std::slice::from_ref(key), value),
            Spot::Missing(at, keys) => self.add(*at, keys, value),
        }
    }

    fn add(&mut self, at: NodeRef<'a>, keys: &[String], value: Value<'static>) {
        let (_, branch) = self.new.entry(at.index()).or_insert_with(|| (at, Branch::new()));
        grow(branch, keys, value);
    }

    /// Whether nothing is to change.
    pub(crate) fn is_empty(&self) -> bool {
        self.values.is_empty() && self.new.is_empty()
    }

    fn add_to(self, edit: &mut Edit<'a>) -> Result<(), EditError> {
        for (_, (node, value)) in self.values {
            edit.set(node, value)?;
        }
        for (_, (at, branch)) in self.new {
            if is_null(at) {
                edit.set(at, Tree::Branch(branch).into_value())?;
                continue;
            }
            for (key, tree) in branch {
                edit.insert_key(at, &key, tree.into_value(), KeyPosition::Last)?;
            }
        }
        Ok(())
    }

    /// Whether everything that shares a changed node was asked to change as well, as in `labels: *labels`: the node by a path of
    /// its own, and every alias of it.
    fn is_asked_of_all(&self, root: NodeRef<'a>) -> bool {
        if self.aliases.is_empty() {
            return false;
        }
        let changed: Vec<usize> = self.values.keys().chain(self.new.keys()).copied().collect();
        let mut aliases = root.descendants().filter_map(|it| Some((it, it.target()?.subtree())));
        aliases.all(|(alias, target)| {
            let alias = alias.index();
            let mut declined = self.declined.iter().filter(|(_, it)| *it == alias);
            let is_declined = declined.any(|(at, _)| self.new.contains_key(at));
            let is_asked = self.aliases.contains(&alias) && !is_declined;
            let mut shared = changed.iter().filter(|it| target.contains(it));
            shared.all(|it| is_asked && self.direct.contains(it))
        })
    }
}

/// Changes a resource: what is to be done is collected first, and made by one edit. True where its text is another now.
pub(crate) fn change<T>(
    resource: &mut Resource,
    collect: impl for<'a> FnOnce(&mut Changes<'a>, &'a Resource) -> Result<T, Error>,
) -> Result<T, Error> {
    let before = resource.clone();
    let mut changes = Changes::default();
    let made = collect(&mut changes, &before)?;
    if changes.is_empty() {
        return Ok(made);
    }
    let file = before.item().file();
    let is_shared = changes.is_asked_of_all(before.root());
    let mut edit = Edit::new(file).allow_shared(is_shared);
    let refused = |error: EditError| {
        let told = Diagnostic::from_edit(&error, file);
        let is_hinted = !told.hints.is_empty();
        let hint = "write it so that it can be changed alone, or change it by hand";
        about(&before, if is_hinted { told } else { told.hint(hint) })
    };
    changes.add_to(&mut edit).map_err(refused)?;
    if !edit.is_empty() {
        resource.replace(edit.apply().map_err(refused)?)?;
    }
    Ok(made)
}

/// An error that names the resource and its file.
pub(crate) fn about(resource: &Resource, mut told: Diagnostic) -> Error {
    told.file = resource.path().map(|path| path.as_str().into());
    told.resource = Some(resource.view().label().into());
    told.into()
}

/// An error at a node of a resource, and what to do about it.
pub(crate) fn at(
    resource: &Resource,
    node: NodeRef<'_>,
    message: impl Into<String>,
    hint: impl Into<String>,
) -> Error {
    let file = resource.item().file();
    about(resource, Diagnostic::untyped_error(message).at(file, node.span()).hint(hint.into()))
}

/// Whether a node is there and says nothing.
pub(crate) fn is_null(node: NodeRef<'_>) -> bool {
    node.as_scalar().is_some_and(|scalar| scalar.resolve() == ScalarType::Null)
}

/// The text of a scalar, whatever its type; none for null and for collections.
pub(crate) fn text_of<'a>(node: NodeRef<'a>) -> Option<std::borrow::Cow<'a, str>> {
    let node = node.resolve();
    node.as_scalar().filter(|_| !is_null(node)).map(|scalar| scalar.value())
}

fn is_text(value: &Value<'_>, text: &str) -> bool {
    matches!(value, Value::String(it) if it == text)
}

fn grow(branch: &mut Branch, keys: &[String], value: Value<'static>) {
    let Some((key, rest)) = keys.split_first() else { return };
    let at = branch.iter().position(|(name, _)| name == key).unwrap_or_else(|| {
        branch.push((key.clone(), Tree::Branch(Branch::new())));
        branch.len() - 1
    });
    match (&mut branch[at].1, rest) {
        (tree, []) => *tree = Tree::Leaf(value),
        (Tree::Branch(branch), rest) => grow(branch, rest, value),
        (Tree::Leaf(_), _) => {}
    }
}

impl Tree {
    fn into_value(self) -> Value<'static> {
        match self {
            Self::Leaf(value) => value,
            Self::Branch(branch) => Value::Mapping(
                branch
                    .into_iter()
                    .map(|(key, tree)| (Value::string(key), tree.into_value()))
                    .collect(),
            ),
        }
    }
}
