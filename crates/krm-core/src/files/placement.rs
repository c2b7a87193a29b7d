//! Where a resource goes that has no place yet, and whether a place that somebody names will do.

use std::collections::BTreeSet;
use std::fmt;

use crate::model::package::Package;
use crate::model::package_path::{PackagePath, PackagePathError};
use crate::model::resource::Identity;

/// Longer names are cut; most disks take 255 bytes.
const MOST_BYTES: usize = 120;

/// Why a file cannot stand at a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PlacementError {
    /// It is no path inside a package.
    Path(PackagePathError),
    /// It is a folder of the package.
    Folder(PackagePath),
    /// It goes through a file of the package as if that were a folder.
    File(PackagePath),
    /// It belongs to git, or to krm's own writing.
    Reserved(PackagePath),
}

impl fmt::Display for PlacementError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Path(error) => error.fmt(f),
            Self::Folder(path) => write!(f, "`{path}` is a folder; a file is wanted"),
            Self::File(path) => write!(f, "`{path}` goes through a file as if that were a folder"),
            Self::Reserved(path) => {
                write!(f, "`{path}` is not for resources: git and krm keep their own files there")
            }
        }
    }
}

impl std::error::Error for PlacementError {}

/// The placement of a package, taken and free. What is asked for is taken from then on.
///
/// ```
/// use krm_core::files::Placement;
/// use krm_core::{Identity, Package};
///
/// let web = Identity {
///     group: "apps".into(), kind: "Deployment".into(), namespace: "Shop".into(), name: "web:1".into(),
/// };
/// let mut placement = Placement::of(&Package::default());
/// assert_eq!(placement.new_file(&web).as_str(), "Shop/deployment_web-1.yaml");
/// assert_eq!(placement.new_file(&web).as_str(), "Shop/deployment_web-1_2.yaml");
/// assert!(placement.claim("a..b.yaml").is_ok());
/// assert!(placement.claim("a/../../b.yaml").is_err());
/// ```
#[derive(Clone, Debug, Default)]
pub struct Placement {
    /// In lower case, because some disks do not tell the cases apart.
    files: BTreeSet<String>,
    /// Folders of packages inside this one, and others that are closed to it.
    packages: BTreeSet<String>,
}

impl Placement {
    /// The placement of a package.
    pub fn of(package: &Package) -> Self {
        let files = package.files().iter().map(|file| file.path.as_str().to_lowercase());
        let inner = package.roots().iter().filter(|root| !root.is_empty());
        Self { files: files.collect(), packages: inner.map(|root| root.to_lowercase()).collect() }
    }

    /// Closes folders to this package, as if they were packages of their own.
    pub fn exclude(&mut self, folders: &[String]) {
        self.packages.extend(folders.iter().map(|folder| folder.to_lowercase()));
    }

    /// The folder of the innermost package that a path is in, in lower case; empty for this one.
    pub fn package_of(&self, path: &PackagePath) -> &str {
        let lower = path.directory().to_lowercase();
        let mut folder = lower.as_str();
        loop {
            match self.packages.get(folder) {
                Some(package) => return package,
                None if folder.is_empty() => return "",
                None => folder = folder.rsplit_once('/').map_or("", |(above, _)| above),
            }
        }
    }

    /// A new file for a resource: `[namespace/]kind_name.yaml`, with a number where that is taken.
    pub fn new_file(&mut self, identity: &Identity) -> PackagePath {
        let kind = file_name_segment(&identity.kind);
        // Compat: names and namespaces are written as they are, and kinds in lower case.
        let name = plain(identity.name.chars());
        let stem = if name.is_empty() { kind } else { format!("{kind}_{name}") };
        let stem = if stem.is_empty() { "resource".to_owned() } else { stem };
        let namespace = plain(identity.namespace.chars());
        let is_inner = self.packages.contains(&namespace.to_lowercase());
        let stem = match &*namespace {
            "" => stem,
            // A resource of this package does not go into another one.
            namespace if is_inner => format!("{namespace}_{stem}"),
            namespace => format!("{namespace}/{stem}"),
        };
        let numbered = |number: usize| match number {
            1 => format!("{stem}.yaml"),
            _ => format!("{stem}_{number}.yaml"),
        };
        let free = (1..).map(numbered).find_map(|path| {
            let path = self.check(&path).ok()?;
            (!self.files.contains(&path.as_str().to_lowercase())).then_some(path)
        });
        let path = free.expect("there are more numbers than files");
        self.files.insert(path.as_str().to_lowercase());
        path
    }

    /// The path that somebody names for a resource; other resources may stand in that file.
    pub fn claim(&mut self, path: &str) -> Result<PackagePath, PlacementError> {
        let path = self.check(path)?;
        self.files.insert(path.as_str().to_lowercase());
        Ok(path)
    }

    /// Whether a file can stand at a path that somebody names; nothing is taken.
    pub fn check(&self, path: &str) -> Result<PackagePath, PlacementError> {
        let path = PackagePath::new(path).map_err(PlacementError::Path)?;
        let lower = path.as_str().to_lowercase();
        let is_reserved = |part: &str| part == ".git" || part.starts_with(".krm-");
        if lower.split('/').any(is_reserved) {
            return Err(PlacementError::Reserved(path));
        }
        let inside = format!("{lower}/");
        if self.files.range(inside.clone()..).next().is_some_and(|it| it.starts_with(&inside)) {
            return Err(PlacementError::Folder(path));
        }
        let mut above = lower.as_str();
        while let Some((folder, _)) = above.rsplit_once('/') {
            if self.files.contains(folder) {
                return Err(PlacementError::File(path));
            }
            above = folder;
        }
        Ok(path)
    }
}

/// Lower case, and only what every disk and shell takes; never hidden, never a dot segment.
pub(crate) fn file_name_segment(text: &str) -> String {
    plain(text.chars().flat_map(char::to_lowercase))
}

fn plain(text: impl Iterator<Item = char>) -> String {
    let plain = text.map(|c| match c {
        'a'..='z' | 'A'..='Z' | '0'..='9' | '.' | '-' => c,
        _ => '-',
    });
    let text: String = plain.take(MOST_BYTES).collect();
    text.trim_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::package::tests::package;
    use proptest::prelude::*;

    fn identity(kind: &str, namespace: &str, name: &str) -> Identity {
        let text = str::to_owned;
        Identity {
            group: String::new(),
            kind: text(kind),
            namespace: text(namespace),
            name: text(name),
        }
    }

    #[test]
    fn a_new_file_is_never_one_that_is_there() {
        let package = package(&[
            ("pod_a.yaml", ""),
            ("POD_B.yaml", ""),
            ("pod_c.yaml/x.yaml", ""),
            ("inner/Kptfile", ""),
        ]);
        let mut placement = Placement::of(&package);
        let mut place = |namespace: &str, name: &str| {
            placement.new_file(&identity("Pod", namespace, name)).to_string()
        };
        assert_eq!(place("", "a"), "pod_a_2.yaml");
        assert_eq!(place("", "a"), "pod_a_3.yaml");
        assert_eq!(place("", "b"), "pod_b_2.yaml");
        assert_eq!(place("Shop", "myWeb"), "Shop/pod_myWeb.yaml");
        assert_eq!(place("shop", "myweb"), "shop/pod_myweb_2.yaml");
        assert_eq!(place("", "c"), "pod_c_2.yaml");
        assert_eq!(place("", ""), "pod.yaml");
        assert_eq!(place("inner", "a"), "inner_pod_a.yaml");
        assert_eq!(place("..", "../../etc/passwd"), "pod_-..-etc-passwd.yaml");
        assert_eq!(place(".git", "x"), "git/pod_x.yaml");
        assert_eq!(placement.new_file(&identity("", "", "")).as_str(), "resource.yaml");
    }

    #[test]
    fn a_place_that_will_not_do_is_refused_with_its_reason() {
        let mut placement = Placement::of(&package(&[("a/b.yaml", "")]));
        let mut why = |path: &str| placement.claim(path).unwrap_err().to_string();
        assert_eq!(why("/a"), "expected a path relative to the package, found `/a`");
        assert_eq!(why("x/../../a"), "path `x/../../a` leaves the package");
        assert_eq!(why("a"), "`a` is a folder; a file is wanted");
        assert_eq!(why("a/"), "path `a/` does not name a file");
        assert_eq!(why("a/b.yaml/c"), "`a/b.yaml/c` goes through a file as if that were a folder");
        assert!(why(".git/hooks/pre-commit").contains("not for resources"));
        assert!(why("x/.krm-journal").contains("not for resources"));
        assert_eq!(placement.claim("a/b.yaml").unwrap().as_str(), "a/b.yaml");
        assert_eq!(placement.claim("a..b.yaml").unwrap().as_str(), "a..b.yaml");
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn never_wider(kind: String, namespace: String, name: String, path in "[./a-z\\\\:]{0,12}") {
            let mut placement = Placement::default();
            let made = placement.new_file(&identity(&kind, &namespace, &name));
            let given = placement.claim(&path);
            for path in std::iter::once(&made).chain(given.as_ref().ok()) {
                let segments: Vec<&str> = path.as_str().split('/').collect();
                prop_assert!(!segments.iter().any(|part| part.is_empty() || matches!(*part, "." | ".." | ".git")), "{path}");
                prop_assert!(!path.as_str().starts_with(['/', '\\']), "{path}");
            }
            prop_assert!(made.as_str().ends_with(".yaml") && made.as_str().len() < 400);
            prop_assert!(!made.as_str().split('/').any(|part| part.starts_with('.')), "{made}");
            prop_assert_ne!(placement.new_file(&identity(&kind, &namespace, &name)), made);
        }
    }
}
