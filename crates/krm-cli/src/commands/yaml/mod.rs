//! `krm yaml`: commands for any YAML or JSON file.

mod check;
mod edits;
mod events;
mod get;
mod input;
mod inputs;
mod merge;
mod merge3;
mod operation;
mod path_edit;
mod rm;
mod selection;
mod set;
mod typed_value;

use clap::Subcommand;

pub(crate) use input::read_valid;

use crate::CommandResult;
use crate::cli::Global;
use crate::console::Console;

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Get(get::Args),
    Set(set::Args),
    Rm(rm::Args),
    Check(check::Args),
    Events(events::Args),
    Merge(merge::Args),
    Merge3(merge3::Args),
}

pub(crate) fn run(command: &Command, global: &Global, console: &mut Console) -> CommandResult {
    match command {
        Command::Get(args) => get::run(args, global, console),
        Command::Set(args) => set::run(args, global, console),
        Command::Rm(args) => rm::run(args, global, console),
        Command::Check(args) => check::run(args, global, console),
        Command::Events(args) => events::run(args, console),
        Command::Merge(args) => merge::run(args, console),
        Command::Merge3(args) => merge3::run(args, console),
    }
}
