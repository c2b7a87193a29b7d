//! Manifests, indexes and configurations of images. Spec: OCI image specification 1.1, and docker's schema 2.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::digest::shown;
use crate::{Digest, OciKind};

/// The media types of manifests, which a client lists in its requests.
pub(crate) const ACCEPTED: &str = "application/vnd.oci.image.index.v1+json, application/vnd.oci.image.manifest.v1+json, \
     application/vnd.docker.distribution.manifest.list.v2+json, application/vnd.docker.distribution.manifest.v2+json";

/// The media type of an image manifest.
pub(crate) const MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";

/// What a manifest refers to.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Descriptor {
    /// The type of the content.
    pub media_type: String,
    /// Its digest, as text: one that is invalid is an error where it is used.
    pub digest: String,
    /// Its size in bytes.
    pub size: u64,
    /// The platform of an image in an index.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub platform: Option<Platform>,
    /// Annotations.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub annotations: BTreeMap<String, String>,
}

impl Descriptor {
    /// The descriptor of some content.
    pub fn of(media_type: &str, content: &[u8]) -> Self {
        Self {
            media_type: media_type.to_owned(),
            digest: Digest::of(content).to_string(),
            size: content.len() as u64,
            platform: None,
            annotations: BTreeMap::new(),
        }
    }

    /// The digest.
    ///
    /// # Errors
    /// If it is invalid.
    pub fn digest(&self) -> Result<Digest, OciKind> {
        Digest::parse(&self.digest)
    }
}

/// Operating system and processor.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Platform {
    /// Such as `linux`.
    pub os: String,
    /// Such as `amd64`.
    pub architecture: String,
    /// Such as `v7` for 32-bit ARM.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variant: Option<String>,
}

impl Platform {
    /// The platform on which Linux images run here, in the names of Go.
    pub fn current() -> Self {
        let architecture = match std::env::consts::ARCH {
            "x86_64" => "amd64",
            "aarch64" => "arm64",
            "x86" => "386",
            "powerpc64" => "ppc64le",
            other => other,
        };
        Self { os: "linux".to_owned(), architecture: architecture.to_owned(), variant: None }
    }

    /// Whether an image for the other platform runs here. A variant matters only if both have one.
    fn accepts(&self, other: &Self) -> bool {
        let same_variant = match (&self.variant, &other.variant) {
            (Some(left), Some(right)) => left == right,
            _ => true,
        };
        self.os == other.os && self.architecture == other.architecture && same_variant
    }
}

impl fmt::Display for Platform {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.os, self.architecture)?;
        self.variant.iter().try_for_each(|variant| write!(f, "/{variant}"))
    }
}

/// The manifest of one image or artifact.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Manifest {
    /// Always 2.
    pub schema_version: u32,
    /// The type of the manifest itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub media_type: Option<String>,
    /// The configuration.
    pub config: Descriptor,
    /// The layers, lowest first.
    pub layers: Vec<Descriptor>,
    /// Annotations.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub annotations: BTreeMap<String, String>,
}

impl Manifest {
    /// The bytes of the manifest, which its digest is computed from.
    pub(crate) fn to_bytes(&self) -> Result<Vec<u8>, OciKind> {
        serde_json::to_vec(self)
            .map_err(|error| OciKind::InvalidManifest { reason: error.to_string() })
    }
}

/// A manifest, or the list of manifests for several platforms.
#[derive(Clone, Debug)]
#[allow(clippy::large_enum_variant, reason = "there is one per pull, so its size does not matter")]
pub enum AnyManifest {
    /// One image.
    Image(Manifest),
    /// Images for several platforms.
    Index(Vec<Descriptor>),
}

impl AnyManifest {
    /// Parses a manifest or an index.
    ///
    /// # Errors
    /// If it is neither, or could be read as both: then readers could disagree about what a digest stands for.
    pub fn parse(bytes: &[u8]) -> Result<Self, OciKind> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Shape {
            schema_version: u32,
            #[serde(default)]
            media_type: Option<String>,
            #[serde(default)]
            manifests: Option<Vec<Descriptor>>,
            #[serde(default)]
            config: Option<serde::de::IgnoredAny>,
            #[serde(default)]
            layers: Option<serde::de::IgnoredAny>,
        }
        let shape: Shape = parse(bytes)?;
        let reason = match shape {
            Shape { schema_version, .. } if schema_version != 2 => {
                format!("expected schemaVersion 2, found {schema_version}")
            }
            Shape {
                manifests: Some(manifests), config: None, layers: None, media_type, ..
            } if is_type(media_type.as_deref(), &["index", "list"]) => {
                return Ok(Self::Index(manifests));
            }
            Shape { manifests: None, config: Some(_), layers: Some(_), media_type, .. }
                if is_type(media_type.as_deref(), &["manifest.v1", "manifest.v2"]) =>
            {
                return parse(bytes).map(Self::Image);
            }
            _ => "expected either `manifests`, or `config` and `layers`".to_owned(),
        };
        Err(OciKind::InvalidManifest { reason })
    }
}

/// Whether the type, if there is one, is of this kind.
fn is_type(media_type: Option<&str>, kinds: &[&str]) -> bool {
    media_type.is_none_or(|it| kinds.iter().any(|kind| it.contains(kind)))
}

/// The manifest of an index for a platform.
///
/// # Errors
/// If there is none.
pub fn select<'a>(
    manifests: &'a [Descriptor],
    platform: &Platform,
) -> Result<&'a Descriptor, OciKind> {
    let is_fitting =
        |it: &&Descriptor| it.platform.as_ref().is_some_and(|other| platform.accepts(other));
    // An index with one entry for no platform is how some tools wrap artifacts.
    let only = || manifests.first().filter(|it| manifests.len() == 1 && it.platform.is_none());
    manifests.iter().find(is_fitting).or_else(only).ok_or_else(|| {
        // `unknown` is the platform of attestations.
        let platforms = manifests.iter().filter_map(|it| it.platform.as_ref());
        let known = platforms.filter(|it| it.os != "unknown").take(20);
        let mut available: Vec<String> = known.map(|it| shown(&it.to_string())).collect();
        if available.is_empty() {
            available.push("no platform".to_owned());
        }
        OciKind::NoPlatform { platform: platform.to_string(), available }
    })
}

/// The configuration of an image: how it runs, and what its layers contain.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct ImageConfig {
    /// Such as `amd64`.
    #[serde(default)]
    pub architecture: String,
    /// Such as `linux`.
    #[serde(default)]
    pub os: String,
    /// How a process runs.
    #[serde(default, deserialize_with = "null_is_default")]
    pub config: ProcessConfig,
    /// The digests of the unpacked layers.
    #[serde(default)]
    pub rootfs: RootFs,
}

/// How a process of an image runs.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct ProcessConfig {
    /// The program and its first arguments.
    #[serde(default, deserialize_with = "null_is_default", skip_serializing_if = "Vec::is_empty")]
    pub entrypoint: Vec<String>,
    /// Further arguments, or the program if there is no entrypoint.
    #[serde(default, deserialize_with = "null_is_default", skip_serializing_if = "Vec::is_empty")]
    pub cmd: Vec<String>,
    /// Variables, `NAME=VALUE`.
    #[serde(default, deserialize_with = "null_is_default", skip_serializing_if = "Vec::is_empty")]
    pub env: Vec<String>,
    /// The working directory.
    #[serde(
        default,
        deserialize_with = "null_is_default",
        skip_serializing_if = "String::is_empty"
    )]
    pub working_dir: String,
}

/// The digests of the unpacked layers, lowest first.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct RootFs {
    /// Always `layers`.
    #[serde(default, rename = "type")]
    pub kind: String,
    /// The digests.
    #[serde(default, deserialize_with = "null_is_default")]
    pub diff_ids: Vec<String>,
}

impl ImageConfig {
    /// Parses the configuration of an image.
    ///
    /// # Errors
    /// If it is invalid.
    pub fn parse(bytes: &[u8]) -> Result<Self, OciKind> {
        parse(bytes)
    }
}

/// Go writes empty lists and structures as `null`.
fn null_is_default<'de, D: serde::Deserializer<'de>, T: Default + Deserialize<'de>>(
    deserializer: D,
) -> Result<T, D::Error> {
    Option::<T>::deserialize(deserializer).map(Option::unwrap_or_default)
}

fn parse<'a, T: Deserialize<'a>>(bytes: &'a [u8]) -> Result<T, OciKind> {
    serde_json::from_slice(bytes)
        .map_err(|error| OciKind::InvalidManifest { reason: shown(&error.to_string()) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn index(platforms: &[(&str, &str, Option<&str>)]) -> Vec<Descriptor> {
        let platform = |(os, architecture, variant): &(&str, &str, Option<&str>)| Descriptor {
            platform: Some(Platform {
                os: (*os).to_owned(),
                architecture: (*architecture).to_owned(),
                variant: variant.map(str::to_owned),
            }),
            ..Descriptor::of(MANIFEST, architecture.as_bytes())
        };
        platforms.iter().map(platform).collect()
    }

    #[test]
    fn image_of_the_platform_is_selected() {
        let list = index(&[
            ("unknown", "unknown", None),
            ("linux", "arm64", Some("v8")),
            ("linux", "amd64", None),
        ]);
        let here = |architecture: &str| Platform {
            os: "linux".to_owned(),
            architecture: architecture.to_owned(),
            variant: None,
        };
        assert_eq!(select(&list, &here("arm64")).unwrap().digest, list[1].digest);
        assert_eq!(select(&list, &here("amd64")).unwrap().digest, list[2].digest);
        let error = select(&list, &here("s390x")).unwrap_err();
        let available = vec!["linux/arm64/v8".to_owned(), "linux/amd64".to_owned()];
        assert_eq!(error, OciKind::NoPlatform { platform: "linux/s390x".to_owned(), available });
    }

    #[test]
    fn ambiguous_and_unknown_manifests_are_errors() {
        let config = r#"{"mediaType":"c","digest":"sha256:0","size":2}"#;
        let image = format!(r#"{{"schemaVersion":2,"config":{config},"layers":[]}}"#);
        assert!(matches!(AnyManifest::parse(image.as_bytes()), Ok(AnyManifest::Image(_))));
        let index = r#"{"schemaVersion":2,"manifests":[]}"#;
        assert!(matches!(AnyManifest::parse(index.as_bytes()), Ok(AnyManifest::Index(_))));
        let list = "application/vnd.docker.distribution.manifest.list.v2+json";
        for text in [
            format!(r#"{{"schemaVersion":2,"config":{config},"layers":[],"manifests":[]}}"#),
            format!(r#"{{"schemaVersion":2,"mediaType":"{list}","config":{config},"layers":[]}}"#),
            format!(r#"{{"schemaVersion":2,"mediaType":"{MANIFEST}","manifests":[]}}"#),
            r#"{"schemaVersion":1,"manifests":[]}"#.to_owned(),
            r#"{"schemaVersion":2,"manifests":[],"manifests":[]}"#.to_owned(),
            r#"{"schemaVersion":2}"#.to_owned(),
            "[".repeat(100_000),
            String::new(),
        ] {
            assert!(AnyManifest::parse(text.as_bytes()).is_err(), "{text:.60}");
        }
    }

    #[test]
    fn null_lists_of_a_configuration_are_empty() {
        let text = r#"{"os":"linux","config":{"Entrypoint":null,"Cmd":["/f"],"Env":null},"rootfs":{"type":"layers","diff_ids":null}}"#;
        let config = ImageConfig::parse(text.as_bytes()).unwrap();
        assert_eq!(config.config.cmd, ["/f"]);
        assert!(config.config.entrypoint.is_empty() && config.rootfs.diff_ids.is_empty());
        assert!(ImageConfig::parse(b"{\"config\":null}").is_ok());
    }
}
