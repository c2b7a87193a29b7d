//! What a function did, field by field, as people read it.

use krm_core::diff::{packages, text};
use krm_core::functions::resource_list::Item;

use super::Changed;

/// A line for each resource that changed, and one for each of its fields and comments.
pub fn explain(changes: &[Changed], show_secrets: bool) -> Vec<String> {
    let mut lines = Vec::new();
    for changed in changes {
        let [before, after] =
            [&changed.before, &changed.after].map(|it| it.as_ref().map(Item::package_file));
        let change = packages::of_one(before.as_ref(), after.as_ref());
        lines.push(text::heading(&change));
        let inner = text::fields(&change, show_secrets).into_iter();
        lines.extend(inner.chain(text::apart(&change, show_secrets)).map(|it| format!("  {it}")));
    }
    lines
}
