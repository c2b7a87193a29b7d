//! How `cat` and `grep` print resources.

use clap::ValueEnum;
use krm_core::print::cat::{self, Entry, Options};
use krm_core::{Diagnostic, PackageFile};
use krm_yaml::Value;

use super::finish;
use crate::cli::Global;
use crate::console::Console;
use crate::loader::LoadedPackage;
use crate::{CommandResult, Exit, Failure};

/// How resources are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum ResourceFormat {
    /// Compact JSON, one resource a line, aliases and merge keys resolved
    Json,
    /// As they are written, with their comments
    Yaml,
}

/// The texts of the entries of one file that are wanted.
pub(super) fn texts(
    file: &PackageFile,
    format: ResourceFormat,
    look: Options,
    keep: impl Fn(&Entry<'_>) -> bool,
) -> Result<Vec<String>, Vec<Diagnostic>> {
    let print = |entries: &[Entry<'_>]| match format {
        ResourceFormat::Json => entries.iter().map(json).collect(),
        ResourceFormat::Yaml => cat::texts(entries),
    };
    cat::with_entries(file, look, keep, print)
}

fn json(entry: &Entry<'_>) -> String {
    format!("{}\n", krm_core::print::json::write(&Value::Node(entry.node)))
}

/// Prints texts one after the other, and counts them.
pub(super) struct Printer {
    format: ResourceFormat,
    pub(super) count: usize,
    /// Why files could not be printed in the way that was asked for.
    left_out: Vec<Diagnostic>,
}

impl Printer {
    pub(super) fn new(format: ResourceFormat) -> Self {
        Self { format, count: 0, left_out: Vec::new() }
    }

    /// Prints what a file holds. Where that fails, the other files are printed nevertheless.
    pub(super) fn file(
        &mut self,
        texts: Result<Vec<String>, Vec<Diagnostic>>,
        console: &mut Console,
    ) -> Result<(), Failure> {
        let texts = texts.unwrap_or_else(|told| {
            self.left_out.extend(told);
            Vec::new()
        });
        texts.iter().try_for_each(|text| self.print(text, console))
    }

    /// Says what was not printed, and what could not be read; that counts more than `exit`.
    pub(super) fn finish(
        self,
        loaded: &LoadedPackage,
        exit: Exit,
        global: &Global,
        console: &mut Console,
    ) -> CommandResult {
        console.flush()?;
        console.report_all(&self.left_out);
        let exit = if self.left_out.is_empty() { exit } else { Exit::Input };
        finish(loaded, exit, global, console)
    }

    fn print(&mut self, text: &str, console: &mut Console) -> Result<(), Failure> {
        if self.count > 0 && self.format == ResourceFormat::Yaml {
            console.print("---\n")?;
        }
        self.count += 1;
        console.print(text)
    }
}
