//! `--locked`: functions run only if `krm.lock` has everything that comes from elsewhere.

use std::path::Path;

use krm_core::functions::kptfile::upstream::{UpstreamLock, upstream, upstream_lock};
use krm_core::{Diagnostic, PackageFile};
use krm_run::{ImageLock, SignaturePolicy};
use krm_yaml::{File, Segment};

use super::kinds::FnCommandKind;
use crate::commands::pkg::kinds::PkgKind;
use crate::loader::LoadedPackage;
use crate::lock_file::{self, LockFile, LockedSignature};
use crate::{Exit, Failure, disk};

/// The flag.
#[derive(Clone, Copy, Debug, clap::Args)]
pub(super) struct LockFlag {
    /// Refuse images and packages that krm.lock does not pin, and run images by its digests; it is searched for from DIR upwards
    #[arg(long, help_heading = "Images")]
    locked: bool,
}

impl LockFlag {
    /// The digests of images; none without the flag.
    pub(super) fn images(self, dir: &str) -> Result<Option<ImageLock>, Failure> {
        let Some((root, file)) = self.read(dir)? else { return Ok(None) };
        let policies = file.signatures.iter().map(|it| policy(it, &root)).collect();
        let images: ImageLock = file.images.into_iter().map(|it| (it.image, it.digest)).collect();
        Ok(Some(images.with_signatures(policies)))
    }

    /// Checks that every package with an upstream is the one that the lock file has.
    ///
    /// Charts need no check: they are files of the package, as krm does not download any.
    pub(super) fn check_packages(self, dir: &str, loaded: &LoadedPackage) -> Result<(), Failure> {
        let Some((root, lock)) = self.read(dir)? else { return Ok(()) };
        let kptfiles = loaded.package.files().iter().filter(|it| it.path.name() == "Kptfile");
        let errors: Vec<Diagnostic> = kptfiles
            .filter_map(|it| {
                let error = check(it.file()?, it, &root, &lock).err()?;
                Some(error.in_file(&*it.display_path))
            })
            .collect();
        if errors.is_empty() { Ok(()) } else { Err(Failure::Diagnostics(Exit::Input, errors)) }
    }

    /// The lock file that applies to a package, or for standard input to the working directory; none without the flag.
    fn read(self, dir: &str) -> Result<Option<(std::path::PathBuf, LockFile)>, Failure> {
        if !self.locked {
            return Ok(None);
        }
        let dir = if dir == disk::STDIN { "." } else { dir };
        let missing = || Failure::usage(Diagnostic::error(FnCommandKind::NoLockFile));
        let root = lock_file::root_of(dir).ok_or_else(missing)?;
        let (file, _) = LockFile::read(&root).map_err(Failure::input)?.ok_or_else(missing)?;
        Ok(Some((root, file)))
    }
}

/// The policy of an entry. The file of a key is relative to the lock file.
fn policy(entry: &LockedSignature, root: &Path) -> SignaturePolicy {
    let field = |name: &str| entry.signer.iter().find(|it| it.0 == name).map(|it| it.1.clone());
    let key = field("key").map(|key| match key.contains("://") {
        true => key.into(),
        false => root.join(key).into_os_string(),
    });
    let identity = field("identity").zip(field("issuer"));
    SignaturePolicy { images: entry.images.clone(), key, identity }
}

/// Checks one package. A Kptfile without an upstream is the user's own.
fn check(
    kptfile: &File,
    file: &PackageFile,
    root: &Path,
    lock: &LockFile,
) -> Result<(), Diagnostic> {
    if upstream(kptfile)?.is_none() {
        return Ok(());
    }
    let node = kptfile.document(0).and_then(|it| it.root()?.step(&Segment::Key("upstream".into())));
    let located = |error: Diagnostic| match node {
        Some(node) => error.at(kptfile, node.span()),
        None => error,
    };
    let dir = Path::new(&file.display_path).parent().map(|it| it.to_string_lossy());
    let dir = dir.as_deref().filter(|it| !it.is_empty()).unwrap_or(".");
    let path = lock_file::path_in(root, dir);
    let entry = path.and_then(|path| lock.package(&path));
    let entry = entry.ok_or_else(|| located(Diagnostic::error(PkgKind::NotLocked)))?;
    let own = upstream_lock(kptfile)?;
    let own = own.ok_or_else(|| located(Diagnostic::error(PkgKind::NoUpstreamLock)))?;
    if own != entry.lock {
        let (asked, locked) = (version(&own), version(&entry.lock));
        return Err(located(Diagnostic::error(PkgKind::LockMismatch { asked, locked })));
    }
    Ok(())
}

/// A version of a package for messages.
fn version(lock: &UpstreamLock) -> String {
    let UpstreamLock { location, reference, revision } = lock;
    let directory = location.directory().trim_end_matches('/');
    format!("{}{directory}@{reference} ({revision})", location.address())
}
