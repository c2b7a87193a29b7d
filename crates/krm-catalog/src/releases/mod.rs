//! The releases of the images that built-in functions replace, and what changed between them.

mod table;

pub(crate) use table::*;

use std::fmt;

/// The version of an image: `v0.4.1`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version {
    major: u16,
    minor: u16,
    patch: u16,
}

/// A release of the image that a built-in function replaces.
#[derive(Clone, Copy, Debug)]
pub struct Release {
    /// The version, which is the tag of the image.
    pub version: Version,
    /// What changed since the release before it, as far as resources, results or accepted functionConfigs differ.
    pub changes: &'static [Change],
    /// Where the release and its changes are known from: a tag of kpt's function catalog, or another source.
    pub source: &'static str,
}

/// A difference between a release and the one before it.
#[derive(Clone, Copy, Debug)]
pub struct Change {
    /// What is different since this release.
    pub text: &'static str,
    /// Whether the built-in function differs in the same way.
    pub handling: Handling,
}

/// What a built-in function does about a change between releases.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Handling {
    /// It behaves as the release that the tag names.
    Followed,
    /// It accepts on every tag what only newer releases accept.
    Accepted,
    /// It behaves as the newer release on every tag, because the older one loses data, writes invalid resources or fails at random.
    Corrected,
    /// It reports the results of the newest release on every tag; resources do not differ.
    Unified,
}

impl Handling {
    /// The word for it in lists.
    pub fn name(self) -> &'static str {
        match self {
            Self::Followed => "followed",
            Self::Accepted => "accepted",
            Self::Corrected => "corrected",
            Self::Unified => "unified",
        }
    }
}

impl Version {
    /// The newest behaviour, which the tags `latest` and `unstable` name.
    pub const NEWEST: Self = Self::new(u16::MAX, u16::MAX, u16::MAX);

    /// The version with these numbers.
    pub const fn new(major: u16, minor: u16, patch: u16) -> Self {
        Self { major, minor, patch }
    }

    /// The tag that always names the newest patch: `v0.4`.
    pub fn minor_tag(self) -> String {
        format!("v{}.{}", self.major, self.minor)
    }

    /// Parses a tag with two or three numbers. Without a patch, it is the newest one.
    pub fn parse(tag: &str) -> Option<Self> {
        let number = |text: &str| match text {
            "" => None,
            text if text.len() > 1 && text.starts_with('0') => None,
            text if !text.bytes().all(|it| it.is_ascii_digit()) => None,
            text => text.parse().ok(),
        };
        let numbers: Option<Vec<u16>> = tag.strip_prefix('v')?.split('.').map(number).collect();
        match numbers?[..] {
            [major, minor] => Some(Self::new(major, minor, u16::MAX)),
            [major, minor, patch] => Some(Self::new(major, minor, patch)),
            _ => None,
        }
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self == Self::NEWEST {
            return f.write_str("latest");
        }
        write!(f, "v{}.{}.{}", self.major, self.minor, self.patch)
    }
}

impl Release {
    /// A release that behaves as the one before it.
    pub const fn new(major: u16, minor: u16, patch: u16, source: &'static str) -> Self {
        Self { version: Version::new(major, minor, patch), changes: &[], source }
    }

    /// What is newer than all releases, and only the tags `latest` and `unstable` have.
    const fn unreleased(source: &'static str) -> Self {
        Self { version: Version::NEWEST, changes: &[], source }
    }

    /// Whether a version names the release.
    pub fn has_version(&self) -> bool {
        self.version != Version::NEWEST
    }

    /// The release with its differences from the one before it.
    pub const fn changing(self, changes: &'static [Change]) -> Self {
        Self { changes, ..self }
    }
}

impl Change {
    const fn followed(text: &'static str) -> Self {
        Self { text, handling: Handling::Followed }
    }

    const fn accepted(text: &'static str) -> Self {
        Self { text, handling: Handling::Accepted }
    }

    const fn corrected(text: &'static str) -> Self {
        Self { text, handling: Handling::Corrected }
    }

    const fn unified(text: &'static str) -> Self {
        Self { text, handling: Handling::Unified }
    }
}

/// Which release of a function a tag names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TagMatch {
    /// This one.
    Known(Version),
    /// None that is known; this is the newest known one before it.
    Newer(Version),
}

/// The release that a tag names: itself, or the newest patch of `v0.4`. None if the tag is not a version, or older than
/// all releases.
pub(crate) fn find(releases: &[Release], tag: &str) -> Option<TagMatch> {
    let requested = Version::parse(tag)?;
    let mut versions = releases.iter().filter(|it| it.has_version()).map(|it| it.version);
    let nearest = versions.rfind(|it| *it <= requested)?;
    let is_named = nearest == requested
        || (requested.patch == u16::MAX && nearest.minor_tag() == requested.minor_tag());
    Some(if is_named { TagMatch::Known(nearest) } else { TagMatch::Newer(nearest) })
}

#[cfg(test)]
mod tests {
    use super::*;

    const RELEASES: &[Release] =
        &[Release::new(0, 1, 0, ""), Release::new(0, 1, 4, ""), Release::new(0, 3, 0, "")];

    #[test]
    fn tag_names_itself_or_the_newest_patch() {
        let found = |tag: &str| find(RELEASES, tag);
        assert_eq!(found("v0.1.0"), Some(TagMatch::Known(Version::new(0, 1, 0))));
        assert_eq!(found("v0.1"), Some(TagMatch::Known(Version::new(0, 1, 4))));
        assert_eq!(found("v0.3"), Some(TagMatch::Known(Version::new(0, 3, 0))));
    }

    #[test]
    fn unknown_tag_matches_the_release_before_it() {
        let found = |tag: &str| find(RELEASES, tag);
        assert_eq!(found("v0.1.2"), Some(TagMatch::Newer(Version::new(0, 1, 0))));
        assert_eq!(found("v0.2"), Some(TagMatch::Newer(Version::new(0, 1, 4))));
        assert_eq!(found("v9.0.0"), Some(TagMatch::Newer(Version::new(0, 3, 0))));
    }

    #[test]
    fn no_version_names_what_is_not_released() {
        let releases = [Release::new(0, 1, 0, ""), Release::unreleased("")];
        let found = |tag: &str| find(&releases, tag);
        assert_eq!(found("v0.1"), Some(TagMatch::Known(Version::new(0, 1, 0))));
        for newer in ["v0.2", "v65535.65535", "v65535.65535.65535"] {
            assert_eq!(found(newer), Some(TagMatch::Newer(Version::new(0, 1, 0))), "{newer}");
        }
    }

    #[test]
    fn other_tags_and_older_ones_match_nothing() {
        for tag in ["v0.0.9", "v0.0", "0.1.0", "v0.1.0-rc1", "v0", "v0.1.0.1", "v0.01", "main", ""]
        {
            assert_eq!(find(RELEASES, tag), None, "{tag}");
        }
    }
}
