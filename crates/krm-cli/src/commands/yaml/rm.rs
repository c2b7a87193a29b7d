//! `krm yaml rm`: removes the entries at paths, with their comments.

use krm_core::Diagnostic;
use krm_yaml::EmptyParents;

use super::edits;
use super::inputs::{InputFiles, names_or_current};
use super::operation::{EditContext, Operation};
use super::path_edit::{PathEdit, PathEdits};
use super::selection::Selection;
use crate::cli::{Global, Preview, Recursion};
use crate::commands::cfg::edit_session::ChangesOutput;
use crate::commands::kinds::CommandKind;
use crate::console::Console;
use crate::{CommandResult, Failure};

const EXAMPLES: &str = "\
Examples:
  krm yaml rm spec.replicas deployment.yaml
  krm yaml rm 'spec.template.spec.containers[name=debug]' *.yaml --diff
  krm yaml rm '**.creationTimestamp' shop
  krm yaml rm -e status -e metadata.uid -e metadata.resourceVersion - < live.yaml
  krm yaml rm metadata.annotations.old shop --kind Deployment --prune

Paths: a.b, a[0], a[-1] (last), a[name=web], a.* and a[*] (all), a.**.b (any depth), a.\"b.c\"; see docs/paths.md.";

const USAGE: &str = "\
krm yaml rm [OPTIONS] <PATH> [FILE|DIR]...
       krm yaml rm [OPTIONS] <-e <PATH>> [FILE|DIR]...";

/// Remove the values at a path, in place.
///
/// The comments of the entry are removed with it, all others are kept. A collection that becomes empty is written as {} or []; with
/// --prune it is removed, too. A path can match many values. The exit code is 1 if a path matches nothing; nothing is written unless all
/// files can be edited.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES, override_usage = USAGE)]
pub(crate) struct Args {
    /// Path to remove, and files and directories to edit [default: current directory]; - edits standard input to standard output
    #[arg(value_name = "PATH FILE|DIR")]
    arguments: Vec<String>,

    /// Remove this path; may be repeated, and replaces PATH
    #[arg(short, long, value_name = "PATH")]
    edit: Vec<String>,

    /// Also remove parents that become empty
    #[arg(long)]
    prune: bool,

    /// Allow changing a value that is shared through aliases
    #[arg(long)]
    shared: bool,

    #[command(flatten)]
    selection: Selection,

    #[command(flatten)]
    recursion: Recursion,

    #[command(flatten)]
    changes: ChangesOutput,

    #[command(flatten)]
    preview: Preview,
}

pub(super) fn run(args: &Args, global: &Global, console: &mut Console) -> CommandResult {
    args.changes.apply(&args.preview, console)?;
    let (paths, files) = match (&*args.edit, &*args.arguments) {
        ([], [path, files @ ..]) => (vec![path], files),
        ([], []) => {
            let kind = CommandKind::MissingArgument { names: "PATH" };
            return Err(Failure::usage(Diagnostic::error(kind)));
        }
        (paths, files) => (paths.iter().collect(), files),
    };
    let when_empty = if args.prune { EmptyParents::Remove } else { EmptyParents::Keep };
    let remove = |path: &&String| edits::edit(path, Operation::Remove(when_empty));
    let edits: Vec<PathEdit<'_>> =
        paths.iter().map(remove).collect::<Result<_, _>>().map_err(Failure::usage)?;
    let context = EditContext::new(false, args.shared);
    let edits = PathEdits { edits, selection: &args.selection, context };
    let files = names_or_current(files);
    let (files, lock) = InputFiles::open(&files, &args.recursion, &args.preview, global, console)?;
    edits.run(&files, &lock, &args.preview, global, console)
}
