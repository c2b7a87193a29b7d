//! `krm pkg update`: takes over the changes that upstream made since the package was fetched or last updated.

mod dirty;
mod merge;
mod replace;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use clap::ValueEnum;
use krm_core::functions::kptfile::upstream::{UpdateStrategy, Upstream, UpstreamLock};
use krm_core::merge::MergeOptions;
use krm_core::print::{self, Record};
use krm_core::{Diagnostic, Package, PackagePath, Plan};
use krm_yaml::Value;

use super::kinds::PkgKind;
use super::vendor::locked_revision;
use super::versions::{KPTFILE, LocalPackage, LocalVersion, Version, split_reference};
use super::{Strategy, directories_below, packages_below, report_skipped, short};
use crate::cli::{Global, Preview};
use crate::commands::merge_options::{self, ConflictAction, ConflictOptions, ListOptions};
use crate::commands::{conflict_records, plan, refuse_stdin};
use crate::console::Console;
use crate::disk::FileKind;
use crate::loader::join_display_path;
use crate::package_source::{self, FetchedPackage, PackageSource, Revision};
use crate::{CommandResult, Exit, Failure, disk};
use merge::{Merged, NewUpstream};

const EXAMPLES: &str = "\
Examples:
  krm pkg update shop
  krm pkg update shop@v1.3.0 --diff
  krm pkg update shop@v1.3.0 --on-conflict mark
  krm pkg update --all --check

Exit codes: 0 success, 1 conflicts or newer versions (--check), 2 invalid usage, 3 invalid input";

/// Update a package to a newer version of its upstream.
///
/// Merges the changes that upstream made since the package was fetched or last updated into the package; local changes stay. If both sides
/// changed the same field, nothing is written and the conflicts are listed, unless --on-conflict says otherwise. Subpackages with an
/// upstream of their own are updated, too.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
#[command(mut_arg("on_conflict", |arg| arg.default_value("fail")))]
#[command(mut_arg("nulls", |arg| arg.default_value("value")))]
#[command(mut_arg("sequences", |arg| arg.default_value("diff3")))]
#[command(mut_arg("check", |arg| arg.help("List the packages whose upstream is newer and exit with 1 if there are any")))]
pub(crate) struct Args {
    /// Directory of the package, and branch, tag or commit to update to [default: the reference in the Kptfile]
    #[arg(value_name = "DIR[@REF]", default_value = ".", hide_default_value = true)]
    package: String,

    /// How to combine local and upstream changes [default: the strategy in the Kptfile]
    #[arg(long, value_name = "STRATEGY")]
    strategy: Option<Strategy>,

    /// Update all packages below the directory
    #[arg(long)]
    all: bool,

    /// Update a package with changes that are not committed to git
    #[arg(long)]
    allow_dirty: bool,

    /// Update to the version in krm.lock, and to no other
    #[arg(long)]
    locked: bool,

    /// Find resources that were renamed locally by their kind and content
    #[arg(long)]
    detect_renames: bool,

    #[command(flatten)]
    lists: ListOptions,

    #[command(flatten)]
    conflicts: ConflictOptions,

    /// Format of the conflicts, and of the packages that --check lists
    #[arg(short, long, value_name = "FORMAT")]
    output: Option<Format>,

    #[command(flatten)]
    preview: Preview,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// One JSON array for the conflicts of each package, or for all packages of --check
    Json,
}

pub(super) fn run(args: &Args, global: &Global, console: &mut Console) -> CommandResult {
    let (dir, reference) = split_reference(&args.package);
    let dir = if dir == "." { dir } else { dir.trim_end_matches('/') };
    if args.all && reference.is_some() {
        return Err(Failure::usage(Diagnostic::error(PkgKind::ReferenceWithAll)));
    }
    refuse_stdin(dir)?;
    recover(dir, &args.preview, console)?;
    let below = packages_below(dir)?;
    let dirs: Vec<String> = match args.all {
        true if below.is_empty() => {
            let error = Diagnostic::error(PkgKind::NoPackagesBelow);
            return Err(Failure::input(error.in_file(dir)));
        }
        true => below,
        false => {
            let own = LocalPackage::open(dir)?.dir;
            std::iter::once(own).chain(below.into_iter().filter(|it| it != dir)).collect()
        }
    };
    let mut exit = Exit::Success;
    // Subpackages that came with a package are updated with it.
    let mut covered: BTreeSet<String> = BTreeSet::new();
    let mut newer: Vec<Record<'static>> = Vec::new();
    for (at, dir) in dirs.iter().enumerate() {
        if covered.contains(dir) {
            continue;
        }
        let reference = reference.filter(|_| at == 0);
        let has_more = at + 1 < dirs.len();
        let update = Update { args, global, dir, reference, has_more };
        let own = update.run(&mut covered, &mut newer, console)?;
        exit = if exit == Exit::Success { own } else { exit };
    }
    if args.preview.check && args.output == Some(Format::Json) {
        console.data(&print::records_to_json(&newer).map_err(Failure::input)?)?;
    }
    Ok(exit)
}

/// Completes or rolls back what killed runs left, before a Kptfile is read: it may have been replaced before the other files, so that the
/// package would seem to be up to date. A preview changes nothing; it fails when it reads the Kptfile.
fn recover(dir: &str, preview: &Preview, console: &mut Console) -> Result<(), Failure> {
    let lock = plan::lock(&[dir.to_owned()], preview, console)?;
    let has_journal = |dir: &String| disk::has_journal(Path::new(dir));
    let journals = directories_below(dir)?.into_iter().filter(has_journal);
    let journals: Vec<PathBuf> = journals.filter_map(|dir| fs::canonicalize(dir).ok()).collect();
    let report = &mut |diagnostic: &Diagnostic| console.report(diagnostic);
    lock.recover(&journals, report).map_err(Failure::input)?;
    Ok(())
}

/// The update of one package.
struct Update<'a> {
    args: &'a Args,
    global: &'a Global,
    dir: &'a str,
    reference: Option<&'a str>,
    /// Whether other packages follow, which can be part of this one.
    has_more: bool,
}

/// The versions of an update.
struct Fetched {
    base: FetchedPackage,
    upstream: FetchedPackage,
}

impl Update<'_> {
    fn run(
        &self,
        covered: &mut BTreeSet<String>,
        newer: &mut Vec<Record<'static>>,
        console: &mut Console,
    ) -> CommandResult {
        let local = LocalPackage::open(self.dir)?;
        let strategy = self.args.strategy.map(UpdateStrategy::from);
        let strategy = strategy.or(local.upstream.strategy).unwrap_or_default();
        let base = match strategy {
            UpdateStrategy::ForceDeleteReplace => local.base().ok(),
            _ => Some(local.base()?),
        };
        let reference = self.reference.unwrap_or(&local.upstream.reference);
        let located = |error: Diagnostic| {
            let has_file = error.file.is_some();
            Failure::input(if has_file {
                error
            } else {
                error.in_file(join_display_path(self.dir, KPTFILE))
            })
        };
        let locked = match self.args.locked {
            true => Some(locked_revision(&local, reference).map_err(located)?),
            false => None,
        };
        let source = package_source::open(&local.upstream.location, None).map_err(located)?;
        let reference = Some(reference).filter(|it| !it.is_empty());
        let revision = match locked {
            Some(revision) => revision,
            None => source.resolve(reference).map_err(located)?,
        };
        if self.is_current(&local, &*source, base.as_ref(), &revision).map_err(located)? {
            if self.has_more {
                self.cover(&source.fetch(&revision).map_err(located)?, covered);
            }
            let at = short(&revision.id);
            console.status(&format!("{} is up to date: {} ({at})", self.dir, revision.reference));
            return Ok(Exit::Success);
        }
        let from = base.as_ref().map_or("?", |it| short(&it.id)).to_owned();
        let (to, name) = (short(&revision.id).to_owned(), revision.reference.clone());
        if self.args.preview.check {
            if self.has_more {
                self.cover(&source.fetch(&revision).map_err(located)?, covered);
            }
            let old = local.lock.as_ref().map_or("?", |it| &it.reference);
            match self.args.output {
                Some(Format::Json) => newer.push(newer_record(&local, &revision)),
                None => console.line(&format!("{}: {old} ({from}) -> {name} ({to})", self.dir))?,
            }
            console.record(
                &Diagnostic::error(PkgKind::NewerUpstream { from, to })
                    .in_file(join_display_path(self.dir, KPTFILE)),
            );
            return Ok(Exit::Findings);
        }
        let fetched = fetch(&*source, base.as_ref(), &revision, strategy).map_err(located)?;
        drop(source);
        self.cover(&fetched.upstream, covered);
        report_skipped(&fetched.upstream, self.dir, console);
        self.write(&local, fetched, strategy, &revision, console)
    }

    /// Whether there is nothing to do: the same files, and the same reference.
    fn is_current(
        &self,
        local: &LocalPackage,
        source: &dyn PackageSource,
        base: Option<&Revision>,
        revision: &Revision,
    ) -> Result<bool, Diagnostic> {
        let Some(base) = base else { return Ok(false) };
        let is_asked = local.upstream.reference == revision.reference
            && local.lock.as_ref().is_some_and(|it| it.reference == revision.reference);
        if base.id == revision.id {
            return Ok(is_asked);
        }
        // A repository has many packages, and most commits do not touch this one.
        let is_same = || Ok(source.content_id(base)? == source.content_id(revision)?);
        match is_same() {
            Ok(is_same) => Ok(is_same && is_asked),
            // The base is gone; what that means depends on the strategy.
            Err(error) if self.args.preview.check => Err(error),
            Err(_) => Ok(false),
        }
    }

    /// Remembers the subpackages that come with this one.
    fn cover(&self, fetched: &FetchedPackage, covered: &mut BTreeSet<String>) {
        let kptfiles = fetched.files.keys().filter(|path| path.name() == KPTFILE);
        let directories = kptfiles.map(|path| path.directory()).filter(|it| !it.is_empty());
        covered.extend(directories.map(|it| join_display_path(self.dir, it)));
    }

    fn write(
        &self,
        local: &LocalPackage,
        fetched: Fetched,
        strategy: UpdateStrategy,
        revision: &Revision,
        console: &mut Console,
    ) -> CommandResult {
        let names = [self.dir.to_owned()];
        let lock = plan::lock(&names, &self.args.preview, console)?;
        // Another run may have updated the package while this one fetched.
        let again = LocalPackage::open(self.dir)?;
        if again.kptfile.text() != local.kptfile.text() {
            let error = Diagnostic::error(FileKind::FileChangedMeanwhile);
            return Err(Failure::input(error.in_file(join_display_path(self.dir, KPTFILE))));
        }
        if !self.args.allow_dirty && !self.args.preview.is_on() {
            dirty::check_clean(self.dir)?;
        }
        let title = |reference: &str| format!("{}@{reference}", self.dir);
        let base_name = local.lock.as_ref().map_or("base", |it| &it.reference);
        let mut base = Version::new(fetched.base, &title(base_name), local, &[], self.global)?;
        let mut upstream = Version::new(
            fetched.upstream,
            &title(&revision.reference),
            local,
            &[&base.package],
            self.global,
        )?;
        let kptfile =
            PackagePath::new(KPTFILE).map_err(|it| Failure::input(Diagnostic::error(it)))?;
        if !upstream.has(&kptfile) {
            base.remove(&kptfile);
        }
        let mut on_disk = LocalVersion::load(self.dir, [&mut base, &mut upstream], self.global)?;
        let journals = on_disk.loaded.journals.clone();
        let report = &mut |diagnostic: &Diagnostic| console.report(diagnostic);
        if lock.recover(&journals, report).map_err(Failure::input)? {
            on_disk = LocalVersion::load(self.dir, [&mut base, &mut upstream], self.global)?;
        }
        conflict_records::check_resolved(&on_disk.loaded.package)?;
        let (new_upstream, new_lock) = new_upstream(local, self.args.strategy, revision);
        let new = NewUpstream { upstream: &new_upstream, lock: &new_lock };
        let mut schema = None;
        let packages = [&base.package, &on_disk.loaded.package, &upstream.package];
        let lists = merge::schema_options(&self.args.lists, packages, console, &mut schema)?;
        let options = self.args.conflicts.merge_options(lists);
        let versions = [&base, &upstream];
        let merged = match strategy {
            UpdateStrategy::ResourceMerge => {
                let renames = self.args.detect_renames;
                merge::merge(versions, &mut on_disk, &options, renames, &new, self.global)?
            }
            _ => {
                let plan = self.replaced(strategy, versions, &on_disk, &options, &new)?;
                Merged { plan, conflicts: Vec::new(), warnings: Vec::new() }
            }
        };
        self.finish(merged, &on_disk, &lock, revision, console)
    }

    /// The plan of a strategy that replaces files. Only the Kptfile is merged, because it says what this package is.
    fn replaced(
        &self,
        strategy: UpdateStrategy,
        versions: [&Version; 2],
        local: &LocalVersion,
        options: &MergeOptions<'_>,
        new: &NewUpstream<'_>,
    ) -> Result<Plan, Failure> {
        let path = PackagePath::new(KPTFILE).map_err(|it| Failure::input(Diagnostic::error(it)))?;
        let only = |package: &Package| {
            let file = package.file(&path);
            let file = file.and_then(|file| file.with_text(file.file()?.text().to_owned()).ok());
            Package::new(file.into_iter().collect())
        };
        let [base, upstream] = versions.map(|it| only(&it.package));
        let own = only(&local.loaded.package);
        let text = own.files().first().and_then(|it| it.file()).map(|it| it.text().to_owned());
        let text = text.unwrap_or_default();
        let text = match (base.files().is_empty(), upstream.files().is_empty()) {
            (false, false) => merge_kptfile([&base, &upstream, &own], options)?.unwrap_or(text),
            _ => text,
        };
        replace::replace(strategy, versions, local, text, new)
    }

    fn finish(
        &self,
        merged: Merged,
        local: &LocalVersion,
        lock: &crate::disk::Lock,
        revision: &Revision,
        console: &mut Console,
    ) -> CommandResult {
        let Merged { mut plan, conflicts, warnings } = merged;
        if self.args.conflicts.marks() {
            conflict_records::add_to_plan(&conflicts, &local.loaded, &mut plan)?;
        }
        merge_options::report_notes(&warnings, console);
        let action = self.args.conflicts.action(&conflicts, true);
        match self.args.output {
            Some(Format::Json) => console.data(&merge_options::conflicts_json(&conflicts))?,
            None => console.report_all(&self.args.conflicts.diagnostics(&conflicts, action)),
        }
        if action == ConflictAction::Fail {
            let error = Diagnostic::error(PkgKind::UpdateConflicts { count: conflicts.len() });
            console.report(&error.in_file(self.dir));
            return Ok(Exit::Findings);
        }
        let plan = local.loaded.with_hard_links(plan, "").map_err(Failure::input)?;
        let exit = plan::apply_or_preview(&plan, &self.args.preview, lock, console)?;
        if !self.args.preview.is_on() {
            let (count, at) = (plan.changes().count(), short(&revision.id));
            let files = if count == 1 { "file" } else { "files" };
            console.status(&format!(
                "updated {} to {} ({at}): {count} {files} changed",
                self.dir, revision.reference
            ));
        }
        let fails = action == ConflictAction::WriteAndFail && exit == Exit::Success;
        Ok(if fails { Exit::Findings } else { exit })
    }
}

/// A package whose upstream is newer, for programs.
fn newer_record(local: &LocalPackage, revision: &Revision) -> Record<'static> {
    let string = |text: &str| Value::string(text.to_owned());
    let mut record = vec![
        ("package", string(&local.dir)),
        ("repo", string(local.upstream.location.address())),
        ("directory", string(local.upstream.location.directory())),
    ];
    if let Some(lock) = &local.lock {
        record.extend([("ref", string(&lock.reference)), ("commit", string(&lock.revision))]);
    }
    record.extend([("newestRef", string(&revision.reference)), ("newest", string(&revision.id))]);
    record
}

fn fetch(
    source: &dyn PackageSource,
    base: Option<&Revision>,
    revision: &Revision,
    strategy: UpdateStrategy,
) -> Result<Fetched, Diagnostic> {
    let base = match base {
        Some(base) if strategy == UpdateStrategy::ForceDeleteReplace => {
            // What the package was is not needed to replace it, and may be gone.
            source.fetch(base).unwrap_or_default()
        }
        Some(base) => source.fetch(base)?,
        None => FetchedPackage::default(),
    };
    Ok(Fetched { base, upstream: source.fetch(revision)? })
}

/// What the Kptfile says after the update.
fn new_upstream(
    local: &LocalPackage,
    strategy: Option<Strategy>,
    revision: &Revision,
) -> (Upstream, UpstreamLock) {
    let location = local.upstream.location.clone();
    let reference = revision.reference.clone();
    let strategy = strategy.map(UpdateStrategy::from).or(local.upstream.strategy);
    let lock = UpstreamLock {
        location: location.clone(),
        reference: reference.clone(),
        revision: revision.id.clone(),
    };
    (Upstream { location, reference, strategy }, lock)
}

/// The merged text of a Kptfile. Where both sides changed it, upstream wins, as the strategy says for all other files.
fn merge_kptfile(
    packages: [&Package; 3],
    options: &MergeOptions<'_>,
) -> Result<Option<String>, Failure> {
    use krm_core::merge::{OnConflict, PackageMerge, PackageMergeOptions};
    let nodes = MergeOptions { on_conflict: OnConflict::Upstream, ..options.clone() };
    let options = PackageMergeOptions {
        nodes: &nodes,
        by_path: true,
        only_common: true,
        has_paths: true,
        finds_renames: false,
    };
    let failed = |errors| Failure::Diagnostics(Exit::Input, errors);
    let merge = PackageMerge::three_way(packages, options).map_err(failed)?;
    let done = merge.file_merges().iter().map(|file| merge.run(file)).collect();
    let merged = merge.finish(done).map_err(failed)?;
    Ok(merged.changes.into_iter().next().and_then(|change| change.into_text()))
}
