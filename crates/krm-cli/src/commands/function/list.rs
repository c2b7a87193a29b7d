//! `krm fn list`: the functions that are built in, with a line for each.

use clap::ValueEnum;
use krm_catalog::{BUILTINS, Builtin};
use krm_core::print::{self, Record};
use krm_yaml::Value;

use crate::console::Console;
use crate::{CommandResult, Exit};

const EXAMPLES: &str = "\
Examples:
  krm fn list
  krm fn list -o json
  krm fn doc set-labels";

/// List the functions that are built in.
///
/// Each stands for the images of the catalog with its name: without a tag, with latest or unstable, and with the releases that
/// -o json shows as tags. Any other tag and every digest runs in a container.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// How they are printed
    #[arg(short, long, value_name = "FORMAT", default_value = "text")]
    output: Output,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Output {
    /// A line for each
    Text,
    /// A list of records, with the tags that each stands for
    Json,
    /// The same as YAML
    Yaml,
}

pub(super) fn run(args: &Args, console: &mut Console) -> CommandResult {
    let text = match args.output {
        Output::Text => table(),
        Output::Json => print::records_to_json(&all()),
        Output::Yaml => print::records_to_yaml(&all()),
    };
    console.print(&text)?;
    Ok(Exit::Success)
}

fn all() -> Vec<Record<'static>> {
    BUILTINS.iter().map(record).collect()
}

fn record(builtin: &'static Builtin) -> Record<'static> {
    let texts = |of: &'static [&'static str]| {
        Value::Sequence(of.iter().map(|text| Value::from(*text)).collect())
    };
    vec![
        ("name", Value::from(builtin.name)),
        ("aliases", texts(builtin.aliases)),
        ("summary", Value::from(builtin.summary)),
        ("tags", texts(builtin.tags)),
    ]
}

fn table() -> String {
    let width = BUILTINS.iter().map(|builtin| builtin.name.len()).max().unwrap_or(0);
    let line = |builtin: &Builtin| format!("{:width$}  {}\n", builtin.name, builtin.summary);
    BUILTINS.iter().map(line).collect()
}
