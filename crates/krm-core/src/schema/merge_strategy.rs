//! Merge strategies of lists and mappings.

use super::node::{Attributes, ListType, Text, ValueKind};

/// How a list is merged.
///
/// Two families of keywords define it, and they mostly agree: the patch strategy (`x-kubernetes-patch-strategy` with
/// `x-kubernetes-patch-merge-key`), which strategic merge patches and kustomize use, and the list type (`x-kubernetes-list-type`
/// with `x-kubernetes-list-map-keys`), which server-side apply uses. In this order:
///
/// 1. strategy `replace`: [`ListStrategy::Replace`];
/// 2. strategy `merge`: [`ListStrategy::Associative`] by the list-map-keys, which name all the keys (`containerPort` and `protocol`), or
///    else by the merge key (`containerPort` alone); without either, [`ListStrategy::Set`] for scalars, and
///    [`ListStrategy::Union`] if the type of the elements is not declared;
/// 3. list type `map`: [`ListStrategy::Associative`]; `set`: [`ListStrategy::Set`]; `atomic`: [`ListStrategy::Atomic`];
/// 4. nothing: [`ListStrategy::Unknown`].
///
/// A list that is `atomic` for the server and `merge` for patches is merged; two lists in the status of built-in kinds are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListStrategy<'a> {
    /// The schema does not define it.
    Unknown,
    /// One side replaces the other as a whole: strategy `replace`.
    Replace,
    /// One owner for the server, which says nothing about patches: list type `atomic`.
    Atomic,
    /// A set of scalars, merged as a union.
    Set,
    /// A set if the elements are scalars: strategy `merge` without a key, for elements of unknown type.
    Union,
    /// An associative list: elements with the same keys are merged.
    Associative(MergeKeys<'a>),
    /// The functions of a pipeline: by name, or else by what is run.
    Functions,
}

/// The merge keys of an associative list: one or more.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct MergeKeys<'a> {
    keys: &'a [Text],
    /// The one of them that patches use, if the schema names it.
    patch_key: Option<&'a str>,
}

impl<'a> MergeKeys<'a> {
    /// The keys in the order of the schema. Patches use the first one only.
    pub fn iter(self) -> impl ExactSizeIterator<Item = &'a str> + Clone {
        self.keys.iter().map(|key| &**key)
    }

    /// Whether patches pair elements without this key, so that its value may change: the schema names another one for patches.
    pub fn is_secondary(self, key: &str) -> bool {
        self.patch_key.is_some_and(|patch_key| patch_key != key)
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
        return ListStrategy::Replace;
    }
    let patch_key = attributes.merge_key.as_deref();
    let keyed = |keys: &'a [Text]| {
        let keys = MergeKeys { keys, patch_key };
        (!keys.keys.is_empty()).then_some(ListStrategy::Associative(keys))
    };
    if strategy.merge {
        let by_merge_key = || keyed(attributes.merge_key.as_slice());
        let without_key = match items {
            ValueKind::Object | ValueKind::Array => ListStrategy::Unknown,
            ValueKind::Any => ListStrategy::Union,
            _ => ListStrategy::Set,
        };
        return keyed(&attributes.keys).or_else(by_merge_key).unwrap_or(without_key);
    }
    match attributes.list_type {
        Some(ListType::Atomic) => ListStrategy::Atomic,
        Some(ListType::Set) => ListStrategy::Set,
        Some(ListType::Functions) => ListStrategy::Functions,
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
