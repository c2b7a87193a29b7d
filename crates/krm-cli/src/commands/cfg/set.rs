//! `krm cfg set`: a setter gets a value, and every field that follows it.

use krm_core::diagnostics::contains_secret;
use krm_core::setters::{Changes, SetValues, read_values};
use krm_core::{Diagnostic, Severity};
use krm_yaml::ReadOptions;

use super::edit_session::EditOptions;
use super::setters::{self, Part, Where};
use crate::cli::Global;
use crate::console::Console;
use crate::{CommandResult, Exit, Failure, disk};

const EXAMPLES: &str = "\
Examples:
  krm cfg set shop replicas 5
  krm cfg set shop image-tag 1.27 --set-by release-bot --diff
  krm cfg set shop args -- --verbose --port=80
  krm cfg set shop --from production.yaml
  krm cfg set shop replicas
  krm cfg set shop --all --check

Without a value, the one that stands in the definition is written into the fields.";

/// Give setters values, in their definitions and in every field that follows them.
///
/// Each field keeps its type, its quotes and its comment, so that one line changes. A value is checked against the
/// schema of its setter first; nothing is written unless all of it can be.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(flatten)]
    at: Where,

    /// The setter
    #[arg(required_unless_present_any = ["all", "from"])]
    name: Option<String>,

    /// Its value; several for a list
    #[arg(allow_negative_numbers = true)]
    value: Vec<String>,

    /// The values of a list; may be repeated
    #[arg(long, value_name = "VALUE", conflicts_with = "value", requires = "name")]
    values: Vec<String>,

    /// Values for many setters: a YAML or JSON file of names and values, or lines NAME=VALUE
    #[arg(long, value_name = "FILE", conflicts_with_all = ["value", "values", "name", "all"])]
    from: Option<String>,

    /// ApplySetters the values of all definitions
    #[arg(long, conflicts_with_all = ["value", "values", "name"])]
    all: bool,

    /// Note who sets it; what is noted stays where this is not given
    #[arg(long, value_name = "WHO")]
    set_by: Option<String>,

    /// Give the setter a new description
    #[arg(long, value_name = "TEXT")]
    description: Option<String>,

    /// Allow to change fields that aliases share
    #[arg(long)]
    shared: bool,

    #[command(flatten)]
    edit_options: EditOptions,
}

/// Names with the values that were given for them.
type Wanted = Vec<(String, Option<Vec<String>>)>;

pub(super) fn run(args: &Args, global: &Global, console: &mut Console) -> CommandResult {
    let wanted = wanted(args)?;
    let opened = args.at.open(&args.edit_options, global, console)?;
    let parts = setters::read(&opened.session.loaded, &opened.openapi, global);
    let (mut changes, mut said, mut told) = (Changes::default(), Vec::new(), Vec::new());
    let is_known =
        |name: &str| parts.iter().any(|it| it.setters.definitions().setter(name).is_some());
    for (at, part) in parts.iter().enumerate() {
        told.extend(part.setters.warnings().iter().cloned());
        let names = meant(args, &wanted, part, |name| at == 0 && !is_known(name));
        if names.is_empty() && at > 0 {
            continue;
        }
        let set = operation(args, &names);
        match set.compute(&part.setters) {
            Ok(done) => {
                told.extend(done.warnings.iter().cloned());
                if parts.len() > 1 && !names.is_empty() {
                    said.push(part.display_path.clone());
                }
                let shows = console.shows_secrets();
                said.extend(names.iter().map(|(name, given)| {
                    let count = done.counts.get(name).copied().unwrap_or_default();
                    let hidden = !shows && is_secret(name, part);
                    line(name, given.as_deref(), part, count, hidden)
                }));
                changes.merge(done.changes);
            }
            Err(errors) => told.extend(errors),
        }
    }
    if told.iter().any(Diagnostic::is_error) {
        told.retain(Diagnostic::is_error);
        return Err(Failure::Diagnostics(Exit::Input, told));
    }
    told.retain(|diagnostic| diagnostic.severity > Severity::Info);
    console.report_all(&told);
    let planned = setters::plan(&changes, global);
    setters::finish(opened.session, planned, &said, &args.edit_options, console)
}

fn wanted(args: &Args) -> Result<Wanted, Failure> {
    if let Some(name) = &args.name {
        let values = if args.values.is_empty() { &args.value } else { &args.values };
        return Ok(vec![(name.clone(), (!values.is_empty()).then(|| values.clone()))]);
    }
    let Some(from) = &args.from else { return Ok(Vec::new()) };
    let file = disk::parse(from, ReadOptions::default()).map_err(Failure::input)?;
    let values = read_values(&file, from.ends_with(".env"));
    let values = values.map_err(|error| Failure::input(error.in_file(disk::display_name(from))))?;
    Ok(values.into_iter().map(|(name, values)| (name, Some(values))).collect())
}

/// What is to be set in one package: what it defines, and in the first one also what nobody does.
fn meant(args: &Args, wanted: &Wanted, part: &Part<'_>, is_lost: impl Fn(&str) -> bool) -> Wanted {
    let definitions = part.setters.definitions();
    if args.all {
        return definitions
            .setters()
            .filter(|it| it.location.is_some())
            .map(|it| (it.name.clone(), None))
            .collect();
    }
    let here = |name: &str| definitions.setter(name).is_some() || is_lost(name);
    wanted.iter().filter(|(name, _)| here(name)).cloned().collect()
}

fn operation(args: &Args, names: &Wanted) -> SetValues {
    let mut set = SetValues::default();
    for (name, values) in names {
        set = set.and(name.clone());
        if let Some(values) = values {
            set = set.to_all(values.clone());
        }
    }
    set.by(args.set_by.clone()).described(args.description.clone()).allow_shared(args.shared)
}

/// Compat: the words of kustomize.
fn line(
    name: &str,
    given: Option<&[String]>,
    part: &Part<'_>,
    count: usize,
    hidden: bool,
) -> String {
    let value = match given {
        _ if hidden => "***".to_owned(),
        Some([one]) => one.clone(),
        Some(many) => format!("[{}]", many.join(",")),
        None => {
            part.setters.definitions().setter(name).map(|it| it.value.shown()).unwrap_or_default()
        }
    };
    format!("set {count} field(s) of setter \"{name}\" to value \"{value}\"")
}

/// Whether a value goes into a Secret, and is nobody's to read.
fn is_secret(name: &str, part: &Part<'_>) -> bool {
    let fields = part.setters.reached_by(name);
    fields.iter().any(|field| contains_secret(field.node.document()))
}
