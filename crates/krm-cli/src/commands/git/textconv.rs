//! `krm git textconv`: a file as one line per value, which git compares instead of its lines.

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
    let bytes =
        disk::read_named(&args.file).map_err(|error| Failure::input(error.in_file(&*args.file)))?;
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let file = File::parse(text.clone()).ok().filter(|file| file.errors().next().is_none());
    let converted = file.and_then(|file| outline(&file, &ListOptions::default()));
    // A file that is not YAML, such as one with conflict markers, is compared line by line: an error would end git.
    console.data(&converted.unwrap_or(text))?;
    Ok(Exit::Success)
}
