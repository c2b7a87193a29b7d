//! `krm pkg diff`: compares a package with the versions of its upstream.

use std::collections::BTreeSet;

use clap::ValueEnum;
use krm_core::{Package, PackagePath};

use super::versions::{LocalPackage, LocalVersion, Version, split_reference};
use crate::cli::Global;
use crate::commands::cfg::diff::DiffOptions;
use crate::console::Console;
use crate::package_source;
use crate::{CommandResult, Exit, Failure};

const EXAMPLES: &str = "\
Examples:
  krm pkg diff shop
  krm pkg diff shop@v1.3.0 --diff-type remote
  krm pkg diff shop@v1.3.0 --diff-type 3way -o text

Exit codes: 0 no differences, 1 differences, 2 invalid usage, 3 invalid input";

/// Compare a package with its upstream.
///
/// By default the changes that were made since the package was fetched or last updated are shown. The name, upstream and lock in the
/// Kptfile do not count as changes.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
#[command(mut_arg("output", |arg| arg.default_value("unified")))]
pub(crate) struct Args {
    /// Directory of the package, and branch, tag or commit to compare with [default: the reference in the Kptfile]
    #[arg(value_name = "DIR[@REF]", default_value = ".", hide_default_value = true)]
    package: String,

    /// What to compare
    #[arg(long, value_name = "TYPE", default_value = "local")]
    diff_type: DiffType,

    #[command(flatten)]
    options: DiffOptions,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum DiffType {
    /// Local changes since the package was last updated
    Local,
    /// Changes that upstream made since then
    Remote,
    /// The package and the newest version of upstream
    Combined,
    /// Local changes, then those of upstream
    #[value(name = "3way")]
    ThreeWay,
}

pub(super) fn run(args: &Args, global: &Global, console: &mut Console) -> CommandResult {
    let (dir, reference) = split_reference(&args.package);
    let local = LocalPackage::open(dir)?;
    let base_revision = local.base()?;
    let source = package_source::open(&local.upstream.location, None).map_err(Failure::input)?;
    let title = |reference: &str| format!("{}@{reference}", dir.trim_end_matches('/'));
    let base = source.fetch(&base_revision).map_err(Failure::input)?;
    let mut base = Version::new(base, &title(&base_revision.reference), &local, &[], global)?;
    let mut upstream = Version::default();
    if args.diff_type != DiffType::Local {
        let reference = reference.unwrap_or(&local.upstream.reference);
        let revision = source.resolve(Some(reference).filter(|it| !it.is_empty()));
        let revision = revision.map_err(Failure::input)?;
        let fetched = source.fetch(&revision).map_err(Failure::input)?;
        let title = title(&revision.reference);
        upstream = Version::new(fetched, &title, &local, &[&base.package], global)?;
    }
    drop(source);
    let on_disk = LocalVersion::load(dir, [&mut base, &mut upstream], global)?;
    let mine = Side { package: &on_disk.loaded.package, content: &|path| on_disk.content(path) };
    let old = Side { package: &base.package, content: &|path| base.content(path) };
    let new = Side { package: &upstream.package, content: &|path| upstream.content(path) };
    let paths = |sides: [Vec<&PackagePath>; 2]| -> BTreeSet<PackagePath> {
        sides.into_iter().flatten().cloned().collect()
    };
    let local_paths = || on_disk.paths().collect::<Vec<_>>();
    let base_paths = || base.paths().collect::<Vec<_>>();
    let new_paths = || upstream.paths().collect::<Vec<_>>();
    let shown = |console: &mut Console,
                 heading: &str,
                 sides: [&Side<'_>; 2],
                 paths: BTreeSet<PackagePath>| {
        if args.diff_type == DiffType::ThreeWay {
            console.line(heading)?;
        }
        show(args, sides, &paths, console)
    };
    let differs = match args.diff_type {
        DiffType::Local => shown(console, "", [&old, &mine], paths([base_paths(), local_paths()]))?,
        DiffType::Remote => shown(console, "", [&old, &new], paths([base_paths(), new_paths()]))?,
        DiffType::Combined => {
            shown(console, "", [&mine, &new], paths([local_paths(), new_paths()]))?
        }
        DiffType::ThreeWay => {
            let one = shown(
                console,
                "# local changes",
                [&old, &mine],
                paths([base_paths(), local_paths()]),
            )?;
            let two = shown(
                console,
                "# upstream changes",
                [&old, &new],
                paths([base_paths(), new_paths()]),
            )?;
            one || two
        }
    };
    Ok(if differs { Exit::Findings } else { Exit::Success })
}

/// One side of a comparison.
struct Side<'a> {
    package: &'a Package,
    content: &'a dyn Fn(&PackagePath) -> Option<&'a [u8]>,
}

fn show(
    args: &Args,
    [old, new]: [&Side<'_>; 2],
    paths: &BTreeSet<PackagePath>,
    console: &mut Console,
) -> Result<bool, Failure> {
    let mut differs = false;
    if !args.options.is_unified() {
        differs = args.options.compare([old.package, new.package], true, console)?;
    }
    let is_manifest =
        |path: &PackagePath| old.package.file(path).is_some() || new.package.file(path).is_some();
    for path in paths.iter().filter(|path| args.options.is_unified() || !is_manifest(path)) {
        let [before, after] = [old, new].map(|side| (side.content)(path));
        if before == after {
            continue;
        }
        differs = true;
        // Relative to the package, where `patch -p1` and `git apply` take them.
        let name = |prefix: &str, content: Option<&[u8]>| match content {
            Some(_) => format!("{prefix}/{path}"),
            None => "/dev/null".to_owned(),
        };
        let names = [name("a", before), name("b", after)];
        let text = |content: Option<&[u8]>| {
            let text = std::str::from_utf8(content.unwrap_or_default()).ok()?;
            (!text.contains('\0')).then(|| text.to_owned())
        };
        match (text(before), text(after)) {
            (Some(before), Some(after)) => {
                console.compare((&names[0], &before), (&names[1], &after))?;
            }
            _ => console.line(&format!("Binary files {} and {} differ", names[0], names[1]))?,
        }
    }
    Ok(differs)
}
