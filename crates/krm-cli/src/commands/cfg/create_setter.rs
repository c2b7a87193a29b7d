//! `krm cfg create-setter`: defines a setter and adds references to it to the fields that hold its value.

use clap_complete::engine::ArgValueCandidates;
use krm_core::setters::{Changes, CreateSetter};
use krm_core::{Diagnostic, PackageFile};
use krm_yaml::Path;

use super::edit_session::EditOptions;
use super::setters::{self, RefStyle, SetterPackage};
use crate::cli::Global;
use crate::commands::completion::candidates;
use crate::console::Console;
use crate::loader;
use crate::{CommandResult, Failure};

const EXAMPLES: &str = "\
Examples:
  krm cfg create-setter replicas 3 --field spec.replicas --type integer
  krm cfg create-setter shop image-tag 1.26.0 --description 'release of the shop' --set-by team-shop
  krm cfg create-setter shop args --type array --field containers.args
  krm cfg create-setter shop replicas 3 --schema-path replicas.json --diff";

/// Define a setter, and add references to it to the fields that hold its value.
///
/// Fields match if their value is VALUE; --field limits them to paths that end with the given keys, such as image or
/// containers.image. Without VALUE the setter takes the current value of those fields. The reference is added to the line comment of
/// the field.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(flatten)]
    package: SetterPackage,

    /// Name of the setter
    #[arg(allow_negative_numbers = true, add = ArgValueCandidates::new(candidates::setters))]
    name: Option<String>,

    /// Value of the setter
    #[arg(allow_negative_numbers = true)]
    value: Option<String>,

    /// Value of the setter, as an option
    #[arg(
        long = "value",
        value_name = "VALUE",
        conflicts_with = "value",
        allow_negative_numbers = true
    )]
    value_option: Option<String>,

    /// Only fields whose path ends with these keys
    #[arg(long, value_name = "PATH")]
    field: Option<Path>,

    /// Record who sets the value
    #[arg(long, value_name = "WHO")]
    set_by: Option<String>,

    /// Description of the setter
    #[arg(long, value_name = "TEXT")]
    description: Option<String>,

    /// Type of the value: string, integer, number, boolean or array
    #[arg(long = "type", value_name = "TYPE")]
    kind: Option<String>,

    /// File with an OpenAPI schema that validates the value
    #[arg(long, value_name = "FILE")]
    schema_path: Option<String>,

    /// Mark the setter as required
    #[arg(long)]
    required: bool,

    /// Syntax of references [default: kpt-set in kpt packages, otherwise openapi]
    #[arg(long, value_name = "STYLE")]
    ref_style: Option<RefStyle>,

    #[command(flatten)]
    edit_options: EditOptions,
}

pub(super) fn run(args: &Args, global: &Global, console: &mut Console) -> CommandResult {
    let schema = schema(args, global)?;
    let most = if args.value_option.is_some() { 1 } else { 2 };
    let given = args.name.iter().chain(&args.value);
    let (dir, words) = args.package.split(given, 1..=most, "NAME")?;
    let (name, value) = (words[0], words.get(1).map(|&value| value.to_owned()));
    let opened = args.package.open(dir, &args.edit_options, global, console)?;
    let packages = opened.setters(global);
    let create = CreateSetter {
        name: name.to_owned(),
        value: value.or_else(|| args.value_option.clone()),
        field: args.field.clone(),
        set_by: args.set_by.clone(),
        description: args.description.clone(),
        schema_type: args.kind.clone(),
        schema: schema.as_ref(),
        required: args.required,
        syntax: args.ref_style.map(RefStyle::syntax),
    };
    let done = setters::each(&packages, |it| create.matches(it), |it| create.compute(it))?;
    let (mut changes, mut status) = (Changes::default(), Vec::new());
    for (package, created) in done {
        console.report_all(&created.warnings);
        status.extend(setters::headline(&packages, package));
        if created.existed {
            status.push(setters::added_references("setter", name, &created.fields));
            changes.merge(created.changes);
            continue;
        }
        if created.fields.is_empty() {
            status.push(format!(
                "setter \"{name}\" doesn't match any field in resource configs, but creating setter definition"
            ));
        }
        let fields = setters::describe_fields(&created.fields);
        status.push(format!("created setter \"{name}\" for {fields}"));
        changes.merge(created.changes);
    }
    let plan = setters::plan(&changes, &opened.session, global);
    setters::finish(opened.session, plan, &status, &args.edit_options, console)
}

fn schema(args: &Args, global: &Global) -> Result<Option<PackageFile>, Failure> {
    let Some(name) = &args.schema_path else { return Ok(None) };
    let loaded = loader::load(name, global.load_options()).map_err(Failure::input)?;
    let diagnostics = loaded.diagnostics();
    if diagnostics.iter().any(Diagnostic::is_error) {
        return Err(Failure::Diagnostics(crate::Exit::Input, diagnostics));
    }
    Ok(loaded.package.into_files().into_iter().next())
}
