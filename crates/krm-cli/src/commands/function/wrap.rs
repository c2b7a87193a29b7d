//! `krm fn wrap`: runs any program that prints resources as a function.

use std::env;

use krm_core::Diagnostic;
use krm_core::compare::ListOptions;
use krm_core::functions::adapter;
use krm_core::merge::MergeOptions;
use krm_core::schema::Schema;
use krm_sdk::stream::Stream;
use krm_yaml::File;

use super::piped_list::stdin_failure;
use super::program::{self, FailedProgram, Program};
use crate::cli::{Global, optional_bool};
use crate::console::Console;
use crate::loader::{self, LoadedPackage};
use crate::{CommandResult, Exit, Failure};

/// Compat: kustomize's variable that decides whether the output is merged into the resources of the list.
const MERGE: &str = "KUST_MERGE";
/// Compat: a directory of resources that are merged after the output.
const OVERRIDES: &str = "KUST_OVERRIDE_DIR";

const EXAMPLES: &str = "\
Examples:
  krm fn wrap -- ./nginx-template.sh < input.yaml
  krm fn wrap -- helm template shop ./chart < input.yaml";

/// Run a program as a function: its functionConfig as environment variables, its output merged.
///
/// Reads a ResourceList from standard input and writes one to standard output. The fields of metadata, spec and data of its
/// functionConfig are environment variables of the program in upper case. The output of the program is merged into the resources, so
/// that manual changes are kept. New resources are written to config/NAME_KIND.yaml, unless they name a file. With KUST_MERGE=false,
/// the list contains only the output. KUST_OVERRIDE_DIR names a directory of resources that are merged after it.
///
/// With --sync, what the program printed last is kept in a ConfigMap beside the functionConfig. Fields and resources that it no longer
/// prints are removed, and a field that was also changed by hand is kept and reported.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES, mut_arg("env_only", optional_bool))]
pub(crate) struct Args {
    #[command(flatten)]
    program: Program,

    /// Pass the functionConfig only as variables; =false also passes flags
    #[arg(long, default_value = "true", hide_default_value = true)]
    env_only: bool,

    /// Merge changes since the last run, and remove resources that the program no longer prints
    #[arg(long)]
    sync: bool,
}

pub(super) fn run(args: &Args, global: &Global, console: &mut Console) -> CommandResult {
    let overrides = match env::var(OVERRIDES) {
        Ok(directory) if !directory.is_empty() => Some(read(&directory, global)?),
        _ => None,
    };
    let mut input = program::input()?;
    let output = match args.program.run(&input, !args.env_only, console) {
        Ok(output) => output,
        Err(FailedProgram { failure, output }) => {
            // The orchestrator reads the results of a function that failed, too. An output that is not readable has none.
            if let Ok(Some(list)) = adapter::with_results(&input, output) {
                console.data(&list)?;
            }
            return Err(failure);
        }
    };
    let refused = |error: Diagnostic| Failure::function(error.in_file(output_name(args)));
    let output = if args.sync && is_merged() {
        input = sync(args, input, output)?;
        String::new()
    } else {
        output
    };
    if !is_merged() {
        input = adapter::without_items(&input).map_err(refused)?;
    }
    let schema = Schema::kubernetes();
    let lists = ListOptions { schema: Some(&schema), ..ListOptions::default() };
    let options = MergeOptions { lists, ..MergeOptions::default() };
    let mut merged = adapter::merge_output(&input, output, &options).map_err(refused)?;
    for file in overrides.iter().flat_map(|it| it.package.files()) {
        let Some(content) = file.file() else { continue };
        let refused = |error: Diagnostic| Failure::input(error.in_file(&*file.display_path));
        let list = File::parse(merged).map_err(|error| refused(Diagnostic::from(&error)))?;
        let text = content.text().to_owned();
        merged = adapter::merge_output(&list, text, &options).map_err(refused)?;
    }
    console.data(&merged)?;
    Ok(Exit::Success)
}

/// The list with the resources of the program in place of those that it printed last.
///
/// Spec: without the flag the list has nothing but the resources, so the record of the last run cannot be the default.
fn sync(args: &Args, input: File, output: String) -> Result<File, Failure> {
    let failure = |error: krm_sdk::Error| {
        let located = error.diagnostics.into_iter().map(|it| it.in_file(output_name(args)));
        Failure::Diagnostics(Exit::Function, located.collect())
    };
    let (stream, mut list) = Stream::read(input.into_text()).map_err(stdin_failure)?;
    let (_, mut printed) = Stream::read(output).map_err(failure)?;
    list.results.extend(printed.results);
    // The functionConfig is the same in every run, the arguments of the program need not be.
    let config = list.function_config.as_ref().map(krm_sdk::Resource::display_name);
    let owner = config.unwrap_or_else(|| args.program.name());
    printed.items.iter_mut().try_for_each(krm_sdk::Resource::format).map_err(failure)?;
    list.sync_generated(owner, printed.items).map_err(failure)?;
    let text = stream.write(&list).map_err(failure)?;
    File::parse(text).map_err(|error| Failure::function(Diagnostic::from(&error)))
}

fn output_name(args: &Args) -> String {
    format!("output of {}", args.program.name())
}

/// Whether the output is merged, which is the default. Compat: the values that kustomize accepts.
fn is_merged() -> bool {
    env::var(MERGE).is_ok_and(|it| matches!(&*it, "" | "true" | "1"))
        || env::var_os(MERGE).is_none()
}

/// The resources that are merged after the output.
fn read(directory: &str, global: &Global) -> Result<LoadedPackage, Failure> {
    let loaded = loader::load(directory, global.load_options()).map_err(Failure::input)?;
    let diagnostics = loaded.diagnostics();
    match diagnostics.iter().any(Diagnostic::is_error) {
        true => Err(Failure::Diagnostics(Exit::Input, diagnostics)),
        false => Ok(loaded),
    }
}
