//! `krm cfg annotate`: sets annotations of resources.

use clap_complete::engine::ArgValueCandidates;
use krm_core::annotate::{ResourceFilter, annotate};
use krm_core::diagnostics::closest_kind;
use krm_core::{Diagnostic, PackageResource};

use super::edit_session::{EditOptions, EditSession, EditablePackage};
use crate::cli::Global;
use crate::commands::completion::candidates;
use crate::commands::kinds::CommandKind;
use crate::console::Console;
use crate::{CommandResult, Failure};

const EXAMPLES: &str = "\
Examples:
  krm cfg annotate shop --kv example.com/owner=team-shop
  krm cfg annotate shop --kv a=1 --kv b=2 --kind Deployment --diff
  krm cfg annotate - --kv a=1 < deployment.yaml";

/// Set annotations on the resources of a package.
///
/// An existing annotation gets the new value. Values are always strings: 1 is written as "1". All resources are annotated, or those
/// that match all of --kind, --apiVersion, --name and --namespace.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(flatten)]
    package: EditablePackage,

    /// Annotation to set; can be repeated
    #[arg(long, value_name = "KEY=VALUE", required = true, value_parser = key_value)]
    kv: Vec<(String, String)>,

    /// Only resources of this kind
    #[arg(long, add = ArgValueCandidates::new(candidates::kinds))]
    kind: Option<String>,

    /// Only resources with this apiVersion
    #[arg(long = "apiVersion", value_name = "VERSION")]
    api_version: Option<String>,

    /// Only resources with this name
    #[arg(long, add = ArgValueCandidates::new(candidates::names))]
    name: Option<String>,

    /// Only resources in this namespace
    #[arg(long, add = ArgValueCandidates::new(candidates::namespaces))]
    namespace: Option<String>,

    #[command(flatten)]
    edit_options: EditOptions,
}

pub(super) fn run(args: &Args, global: &Global, console: &mut Console) -> CommandResult {
    if let Some(key) = repeated_key(&args.kv) {
        let kind = CommandKind::RepeatedAnnotation { key: key.to_owned() };
        return Err(Failure::usage(Diagnostic::error(kind)));
    }
    let filter = ResourceFilter {
        kind: args.kind.clone(),
        api_version: args.api_version.clone(),
        name: args.name.clone(),
        namespace: args.namespace.clone(),
        labels: Vec::new(),
    };
    let session = EditSession::open(&args.package, &args.edit_options, global, console)?;
    let is_chosen = |placed: PackageResource<'_>| filter.matches(placed.resource);
    let package = &session.loaded.package;
    if !package.files().is_empty() && !package.resources().any(is_chosen) {
        let mut warning = Diagnostic::warning(CommandKind::NoMatchingResource);
        if let Some(kind) = args.kind.as_deref().and_then(|kind| closest_kind(package, kind)) {
            warning = warning.hint(format!("did you mean `--kind {kind}`?"));
        }
        console.report(&warning);
    }
    session.each_file(global, console, |file| annotate(file, &filter, &args.kv))
}

/// Parses `KEY=VALUE`; the value is everything after the first `=`.
fn key_value(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, value)) if !key.is_empty() => Ok((key.to_owned(), value.to_owned())),
        _ => Err("expected KEY=VALUE".to_owned()),
    }
}

fn repeated_key(pairs: &[(String, String)]) -> Option<&str> {
    let again = |at: &usize| pairs[..*at].iter().any(|(key, _)| *key == pairs[*at].0);
    (0..pairs.len()).find(again).map(|at| pairs[at].0.as_str())
}
