//! Reads a package as a whole: if another run of krm writes to it meanwhile, it is read again.
//!
//! Readers take no lock, so that they work in directories that are not theirs and while a slow function runs. Instead, the directories
//! of the package are compared before and after the read: a writer creates its journal and renames files, and both change the time of
//! the directory. A walk goes from the outer directory to the inner ones, so a journal that is there when the read begins is found.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use krm_core::{Diagnostic, Package};

use crate::disk::{FileKind, HalfWritten};
use crate::loader::LoadedPackage;

/// How long a reader waits for a writer.
const LONGEST_WAIT: Duration = Duration::from_secs(5);

const PAUSE: Duration = Duration::from_millis(5);

/// A directory that changed less than this before it was read can change again without a new time.
const CLOCK_TICK: Duration = Duration::from_millis(10);

/// When a directory last changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DirectoryState {
    path: PathBuf,
    id: Option<(u64, u64)>,
    changed: Option<SystemTime>,
}

impl DirectoryState {
    pub(crate) fn of(path: PathBuf) -> Self {
        let metadata = fs::symlink_metadata(&path).ok();
        let id = metadata.as_ref().and_then(crate::disk::file_id);
        let changed = metadata.as_ref().and_then(changed);
        Self { path, id, changed }
    }

    fn is_same_now(&self) -> bool {
        *self == Self::of(self.path.clone())
    }

    fn is_recent(&self, now: SystemTime) -> bool {
        self.changed.is_none_or(|changed| changed + CLOCK_TICK > now)
    }
}

/// The time of the last change of the metadata, which no program can set.
#[cfg(unix)]
fn changed(metadata: &fs::Metadata) -> Option<SystemTime> {
    use std::os::unix::fs::MetadataExt;
    let nanoseconds = u32::try_from(metadata.ctime_nsec()).ok()?;
    let since = Duration::new(u64::try_from(metadata.ctime()).ok()?, nanoseconds);
    Some(SystemTime::UNIX_EPOCH + since)
}

#[cfg(not(unix))]
fn changed(metadata: &fs::Metadata) -> Option<SystemTime> {
    metadata.modified().ok()
}

/// Reads with `read`, which is given the package of the previous attempt, until nobody wrote to the package meanwhile.
pub(crate) fn read(
    root: &Path,
    title: &str,
    mut read: impl FnMut(&[&Package]) -> LoadedPackage,
) -> Result<LoadedPackage, Diagnostic> {
    let start = Instant::now();
    let mut previous: Option<LoadedPackage> = None;
    loop {
        let began = SystemTime::now();
        let beside: Vec<&Package> = previous.iter().map(|loaded| &loaded.package).collect();
        let loaded = read(&beside);
        // In this order: a run that renames its last file after the directories are compared still has its journal now.
        let half_written = HalfWritten::find(root, &loaded.journals);
        let is_same = loaded.directories.iter().all(|it| !it.is_recent(began) && it.is_same_now());
        let is_over = start.elapsed() >= LONGEST_WAIT;
        match half_written {
            // Other programs create files, too. What is read twice was not written in between.
            None if is_same || previous.is_some_and(|it| is_same_package(&it, &loaded)) => {
                return Ok(loaded);
            }
            Some(found) if is_over || !found.is_alive() => return Err(found.to_diagnostic()),
            None if is_over => {
                return Err(Diagnostic::error(FileKind::ChangedWhileRead).in_file(title));
            }
            Some(_) => std::thread::sleep(PAUSE),
            None => {}
        }
        previous = Some(loaded);
    }
}

/// Whether two reads found the same files with the same texts. Unchanged files are shared.
fn is_same_package(a: &LoadedPackage, b: &LoadedPackage) -> bool {
    let (a, b) = (a.package.files(), b.package.files());
    let is_same = |(a, b): (&krm_core::PackageFile, &krm_core::PackageFile)| {
        let is_same_content = match (&a.content, &b.content) {
            (Ok(a), Ok(b)) => Arc::ptr_eq(a, b),
            (Err(a), Err(b)) => a == b,
            _ => false,
        };
        a.path == b.path && is_same_content
    };
    a.len() == b.len() && a.iter().zip(b).all(is_same)
}
