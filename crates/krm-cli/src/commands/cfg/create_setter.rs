//! `krm cfg create-setter`: a value becomes a setter, and the fields that hold it follow it.

use krm_core::setters::{Changes, CreateSetter};
use krm_core::{Diagnostic, PackageFile};
use krm_yaml::Path;

use super::edit_session::EditOptions;
use super::setters::{self, RefStyle, Where};
use crate::cli::Global;
use crate::console::Console;
use crate::loader;
use crate::{CommandResult, Failure};

const EXAMPLES: &str = "\
Examples:
  krm cfg create-setter shop replicas 3 --field spec.replicas --type integer
  krm cfg create-setter shop image-tag 1.26.0 --description 'release of the shop' --set-by team-shop
  krm cfg create-setter shop args --type array --field containers.args
  krm cfg create-setter shop replicas 3 --schema-path replicas.json --diff";

/// Make a setter of a value, and let the fields that hold it follow it.
///
/// The fields are those that hold VALUE; --field narrows them to the end of a path, by whole names: image,
/// containers.image. Without VALUE the value is what stands there. The reference joins the comment beside a field.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(flatten)]
    at: Where,

    /// The name of the setter
    name: String,

    /// Its value
    #[arg(allow_negative_numbers = true)]
    value: Option<String>,

    /// Its value, as an option
    #[arg(
        long = "value",
        value_name = "VALUE",
        conflicts_with = "value",
        allow_negative_numbers = true
    )]
    value_option: Option<String>,

    /// Only fields whose path ends like this
    #[arg(long, value_name = "PATH")]
    field: Option<Path>,

    /// Note who sets it
    #[arg(long, value_name = "WHO")]
    set_by: Option<String>,

    /// What the setter is for
    #[arg(long, value_name = "TEXT")]
    description: Option<String>,

    /// The type of its values: string, integer, number, boolean or array
    #[arg(long = "type", value_name = "TYPE")]
    kind: Option<String>,

    /// Rules for its values: a file with an OpenAPI schema
    #[arg(long, value_name = "FILE")]
    schema_path: Option<String>,

    /// Say that somebody must set it
    #[arg(long)]
    required: bool,

    /// How references are written
    #[arg(long, value_name = "STYLE", default_value = "openapi")]
    ref_style: RefStyle,

    #[command(flatten)]
    edit_options: EditOptions,
}

pub(super) fn run(args: &Args, global: &Global, console: &mut Console) -> CommandResult {
    let schema = schema(args, global)?;
    let opened = args.at.open(&args.edit_options, global, console)?;
    let parts = setters::read(&opened.session.loaded, &opened.openapi, global);
    let create = CreateSetter {
        name: args.name.clone(),
        value: args.value.clone().or_else(|| args.value_option.clone()),
        field: args.field.clone(),
        set_by: args.set_by.clone(),
        description: args.description.clone(),
        schema_type: args.kind.clone(),
        schema: schema.as_ref(),
        required: args.required,
        form: args.ref_style.form(),
    };
    let done = setters::each(&parts, |it| create.matches(it), |it| create.compute(it))?;
    let (mut changes, mut said) = (Changes::default(), Vec::new());
    for (part, created) in done {
        console.report_all(&created.warnings);
        said.extend(setters::headline(&parts, part));
        if created.fields.is_empty() {
            said.push(format!(
                "setter \"{}\" doesn't match any field in resource configs, but creating setter definition",
                args.name
            ));
        }
        said.push(format!(
            "created setter \"{}\" for {}",
            args.name,
            setters::fields(&created.fields)
        ));
        changes.merge(created.changes);
    }
    let planned = setters::plan(&changes, global);
    setters::finish(opened.session, planned, &said, &args.edit_options, console)
}

fn schema(args: &Args, global: &Global) -> Result<Option<PackageFile>, Failure> {
    let Some(name) = &args.schema_path else { return Ok(None) };
    let loaded = loader::load(name, global.jobs).map_err(Failure::input)?;
    let told = loaded.diagnostics();
    if told.iter().any(Diagnostic::is_error) {
        return Err(Failure::Diagnostics(crate::Exit::Input, told));
    }
    Ok(loaded.package.into_files().into_iter().next())
}
