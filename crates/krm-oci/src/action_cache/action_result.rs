//! The message `ActionResult` of the remote execution API, as far as it refers to one file.
//!
//! bazel-remote accepts nothing else below `/ac`, and returns nothing whose files it has lost. Three messages with a handful of fields
//! need no protobuf library. Spec: `build.bazel.remote.execution.v2`, `ActionResult`, `OutputFile` and `Digest`.

use crate::Digest;

/// The path of the file.
const PATH: &[u8] = b"krm-result";

/// Field numbers and wire types as they are written.
mod tag {
    pub(super) const RESULT_FILE: u64 = (2 << 3) | super::BYTES;
    pub(super) const RESULT_EXIT_CODE: u64 = 4 << 3;
    pub(super) const FILE_PATH: u64 = (1 << 3) | super::BYTES;
    pub(super) const FILE_DIGEST: u64 = (2 << 3) | super::BYTES;
    pub(super) const DIGEST_HASH: u64 = (1 << 3) | super::BYTES;
    pub(super) const DIGEST_SIZE: u64 = 2 << 3;
}

/// The wire type of strings, bytes and messages.
const BYTES: u64 = 2;

/// A reference to a blob.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Blob {
    pub(super) digest: Digest,
    pub(super) size: u64,
}

impl Blob {
    pub(super) fn of(content: &[u8]) -> Self {
        Self { digest: Digest::of(content), size: content.len() as u64 }
    }

    /// The result of an action that succeeded and wrote this blob.
    pub(super) fn to_action_result(&self) -> Vec<u8> {
        let mut digest = Vec::new();
        append_bytes(&mut digest, tag::DIGEST_HASH, self.digest.hex().as_bytes());
        append_number(&mut digest, tag::DIGEST_SIZE);
        append_number(&mut digest, self.size);
        let mut file = Vec::new();
        append_bytes(&mut file, tag::FILE_PATH, PATH);
        append_bytes(&mut file, tag::FILE_DIGEST, &digest);
        let mut result = Vec::new();
        append_bytes(&mut result, tag::RESULT_FILE, &file);
        result
    }

    /// The blob of the result of an action; none if it is not of the form that [`Blob::to_action_result`] returns. Servers add fields.
    pub(super) fn from_action_result(message: &[u8]) -> Option<Self> {
        let mut blob = None;
        for field in fields(message)? {
            match field {
                (tag::RESULT_FILE, Value::Bytes(file)) if blob.is_none() => {
                    blob = Some(Self::from_output_file(file)?);
                }
                (tag::RESULT_FILE, _) | (tag::RESULT_EXIT_CODE, Value::Number(1..)) => return None,
                _ => {}
            }
        }
        blob
    }

    fn from_output_file(message: &[u8]) -> Option<Self> {
        let (mut path, mut hash, mut size) = (None, None, 0);
        for field in fields(message)? {
            match field {
                (tag::FILE_PATH, Value::Bytes(bytes)) => path = Some(bytes),
                (tag::FILE_DIGEST, Value::Bytes(digest)) => {
                    for field in fields(digest)? {
                        match field {
                            (tag::DIGEST_HASH, Value::Bytes(bytes)) => hash = Some(bytes),
                            (tag::DIGEST_SIZE, Value::Number(number)) => size = number,
                            _ => {}
                        }
                    }
                }
                _ => {}
            }
        }
        let hash = std::str::from_utf8(hash?).ok()?;
        let digest = Digest::parse(&format!("sha256:{hash}")).ok()?;
        (path? == PATH).then_some(Self { digest, size })
    }
}

fn append_bytes(message: &mut Vec<u8>, tag: u64, bytes: &[u8]) {
    append_number(message, tag);
    append_number(message, bytes.len() as u64);
    message.extend_from_slice(bytes);
}

/// Appends a number in groups of seven bits, the lowest first.
fn append_number(message: &mut Vec<u8>, mut number: u64) {
    while number > 0x7f {
        message.push(number as u8 | 0x80);
        number >>= 7;
    }
    message.push(number as u8);
}

/// The value of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Value<'a> {
    Number(u64),
    Bytes(&'a [u8]),
    /// A number of 32 or 64 bits.
    Fixed,
}

/// The fields of a message with their tags; none if it is not a message.
fn fields(mut message: &[u8]) -> Option<Vec<(u64, Value<'_>)>> {
    let mut fields = Vec::new();
    while !message.is_empty() {
        let tag = number(&mut message)?;
        let value = match tag & 7 {
            0 => Value::Number(number(&mut message)?),
            1 => take(&mut message, 8).map(|_| Value::Fixed)?,
            BYTES => {
                let length = number(&mut message)?;
                Value::Bytes(take(&mut message, length)?)
            }
            5 => take(&mut message, 4).map(|_| Value::Fixed)?,
            _ => return None,
        };
        fields.push((tag, value));
    }
    Some(fields)
}

fn take<'a>(message: &mut &'a [u8], length: u64) -> Option<&'a [u8]> {
    let (head, rest) = message.split_at_checked(usize::try_from(length).ok()?)?;
    *message = rest;
    Some(head)
}

fn number(message: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let byte = take(message, 1)?[0];
        let bits = u64::from(byte & 0x7f);
        // The tenth byte has one bit.
        if shift == 63 && bits > 1 {
            return None;
        }
        number |= bits << shift;
        if byte & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The message for the blob `x`, as protoc encodes it: a file with path and digest, the digest with hash and size.
    #[test]
    fn message_is_that_of_the_specification() {
        let message = Blob::of(b"x").to_action_result();
        let hash = b"2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881";
        let expected =
            [&[0x12, 82, 0x0a, 10][..], b"krm-result", &[0x12, 68, 0x0a, 64], hash, &[0x10, 1]]
                .concat();
        assert_eq!(message, expected);
    }

    #[test]
    fn fields_that_a_server_adds_are_skipped() {
        let blob = Blob::of(b"x");
        let metadata = [&[0x4a, 4, 0x0a, 2][..], b"me"].concat();
        let fixed = [0x79, 0, 0, 0, 0, 0, 0, 0, 0, 0x7d, 0, 0, 0, 0];
        let message = [&blob.to_action_result()[..], &metadata, &fixed, &[0x20, 0]].concat();
        assert_eq!(Blob::from_action_result(&message), Some(blob));
    }

    #[test]
    fn other_results_are_rejected() {
        let result = Blob::of(b"x").to_action_result();
        let renamed: Vec<u8> =
            result.iter().map(|it| if *it == b'k' { b'K' } else { *it }).collect();
        let upper = result.to_ascii_uppercase();
        let failed = [&result[..], &[0x20, 1]].concat();
        let negative = [&result[..], &[0x20], &[0xff; 9], &[1]].concat();
        let two_files = result.repeat(2);
        let overlong = [&result[..], &[0x20], &[0x80; 10], &[0]].concat();
        let group = [&result[..], &[0x0b, 0x0c]].concat();
        for message in [renamed, upper, failed, negative, two_files, overlong, group, Vec::new()] {
            assert_eq!(Blob::from_action_result(&message), None, "{message:02x?}");
        }
        for end in 0..result.len() {
            assert_eq!(Blob::from_action_result(&result[..end]), None, "{end}");
        }
    }

    proptest! {
        #[test]
        fn blob_is_read_as_it_was_written(content: Vec<u8>, size: u64) {
            let blob = Blob { size, ..Blob::of(&content) };
            prop_assert_eq!(Blob::from_action_result(&blob.to_action_result()), Some(blob));
        }

        #[test]
        fn any_bytes_are_a_result_or_not(bytes: Vec<u8>) {
            let _ = Blob::from_action_result(&bytes);
        }

        #[test]
        fn changed_byte_never_refers_to_a_blob_of_another_form(at: usize, byte: u8) {
            let mut message = Blob::of(b"x").to_action_result();
            let at = at % message.len();
            message[at] = byte;
            if let Some(blob) = Blob::from_action_result(&message) {
                prop_assert_eq!(blob.digest.hex().len(), 64);
            }
        }
    }
}
