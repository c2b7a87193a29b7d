//! `krm cfg annotate`: resources get annotations, one line for each.

use krm_core::annotate::{ResourceFilter, annotate};
use krm_core::diagnostics::closest_kind;
use krm_core::{Diagnostic, PackageResource};

use super::edit_session::{EditOptions, EditSession, Target};
use crate::cli::Global;
use crate::console::Console;
use crate::{CommandResult, Exit, Failure};

const EXAMPLES: &str = "\
Examples:
  krm cfg annotate shop --kv example.com/owner=team-shop
  krm cfg annotate shop --kv a=1 --kv b=2 --kind Deployment --diff
  krm cfg annotate - --kv a=1 < deployment.yaml";

/// Add annotations to the resources of a package.
///
/// An annotation that is there gets the new value. Values are always text: 1 is written \"1\". Without --kind,
/// --apiVersion, --name or --namespace all resources are meant; with several of them, those for which all are true.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(flatten)]
    target: Target,

    /// The annotation; may be repeated
    #[arg(long, value_name = "KEY=VALUE", required = true, value_parser = pair)]
    kv: Vec<(String, String)>,

    /// Only resources of this kind
    #[arg(long)]
    kind: Option<String>,

    /// Only resources of this API version
    #[arg(long = "apiVersion", value_name = "VERSION")]
    api_version: Option<String>,

    /// Only resources of this name
    #[arg(long)]
    name: Option<String>,

    /// Only resources of this namespace
    #[arg(long)]
    namespace: Option<String>,

    #[command(flatten)]
    edit_options: EditOptions,
}

pub(super) fn run(args: &Args, global: &Global, console: &mut Console) -> CommandResult {
    if let Some(key) = repeated(&args.kv) {
        let twice = Diagnostic::untyped_error(format!("the annotation `{key}` is given twice"));
        return Err(Failure::Diagnostics(Exit::Usage, vec![twice]));
    }
    let filter = ResourceFilter {
        kind: args.kind.clone(),
        api_version: args.api_version.clone(),
        name: args.name.clone(),
        namespace: args.namespace.clone(),
    };
    let session = EditSession::open(&args.target, &args.edit_options, global, console)?;
    let is_meant = |placed: PackageResource<'_>| filter.matches(placed.resource);
    let package = &session.loaded.package;
    if !package.files().is_empty() && !package.resources().any(is_meant) {
        let nothing = Diagnostic::untyped_warning("there is no such resource, and nothing changes");
        let near = args.kind.as_deref().and_then(|it| closest_kind(package, it));
        console.report(
            &near.into_iter().fold(nothing, |nothing, kind| {
                nothing.hint(format!("did you mean `--kind {kind}`?"))
            }),
        );
    }
    session.each_file(global, console, |file| annotate(file, &filter, &args.kv))
}

/// The value is everything after the first `=`.
fn pair(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, value)) if !key.is_empty() => Ok((key.to_owned(), value.to_owned())),
        _ => Err("KEY=VALUE is wanted".to_owned()),
    }
}

fn repeated(pairs: &[(String, String)]) -> Option<&str> {
    let again = |at: &usize| pairs[..*at].iter().any(|(key, _)| *key == pairs[*at].0);
    (0..pairs.len()).find(again).map(|at| pairs[at].0.as_str())
}
