//! The changes of a function, field by field, for `--explain`.

use krm_core::diff;
use krm_core::functions::resource_list::Item;

use super::ItemChange;

/// A line for each changed resource, followed by a line for each of its changed fields and comments.
pub fn explain(changes: &[ItemChange], show_secrets: bool) -> Vec<String> {
    let mut lines = Vec::new();
    for change in changes {
        let [before, after] =
            [&change.before, &change.after].map(|it| it.as_ref().map(Item::package_file));
        let change = diff::diff_resource(before.as_ref(), after.as_ref());
        lines.push(diff::heading(&change));
        let fields = diff::field_lines(&change, show_secrets).into_iter();
        lines.extend(
            fields.chain(diff::formatting_lines(&change, show_secrets)).map(|it| format!("  {it}")),
        );
    }
    lines
}
