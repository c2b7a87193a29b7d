//! Errors of built-in functions in the files of a package: functions know their resources as documents of their own.

use krm_core::wire::Item;
use krm_core::{Diagnostic, Package};

/// The resource that an error is about, by its label and a path as the items have it.
pub(super) fn about<'i>(told: &Diagnostic, path: &str, items: &'i [Item]) -> Option<&'i Item> {
    let is_it = |item: &&Item| {
        let is_named = told.resource.as_deref() == Some(&item.resource().label());
        is_named && item.path.as_ref().is_some_and(|it| it.as_str() == path)
    };
    items.iter().find(is_it)
}

/// The error with lines of the file that its resource was read from.
pub(super) fn in_file(
    mut told: Diagnostic,
    item: Option<&Item>,
    package: &Package,
    shown: String,
) -> Diagnostic {
    if let (Some(location), Some(item)) = (told.location.as_mut(), item)
        && let Some(placed) = item.origin.and_then(|at| package.resources().nth(at))
    {
        let line = placed.resource.position().line;
        location.line += line.saturating_sub(item.root().position().line);
    }
    told.in_file(shown)
}
