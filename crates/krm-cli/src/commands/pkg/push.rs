//! `krm pkg push`: writes a package to a registry.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Stdio};

use krm_core::{Diagnostic, PackagePath};
use krm_run::read_regular_file;

use super::check_directory;
use super::kinds::PkgKind;
use crate::cli::Global;
use crate::commands::refuse_stdin;
use crate::console::{Console, plural};
use crate::git::WorkingTree;
use crate::loader::{self, join_display_path};
use crate::package_source::{
    self, CREATED, FetchedFile, FetchedPackage, PackageAddress, REVISION, SOURCE,
};
use crate::{CommandResult, Exit, Failure, disk};

const EXAMPLES: &str = "\
Examples:
  krm pkg push shop oci://ghcr.io/example/shop:v1.2.0
  krm pkg push shop oci://localhost:5000/shop:main --dry-run
  krm pkg get oci://ghcr.io/example/shop:v1.2.0 my-shop";

/// The largest file of a package.
const FILE_LIMIT: u64 = 256 << 20;

/// Push a package to a registry.
///
/// Writes all files of the package as an artifact in the form of Flux, which Flux and other clients of registries read. The same files
/// from the same commit are always the same digest. Prints the artifact with its digest. Credentials are those of docker or podman.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES, allow_missing_positional = true)]
pub(crate) struct Args {
    /// Directory of the package [default: current directory]
    #[arg(default_value = ".", hide_default_value = true)]
    dir: String,

    /// Image and tag to write
    #[arg(value_name = "oci://IMAGE:TAG")]
    address: String,

    /// URL that the package comes from [default: the remote `origin` of its git repository]
    #[arg(long, value_name = "URL")]
    source: Option<String>,

    /// Revision that the package comes from [default: branch and commit, if everything is committed]
    #[arg(long, value_name = "REVISION")]
    revision: Option<String>,

    /// Further annotation of the artifact; may be repeated
    #[arg(long, value_name = "KEY=VALUE", value_parser = pair)]
    annotation: Vec<(String, String)>,

    /// List the files and print the digest, without pushing anything
    #[arg(long)]
    dry_run: bool,
}

pub(super) fn run(args: &Args, global: &Global, console: &mut Console) -> CommandResult {
    let address = PackageAddress::parse_oci(&args.address, None).map_err(Failure::usage)?;
    let Some(tag) = address.reference.as_deref().filter(|_| address.location.directory() == "/")
    else {
        return Err(Failure::usage(Diagnostic::error(PkgKind::PushWithoutTag)));
    };
    refuse_stdin(&args.dir)?;
    let package = read(&args.dir, global, console)?;
    let annotations = annotations(args, console);
    if args.dry_run {
        for path in package.files.keys() {
            console.status(&format!("would push {path}"));
        }
    }
    let image = address.location.address();
    let pushed = package_source::push(image, tag, &package, &annotations, args.dry_run);
    let digest = pushed.map_err(Failure::input)?;
    console.data(&format!("oci://{image}:{tag}@{digest}\n"))?;
    if !args.dry_run {
        console.status(&format!("pushed {}: {}", args.dir, plural(package.files.len(), "file")));
    }
    Ok(Exit::Success)
}

/// All files of a package, with their bytes as they are.
fn read(dir: &str, global: &Global, console: &mut Console) -> Result<FetchedPackage, Failure> {
    check_directory(dir)?;
    let loaded = loader::load(dir, global.load_options()).map_err(Failure::input)?;
    let mut package = FetchedPackage::default();
    let manifests = loaded.package.files().iter().map(|file| &file.path);
    let paths: Vec<PackagePath> = manifests.chain(loaded.others.keys()).cloned().collect();
    for path in paths {
        let file = Path::new(dir).join(path.as_str());
        let shown = join_display_path(dir, path.as_str());
        let content = read_regular_file(&file, FILE_LIMIT)
            .map_err(|error| Failure::input(disk::unreadable(error).in_file(&*shown)))?;
        let is_executable = disk::is_executable(&file);
        package.files.insert(path, FetchedFile { content: content.into(), is_executable });
    }
    for diagnostic in loaded.diagnostics() {
        if !loader::is_about_nothing(&diagnostic) {
            console.report(&diagnostic);
        }
    }
    match package.files.is_empty() {
        true => Err(Failure::input(Diagnostic::error(PkgKind::NothingToPush).in_file(dir))),
        false => Ok(package),
    }
}

/// Where the package comes from: what the user says, or else what git knows.
fn annotations(args: &Args, console: &mut Console) -> BTreeMap<String, String> {
    let dir = &*args.dir;
    let source = || {
        let url = git(dir, &["config", "--get", "remote.origin.url"])?;
        Some(package_source::without_credentials(&url))
    };
    let mut annotations = BTreeMap::new();
    let mut set = |name: &str, value: Option<String>| {
        annotations.extend(value.map(|value| (name.to_owned(), value)));
    };
    set(SOURCE, args.source.clone().or_else(source));
    // The commit says nothing about files that are not committed, and its time neither.
    match (&args.revision, count_uncommitted(dir)) {
        (Some(revision), _) => set(REVISION, Some(revision.clone())),
        (None, Some(0)) => {
            set(REVISION, revision(dir));
            // In UTC, and in a form that is the same with every version of git.
            let utc = "--date=format-local:%Y-%m-%dT%H:%M:%SZ";
            set(CREATED, git(dir, &["log", "-1", utc, "--format=%cd"]));
        }
        (None, Some(count)) => {
            let warning = Diagnostic::warning(PkgKind::UnrecordedRevision { count });
            console.report(&warning.in_file(dir));
        }
        (None, None) => {}
    }
    annotations.extend(args.annotation.iter().cloned());
    annotations
}

/// The number of files with changes that are not committed; none outside of a git repository.
fn count_uncommitted(dir: &str) -> Option<usize> {
    let directory = std::fs::canonicalize(dir).ok()?;
    WorkingTree::of(&directory, dir).ok()?.count_uncommitted(&directory).ok()
}

/// The branch and the commit. Compat: Flux writes them in this form.
fn revision(dir: &str) -> Option<String> {
    let commit = git(dir, &["rev-parse", "HEAD"])?;
    Some(match git(dir, &["symbolic-ref", "--quiet", "--short", "HEAD"]) {
        Some(branch) => format!("{branch}@sha1:{commit}"),
        None => format!("sha1:{commit}"),
    })
}

/// The first line that git prints; none if it fails.
fn git(dir: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new("git")
        .args(["-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null"])
        .args(arguments)
        .current_dir(dir)
        .env("GIT_OPTIONAL_LOCKS", "0")
        .env("TZ", "UTC")
        .env_remove("GIT_DIR")
        .env_remove("GIT_WORK_TREE")
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output()
        .ok()?;
    let text = String::from_utf8(output.stdout).ok().filter(|_| output.status.success())?;
    text.lines().next().map(str::to_owned).filter(|line| !line.is_empty())
}

fn pair(text: &str) -> Result<(String, String), String> {
    let pair = text.split_once('=').filter(|(key, _)| !key.is_empty());
    let (key, value) = pair.ok_or("expected KEY=VALUE")?;
    Ok((key.to_owned(), value.to_owned()))
}
