//! `krm cfg set`: sets the value of a setter and of every field that references it.

use std::collections::BTreeSet;
use std::path::Path;

use clap_complete::engine::ArgValueCandidates;
use krm_core::diagnostics::contains_secret;
use krm_core::setters::{Changes, SetValues, SetterKind, read_values};
use krm_core::{Diagnostic, Severity};
use krm_yaml::ReadOptions;

use super::edit_session::EditOptions;
use super::setters::{self, PackageSetters, SetterPackage};
use crate::cli::Global;
use crate::commands::completion::candidates;
use crate::commands::conflict_records;
use crate::commands::kinds::CommandKind;
use crate::console::Console;
use crate::{CommandResult, Exit, Failure, disk};

const EXAMPLES: &str = "\
Examples:
  krm cfg set replicas 5
  krm cfg set shop replicas 5
  krm cfg set shop image-tag 1.27 --set-by release-bot --diff
  krm cfg set shop args -- --verbose --port=80
  krm cfg set shop --from production.yaml
  krm cfg set shop replicas
  krm cfg set shop --all --check

Without a value, the value of the definition is written to the fields.";

/// Set the values of setters, in their definitions and in all fields that reference them.
///
/// Each field keeps its type, its quotes and its comment. Values are validated against the schema of the setter first; nothing is
/// written unless all values are valid.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(flatten)]
    package: SetterPackage,

    /// Name of the setter
    #[arg(allow_negative_numbers = true, add = ArgValueCandidates::new(candidates::setters))]
    name: Option<String>,

    /// Value of the setter; several for an array
    #[arg(allow_negative_numbers = true)]
    value: Vec<String>,

    /// Element of an array; can be repeated
    #[arg(long, value_name = "VALUE", conflicts_with = "value")]
    values: Vec<String>,

    /// File with values for several setters: a YAML or JSON mapping, or lines NAME=VALUE
    #[arg(long, value_name = "FILE", conflicts_with_all = ["value", "values", "name", "all"])]
    from: Option<String>,

    /// Write the values of all definitions to their fields
    #[arg(long, conflicts_with_all = ["value", "values", "name"])]
    all: bool,

    /// Record who sets the value [default: remove who set it before]
    #[arg(long, value_name = "WHO")]
    set_by: Option<String>,

    /// New description of the setter
    #[arg(long, value_name = "TEXT")]
    description: Option<String>,

    /// Fail if no field references the setter
    #[arg(long)]
    strict: bool,

    /// Allow changing values that are shared through aliases
    #[arg(long)]
    shared: bool,

    #[command(flatten)]
    edit_options: EditOptions,
}

/// Names of setters, with the values that were given for them.
type Assignments = Vec<(String, Option<Vec<String>>)>;

pub(super) fn run(args: &Args, global: &Global, console: &mut Console) -> CommandResult {
    let (dir, assignments) = assignments(args)?;
    let has_values = assignments.iter().any(|(_, values)| values.is_some());
    if (args.set_by.is_some() || args.description.is_some()) && !has_values && args.from.is_none() {
        let names = "VALUE, which --set-by and --description describe";
        return Err(Failure::usage(Diagnostic::error(CommandKind::MissingArgument { names })));
    }
    let opened = args.package.open(dir, &args.edit_options, global, console)?;
    conflict_records::check_resolved(&opened.session.loaded.package)?;
    let packages = opened.setters(global);
    let (mut changes, mut status, mut diagnostics) = (Changes::default(), Vec::new(), Vec::new());
    let mut unused: Vec<(String, Diagnostic)> = Vec::new();
    let mut used: BTreeSet<String> = BTreeSet::new();
    for (at, package) in packages.iter().enumerate() {
        diagnostics.extend(package.setters.warnings().iter().cloned());
        let names = selected(args, &assignments, &packages, at);
        if names.is_empty() && at > 0 {
            continue;
        }
        match operation(args, &names, &assignments).compute(&package.setters) {
            Ok(done) => {
                diagnostics.extend(done.warnings.iter().cloned());
                if packages.len() > 1 && !names.is_empty() {
                    status.push(package.display_path.clone());
                }
                let shows = console.shows_secrets();
                status.extend(names.iter().map(|(name, given)| {
                    let count = done.counts.get(name).copied().unwrap_or_default();
                    let hidden = !shows && is_secret(name, package);
                    status_line(name, given.as_deref(), package, count, hidden)
                }));
                let reached = done.counts.iter().filter(|(_, count)| **count > 0);
                used.extend(reached.map(|(name, _)| name.clone()));
                unused.extend(done.unused);
                changes.merge(done.changes);
            }
            Err(errors) => diagnostics.extend(errors),
        }
    }
    // A setter that has fields in one of the packages is used.
    let unused = unused.into_iter().filter(|(name, _)| !used.contains(name));
    diagnostics.extend(unused.map(|(_, warning)| setters::strict(warning, args.strict)));
    if diagnostics.iter().any(Diagnostic::is_error) {
        diagnostics.retain(Diagnostic::is_error);
        let errors = diagnostics.into_iter().map(|error| with_directory_hint(error, args));
        return Err(Failure::Diagnostics(Exit::Input, errors.collect()));
    }
    diagnostics.retain(|diagnostic| diagnostic.severity > Severity::Info);
    console.report_all(&diagnostics);
    let plan = setters::plan(&changes, &opened.session, global);
    setters::finish(opened.session, plan, &status, &args.edit_options, console)
}

/// Says that an unknown setter is not a directory, either, where so many arguments are given that it may have been meant as one.
fn with_directory_hint(error: Diagnostic, args: &Args) -> Diagnostic {
    let is_undefined = matches!(error.kind(), Some(SetterKind::NotDefined { .. }));
    match args.package.dir().filter(|_| is_undefined && !args.value.is_empty()) {
        Some(dir) if !Path::new(dir).exists() => {
            error.hint(format!("check the arguments: there is no directory `{dir}`"))
        }
        _ => error,
    }
}

/// The directory and the values that the command line asks for; with `--all`, none.
fn assignments(args: &Args) -> Result<(&str, Assignments), Failure> {
    let given = args.name.iter().chain(&args.value);
    let count = match () {
        () if args.all || args.from.is_some() => 0..=0,
        () if args.values.is_empty() => 1..=usize::MAX,
        () => 1..=1,
    };
    let (dir, words) = args.package.split(given, count, "NAME")?;
    if let Some((name, value)) = words.split_first() {
        let value: Vec<String> = value.iter().map(|&value| value.to_owned()).collect();
        let values = if args.values.is_empty() { value } else { args.values.clone() };
        return Ok((dir, vec![((*name).to_owned(), (!values.is_empty()).then_some(values))]));
    }
    Ok((dir, values_of_file(args)?))
}

/// The values of the file of `--from`.
fn values_of_file(args: &Args) -> Result<Assignments, Failure> {
    let Some(from) = &args.from else { return Ok(Vec::new()) };
    let file = disk::parse(from, ReadOptions::default()).map_err(Failure::input)?;
    let values = read_values(&file, from.ends_with(".env"));
    let values = values.map_err(|error| Failure::input(error.in_file(disk::display_name(from))))?;
    Ok(values.into_iter().map(|(name, values)| (name, Some(values))).collect())
}

/// The assignments for one package: setters that it defines or, if no package does, that only its fields name. The outermost package
/// gets setters that are unknown everywhere, so that they are reported.
fn selected(
    args: &Args,
    assignments: &Assignments,
    packages: &[PackageSetters<'_>],
    at: usize,
) -> Assignments {
    let setter = |package: &PackageSetters<'_>, name: &str| {
        package.setters.definitions().setter(name).map(|it| it.location.is_some())
    };
    if args.all {
        let own = packages[at].setters.definitions().setters();
        return own.filter(|it| it.location.is_some()).map(|it| (it.name.clone(), None)).collect();
    }
    let is_here = |name: &str| match setter(&packages[at], name) {
        Some(true) => true,
        Some(false) => !packages.iter().any(|it| setter(it, name) == Some(true)),
        None => at == 0 && packages.iter().all(|it| setter(it, name).is_none()),
    };
    assignments.iter().filter(|(name, _)| is_here(name)).cloned().collect()
}

fn operation(args: &Args, names: &Assignments, all: &Assignments) -> SetValues {
    let mut set = SetValues::default();
    for (name, values) in names {
        set = set.and(name.clone());
        if let Some(values) = values {
            set = set.to_all(values.clone());
        }
    }
    for (name, values) in all {
        let is_elsewhere = !names.iter().any(|(other, _)| other == name);
        if let (true, Some([value])) = (is_elsewhere, values.as_deref()) {
            set = set.and_elsewhere(name.clone(), value.clone());
        }
    }
    set.set_by(args.set_by.clone()).description(args.description.clone()).allow_shared(args.shared)
}

/// Compat: the status line of kustomize.
fn status_line(
    name: &str,
    given: Option<&[String]>,
    package: &PackageSetters<'_>,
    count: usize,
    hidden: bool,
) -> String {
    let value = match given {
        _ if hidden => "***".to_owned(),
        Some([one]) => one.clone(),
        Some(many) => format!("[{}]", many.join(",")),
        None => package
            .setters
            .definitions()
            .setter(name)
            .map(|it| it.value.to_string())
            .unwrap_or_default(),
    };
    format!("set {count} field(s) of setter \"{name}\" to value \"{value}\"")
}

/// Whether a setter is used in a Secret, so that its value must be masked.
fn is_secret(name: &str, package: &PackageSetters<'_>) -> bool {
    let fields = package.setters.fields_of(name);
    fields.iter().any(|field| contains_secret(field.node.document()))
}
