//! `krm yaml rm`: removes the entry at a path, with its comments.

use krm_yaml::{DocumentRef, Edit, EditError, EditErrorKind, EmptyParents, Path};

use super::path_edit::{self, DocumentEdit, PathEdit};
use crate::cli::{Documents, Global, Preview};
use crate::commands::plan;
use crate::console::Console;
use crate::{CommandResult, Exit, Failure};

const EXAMPLES: &str = "\
Examples:
  krm yaml rm spec.replicas deployment.yaml
  krm yaml rm 'spec.template.spec.containers[name=debug]' *.yaml --diff
  krm yaml rm metadata.annotations.old deployment.yaml --prune";

/// Remove the value at a path, in place.
///
/// The comments of the entry are removed with it, all others are kept. A collection that becomes empty is written as {} or []; with
/// --prune it is removed, too. The exit code is 1 if no document has the path. Nothing is written unless all files can be edited.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Path to remove
    #[arg(value_parser = path_edit::parse_path)]
    path: Path,

    /// Files to edit; - edits standard input to standard output
    #[arg(required = true)]
    files: Vec<String>,

    /// Also remove parents that become empty
    #[arg(long)]
    prune: bool,

    /// Allow changing a value that is shared through aliases
    #[arg(long)]
    shared: bool,

    #[command(flatten)]
    documents: Documents,

    #[command(flatten)]
    preview: Preview,
}

struct Remove<'a>(&'a Args);

impl PathEdit for Remove<'_> {
    fn path(&self) -> &Path {
        &self.0.path
    }

    fn shared(&self) -> bool {
        self.0.shared
    }

    fn creates_documents(&self) -> bool {
        false
    }

    fn edit<'a>(
        &'a self,
        edit: &mut Edit<'a>,
        document: DocumentRef<'a>,
        _: bool,
    ) -> Result<DocumentEdit, EditError> {
        let when_empty = if self.0.prune { EmptyParents::Remove } else { EmptyParents::Keep };
        match edit.remove_at(document, &self.0.path, when_empty) {
            Ok(()) => Ok(DocumentEdit::Applied),
            Err(error) => match error.kind {
                EditErrorKind::PathNotFound { .. } | EditErrorKind::NoDocument => {
                    Ok(DocumentEdit::PathMissing)
                }
                _ => Err(error),
            },
        }
    }
}

pub(super) fn run(args: &Args, global: &Global, console: &mut Console) -> CommandResult {
    let lock = plan::lock(&args.files, &args.preview, console)?;
    let edited = path_edit::edit_files(&args.files, &args.documents, &Remove(args), &lock, global)?;
    if edited.applied == 0 {
        let error = edited.missing.map(|missing| missing.error).into_iter().collect();
        return Err(Failure::Diagnostics(Exit::Findings, error));
    }
    plan::apply_or_preview(&edited.plan, &args.preview, &lock, console)
}
