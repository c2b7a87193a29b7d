//! Where packages come from: the interface of all sources, and the sources for git repositories and registries.
//!
//! Commands know sources only as [`PackageSource`]. A source returns files and ids; it never writes to the package, which happens
//! through a plan like every other change.

mod address;
pub(crate) mod cache;
mod git;
mod kinds;
mod oci;

use std::collections::BTreeMap;
use std::sync::Arc;

use krm_core::functions::kptfile::upstream::UpstreamLocation;
use krm_core::merge::CONFLICT_FILE;
use krm_core::{Diagnostic, PackagePath};

use crate::disk;

pub(crate) use address::{PackageAddress, is_local_repository, without_credentials};
pub(crate) use kinds::SourceKind;
pub(crate) use oci::{CREATED, REVISION, SOURCE, image_digest, push, sandbox};

/// A version of everything in a repository: a commit, or the digest of an image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Revision {
    /// The branch, tag or commit that was asked for.
    pub(crate) reference: String,
    /// The commit or digest.
    pub(crate) id: String,
}

/// A file of a package as its source has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FetchedFile {
    /// Shared between revisions that have the same file.
    pub(crate) content: Arc<[u8]>,
    pub(crate) is_executable: bool,
}

/// The files of a package in one revision.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct FetchedPackage {
    pub(crate) files: BTreeMap<PackagePath, FetchedFile>,
    /// Entries that are not files, such as symlinks and submodules: the path and what it is.
    pub(crate) skipped: Vec<(String, &'static str)>,
}

/// A directory of a repository or image, in all its revisions.
pub(crate) trait PackageSource {
    /// The revision of a branch, tag or commit; none asks for the default one.
    fn resolve(&self, reference: Option<&str>) -> Result<Revision, Diagnostic>;

    /// An id of the content of the directory. Revisions with the same id have the same files. Downloads no file.
    fn content_id(&self, revision: &Revision) -> Result<String, Diagnostic>;

    /// The files of the directory.
    fn fetch(&self, revision: &Revision) -> Result<FetchedPackage, Diagnostic>;

    /// How many revisions lie between two of them; none if that is not known, as after a force-push.
    fn count_newer(&self, from: &Revision, to: &Revision) -> Result<Option<usize>, Diagnostic>;
}

/// The source of a location. `credentials` is the URL with the password that the user typed, which is used and never stored.
pub(crate) fn open(
    location: &UpstreamLocation,
    credentials: Option<&str>,
) -> Result<Box<dyn PackageSource>, Diagnostic> {
    match location {
        UpstreamLocation::Git { repo, directory } => {
            Ok(Box::new(git::GitSource::open(credentials.unwrap_or(repo), directory)?))
        }
        UpstreamLocation::Oci { image, directory } => oci::open(image, directory),
    }
}

/// What is skipped because of [`is_reserved`].
const RESERVED: &str = "a file with a reserved name";

/// Whether a path has the name of a file that krm creates while it writes: one from elsewhere would be in the way, or be taken for its own.
fn is_reserved(path: &str) -> bool {
    path.split('/').any(|name| disk::is_internal_file(name) && name != CONFLICT_FILE)
}
