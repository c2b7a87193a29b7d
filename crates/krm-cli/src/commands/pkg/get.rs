//! `krm pkg get`: writes a package of a git repository or a registry to a new directory.

use std::collections::BTreeMap;
use std::path::Path;

use krm_core::functions::kptfile::upstream::{
    UpdateStrategy, Upstream, UpstreamLocation, UpstreamLock, package_name, upstream,
    upstream_lock, with_name, write_upstream,
};
use krm_core::{Diagnostic, PackagePath, Plan};
use krm_yaml::{File, Value};

use super::init::{CONTEXT, KPTFILE, name_of, with_values};
use super::kinds::PkgKind;
use super::{Strategy, report_skipped, short};
use crate::cli::Preview;
use crate::commands::cfg::edit_session::ChangesOutput;
use crate::commands::{plan, refuse_stdin};
use crate::console::Console;
use crate::loader::join_display_path;
use crate::package_source::{self, FetchedFile, FetchedPackage, PackageAddress, Revision};
use crate::{CommandResult, Exit, Failure, disk};

const EXAMPLES: &str = "\
Examples:
  krm pkg get https://github.com/example/packages.git/shop@v1.2.0
  krm pkg get git@github.com:example/packages.git/shop@main my-shop --for-deployment
  krm pkg get https://gitlab.example.com/group/project --subdir shop --diff
  krm pkg get oci://ghcr.io/example/packages//shop:v1.2.0";

/// How deep packages can refer to other packages.
const DEEPEST: usize = 16;

/// Get a package from a git repository or a registry.
///
/// Writes the files of a directory of the repository to a new directory. The Kptfile records where the package comes from (upstream) and
/// which commit it is (upstreamLock), so that krm pkg update can merge later versions.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Repository, directory in it, and branch, tag or commit [default: the default branch]
    #[arg(value_name = "REPO[.git]/DIR[@REF]")]
    address: String,

    /// Directory to write to; it must be missing or empty [default: name of the directory in the repository]
    #[arg(value_name = "DEST")]
    dest: Option<String>,

    /// Directory of the package in the repository; then the address is only the repository
    #[arg(long, value_name = "DIR")]
    subdir: Option<String>,

    /// Strategy of later updates
    #[arg(long, value_name = "STRATEGY", default_value = "resource-merge")]
    strategy: Strategy,

    /// Make an instance of the package: write the names of it and its subpackages to package-context.yaml, from which functions take them
    #[arg(long)]
    for_deployment: bool,

    #[command(flatten)]
    changes: ChangesOutput,

    #[command(flatten)]
    preview: Preview,
}

pub(super) fn run(args: &Args, console: &mut Console) -> CommandResult {
    args.changes.apply(&args.preview, console)?;
    let address =
        PackageAddress::parse(&args.address, args.subdir.as_deref()).map_err(Failure::usage)?;
    let dest = match (&args.dest, address.default_name()) {
        (Some(dest), _) => dest.trim_end_matches('/').to_owned(),
        (None, Some(name)) => name.to_owned(),
        (None, None) => return Err(Failure::usage(Diagnostic::error(PkgKind::NoDestination))),
    };
    let dest = if dest.is_empty() { ".".to_owned() } else { dest };
    refuse_stdin(&dest)?;
    if Path::new(&dest).is_dir() && !args.preview.is_on() {
        // An interrupted run is completed or rolled back first, so that the directory is one or the other.
        drop(plan::lock(std::slice::from_ref(&dest), &args.preview, console)?);
    }
    check_free(&dest)?;
    let name = name_of(&dest)
        .ok_or_else(|| Failure::usage(Diagnostic::error(PkgKind::NoPackageName).in_file(&*dest)))?;
    let (mut fetched, revision) = fetch(&address).map_err(Failure::input)?;
    if fetched.files.is_empty() {
        return Err(Failure::input(Diagnostic::error(PkgKind::EmptyPackage).in_file(&*dest)));
    }
    let upstream = Upstream {
        location: address.location.clone(),
        reference: revision.reference.clone(),
        strategy: Some(args.strategy.into()),
    };
    write_kptfile(&mut fetched, "", Some(&name), &upstream, &revision).map_err(Failure::input)?;
    get_dependencies(&mut fetched, &address.location, &mut Vec::new()).map_err(Failure::input)?;
    if args.for_deployment {
        write_contexts(&mut fetched)?;
    }
    report_skipped(&fetched, &dest, console);
    let lock = plan::lock_directory(&dest, &args.preview, console)?;
    check_free(&dest)?;
    let plan = plan(fetched, &dest)?;
    let count = plan.changes().count();
    let exit = plan::apply_or_preview(&plan, &args.preview, &lock, console)?;
    if exit == Exit::Success && !args.preview.is_on() {
        let (from, commit) = (&address.location, short(&revision.id));
        let directory = from.directory().trim_end_matches('/');
        let files = if count == 1 { "file" } else { "files" };
        console.status(&format!(
            "got {dest} from {}{directory}@{} ({commit}): {count} {files}",
            from.address(),
            revision.reference
        ));
    }
    Ok(exit)
}

/// Fails if a directory has files, except for those of an interrupted run, which the lock removes or completes.
fn check_free(dest: &str) -> Result<(), Failure> {
    let path = Path::new(dest);
    if !path.exists() {
        return Ok(());
    }
    let entries = std::fs::read_dir(path)
        .map_err(|error| Failure::input(disk::cannot_read(&error).in_file(dest)))?;
    let is_other = |name: &str| !disk::is_internal_file(name);
    let is_taken = entries.flatten().any(|entry| is_other(&entry.file_name().to_string_lossy()));
    match is_taken {
        true => Err(Failure::input(Diagnostic::error(PkgKind::DestinationExists).in_file(dest))),
        false => Ok(()),
    }
}

fn fetch(address: &PackageAddress) -> Result<(FetchedPackage, Revision), Diagnostic> {
    let source = package_source::open(&address.location, address.credentials.as_deref())?;
    let revision = source.resolve(address.reference.as_deref())?;
    Ok((source.fetch(&revision)?, revision))
}

/// Writes name, upstream and lock to the Kptfile of a directory, which gets one if it has none.
pub(super) fn write_kptfile(
    fetched: &mut FetchedPackage,
    directory: &str,
    name: Option<&str>,
    upstream: &Upstream,
    revision: &Revision,
) -> Result<(), Diagnostic> {
    let path = PackagePath::new("Kptfile").map_err(Diagnostic::error)?.in_directory(directory);
    let old = fetched.files.get(&path);
    let text =
        old.map_or(KPTFILE.to_owned(), |it| String::from_utf8_lossy(&it.content).into_owned());
    let in_file = |error: Diagnostic| error.in_file(path.as_str());
    let parse = |text: String| File::parse(text).map_err(|error| in_file(Diagnostic::from(&error)));
    let mut text = parse(text)?;
    if let Some(name) = name {
        text = parse(with_name(&text, name).map_err(in_file)?)?;
    }
    let lock = UpstreamLock {
        location: upstream.location.clone(),
        reference: revision.reference.clone(),
        revision: revision.id.clone(),
    };
    let text = write_upstream(&text, upstream, &lock).map_err(in_file)?;
    let content = text.into_bytes().into();
    fetched.files.insert(path, FetchedFile { content, is_executable: false });
    Ok(())
}

/// Gets packages that a Kptfile of the package only refers to: it has an upstream, but was never fetched. `seen` are the packages on the
/// way to this one, which came from `location`.
fn get_dependencies(
    fetched: &mut FetchedPackage,
    location: &UpstreamLocation,
    seen: &mut Vec<(String, String)>,
) -> Result<(), Diagnostic> {
    let mut waiting: Vec<(String, Upstream)> = Vec::new();
    for (path, file) in &fetched.files {
        if path.name() != "Kptfile" || path.directory().is_empty() {
            continue;
        }
        let Ok(kptfile) = File::parse(String::from_utf8_lossy(&file.content).into_owned()) else {
            continue;
        };
        let in_file = |error: Diagnostic| error.in_file(path.as_str());
        if let (Some(upstream), None) =
            (upstream(&kptfile).map_err(in_file)?, upstream_lock(&kptfile).map_err(in_file)?)
        {
            waiting.push((path.directory().to_owned(), upstream));
        }
    }
    for (directory, upstream) in waiting {
        let key =
            (upstream.location.address().to_owned(), upstream.location.directory().to_owned());
        let refused = |kind| Err(Diagnostic::error(kind).in_file(format!("{directory}/Kptfile")));
        if seen.len() >= DEEPEST || seen.contains(&key) {
            return refused(PkgKind::CircularPackages { repo: key.0 });
        }
        // Who wrote the package must not decide which files of this machine become part of it. Compat: git refuses such submodules.
        if is_local(&upstream.location) && !is_local(location) {
            return refused(PkgKind::LocalUpstream { repo: key.0 });
        }
        let source = package_source::open(&upstream.location, None)?;
        let reference = Some(upstream.reference.as_str()).filter(|it| !it.is_empty());
        let revision = source.resolve(reference)?;
        let mut inner = source.fetch(&revision)?;
        // The next package can come from the same repository, whose cache this source has locked.
        drop(source);
        let upstream = Upstream { reference: revision.reference.clone(), ..upstream };
        // The Kptfile that refers to the package has a say about its name and pipeline.
        let own = PackagePath::new("Kptfile").map_err(Diagnostic::error)?;
        if let Some(kptfile) = fetched.files.get(&own.in_directory(&directory)) {
            inner.files.insert(own, kptfile.clone());
        }
        write_kptfile(&mut inner, "", None, &upstream, &revision)?;
        seen.push(key);
        get_dependencies(&mut inner, &upstream.location, seen)?;
        seen.pop();
        let below =
            |(path, file): (PackagePath, FetchedFile)| (path.in_directory(&directory), file);
        fetched.files.extend(inner.files.into_iter().map(below));
        fetched.skipped.extend(
            inner.skipped.into_iter().map(|(path, what)| (format!("{directory}/{path}"), what)),
        );
    }
    Ok(())
}

fn is_local(location: &UpstreamLocation) -> bool {
    match location {
        UpstreamLocation::Git { repo, .. } => package_source::is_local_repository(repo),
        UpstreamLocation::Oci { .. } => false,
    }
}

/// Writes the name of each package to its ConfigMap, from which functions take it. Subpackages have their own.
///
/// Compat: kpt replaces the ConfigMap, and removes it from files of other names. Here other values stay.
fn write_contexts(fetched: &mut FetchedPackage) -> Result<(), Failure> {
    let text = |file: &FetchedFile| String::from_utf8_lossy(&file.content).into_owned();
    let packages: Vec<(String, String)> = fetched
        .files
        .iter()
        .filter(|(path, _)| path.name() == "Kptfile")
        .filter_map(|(path, file)| {
            let kptfile = File::parse(text(file)).ok()?;
            Some((path.directory().to_owned(), package_name(&kptfile)?))
        })
        .collect();
    for (directory, name) in packages {
        let path = PackagePath::new("package-context.yaml");
        let path = path.map_err(|error| Failure::input(Diagnostic::error(error)))?;
        let path = path.in_directory(&directory);
        let template = fetched.files.get(&path).map_or(CONTEXT.to_owned(), text);
        let text = with_values(&template, vec![("data.name", Value::string(name))])?;
        let content = text.into_bytes().into();
        fetched.files.insert(path, FetchedFile { content, is_executable: false });
    }
    Ok(())
}

fn plan(fetched: FetchedPackage, dest: &str) -> Result<Plan, Failure> {
    let mut plan = Plan::default();
    let files: BTreeMap<PackagePath, FetchedFile> = fetched.files;
    for (path, file) in files {
        let shown = join_display_path(dest, path.as_str());
        let executable = Some(file.is_executable);
        plan.set_bytes(path, shown, [None, Some(file.content.to_vec())], executable)
            .map_err(Failure::input)?;
    }
    Ok(plan)
}

impl From<Strategy> for UpdateStrategy {
    fn from(strategy: Strategy) -> Self {
        match strategy {
            Strategy::ResourceMerge => Self::ResourceMerge,
            Strategy::FastForward => Self::FastForward,
            Strategy::ForceDeleteReplace => Self::ForceDeleteReplace,
            Strategy::CopyMerge => Self::CopyMerge,
        }
    }
}
