//! Where a package comes from: `upstream` and `upstreamLock` of a Kptfile.

use krm_yaml::{Edit, EmptyParents, File, KeyPosition, NodeRef, Value};

use super::KptfileKind;
use crate::Diagnostic;
use crate::model::resource::{field, scalar_text};

/// A place that packages come from.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum UpstreamLocation {
    /// A directory of a git repository.
    Git {
        /// The URL of the repository.
        repo: String,
        /// The directory, with a slash at its start; `/` is the whole repository.
        directory: String,
    },
    /// A directory of an OCI image.
    Oci {
        /// The image without tag and digest.
        image: String,
        /// The directory, with a slash at its start; `/` is the whole image.
        directory: String,
    },
}

impl UpstreamLocation {
    /// The `type` of a Kptfile, which is also the name of the mapping with the details.
    pub fn type_name(&self) -> &'static str {
        match self {
            Self::Git { .. } => "git",
            Self::Oci { .. } => "oci",
        }
    }

    /// The repository or image.
    pub fn address(&self) -> &str {
        match self {
            Self::Git { repo: address, .. } | Self::Oci { image: address, .. } => address,
        }
    }

    /// The directory, with a slash at its start.
    pub fn directory(&self) -> &str {
        match self {
            Self::Git { directory, .. } | Self::Oci { directory, .. } => directory,
        }
    }
}

/// How `krm pkg update` combines local and upstream changes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum UpdateStrategy {
    /// A three-way merge of resources.
    #[default]
    ResourceMerge,
    /// Replace the package, but only if it has no local changes.
    FastForward,
    /// Replace the package, whatever its local changes are.
    ForceDeleteReplace,
    /// Copy upstream's files over local ones; files that only local has stay.
    CopyMerge,
}

impl UpdateStrategy {
    /// All strategies.
    pub const ALL: [Self; 4] =
        [Self::ResourceMerge, Self::FastForward, Self::ForceDeleteReplace, Self::CopyMerge];

    /// The name in a Kptfile.
    pub fn name(self) -> &'static str {
        match self {
            Self::ResourceMerge => "resource-merge",
            Self::FastForward => "fast-forward",
            Self::ForceDeleteReplace => "force-delete-replace",
            Self::CopyMerge => "copy-merge",
        }
    }
}

/// The `upstream` of a Kptfile: what the user wants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Upstream {
    /// Where the package comes from.
    pub location: UpstreamLocation,
    /// A branch, tag or commit; of an image, its tag.
    pub reference: String,
    /// The strategy, where the Kptfile names one.
    pub strategy: Option<UpdateStrategy>,
}

/// The `upstreamLock` of a Kptfile: the version that the package was last updated to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UpstreamLock {
    /// Where the package came from.
    pub location: UpstreamLocation,
    /// The reference that was asked for.
    pub reference: String,
    /// The commit, or the digest of the image.
    pub revision: String,
}

/// Reads `upstream` of a Kptfile. None if there is no upstream.
pub fn upstream(kptfile: &File) -> Result<Option<Upstream>, Diagnostic> {
    let Some(node) = root_field(kptfile, "upstream") else { return Ok(None) };
    let (location, details) = location(kptfile, node, "upstream")?;
    let reference = text(details, reference_field(&location)).unwrap_or_default();
    let strategy = match field(node, "updateStrategy") {
        None => None,
        Some(node) => {
            let name = scalar_text(node).unwrap_or_default();
            let known = UpdateStrategy::ALL.into_iter().find(|it| it.name() == name);
            let name = name.into_owned();
            let unknown = || at(kptfile, node, KptfileKind::UnknownStrategy { name });
            Some(known.ok_or_else(unknown)?)
        }
    };
    Ok(Some(Upstream { location, reference, strategy }))
}

/// Reads `upstreamLock` of a Kptfile. None if the package was never fetched, or if another tool manages its version.
pub fn upstream_lock(kptfile: &File) -> Result<Option<UpstreamLock>, Diagnostic> {
    let Some(node) = root_field(kptfile, "upstreamLock") else { return Ok(None) };
    if text(node, "type").is_some_and(|kind| kind == "generic") {
        return Ok(None);
    }
    let (location, details) = location(kptfile, node, "upstreamLock")?;
    let reference = text(details, reference_field(&location)).unwrap_or_default();
    let name = revision_field(&location);
    let missing =
        || missing(kptfile, details, &format!("upstreamLock.{}.{name}", location.type_name()));
    let revision = text(details, name).ok_or_else(missing)?;
    Ok(Some(UpstreamLock { location, reference, revision }))
}

/// The text of a Kptfile with this upstream and lock. Comments and the order of fields stay.
pub fn write_upstream(
    kptfile: &File,
    upstream: &Upstream,
    lock: &UpstreamLock,
) -> Result<String, Diagnostic> {
    let mut fields = vec![("upstream.type".to_owned(), upstream.location.type_name().to_owned())];
    fields.extend(details("upstream", &upstream.location, &upstream.reference, None));
    let strategy =
        upstream.strategy.map(|it| ("upstream.updateStrategy".to_owned(), it.name().to_owned()));
    fields.extend(strategy);
    fields.push(("upstreamLock.type".to_owned(), lock.location.type_name().to_owned()));
    fields.extend(details("upstreamLock", &lock.location, &lock.reference, Some(&lock.revision)));
    let others = [("upstream", &upstream.location), ("upstreamLock", &lock.location)];
    let text = with_parents(kptfile, others)?;
    let file = File::parse(text).map_err(|error| Diagnostic::from(&error))?;
    set_all(&file, &fields)
}

/// The text of the Kptfile `file` with name, upstream and lock of another one, as if the package had been fetched to the same place.
///
/// An update compares Kptfiles of different versions after this, because what `get` wrote is not a local change.
pub fn with_identity_of(file: &File, other: &File) -> Result<String, Diagnostic> {
    let (Some(document), Some(root)) =
        (file.document(0), file.document(0).and_then(|it| it.root()))
    else {
        return Ok(file.text().to_owned());
    };
    let mut edit = Edit::new(file);
    let refused = |error: krm_yaml::EditError| Diagnostic::from_edit(&error, file);
    for name in ["upstream", "upstreamLock"] {
        match (field(root, name), root_field(other, name)) {
            (None, None) => {}
            (Some(_), None) => {
                let path = krm_yaml::Path::default().join(name);
                edit.remove_at(document, &path, EmptyParents::Keep).map_err(refused)?;
            }
            (Some(own), Some(theirs)) => edit.set(own, Value::Node(theirs)).map_err(refused)?,
            (None, Some(theirs)) => edit
                .insert_key(root, name, Value::Node(theirs), KeyPosition::InOrder(&ORDER))
                .map_err(refused)?,
        }
    }
    let name = root_field(other, "metadata").and_then(|it| field(it, "name")).and_then(scalar_text);
    if let Some(name) = name {
        let path = krm_yaml::Path::default().join("metadata").join("name");
        edit.set_at(document, &path, Value::string(name.into_owned())).map_err(refused)?;
    }
    edit.apply().map_err(refused)
}

/// The text of a Kptfile with another name.
pub fn with_name(kptfile: &File, name: &str) -> Result<String, Diagnostic> {
    set_all(kptfile, &[("metadata.name".to_owned(), name.to_owned())])
}

/// The name of a package.
pub fn package_name(kptfile: &File) -> Option<String> {
    text(root_field(kptfile, "metadata")?, "name")
}

/// The order of the fields of a Kptfile.
const ORDER: [&str; 9] = [
    "apiVersion",
    "kind",
    "metadata",
    "upstream",
    "upstreamLock",
    "info",
    "pipeline",
    "inventory",
    "status",
];

fn root_field<'a>(file: &'a File, name: &str) -> Option<NodeRef<'a>> {
    field(file.document(0)?.root()?, name).filter(|it| !crate::model::resource::is_null(*it))
}

fn text(node: NodeRef<'_>, name: &str) -> Option<String> {
    field(node, name).and_then(scalar_text).map(|it| it.into_owned()).filter(|it| !it.is_empty())
}

fn at(file: &File, node: NodeRef<'_>, kind: KptfileKind) -> Diagnostic {
    Diagnostic::error(kind).at(file, node.span())
}

fn missing(file: &File, node: NodeRef<'_>, field: &str) -> Diagnostic {
    at(file, node, KptfileKind::MissingUpstreamField { field: field.to_owned() })
}

fn reference_field(location: &UpstreamLocation) -> &'static str {
    match location {
        UpstreamLocation::Git { .. } => "ref",
        UpstreamLocation::Oci { .. } => "tag",
    }
}

fn revision_field(location: &UpstreamLocation) -> &'static str {
    match location {
        UpstreamLocation::Git { .. } => "commit",
        UpstreamLocation::Oci { .. } => "digest",
    }
}

/// The location, and the mapping with its details.
fn location<'a>(
    file: &File,
    node: NodeRef<'a>,
    name: &str,
) -> Result<(UpstreamLocation, NodeRef<'a>), Diagnostic> {
    let kind = text(node, "type").unwrap_or_else(|| "git".to_owned());
    let address_field = match &*kind {
        "git" => "repo",
        "oci" => "image",
        _ => {
            let node = field(node, "type").unwrap_or(node);
            return Err(at(file, node, KptfileKind::UnknownUpstreamType { name: kind }));
        }
    };
    let details = field(node, &kind).filter(|it| it.as_mapping().is_some());
    let details = details.ok_or_else(|| missing(file, node, &format!("{name}.{kind}")))?;
    let path = || format!("{name}.{kind}.{address_field}");
    let address = text(details, address_field).ok_or_else(|| missing(file, details, &path()))?;
    let directory = slashed(&text(details, "directory").unwrap_or_default());
    let location = match address_field {
        "repo" => UpstreamLocation::Git { repo: address, directory },
        _ => UpstreamLocation::Oci { image: address, directory },
    };
    Ok((location, details))
}

/// A directory with a slash at its start and none at its end; `/` is the root.
pub fn slashed(directory: &str) -> String {
    let parts: Vec<&str> = directory.split('/').filter(|it| !it.is_empty() && *it != ".").collect();
    format!("/{}", parts.join("/"))
}

fn details(
    of: &str,
    location: &UpstreamLocation,
    reference: &str,
    revision: Option<&str>,
) -> Vec<(String, String)> {
    let address = match location {
        UpstreamLocation::Git { .. } => "repo",
        UpstreamLocation::Oci { .. } => "image",
    };
    let mut fields = vec![
        (address, location.address()),
        ("directory", location.directory()),
        (reference_field(location), reference),
    ];
    fields.extend(revision.map(|revision| (revision_field(location), revision)));
    let kind = location.type_name();
    fields
        .into_iter()
        .map(|(name, value)| (format!("{of}.{kind}.{name}"), value.to_owned()))
        .collect()
}

/// Adds `upstream` and `upstreamLock` where they are missing, in their usual place, and removes the details of another type.
fn with_parents(
    file: &File,
    others: [(&'static str, &UpstreamLocation); 2],
) -> Result<String, Diagnostic> {
    let refused = |error: krm_yaml::EditError| Diagnostic::from_edit(&error, file);
    let root = file.document(0).and_then(|it| it.root());
    let root = root.ok_or_else(|| Diagnostic::error(KptfileKind::EmptyKptfile))?;
    let mut edit = Edit::new(file);
    for (name, location) in others {
        let details = Value::Mapping(vec![
            (Value::from("type"), Value::from(location.type_name())),
            (Value::from(location.type_name()), Value::Mapping(Vec::new())),
        ]);
        match field(root, name) {
            Some(node) if node.as_mapping().is_some() => {
                let other = if location.type_name() == "git" { "oci" } else { "git" };
                let stale = [other, "generic"].into_iter().filter_map(|it| field(node, it));
                for node in stale {
                    edit.remove(node, EmptyParents::Keep).map_err(refused)?;
                }
            }
            Some(node) => edit.set(node, details).map_err(refused)?,
            None => edit
                .insert_key(root, name, details, KeyPosition::InOrder(&ORDER))
                .map_err(refused)?,
        }
    }
    edit.apply().map_err(refused)
}

/// Sets strings at paths, one after the other, so that new fields keep their order.
fn set_all(file: &File, fields: &[(String, String)]) -> Result<String, Diagnostic> {
    let mut text = file.text().to_owned();
    for (path, value) in fields {
        let file = File::parse(text).map_err(|error| Diagnostic::from(&error))?;
        let document =
            file.document(0).ok_or_else(|| Diagnostic::error(KptfileKind::EmptyKptfile))?;
        let path: krm_yaml::Path = path.parse().expect("the path is made of constants");
        let is_same = document.find(&path).and_then(scalar_text).is_some_and(|it| it == **value);
        let refused = |error: krm_yaml::EditError| Diagnostic::from_edit(&error, &file);
        let mut edit = Edit::new(&file);
        if !is_same {
            edit.set_at(document, &path, Value::string(value.clone())).map_err(refused)?;
        }
        text = edit.apply().map_err(refused)?;
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = "apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: shop # mine\n";

    fn file(text: &str) -> File {
        File::parse(text.to_owned()).unwrap()
    }

    fn git(reference: &str) -> (Upstream, UpstreamLock) {
        let location = UpstreamLocation::Git {
            repo: "https://example.com/repo.git".to_owned(),
            directory: "/shop".to_owned(),
        };
        let strategy = Some(UpdateStrategy::ResourceMerge);
        let revision = "0123456789abcdef0123456789abcdef01234567".to_owned();
        let reference = reference.to_owned();
        let upstream =
            Upstream { location: location.clone(), reference: reference.clone(), strategy };
        (upstream, UpstreamLock { location, reference, revision })
    }

    #[test]
    fn written_upstream_is_read_back() {
        let (upstream_in, lock_in) = git("v1");
        let text = write_upstream(
            &file(&format!("{HEAD}info:\n  description: x\n")),
            &upstream_in,
            &lock_in,
        )
        .unwrap();
        let written = file(&text);
        assert_eq!(upstream(&written).unwrap(), Some(upstream_in));
        assert_eq!(upstream_lock(&written).unwrap(), Some(lock_in));
        assert_eq!(
            text,
            format!(
                "{HEAD}upstream:\n  type: git\n  git:\n    repo: https://example.com/repo.git\n    directory: /shop\n    ref: v1\n  updateStrategy: resource-merge\nupstreamLock:\n  type: git\n  git:\n    repo: https://example.com/repo.git\n    directory: /shop\n    ref: v1\n    commit: 0123456789abcdef0123456789abcdef01234567\ninfo:\n  description: x\n"
            )
        );
    }

    #[test]
    fn only_changed_fields_are_written() {
        let (upstream, lock) = git("v1");
        let text = write_upstream(&file(HEAD), &upstream, &lock).unwrap();
        let text = text.replace("ref: v1\n  updateStrategy", "ref: v1 # pinned\n  updateStrategy");
        let (newer, newer_lock) = git("v2");
        let again = write_upstream(&file(&text), &newer, &newer_lock).unwrap();
        assert_eq!(again, text.replace("ref: v1", "ref: v2"));
    }

    #[test]
    fn identity_of_another_kptfile_is_taken_over() {
        let (upstream, lock) = git("v1");
        let local = file(&write_upstream(&file(HEAD), &upstream, &lock).unwrap());
        let other = file(
            "apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata: {name: base}\nupstream: {type: git}\npipeline: {}\n",
        );
        let text = with_identity_of(&other, &local).unwrap();
        let same = file(&text);
        assert_eq!(package_name(&same).as_deref(), Some("shop"));
        assert_eq!(super::upstream(&same).unwrap(), super::upstream(&local).unwrap());
        assert_eq!(upstream_lock(&same).unwrap(), upstream_lock(&local).unwrap());
        assert!(text.ends_with("pipeline: {}\n"), "{text}");
    }

    #[test]
    fn invalid_upstream_is_an_error() {
        for (text, id) in [
            ("upstream: {type: svn}\n", "unknown-upstream-type"),
            ("upstream: {type: git}\n", "missing-upstream-field"),
            ("upstream: {type: git, git: {ref: v1}}\n", "missing-upstream-field"),
            (
                "upstream: {type: git, git: {repo: x}, updateStrategy: y}\n",
                "unknown-update-strategy",
            ),
        ] {
            let error = upstream(&file(&format!("{HEAD}{text}"))).unwrap_err();
            assert_eq!(error.id(), id, "{text}");
        }
    }
}
