//! Merge strategies of lists and mappings.

use super::node::{Attributes, ListType, Text, ValueKind};

/// How a list is merged.
///
/// Two families of keywords define it, and they mostly agree: the patch strategy (`x-kubernetes-patch-strategy` with
/// `x-kubernetes-patch-merge-key`), which strategic merge patches and kustomize use, and the list type (`x-kubernetes-list-type`
/// with `x-kubernetes-list-map-keys`), which server-side apply uses. In this order:
///
/// 1. strategy `replace`: [`ListStrategy::Atomic`];
/// 2. strategy `merge`: [`ListStrategy::Associative`] by the list-map-keys, which name all the keys (`containerPort` and `protocol`), or
///    else by the merge key (`containerPort` alone); without either, [`ListStrategy::Set`] for scalars;
/// 3. list type `map`: [`ListStrategy::Associative`]; `set`: [`ListStrategy::Set`]; `atomic`: [`ListStrategy::Atomic`];
/// 4. nothing: [`ListStrategy::Unknown`].
///
/// A list that is `atomic` for the server and `merge` for patches is merged; two lists in the status of built-in kinds are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListStrategy<'a> {
    /// The schema does not define it.
    Unknown,
    /// One side replaces the other as a whole: `atomic` and `replace`.
    Atomic,
    /// A set of scalars, merged as a union.
    Set,
    /// An associative list: elements with the same keys are merged.
    Associative(MergeKeys<'a>),
}

/// The merge keys of an associative list: one or more.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct MergeKeys<'a>(&'a [Text]);

impl<'a> MergeKeys<'a> {
    /// The keys in the order of the schema. Patches use the first one only.
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
/// The patch strategy takes precedence over `x-kubernetes-map-type`, and keywords next to a reference over those of the
/// definition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MappingStrategy {
    /// Field by field.
    Merge,
    /// One value for the server (`x-kubernetes-map-type: atomic`): it has one owner. Patches still merge it field by field.
    Atomic,
    /// One side replaces the other as a whole (strategy `replace`).
    Replace,
    /// Fields that the patch does not have are removed (strategy `retainKeys`), because only one member of a union may be set.
    RetainKeys,
}

/// The strategy of a list whose elements have this type.
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

/// The strategy that the attributes of a reference or a definition give.
pub(super) fn mapping_strategy(attributes: &Attributes) -> Option<MappingStrategy> {
    match attributes {
        Attributes { strategy, .. } if strategy.replace => Some(MappingStrategy::Replace),
        Attributes { strategy, .. } if strategy.retain_keys => Some(MappingStrategy::RetainKeys),
        Attributes { is_atomic_map: true, .. } => Some(MappingStrategy::Atomic),
        _ => None,
    }
}
