//! Reads packages and named files as a whole: if another run of krm writes to them meanwhile, they are read again.
//!
//! Readers take no lock, so that they work in directories that are not theirs and while a slow function runs. Instead, the directories
//! of the package are compared before and after the read: a writer creates its journal and renames files, and both change the time of
//! the directory. A walk goes from the outer directory to the inner ones, so a journal that is there when the read begins is found.

use std::collections::BTreeSet;
use std::fs;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use krm_core::{Diagnostic, Package};

use crate::disk::{self, FileKind, FileState, HalfWritten, STDIN};
use crate::loader::LoadedPackage;
use crate::parallel;
use crate::result_cache::Input;

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
    state: Option<FileState>,
}

impl DirectoryState {
    pub(crate) fn of(path: PathBuf) -> Self {
        let metadata = fs::symlink_metadata(&path).ok();
        let id = metadata.as_ref().and_then(crate::disk::file_id);
        let changed = metadata.as_ref().and_then(changed);
        let state = metadata.as_ref().map(FileState::of);
        Self { path, id, changed, state }
    }

    /// The directory as an input of a rendered package.
    pub(crate) fn to_input(&self) -> Input {
        Input { path: self.path.clone(), state: self.state }
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

/// One read, with what shows whether somebody wrote meanwhile.
struct Attempt<T> {
    read: T,
    half_written: Option<HalfWritten>,
    /// Whether no directory changed.
    is_same: bool,
}

/// Reads with `read`, which is given the package of the previous attempt, until nobody wrote to the package meanwhile.
pub(crate) fn read(
    root: &Path,
    title: &str,
    mut read: impl FnMut(&[&Package]) -> LoadedPackage,
) -> Result<LoadedPackage, Diagnostic> {
    let attempt = |previous: Option<&LoadedPackage>| {
        let began = SystemTime::now();
        let beside: Vec<&Package> = previous.iter().map(|loaded| &loaded.package).collect();
        let read = read(&beside);
        // In this order: a run that renames its last file after the directories are compared still has its journal now.
        let half_written = HalfWritten::find(root, &read.journals);
        let is_same = is_unchanged(&read.directories, began);
        Attempt { read, half_written, is_same }
    };
    until_consistent(title, attempt, is_same_package)
}

/// Reads files that the user named, in parallel, until nobody wrote to their directories meanwhile: a run of krm may replace
/// several of them. A single file is always whole. Standard input and pipes are read only once: a second read would wait forever.
pub(crate) fn read_files<T: PartialEq + Send>(
    names: &[&str],
    jobs: Option<NonZeroUsize>,
    read: impl Fn(&str) -> T + Sync,
) -> Result<Vec<T>, Diagnostic> {
    let is_stream: Vec<bool> =
        names.iter().map(|name| *name == STDIN || disk::is_stream(name)).collect();
    let select = |streams: bool| {
        let selected = names.iter().zip(&is_stream).filter(move |(_, is)| **is == streams);
        selected.map(|(name, _)| *name).collect::<Vec<&str>>()
    };
    let (streams, files) = (select(true), select(false));
    let real: BTreeSet<PathBuf> = files.iter().filter_map(|it| fs::canonicalize(it).ok()).collect();
    let directories: BTreeSet<&Path> = real.iter().filter_map(|path| path.parent()).collect();
    let streams: Vec<T> = streams.into_iter().map(&read).collect();
    let read = || parallel::map(&files, jobs, |name| read(name));
    let found = match directories.first().filter(|_| real.len() > 1) {
        None => read(),
        Some(first) => {
            let attempt = |_: Option<&Vec<T>>| {
                let began = SystemTime::now();
                let before = directories.iter().map(|it| DirectoryState::of((*it).to_owned()));
                let before: Vec<DirectoryState> = before.collect();
                let read = read();
                // One file of each directory, because the journal is in the directory or above it.
                let find = |directory: &&Path| HalfWritten::find(&directory.join("-"), &[]);
                let half_written = directories.iter().find_map(find);
                Attempt { half_written, is_same: is_unchanged(&before, began), read }
            };
            until_consistent(&disk::from_here(first), attempt, |a, b| a == b)?
        }
    };
    if streams.is_empty() {
        return Ok(found);
    }
    let (mut streams, mut found) = (streams.into_iter(), found.into_iter());
    let in_order = is_stream.into_iter().map(|is_stream| match is_stream {
        true => streams.next(),
        false => found.next(),
    });
    Ok(in_order.flatten().collect())
}

/// Reads one file that says something about the other files of its directory, such as a Kptfile: not while a run of krm has replaced
/// some of them and others not.
pub(crate) fn read_file_of_package<T>(path: &Path, read: impl Fn() -> T) -> Result<T, Diagnostic> {
    let Ok(path) = fs::canonicalize(path) else { return Ok(read()) };
    let title = disk::from_here(&path);
    // The file itself is replaced as a whole.
    let attempt = |_: Option<&T>| Attempt {
        read: read(),
        half_written: HalfWritten::find(&path, &[]),
        is_same: true,
    };
    until_consistent(&title, attempt, |_, _| false)
}

/// Whether no directory changed since a read began.
fn is_unchanged(directories: &[DirectoryState], began: SystemTime) -> bool {
    directories.iter().all(|it| !it.is_recent(began) && it.is_same_now())
}

/// Reads until nobody wrote meanwhile, or two reads are equal. Fails after [`LONGEST_WAIT`], or if a writer was killed.
fn until_consistent<T>(
    title: &str,
    mut attempt: impl FnMut(Option<&T>) -> Attempt<T>,
    is_equal: impl Fn(&T, &T) -> bool,
) -> Result<T, Diagnostic> {
    let start = Instant::now();
    let mut previous: Option<T> = None;
    loop {
        let Attempt { read, half_written, is_same } = attempt(previous.as_ref());
        let is_over = start.elapsed() >= LONGEST_WAIT;
        match half_written {
            // Other programs create files, too. What is read twice was not written in between.
            None if is_same || previous.is_some_and(|it| is_equal(&it, &read)) => return Ok(read),
            Some(found) if is_over || !found.is_alive() => return Err(found.to_diagnostic()),
            None if is_over => {
                return Err(Diagnostic::error(FileKind::ChangedWhileRead).in_file(title));
            }
            Some(_) => std::thread::sleep(PAUSE),
            None => {}
        }
        previous = Some(read);
    }
}

/// Whether two reads found the same files with the same texts. Unchanged files are shared.
fn is_same_package(a: &LoadedPackage, b: &LoadedPackage) -> bool {
    if (&a.others, &a.digests) != (&b.others, &b.digests) {
        return false;
    }
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

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn streams_are_read_once_even_if_files_are_read_again() {
        let directory = tempfile::tempdir().unwrap();
        let path = |name: &str| directory.path().join(name).to_str().unwrap().to_owned();
        for name in ["a", "b"] {
            fs::write(path(name), name).unwrap();
        }
        let (streams, files) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let (a, b) = (path("a"), path("b"));
        let stream = "/dev/fd/0";
        let read = read_files(&[&a, stream, &b], None, |name| {
            let count = if name == stream { &streams } else { &files };
            count.fetch_add(1, Ordering::Relaxed);
            // The directory changes during the first read, so the files in it are read twice.
            fs::write(path("written meanwhile"), "").unwrap();
            name.to_owned()
        });
        assert_eq!(read.unwrap(), [a.as_str(), stream, b.as_str()]);
        assert_eq!((streams.into_inner(), files.into_inner()), (1, 4));
    }
}
