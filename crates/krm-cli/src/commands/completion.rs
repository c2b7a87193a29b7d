//! `krm completion`: completion scripts for shells.

use clap::CommandFactory;
use clap_complete::Shell;

use crate::cli::Cli;
use crate::console::Console;
use crate::{CommandResult, Exit};

const EXAMPLES: &str = "\
Examples:
  source <(krm completion bash)
  krm completion bash > ~/.local/share/bash-completion/completions/krm
  krm completion zsh > ~/.zfunc/_krm
  krm completion fish > ~/.config/fish/completions/krm.fish
  krm completion powershell >> $PROFILE";

/// Print a shell completion script.
///
/// The script is generated from the command definitions of this version. Print it again after an update of krm.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Shell to generate the script for
    shell: Shell,
}

pub(super) fn run(args: &Args, console: &mut Console) -> CommandResult {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "krm", &mut script);
    console.data(&String::from_utf8_lossy(&script))?;
    Ok(Exit::Success)
}
