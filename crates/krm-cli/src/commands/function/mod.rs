//! `krm fn`: functions, run on packages and by hand.

pub(crate) mod configuration;
mod source;

use clap::Subcommand;

use crate::Outcome;
use crate::cli::Global;
use crate::show::Screen;

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Source(source::Args),
}

pub(crate) fn run(command: &Command, global: &Global, screen: &mut Screen) -> Outcome {
    match command {
        Command::Source(args) => source::run(args, global, screen),
    }
}
