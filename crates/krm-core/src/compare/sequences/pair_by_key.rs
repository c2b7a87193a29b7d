//! The elements of an associative list, a set or a list of resources, by what identifies them.

use std::collections::HashMap;

use krm_yaml::{NodeRef, Value};

use super::merge_keys::{ListType, identity};
use crate::print::json;

/// What identifies an element: its merge keys or its value, and a number among those with the same ones.
///
/// Numbers make duplicates pair in their order, so that no element is lost where a list is not as its schema demands.
/// [`align_duplicates`](super::align_duplicates) assigns better ones.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct ElementId {
    pub(super) key: ElementKey,
    pub(super) occurrence: usize,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum ElementKey {
    /// The values of the merge keys, with defaults filled in.
    Keys(Vec<String>),
    /// The element as JSON: in a set, or where it has none of the merge keys and pairs with an equal one only.
    Value(String),
}

/// The elements of one version of a list.
#[derive(Debug, Default)]
pub(crate) struct Elements<'a> {
    pub(crate) nodes: Vec<NodeRef<'a>>,
    pub(crate) ids: Vec<ElementId>,
    index: HashMap<ElementId, usize>,
    /// Whether two elements have the same merge keys.
    pub(super) has_duplicates: bool,
    /// The first element with the merge keys of others whose counterpart had to be guessed.
    pub(crate) duplicate: Option<NodeRef<'a>>,
    /// The first element that has none of the merge keys.
    pub(crate) keyless: Option<NodeRef<'a>>,
}

impl<'a> Elements<'a> {
    /// The elements of a list for which `keep` is true.
    pub(crate) fn of(
        list: Option<NodeRef<'a>>,
        list_type: &ListType,
        keep: impl Fn(NodeRef<'a>) -> bool,
    ) -> Self {
        let mut elements = Self::default();
        let mut counts: HashMap<ElementKey, usize> = HashMap::new();
        for node in list.into_iter().flat_map(NodeRef::children).filter(|node| keep(*node)) {
            let key = element_key(node, list_type);
            let count = counts.entry(key.clone()).or_insert(0);
            match &key {
                ElementKey::Keys(_) if *count > 0 => elements.has_duplicates = true,
                ElementKey::Value(_) if matches!(list_type, ListType::Map(_)) => {
                    elements.keyless = elements.keyless.or(Some(node));
                }
                _ => {}
            }
            let id = ElementId { key, occurrence: *count };
            *count += 1;
            elements.index.insert(id.clone(), elements.nodes.len());
            elements.nodes.push(node);
            elements.ids.push(id);
        }
        elements
    }

    /// The position of an element.
    pub(crate) fn find(&self, id: &ElementId) -> Option<usize> {
        self.index.get(id).copied()
    }

    /// Changes the identity of an element.
    pub(super) fn set_id(&mut self, at: usize, id: ElementId) {
        self.index.remove(&self.ids[at]);
        self.index.insert(id.clone(), at);
        self.ids[at] = id;
    }

    pub(crate) fn get(&self, id: &ElementId) -> Option<NodeRef<'a>> {
        self.find(id).map(|at| self.nodes[at])
    }

    pub(crate) fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Gives the element at a position another number.
    pub(super) fn renumber(&mut self, at: usize, occurrence: usize) {
        self.ids[at].occurrence = occurrence;
    }

    /// Restores the index after [`Elements::renumber`].
    pub(super) fn reindex(&mut self) {
        self.index = self.ids.iter().cloned().zip(0..).collect();
    }
}

impl ElementId {
    /// The value of the first merge key, for paths.
    pub(crate) fn first_key(&self) -> Option<&str> {
        match &self.key {
            ElementKey::Keys(values) => values.first().map(String::as_str),
            ElementKey::Value(_) => None,
        }
    }

    /// The element as messages and conflict markers show it.
    pub(crate) fn display(&self) -> String {
        match &self.key {
            ElementKey::Keys(values) => values.join("/"),
            ElementKey::Value(value) => value.clone(),
        }
    }
}

fn element_key(node: NodeRef<'_>, list_type: &ListType) -> ElementKey {
    if *list_type == ListType::Resources
        && let Some(identity) = identity(node)
    {
        return ElementKey::Keys(vec![identity.to_string()]);
    }
    let keys = match list_type {
        ListType::Map(keys) => keys.as_slice(),
        _ => &[],
    };
    let keys = || keys.iter().filter(|key| !key.is_secondary);
    // Defaults alone do not identify an element: all elements without keys would be one.
    if !keys().any(|key| key.text(node).is_some()) {
        return ElementKey::Value(json::display(&Value::Node(node)));
    }
    ElementKey::Keys(keys().map(|key| key.value(node).unwrap_or_default()).collect())
}
