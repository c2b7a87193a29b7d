//! Elements of lists: the name by which the ones of two versions pair.

use std::collections::HashMap;

use krm_yaml::{NodeRef, Value};

use super::shape::{KeyField, ListKind};
use crate::model::resource::{field, scalar_text};
use crate::print::json;

/// What an element pairs by: its keys or its value, and how many of the kind stand before it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct ElementId {
    name: Name,
    again: usize,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Name {
    /// The values of the keys, with defaults filled in.
    Keys(Vec<String>),
    /// The element has no key: it pairs with an equal one only.
    Value(String),
}

/// The elements of one version of a list.
#[derive(Debug, Default)]
pub(crate) struct Elements<'a> {
    pub(crate) nodes: Vec<NodeRef<'a>>,
    pub(crate) ids: Vec<ElementId>,
    index: HashMap<ElementId, usize>,
    /// The first element whose keys stand before it already.
    pub(super) double: Option<NodeRef<'a>>,
    /// The first element that has no key.
    pub(super) keyless: Option<NodeRef<'a>>,
}

impl<'a> Elements<'a> {
    /// The elements of a list that `keep` wants.
    pub(crate) fn of(
        list: Option<NodeRef<'a>>,
        kind: &ListKind,
        keep: impl Fn(NodeRef<'a>) -> bool,
    ) -> Self {
        let mut elements = Self::default();
        let mut counts: HashMap<Name, usize> = HashMap::new();
        for node in list.into_iter().flat_map(NodeRef::children).filter(|node| keep(*node)) {
            let name = name_of(node, kind);
            let count = counts.entry(name.clone()).or_insert(0);
            match &name {
                Name::Keys(_) if *count > 0 => elements.double = elements.double.or(Some(node)),
                Name::Value(_) if matches!(kind, ListKind::Keyed(_)) => {
                    elements.keyless = elements.keyless.or(Some(node));
                }
                _ => {}
            }
            let id = ElementId { name, again: *count };
            *count += 1;
            elements.index.insert(id.clone(), elements.nodes.len());
            elements.nodes.push(node);
            elements.ids.push(id);
        }
        elements
    }

    /// Where the element of this name stands.
    pub(crate) fn find(&self, id: &ElementId) -> Option<usize> {
        self.index.get(id).copied()
    }

    pub(super) fn get(&self, id: &ElementId) -> Option<NodeRef<'a>> {
        self.find(id).map(|at| self.nodes[at])
    }

    pub(crate) fn len(&self) -> usize {
        self.nodes.len()
    }
}

impl ElementId {
    /// The value of the first key, for paths.
    pub(crate) fn first_key(&self) -> Option<&str> {
        match &self.name {
            Name::Keys(values) => values.first().map(String::as_str),
            Name::Value(_) => None,
        }
    }

    /// The name for people.
    pub(super) fn shown(&self) -> String {
        match &self.name {
            Name::Keys(values) => values.join("/"),
            Name::Value(value) => value.clone(),
        }
    }
}

fn name_of(node: NodeRef<'_>, kind: &ListKind) -> Name {
    if *kind == ListKind::Resources
        && let Some(identity) = super::lists::identity(node)
    {
        return Name::Keys(vec![identity.to_string()]);
    }
    let keys = match kind {
        ListKind::Keyed(keys) => keys.as_slice(),
        _ => &[],
    };
    let values: Vec<Option<String>> = keys.iter().map(|key| key_value(node, key)).collect();
    // An element that has but a default has no key.
    let has_any = keys.iter().any(|key| text_of(node, &key.name).is_some());
    if !has_any {
        return Name::Value(json::write(&Value::Node(node)));
    }
    Name::Keys(values.into_iter().map(Option::unwrap_or_default).collect())
}

fn key_value(node: NodeRef<'_>, key: &KeyField) -> Option<String> {
    text_of(node, &key.name).or_else(|| key.default.clone())
}

/// The text of a scalar field; `80` and `"80"` are one key.
pub(super) fn text_of(node: NodeRef<'_>, name: &str) -> Option<String> {
    field(node, name).and_then(scalar_text).map(|text| text.into_owned())
}
