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
        identity
            .field("format", FORMAT)
            .field("krm", version)
            .field("build", build())
            .field("runtime", runtime.as_bytes())
    }

    /// Adds something that the result depends on.
    #[must_use]
    pub fn field(mut self, name: &str, value: &[u8]) -> Self {
        for bytes in [name.as_bytes(), value] {
            self.hasher.update((bytes.len() as u64).to_le_bytes());
            self.hasher.update(bytes);
        }
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

    /// The key of the fields so far.
    pub fn key(&self) -> CacheKey {
        CacheKey(self.hasher.clone().finalize().into())
    }

    /// The key of the result for an input.
    pub(crate) fn key_of(&self, limits: &Limits, input: &[u8]) -> CacheKey {
        let Limits { time, output, stderr, memory, processes, steps } = *limits;
        let numbers = [output as u64, stderr as u64, memory, processes.into(), steps];
        let limits = numbers.iter().flat_map(|it| it.to_le_bytes());
        let limits: Vec<u8> = time.as_nanos().to_le_bytes().into_iter().chain(limits).collect();
        self.clone().field("limits", &limits).field("input", input).key()
    }
}

/// Which build of the program this is: a development version has the same number before and after a change.
///
/// The time and size of its file, which packages of releases keep, so that machines with the same release can share results. A hash of the
/// file would take longer than most functions.
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
