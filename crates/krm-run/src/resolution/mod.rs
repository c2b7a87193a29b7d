//! What an image resolves to: a built-in function or a container.

mod configuration;
mod constraint;
mod lock;
mod signature;

pub use configuration::Configuration;
pub use constraint::{Constraint, InvalidConstraint};
pub use lock::ImageLock;
pub use signature::SignaturePolicy;

use krm_catalog::{BUILTINS, Builtin, BuiltinRelease, Release, TagMatch};
use krm_core::diagnostics::closest_name;
use krm_core::model::ImageName;
use krm_core::{Diagnostic, Severity};

use crate::kinds::ResolutionKind;

/// The default prefix of image names without a registry.
pub const CATALOG: &str = "ghcr.io/kptdev/krm-functions-catalog";

/// The registries of kpt's function catalog, now and before.
const CATALOGS: [&str; 4] = [
    CATALOG,
    "ghcr.io/kptdev/krm-functions-catalog/krm-fn-contrib",
    "gcr.io/kpt-fn",
    "gcr.io/kpt-fn-contrib",
];

/// Tags that mean the newest release.
const NEWEST: [&str; 2] = ["latest", "unstable"];

/// Whether built-in functions replace images.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BuiltinPolicy {
    /// If there is one of that name and release.
    #[default]
    WhenAvailable,
    /// Never.
    Never,
    /// Always: other functions are refused.
    Only,
}

/// How images resolve to functions.
#[derive(Clone, Debug)]
pub struct Resolution {
    /// Whether built-in functions replace images.
    pub builtin: BuiltinPolicy,
    /// The prefix of image names without a registry.
    pub prefix: String,
    /// What the user configured for images, which may have a tag.
    pub mapping: Vec<(String, ImageTarget)>,
    /// Whether a tag that names no known release of a built-in function is an error.
    pub strict_tags: bool,
    /// The digests of images, from `krm.lock`. With it, containers run by digest only.
    pub lock: Option<ImageLock>,
}

impl Default for Resolution {
    fn default() -> Self {
        Self {
            builtin: BuiltinPolicy::default(),
            prefix: CATALOG.to_owned(),
            mapping: Vec::new(),
            strict_tags: false,
            lock: None,
        }
    }
}

/// What the user configured for an image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ImageTarget {
    /// The built-in function of this name, or else of the name of the image.
    Builtin(Option<String>),
    /// A container of this image, or else of the image itself.
    Container(Option<String>),
}

/// What an image resolves to.
#[derive(Clone, Debug)]
pub enum Resolved {
    /// A built-in function, as a release.
    Builtin(BuiltinRelease),
    /// A container of this image.
    Container(String),
}

impl Resolution {
    /// The name of an image with prefix and tag. A version constraint becomes the newest release that satisfies it.
    pub fn full_name(&self, image: &str, tag: Option<&str>) -> String {
        let release = match (tag, self.resolve(image, tag)) {
            (Some(tag), Ok(Resolved::Builtin(builtin))) => newest(builtin.function, tag),
            _ => None,
        };
        self.tagged(image, release.as_deref().or(tag))
    }

    /// The name of an image with the prefix, if it has no registry.
    pub fn with_prefix(&self, image: &str) -> String {
        match ImageName::parse(image) {
            Ok(name) if name.is_short() && !self.prefix.is_empty() => {
                format!("{}/{image}", self.prefix.trim_end_matches('/'))
            }
            _ => image.to_owned(),
        }
    }

    fn tagged(&self, image: &str, tag: Option<&str>) -> String {
        let whole = self.with_prefix(image);
        match ImageName::parse(image).map(|name| (name.tag, name.digest)) {
            Ok((None, None)) => format!("{whole}:{}", tag.unwrap_or(NEWEST[0])),
            _ => whole,
        }
    }

    /// Resolves an image. A `tag`, which may be a version constraint, applies to images without a tag of their own.
    ///
    /// # Errors
    /// If the name or the tag is invalid, or what the user configured does not exist.
    pub fn resolve(&self, image: &str, tag: Option<&str>) -> Result<Resolved, Diagnostic> {
        match (self.resolve_unlocked(image, tag)?, &self.lock) {
            (Resolved::Container(image), Some(lock)) => match lock.pinned(&image) {
                Some(pinned) => Ok(Resolved::Container(pinned)),
                None => Err(Diagnostic::error(ResolutionKind::NotLocked { image })),
            },
            // A built-in function is as fixed as krm itself.
            (resolved, _) => Ok(resolved),
        }
    }

    fn resolve_unlocked(&self, image: &str, tag: Option<&str>) -> Result<Resolved, Diagnostic> {
        let name = ImageName::parse(image).map_err(|error| {
            Diagnostic::error(ResolutionKind::InvalidImage { reason: error.to_string().into() })
        })?;
        if let Some((_, target)) = self.mapping.iter().find(|(of, _)| self.applies_to(of, image)) {
            return self.mapped(target, image, name, tag);
        }
        let found = krm_catalog::find(name.name()).filter(|_| self.is_catalog(name));
        let release = found.and_then(|builtin| release_of(builtin, name, tag));
        match (release, self.builtin) {
            (Some(release), BuiltinPolicy::WhenAvailable | BuiltinPolicy::Only) => {
                match release.is_assumed && self.strict_tags {
                    true => Err(unknown_tag(Severity::Error, &release)),
                    false => Ok(Resolved::Builtin(release)),
                }
            }
            (_, BuiltinPolicy::Only) => Err(not_built_in(found, image, tag)),
            _ => self.container(image, tag, found),
        }
    }

    /// Whether the user configured what the image resolves to.
    pub(crate) fn is_mapped(&self, image: &str) -> bool {
        self.mapping.iter().any(|(of, _)| self.applies_to(of, image))
    }

    fn mapped(
        &self,
        target: &ImageTarget,
        image: &str,
        name: ImageName<'_>,
        tag: Option<&str>,
    ) -> Result<Resolved, Diagnostic> {
        match target {
            ImageTarget::Builtin(other) => {
                let name = other.as_deref().unwrap_or(name.name());
                krm_catalog::find(name).map(|it| Resolved::Builtin(it.into())).ok_or_else(|| {
                    let (name, image) = (name.to_owned(), image.to_owned());
                    Diagnostic::error(ResolutionKind::UnknownBuiltin { name, image })
                })
            }
            ImageTarget::Container(other) if self.builtin == BuiltinPolicy::Only => {
                Err(not_built_in(None, other.as_deref().unwrap_or(image), tag))
            }
            ImageTarget::Container(Some(other)) => {
                Ok(Resolved::Container(self.tagged(other, None)))
            }
            ImageTarget::Container(None) => self.container(image, tag, None),
        }
    }

    fn container(
        &self,
        image: &str,
        tag: Option<&str>,
        found: Option<&Builtin>,
    ) -> Result<Resolved, Diagnostic> {
        let tag_itself = tag.filter(|tag| ImageName::parse(&format!("a:{tag}")).is_err());
        let Some(constraint) = tag_itself else {
            return Ok(Resolved::Container(self.tagged(image, tag)));
        };
        let (image, constraint) = (image.to_owned(), constraint.to_owned());
        let hint = match found.filter(|it| !it.tags().is_empty()) {
            Some(builtin) => builtin_tags(builtin),
            None => "use a tag instead of a constraint to run a container".to_owned(),
        };
        Err(Diagnostic::error(ResolutionKind::NoMatchingRelease { image, constraint }).hint(hint))
    }

    /// Whether an entry of the mapping applies to an image: one without a tag applies to all tags.
    fn applies_to(&self, of: &str, image: &str) -> bool {
        let (Ok(of), Ok(image)) = (ImageName::parse(of), ImageName::parse(image)) else {
            return of == image;
        };
        let repository = |name: ImageName<'_>| match name.is_short() {
            true => format!("{}/{}", self.prefix.trim_end_matches('/'), name.repository),
            false => name.repository.to_owned(),
        };
        repository(of) == repository(image)
            && (of.tag.is_none() || of.tag == image.tag)
            && (of.digest.is_none() || of.digest == image.digest)
    }

    fn is_catalog(&self, name: ImageName<'_>) -> bool {
        let registry = name.repository.rsplit_once('/').map(|(registry, _)| registry);
        registry.is_none_or(|it| CATALOGS.contains(&it) || it == self.prefix.trim_end_matches('/'))
    }
}

/// The built-in function with the most similar name to that of an image of the catalog that is not built in.
pub fn similar_builtin(image: &str) -> Option<&'static str> {
    let name = ImageName::parse(image).ok()?;
    let is_unknown =
        Resolution::default().is_catalog(name) && krm_catalog::find(name.name()).is_none();
    let known =
        BUILTINS.iter().flat_map(|it| [it.name].into_iter().chain(it.aliases.iter().copied()));
    if is_unknown { closest_name(known, name.name()) } else { None }
}

/// The built-in function of the name of an image of the catalog, whatever its tag.
pub(crate) fn builtin_of(image: &str) -> Option<&'static Builtin> {
    let name = ImageName::parse(image).ok()?;
    krm_catalog::find(name.name()).filter(|_| Resolution::default().is_catalog(name))
}

/// A hint to the tags for which a function is built in: the newest ones, and how to see all.
pub(crate) fn builtin_tags(builtin: &Builtin) -> String {
    const SHOWN: usize = 3;
    let mut tags: Vec<String> = releases(builtin).rev().map(|it| it.version.to_string()).collect();
    let more = if tags.len() > SHOWN { ", …" } else { "" };
    tags.truncate(SHOWN);
    format!(
        "use a built-in tag: {}{more} (run `krm fn list --tags {}` for all)",
        tags.join(", "),
        builtin.name
    )
}

/// The releases of a function that a version names.
fn releases(builtin: &Builtin) -> impl DoubleEndedIterator<Item = &'static Release> {
    builtin.releases.iter().filter(|it| it.has_version())
}

/// The error or warning that a tag names no known release.
pub fn unknown_tag(severity: Severity, builtin: &BuiltinRelease) -> Diagnostic {
    let (name, release) = (builtin.function.name, builtin.version.to_string());
    Diagnostic::new(severity, ResolutionKind::UnknownTag { name, release })
        .hint(builtin_tags(builtin.function))
}

/// The release of a built-in function that an image and its `tag` request; none if a container must run.
fn release_of(
    builtin: &'static Builtin,
    image: ImageName<'_>,
    tag: Option<&str>,
) -> Option<BuiltinRelease> {
    let newest = BuiltinRelease::from(builtin);
    let of_tag = |tag: &str| match builtin.release(tag) {
        _ if NEWEST.contains(&tag) => Some(newest),
        Some(TagMatch::Known(version)) => Some(BuiltinRelease { version, ..newest }),
        Some(TagMatch::Newer(version)) => {
            Some(BuiltinRelease { version, is_assumed: true, ..newest })
        }
        None => None,
    };
    match (image.digest, image.tag, tag) {
        (Some(_), _, _) => None,
        (None, Some(tag), _) => of_tag(tag),
        (None, None, None) => Some(newest),
        (None, None, Some(tag)) => of_tag(tag).or_else(|| of_tag(&self::newest(builtin, tag)?)),
    }
}

/// The newest release of a built-in function that satisfies a constraint; none if the tag names a release itself.
fn newest(builtin: &Builtin, tag: &str) -> Option<String> {
    let constraint = tag.parse::<Constraint>().ok().filter(|_| builtin.release(tag).is_none())?;
    let mut tags = releases(builtin).map(|it| it.version.to_string());
    tags.rfind(|tag| constraint.allows(tag))
}

fn not_built_in(found: Option<&Builtin>, image: &str, tag: Option<&str>) -> Diagnostic {
    let function = tag.map_or_else(|| image.to_owned(), |tag| format!("{image}:{tag}"));
    let hint = match found {
        Some(builtin) if !builtin.tags().is_empty() => builtin_tags(builtin),
        _ => "run `krm fn list` for the built-in functions".to_owned(),
    };
    Diagnostic::error(ResolutionKind::NotBuiltIn { function }).hint(hint)
}

#[cfg(test)]
mod tests {
    use krm_catalog::Version;

    use super::*;

    /// What an image resolves to, as a string.
    fn resolve(resolution: &Resolution, image: &str, tag: Option<&str>) -> String {
        match resolution.resolve(image, tag) {
            Ok(Resolved::Builtin(BuiltinRelease { function, version, .. }))
                if version != Version::NEWEST =>
            {
                format!("builtin {} {version}", function.name)
            }
            Ok(Resolved::Builtin(builtin)) => format!("builtin {}", builtin.function.name),
            Ok(Resolved::Container(image)) => image,
            Err(error) => format!("error: {}", error.message()),
        }
    }

    #[test]
    fn catalog_images_resolve_to_built_in_functions() {
        let resolution = Resolution::default();
        for image in [
            "no-op",
            "no-op:latest",
            "gcr.io/kpt-fn/no-op:unstable",
            "ghcr.io/kptdev/krm-functions-catalog/no-op",
        ] {
            assert_eq!(resolve(&resolution, image, None), "builtin no-op", "{image}");
        }
    }

    #[test]
    fn locked_containers_run_by_digest_and_others_are_refused() {
        let digest = format!("sha256:{}", "a".repeat(64));
        let lock = [("example.com/fn:v1".to_owned(), digest.clone())].into_iter().collect();
        let resolution = Resolution { lock: Some(lock), ..Resolution::default() };
        let pinned = format!("example.com/fn@{digest}");
        assert_eq!(resolve(&resolution, "example.com/fn:v1", None), pinned);
        assert_eq!(resolve(&resolution, "example.com/fn", Some("v1")), pinned);
        assert_eq!(resolve(&resolution, "no-op", None), "builtin no-op");
        let error = resolution.resolve("example.com/fn:v2", None).unwrap_err();
        assert_eq!(error.id(), "image-not-locked");
    }

    #[test]
    fn tag_selects_the_release() {
        let resolution = Resolution::default();
        for (image, tag, release) in [
            ("set-namespace:v0.1.2", None, "v0.1.2"),
            ("gcr.io/kpt-fn/set-namespace:v0.1", None, "v0.1.4"),
            ("ghcr.io/kptdev/krm-functions-catalog/set-namespace:v0.4.1", None, "v0.4.1"),
            ("set-namespace", Some("v0.3"), "v0.3.4"),
            ("set-namespace", Some("~0.3.1"), "v0.3.4"),
            ("set-namespace", Some("<0.3"), "v0.2.0"),
        ] {
            let expected = format!("builtin set-namespace {release}");
            assert_eq!(resolve(&resolution, image, tag), expected, "{image} {tag:?}");
        }
    }

    #[test]
    fn unknown_newer_tag_is_the_newest_release_before_it_unless_tags_are_strict() {
        let resolution = Resolution::default();
        for (image, is_assumed) in [("set-labels:v0.2.99", true), ("set-labels:v0.2.5", false)] {
            let Ok(Resolved::Builtin(release)) = resolution.resolve(image, None) else {
                panic!("{image} is a container")
            };
            assert_eq!((release.version, release.is_assumed), (Version::new(0, 2, 5), is_assumed));
        }
        let strict = Resolution { strict_tags: true, ..resolution };
        assert_eq!(resolve(&strict, "set-labels:v0.2.5", None), "builtin set-labels v0.2.5");
        assert!(resolve(&strict, "set-labels:v0.2.99", None).starts_with("error: "));
    }

    #[test]
    fn unknown_releases_digests_and_registries_resolve_to_containers() {
        let resolution = Resolution::default();
        let digest = format!("no-op@sha256:{}", "0".repeat(64));
        assert_eq!(
            resolve(&resolution, "no-op:v0.0.1", None),
            "ghcr.io/kptdev/krm-functions-catalog/no-op:v0.0.1"
        );
        assert!(resolve(&resolution, &digest, None).ends_with(&digest));
        assert_eq!(resolve(&resolution, "example.com/no-op", None), "example.com/no-op:latest");
        assert_eq!(resolve(&resolution, "example.com/x", Some("v2")), "example.com/x:v2");
        assert_eq!(
            resolve(&resolution, "no-op", Some(">= 9")),
            "error: no known release of `no-op` matches `>= 9`"
        );
    }

    #[test]
    fn constraint_is_named_as_the_newest_matching_release() {
        let resolution = Resolution::default();
        let name = |image: &str, tag| resolution.full_name(image, Some(tag));
        assert!(name("set-namespace", "0.4.1 - 0.4.3").ends_with("/set-namespace:v0.4.3"));
        assert!(name("set-labels", "v0.2").ends_with("/set-labels:v0.2"));
        assert!(name("set-labels", "^9").ends_with("/set-labels:^9"));
        assert_eq!(name("example.com/x", "1.2"), "example.com/x:1.2");
        assert_eq!(resolution.with_prefix("a/x:v1"), "a/x:v1");
    }

    #[test]
    fn configuration_overrides_the_default() {
        let never = Resolution { builtin: BuiltinPolicy::Never, ..Resolution::default() };
        assert!(resolve(&never, "no-op", None).ends_with("/no-op:latest"));
        let only = Resolution { builtin: BuiltinPolicy::Only, ..Resolution::default() };
        assert_eq!(
            resolve(&only, "example.com/x", None),
            "error: not a built-in function, and only built-in functions are allowed"
        );
        let mapping = [
            ("example.com/x", ImageTarget::Builtin(Some("no-op".to_owned()))),
            ("no-op:latest", ImageTarget::Container(None)),
            ("gcr.io/kpt-fn/no-op", ImageTarget::Container(Some("example.com/own:v1".to_owned()))),
            ("nowhere", ImageTarget::Builtin(None)),
        ];
        let mapping = mapping.map(|(of, target)| (of.to_owned(), target)).to_vec();
        let mapped = Resolution { mapping, ..Resolution::default() };
        assert_eq!(resolve(&mapped, "example.com/x:v3", None), "builtin no-op");
        assert!(resolve(&mapped, "no-op:latest", None).ends_with("/no-op:latest"));
        assert_eq!(resolve(&mapped, "no-op", None), "builtin no-op");
        assert_eq!(resolve(&mapped, "gcr.io/kpt-fn/no-op:v1", None), "example.com/own:v1");
        assert!(
            resolve(&mapped, "nowhere", None).starts_with("error: no built-in function `nowhere`")
        );
    }

    #[test]
    fn configured_prefix_counts_as_a_catalog() {
        let mirror = Resolution { prefix: "mirror.local/fn/".to_owned(), ..Resolution::default() };
        assert_eq!(resolve(&mirror, "mirror.local/fn/no-op", None), "builtin no-op");
        assert_eq!(resolve(&mirror, "other:v1", None), "mirror.local/fn/other:v1");
    }
}
