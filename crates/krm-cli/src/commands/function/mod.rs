//! `krm fn`: functions, run on packages and by hand.

mod command;
pub(crate) mod configuration;
mod interrupt;
mod limits;
mod new;
mod source;
mod templates;
mod wrap;
mod xargs;

use clap::Subcommand;

use crate::Outcome;
use crate::cli::Global;
use crate::show::Screen;

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    New(new::Args),
    Source(source::Args),
    Wrap(wrap::Args),
    Xargs(xargs::Args),
}

pub(crate) fn run(command: &Command, global: &Global, screen: &mut Screen) -> Outcome {
    match command {
        Command::New(args) => new::run(args, screen),
        Command::Source(args) => source::run(args, global, screen),
        Command::Wrap(args) => wrap::run(args, screen),
        Command::Xargs(args) => xargs::run(args, screen),
    }
}
