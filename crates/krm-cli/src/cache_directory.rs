//! The directory of krm's caches on this machine: upstreams, images and results of functions.

use std::path::PathBuf;

/// The variable with the directory of the caches.
const DIRECTORY_VARIABLE: &str = "KRM_CACHE_DIR";

/// The variable with the directory of images, which may be a read-only one that is part of the image of a CI job.
const IMAGES_VARIABLE: &str = "KRM_IMAGE_STORE";

/// The variable with the largest size of each cache, in MiB.
const SIZE_VARIABLE: &str = "KRM_CACHE_SIZE_MB";

/// A part of the cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Area {
    /// Repositories of packages.
    Git,
    /// Images of functions.
    Images,
    /// Results of functions.
    Results,
}

impl Area {
    pub(crate) const ALL: [Self; 3] = [Self::Results, Self::Images, Self::Git];

    /// The name, which is also that of its directory.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Git => "git",
            Self::Images => "images",
            Self::Results => "results",
        }
    }

    /// Its directory, which may not exist; none if the environment does not say where caches are.
    pub(crate) fn directory(self) -> Option<PathBuf> {
        let own = if self == Self::Images { variable(IMAGES_VARIABLE) } else { None };
        own.or_else(|| Some(root()?.join(self.name())))
    }

    /// How many bytes it may have.
    pub(crate) fn size_limit(self) -> u64 {
        let megabytes = std::env::var(SIZE_VARIABLE).ok().and_then(|text| text.parse().ok());
        let default = match self {
            Self::Git => 2048,
            Self::Images => 10240,
            Self::Results => 1024,
        };
        megabytes.unwrap_or(default) << 20
    }
}

fn variable(name: &str) -> Option<PathBuf> {
    std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from)
}

/// The directory of all caches. An absolute path.
fn root() -> Option<PathBuf> {
    let home = || variable("HOME").or_else(|| variable("USERPROFILE"));
    let root = variable(DIRECTORY_VARIABLE)
        .or_else(|| variable("XDG_CACHE_HOME").map(|it| it.join("krm")))
        .or_else(|| home().map(|home| home.join(".cache/krm")))?;
    std::path::absolute(&root).ok()
}
