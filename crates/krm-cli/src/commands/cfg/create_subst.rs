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
/// Fields match if their value is --field-value. Markers of the pattern are ${NAME}, or those of --marker, or else its words in capital
/// letters: IMAGE_TAG for the setter image-tag. Setters in the pattern that do not exist are created with the values that the pattern
/// extracts from --field-value; if the extraction is ambiguous, that is an error.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(flatten)]
    package: SetterPackage,

    /// Name of the substitution
    name: Option<String>,

    /// Current value of the fields
    #[arg(long, value_name = "VALUE", required = true)]
    field_value: String,

    /// Pattern of the value, with ${NAME} for setters and other substitutions
    #[arg(long, value_name = "PATTERN", required = true)]
    pattern: String,

    /// Only fields whose path ends with these keys
    #[arg(long, value_name = "PATH")]
    field: Option<Path>,

    /// Marker of the pattern and the setter or substitution that it stands for; can be repeated
    #[arg(long = "marker", value_name = "MARKER=NAME", value_parser = marker)]
    markers: Vec<(String, String)>,

    /// Syntax of references [default: kpt-set in kpt packages, otherwise openapi]
    #[arg(long, value_name = "STYLE")]
    ref_style: Option<RefStyle>,

    #[command(flatten)]
    edit_options: EditOptions,
}

pub(super) fn run(args: &Args, global: &Global, console: &mut Console) -> CommandResult {
    let (dir, names) = args.package.split(&args.name, 1..=1, "NAME")?;
    let name = names[0];
    let opened = args.package.open(dir, &args.edit_options, global, console)?;
    let packages = opened.setters(global);
    let create = CreateSubstitution {
        name: name.to_owned(),
        field_value: args.field_value.clone(),
        pattern: args.pattern.clone(),
        markers: args.markers.clone(),
        field: args.field.clone(),
        syntax: args.ref_style.map(RefStyle::syntax),
    };
    let done = setters::each(&packages, |it| create.matches(it), |it| create.compute(it))?;
    let (mut changes, mut status) = (Changes::default(), Vec::new());
    for (package, created) in done {
        console.report_all(&created.warnings);
        status.extend(setters::headline(&packages, package));
        if created.existed {
            status.push(setters::added_references("substitution", name, &created.fields));
            changes.merge(created.changes);
            continue;
        }
        status.extend(created.setters.iter().map(|(setter, value)| {
            format!(
                "unable to find setter with name {setter}, creating new setter with value {value}"
            )
        }));
        let fields = setters::describe_fields(&created.fields);
        status.push(format!("created substitution \"{name}\" for {fields}"));
        changes.merge(created.changes);
    }
    let plan = setters::plan(&changes, &opened.session, global);
    setters::finish(opened.session, plan, &status, &args.edit_options, console)
}

/// `MARKER=NAME`
fn marker(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((marker, name)) if !marker.is_empty() && !name.is_empty() => {
            Ok((marker.to_owned(), name.to_owned()))
        }
        _ => Err("expected MARKER=NAME".to_owned()),
    }
}
