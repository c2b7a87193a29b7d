//! `krm git`: makes git merge and compare manifests by meaning.

mod attributes;
mod install;
mod settings;
mod textconv;

use clap::Subcommand;

use crate::CommandResult;
use crate::console::Console;

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Install(install::InstallArgs),
    Uninstall(install::UninstallArgs),
    /// Print a file as one line per value; git runs this before it compares
    #[command(hide = true)]
    Textconv(textconv::Args),
}

pub(crate) fn run(command: &Command, console: &mut Console) -> CommandResult {
    match command {
        Command::Install(args) => install::install(args, console),
        Command::Uninstall(args) => install::uninstall(args, console),
        Command::Textconv(args) => textconv::run(args, console),
    }
}
