//! `krm cfg count`: counts resources by kind.

use krm_core::print::Record;
use krm_core::print::count_by_kind;
use krm_yaml::Value;

use super::{PackageInput, report_load_errors};
use crate::cli::{Global, optional_bool};
use crate::commands::list_output::ListFormat;
use crate::console::Console;
use crate::loader::Origin;
use crate::{CommandResult, Exit};

const EXAMPLES: &str = "\
Examples:
  krm cfg count shop
  krm cfg count shop --kind=false
  krm cfg count shop --no-recurse -o json
  kubectl get all -o yaml | krm cfg count -";

/// Count resources by kind.
///
/// Each package is counted separately; standard input is counted as a whole.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES, mut_arg("kind", optional_bool))]
pub(crate) struct Args {
    #[command(flatten)]
    input: PackageInput,

    /// Print one count per kind; with --kind=false, one total
    #[arg(long, default_value = "true")]
    kind: bool,

    /// Format of the counts
    #[arg(short, long, value_name = "FORMAT")]
    output: Option<ListFormat>,
}

pub(super) fn run(args: &Args, global: &Global, console: &mut Console) -> CommandResult {
    let loaded = args.input.load(global)?;
    let mut records: Vec<Record<'_>> = Vec::new();
    for (at, (root, files)) in loaded.package.by_root().into_iter().enumerate() {
        let kinds = count_by_kind(files.into_iter().flat_map(|file| file.resources()));
        let counts: Vec<(Option<String>, usize)> = match args.kind {
            true => kinds.into_iter().map(|(kind, count)| (Some(kind), count)).collect(),
            false => vec![(None, kinds.values().sum())],
        };
        let name = loaded.package_name(root);
        if args.output.is_some() {
            records
                .extend(counts.into_iter().map(|(kind, count)| record(name.clone(), kind, count)));
            continue;
        }
        if let Some(name) = name {
            if at > 0 {
                console.line("")?;
            }
            let slash = if loaded.origin == Origin::Directory { "/" } else { "" };
            console.line(&format!("{name}{slash}"))?;
        }
        for (kind, count) in counts {
            let kind = kind.map_or(String::new(), |kind| format!("{kind}: "));
            console.line(&format!("{kind}{count}"))?;
        }
    }
    if let Some(format) = args.output {
        console.data(&format.write(&records)?)?;
    }
    report_load_errors(&loaded, Exit::Success, global, console)
}

fn record(package: Option<String>, kind: Option<String>, count: usize) -> Record<'static> {
    let mut record = Record::new();
    record.extend(package.map(|package| ("package", Value::string(package))));
    record.extend(kind.map(|kind| ("kind", Value::string(kind))));
    record.push(("count", Value::int(i64::try_from(count).unwrap_or(i64::MAX))));
    record
}
