//! `krm pkg diff`: compares a package with the versions of its upstream.

use std::collections::BTreeSet;

use clap::ValueEnum;
use krm_core::print::{self, Record};
use krm_core::{Package, PackagePath};
use krm_yaml::Value;

use super::versions::{LocalPackage, LocalVersion, Version, split_reference};
use crate::cli::Global;
use crate::commands::cfg::diff::DiffOptions;
use crate::commands::refuse_stdin;
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
    refuse_stdin(dir)?;
    let local = LocalPackage::open(dir)?;
    let base_revision = local.base()?;
    let source = package_source::open(&local.upstream.location, None).map_err(Failure::input)?;
    let title = |reference: &str| format!("{}@{reference}", dir.trim_end_matches('/'));
    let base = source.fetch(&base_revision).map_err(Failure::input)?;
    let mut base = Version::new(base, &title(&base_revision.reference), &local, &[], global)?;
    base.add_missing_kptfile(&local).map_err(Failure::input)?;
    let mut upstream = Version::default();
    if args.diff_type != DiffType::Local {
        let reference = reference.unwrap_or(&local.upstream.reference);
        let revision = source.resolve(Some(reference).filter(|it| !it.is_empty()));
        let revision = revision.map_err(Failure::input)?;
        let fetched = source.fetch(&revision).map_err(Failure::input)?;
        let title = title(&revision.reference);
        upstream = Version::new(fetched, &title, &local, &[&base.package], global)?;
        upstream.add_missing_kptfile(&local).map_err(Failure::input)?;
    }
    drop(source);
    let on_disk = LocalVersion::load(dir, [&mut base, &mut upstream], global)?;
    let mine = Side {
        package: &on_disk.loaded.package,
        paths: on_disk.paths().collect(),
        content: &|path| on_disk.content(path),
    };
    let old = Side {
        package: &base.package,
        paths: base.paths().collect(),
        content: &|path| base.content(path),
    };
    let new = Side {
        package: &upstream.package,
        paths: upstream.paths().collect(),
        content: &|path| upstream.content(path),
    };
    let [mine, old, new] = [&mine, &old, &new];
    // The heading tells people, and the side tells programs, which comparison of several a difference belongs to.
    let comparisons: Vec<(Option<Heading>, [&Side<'_>; 2])> = match args.diff_type {
        DiffType::Local => vec![(None, [old, mine])],
        DiffType::Remote => vec![(None, [old, new])],
        DiffType::Combined => vec![(None, [mine, new])],
        DiffType::ThreeWay => {
            let local = Heading { line: "# local changes", side: "local" };
            let upstream = Heading { line: "# upstream changes", side: "upstream" };
            vec![(Some(local), [old, mine]), (Some(upstream), [old, new])]
        }
    };
    let differs = match args.options.is_json() {
        true => print_json(args, &comparisons, console)?,
        false => {
            let mut differs = false;
            for (heading, sides) in comparisons {
                if let Some(heading) = heading {
                    console.line(heading.line)?;
                }
                differs |= show(args, sides, console)?;
            }
            differs
        }
    };
    Ok(if differs { Exit::Findings } else { Exit::Success })
}

/// What distinguishes the two comparisons of `3way`.
#[derive(Clone, Copy)]
struct Heading {
    line: &'static str,
    side: &'static str,
}

/// One side of a comparison.
struct Side<'a> {
    package: &'a Package,
    paths: BTreeSet<&'a PackagePath>,
    content: &'a dyn Fn(&PackagePath) -> Option<&'a [u8]>,
}

/// A file that differs, with its contents.
struct FileDiff<'a> {
    path: &'a PackagePath,
    contents: [Option<&'a [u8]>; 2],
}

/// The files that differ: all of them for a unified diff, otherwise those that are not compared by resources.
fn files<'a>(args: &Args, [old, new]: [&Side<'a>; 2]) -> Vec<FileDiff<'a>> {
    let is_manifest =
        |path: &PackagePath| old.package.file(path).is_some() || new.package.file(path).is_some();
    let paths = old.paths.union(&new.paths).copied();
    paths
        .filter(|path| args.options.is_unified() || !is_manifest(path))
        .map(|path| FileDiff { path, contents: [old, new].map(|side| (side.content)(path)) })
        .filter(|file| file.contents[0] != file.contents[1])
        .collect()
}

fn show(args: &Args, sides: [&Side<'_>; 2], console: &mut Console) -> Result<bool, Failure> {
    let mut differs = false;
    if !args.options.is_unified() {
        differs = args.options.compare(sides.map(|it| it.package), true, console)?;
    }
    for FileDiff { path, contents: [before, after] } in files(args, sides) {
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

/// Prints one array with the differences of all comparisons.
fn print_json(
    args: &Args,
    comparisons: &[(Option<Heading>, [&Side<'_>; 2])],
    console: &mut Console,
) -> Result<bool, Failure> {
    let mut records: Vec<Record<'_>> = Vec::new();
    for (heading, sides) in comparisons {
        let resources = args.options.records(sides.map(|it| it.package), true, console)?;
        let others = files(args, *sides).into_iter().map(|file| file_record(&file));
        for mut record in resources.into_iter().chain(others) {
            if let Some(heading) = heading {
                record.insert(0, ("side", Value::from(heading.side)));
            }
            records.push(record);
        }
    }
    console.data(&print::records_to_json(&records).map_err(Failure::input)?)?;
    Ok(!records.is_empty())
}

/// A file without resources, as `krm cfg diff` describes resources.
fn file_record(file: &FileDiff<'_>) -> Record<'static> {
    let change = match file.contents {
        [None, _] => "added",
        [_, None] => "removed",
        _ => "changed",
    };
    let mut record: Record<'static> = vec![("changes", Value::Sequence(vec![Value::from(change)]))];
    for (side, content) in ["old", "new"].into_iter().zip(file.contents) {
        if content.is_some() {
            let name = (Value::from("file"), Value::string(file.path.to_string()));
            record.push((side, Value::Mapping(vec![name])));
        }
    }
    record
}
