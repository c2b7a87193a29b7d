//! The changes of a function, field by field, for `--explain`.

use krm_core::Diagnostic;
use krm_core::diff;
use krm_core::functions::resource_list::Item;
use krm_core::print::Record;
use krm_yaml::{EditErrorKind, ExpansionError};

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

/// A record for each changed resource, as `krm cfg diff -o json` has them.
///
/// # Errors
/// If aliases of a changed value expand to too much.
pub fn explain_records(
    changes: &[ItemChange],
    show_secrets: bool,
) -> Result<Vec<Record<'static>>, Diagnostic> {
    let record = |change: &ItemChange| {
        let [before, after] =
            [&change.before, &change.after].map(|it| it.as_ref().map(Item::package_file));
        let change = diff::diff_resource(before.as_ref(), after.as_ref());
        let record = diff::record(&change, show_secrets, false);
        let fields = record.into_iter().map(|(name, value)| Ok((name, value.into_owned()?)));
        let fields = fields.collect::<Result<Record<'static>, ExpansionError>>();
        fields.map_err(|error| Diagnostic::error(EditErrorKind::from(error)))
    };
    changes.iter().map(record).collect()
}
