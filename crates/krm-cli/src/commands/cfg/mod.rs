//! `krm cfg`: commands that inspect, edit and merge packages of resources.

mod annotate;
pub(crate) mod cat;
mod count;
mod create_setter;
mod create_subst;
mod delete_setter;
mod delete_subst;
pub(crate) mod diff;
pub(crate) mod edit_session;
mod fmt;
mod get;
mod grep;
mod init;
mod list_setters;
mod merge;
mod merge3;
mod migrate_setters;
pub(crate) mod package_merge;
mod rename_setter;
mod resource_printer;
mod set;
mod setters;
pub(crate) mod tree;

use clap::Subcommand;
use krm_core::{Diagnostic, Resource};

use crate::cli::{Global, Recursion};
use crate::console::Console;
use crate::loader::{self, LoadedPackage};
use crate::{CommandResult, Exit, Failure};

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Cat(cat::Args),
    Count(count::Args),
    Diff(diff::Args),
    Grep(grep::Args),
    Merge(merge::Args),
    Merge3(merge3::Args),
    Tree(tree::Args),
    Fmt(fmt::Args),
    Init(init::Args),
    Annotate(annotate::Args),
    Set(set::Args),
    Get(get::Args),
    ListSetters(list_setters::Args),
    CreateSetter(create_setter::Args),
    CreateSubst(create_subst::Args),
    DeleteSetter(delete_setter::Args),
    DeleteSubst(delete_subst::Args),
    RenameSetter(rename_setter::Args),
    MigrateSetters(migrate_setters::Args),
}

pub(crate) fn run(command: &Command, global: &Global, console: &mut Console) -> CommandResult {
    match command {
        Command::Cat(args) => cat::run(args, global, console),
        Command::Count(args) => count::run(args, global, console),
        Command::Diff(args) => diff::run(args, global, console),
        Command::Grep(args) => grep::run(args, global, console),
        Command::Merge(args) => merge::run(args, global, console),
        Command::Merge3(args) => merge3::run(args, global, console),
        Command::Tree(args) => tree::run(args, global, console),
        Command::Fmt(args) => fmt::run(args, global, console),
        Command::Init(args) => init::run(args, console),
        Command::Annotate(args) => annotate::run(args, global, console),
        Command::Set(args) => set::run(args, global, console),
        Command::Get(args) => get::run(args, global, console),
        Command::ListSetters(args) => list_setters::run(args, global, console),
        Command::CreateSetter(args) => create_setter::run(args, global, console),
        Command::CreateSubst(args) => create_subst::run(args, global, console),
        Command::DeleteSetter(args) => delete_setter::run(args, global, console),
        Command::DeleteSubst(args) => delete_subst::run(args, global, console),
        Command::RenameSetter(args) => rename_setter::run(args, global, console),
        Command::MigrateSetters(args) => migrate_setters::run(args, global, console),
    }
}

/// The names and values of the setters of a directory, for completion.
pub(crate) fn setter_values(dir: &str) -> Vec<(String, String)> {
    setters::names_and_values(dir)
}

/// The package argument of a command that reads.
#[derive(Clone, Debug, clap::Args)]
struct PackageInput {
    /// Directory or file [default: current directory]; - is standard input
    #[arg(value_name = "DIR", default_value = ".", hide_default_value = true)]
    dir: String,

    #[command(flatten)]
    recursion: Recursion,
}

impl PackageInput {
    fn load(&self, global: &Global) -> Result<LoadedPackage, Failure> {
        loader::load(&self.dir, self.recursion.load_options(global)).map_err(Failure::input)
    }
}

/// Options for local configuration: resources that are for tools, and not for the cluster.
#[derive(Clone, Debug, clap::Args)]
struct LocalConfig {
    /// Include local configuration (resources with the annotation config.kubernetes.io/local-config)
    #[arg(long)]
    include_local: bool,

    /// Exclude everything but local configuration
    #[arg(long)]
    exclude_non_local: bool,
}

impl LocalConfig {
    fn includes(&self, resource: Resource<'_>) -> bool {
        if resource.is_local() { self.include_local } else { !self.exclude_non_local }
    }
}

/// Reports what could not be read, and returns `exit` unless that is an error.
fn report_load_errors(
    loaded: &LoadedPackage,
    exit: Exit,
    global: &Global,
    console: &mut Console,
) -> CommandResult {
    console.flush()?;
    let mut diagnostics = loaded.diagnostics();
    if global.verbose {
        diagnostics.extend(loaded.package.duplicates());
    }
    console.report_all(&diagnostics);
    Ok(if diagnostics.iter().any(Diagnostic::is_error) { Exit::Input } else { exit })
}
