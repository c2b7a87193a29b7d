//! `krm fn wrap`: any program that prints resources, as a function.

use std::env;

use krm_core::Diagnostic;
use krm_core::functions::adapter;
use krm_core::merge::node::Rules;
use krm_yaml::File;

use super::command::{self, Program};
use crate::cli::{Global, optional_bool};
use crate::console::Console;
use crate::loader::{self, LoadedPackage};
use crate::{CommandResult, Exit, Failure};

/// Compat: whether the output is merged into the resources of the list, as kustomize calls it.
const MERGE: &str = "KUST_MERGE";
/// Compat: a folder of resources that are merged after the output.
const OVERRIDES: &str = "KUST_OVERRIDE_DIR";

const EXAMPLES: &str = "\
Examples:
  krm fn wrap -- ./nginx-template.sh < input.yaml
  krm fn wrap -- helm template shop ./chart < input.yaml";

/// Run a program as a function: its configuration as variables, its output merged.
///
/// Reads a ResourceList on standard input and writes one to standard output. The fields of metadata, spec and data of its
/// functionConfig become variables of the program in upper case. What the program prints is merged into the resources, so that
/// what people changed in them stays; new ones get the file config/NAME_KIND.yaml, unless they name one. With KUST_MERGE=false
/// the output alone is the list; KUST_OVERRIDE_DIR names a folder of resources that are merged after it.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES, mut_arg("env_only", optional_bool))]
pub(crate) struct Args {
    #[command(flatten)]
    program: Program,

    /// Pass the configuration as flags, too (--env-only=false)
    #[arg(long, default_value = "true", hide_default_value = true)]
    env_only: bool,
}

pub(super) fn run(args: &Args, global: &Global, console: &mut Console) -> CommandResult {
    let overrides = match env::var(OVERRIDES) {
        Ok(folder) if !folder.is_empty() => Some(read(&folder, global)?),
        _ => None,
    };
    let mut input = command::input()?;
    let output = args.program.run(&input, !args.env_only)?;
    let told = |told: Diagnostic| Failure::function(told.in_file(output_of(args)));
    if !is_merged() {
        input = adapter::without_items(&input).map_err(told)?;
    }
    let mut merged = adapter::merge_output(&input, output, &Rules::default()).map_err(told)?;
    for file in overrides.iter().flat_map(|it| it.package.files()) {
        let Some(content) = file.file() else { continue };
        let told = |told: Diagnostic| Failure::input(told.in_file(&*file.display_path));
        let list = File::parse(merged).map_err(|error| told(Diagnostic::from(&error)))?;
        let text = content.text().to_owned();
        merged = adapter::merge_output(&list, text, &Rules::default()).map_err(told)?;
    }
    console.print(&merged)?;
    Ok(Exit::Success)
}

fn output_of(args: &Args) -> String {
    format!("output of {}", args.program.name())
}

/// Compat: what scripts that wrap themselves say about merging.
fn is_merged() -> bool {
    env::var(MERGE).is_ok_and(|it| matches!(&*it, "" | "true" | "1"))
        || env::var_os(MERGE).is_none()
}

/// The resources that are merged after the output.
fn read(folder: &str, global: &Global) -> Result<LoadedPackage, Failure> {
    let loaded = loader::load(folder, global.jobs).map_err(Failure::input)?;
    let told = loaded.diagnostics();
    match told.iter().any(Diagnostic::is_error) {
        true => Err(Failure::Diagnostics(Exit::Input, told)),
        false => Ok(loaded),
    }
}
