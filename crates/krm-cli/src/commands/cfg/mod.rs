//! `krm cfg`: packages of resources, looked at and edited as a whole.

mod annotate;
mod cat;
mod count;
mod create_setter;
mod create_subst;
mod delete_setter;
mod delete_subst;
mod diff;
pub(crate) mod edit_session;
mod fmt;
mod get;
mod grep;
mod init;
mod list_setters;
mod merge;
mod merge3;
mod migrate_setters;
mod package_merge;
mod rename_setter;
mod resource_printer;
mod set;
mod setters;
mod tree;

use clap::{Subcommand, ValueEnum};
use krm_core::print::{self, Record};
use krm_core::{Diagnostic, Resource};

use crate::cli::{Global, yes_or_no};
use crate::console::Console;
use crate::loader::{self, LoadedPackage};
use crate::walk::Subpackages;
use crate::{CommandResult, Exit, Failure, disk};

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

/// What a command looks at.
#[derive(Clone, Debug, clap::Args)]
#[command(mut_arg("recurse_subpackages", yes_or_no))]
struct Input {
    /// The folder or file; - or nothing for standard input
    #[arg(value_name = "DIR", default_value = disk::STDIN, hide_default_value = true)]
    dir: String,

    /// Whether packages inside the package are looked at, too
    #[arg(short = 'R', long, default_value = "true")]
    recurse_subpackages: bool,
}

impl Input {
    fn load(&self, global: &Global) -> Result<LoadedPackage, Failure> {
        let wanted = Subpackages::included_if(self.recurse_subpackages);
        loader::load_with(&self.dir, global.jobs, wanted).map_err(Failure::input)
    }
}

/// Which resources are for tools only, and whether they are wanted.
#[derive(Clone, Debug, clap::Args)]
struct Local {
    /// Show resources that are for tools only (annotation config.kubernetes.io/local-config), too
    #[arg(long)]
    include_local: bool,

    /// Leave out all that are not for tools only
    #[arg(long)]
    exclude_non_local: bool,
}

impl Local {
    fn keeps(&self, resource: Resource<'_>) -> bool {
        if resource.is_local() { self.include_local } else { !self.exclude_non_local }
    }
}

/// How a list is printed for other programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// One JSON list, an entry a line
    Json,
    /// One YAML list
    Yaml,
}

impl Format {
    fn write(self, records: &[Record<'_>]) -> String {
        match self {
            Self::Json => print::records_to_json(records),
            Self::Yaml => print::records_to_yaml(records),
        }
    }
}

/// Says what could not be read; that counts more than `exit`.
fn finish(
    loaded: &LoadedPackage,
    exit: Exit,
    global: &Global,
    console: &mut Console,
) -> CommandResult {
    console.flush()?;
    let mut told = loaded.diagnostics();
    if global.verbose {
        told.extend(loaded.package.duplicates());
    }
    console.report_all(&told);
    Ok(if told.iter().any(Diagnostic::is_error) { Exit::Input } else { exit })
}
