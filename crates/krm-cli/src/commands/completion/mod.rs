//! `krm completion`: completion scripts for shells, which ask krm for the completions.

pub(crate) mod candidates;
mod paths;

use clap::ValueEnum;
use clap_complete::CompleteEnv;
use clap_complete::env::{Bash, Elvish, EnvCompleter, Fish, Powershell, Zsh};

use crate::console::Console;
use crate::{CommandResult, Exit};

/// The variable with the name of the shell, which makes krm print completions. Not `COMPLETE`, which other programs use, too.
const VARIABLE: &str = "KRM_COMPLETE";

/// How the script registers its function in zsh.
const ZSH_REGISTRATION: &str = "compdef _clap_dynamic_completer_krm krm";

/// The same for a script that zsh loads from `fpath` at the first completion: it must complete then, too.
const ZSH_AUTOLOADED: &str = "\
if [[ $zsh_eval_context[-1] == loadautofunc ]]; then
    _clap_dynamic_completer_krm \"$@\"
else
    compdef _clap_dynamic_completer_krm krm
fi";

const EXAMPLES: &str = "\
Examples:
  source <(krm completion bash)
  krm completion bash > ~/.local/share/bash-completion/completions/krm
  krm completion zsh > ~/.zfunc/_krm
  krm completion fish > ~/.config/fish/completions/krm.fish
  krm completion powershell >> $PROFILE";

/// Print a shell completion script.
///
/// The script asks krm for the completions: commands, options, files, and from the package kinds and names of resources, names of
/// setters and images of functions. It stays the same when krm is updated.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Shell to generate the script for
    shell: Shell,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Shell {
    Bash,
    Elvish,
    Fish,
    Powershell,
    Zsh,
}

impl Shell {
    fn completer(self) -> &'static dyn EnvCompleter {
        match self {
            Self::Bash => &Bash,
            Self::Elvish => &Elvish,
            Self::Fish => &Fish,
            Self::Powershell => &Powershell,
            Self::Zsh => &Zsh,
        }
    }
}

pub(super) fn run(args: &Args, console: &mut Console) -> CommandResult {
    let mut script = Vec::new();
    args.shell.completer().write_registration(VARIABLE, "krm", "krm", "krm", &mut script)?;
    let mut script = String::from_utf8_lossy(&script).trim_start().to_owned();
    if args.shell == Shell::Zsh {
        script = script.replace(ZSH_REGISTRATION, ZSH_AUTOLOADED);
    }
    console.data(&script)?;
    Ok(Exit::Success)
}

/// Prints completions if a completion script started krm. A shell has no use for an error message, so there is none.
pub(crate) fn complete_if_asked(command: fn() -> clap::Command) -> bool {
    let directory = std::env::current_dir().ok();
    let request = CompleteEnv::with_factory(move || paths::with_hints(command())).var(VARIABLE);
    let is_asked = std::env::var_os(VARIABLE).is_some_and(|it| !it.is_empty() && it != "0");
    request.try_complete(std::env::args_os(), directory.as_deref()).unwrap_or(is_asked)
}
