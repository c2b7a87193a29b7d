//! `krm cfg create-subst`: defines a substitution and adds references to it to the fields that hold its value.

use krm_core::setters::{Changes, CreateSubstitution};
use krm_yaml::Path;

use super::edit_session::EditOptions;
use super::setters::{self, RefStyle, SetterPackage};
use crate::CommandResult;
use crate::cli::Global;
use crate::console::Console;

const EXAMPLES: &str = "\
Examples:
  krm cfg create-subst shop image --field-value shop/web:1.26.0 --pattern '${image-name}:${image-tag}'
  krm cfg create-subst shop host --field host --field-value shop.example.com --pattern '${name}.example.com'";

/// Define a substitution: a value that is composed of setters.
///
/// Fields match if their value is --field-value. Setters in the pattern that do not exist are created with the values that the pattern
/// extracts from --field-value; if the extraction is ambiguous, that is an error.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(flatten)]
    package: SetterPackage,

    /// Name of the substitution
    name: String,

    /// Current value of the fields
    #[arg(long, value_name = "VALUE", required = true)]
    field_value: String,

    /// Pattern of the value, with ${NAME} for setters and other substitutions
    #[arg(long, value_name = "PATTERN", required = true)]
    pattern: String,

    /// Only fields whose path ends with these keys
    #[arg(long, value_name = "PATH")]
    field: Option<Path>,

    /// Syntax of references
    #[arg(long, value_name = "STYLE", default_value = "openapi")]
    ref_style: RefStyle,

    #[command(flatten)]
    edit_options: EditOptions,
}

pub(super) fn run(args: &Args, global: &Global, console: &mut Console) -> CommandResult {
    let opened = args.package.open(&args.edit_options, global, console)?;
    let packages = setters::read(&opened.session.loaded, &opened.openapi, global);
    let create = CreateSubstitution {
        name: args.name.clone(),
        field_value: args.field_value.clone(),
        pattern: args.pattern.clone(),
        field: args.field.clone(),
        syntax: args.ref_style.syntax(),
    };
    let done = setters::each(&packages, |it| create.matches(it), |it| create.compute(it))?;
    let (mut changes, mut status) = (Changes::default(), Vec::new());
    for (package, created) in done {
        console.report_all(&created.warnings);
        status.extend(setters::headline(&packages, package));
        status.extend(created.setters.iter().map(|(name, value)| {
            format!(
                "unable to find setter with name {name}, creating new setter with value {value}"
            )
        }));
        let fields = setters::describe_fields(&created.fields);
        status.push(format!("created substitution \"{}\" for {fields}", args.name));
        changes.merge(created.changes);
    }
    let plan = setters::plan(&changes, &opened.session, global);
    setters::finish(opened.session, plan, &status, &args.edit_options, console)
}
