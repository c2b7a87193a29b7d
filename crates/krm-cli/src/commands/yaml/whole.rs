//! Files that are read whole: every document of them must be readable.

use krm_core::Diagnostic;
use krm_yaml::{File, ReadOptions};

use super::broken;
use crate::{Exit, Failure, disk};

/// Reads a file; one with a document that cannot be read is refused.
pub(super) fn read(name: &str) -> Result<File, Failure> {
    let file = disk::parse(name, ReadOptions::default()).map_err(Failure::input)?;
    let errors = broken(name, &file.documents().collect::<Vec<_>>());
    if errors.is_empty() { Ok(file) } else { Err(Failure::Diagnostics(Exit::Input, errors)) }
}

/// Standard input can be read only once.
pub(super) fn once(names: &[&str]) -> Result<(), Failure> {
    if names.iter().filter(|name| **name == disk::STDIN).count() < 2 {
        return Ok(());
    }
    let twice = Diagnostic::untyped_error("standard input can be named only once");
    Err(Failure::Diagnostics(Exit::Usage, vec![twice]))
}
