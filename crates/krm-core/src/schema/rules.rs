//! How a list or a mapping is merged, as its schema says.

use super::node::{Facts, ListType, Shape, Text};

/// How a list is merged.
///
/// Two families of facts say so, and they mostly agree: the patch strategy (`x-kubernetes-patch-strategy` with
/// `x-kubernetes-patch-merge-key`), which patches and kustomize go by, and the list type (`x-kubernetes-list-type` with
/// `x-kubernetes-list-map-keys`), which the server goes by. In this order:
///
/// 1. strategy `replace`: [`ListRule::Whole`];
/// 2. strategy `merge`: [`ListRule::Keyed`] by the list-map-keys, which name all the keys (`containerPort` and `protocol`), or
///    else by the merge key (`containerPort` alone); without either, [`ListRule::Set`] for scalars;
/// 3. list type `map`: [`ListRule::Keyed`]; `set`: [`ListRule::Set`]; `atomic`: [`ListRule::Whole`];
/// 4. nothing: [`ListRule::Unknown`].
///
/// So a list that is `atomic` for the server and `merge` for patches (two lists in the status of Kubernetes' own kinds) is merged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListRule<'a> {
    /// The schema does not say.
    Unknown,
    /// Taken whole from one side: `atomic` and `replace`.
    Whole,
    /// A union of scalars.
    Set,
    /// Items with the same keys are one item.
    Keyed(Keys<'a>),
}

/// The keys that tell the items of a list apart: one or more.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Keys<'a>(&'a [Text]);

impl<'a> Keys<'a> {
    /// The keys in the schema's order; the first is the one that patches go by.
    pub fn iter(self) -> impl ExactSizeIterator<Item = &'a str> + Clone {
        self.0.iter().map(|key| &**key)
    }
}

impl std::fmt::Debug for Keys<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

/// How a mapping is merged.
///
/// The patch strategy counts before `x-kubernetes-map-type`, and what is said where a type is used counts before what its
/// definition says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MappingRule {
    /// Field by field.
    Merge,
    /// One value for the server (`x-kubernetes-map-type: atomic`): it has one owner. Patches still merge it field by field.
    Atomic,
    /// Taken whole (strategy `replace`).
    Replace,
    /// Fields that the source does not have go away (strategy `retainKeys`): of a union only one member is meant.
    RetainKeys,
}

/// The rule of a list whose items have this shape.
pub(super) fn list_rule<'a>(facts: &'a Facts, items: Shape) -> ListRule<'a> {
    let strategy = facts.strategy;
    if strategy.replace {
        return ListRule::Whole;
    }
    let keyed = |keys: &'a [Text]| (!keys.is_empty()).then_some(ListRule::Keyed(Keys(keys)));
    if strategy.merge {
        let by_merge_key = || keyed(facts.merge_key.as_slice());
        let is_scalar = !matches!(items, Shape::Object | Shape::Array | Shape::Any);
        let without_key = if is_scalar { ListRule::Set } else { ListRule::Unknown };
        return keyed(&facts.keys).or_else(by_merge_key).unwrap_or(without_key);
    }
    match facts.list_type {
        Some(ListType::Atomic) => ListRule::Whole,
        Some(ListType::Set) => ListRule::Set,
        Some(ListType::Map) => keyed(&facts.keys).unwrap_or(ListRule::Unknown),
        None => ListRule::Unknown,
    }
}

/// The rule that the facts of one use or one definition give.
pub(super) fn mapping_rule(facts: &Facts) -> Option<MappingRule> {
    match facts {
        Facts { strategy, .. } if strategy.replace => Some(MappingRule::Replace),
        Facts { strategy, .. } if strategy.retain_keys => Some(MappingRule::RetainKeys),
        Facts { is_atomic_map: true, .. } => Some(MappingRule::Atomic),
        _ => None,
    }
}
