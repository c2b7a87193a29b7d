//! Opens the package of `eval`, `run` and `render`: its files, and its resources as items.

use krm_core::functions::resource_list::{Item, Items};
use krm_core::{Diagnostic, Package, kubernetes_reader};

use super::output::Output;
use crate::cli::{Global, Preview};
use crate::commands::cfg::edit_session::{EditOptions, EditSession};
use crate::console::Console;
use crate::{Exit, Failure, parallel};

/// The options for editing a package as a whole. A package whose output goes elsewhere is neither locked nor written.
pub(super) fn edit_options(preview: &Preview, output: Option<&Output>) -> EditOptions {
    let dry_run = preview.dry_run || output.is_some();
    EditOptions::atomic(Preview { dry_run, ..preview.clone() })
}

/// Opens a directory or file, with its subpackages or without.
pub(super) fn open<'a>(
    (dir, recurses): (&str, bool),
    options: &'a EditOptions,
    global: &Global,
    console: &mut Console,
) -> Result<EditSession<'a>, Failure> {
    EditSession::open_at(dir, &[], recurses, options, global, console)
}

/// The resources of a package. Documents that are not resources are reported; with `--strict` they are errors.
pub(super) fn items(
    package: &Package,
    is_strict: bool,
    console: &mut Console,
) -> Result<Vec<Item>, Failure> {
    let (items, warning) = of_package(Items::from_package(package, |_| true), is_strict)?;
    warning.iter().for_each(|warning| console.report(warning));
    Ok(items)
}

/// The same from a package that is only needed for its texts from now on.
pub(super) fn take_items(
    package: &mut Package,
    is_strict: bool,
    console: &mut Console,
) -> Result<Vec<Item>, Failure> {
    let (items, warning) =
        of_package(Items::take_from(package, parallel::for_each_index), is_strict)?;
    warning.iter().for_each(|warning| console.report(warning));
    Ok(items)
}

/// Rejects files with text that only Kubernetes reads, before a validator passes what it cannot see. The resources
/// alone are not enough: a file of only comments can hide a resource.
pub(super) fn check_validated_files(package: &Package) -> Result<(), Failure> {
    let errors: Vec<Diagnostic> = package
        .files()
        .iter()
        .filter_map(|it| Some((it, it.file()?)))
        .flat_map(|(it, file)| {
            let errors = kubernetes_reader::hidden_text(file).into_iter();
            errors.map(|error| error.in_file(&*it.display_path))
        })
        .collect();
    if errors.is_empty() { Ok(()) } else { Err(Failure::Diagnostics(Exit::Input, errors)) }
}

/// The same without warnings, for a package that is read twice.
pub(super) fn items_quietly(package: &Package, is_strict: bool) -> Result<Vec<Item>, Failure> {
    of_package(Items::from_package(package, |_| true), is_strict).map(|(items, _)| items)
}

fn of_package(
    items: Result<Items, Vec<Diagnostic>>,
    is_strict: bool,
) -> Result<(Vec<Item>, Option<Diagnostic>), Failure> {
    let items = items.map_err(|errors| Failure::Diagnostics(Exit::Input, errors))?;
    match items.skipped_diagnostic(is_strict) {
        Some(error) if error.is_error() => Err(Failure::input(error)),
        warning => Ok((items.items, warning)),
    }
}
