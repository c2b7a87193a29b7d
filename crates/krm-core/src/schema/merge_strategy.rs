//! How a list or a mapping is merged, as its schema says.

use super::node::{Attributes, ListType, Text, ValueKind};

/// How a list is merged.
///
/// Two families of attributes say so, and they mostly agree: the patch strategy (`x-kubernetes-patch-strategy` with
/// `x-kubernetes-patch-merge-key`), which patches and kustomize go by, and the list type (`x-kubernetes-list-type` with
/// `x-kubernetes-list-map-keys`), which the server goes by. In this order:
///
/// 1. strategy `replace`: [`ListStrategy::Atomic`];
/// 2. strategy `merge`: [`ListStrategy::Associative`] by the list-map-keys, which name all the keys (`containerPort` and `protocol`), or
///    else by the merge key (`containerPort` alone); without either, [`ListStrategy::Set`] for scalars;
/// 3. list type `map`: [`ListStrategy::Associative`]; `set`: [`ListStrategy::Set`]; `atomic`: [`ListStrategy::Atomic`];
/// 4. nothing: [`ListStrategy::Unknown`].
///
/// So a list that is `atomic` for the server and `merge` for patches (two lists in the status of Kubernetes' own kinds) is merged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListStrategy<'a> {
    /// The schema does not say.
    Unknown,
    /// Taken whole from one side: `atomic` and `replace`.
    Atomic,
    /// A union of scalars.
    Set,
    /// Items with the same keys are one item.
    Associative(MergeKeys<'a>),
}

/// The keys that tell the items of a list apart: one or more.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct MergeKeys<'a>(&'a [Text]);

impl<'a> MergeKeys<'a> {
    /// The keys in the schema's order; the first is the one that patches go by.
    pub fn iter(self) -> impl ExactSizeIterator<Item = &'a str> + Clone {
        self.0.iter().map(|key| &**key)
    }
}

impl std::fmt::Debug for MergeKeys<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

/// How a mapping is merged.
///
/// The patch strategy counts before `x-kubernetes-map-type`, and what is said where a type is used counts before what its
/// definition says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MappingStrategy {
    /// Field by field.
    Merge,
    /// One value for the server (`x-kubernetes-map-type: atomic`): it has one owner. Patches still merge it field by field.
    Atomic,
    /// Taken whole (strategy `replace`).
    Replace,
    /// Fields that the source does not have go away (strategy `retainKeys`): of a union only one member is meant.
    RetainKeys,
}

/// The rule of a list whose items have this value_kind.
pub(super) fn list_strategy<'a>(attributes: &'a Attributes, items: ValueKind) -> ListStrategy<'a> {
    let strategy = attributes.strategy;
    if strategy.replace {
        return ListStrategy::Atomic;
    }
    let keyed =
        |keys: &'a [Text]| (!keys.is_empty()).then_some(ListStrategy::Associative(MergeKeys(keys)));
    if strategy.merge {
        let by_merge_key = || keyed(attributes.merge_key.as_slice());
        let is_scalar = !matches!(items, ValueKind::Object | ValueKind::Array | ValueKind::Any);
        let without_key = if is_scalar { ListStrategy::Set } else { ListStrategy::Unknown };
        return keyed(&attributes.keys).or_else(by_merge_key).unwrap_or(without_key);
    }
    match attributes.list_type {
        Some(ListType::Atomic) => ListStrategy::Atomic,
        Some(ListType::Set) => ListStrategy::Set,
        Some(ListType::Map) => keyed(&attributes.keys).unwrap_or(ListStrategy::Unknown),
        None => ListStrategy::Unknown,
    }
}

/// The rule that the attributes of one use or one definition give.
pub(super) fn mapping_strategy(attributes: &Attributes) -> Option<MappingStrategy> {
    match attributes {
        Attributes { strategy, .. } if strategy.replace => Some(MappingStrategy::Replace),
        Attributes { strategy, .. } if strategy.retain_keys => Some(MappingStrategy::RetainKeys),
        Attributes { is_atomic_map: true, .. } => Some(MappingStrategy::Atomic),
        _ => None,
    }
}
