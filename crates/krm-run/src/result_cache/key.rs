//! The key of a result: a digest over everything that the result depends on.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::SystemTime;

use sha2::{Digest, Sha256};

use crate::Limits;

/// Changes whenever fields are added or mean something else, so that older entries are not found.
const FORMAT: &[u8] = b"krm result 1";

/// What the result of a function depends on, apart from its input and limits.
///
/// Each field has a name and a value of any bytes, with their lengths, so that no two lists of fields have the same digest.
///
/// ```
/// use krm_run::FunctionIdentity;
///
/// let [one, two] = ["a", "b"].map(|it| FunctionIdentity::new("wasm").field("module", it.as_bytes()).key());
/// assert_ne!(one, two);
/// ```
#[derive(Clone, Debug)]
pub struct FunctionIdentity {
    hasher: Sha256,
    files: Option<Vec<PathBuf>>,
}

impl FunctionIdentity {
    /// The identity of a function with this runtime.
    pub fn new(runtime: &str) -> Self {
        let identity = Self { hasher: Sha256::new(), files: Some(Vec::new()) };
        // The interpreter of modules is part of krm, and so is the way in which functions are started.
        let version = env!("CARGO_PKG_VERSION").as_bytes();
        identity.field("format", FORMAT).field("krm", version).field("runtime", runtime.as_bytes())
    }

    /// Adds something that the result depends on.
    #[must_use]
    pub fn field(mut self, name: &str, value: &[u8]) -> Self {
        add_field(&mut self.hasher, name, value);
        self
    }

    /// Adds a file whose content is one of the fields.
    #[must_use]
    pub(crate) fn read_from(mut self, file: &Path) -> Self {
        if let Some(files) = &mut self.files {
            files.push(file.to_owned());
        }
        self
    }

    /// Declares that the content of directories is one of the fields.
    #[must_use]
    pub(crate) fn read_from_directories(self) -> Self {
        Self { files: None, ..self }
    }

    /// The files that the fields were read from; none if they cannot be listed.
    pub fn files(&self) -> Option<&[PathBuf]> {
        self.files.as_deref()
    }

    /// The key of the fields so far, for this build of krm on this machine.
    pub fn key(&self) -> CacheKey {
        local_key(&self.hasher)
    }

    /// What the result for an input depends on.
    pub(crate) fn call(&self, limits: &Limits, input: &[u8]) -> CallIdentity {
        let Limits { time, output, stderr, memory, processes, steps } = *limits;
        let numbers = [output as u64, stderr as u64, memory, processes.into(), steps];
        let limits = numbers.iter().flat_map(|it| it.to_le_bytes());
        let limits: Vec<u8> = time.as_nanos().to_le_bytes().into_iter().chain(limits).collect();
        let mut hasher = self.hasher.clone();
        add_field(&mut hasher, "limits", &limits);
        add_field(&mut hasher, "input", input);
        CallIdentity { hasher }
    }
}

/// What the result of one call of a function depends on, apart from the build of krm.
#[derive(Clone, Debug)]
pub(crate) struct CallIdentity {
    hasher: Sha256,
}

impl CallIdentity {
    /// The key in the cache of this machine.
    pub(crate) fn key(&self) -> CacheKey {
        local_key(&self.hasher)
    }

    /// The key in a cache that machines share: the same on all that run the same program, whatever the time of its file.
    pub(crate) fn shared_key(&self, program_digest: &[u8; 32]) -> CacheKey {
        finished(&self.hasher, "program", program_digest)
    }
}

fn add_field(hasher: &mut Sha256, name: &str, value: &[u8]) {
    for bytes in [name.as_bytes(), value] {
        hasher.update((bytes.len() as u64).to_le_bytes());
        hasher.update(bytes);
    }
}

/// The build is the last field, so that both keys of a call share the digest of its input.
fn local_key(hasher: &Sha256) -> CacheKey {
    finished(hasher, "build", build())
}

fn finished(hasher: &Sha256, name: &str, value: &[u8]) -> CacheKey {
    let mut hasher = hasher.clone();
    add_field(&mut hasher, name, value);
    CacheKey(hasher.finalize().into())
}

/// Which build of the program this is: a development version has the same number before and after a change.
///
/// The time and size of its file: a hash of the file would take longer than most functions.
fn build() -> &'static [u8] {
    static BUILD: OnceLock<Vec<u8>> = OnceLock::new();
    BUILD.get_or_init(|| {
        // The link leads to the file that runs, even if another one has its name by now.
        let link = fs::metadata("/proc/self/exe");
        let program = link.or_else(|_| fs::metadata(std::env::current_exe()?));
        let state = program.and_then(|it| Ok((it.len(), it.modified()?)));
        let nanoseconds = |time: SystemTime| match time.duration_since(SystemTime::UNIX_EPOCH) {
            Ok(since) => since.as_nanos(),
            Err(before) => before.duration().as_nanos(),
        };
        let (size, time) = match state {
            Ok((size, modified)) => (size, nanoseconds(modified)),
            // Unknown: nothing that another process stored is found.
            Err(_) => (std::process::id().into(), nanoseconds(SystemTime::now())),
        };
        size.to_le_bytes().into_iter().chain(time.to_le_bytes()).collect()
    })
}

/// The key of a result.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CacheKey([u8; 32]);

impl CacheKey {
    /// Its bytes.
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

/// 64 hexadecimal digits.
impl fmt::Display for CacheKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for CacheKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
