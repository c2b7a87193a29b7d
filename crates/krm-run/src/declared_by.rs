//! Who declares a function, which decides where the files that it names may be.

use std::path::{Path, PathBuf};

use krm_core::PackagePath;

use crate::RunKind;

/// Who declares a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeclaredBy {
    /// The user, on the command line. The files of the function may be anywhere, and commands are allowed.
    User,
    /// A package. The files of the function are files of the package, so that a package from elsewhere can neither read nor run
    /// another file of the user.
    Package {
        /// The directory of the package. An absolute path.
        root: PathBuf,
        /// The directory that relative paths start from, relative to the package and with slashes; empty for the package itself.
        directory: String,
    },
}

/// A package without a directory, in which no file is found: the strictest choice.
impl Default for DeclaredBy {
    fn default() -> Self {
        Self::package(PathBuf::new())
    }
}

impl DeclaredBy {
    /// A package whose relative paths start at its own directory.
    pub fn package(root: impl Into<PathBuf>) -> Self {
        Self::Package { root: root.into(), directory: String::new() }
    }

    /// The directory of the package; none for the user.
    pub(crate) fn root(&self) -> Option<&Path> {
        match self {
            Self::User => None,
            Self::Package { root, .. } => Some(root),
        }
    }

    /// The path of a file from the directory of the package; none if it is outside.
    pub(crate) fn package_path(&self, path: &str) -> Option<PackagePath> {
        match self {
            Self::User => None,
            Self::Package { directory, .. } => inside(directory, path),
        }
    }

    /// The location of a file that the function names. The path alone is checked here, and symlinks by [`Self::check_symlinks`].
    pub(crate) fn locate(&self, path: &str, working_directory: &Path) -> Result<PathBuf, RunKind> {
        match self {
            Self::User => Ok(working_directory.join(path)),
            Self::Package { root, directory } => match inside(directory, path) {
                Some(path) => Ok(root.join(path.as_str())),
                None => Err(RunKind::FileOutsidePackage { path: path.to_owned() }),
            },
        }
    }

    /// Checks that an existing file is inside the package after its symlinks are followed.
    pub(crate) fn check_symlinks(&self, path: &str, location: &Path) -> Result<(), RunKind> {
        let Self::Package { root, .. } = self else { return Ok(()) };
        let is_inside = match (root.canonicalize(), location.canonicalize()) {
            (Ok(root), Ok(file)) => file.starts_with(root),
            // A missing file is reported when it is opened. The target of a symlink that leaves the package is never opened.
            (Ok(_), Err(_)) => !location.is_symlink(),
            (Err(_), _) => false,
        };
        match is_inside {
            true => Ok(()),
            false => Err(RunKind::FileOutsidePackage { path: path.to_owned() }),
        }
    }
}

/// The path of a file of a package, from a directory of the package; none if it is absolute or leaves the package.
fn inside(directory: &str, path: &str) -> Option<PackagePath> {
    if path.starts_with('/') || Path::new(path).is_absolute() {
        return None;
    }
    let mut segments: Vec<&str> = directory.split('/').filter(|it| !it.is_empty()).collect();
    for segment in path.split('/').filter(|it| !it.is_empty() && *it != ".") {
        match segment {
            ".." => drop(segments.pop()?),
            _ => segments.push(segment),
        }
    }
    PackagePath::new(&segments.join("/")).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn declared_paths_stay_inside_the_package() {
        let path = |directory: &str, path: &str| {
            inside(directory, path).map(|path| path.as_str().to_owned())
        };
        assert_eq!(path("", "./bin//fn.sh").as_deref(), Some("bin/fn.sh"));
        assert_eq!(path("a/b", "../fn.star").as_deref(), Some("a/fn.star"));
        assert_eq!(path("a", "x:y.star").as_deref(), Some("a/x:y.star"));
        for (directory, outside) in [
            ("", "/bin/sh"),
            ("", "../fn.sh"),
            ("", "a/../../fn.sh"),
            ("a", "../../fn.sh"),
            ("a", "../../a/fn.sh"),
            ("", "C:/fn.sh"),
            ("", ".."),
            ("", ""),
        ] {
            assert_eq!(path(directory, outside), None, "{outside} in {directory}");
        }
    }

    #[test]
    #[cfg(unix)]
    fn symlinks_out_of_the_package_are_refused() {
        let temporary = tempfile::tempdir().unwrap();
        let root = temporary.path().join("package");
        std::fs::create_dir(&root).unwrap();
        std::fs::write(temporary.path().join("secret"), "").unwrap();
        std::fs::write(root.join("own"), "").unwrap();
        for (link, target) in [("in", "own"), ("out", "../secret"), ("gone", "../missing")] {
            std::os::unix::fs::symlink(target, root.join(link)).unwrap();
        }
        std::os::unix::fs::symlink("..", root.join("up")).unwrap();
        let package = DeclaredBy::package(&root);
        let check = |path: &str| {
            let location = package.locate(path, Path::new("/"))?;
            package.check_symlinks(path, &location)
        };
        for path in ["own", "in", "missing"] {
            assert_eq!(check(path), Ok(()), "{path}");
        }
        for path in ["out", "gone", "up/secret"] {
            assert!(matches!(check(path), Err(RunKind::FileOutsidePackage { .. })), "{path}");
        }
        assert!(DeclaredBy::default().check_symlinks("own", &root.join("own")).is_err());
    }
}
