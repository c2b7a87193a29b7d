//! `krm yaml rm`: what stands at a path goes away, with the comments that are its own.

use krm_yaml::{DocumentRef, Edit, EditError, EditErrorKind, Path, WhenEmpty};

use super::edit::{self, Operation, Step};
use crate::cli::{Documents, Global, Preview};
use crate::commands::plan;
use crate::console::Console;
use crate::{CommandResult, Exit, Failure};

const EXAMPLES: &str = "\
Examples:
  krm yaml rm spec.replicas deployment.yaml
  krm yaml rm 'spec.template.spec.containers[name=debug]' *.yaml --diff
  krm yaml rm metadata.annotations.old deployment.yaml --prune";

/// Remove what stands at a path, in place.
///
/// The comments of the entry go with it, all others stay. A collection that becomes empty is written as {} or []; with
/// --prune it is removed, too. The exit code is 1 where no document has the path. Nothing is written unless every file can
/// be edited.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// What to remove
    path: Path,

    /// The files; - edits standard input to standard output
    #[arg(required = true)]
    files: Vec<String>,

    /// Remove the parents that become empty, too
    #[arg(long)]
    prune: bool,

    /// Allow to change a value that aliases share
    #[arg(long)]
    shared: bool,

    #[command(flatten)]
    documents: Documents,

    #[command(flatten)]
    preview: Preview,
}

struct Remove<'a>(&'a Args);

impl Operation for Remove<'_> {
    fn path(&self) -> &Path {
        &self.0.path
    }

    fn shared(&self) -> bool {
        self.0.shared
    }

    fn makes_documents(&self) -> bool {
        false
    }

    fn on<'a>(
        &'a self,
        edit: &mut Edit<'a>,
        document: DocumentRef<'a>,
        _: bool,
    ) -> Result<Step, EditError> {
        let when_empty = if self.0.prune { WhenEmpty::Remove } else { WhenEmpty::Keep };
        match edit.remove_at(document, &self.0.path, when_empty) {
            Ok(()) => Ok(Step::Done),
            Err(error) => match error.kind {
                EditErrorKind::PathNotFound { .. } | EditErrorKind::NoDocument => Ok(Step::Absent),
                _ => Err(error),
            },
        }
    }
}

pub(super) fn run(args: &Args, global: &Global, console: &mut Console) -> CommandResult {
    let lock = plan::lock(&args.files, &args.preview, console)?;
    let edited = edit::all(&args.files, &args.documents, &Remove(args), global)?;
    if edited.done == 0 {
        let nothing = edited.nothing.map(|(_, nothing)| nothing).into_iter().collect();
        return Err(Failure::Diagnostics(Exit::Findings, nothing));
    }
    plan::apply_or_preview(edited.plan, &args.preview, &lock, console)
}
