//! The digests of images, which `--locked` takes from `krm.lock`.

use std::collections::BTreeMap;

use krm_core::model::ImageName;

use super::signature::{SignaturePolicy, Signatures};
use crate::{Environment, RunKind};

/// The digest of each image, by its name with registry and tag.
///
/// ```
/// use krm_run::ImageLock;
///
/// let digest = format!("sha256:{}", "0".repeat(64));
/// let lock: ImageLock = [("example.com/fn:v1".to_owned(), digest.clone())].into_iter().collect();
/// assert_eq!(lock.pinned("example.com/fn:v1"), Some(format!("example.com/fn@{digest}")));
/// assert_eq!(lock.pinned("example.com/fn:v2"), None);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ImageLock {
    images: BTreeMap<String, String>,
    signatures: Signatures,
}

impl FromIterator<(String, String)> for ImageLock {
    fn from_iter<I: IntoIterator<Item = (String, String)>>(images: I) -> Self {
        Self { images: images.into_iter().collect(), signatures: Signatures::default() }
    }
}

impl ImageLock {
    /// The same lock with policies for signatures.
    #[must_use]
    pub fn with_signatures(self, policies: Vec<SignaturePolicy>) -> Self {
        Self { signatures: Signatures::new(policies), ..self }
    }

    /// Verifies the signature of an image, if a policy asks for that.
    pub(crate) fn verify(&self, image: &str, environment: &Environment) -> Result<(), RunKind> {
        self.signatures.verify(image, environment)
    }

    /// The image by its digest; none if the lock does not have it. An image with a digest is pinned already.
    pub fn pinned(&self, image: &str) -> Option<String> {
        let name = ImageName::parse(image).ok()?;
        if name.digest.is_some() {
            return Some(image.to_owned());
        }
        // Without the tag: not every engine takes both. A digest that is none would be a tag for some of them.
        let pinned = format!("{}@{}", name.repository, self.images.get(image)?);
        ImageName::parse(&pinned).is_ok().then_some(pinned)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn images_are_pinned_to_their_digests() {
        let digest = format!("sha256:{}", "a".repeat(64));
        let images = [("localhost:5000/fn:v1", &*digest), ("a.io/b:v1", "v2")];
        let lock: ImageLock =
            images.into_iter().map(|(name, it)| (name.to_owned(), it.to_owned())).collect();
        let pinned = lock.pinned("localhost:5000/fn:v1");
        assert_eq!(pinned, Some(format!("localhost:5000/fn@{digest}")));
        let by_digest = format!("a.io/b@{digest}");
        assert_eq!(lock.pinned(&by_digest), Some(by_digest.clone()));
        assert_eq!(lock.pinned("a.io/b:v1"), None, "the entry is not a digest");
        assert_eq!(lock.pinned("a.io/c:v1"), None);
    }
}
