//! `krm pkg vendor`: records the exact version of every package in `krm.lock`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use krm_core::functions::kptfile::{self, Program};
use krm_core::{Diagnostic, PackageFile, Plan};
use krm_run::Resolved;

use super::kinds::PkgKind;
use super::packages_below;
use super::versions::LocalPackage;
use crate::cli::Preview;
use crate::commands::cfg::edit_session::ChangesOutput;
use crate::commands::function::images::Images;
use crate::commands::{plan, refuse_stdin};
use crate::console::Console;
use crate::loader::{self, LoadOptions};
use crate::lock_file::{self, LockFile, LockedImage, LockedPackage};
use crate::package_source::{self, Revision};
use crate::{CommandResult, Exit, Failure};

const EXAMPLES: &str = "\
Examples:
  krm pkg vendor
  krm pkg vendor --check
  krm pkg update shop --locked";

/// Record the exact versions of packages in krm.lock.
///
/// Writes krm.lock to the root of the repository, with the commit or digest of every package below that has an upstream, and the
/// digest of every image that their pipelines run as a container. With --locked other commands refuse versions that are not in it.
/// Entries for other images and for charts are kept.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Directory of krm.lock [default: the nearest one with a krm.lock, or the root of the git repository]
    #[arg(value_name = "DIR")]
    dir: Option<String>,

    #[command(flatten)]
    images: Images,

    #[command(flatten)]
    changes: ChangesOutput,

    #[command(flatten)]
    preview: Preview,
}

pub(super) fn run(args: &Args, console: &mut Console) -> CommandResult {
    args.changes.apply(&args.preview, console)?;
    let root = args.dir.clone().unwrap_or_else(root);
    refuse_stdin(&root)?;
    let packages = packages_below(&root)?;
    let lock = plan::lock(std::slice::from_ref(&root), &args.preview, console)?;
    let (mut file, old) = match LockFile::read(Path::new(&root)).map_err(Failure::input)? {
        Some((file, text)) => (file, Some(text)),
        None => (LockFile::default(), None),
    };
    let images = locked_images(&root, &args.images)?;
    if packages.is_empty() && images.is_empty() && old.is_none() {
        let error = Diagnostic::error(PkgKind::NoPackagesBelow);
        return Err(Failure::input(error.in_file(root)));
    }
    // Images of other commands, such as `krm fn eval`, are in no pipeline.
    file.images.retain(|old| images.iter().all(|it| it.image != old.image));
    file.images.extend(images);
    file.packages.clear();
    for dir in packages {
        let local = LocalPackage::open(&dir)?;
        local.base()?;
        let path = lock_file::path_in(Path::new(&root), &dir);
        if let (Some(lock), Some(path)) = (local.lock, path) {
            file.packages.push(LockedPackage { path, lock });
        }
    }
    let mut plan = Plan::default();
    plan.set(plan::file_in(&root, lock_file::NAME, old)?, Some(file.to_text()))
        .map_err(Failure::input)?;
    plan::apply_or_preview(&plan, &args.preview, &lock, console)
}

/// The digests that images have now which pipelines run as containers. Built-in functions are as fixed as krm itself.
fn locked_images(root: &str, images: &Images) -> Result<Vec<LockedImage>, Failure> {
    let loaded = loader::load(root, LoadOptions::default()).map_err(Failure::input)?;
    let resolution = images.resolution()?;
    let mut digests = BTreeMap::new();
    let is_kptfile = |file: &&PackageFile| matches!(file.path.name(), "Kptfile" | "Krmfile");
    for file in loaded.package.files().iter().filter(is_kptfile) {
        let pipeline = kptfile::pipeline(&loaded.package, file.path.directory())
            .map_err(|errors| Failure::Diagnostics(Exit::Input, errors))?;
        for function in pipeline.functions() {
            let Program::Image(image) = &function.program else { continue };
            let at = |error: Diagnostic| Failure::input(function.place.locate(error));
            let resolved = resolution.resolve(image, function.tag.as_deref()).map_err(at)?;
            // An image with a digest is fixed already.
            let Resolved::Container(image) = resolved else { continue };
            if !image.contains('@') && !digests.contains_key(&image) {
                let digest = package_source::image_digest(&image).map_err(at)?;
                digests.insert(image, digest);
            }
        }
    }
    Ok(digests.into_iter().map(|(image, digest)| LockedImage { image, digest }).collect())
}

/// The directory with the lock file, or that of the repository, or the current one.
fn root() -> String {
    let here = PathBuf::from(".");
    let repository = || {
        let here = std::fs::canonicalize(&here).ok()?;
        here.ancestors().find(|it| it.join(".git").exists()).map(Path::to_owned)
    };
    let found = lock_file::root_of(".").or_else(repository);
    let is_here = |path: &PathBuf| std::fs::canonicalize(&here).is_ok_and(|here| here == *path);
    found
        .filter(|path| !is_here(path))
        .map_or(".".to_owned(), |it| it.to_string_lossy().into_owned())
}

/// The only revision that an update may take, with `--locked`.
pub(super) fn locked_revision(
    local: &LocalPackage,
    reference: &str,
) -> Result<Revision, Diagnostic> {
    let not_locked = || Diagnostic::error(PkgKind::NotLocked).in_file(&*local.dir);
    let root = lock_file::root_of(&local.dir).ok_or_else(not_locked)?;
    let (file, _) = LockFile::read(&root)?.ok_or_else(not_locked)?;
    let path = lock_file::path_in(&root, &local.dir).ok_or_else(not_locked)?;
    let entry = file.package(&path).ok_or_else(not_locked)?;
    let is_same =
        entry.lock.location == local.upstream.location && entry.lock.reference == reference;
    if !is_same {
        let locked = format!("{}@{}", entry.lock.location.address(), entry.lock.reference);
        let asked = format!("{}@{reference}", local.upstream.location.address());
        let error = Diagnostic::error(PkgKind::LockMismatch { asked, locked });
        return Err(error.in_file(&*local.dir));
    }
    Ok(Revision { reference: reference.to_owned(), id: entry.lock.revision.clone() })
}
