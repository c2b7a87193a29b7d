//! Prints resources as YAML or JSON, for `cat` and `grep`.

use clap::ValueEnum;
use krm_core::print::cat::{self, Entry, Options};
use krm_core::print::json;
use krm_core::{Diagnostic, PackageFile};

use super::report_load_errors;
use crate::cli::Global;
use crate::console::Console;
use crate::loader::LoadedPackage;
use crate::{CommandResult, Exit, Failure};

/// Format of resources.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum ResourceFormat {
    /// Compact JSON, one resource per line, with aliases and merge keys resolved
    Json,
    /// YAML as it is written, with comments
    Yaml,
}

/// The texts of those entries of a file for which `keep` is true.
pub(super) fn texts(
    file: &PackageFile,
    format: ResourceFormat,
    look: Options,
    keep: impl Fn(&Entry<'_>) -> bool,
) -> Result<Vec<String>, Vec<Diagnostic>> {
    let in_file = |error: Diagnostic| vec![error.in_file(&*file.display_path)];
    let print = |entries: &[Entry<'_>]| match format {
        ResourceFormat::Json => entries
            .iter()
            .map(|it| Ok(json::of_node(it.node).map_err(in_file)? + "\n"))
            .collect::<Result<Vec<String>, Vec<Diagnostic>>>(),
        ResourceFormat::Yaml => Ok(cat::texts(entries)),
    };
    cat::with_entries(file, look, keep, print)?
}

/// Prints resources with separators, and counts them.
pub(super) struct ResourcePrinter {
    format: ResourceFormat,
    pub(super) count: usize,
    /// Why files could not be printed.
    errors: Vec<Diagnostic>,
}

impl ResourcePrinter {
    pub(super) fn new(format: ResourceFormat) -> Self {
        Self { format, count: 0, errors: Vec::new() }
    }

    /// Prints the resources of a file. An error is reported at the end, after the other files were printed.
    pub(super) fn file(
        &mut self,
        texts: Result<Vec<String>, Vec<Diagnostic>>,
        console: &mut Console,
    ) -> Result<(), Failure> {
        let texts = texts.unwrap_or_else(|errors| {
            self.errors.extend(errors);
            Vec::new()
        });
        texts.iter().try_for_each(|text| self.print(text, console))
    }

    /// Reports what could not be printed or read, and returns `exit` unless there were errors.
    pub(super) fn finish(
        self,
        loaded: &LoadedPackage,
        exit: Exit,
        global: &Global,
        console: &mut Console,
    ) -> CommandResult {
        console.flush_before_diagnostics()?;
        console.report_all(&self.errors);
        let exit = if self.errors.is_empty() { exit } else { Exit::Input };
        report_load_errors(loaded, exit, global, console)
    }

    fn print(&mut self, text: &str, console: &mut Console) -> Result<(), Failure> {
        if self.count > 0 && self.format == ResourceFormat::Yaml {
            console.data("---\n")?;
        }
        self.count += 1;
        console.data(text)
    }
}
