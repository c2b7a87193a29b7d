//! `krm git textconv`: a file as one line per value, which git compares instead of its lines.

use std::path::Path;

use krm_core::compare::ListOptions;
use krm_core::diff::outline;
use krm_yaml::File;

use crate::console::Console;
use crate::{CommandResult, Exit, Failure, disk};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// File to print
    file: String,
}

pub(super) fn run(args: &Args, console: &mut Console) -> CommandResult {
    let path = Path::new(&args.file);
    let bytes = std::fs::read(path)
        .map_err(|error| Failure::input(disk::cannot_read(&error).in_file(&*args.file)))?;
    // A file that is not YAML, such as one with conflict markers, is compared line by line: an error would end git.
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let converted = match File::parse(text.clone()) {
        Ok(file) if file.errors().next().is_none() => outline(&file, &ListOptions::default()),
        _ => text,
    };
    console.data(&converted)?;
    Ok(Exit::Success)
}
