//! `krm cfg merge3`: what changed between two versions of a package is made in a third.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;

use clap::ValueEnum;
use krm_core::merge::node::{Conflict, Rules, Side, settle_marks};
use krm_core::merge::package::{How, NewText, PackageMerge, files};
use krm_core::{Change, Diagnostic, PackagePath, Plan};

use super::edit_session::{EditOptions, EditSession};
use super::package_merge;
use crate::cli::Global;
use crate::commands::merge_options::{self, ConflictFlags, ListFlags, Verdict};
use crate::console::Console;
use crate::loader::{LoadedPackage, Origin};
use crate::{CommandResult, Exit, Failure, disk};

const EXAMPLES: &str = "\
Examples:
  krm cfg merge3 --ancestor shop@v1 --from shop@v2 --to shop --diff
  krm cfg merge3 --ancestor shop@v1 --from shop@v2 --to shop --on-conflict mark
  krm cfg merge3 --to shop --resolve local
  krm cfg merge3 --ancestor shop@v1 --from shop@v2 --to shop --on-conflict fail -o json";

/// Merge what changed between two versions of a package into a third.
///
/// What changed from --ancestor to --from is made in --to: resources are added, removed, moved and merged field by field,
/// and what nobody changed is the same bytes. Where both sides changed the same thing, upstream's is taken with a warning,
/// unless --on-conflict says otherwise.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The package that both sides started from
    #[arg(long, value_name = "DIR", required_unless_present = "resolve")]
    ancestor: Option<String>,

    /// The package that changes come from: upstream
    #[arg(long, value_name = "DIR", required_unless_present = "resolve")]
    from: Option<String>,

    /// The package that changes are made in: local
    #[arg(long, value_name = "DIR")]
    to: String,

    /// Take resources in files of different paths for different ones
    #[arg(long)]
    path_merge_key: bool,

    #[command(flatten)]
    lists: ListFlags,

    #[command(flatten)]
    conflicts: ConflictFlags,

    /// Print the conflicts in this format
    #[arg(short, long, value_name = "FORMAT")]
    output: Option<Format>,

    /// Settle the marks of an earlier merge in --to
    #[arg(long, value_name = "SIDE", conflicts_with_all = ["ancestor", "from", "path_merge_key", "output"])]
    resolve: Option<Resolve>,

    #[command(flatten)]
    edit_options: EditOptions,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// One list of objects
    Json,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Resolve {
    /// What stands in the marks
    Local,
    /// What stands beside them
    Upstream,
}

pub(super) fn run(args: &Args, global: &Global, console: &mut Console) -> CommandResult {
    let mut session =
        EditSession::open_at(&args.to, &[], true, &args.edit_options, global, console)?;
    if let Some(side) = args.resolve {
        return resolve(session, side, global, console);
    }
    let names = [&args.ancestor, &args.from].map(|it| it.as_deref().unwrap_or_default());
    once(&[names[0], names[1], &args.to])?;
    let edit_options = &args.edit_options;
    let mut base = package_merge::load(names[0], &[], &mut session, edit_options, global, console)?;
    let known = [&base.package];
    let mut upstream =
        package_merge::load(names[1], &known, &mut session, edit_options, global, console)?;
    let known = [&base.package, &session.loaded.package, &upstream.package];
    let schema = package_merge::schema(&args.lists, &known, console)?;
    let rules = args.conflicts.rules(args.lists.rules(&schema));
    let versions = [&base, &upstream, &session.loaded];
    let are_folders = versions.iter().all(|it| it.origin == Origin::Directory);
    let (changes, conflicts, warnings) = merge(args, versions, &rules, session.has_errors, global)?;
    let others = [&mut base, &mut upstream, &mut session.loaded];
    let others = others.map(|it| std::mem::take(&mut it.others));
    // Only what is written is held on to from here on.
    drop((base, upstream));
    let plan = package_merge::plan(changes, &mut session.loaded, global);
    let mut parts = (plan, conflicts, warnings);
    if are_folders && !session.has_errors {
        other_files(&others, &session.loaded, &rules, &mut parts)?;
    }
    let (plan, conflicts, warnings) = parts;
    console.report_all(&warnings);
    let verdict = args.conflicts.judge(&conflicts);
    match args.output {
        Some(Format::Json) => console.print(&merge_options::conflicts_json(&conflicts))?,
        None => console.report_all(&args.conflicts.told(&conflicts, verdict)),
    }
    if verdict == Verdict::Fail {
        return Ok(Exit::Findings);
    }
    let exit = session.finish(plan, console)?;
    let fails = verdict == Verdict::WriteAndFail && exit == Exit::Success;
    Ok(if fails { Exit::Findings } else { exit })
}

type Parts = (Plan, Vec<Conflict>, Vec<Diagnostic>);

/// The new texts of files, without a text those that go; and what there is to say.
type Texts = (Vec<(PackagePath, Option<NewText>)>, Vec<Conflict>, Vec<Diagnostic>);

fn merge(
    args: &Args,
    loaded: [&LoadedPackage; 3],
    rules: &Rules<'_>,
    only_common: bool,
    global: &Global,
) -> Result<Texts, Failure> {
    let has_paths = loaded[2].origin == Origin::Directory;
    let how = How { rules, by_path: args.path_merge_key, only_common, has_paths };
    let merge = PackageMerge::three_way(loaded.map(|it| &it.package), how)
        .map_err(|errors| Failure::Diagnostics(Exit::Input, errors))?;
    let merged = package_merge::run(&merge, global)?;
    let changes = merged.changes.into_iter().map(|change| (change.path, change.new)).collect();
    Ok((changes, merged.conflicts, merged.warnings))
}

/// Files that are no YAML are taken as a whole.
fn other_files(
    others: &[BTreeMap<PackagePath, PathBuf>; 3],
    local: &LoadedPackage,
    rules: &Rules<'_>,
    (plan, conflicts, warnings): &mut Parts,
) -> Result<(), Failure> {
    let paths: BTreeSet<&PackagePath> = others[..2].iter().flat_map(|files| files.keys()).collect();
    for path in paths {
        let mut contents = [const { None }; 3];
        for (content, files) in contents.iter_mut().zip(others) {
            let Some(place) = files.get(path) else { continue };
            let told = |error| {
                let words = format!("it cannot be read: {}", disk::io_reason(&error));
                Failure::input(
                    Diagnostic::untyped_error(words).in_file(local.display_path(path.as_str())),
                )
            };
            *content = Some(fs::read(place).map_err(told)?);
        }
        let verdict = files::merge(
            path.as_str(),
            contents.each_ref().map(|it| it.as_deref()),
            rules.on_conflict,
        );
        conflicts.extend(verdict.conflict);
        if !verdict.takes_upstream {
            continue;
        }
        let [_, new, old] = contents.map(|content| content.map(String::from_utf8).transpose());
        let name = local.display_path(path.as_str());
        match (old, new) {
            (Ok(old), Ok(new)) => plan.add(Change { path: name, old, new }),
            _ => warnings.push(
                Diagnostic::untyped_warning(
                    "upstream changed it, and it was left alone: it is no text",
                )
                .in_file(name)
                .hint("copy it by hand"),
            ),
        }
    }
    Ok(())
}

/// Standard input can be read only once.
fn once(names: &[&str]) -> Result<(), Failure> {
    if names.iter().filter(|name| **name == disk::STDIN).count() < 2 {
        return Ok(());
    }
    let twice = Diagnostic::untyped_error("standard input can be named only once");
    Err(Failure::Diagnostics(Exit::Usage, vec![twice]))
}

fn resolve(
    session: EditSession<'_>,
    side: Resolve,
    global: &Global,
    console: &mut Console,
) -> CommandResult {
    let side = match side {
        Resolve::Local => Side::Local,
        Resolve::Upstream => Side::Upstream,
    };
    session.each_file(global, console, |file| {
        let Some(content) = file.file() else { return Ok(None) };
        let told = |error: Diagnostic| vec![error.in_file(&*file.display_path)];
        settle_marks(content, side).map(Some).map_err(told)
    })
}
