//! `krm pkg status`: where packages come from, how far they are behind, and what was changed locally.

use krm_core::print::Record;
use krm_core::{Diagnostic, PackagePath};
use krm_yaml::Value;

use super::versions::{LocalPackage, LocalVersion, Version};
use super::{packages_below, short};
use crate::cli::Global;
use crate::commands::conflict_records;
use crate::commands::list_output::ListFormat;
use crate::commands::refuse_stdin;
use crate::console::Console;
use crate::package_source;
use crate::{CommandResult, Exit, Failure};

const EXAMPLES: &str = "\
Examples:
  krm pkg status shop
  krm pkg status . --offline
  krm pkg status . -o json";

/// How many changed files are listed.
const MOST_LISTED: usize = 10;

/// Show where packages come from and how they differ from upstream.
///
/// Lists the package in the directory and all packages below that have an upstream: the version that they were last updated to, how many
/// commits upstream is ahead, how many files were changed locally, and conflicts that are not resolved.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Directory with packages
    #[arg(value_name = "DIR", default_value = ".", hide_default_value = true)]
    dir: String,

    /// Do not ask upstream for newer versions
    #[arg(long)]
    offline: bool,

    /// Print a list for programs, in this format
    #[arg(short, long, value_name = "FORMAT")]
    output: Option<ListFormat>,
}

/// What is known about one package.
struct PackageStatus {
    local: LocalPackage,
    /// The newest version: its commit, whether it has other files, and how many commits it is ahead.
    newest: Option<(String, bool, Option<usize>)>,
    /// Files that were changed, added or deleted locally; none if the base is not known.
    changed: Option<Vec<PackagePath>>,
    conflicts: usize,
}

pub(super) fn run(args: &Args, global: &Global, console: &mut Console) -> CommandResult {
    let dir = if args.dir == "." { "." } else { args.dir.trim_end_matches('/') };
    refuse_stdin(dir)?;
    let dirs = packages_below(dir)?;
    if dirs.is_empty() {
        // The error says what is missing.
        LocalPackage::open(dir)?;
    }
    let (mut records, mut exit): (Vec<Record<'static>>, Exit) = (Vec::new(), Exit::Success);
    for (at, dir) in dirs.iter().enumerate() {
        let local = LocalPackage::open(dir)?;
        let status = match status(local, args.offline, global) {
            Ok(status) => status,
            Err(error) => {
                console.report(&error);
                exit = Exit::Input;
                continue;
            }
        };
        match args.output {
            Some(_) => records.push(record(&status)),
            None => {
                if at > 0 {
                    console.line("")?;
                }
                lines(&status).iter().try_for_each(|line| console.line(line))?;
            }
        }
    }
    if let Some(format) = args.output {
        console.data(&format.write(&records)?)?;
    }
    Ok(exit)
}

fn status(
    local: LocalPackage,
    offline: bool,
    global: &Global,
) -> Result<PackageStatus, Diagnostic> {
    let first = |failure: Failure| match failure {
        Failure::Diagnostics(_, diagnostics) => diagnostics.into_iter().next(),
        Failure::ClosedPipe => None,
    };
    let unknown = || Diagnostic::error(super::kinds::PkgKind::NoUpstreamLock);
    let located = |failure: Failure| first(failure).unwrap_or_else(unknown);
    let in_dir = |error: Diagnostic| match error.file {
        Some(_) => error,
        None => error.in_file(&*local.dir),
    };
    let source = package_source::open(&local.upstream.location, None).map_err(in_dir)?;
    let base_revision = local.base().map_err(located).ok();
    let mut newest = None;
    if !offline {
        let reference = Some(local.upstream.reference.as_str()).filter(|it| !it.is_empty());
        let revision = source.resolve(reference).map_err(in_dir)?;
        newest = Some(match &base_revision {
            Some(base) if base.id == revision.id => (revision.id, false, Some(0)),
            Some(base) => {
                let differs = source.content_id(base).ok() != source.content_id(&revision).ok();
                let ahead = source.count_newer(base, &revision).map_err(in_dir)?;
                (revision.id, differs, ahead)
            }
            None => (revision.id, true, None),
        });
    }
    // A base that is gone leaves the local changes unknown; everything else is shown.
    let base = base_revision.and_then(|base| source.fetch(&base).ok());
    drop(source);
    let (mut changed, mut conflicts) = (None, 0);
    let mut other = Version::default();
    if let Some(base) = base {
        let mut base = Version::new(base, "base", &local, &[], global).map_err(located)?;
        base.add_missing_kptfile(&local).map_err(in_dir)?;
        let on_disk = LocalVersion::load(&local.dir, [&mut base, &mut other], global);
        let on_disk = on_disk.map_err(located)?;
        conflicts = conflict_records::unresolved(&on_disk.loaded.package).len();
        changed = Some(on_disk.changes_since(&base));
    }
    Ok(PackageStatus { local, newest, changed, conflicts })
}

fn lines(status: &PackageStatus) -> Vec<String> {
    let local = &status.local;
    let upstream = &local.upstream;
    let strategy = upstream.strategy.unwrap_or_default().name();
    let (address, directory) = (upstream.location.address(), upstream.location.directory());
    let directory = directory.trim_end_matches('/');
    let version = match &local.lock {
        Some(lock) => format!("{} ({})", lock.reference, short(&lock.revision)),
        None => "unknown: there is no upstreamLock".to_owned(),
    };
    let mut lines = vec![
        local.dir.clone(),
        format!("  upstream: {address}{directory}@{} ({strategy})", upstream.reference),
        format!("  version: {version}"),
    ];
    if let Some((id, differs, ahead)) = &status.newest {
        let at = short(id);
        lines.push(match (ahead, differs) {
            (Some(0), _) => "  newest: up to date".to_owned(),
            (Some(count), true) => format!("  newest: {at}, {}", ahead_by(*count)),
            (Some(count), false) => {
                format!("  newest: {at}, {}, without changes to this package", ahead_by(*count))
            }
            (None, _) => format!("  newest: {at}, whose history does not contain this version"),
        });
    }
    let changed = match &status.changed {
        None => "unknown: upstream does not have this version any more".to_owned(),
        Some(changed) if changed.is_empty() => "none".to_owned(),
        Some(changed) => {
            let names: Vec<&str> =
                changed.iter().map(PackagePath::as_str).take(MOST_LISTED).collect();
            let rest = changed.len() - names.len();
            let rest = if rest > 0 { format!(" and {rest} more") } else { String::new() };
            format!("{}{rest}", names.join(", "))
        }
    };
    lines.push(format!("  local changes: {changed}"));
    if status.conflicts > 0 {
        lines.push(format!("  unresolved conflicts: {}", status.conflicts));
    }
    lines
}

fn ahead_by(count: usize) -> String {
    format!("{count} {} ahead", if count == 1 { "commit" } else { "commits" })
}

fn record(status: &PackageStatus) -> Record<'static> {
    let local = &status.local;
    let string = |text: &str| Value::string(text.to_owned());
    let number = |count: usize| Value::int(i64::try_from(count).unwrap_or(i64::MAX));
    let mut record = vec![
        ("package", string(&local.dir)),
        ("repo", string(local.upstream.location.address())),
        ("directory", string(local.upstream.location.directory())),
        ("ref", string(&local.upstream.reference)),
        ("strategy", string(local.upstream.strategy.unwrap_or_default().name())),
    ];
    record.extend(local.lock.as_ref().map(|it| ("commit", string(&it.revision))));
    if let Some((id, differs, ahead)) = &status.newest {
        record.push(("newest", string(id)));
        record.push(("newer", Value::from(*differs)));
        record.extend(ahead.map(|count| ("ahead", number(count))));
    }
    if let Some(changed) = &status.changed {
        let names = changed.iter().map(|path| string(path.as_str())).collect();
        record.push(("changed", Value::Sequence(names)));
    }
    record.push(("conflicts", number(status.conflicts)));
    record
}
