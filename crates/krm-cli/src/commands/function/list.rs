//! `krm fn list`: lists the built-in functions.

use std::fmt::Write;

use clap_complete::engine::ArgValueCandidates;
use krm_catalog::{BUILTINS, Builtin, Change, Release, TagMatch};
use krm_core::print::Record;
use krm_yaml::Value;

use super::doc;
use crate::commands::completion::candidates;
use crate::commands::list_output::ListOutput;
use crate::console::Console;
use crate::{CommandResult, Exit};

const EXAMPLES: &str = "\
Examples:
  krm fn list
  krm fn list --tags set-namespace
  krm fn list -o json
  krm fn doc set-labels";

/// List the built-in functions.
///
/// A built-in function replaces the image of the catalog with its name: without a tag, with the tags latest and unstable, and with
/// the tags of its releases. A version that is newer than the known releases runs as the newest one before it, with a warning. Images
/// with any other tag or with a digest run as containers.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Names of functions, or images of the catalog [default: all]
    #[arg(value_name = "NAME", add = ArgValueCandidates::new(candidates::builtins))]
    names: Vec<String>,

    /// List the releases of each function, and what changed between them
    #[arg(long)]
    tags: bool,

    #[command(flatten)]
    list: ListOutput,
}

pub(super) fn run(args: &Args, console: &mut Console) -> CommandResult {
    let functions: Vec<&'static Builtin> = match args.names.is_empty() {
        true => BUILTINS.iter().collect(),
        false => args.names.iter().map(|name| doc::find(name)).collect::<Result<_, _>>()?,
    };
    let records = || -> Vec<Record<'static>> {
        match args.tags {
            true => functions.iter().flat_map(|it| release_records(it)).collect(),
            false => functions.iter().map(|it| record(it)).collect(),
        }
    };
    let text = || match args.tags {
        true => functions.iter().map(|it| releases(it)).collect(),
        false => table(&functions),
    };
    args.list.print(console, text, records)?;
    Ok(Exit::Success)
}

fn strings<T: ToString>(of: &[T]) -> Value<'static> {
    Value::Sequence(of.iter().map(|text| Value::string(text.to_string())).collect())
}

fn record(builtin: &'static Builtin) -> Record<'static> {
    vec![
        ("name", Value::from(builtin.name)),
        ("aliases", strings(builtin.aliases)),
        ("summary", Value::from(builtin.summary)),
        ("tags", strings(&builtin.tags())),
    ]
}

/// One record for each release.
fn release_records(builtin: &'static Builtin) -> impl Iterator<Item = Record<'static>> {
    builtin.releases.iter().map(|release| {
        let change = |change: &Change| {
            let entries = [("change", change.text), ("handling", change.handling.name())];
            let entries = entries.map(|(name, text)| (Value::from(name), Value::from(text)));
            Value::Mapping(entries.into_iter().collect())
        };
        vec![
            ("name", Value::from(builtin.name)),
            ("tags", strings(&tags(builtin, release))),
            ("source", Value::from(release.source)),
            ("changes", Value::Sequence(release.changes.iter().map(change).collect())),
        ]
    })
}

/// The tags of a release: its own, and that of its minor version if it is the newest of it.
pub(crate) fn tags(builtin: &Builtin, release: &Release) -> Vec<String> {
    if !release.has_version() {
        return ["latest", "unstable"].map(str::to_owned).to_vec();
    }
    let minor = release.version.minor_tag();
    let is_newest = builtin.release(&minor) == Some(TagMatch::Known(release.version));
    let minor = is_newest.then_some(minor);
    [release.version.to_string()].into_iter().chain(minor).collect()
}

/// The releases of a function, each with its changes.
fn releases(builtin: &Builtin) -> String {
    let mut text = String::new();
    for release in builtin.releases {
        let tags = tags(builtin, release).join(", ");
        let _ = writeln!(text, "{} {tags}  {}", builtin.name, release.source);
        for change in release.changes {
            let _ = writeln!(text, "  {}: {}", change.handling.name(), change.text);
        }
    }
    text
}

fn table(functions: &[&Builtin]) -> String {
    let width = functions.iter().map(|builtin| builtin.name.len()).max().unwrap_or(0);
    let line = |builtin: &&Builtin| format!("{:width$}  {}\n", builtin.name, builtin.summary);
    functions.iter().map(line).collect()
}
