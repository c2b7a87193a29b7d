//! How `cat` and `grep` print resources.

use clap::ValueEnum;
use krm_core::PackageFile;
use krm_core::listing::{self, Entry, Look};
use krm_yaml::Value;

use crate::show::Screen;
use crate::{Exit, Failure};

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
    look: Look,
    keep: impl Fn(&Entry<'_>) -> bool,
) -> Result<Vec<String>, Failure> {
    let print = |entries: &[Entry<'_>]| match format {
        ResourceFormat::Json => entries.iter().map(json).collect(),
        ResourceFormat::Yaml => listing::texts(entries),
    };
    listing::with_entries(file, look, keep, print).map_err(|told| Failure::Told(Exit::Input, told))
}

fn json(entry: &Entry<'_>) -> String {
    format!("{}\n", krm_core::json::write(&Value::Node(entry.node)))
}

/// Prints texts one after the other, and counts them.
pub(super) struct Printer {
    format: ResourceFormat,
    pub(super) count: usize,
}

impl Printer {
    pub(super) fn new(format: ResourceFormat) -> Self {
        Self { format, count: 0 }
    }

    pub(super) fn print(&mut self, text: &str, screen: &mut Screen) -> Result<(), Failure> {
        if self.count > 0 && self.format == ResourceFormat::Yaml {
            screen.print("---\n")?;
        }
        self.count += 1;
        screen.print(text)
    }
}
