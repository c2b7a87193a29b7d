//! `krm cfg create-subst`: a value becomes a pattern of setters, and the fields that hold it follow it.

use krm_core::setters::{Changes, CreateSubstitution};
use krm_yaml::Path;

use super::edit_session::EditOptions;
use super::setters::{self, RefStyle, Where};
use crate::CommandResult;
use crate::cli::Global;
use crate::console::Console;

const EXAMPLES: &str = "\
Examples:
  krm cfg create-subst shop image --field-value shop/web:1.26.0 --pattern '${image-name}:${image-tag}'
  krm cfg create-subst shop host --field host --field-value shop.example.com --pattern '${name}.example.com'";

/// Make a substitution: a value that is put together from setters.
///
/// The fields are those that hold --field-value. Setters that the pattern names and that do not exist are made, with
/// the values that the pattern reads from --field-value; where it can be read in two ways, nothing is made.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(flatten)]
    at: Where,

    /// The name of the substitution
    name: String,

    /// The value of the fields
    #[arg(long, value_name = "VALUE", required = true)]
    field_value: String,

    /// How it is put together: text with ${NAME} for setters and other substitutions
    #[arg(long, value_name = "PATTERN", required = true)]
    pattern: String,

    /// Only fields whose path ends like this
    #[arg(long, value_name = "PATH")]
    field: Option<Path>,

    /// How references are written
    #[arg(long, value_name = "STYLE", default_value = "openapi")]
    ref_style: RefStyle,

    #[command(flatten)]
    edit_options: EditOptions,
}

pub(super) fn run(args: &Args, global: &Global, console: &mut Console) -> CommandResult {
    let opened = args.at.open(&args.edit_options, global, console)?;
    let parts = setters::read(&opened.session.loaded, &opened.openapi, global);
    let create = CreateSubstitution {
        name: args.name.clone(),
        field_value: args.field_value.clone(),
        pattern: args.pattern.clone(),
        field: args.field.clone(),
        form: args.ref_style.form(),
    };
    let done = setters::each(&parts, |it| create.matches(it), |it| create.compute(it))?;
    let (mut changes, mut said) = (Changes::default(), Vec::new());
    for (part, created) in done {
        console.report_all(&created.warnings);
        said.extend(setters::headline(&parts, part));
        said.extend(created.setters.iter().map(|(name, value)| {
            format!(
                "unable to find setter with name {name}, creating new setter with value {value}"
            )
        }));
        let fields = setters::fields(&created.fields);
        said.push(format!("created substitution \"{}\" for {fields}", args.name));
        changes.merge(created.changes);
    }
    let planned = setters::plan(&changes, global);
    setters::finish(opened.session, planned, &said, &args.edit_options, console)
}
