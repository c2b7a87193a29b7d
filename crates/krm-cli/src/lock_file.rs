//! `krm.lock`: the exact versions of everything that a repository uses from elsewhere: packages, images and charts.
//!
//! The file is at the root of the repository and reviewed like code. `krm pkg vendor` writes it, and `--locked` refuses everything
//! that is not in it.

use std::fs;
use std::path::{Path, PathBuf};

use krm_core::Diagnostic;
use krm_core::functions::kptfile::upstream::{UpstreamLocation, UpstreamLock};
use krm_yaml::{File, NodeRef, Segment, Value};

use crate::commands::pkg::kinds::PkgKind;
use crate::disk;

/// The name of the file.
pub(crate) const NAME: &str = "krm.lock";

const HEAD: &str = "# Written by `krm pkg vendor`: what this repository uses, in exactly which version.\nversion: 1\n";

/// A package with the version of its upstream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LockedPackage {
    /// The directory, relative to the lock file; `.` is its own.
    pub(crate) path: String,
    pub(crate) lock: UpstreamLock,
}

/// The digest of an image of a function.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct LockedImage {
    /// The image as Kptfiles name it, with its tag.
    pub(crate) image: String,
    pub(crate) digest: String,
}

/// The digest of a Helm chart.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct LockedChart {
    pub(crate) repo: String,
    pub(crate) name: String,
    pub(crate) version: String,
    pub(crate) digest: String,
}

/// Who must have signed images. Written by people, and kept.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct LockedSignature {
    /// A repository, or the beginning of repositories if it ends with `*`.
    pub(crate) images: String,
    /// Fields and their values: `key`, or `identity` and `issuer`.
    pub(crate) signer: Vec<(&'static str, String)>,
}

/// The content of a lock file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct LockFile {
    pub(crate) packages: Vec<LockedPackage>,
    pub(crate) images: Vec<LockedImage>,
    pub(crate) charts: Vec<LockedChart>,
    pub(crate) signatures: Vec<LockedSignature>,
}

impl LockFile {
    /// Reads the lock file of a directory; none if it has none.
    pub(crate) fn read(root: &Path) -> Result<Option<(Self, String)>, Diagnostic> {
        let path = root.join(NAME);
        let in_file = |error: Diagnostic| error.in_file(path.to_string_lossy());
        let Some(text) = disk::read_existing(&path).map_err(in_file)? else { return Ok(None) };
        let file = File::parse(text.clone()).map_err(|error| in_file(Diagnostic::from(&error)))?;
        Ok(Some((Self::parse(&file).map_err(in_file)?, text)))
    }

    fn parse(file: &File) -> Result<Self, Diagnostic> {
        let invalid = |node: NodeRef<'_>, expected: &'static str| {
            Diagnostic::error(PkgKind::InvalidLockFile { expected }).at(file, node.span())
        };
        let Some(root) = file.document(0).and_then(|it| it.root()) else {
            return Ok(Self::default());
        };
        if get(root, "version").is_none_or(|it| it != "1") {
            return Err(invalid(root, "`version: 1`"));
        }
        let mut lock = Self::default();
        for node in items(root, "packages") {
            let field = |name, expected| get(node, name).ok_or_else(|| invalid(node, expected));
            let directory = field("directory", "a field `directory`")?;
            let is_oci = get(node, "type").is_some_and(|it| it == "oci");
            let (location, reference, revision) = match is_oci {
                true => (
                    UpstreamLocation::Oci { image: field("image", "a field `image`")?, directory },
                    field("tag", "a field `tag`")?,
                    field("digest", "a field `digest`")?,
                ),
                false => (
                    UpstreamLocation::Git { repo: field("repo", "a field `repo`")?, directory },
                    field("ref", "a field `ref`")?,
                    field("commit", "a field `commit`")?,
                ),
            };
            let path = field("path", "a field `path`")?;
            let own = UpstreamLock { location, reference, revision };
            lock.packages.push(LockedPackage { path, lock: own });
        }
        for node in items(root, "images") {
            let field = |name, expected| get(node, name).ok_or_else(|| invalid(node, expected));
            let image = field("image", "a field `image`")?;
            lock.images.push(LockedImage { image, digest: field("digest", "a field `digest`")? });
        }
        for node in items(root, "charts") {
            let field = |name, expected| get(node, name).ok_or_else(|| invalid(node, expected));
            lock.charts.push(LockedChart {
                repo: field("repo", "a field `repo`")?,
                name: field("name", "a field `name`")?,
                version: field("version", "a field `version`")?,
                digest: field("digest", "a field `digest`")?,
            });
        }
        for node in items(root, "signatures") {
            let images = get(node, "images").ok_or_else(|| invalid(node, "a field `images`"))?;
            let fields = ["key", "identity", "issuer"];
            let signer = fields.into_iter().filter_map(|name| Some((name, get(node, name)?)));
            let signer: Vec<_> = signer.collect();
            let names: Vec<&str> = signer.iter().map(|it| it.0).collect();
            if names != ["key"] && names != ["identity", "issuer"] {
                return Err(invalid(node, "either `key`, or `identity` and `issuer`"));
            }
            lock.signatures.push(LockedSignature { images, signer });
        }
        Ok(lock)
    }

    /// The text of the file. The same content is always the same text.
    pub(crate) fn to_text(&self) -> String {
        let mut sorted = self.clone();
        sorted.packages.sort_by(|a, b| a.path.cmp(&b.path));
        sorted.images.sort();
        sorted.charts.sort();
        sorted.signatures.sort();
        let mut text = HEAD.to_owned();
        let packages = sorted.packages.iter().map(|it| {
            let (location, lock) = (&it.lock.location, &it.lock);
            let [address, reference, revision] = match location {
                UpstreamLocation::Git { .. } => ["repo", "ref", "commit"],
                UpstreamLocation::Oci { .. } => ["image", "tag", "digest"],
            };
            vec![
                ("path", &*it.path),
                ("type", location.type_name()),
                (address, location.address()),
                ("directory", location.directory()),
                (reference, &lock.reference),
                (revision, &lock.revision),
            ]
        });
        add(&mut text, "packages", packages);
        let images = sorted.images.iter();
        add(
            &mut text,
            "images",
            images.map(|it| vec![("image", &*it.image), ("digest", &it.digest)]),
        );
        let charts = sorted.charts.iter().map(|it| {
            vec![
                ("repo", &*it.repo),
                ("name", &it.name),
                ("version", &it.version),
                ("digest", &it.digest),
            ]
        });
        add(&mut text, "charts", charts);
        let signatures = sorted.signatures.iter().map(|it| {
            let signer = it.signer.iter().map(|(name, value)| (*name, &**value));
            [("images", &*it.images)].into_iter().chain(signer).collect()
        });
        add(&mut text, "signatures", signatures);
        text
    }

    /// The entry of a package.
    pub(crate) fn package(&self, path: &str) -> Option<&LockedPackage> {
        self.packages.iter().find(|it| it.path == path)
    }
}

/// The directory of the lock file that applies to a directory: the nearest one at it or above it.
pub(crate) fn root_of(dir: &str) -> Option<PathBuf> {
    let dir = fs::canonicalize(dir).ok()?;
    dir.ancestors().find(|it| it.join(NAME).is_file()).map(Path::to_owned)
}

/// The path of a package as the lock file in `root` knows it.
pub(crate) fn path_in(root: &Path, dir: &str) -> Option<String> {
    let dir = fs::canonicalize(dir).ok()?;
    let path = dir.strip_prefix(fs::canonicalize(root).ok()?).ok()?.to_str()?.to_owned();
    Some(if path.is_empty() { ".".to_owned() } else { path })
}

fn get(node: NodeRef<'_>, name: &str) -> Option<String> {
    let value = node.step(&Segment::Key(name.to_owned()))?;
    Some(value.as_scalar()?.value().into_owned())
}

fn items<'a>(root: NodeRef<'a>, name: &str) -> Vec<NodeRef<'a>> {
    let list = root.step(&Segment::Key(name.to_owned())).and_then(NodeRef::as_sequence);
    list.into_iter().flat_map(|list| list.items()).collect()
}

fn add<'a>(text: &mut String, name: &str, entries: impl Iterator<Item = Vec<(&'a str, &'a str)>>) {
    for (at, entry) in entries.enumerate() {
        if at == 0 {
            text.push_str(&format!("{name}:\n"));
        }
        for (at, (key, value)) in entry.iter().enumerate() {
            let indent = if at == 0 { "- " } else { "  " };
            text.push_str(&format!("{indent}{key}: {}\n", scalar(value)));
        }
    }
}

/// A string as YAML writes it, quoted if it has to be.
fn scalar(text: &str) -> String {
    let file = File::parse("a: b\n".to_owned()).ok();
    let edited = file.as_ref().and_then(|file| {
        let mut edit = krm_yaml::Edit::new(file);
        let path = "a".parse().ok()?;
        edit.set_at(file.document(0)?, &path, Value::string(text.to_owned())).ok()?;
        edit.apply().ok()
    });
    edited.map_or_else(String::new, |it| {
        it.trim_start_matches("a: ").trim_end_matches('\n').to_owned()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn written_lock_file_is_read_back() {
        let git = |directory: &str| UpstreamLock {
            location: UpstreamLocation::Git {
                repo: "https://x.io/a.git".to_owned(),
                directory: directory.to_owned(),
            },
            reference: "1.0".to_owned(),
            revision: "0".repeat(40),
        };
        let oci = UpstreamLock {
            location: UpstreamLocation::Oci {
                image: "ghcr.io/x/y".to_owned(),
                directory: "/".to_owned(),
            },
            reference: "v1".to_owned(),
            revision: format!("sha256:{}", "0".repeat(64)),
        };
        let lock = LockFile {
            packages: vec![
                LockedPackage { path: "a".to_owned(), lock: git("/a") },
                LockedPackage { path: "b".to_owned(), lock: oci },
            ],
            images: vec![LockedImage { image: "x:v1".to_owned(), digest: "sha256:1".to_owned() }],
            charts: vec![LockedChart {
                repo: "https://charts.x.io".to_owned(),
                name: "redis".to_owned(),
                version: "1.10".to_owned(),
                digest: "sha256:2".to_owned(),
            }],
            signatures: vec![LockedSignature {
                images: "ghcr.io/x/*".to_owned(),
                signer: vec![("key", "cosign.pub".to_owned())],
            }],
        };
        let text = lock.to_text();
        assert!(text.contains("  ref: \"1.0\"\n"), "a number in quotes stays a string: {text}");
        let file = File::parse(text.clone()).unwrap();
        let read = LockFile::parse(&file).unwrap();
        assert_eq!(read, lock);
        assert_eq!(read.to_text(), text);
    }

    #[test]
    fn invalid_lock_file_is_an_error() {
        for text in [
            "version: 2\n",
            "packages: []\n",
            "version: 1\npackages:\n- path: a\n",
            "version: 1\nimages:\n- image: a\n",
            "version: 1\nsignatures:\n- images: a\n",
            "version: 1\nsignatures:\n- images: a\n  key: k\n  issuer: i\n",
        ] {
            let error = LockFile::parse(&File::parse(text.to_owned()).unwrap()).unwrap_err();
            assert_eq!(error.id(), "invalid-lock-file", "{text}");
        }
    }
}
