//! Image names: repository, tag and digest of a container image.

use krm_yaml::diagnostic_kinds;

/// A parsed image name.
///
/// ```
/// use krm_core::model::ImageName;
///
/// let image = ImageName::parse("ghcr.io/kptdev/krm-functions-catalog/set-labels:v0.2.0")?;
/// assert_eq!((image.name(), image.tag), ("set-labels", Some("v0.2.0")));
/// assert!(ImageName::parse("Set Labels").is_err());
/// # Ok::<(), krm_core::model::ImageNameError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ImageName<'a> {
    /// Registry and path, without tag and digest.
    pub repository: &'a str,
    /// The tag.
    pub tag: Option<&'a str>,
    /// The digest, with its algorithm.
    pub digest: Option<&'a str>,
}

diagnostic_kinds! {
    /// Why a text is not an image name.
    pub enum ImageNameError {
        /// A part of the text does not follow the grammar.
        Invalid { part: &'static str, text: String } = "invalid-image-name": "invalid image name: invalid {part} `{text}`",
            hint "use a name such as `ghcr.io/kptdev/krm-functions-catalog/set-labels:v0.2.0`";
    }
}

impl<'a> ImageName<'a> {
    /// Parses an image name. Spec: the reference grammar of the CNCF distribution project.
    pub fn parse(text: &'a str) -> Result<Self, ImageNameError> {
        let (rest, digest) = match text.split_once('@') {
            Some((rest, digest)) => (rest, Some(digest)),
            None => (text, None),
        };
        let last = rest.rfind('/').map_or(0, |slash| slash + 1);
        let (repository, tag) = match rest[last..].split_once(':') {
            Some((name, tag)) => (&rest[..last + name.len()], Some(tag)),
            None => (rest, None),
        };
        let invalid =
            |part, text: &str| Err(ImageNameError::Invalid { part, text: text.to_owned() });
        if let Some(part) = invalid_segment(repository) {
            return invalid("name segment", part);
        }
        match (tag, digest) {
            (Some(tag), _) if !is_tag(tag) => invalid("tag", tag),
            (_, Some(digest)) if !is_digest(digest) => invalid("digest", digest),
            _ => Ok(Self { repository, tag, digest }),
        }
    }

    /// The last segment of the repository: the name of a function.
    pub fn name(&self) -> &'a str {
        self.repository.rsplit('/').next().unwrap_or_default()
    }

    /// Whether the name has no registry and path, so that the default prefix applies.
    pub fn is_short(&self) -> bool {
        !self.repository.contains('/')
    }
}

/// The first invalid segment of a repository. The registry may have a port and upper-case letters.
fn invalid_segment(repository: &str) -> Option<&str> {
    let has_host = repository.split_once('/').is_some_and(|(first, _)| {
        first.contains(['.', ':']) || first == "localhost" || first.contains(char::is_uppercase)
    });
    repository.split('/').enumerate().find_map(|(at, part)| {
        let is_valid = if at == 0 && has_host { is_host(part) } else { is_path(part) };
        (!is_valid).then_some(part)
    })
}

fn is_host(text: &str) -> bool {
    let (name, port) = text.split_once(':').unwrap_or((text, "0"));
    let is_label = |label: &str| {
        !label.is_empty()
            && !label.starts_with('-')
            && !label.ends_with('-')
            && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
    };
    name.split('.').all(is_label) && !port.is_empty() && port.bytes().all(|it| it.is_ascii_digit())
}

/// Lower-case letters and digits, separated by one dot, one or two underscores, or any number of dashes.
fn is_path(text: &str) -> bool {
    let is_letter = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let bytes = text.as_bytes();
    let ends = [bytes.first(), bytes.last()];
    let runs = text.split(|c: char| c.is_ascii_lowercase() || c.is_ascii_digit());
    let is_separator =
        |run: &str| matches!(run, "" | "." | "_" | "__") || run.bytes().all(|byte| byte == b'-');
    ends.into_iter().all(|end| end.is_some_and(|byte| is_letter(*byte)))
        && runs.into_iter().all(is_separator)
}

fn is_tag(text: &str) -> bool {
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    text.len() <= 128
        && text.bytes().next().is_some_and(is_word)
        && text.bytes().all(|byte| is_word(byte) || b".-".contains(&byte))
}

fn is_digest(text: &str) -> bool {
    text.split_once(':').is_some_and(|(algorithm, hex)| {
        !algorithm.is_empty()
            && algorithm.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+._-".contains(&byte))
            && hex.len() >= 32
            && hex.bytes().all(|byte| byte.is_ascii_hexdigit())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn image_name_is_split_into_its_parts() {
        let digest = format!("sha256:{}", "a0".repeat(32));
        let whole = format!("localhost:5000/a/b_c:v1.2-rc.1@{digest}");
        let image = ImageName::parse(&whole).unwrap();
        assert_eq!(image.repository, "localhost:5000/a/b_c");
        assert_eq!((image.name(), image.tag), ("b_c", Some("v1.2-rc.1")));
        assert_eq!(image.digest, Some(&*digest));
        assert!(ImageName::parse("set-labels").unwrap().is_short());
        assert_eq!(ImageName::parse("gcr.io/kpt-fn/x:unstable").unwrap().tag, Some("unstable"));
    }

    #[test]
    fn invalid_names_are_errors() {
        for text in [
            "",
            "A",
            "a b",
            "a:",
            "a:b c",
            "a/",
            "/a",
            "a//b",
            "a@sha256:xyz",
            "-a",
            "a..b",
            "a:-b",
        ] {
            assert!(ImageName::parse(text).is_err(), "{text:?}");
        }
    }
}
