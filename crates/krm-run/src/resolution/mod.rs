//! Which function an image stands for: one that is built in, or a container.

mod configuration;
mod constraint;

pub use configuration::Configuration;
pub use constraint::{BadConstraint, Constraint};

use krm_catalog::{BUILTINS, Builtin};
use krm_core::Diagnostic;
use krm_core::diagnostics::closest_name;
use krm_core::model::ImageName;

/// What stands before the name of an image that has none.
pub const CATALOG: &str = "ghcr.io/kptdev/krm-functions-catalog";

/// Where the catalog's images are, and have been.
const CATALOGS: [&str; 4] = [
    CATALOG,
    "ghcr.io/kptdev/krm-functions-catalog/krm-fn-contrib",
    "gcr.io/kpt-fn",
    "gcr.io/kpt-fn-contrib",
];

/// Why a function is refused where only built-in ones may run.
pub const NOT_BUILT_IN: &str = "is not built in, and only functions that are may run";

/// Tags that always mean the newest.
const NEWEST: [&str; 2] = ["latest", "unstable"];

/// Whether built-in functions stand for images.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum UseBuiltin {
    /// Where there is one of that name and release.
    #[default]
    WhereItFits,
    /// Never.
    Never,
    /// Always: what is not built in is refused.
    Only,
}

/// How images become functions.
#[derive(Clone, Debug)]
pub struct Resolution {
    /// Whether built-in functions stand for images.
    pub builtin: UseBuiltin,
    /// What stands before the name of an image that has none.
    pub prefix: String,
    /// What the user wants for certain images: first the image, with or without a tag, then what runs for it.
    pub mapping: Vec<(String, Target)>,
}

impl Default for Resolution {
    fn default() -> Self {
        Self { builtin: UseBuiltin::default(), prefix: CATALOG.to_owned(), mapping: Vec::new() }
    }
}

/// What the user wants to run for an image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// The built-in function of this name, or of the image's own name.
    Builtin(Option<String>),
    /// A container of the image itself, or of this one.
    Container(Option<String>),
}

/// What runs for an image.
#[derive(Clone, Debug)]
pub enum ScalarType {
    /// A function that is built in.
    Builtin(&'static Builtin),
    /// A container of this image.
    Container(String),
}

impl Resolution {
    /// The whole name of an image: with the prefix and a tag. A constraint becomes the newest release that fits it.
    pub fn whole_name(&self, image: &str, tag: Option<&str>) -> String {
        let release = match (tag, self.resolve(image, tag)) {
            (Some(tag), Ok(ScalarType::Builtin(builtin))) => newest(builtin, tag),
            _ => None,
        };
        self.tagged(image, release.or(tag))
    }

    /// The name of an image with the prefix, where it has no other.
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

    /// What runs for an image. A `tag` may be a constraint, and is for images without a tag of their own.
    ///
    /// # Errors
    /// Where the name or the tag makes no sense, or what the user asked for is not there.
    pub fn resolve(&self, image: &str, tag: Option<&str>) -> Result<ScalarType, Diagnostic> {
        let name = ImageName::parse(image)
            .map_err(|error| Diagnostic::untyped_error(error.to_string()))?;
        if let Some((_, target)) = self.mapping.iter().find(|(of, _)| self.is_meant(of, image)) {
            return self.mapped(target, image, name, tag);
        }
        let found = krm_catalog::find(name.name()).filter(|_| self.is_catalog(name));
        match (found, self.builtin) {
            (Some(builtin), UseBuiltin::WhereItFits | UseBuiltin::Only)
                if stands_for(builtin, name, tag) =>
            {
                Ok(ScalarType::Builtin(builtin))
            }
            (found, UseBuiltin::Only) => Err(not_built_in(found, image, tag)),
            (found, _) => self.container(image, tag, found),
        }
    }

    fn mapped(
        &self,
        target: &Target,
        image: &str,
        name: ImageName<'_>,
        tag: Option<&str>,
    ) -> Result<ScalarType, Diagnostic> {
        match target {
            Target::Builtin(other) => {
                let wanted = other.as_deref().unwrap_or(name.name());
                krm_catalog::find(wanted).map(ScalarType::Builtin).ok_or_else(|| {
                    let words = format!("no function `{wanted}` is built in, which the configuration wants for `{image}`");
                    Diagnostic::untyped_error(words).hint("`krm fn list` shows those that are")
                })
            }
            Target::Container(other) if self.builtin == UseBuiltin::Only => {
                Err(not_built_in(None, other.as_deref().unwrap_or(image), tag))
            }
            Target::Container(Some(other)) => Ok(ScalarType::Container(self.tagged(other, None))),
            Target::Container(None) => self.container(image, tag, None),
        }
    }

    fn container(
        &self,
        image: &str,
        tag: Option<&str>,
        found: Option<&Builtin>,
    ) -> Result<ScalarType, Diagnostic> {
        let tag_itself = tag.filter(|tag| ImageName::parse(&format!("a:{tag}")).is_err());
        let Some(constraint) = tag_itself else {
            return Ok(ScalarType::Container(self.tagged(image, tag)));
        };
        let words = format!("no release of `{image}` that is known here is `{constraint}`");
        let known = found.map(|it| it.tags.join(", ")).filter(|it| !it.is_empty());
        let hint = match known {
            Some(known) => format!("built in are {known}; name one tag to run it in a container"),
            None => "name one tag to run it in a container".to_owned(),
        };
        Err(Diagnostic::untyped_error(words).hint(hint))
    }

    /// Whether an entry of the mapping is about this image: one without a tag is about all of them.
    fn is_meant(&self, of: &str, image: &str) -> bool {
        let (Ok(of), Ok(image)) = (ImageName::parse(of), ImageName::parse(image)) else {
            return of == image;
        };
        let whole = |name: ImageName<'_>| match name.is_short() {
            true => format!("{}/{}", self.prefix.trim_end_matches('/'), name.repository),
            false => name.repository.to_owned(),
        };
        whole(of) == whole(image)
            && (of.tag.is_none() || of.tag == image.tag)
            && (of.digest.is_none() || of.digest == image.digest)
    }

    fn is_catalog(&self, name: ImageName<'_>) -> bool {
        let folder = name.repository.rsplit_once('/').map(|(folder, _)| folder);
        folder.is_none_or(|it| CATALOGS.contains(&it) || it == self.prefix.trim_end_matches('/'))
    }
}

/// The built-in function that somebody may mean by the name of a catalog's image that is none.
pub fn meant(image: &str) -> Option<&'static str> {
    let name = ImageName::parse(image).ok()?;
    let is_none =
        Resolution::default().is_catalog(name) && krm_catalog::find(name.name()).is_none();
    let known =
        BUILTINS.iter().flat_map(|it| [it.name].into_iter().chain(it.aliases.iter().copied()));
    if is_none { closest_name(known, name.name()) } else { None }
}

/// Whether a built-in function is the release that is asked for.
fn stands_for(builtin: &Builtin, image: ImageName<'_>, tag: Option<&str>) -> bool {
    let is_known = |tag: &str| NEWEST.contains(&tag) || builtin.tags.contains(&tag);
    match (image.digest, image.tag, tag) {
        (Some(_), _, _) => false,
        (None, Some(tag), _) => is_known(tag),
        (None, None, None) => true,
        (None, None, Some(tag)) => {
            let constraint = tag.parse::<Constraint>().ok();
            is_known(tag)
                || constraint.is_some_and(|it| builtin.tags.iter().any(|tag| it.allows(tag)))
        }
    }
}

/// The newest release of a built-in function that a tag asks for; none where the tag names one itself.
fn newest(builtin: &'static Builtin, tag: &str) -> Option<&'static str> {
    let constraint = tag.parse::<Constraint>().ok().filter(|_| !builtin.tags.contains(&tag))?;
    builtin.tags.iter().rfind(|tag| constraint.allows(tag)).copied()
}

fn not_built_in(found: Option<&Builtin>, image: &str, tag: Option<&str>) -> Diagnostic {
    let release = tag.map(|tag| format!(" of `{tag}`")).unwrap_or_default();
    let words = format!("`{image}`{release} {NOT_BUILT_IN}");
    let hint = match found {
        Some(builtin) if !builtin.tags.is_empty() => {
            format!("built in are {}, latest and unstable", builtin.tags.join(", "))
        }
        _ => "`krm fn list` shows those that are".to_owned(),
    };
    Diagnostic::untyped_error(words).hint(hint)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What runs, in one word or name.
    fn runs(resolution: &Resolution, image: &str, tag: Option<&str>) -> String {
        match resolution.resolve(image, tag) {
            Ok(ScalarType::Builtin(builtin)) => format!("builtin {}", builtin.name),
            Ok(ScalarType::Container(image)) => image,
            Err(told) => format!("error: {}", told.message()),
        }
    }

    #[test]
    fn well_known_names_are_built_in() {
        let resolution = Resolution::default();
        let known = krm_catalog::find("no-op").unwrap().tags[0];
        for image in [
            "no-op",
            "no-op:latest",
            "gcr.io/kpt-fn/no-op:unstable",
            "ghcr.io/kptdev/krm-functions-catalog/no-op",
            &format!("no-op:{known}"),
        ] {
            assert_eq!(runs(&resolution, image, None), "builtin no-op", "{image}");
        }
        assert_eq!(runs(&resolution, "no-op", Some("0.x")), "builtin no-op");
    }

    #[test]
    fn other_releases_digests_and_owners_run_in_containers() {
        let resolution = Resolution::default();
        let digest = format!("no-op@sha256:{}", "0".repeat(64));
        assert_eq!(
            runs(&resolution, "no-op:v9", None),
            "ghcr.io/kptdev/krm-functions-catalog/no-op:v9"
        );
        assert!(runs(&resolution, &digest, None).ends_with(&digest));
        assert_eq!(runs(&resolution, "example.com/no-op", None), "example.com/no-op:latest");
        assert_eq!(runs(&resolution, "example.com/x", Some("v2")), "example.com/x:v2");
        assert_eq!(
            runs(&resolution, "no-op", Some(">= 9")),
            "error: no release of `no-op` that is known here is `>= 9`"
        );
    }

    #[test]
    fn a_constraint_is_told_as_the_newest_release_that_fits() {
        let resolution = Resolution::default();
        let name = |image: &str, tag| resolution.whole_name(image, Some(tag));
        assert!(name("set-namespace", "0.4.1 - 0.4.3").ends_with("/set-namespace:v0.4.3"));
        assert!(name("set-labels", "v0.2").ends_with("/set-labels:v0.2"));
        assert!(name("set-labels", "^9").ends_with("/set-labels:^9"));
        assert_eq!(name("example.com/x", "1.2"), "example.com/x:1.2");
        assert_eq!(resolution.with_prefix("a/x:v1"), "a/x:v1");
    }

    #[test]
    fn the_user_decides_otherwise() {
        let never = Resolution { builtin: UseBuiltin::Never, ..Resolution::default() };
        assert!(runs(&never, "no-op", None).ends_with("/no-op:latest"));
        let only = Resolution { builtin: UseBuiltin::Only, ..Resolution::default() };
        assert_eq!(
            runs(&only, "example.com/x", None),
            format!("error: `example.com/x` {NOT_BUILT_IN}")
        );
        let mapping = [
            ("example.com/x", Target::Builtin(Some("no-op".to_owned()))),
            ("no-op:latest", Target::Container(None)),
            ("gcr.io/kpt-fn/no-op", Target::Container(Some("example.com/own:v1".to_owned()))),
            ("nowhere", Target::Builtin(None)),
        ];
        let mapping = mapping.map(|(of, target)| (of.to_owned(), target)).to_vec();
        let mapped = Resolution { mapping, ..Resolution::default() };
        assert_eq!(runs(&mapped, "example.com/x:v3", None), "builtin no-op");
        assert!(runs(&mapped, "no-op:latest", None).ends_with("/no-op:latest"));
        assert_eq!(runs(&mapped, "no-op", None), "builtin no-op");
        assert_eq!(runs(&mapped, "gcr.io/kpt-fn/no-op:v1", None), "example.com/own:v1");
        assert!(runs(&mapped, "nowhere", None).starts_with("error: no function `nowhere`"));
    }

    #[test]
    fn a_prefix_is_a_catalog_of_its_own() {
        let mirror = Resolution { prefix: "mirror.local/fn/".to_owned(), ..Resolution::default() };
        assert_eq!(runs(&mirror, "mirror.local/fn/no-op", None), "builtin no-op");
        assert_eq!(runs(&mirror, "other:v1", None), "mirror.local/fn/other:v1");
    }
}
