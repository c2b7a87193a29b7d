//! An entry of the cache: the result of a function as bytes that are checked when they are read.

use std::time::Duration;

use sha2::{Digest, Sha256};

use super::CacheKey;
use crate::{Execution, ExecutionEnd, Image, Invocation, Tail};

/// The beginning of every entry.
const MAGIC: &[u8; 8] = b"krmres\0\x01";
const DIGEST: usize = 32;
const HEAD: usize = MAGIC.len() + DIGEST;

/// What a function that succeeded returned.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct CachedResult {
    /// The output; none if it is the input. That of a validator is, and the input is part of the key.
    pub(super) stdout: Option<Vec<u8>>,
    /// The end of standard error, and how long it was.
    stderr: Vec<u8>,
    stderr_total: u64,
    exit_code: i32,
    image_id: Option<Vec<u8>>,
    image_digest: Option<Vec<u8>>,
}

/// Whether bytes are a complete entry of this key. A store that fetches entries from elsewhere checks them before it keeps them.
pub fn is_entry_of(key: &CacheKey, bytes: &[u8]) -> bool {
    CachedResult::decode(key, bytes).is_some()
}

impl CachedResult {
    /// The result of a run with this input; none if it failed.
    pub(super) fn of(execution: &Execution, input: &[u8]) -> Option<Self> {
        execution.output().ok()?;
        let bytes = |text: &str| text.as_bytes().to_vec();
        Some(Self {
            stdout: (execution.stdout != input).then(|| execution.stdout.clone()),
            stderr: execution.stderr.bytes(),
            stderr_total: execution.stderr.total(),
            exit_code: execution.exit_code()?,
            image_id: execution.image.as_ref().map(|it| bytes(&it.id)),
            image_digest: execution.image.as_ref().and_then(|it| it.digest.as_deref()).map(bytes),
        })
    }

    /// A result with this output and nothing else.
    pub(super) fn with_output(stdout: Vec<u8>) -> Self {
        Self { stdout: Some(stdout), ..Self::default() }
    }

    /// The run as it would have been. Output that is the input is only copied if the caller does not distinguish it
    /// ([`Invocation::is_echo`]).
    pub(super) fn into_execution(
        self,
        invocation: &Invocation<'_>,
        is_echo: Option<&mut bool>,
        duration: Duration,
    ) -> Execution {
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned().into_boxed_str();
        let stdout = match (self.stdout, is_echo) {
            (Some(stdout), _) => stdout,
            (None, None) => invocation.input.to_vec(),
            (None, Some(is_echo)) => {
                *is_echo = true;
                Vec::new()
            }
        };
        Execution {
            stdout,
            stderr: Tail::restore(&self.stderr, invocation.limits.stderr, self.stderr_total),
            image: self
                .image_id
                .map(|id| Image { id: text(id), digest: self.image_digest.map(text) }),
            duration,
            end: ExecutionEnd::Exited(self.exit_code),
        }
    }

    pub(super) fn encode(&self, key: &CacheKey) -> Vec<u8> {
        let stdout = self.stdout.as_ref();
        let length = stdout.map_or(0, Vec::len) + self.stderr.len();
        let mut bytes = Vec::with_capacity(length + 512);
        bytes.extend_from_slice(MAGIC);
        bytes.extend_from_slice(key.as_bytes());
        bytes.extend_from_slice(&self.exit_code.to_le_bytes());
        bytes.extend_from_slice(&self.stderr_total.to_le_bytes());
        let image = [&self.image_id, &self.image_digest].map(Option::as_ref);
        for part in [stdout, Some(&self.stderr)].into_iter().chain(image) {
            append(&mut bytes, part);
        }
        let digest = Sha256::digest(&bytes);
        bytes.extend_from_slice(&digest);
        bytes
    }

    /// Reads an entry. One that is incomplete, damaged, of another key or from another version of krm is none.
    pub(super) fn decode(key: &CacheKey, bytes: &[u8]) -> Option<Self> {
        let (content, digest) = bytes.split_at_checked(bytes.len().checked_sub(DIGEST)?)?;
        let (head, body) = content.split_at_checked(HEAD)?;
        let is_own = head.starts_with(MAGIC) && head[MAGIC.len()..] == key.as_bytes()[..];
        if !is_own || *Sha256::digest(content) != *digest {
            return None;
        }
        let mut reader = Reader(body);
        let result = Self {
            exit_code: i32::from_le_bytes(reader.array()?),
            stderr_total: u64::from_le_bytes(reader.array()?),
            stdout: reader.part()?,
            stderr: reader.part()??,
            image_id: reader.part()?,
            image_digest: reader.part()?,
        };
        (reader.0.is_empty() && result.exit_code == 0).then_some(result)
    }
}

/// Appends the length of a part plus one, or zero for none, and the part.
fn append(bytes: &mut Vec<u8>, part: Option<&Vec<u8>>) {
    let length = part.map_or(0, |part| part.len() as u64 + 1);
    bytes.extend_from_slice(&length.to_le_bytes());
    bytes.extend_from_slice(part.map_or(&[], |part| part));
}

struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (head, rest) = self.0.split_first_chunk::<N>()?;
        self.0 = rest;
        Some(*head)
    }

    fn part(&mut self) -> Option<Option<Vec<u8>>> {
        let Some(length) = u64::from_le_bytes(self.array()?).checked_sub(1) else {
            return Some(None);
        };
        let (part, rest) = self.0.split_at_checked(usize::try_from(length).ok()?)?;
        self.0 = rest;
        Some(Some(part.to_vec()))
    }
}
