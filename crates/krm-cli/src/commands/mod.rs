//! One module for each command or group of commands; this one parses the command line and dispatches.

pub(crate) mod cache;
pub(crate) mod cfg;
pub(crate) mod completion;
pub(crate) mod conflict_records;
pub(crate) mod explain;
pub(crate) mod fix;
pub(crate) mod function;
pub(crate) mod git;
pub(crate) mod kinds;
pub(crate) mod list_output;
pub(crate) mod man;
pub(crate) mod merge_options;
pub(crate) mod pkg;
pub(crate) mod plan;
pub(crate) mod serve;
mod verbosity;
pub(crate) mod yaml;

use std::ffi::OsString;
use std::io::IsTerminal;

use clap::error::{ContextKind, ContextValue};
use clap::{CommandFactory, FromArgMatches};
use kinds::CommandKind;
use krm_core::Diagnostic;
use krm_core::diagnostics::closest_name;
use krm_core::print::visible_line;

use crate::cli::{Cli, Command};
use crate::console::Console;
use crate::{CommandResult, Exit, Failure, disk};

/// Parses the command line of the process, runs the command and reports its errors.
pub(crate) fn main() -> Exit {
    if completion::complete_if_asked(command) {
        return Exit::Success;
    }
    let cli = match parse(std::env::args_os()) {
        Ok(cli) => cli,
        Err(error) => {
            let error = visible_error().unwrap_or(error);
            return crate::console::usage(&with_suggestion(error));
        }
    };
    if cli.global.jobs.is_some() {
        crate::parallel::start_threads(cli.global.jobs);
    }
    let mut console = Console::new(&cli.global);
    let result = run(&cli, &mut console).and_then(|exit| {
        match console.write_json_changes().and_then(|()| console.flush()) {
            // The command is done, so its exit code is known: `krm cfg fmt --check | head -1`.
            Ok(()) | Err(Failure::ClosedPipe) => Ok(exit),
            Err(failure) => Err(failure),
        }
    });
    crate::console::end_progress();
    console.report_duplicate_keys();
    let has_failed = result.is_err();
    let exit = exit_code(result, &mut console);
    console.close(has_failed);
    match console.write_reports() {
        // A report that is missing must not look like a run without findings.
        Err(failure) if exit == Exit::Success || exit == Exit::Findings => {
            exit_code(Err(failure), &mut console)
        }
        Err(failure) => {
            exit_code(Err(failure), &mut console);
            exit
        }
        Ok(()) => exit,
    }
}

/// Reports why a command failed.
fn exit_code(result: CommandResult, console: &mut Console) -> Exit {
    match result {
        Ok(exit) => exit,
        Err(Failure::ClosedPipe) => Exit::Success,
        Err(Failure::Diagnostics(exit, diagnostics)) => {
            // Data that was printed before the failure belongs before the error.
            let _ = console.flush();
            console.report_all(&diagnostics);
            exit
        }
    }
}

fn parse(arguments: impl Iterator<Item = OsString>) -> Result<Cli, clap::Error> {
    let arguments = verbosity::without_level(arguments.collect());
    if let Ok(cli) = parse_as(Cli::command(), &arguments) {
        return Ok(cli);
    }
    // Only help and errors show the list of commands, and making it takes an eighth of a start.
    parse_as(command(), &arguments)
}

fn parse_as(command: clap::Command, arguments: &[OsString]) -> Result<Cli, clap::Error> {
    Cli::from_arg_matches(&command.try_get_matches_from(arguments)?)
}

/// The error about the command line with the arguments escaped, which the error quotes: an argument can be the name of a file that
/// somebody else chose (`krm cfg cat *`).
fn visible_error() -> Option<clap::Error> {
    let visible =
        |argument: OsString| visible_line(&argument.to_string_lossy()).into_owned().into();
    parse(std::env::args_os().map(visible)).err()
}

/// Checks that at most one of the names is standard input, which can be read only once.
pub(crate) fn check_stdin_once<'a>(
    names: impl IntoIterator<Item = &'a str>,
) -> Result<(), Failure> {
    match names.into_iter().filter(|name| *name == disk::STDIN).count() {
        0 | 1 => Ok(()),
        _ => Err(Failure::usage(Diagnostic::error(CommandKind::RepeatedStdin))),
    }
}

/// Refuses standard input, `-`, where only a directory is possible.
pub(crate) fn refuse_stdin(dir: &str) -> Result<(), Failure> {
    if dir != disk::STDIN {
        return Ok(());
    }
    let error = Diagnostic::error(CommandKind::StdinIsNotAPackage);
    Err(Failure::usage(error.hint("use `./-` for a directory with this name")))
}

/// Checks that standard input, which a command reads although no argument names it, is not a terminal: the command would wait without a message.
pub(crate) fn check_stdin_is_piped() -> Result<(), Failure> {
    match std::io::stdin().is_terminal() {
        true => Err(Failure::usage(Diagnostic::error(CommandKind::StdinIsATerminal))),
        false => Ok(()),
    }
}

/// Suggests the nearest command. The similarity measure of clap misses swapped letters: it suggests `tree` for `gte`.
fn with_suggestion(mut error: clap::Error) -> clap::Error {
    let Some(ContextValue::String(typed)) = error.get(ContextKind::InvalidSubcommand) else {
        return error;
    };
    let root = command();
    let before = std::env::args_os().skip(1).take_while(|argument| *argument != **typed);
    let group = before.fold(&root, |group, name| group.find_subcommand(name).unwrap_or(group));
    let suggestion = closest_name(group.get_subcommands().map(clap::Command::get_name), typed);
    if let Some(name) = suggestion {
        let names = ContextValue::Strings(vec![name.to_owned()]);
        error.insert(ContextKind::SuggestedSubcommand, names);
    }
    error
}

/// The command definitions. Started as `kubectl-krm`, the usage says `kubectl krm`.
fn command() -> clap::Command {
    let called = std::env::args_os().next().map(std::path::PathBuf::from);
    let is_plugin =
        called.is_some_and(|path| path.file_stem().is_some_and(|stem| stem == "kubectl-krm"));
    let command = crate::tasks::with_tasks(Cli::command());
    if is_plugin { command.bin_name("kubectl krm") } else { command }
}

fn run(cli: &Cli, console: &mut Console) -> CommandResult {
    match &cli.command {
        _ if cli.version => print_version(cli, console),
        Some(Command::Version) => print_version(cli, console),
        Some(Command::Cfg { command }) => cfg::run(command, &cli.global, console),
        Some(Command::Function { command, .. }) => function::run(command, &cli.global, console),
        Some(Command::Pkg { command }) => pkg::run(command, &cli.global, console),
        Some(Command::Yaml { command }) => yaml::run(command, &cli.global, console),
        Some(Command::Fix(args)) => fix::run(args, &cli.global, console),
        Some(Command::Git { command }) => git::run(command, console),
        Some(Command::Cache { command }) => cache::run(command, console),
        Some(Command::Serve(args)) => serve::run(args, console),
        Some(Command::Explain(args)) => explain::run(args, console),
        Some(Command::Completion(args)) => completion::run(args, console),
        Some(Command::Man(args)) => man::run(args, console),
        None => Ok(crate::console::help(&mut command())),
    }
}

fn print_version(cli: &Cli, console: &mut Console) -> CommandResult {
    console.data(&version(cli.global.verbose))?;
    Ok(Exit::Success)
}

fn version(verbose: bool) -> String {
    let short = format!("krm {}\n", env!("CARGO_PKG_VERSION"));
    if !verbose {
        return short;
    }
    let build = if cfg!(debug_assertions) { "debug" } else { "release" };
    let (os, arch) = (std::env::consts::OS, std::env::consts::ARCH);
    let kubernetes = krm_core::schema::kubernetes_version();
    // What a build of a checkout may lack, in alphabetical order.
    let features = [(cfg!(feature = "grpc"), "grpc"), (cfg!(feature = "oci"), "oci")];
    let features: Vec<&str> =
        features.into_iter().filter(|(is_in, _)| *is_in).map(|(_, name)| name).collect();
    let features = if features.is_empty() { "none".to_owned() } else { features.join(", ") };
    format!(
        "{short}platform: {os} {arch}\nbuild: {build}\nyaml: 1.2, with warnings where 1.1 differs\nkubernetes: {kubernetes}\nfeatures: {features}\n"
    )
}
