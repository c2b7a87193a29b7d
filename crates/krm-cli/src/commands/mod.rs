//! One module for each group of commands; this one takes the command line apart.

pub(crate) mod cfg;
pub(crate) mod completion;
pub(crate) mod explain;
pub(crate) mod fix;
pub(crate) mod function;
pub(crate) mod kinds;
pub(crate) mod man;
pub(crate) mod merge_options;
pub(crate) mod plan;
pub(crate) mod yaml;

use clap::error::{ContextKind, ContextValue};
use clap::{CommandFactory, FromArgMatches};
use krm_core::diagnostics::closest_name;

use crate::cli::{Cli, Command};
use crate::console::Console;
use crate::{CommandResult, Exit, Failure};

/// Does what the process was started for.
pub(crate) fn main() -> Exit {
    let parsed = command().try_get_matches().and_then(|matches| Cli::from_arg_matches(&matches));
    let cli = match parsed {
        Ok(cli) => cli,
        Err(error) => return crate::console::usage(&suggesting(error)),
    };
    let mut console = Console::new(&cli.global);
    let outcome = run(&cli, &mut console).and_then(|exit| {
        console.flush()?;
        Ok(exit)
    });
    match outcome {
        Ok(exit) => exit,
        Err(Failure::ClosedPipe) => Exit::Success,
        Err(Failure::Diagnostics(exit, diagnostics)) => {
            // What was found before the failure is worth showing, and comes first.
            let _ = console.flush();
            console.report_all(&diagnostics);
            exit
        }
    }
}

/// Adds the command that was probably meant, where clap knows of none: it has no eye for two letters that were swapped.
fn suggesting(mut error: clap::Error) -> clap::Error {
    let Some(ContextValue::String(typed)) = error.get(ContextKind::InvalidSubcommand) else {
        return error;
    };
    let root = command();
    let words = std::env::args_os().skip(1).take_while(|word| *word != **typed);
    let group = words.fold(&root, |group, word| group.find_subcommand(word).unwrap_or(group));
    let meant = closest_name(group.get_subcommands().map(clap::Command::get_name), typed);
    if let (None, Some(meant)) = (error.get(ContextKind::SuggestedSubcommand), meant) {
        let meant = ContextValue::Strings(vec![meant.to_owned()]);
        error.insert(ContextKind::SuggestedSubcommand, meant);
    }
    error
}

/// As a plugin of kubectl the program is called by two words.
fn command() -> clap::Command {
    let called = std::env::args_os().next().map(std::path::PathBuf::from);
    let is_plugin =
        called.is_some_and(|path| path.file_stem().is_some_and(|stem| stem == "kubectl-krm"));
    if is_plugin { Cli::command().bin_name("kubectl krm") } else { Cli::command() }
}

fn run(cli: &Cli, console: &mut Console) -> CommandResult {
    match &cli.command {
        _ if cli.version => {
            console.print(&version(cli.global.verbose))?;
            Ok(Exit::Success)
        }
        Some(Command::Cfg { command }) => cfg::run(command, &cli.global, console),
        Some(Command::Function { command, .. }) => function::run(command, &cli.global, console),
        Some(Command::Yaml { command }) => yaml::run(command, &cli.global, console),
        Some(Command::Fix(args)) => fix::run(args, &cli.global, console),
        Some(Command::Explain(args)) => explain::run(args, console),
        Some(Command::Completion(args)) => completion::run(args, console),
        Some(Command::Man(args)) => man::run(args, console),
        None => Ok(crate::console::help(&mut command())),
    }
}

fn version(verbose: bool) -> String {
    let short = format!("krm {}\n", env!("CARGO_PKG_VERSION"));
    if !verbose {
        return short;
    }
    let build = if cfg!(debug_assertions) { "debug" } else { "release" };
    let (os, arch) = (std::env::consts::OS, std::env::consts::ARCH);
    let kubernetes = krm_core::schema::kubernetes_version();
    format!(
        "{short}platform: {os} {arch}\nbuild: {build}\nyaml: 1.2, tells where 1.1 differs\nkubernetes: {kubernetes}\n"
    )
}
