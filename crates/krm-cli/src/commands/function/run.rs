//! `krm fn run`: runs the functions that a package declares with annotations.

use std::collections::BTreeMap;

use clap_complete::engine::ArgValueCandidates;
use krm_core::functions::resource_list::Item;
use krm_core::{Diagnostic, Package, PackageFile};

use super::annotated_steps::StepSource;
use super::finish;
use super::kinds::FnCommandKind;
use super::output;
use super::permissions::package_directory;
use super::piped_list::PipedList;
use super::run_flags::{RunFlags, Steps};
use crate::cli::{Global, optional_bool};
use crate::commands::completion::candidates;
use crate::console::Console;
use crate::{CommandResult, Failure, disk};

const EXAMPLES: &str = "\
Examples:
  krm fn run shop
  krm fn run shop --enable-exec --diff
  krm fn run shop --fn-path functions --results-dir out
  krm fn run shop --image set-labels -- app=shop";

/// Run the functions that a package declares.
///
/// A resource with the annotation config.kubernetes.io/function is the functionConfig of a function. The function receives the
/// resources of that directory and the directories below it. Functions of deeper directories run first, then functions run in the
/// order of directories, files and documents. Their changes are edited into the files; everything else stays byte for byte as it
/// was. If a function fails, no file is written.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES, mut_arg("include_subpackages", optional_bool))]
pub(crate) struct Args {
    /// Directory or file of the package; - reads and writes a list on standard input and output
    #[arg(value_name = "DIR", default_value = ".", hide_default_value = true)]
    dir: String,

    /// Run the functions that this directory declares instead; may be repeated
    #[arg(long, value_name = "DIR")]
    pub(super) fn_path: Vec<String>,

    /// Run this image instead of the declared functions
    #[arg(short, long, value_name = "IMAGE", add = ArgValueCandidates::new(candidates::images))]
    pub(super) image: Option<String>,

    /// Run this command instead of the declared functions
    #[arg(long, value_name = "FILE", conflicts_with = "image")]
    pub(super) exec_path: Option<String>,

    /// Data of a ConfigMap as functionConfig of --image or --exec-path; a first argument without = is another kind
    #[arg(last = true, value_name = "KEY=VALUE")]
    pub(super) args: Vec<String>,

    /// Give all resources to every function
    #[arg(long)]
    pub(super) global_scope: bool,

    /// Accepted for compatibility with kustomize: functions are always logged
    #[arg(long)]
    log_steps: bool,

    /// Include subpackages, as in kustomize; the same as -R
    #[arg(long, default_value = "true", hide_default_value = true)]
    include_subpackages: bool,

    #[command(flatten)]
    pub(super) flags: RunFlags,
}

pub(super) fn run(args: &Args, global: &Global, console: &mut Console) -> CommandResult {
    if !args.args.is_empty() && !args.is_explicit() {
        return Err(Failure::usage(Diagnostic::error(FnCommandKind::ConfigWithoutFunction)));
    }
    let is_stream = args.dir == disk::STDIN;
    let factory = args.flags.permissions.factory(&args.dir)?;
    let directory = package_directory(&args.dir);
    let source = StepSource { args, factory, directory, global };
    let exit = match is_stream {
        true => args.run_on_list(&source, console)?,
        false => args.flags.run_on_package(
            (&args.dir, args.include_subpackages && args.flags.recursion.includes_subpackages()),
            None,
            global,
            console,
            Steps::Declared(&|package, items, console| source.steps(package, items, console)),
        )?,
    };
    Ok(args.flags.results.exit(exit, console))
}

impl Args {
    /// Whether the command line names the function.
    pub(super) fn is_explicit(&self) -> bool {
        self.image.is_some() || self.exec_path.is_some()
    }

    fn run_on_list(&self, source: &StepSource<'_>, console: &mut Console) -> CommandResult {
        self.flags.output.of_list()?;
        if self.flags.preview.is_on() {
            let option = "a preview";
            let error = Diagnostic::error(FnCommandKind::OptionNeedsPackage { option });
            return Err(Failure::usage(error));
        }
        let mut list = PipedList::read()?;
        let items = list.take_items();
        let steps = source.steps(&as_package(&items)?, &items, console)?;
        self.flags.run_on_list(list, &steps, items, console)
    }
}

/// The resources of a list as files, by the paths that their annotations name.
fn as_package(items: &[Item]) -> Result<Package, Failure> {
    let mut by_path: BTreeMap<&str, Vec<Item>> = BTreeMap::new();
    for item in items {
        let path = item.path.as_ref().map_or("stdin.yaml", |path| path.as_str());
        by_path.entry(path).or_default().push(item.clone());
    }
    let files = by_path.into_iter();
    let files = files.map(|(path, items)| PackageFile::from_text(path, output::documents(&items)));
    let files = files.collect::<Result<Vec<_>, _>>();
    let files = files.map_err(|error| Failure::input(finish::invalid_path(&error)))?;
    Ok(Package::new(files))
}
