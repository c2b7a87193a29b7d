//! References to images: registry, repository, tag and digest.

use std::fmt;

use krm_core::model::ImageName;

use crate::{Digest, OciKind};

/// The registry of names without one. Compat: docker.
const DEFAULT_REGISTRY: &str = "docker.io";

/// A complete reference to an image or artifact.
///
/// ```
/// use krm_oci::Reference;
///
/// let reference = Reference::parse("alpine")?;
/// assert_eq!(reference.to_string(), "docker.io/library/alpine:latest");
/// let reference = Reference::parse("localhost:5000/shop:v1")?;
/// assert_eq!((reference.registry(), reference.repository()), ("localhost:5000", "shop"));
/// # Ok::<(), krm_oci::OciKind>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reference {
    registry: String,
    repository: String,
    tag: Option<String>,
    digest: Option<Digest>,
}

impl Reference {
    /// Parses a reference. A name without a registry is one of Docker Hub, and without tag and digest the tag is `latest`.
    ///
    /// # Errors
    /// If the text is not a reference.
    pub fn parse(text: &str) -> Result<Self, OciKind> {
        let invalid = |reason: String| OciKind::InvalidReference {
            reference: crate::digest::shown(text),
            reason,
        };
        let name = ImageName::parse(text).map_err(|error| invalid(error.to_string()))?;
        let digest = name.digest.map(Digest::parse).transpose();
        let digest = digest.map_err(|error| invalid(error.to_string()))?;
        let is_registry = |first: &str| first.contains(['.', ':']) || first == "localhost";
        let (registry, path) = match name.repository.split_once('/') {
            Some((first, path)) if is_registry(first) => (first, path),
            _ => (DEFAULT_REGISTRY, name.repository),
        };
        let registry = match registry {
            "index.docker.io" | "registry-1.docker.io" => DEFAULT_REGISTRY,
            registry => registry,
        };
        // Without a path the first segment is the image, whatever it looks like.
        if path.contains(':') {
            return Err(invalid("expected a repository after the registry".to_owned()));
        }
        let repository = match registry == DEFAULT_REGISTRY && !path.contains('/') {
            true => format!("library/{path}"),
            false => path.to_owned(),
        };
        let tag = match (name.tag, &digest) {
            (None, None) => Some("latest".to_owned()),
            (tag, _) => tag.map(str::to_owned),
        };
        Ok(Self { registry: registry.to_ascii_lowercase(), repository, tag, digest })
    }

    /// The host of the registry, with its port if there is one.
    pub fn registry(&self) -> &str {
        &self.registry
    }

    /// The name of the image within the registry.
    pub fn repository(&self) -> &str {
        &self.repository
    }

    /// The tag.
    pub fn tag(&self) -> Option<&str> {
        self.tag.as_deref()
    }

    /// The digest of the manifest or index.
    pub fn digest(&self) -> Option<&Digest> {
        self.digest.as_ref()
    }

    /// The same image by digest; the tag is kept for readers.
    #[must_use]
    pub fn with_digest(&self, digest: &Digest) -> Self {
        Self { digest: Some(digest.clone()), ..self.clone() }
    }

    /// The same repository with another tag and without a digest.
    ///
    /// # Errors
    /// If the tag is invalid.
    pub fn with_tag(&self, tag: &str) -> Result<Self, OciKind> {
        Self::parse(&format!("{}/{}:{tag}", self.registry, self.repository))
    }

    /// The last part of an address of the registry's API: digests are preferred, because they cannot move.
    #[cfg(feature = "client")]
    pub(crate) fn version(&self) -> String {
        match (&self.digest, &self.tag) {
            (Some(digest), _) => digest.to_string(),
            (None, tag) => tag.clone().unwrap_or_default(),
        }
    }
}

impl fmt::Display for Reference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.registry, self.repository)?;
        if let Some(tag) = &self.tag {
            write!(f, ":{tag}")?;
        }
        self.digest.iter().try_for_each(|digest| write!(f, "@{digest}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_without_a_registry_are_those_of_docker_hub() {
        for (text, whole) in [
            ("alpine", "docker.io/library/alpine:latest"),
            ("index.docker.io/alpine:3", "docker.io/library/alpine:3"),
            ("org/name", "docker.io/org/name:latest"),
            ("localhost/name", "localhost/name:latest"),
            ("GHCR.io/a/b:v1", "ghcr.io/a/b:v1"),
        ] {
            assert_eq!(Reference::parse(text).unwrap().to_string(), whole);
        }
    }

    #[test]
    fn digest_is_kept_and_preferred() {
        let digest = Digest::of(b"x");
        let reference = Reference::parse(&format!("a.io/b:v1@{digest}")).unwrap();
        assert_eq!(reference.digest(), Some(&digest));
        assert_eq!(reference.tag(), Some("v1"));
        assert_eq!(Reference::parse(&format!("a.io/b@{digest}")).unwrap().tag(), None);
        assert_eq!(reference.with_tag("v2").unwrap().to_string(), "a.io/b:v2");
    }

    #[test]
    fn invalid_references_are_errors() {
        for text in ["", "A B", "a.io/", "a.io/b@sha256:00", "a.io/b:", "https://a.io/b", "-x"] {
            assert!(Reference::parse(text).is_err(), "{text}");
        }
    }
}
