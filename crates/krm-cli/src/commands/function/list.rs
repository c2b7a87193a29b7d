//! `krm fn list`: lists the built-in functions.

use clap::ValueEnum;
use krm_catalog::{BUILTINS, Builtin};
use krm_core::print::{self, Record};
use krm_yaml::Value;

use crate::console::Console;
use crate::{CommandResult, Exit, Failure};

const EXAMPLES: &str = "\
Examples:
  krm fn list
  krm fn list -o json
  krm fn doc set-labels";

/// List the built-in functions.
///
/// A built-in function replaces the image of the catalog with its name: without a tag, with the tags latest and unstable, and with
/// the releases that -o json shows as tags. Images with other tags or with a digest run as containers.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Output format
    #[arg(short, long, value_name = "FORMAT", default_value = "text")]
    output: Output,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Output {
    /// One line per function
    Text,
    /// JSON, with the tags of each function
    Json,
    /// YAML, with the tags of each function
    Yaml,
}

pub(super) fn run(args: &Args, console: &mut Console) -> CommandResult {
    let text = match args.output {
        Output::Text => table(),
        Output::Json => print::records_to_json(&all()).map_err(Failure::input)?,
        Output::Yaml => print::records_to_yaml(&all()),
    };
    console.data(&text)?;
    Ok(Exit::Success)
}

fn all() -> Vec<Record<'static>> {
    BUILTINS.iter().map(record).collect()
}

fn record(builtin: &'static Builtin) -> Record<'static> {
    let strings = |of: &'static [&'static str]| {
        Value::Sequence(of.iter().map(|text| Value::from(*text)).collect())
    };
    vec![
        ("name", Value::from(builtin.name)),
        ("aliases", strings(builtin.aliases)),
        ("summary", Value::from(builtin.summary)),
        ("tags", strings(builtin.tags)),
    ]
}

fn table() -> String {
    let width = BUILTINS.iter().map(|builtin| builtin.name.len()).max().unwrap_or(0);
    let line = |builtin: &Builtin| format!("{:width$}  {}\n", builtin.name, builtin.summary);
    BUILTINS.iter().map(line).collect()
}
