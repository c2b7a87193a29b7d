//! Digests of content: SHA-256, the only algorithm that registries have to support.

use std::fmt;
#[cfg(all(unix, feature = "client"))]
use std::io::{self, Read};

use sha2::{Digest as _, Sha256};

use crate::OciKind;

/// The SHA-256 digest of some content, written `sha256:HEX`.
///
/// ```
/// use krm_oci::Digest;
///
/// let digest = Digest::of(b"{}");
/// assert_eq!(digest, Digest::parse(&digest.to_string())?);
/// assert!(Digest::parse("sha256:../../etc/passwd").is_err());
/// # Ok::<(), krm_oci::OciKind>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest {
    hex: Box<str>,
}

impl Digest {
    /// Parses `sha256:HEX`.
    ///
    /// # Errors
    /// If the text is not a digest, or the algorithm is another one.
    pub fn parse(text: &str) -> Result<Self, OciKind> {
        // A digest is part of file names and addresses, so the form is exact.
        let is_hex = |hex: &&str| {
            hex.len() == 64 && hex.bytes().all(|it| matches!(it, b'0'..=b'9' | b'a'..=b'f'))
        };
        match text.strip_prefix("sha256:").filter(is_hex) {
            Some(hex) => Ok(Self { hex: hex.into() }),
            None => Err(OciKind::InvalidManifest {
                reason: format!("expected a digest `sha256:…`, found `{}`", shown(text)),
            }),
        }
    }

    /// The digest of some bytes.
    pub fn of(bytes: &[u8]) -> Self {
        let mut hasher = Hasher::default();
        hasher.update(bytes);
        hasher.finish()
    }

    /// The 64 hexadecimal digits.
    pub fn hex(&self) -> &str {
        &self.hex
    }

    /// Checks that content has this digest.
    ///
    /// # Errors
    /// If it has another one.
    pub fn check(&self, found: &Self) -> Result<(), OciKind> {
        match self == found {
            true => Ok(()),
            false => Err(OciKind::DigestMismatch {
                expected: self.to_string(),
                found: found.to_string(),
            }),
        }
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "sha256:{}", self.hex)
    }
}

/// The beginning of a text from a registry, without control characters, for messages.
pub(crate) fn shown(text: &str) -> String {
    let is_long = text.chars().nth(200).is_some();
    let start = text.chars().take(200).map(|c| if c.is_control() { ' ' } else { c });
    start.chain(is_long.then_some('…')).collect()
}

/// Computes a digest piece by piece.
#[derive(Clone, Default)]
pub(crate) struct Hasher(Sha256);

impl Hasher {
    pub(crate) fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    pub(crate) fn finish(self) -> Digest {
        let hex = data_encoding::HEXLOWER.encode(&self.0.finalize());
        Digest { hex: hex.into() }
    }
}

/// Computes the digest of what is read through it.
#[cfg(all(unix, feature = "client"))]
pub(crate) struct HashingReader<R> {
    inner: R,
    hasher: Hasher,
}

#[cfg(all(unix, feature = "client"))]
impl<R: Read> HashingReader<R> {
    pub(crate) fn new(inner: R) -> Self {
        Self { inner, hasher: Hasher::default() }
    }

    pub(crate) fn finish(self) -> Digest {
        self.hasher.finish()
    }
}

#[cfg(all(unix, feature = "client"))]
impl<R: Read> Read for HashingReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(buffer)?;
        self.hasher.update(&buffer[..count]);
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digest_is_that_of_the_content() {
        let empty = "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        assert_eq!(Digest::of(b"").to_string(), empty);
    }

    #[cfg(all(unix, feature = "client"))]
    #[test]
    fn reader_computes_the_digest_of_what_is_read() {
        let mut reader = HashingReader::new(&b"abc"[..]);
        io::copy(&mut reader, &mut io::sink()).unwrap();
        assert_eq!(reader.finish(), Digest::of(b"abc"));
    }

    #[test]
    fn other_forms_are_errors() {
        let upper = format!("sha256:{}", "A".repeat(64));
        let other = format!("sha512:{}", "a".repeat(128));
        for text in ["", "sha256:", "sha256:ab", &upper, &other] {
            assert!(Digest::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn quoted_texts_are_short_and_on_one_line() {
        assert_eq!(shown("a\nb\u{1b}[31m"), "a b [31m");
        assert_eq!(shown(&"x".repeat(300)).chars().count(), 201);
    }
}
