//! The digest of the program that runs: what identifies a build of krm on all machines.
//!
//! Size and time of the file are enough on one machine, and not between machines: package managers set the time to that of the
//! installation, or to the same value for all builds.

use std::fs::{self, File, Metadata};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use sha2::{Digest, Sha256};

use super::entry::CachedResult;
use super::{FunctionIdentity, ResultCache};

/// A file that was changed later than this before it was read could be changed again without another time.
const SETTLED: Duration = Duration::from_secs(2);

/// The digest of the program; none if it cannot be read, or could be another one than the one that runs.
///
/// Reading it takes tens of milliseconds, so the digest is kept in the cache of this machine, with the state of the file as its key.
pub(super) fn digest(cache: &ResultCache, started: SystemTime) -> Option<[u8; 32]> {
    let path = path()?;
    let metadata = fs::metadata(&path).ok()?;
    // Without /proc, the file at this path can have been replaced since the program started.
    let is_own = path == Path::new(OWN) || metadata.modified().is_ok_and(|it| it < started);
    if !is_own {
        return None;
    }
    let identity = settled_state(&metadata)
        .map(|state| FunctionIdentity::new("program digest").field("state", &state));
    let key = identity.map(|it| it.key());
    if let Some(key) = &key
        && let Some(known) = cache.get(key)
        && let Some(Ok(digest)) = known.stdout.map(TryInto::try_into)
    {
        return Some(digest);
    }
    let digest = digest_of(&path).ok()?;
    if let Some(key) = &key {
        cache.put(key, &CachedResult::with_output(digest.to_vec()));
    }
    Some(digest)
}

/// The link to the running program, even if another file has its name by now.
const OWN: &str = "/proc/self/exe";

fn path() -> Option<PathBuf> {
    match fs::metadata(OWN).is_ok() {
        true => Some(PathBuf::from(OWN)),
        false => std::env::current_exe().ok(),
    }
}

fn digest_of(path: &Path) -> io::Result<[u8; 32]> {
    let mut file = File::open(path)?;
    let (mut hasher, mut buffer) = (Sha256::new(), vec![0; 1 << 20]);
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok(hasher.finalize().into()),
            count => hasher.update(&buffer[..count]),
        }
    }
}

/// What changes with the content of a file; none if the file is so new that it could change without that.
#[cfg(unix)]
fn settled_state(metadata: &Metadata) -> Option<Vec<u8>> {
    use std::os::unix::fs::MetadataExt;
    let seconds = u64::try_from(metadata.ctime()).ok()?;
    let changed = SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
    let is_settled = changed.elapsed().is_ok_and(|age| age > SETTLED);
    let times = [metadata.mtime(), metadata.mtime_nsec(), metadata.ctime(), metadata.ctime_nsec()];
    let numbers = [metadata.dev(), metadata.ino(), metadata.size()];
    let times = times.into_iter().flat_map(i64::to_le_bytes);
    is_settled.then(|| numbers.into_iter().flat_map(u64::to_le_bytes).chain(times).collect())
}

/// Elsewhere no time is certain to change with the content.
#[cfg(not(unix))]
fn settled_state(_: &Metadata) -> Option<Vec<u8>> {
    let _ = SETTLED;
    None
}
