//! `krm cfg merge3`: applies the changes between two versions of a package to a third.

use std::collections::BTreeSet;

use clap::ValueEnum;
use krm_core::merge::{
    Conflict, MergeOptions, PackageMerge, PackageMergeOptions, Side, merge_other_file,
};
use krm_core::{Diagnostic, FileText, PackagePath, Plan};

use super::edit_session::{ChangesFormat, EditOptions, EditSession};
use super::package_merge;
use crate::cli::{Global, Recursion};
use crate::commands::check_stdin_once;
use crate::commands::conflict_records;
use crate::commands::merge_options::{self, ConflictAction, ConflictOptions, ListOptions};
use crate::commands::plan;
use crate::commands::yaml::read_valid;
use crate::console::Console;
use crate::loader::{LoadedPackage, Origin, OtherFiles};
use crate::{CommandResult, Exit, Failure};

const EXAMPLES: &str = "\
Examples:
  krm cfg merge3 --base shop@v1 --upstream shop@v2 --local shop --diff
  krm cfg merge3 --base shop@v1 --upstream shop@v2 --local shop --on-conflict mark
  krm cfg merge3 --local shop --resolve local
  krm cfg merge3 --base shop@v1 --upstream shop@v2 --local shop --on-conflict fail -o json";

/// Apply the changes between two versions of a package to a third (three-way merge).
///
/// Changes from --base to --upstream are applied to --local: resources are added, removed, moved and merged field by field; everything
/// else is unchanged, byte for byte. If both sides changed the same field, upstream's value is taken with a warning, unless
/// --on-conflict says otherwise.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Common ancestor of both sides
    #[arg(long, alias = "ancestor", value_name = "DIR", required_unless_present = "resolve")]
    base: Option<String>,

    /// Package whose changes are merged
    #[arg(long, alias = "from", value_name = "DIR", required_unless_present = "resolve")]
    upstream: Option<String>,

    /// Package to update [default: current directory]
    #[arg(long, alias = "to", value_name = "DIR", default_value = ".", hide_default_value = true)]
    local: String,

    /// Match resources only if they are in files of the same path
    #[arg(long)]
    path_merge_key: bool,

    /// Find resources that were renamed locally by their kind and content
    #[arg(long)]
    detect_renames: bool,

    #[command(flatten)]
    lists: ListOptions,

    #[command(flatten)]
    conflicts: ConflictOptions,

    /// Resolve the conflict markers of an earlier merge in --local
    #[arg(long, value_name = "SIDE", conflicts_with_all = ["base", "upstream", "path_merge_key", "detect_renames", "output"])]
    resolve: Option<Resolve>,

    #[command(flatten)]
    recursion: Recursion,

    #[command(flatten)]
    edit_options: EditOptions,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Resolve {
    /// Use the local values from the markers
    Local,
    /// Keep upstream's values and remove the markers
    Upstream,
}

pub(super) fn run(args: &Args, global: &Global, console: &mut Console) -> CommandResult {
    let edit_options = &EditOptions { with_other_files: true, ..args.edit_options.clone() };
    let scope = args.recursion.includes_subpackages();
    let mut session = EditSession::open_at(&args.local, &[], scope, edit_options, global, console)?;
    session.count_resources(console);
    if let Some(side) = args.resolve {
        return resolve(args, session, side, console);
    }
    let names = [&args.base, &args.upstream].map(|it| it.as_deref().unwrap_or_default());
    check_stdin_once([names[0], names[1], &*args.local])?;
    let options = args.recursion.load_options(global);
    let mut base =
        package_merge::load(names[0], &[], &mut session, edit_options, options, console)?;
    let known = [&base.package];
    let mut upstream =
        package_merge::load(names[1], &known, &mut session, edit_options, options, console)?;
    let known = [&base.package, &session.loaded.package, &upstream.package];
    let schema = package_merge::schema(&args.lists, &known, console)?;
    let options = args.conflicts.merge_options(args.lists.pairing(&schema));
    let versions = [&base, &upstream, &session.loaded];
    let are_directories = versions.iter().all(|it| it.origin == Origin::Directory);
    let (changes, conflicts, warnings) =
        merge(args, versions, &options, session.has_errors, global)?;
    let others = [&mut base, &mut upstream, &mut session.loaded];
    let others = others.map(LoadedPackage::take_other_files);
    // Frees two of the three packages before the plan is made.
    drop((base, upstream));
    let plan = package_merge::plan(changes, &mut session.loaded)?;
    let mut parts = (plan, conflicts, warnings);
    if are_directories && !session.has_errors {
        other_files(&others, &session.loaded, &options, &mut parts)?;
    }
    let (mut plan, conflicts, warnings) = parts;
    let can_record = session.loaded.origin != Origin::Stdin;
    if args.conflicts.marks() && can_record {
        conflict_records::add_to_plan(&conflicts, &session.loaded, &mut plan)?;
    }
    merge_options::report_notes(&warnings, console);
    let action = args.conflicts.action(&conflicts, can_record);
    match edit_options.output {
        Some(ChangesFormat::Json) => {
            console.data(&merge_options::conflicts_json(&conflicts))?;
            console.print_changes_as_json();
        }
        None => console.report_all(&args.conflicts.diagnostics(&conflicts, action)),
    }
    if action == ConflictAction::Fail {
        return Ok(Exit::Findings);
    }
    let exit = session.finish(plan, console)?;
    // The conflicts are the list that was asked for. A preview only adds its exit code.
    console.discard_json_changes();
    let fails = action == ConflictAction::WriteAndFail && exit == Exit::Success;
    Ok(if fails { Exit::Findings } else { exit })
}

type Parts = (Plan, Vec<Conflict>, Vec<Diagnostic>);

/// New texts of files, none for those that are removed, with conflicts and warnings.
type MergedTexts = (Vec<(PackagePath, Option<FileText>)>, Vec<Conflict>, Vec<Diagnostic>);

fn merge(
    args: &Args,
    loaded: [&LoadedPackage; 3],
    nodes: &MergeOptions<'_>,
    only_common: bool,
    global: &Global,
) -> Result<MergedTexts, Failure> {
    let has_paths = loaded[2].origin == Origin::Directory;
    let by_path = args.path_merge_key;
    let finds_renames = args.detect_renames;
    let options = PackageMergeOptions { nodes, by_path, only_common, has_paths, finds_renames };
    let merge = PackageMerge::three_way(loaded.map(|it| &it.package), options)
        .map_err(|errors| Failure::Diagnostics(Exit::Input, errors))?;
    let merged = package_merge::run(&merge, global)?;
    let changes = merged.changes.into_iter().map(|change| (change.path, change.new)).collect();
    Ok((changes, merged.conflicts, merged.warnings))
}

/// Merges files that are not YAML, each as a whole.
fn other_files(
    others: &[OtherFiles; 3],
    local: &LoadedPackage,
    options: &MergeOptions<'_>,
    (plan, conflicts, _): &mut Parts,
) -> Result<(), Failure> {
    let paths: BTreeSet<&PackagePath> = others[..2].iter().flat_map(OtherFiles::paths).collect();
    for path in paths {
        let mut contents = [const { None }; 3];
        for (content, files) in contents.iter_mut().zip(others) {
            let in_file = |error: Diagnostic| error.in_file(local.display_path(path.as_str()));
            *content = files.read(path).map_err(|error| Failure::input(in_file(error)))?;
        }
        let merged = merge_other_file(
            path.as_str(),
            contents.each_ref().map(|it| it.as_deref()),
            options.on_conflict,
        );
        conflicts.extend(merged.conflict);
        if !merged.takes_upstream {
            continue;
        }
        let [_, new, old] = contents;
        let name = local.display_path(path.as_str());
        plan.set_bytes(path.clone(), name, [old, new], None).map_err(Failure::input)?;
    }
    Ok(())
}

fn resolve(
    args: &Args,
    session: EditSession<'_>,
    side: Resolve,
    console: &mut Console,
) -> CommandResult {
    let side = match side {
        Resolve::Local => Side::Local,
        Resolve::Upstream => Side::Upstream,
    };
    if session.loaded.origin == Origin::File {
        drop(session);
        let (files, preview) = ([args.local.clone()], &args.edit_options.preview);
        let lock = plan::lock(&files, preview, console)?;
        let plan = conflict_records::resolve_files(&files, side, &lock, read_valid)?;
        return plan::apply_or_preview(&plan, preview, &lock, console);
    }
    let plan = conflict_records::resolve_package(&session.loaded, side)?;
    session.finish(plan, console)
}
