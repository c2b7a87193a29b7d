//! `krm cfg`: packages of resources, looked at and edited as a whole.

mod annotate;
mod cat;
mod count;
mod create_setter;
mod create_subst;
mod delete_setter;
mod delete_subst;
mod editing;
mod get;
mod grep;
mod init;
mod list_setters;
mod migrate_setters;
mod rename_setter;
mod set;
mod setters;
mod tree;

use clap::{Subcommand, ValueEnum};
use krm_core::records::{self, Record};
use krm_core::{Diagnostic, PackageFile, Resource};
use krm_yaml::Value;

use crate::cli::Global;
use crate::folder::{self, Loaded};
use crate::show::Screen;
use crate::{Exit, Failure, Outcome, disk};

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Cat(cat::Args),
    Count(count::Args),
    Grep(grep::Args),
    Tree(tree::Args),
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

pub(crate) fn run(command: &Command, global: &Global, screen: &mut Screen) -> Outcome {
    match command {
        Command::Cat(args) => cat::run(args, global, screen),
        Command::Count(args) => count::run(args, global, screen),
        Command::Grep(args) => grep::run(args, global, screen),
        Command::Tree(args) => tree::run(args, global, screen),
        Command::Init(args) => init::run(args, screen),
        Command::Annotate(args) => annotate::run(args, global, screen),
        Command::Set(args) => set::run(args, global, screen),
        Command::Get(args) => get::run(args, global, screen),
        Command::ListSetters(args) => list_setters::run(args, global, screen),
        Command::CreateSetter(args) => create_setter::run(args, global, screen),
        Command::CreateSubst(args) => create_subst::run(args, global, screen),
        Command::DeleteSetter(args) => delete_setter::run(args, global, screen),
        Command::DeleteSubst(args) => delete_subst::run(args, global, screen),
        Command::RenameSetter(args) => rename_setter::run(args, global, screen),
        Command::MigrateSetters(args) => migrate_setters::run(args, global, screen),
    }
}

/// What a command looks at.
#[derive(Clone, Debug, clap::Args)]
struct Input {
    /// The folder or file; - or nothing for standard input
    #[arg(value_name = "DIR", default_value = disk::STDIN, hide_default_value = true)]
    dir: String,

    /// Whether packages inside the package are looked at, too
    #[arg(
        short = 'R',
        long,
        value_name = "BOOL",
        num_args = 0..=1,
        require_equals = true,
        default_value_t = true,
        default_missing_value = "true",
        action = clap::ArgAction::Set,
        hide_possible_values = true
    )]
    recurse_subpackages: bool,
}

impl Input {
    fn load(&self, global: &Global) -> Result<Loaded, Failure> {
        let mut loaded = folder::load(&self.dir, global.jobs).map_err(Failure::input)?;
        if !self.recurse_subpackages {
            loaded.package = loaded.package.without_sub_packages();
        }
        Ok(loaded)
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
            Self::Json => records::json(records),
            Self::Yaml => records::yaml(records),
        }
    }
}

/// How resources are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ResourceFormat {
    /// Compact JSON, one resource a line, aliases and merge keys resolved
    Json,
    /// As they are written, with their comments
    Yaml,
}

/// Prints the resources of these files that are wanted, and says how many there are.
fn print<'a>(
    files: impl Iterator<Item = &'a PackageFile>,
    format: ResourceFormat,
    keep: impl Fn(Resource<'_>) -> bool,
    screen: &mut Screen,
) -> Result<usize, Failure> {
    let mut count = 0;
    for file in files {
        if format == ResourceFormat::Json {
            for resource in file.resources().filter(|resource| keep(*resource)) {
                screen
                    .print(&format!("{}\n", krm_core::json::write(&Value::Node(resource.node))))?;
                count += 1;
            }
            continue;
        }
        for text in file.texts(&keep) {
            screen.print(if count > 0 { "---\n" } else { "" })?;
            screen.print(&text)?;
            count += 1;
        }
    }
    Ok(count)
}

/// Says what could not be read; that counts more than `exit`.
fn finish(loaded: &Loaded, exit: Exit, global: &Global, screen: &mut Screen) -> Outcome {
    screen.flush()?;
    let mut told = loaded.diagnostics();
    if global.verbose {
        told.extend(loaded.package.duplicates());
    }
    screen.tell_all(&told);
    Ok(if told.iter().any(Diagnostic::is_error) { Exit::Input } else { exit })
}
