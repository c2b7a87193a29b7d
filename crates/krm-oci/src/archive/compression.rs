//! Compressed layers: gzip, zstd or none. How far they expand is limited where the archive is read.

use std::io::{self, Read};

use crate::OciKind;
use crate::digest::shown;

/// How a layer is compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Compression {
    None,
    Gzip,
    Zstd,
}

impl Compression {
    /// The compression of a layer of an image with this media type.
    pub(crate) fn of(media_type: &str) -> Result<Self, OciKind> {
        // Compat: docker calls its gzip layers `….tar.gzip`, and foreign layers have further words before that.
        let found = match media_type.rsplit_once("tar") {
            Some((_, "")) => Some(Self::None),
            Some((_, "+gzip" | ".gzip")) => Some(Self::Gzip),
            Some((_, "+zstd" | ".zstd")) => Some(Self::Zstd),
            _ => None,
        };
        found.ok_or_else(|| OciKind::WrongMediaType {
            expected: "a layer of an image",
            found: shown(media_type),
        })
    }
}

/// The archive within compressed bytes.
pub(crate) fn decompress<'a>(
    compression: Compression,
    source: impl Read + Send + 'a,
) -> Box<dyn Read + Send + 'a> {
    match compression {
        Compression::None => Box::new(source),
        // Several streams one after the other are one archive, as in images that load lazily.
        Compression::Gzip => {
            let source = io::BufReader::with_capacity(64 << 10, source);
            Box::new(flate2::bufread::MultiGzDecoder::new(source))
        }
        Compression::Zstd => {
            let source = io::BufReader::with_capacity(64 << 10, source);
            Box::new(ZstdFrames { state: State::Between(Some(source)) })
        }
    }
}

/// The frames of a zstd stream: there may be several, and skippable ones between them.
struct ZstdFrames<R: io::BufRead> {
    state: State<R>,
}

enum State<R: io::BufRead> {
    Between(Option<R>),
    Inside(Box<ruzstd::decoding::StreamingDecoder<R, ruzstd::decoding::FrameDecoder>>),
}

/// The largest window that is allocated; that of `zstd --ultra -22`.
const MAX_WINDOW: u64 = 128 << 20;

impl<R: io::BufRead> Read for ZstdFrames<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        loop {
            match &mut self.state {
                State::Between(source) => {
                    let Some(mut inner) = source.take() else { return Ok(0) };
                    if inner.fill_buf()?.is_empty() {
                        return Ok(0);
                    }
                    if skip_frame(&mut inner)? {
                        self.state = State::Between(Some(inner));
                        continue;
                    }
                    let decoder = ruzstd::decoding::StreamingDecoder::new_with_max_window_size(
                        inner, MAX_WINDOW,
                    );
                    self.state = State::Inside(Box::new(decoder.map_err(io::Error::other)?));
                }
                State::Inside(decoder) => {
                    let count = decoder.read(buffer)?;
                    if count > 0 {
                        return Ok(count);
                    }
                    let ended = std::mem::replace(&mut self.state, State::Between(None));
                    if let State::Inside(decoder) = ended {
                        self.state = State::Between(Some(decoder.into_inner()));
                    }
                }
            }
        }
    }
}

/// Skips a skippable frame: its magic number is `184D2A5?`, followed by its length.
fn skip_frame(source: &mut impl io::BufRead) -> io::Result<bool> {
    let start = source.fill_buf()?;
    // A buffer that ends within the magic number is left to the decoder, which reports what is wrong.
    if start.len() < 8 || start[0] & 0xf0 != 0x50 || start[1..4] != [0x2a, 0x4d, 0x18] {
        return Ok(false);
    }
    let length = u64::from(u32::from_le_bytes([start[4], start[5], start[6], start[7]]));
    source.consume(8);
    let skipped = io::copy(&mut source.take(length), &mut io::sink())?;
    if skipped < length {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn media_types_name_their_compression() {
        for (media_type, compression) in [
            ("application/vnd.oci.image.layer.v1.tar", Compression::None),
            ("application/vnd.oci.image.layer.v1.tar+gzip", Compression::Gzip),
            ("application/vnd.oci.image.layer.v1.tar+zstd", Compression::Zstd),
            ("application/vnd.docker.image.rootfs.diff.tar.gzip", Compression::Gzip),
            ("application/vnd.docker.image.rootfs.diff.tar", Compression::None),
            ("application/vnd.cncf.flux.content.v1.tar+gzip", Compression::Gzip),
        ] {
            assert_eq!(Compression::of(media_type), Ok(compression), "{media_type}");
        }
        for media_type in ["", "application/json", "application/tar+brotli", "tar+gzip+x"] {
            assert!(Compression::of(media_type).is_err(), "{media_type}");
        }
    }

    #[test]
    fn several_frames_are_one_stream() {
        let frame = |text: &[u8]| {
            ruzstd::encoding::compress_to_vec(text, ruzstd::encoding::CompressionLevel::Fastest)
        };
        let skippable = [&[0x53, 0x2a, 0x4d, 0x18, 3, 0, 0, 0][..], b"abc"].concat();
        let bytes = [frame(b"one "), skippable, frame(b"two")].concat();
        let mut text = String::new();
        decompress(Compression::Zstd, &bytes[..]).read_to_string(&mut text).unwrap();
        assert_eq!(text, "one two");
        for cut in 1..bytes.len() {
            // Frame boundaries are valid ends; everything else is an error and never a panic.
            let _ = decompress(Compression::Zstd, &bytes[..cut]).read_to_end(&mut Vec::new());
        }
    }
}
