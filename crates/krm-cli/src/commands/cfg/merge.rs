//! `krm cfg merge`: merges packages into another one.

use std::collections::BTreeMap;
use std::sync::Arc;

use krm_core::merge::{MergeOptions, PackageMerge, PackageMergeOptions, split_repeated_resources};
use krm_core::{Diagnostic, FileText, OriginalFile, Package, PackageFile, PackagePath, Plan};
use krm_yaml::{File, SharedText};

use super::edit_session::{EditOptions, EditSession};
use super::package_merge;
use crate::cli::{Global, Recursion};
use crate::commands::merge_options::{self, ListOptions, NewItems};
use crate::commands::{check_stdin_is_piped, check_stdin_once};
use crate::console::Console;
use crate::loader::{LoadedPackage, Origin};
use crate::{CommandResult, Exit, Failure, disk};

const EXAMPLES: &str = "\
Examples:
  krm cfg merge overrides shop --diff
  krm cfg merge team site shop
  kubectl get deploy web -o yaml | krm cfg merge shop
  cat resources.yaml patches.yaml | krm cfg merge";

/// Merge packages into another one.
///
/// Sets the fields of the sources in DEST, the last argument; everything that they do not mention is unchanged, byte for byte. The
/// first source has the highest precedence. With DEST alone the source is standard input. Without arguments, resources that occur
/// repeatedly on standard input are merged into their first occurrence, and the result is printed.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Directories or files, the destination last; - is standard input
    #[arg(value_name = "SRC... DEST")]
    packages: Vec<String>,

    /// Give the last source the highest precedence
    #[arg(long)]
    invert_order: bool,

    /// Match resources only if they are in files of the same path
    #[arg(long)]
    path_merge_key: bool,

    #[command(flatten)]
    lists: ListOptions,

    /// Where to insert new list elements
    #[arg(long, value_name = "WHERE", default_value = "last")]
    new_items: NewItems,

    #[command(flatten)]
    recursion: Recursion,

    #[command(flatten)]
    edit_options: EditOptions,
}

pub(super) fn run(args: &Args, global: &Global, console: &mut Console) -> CommandResult {
    let stdin = [disk::STDIN.to_owned()];
    if args.packages.len() < 2 {
        check_stdin_is_piped()?;
    }
    args.edit_options.check_output(console)?;
    let (destination, sources) = match args.packages.split_last() {
        Some((last, [])) => (last, &stdin[..]),
        Some((last, others)) => (last, others),
        None => (&stdin[0], &[][..]),
    };
    check_stdin_once(sources.iter().chain([destination]).map(String::as_str))?;
    let scope = args.recursion.includes_subpackages();
    let mut session =
        EditSession::open_at(destination, &[], scope, &args.edit_options, global, console)?;
    session.count_resources(console);
    let options = args.recursion.load_options(global);
    // Sources are merged one after the other, so the last one has the highest precedence.
    let mut loaded = Vec::new();
    for name in sources {
        loaded.push(
            package_merge::load(name, &[], &mut session, &args.edit_options, options, console)?
                .package,
        );
    }
    if !args.invert_order {
        loaded.reverse();
    }
    let mut before = BTreeMap::new();
    if sources.is_empty() {
        loaded = split_stream(&mut session.loaded, &mut before)?;
    }
    let known: Vec<&Package> = [&session.loaded.package].into_iter().chain(&loaded).collect();
    let schema = package_merge::schema(&args.lists, &known, console)?;
    let lists = args.lists.pairing(&schema);
    let new_items = args.new_items.option();
    let nodes = MergeOptions { lists, new_items, ..MergeOptions::default() };
    for source in &loaded {
        let has_paths = session.loaded.origin == Origin::Directory;
        let only_common = session.has_errors;
        let by_path = args.path_merge_key;
        let options = PackageMergeOptions {
            nodes: &nodes,
            by_path,
            only_common,
            has_paths,
            finds_renames: false,
        };
        let changes = merge(source, &session.loaded.package, options, global, console)?;
        package_merge::apply(&mut session.loaded, changes, &mut before)?;
    }
    let plan = plan(&mut session.loaded, before)?;
    session.finish(plan, console)
}

fn merge(
    source: &Package,
    destination: &Package,
    options: PackageMergeOptions<'_>,
    global: &Global,
    console: &mut Console,
) -> Result<Vec<(PackagePath, Option<FileText>)>, Failure> {
    let merge = PackageMerge::two_way(source, destination, options)
        .map_err(|errors| Failure::Diagnostics(Exit::Input, errors))?;
    let merged = package_merge::run(&merge, global)?;
    merge_options::report_notes(&merged.warnings, console);
    Ok(merged.changes.into_iter().map(|change| (change.path, change.new)).collect())
}

/// Splits a stream: each resource stays once, and its repetitions are returned as sources, in order.
fn split_stream(
    loaded: &mut LoadedPackage,
    before: &mut BTreeMap<PackagePath, OriginalFile>,
) -> Result<Vec<Package>, Failure> {
    let Some(file) = loaded.package.files().first() else { return Ok(Vec::new()) };
    let (path, display_path) = (file.path.clone(), file.display_path.clone());
    let mut layers = file.file().map(split_repeated_resources).unwrap_or_default().into_iter();
    let first = layers.next().map(FileText::from);
    let package = |text: String| {
        let content =
            File::parse(text).map_err(|error| Failure::input(Diagnostic::from(&error)))?;
        let (path, display_path) = (path.clone(), display_path.clone());
        let file = PackageFile {
            path,
            display_path,
            is_external_symlink: false,
            content: Ok(Arc::new(content)),
        };
        Ok(Package::new(vec![file]))
    };
    let sources = layers.map(package).collect::<Result<_, Failure>>()?;
    package_merge::apply(loaded, vec![(path.clone(), first)], before)?;
    Ok(sources)
}

/// The plan from the original texts in `before` to the current ones.
fn plan(
    loaded: &mut LoadedPackage,
    before: BTreeMap<PackagePath, OriginalFile>,
) -> Result<Plan, Failure> {
    if loaded.origin == Origin::Stdin && before.is_empty() {
        return package_merge::plan(Vec::new(), loaded);
    }
    let (mut plan, mut errors) = (Plan::default(), Vec::new());
    for (path, original) in before {
        let file = loaded.package.file(&path).and_then(PackageFile::file);
        let new = file.map(|file| file.shared_text().clone());
        let empty = || SharedText::from(String::new());
        let new =
            if loaded.origin == Origin::Stdin { Some(new.unwrap_or_else(empty)) } else { new };
        errors.extend(plan.set(original, new).err());
    }
    if errors.is_empty() { Ok(plan) } else { Err(Failure::Diagnostics(Exit::Input, errors)) }
}
