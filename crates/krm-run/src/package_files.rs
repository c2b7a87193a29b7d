//! The files that a functionConfig may name: those of its package, and those of directories that the user mounts.

use std::path::{Path, PathBuf};

use krm_core::PackagePath;

use crate::{DeclaredBy, Mount, RunKind};

/// The files that the functionConfig of a built-in function may name. A package from elsewhere can read no other file of the user.
#[derive(Clone, Debug)]
pub struct PackageFiles {
    /// The package whose files it may name; none for a list from standard input.
    pub(crate) package: Option<DeclaredBy>,
    /// Directories that it names by the paths that they would have in a container.
    pub(crate) mounts: Vec<Mount>,
    /// The user's working directory. An absolute path.
    pub(crate) working_directory: PathBuf,
}

/// A file or directory that a functionConfig names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LocatedFile {
    /// Where it is.
    pub(crate) path: PathBuf,
    /// The directory that it is in after its symlinks are followed: that of the package, or the mounted one.
    pub(crate) root: PathBuf,
}

impl PackageFiles {
    /// The location of a file; an absolute path is one in a mounted directory.
    pub(crate) fn locate(&self, path: &str) -> Result<LocatedFile, RunKind> {
        let outside = || RunKind::FileOutsidePackage { path: path.to_owned() };
        if path.starts_with('/') {
            return self.mounted(path).ok_or_else(outside)?.checked(path);
        }
        let package = self.package.as_ref().ok_or_else(outside)?;
        let located = package.locate(path, &self.working_directory)?;
        package.check_symlinks(path, &located)?;
        Ok(LocatedFile { path: located, root: package.root().unwrap_or(Path::new("/")).to_owned() })
    }

    /// Like [`PackageFiles::locate`]; a relative path may be that of a mounted directory, too, because containers run in `/`.
    pub(crate) fn locate_from_root(&self, path: &str) -> Result<LocatedFile, RunKind> {
        match self.mounted(&format!("/{}", path.trim_start_matches("./"))) {
            Some(mounted) if !path.starts_with('/') => mounted.checked(path),
            _ => self.locate(path),
        }
    }

    /// The path of a file of the package, from the directory of the package; a mounted directory may be part of the package.
    pub(crate) fn package_path(&self, path: &str) -> Result<PackagePath, RunKind> {
        let outside = || RunKind::FileOutsidePackage { path: path.to_owned() };
        let package = self.package.as_ref().ok_or_else(outside)?;
        if !path.starts_with('/') {
            return package.package_path(path).ok_or_else(outside);
        }
        let mounted = self.mounted(path).ok_or_else(outside)?;
        let root = package.root().and_then(|root| root.canonicalize().ok()).ok_or_else(outside)?;
        let (directory, name) =
            (mounted.path.parent(), mounted.path.file_name().and_then(|it| it.to_str()));
        let directory = directory.and_then(|it| it.canonicalize().ok()).ok_or_else(outside)?;
        let inside = directory.strip_prefix(root).ok().and_then(Path::to_str);
        let inside = inside.zip(name).map(|(directory, name)| match directory {
            "" => name.to_owned(),
            directory => format!("{directory}/{name}"),
        });
        inside.and_then(|path| PackagePath::new(&path).ok()).ok_or_else(outside)
    }

    fn mounted(&self, path: &str) -> Option<LocatedFile> {
        self.mounts.iter().find_map(|mount| {
            let (path, root) = (mount.host_path(path)?, mount.source_path().to_owned());
            Some(LocatedFile { path, root })
        })
    }
}

impl LocatedFile {
    /// Checks that an existing file is in its directory after its symlinks are followed.
    fn checked(self, path: &str) -> Result<Self, RunKind> {
        let declared_by = DeclaredBy::package(&self.root);
        declared_by.check_symlinks(path, &self.path).map(|()| self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_of_the_package_or_mounted() {
        let temporary = tempfile::tempdir().unwrap();
        let root = temporary.path().canonicalize().unwrap();
        let (package, charts) = (root.join("package"), root.join("charts"));
        for directory in [&package, &charts] {
            std::fs::create_dir(directory).unwrap();
            std::fs::write(directory.join("a"), "").unwrap();
        }
        let files = PackageFiles {
            package: Some(DeclaredBy::package(&package)),
            mounts: vec![Mount::bind(&charts, "/tmp/charts"), Mount::bind(&package, "/here")],
            working_directory: root,
        };
        let path = |located: Result<LocatedFile, RunKind>| located.map(|it| it.path).ok();
        assert_eq!(path(files.locate("a")), Some(package.join("a")));
        assert_eq!(path(files.locate("/tmp/charts/a")), Some(charts.join("a")));
        assert_eq!(path(files.locate("tmp/charts/a")), Some(package.join("tmp/charts/a")));
        assert_eq!(path(files.locate_from_root("tmp/charts/a")), Some(charts.join("a")));
        assert_eq!(path(files.locate_from_root("a")), Some(package.join("a")));
        for outside in ["../charts/a", "/etc/passwd", "/tmp/charts/../a", ""] {
            assert_eq!(path(files.locate(outside)), None, "{outside}");
            assert_eq!(path(files.locate_from_root(outside)), None, "{outside}");
        }
        let package_path = |path: &str| files.package_path(path).map(|it| it.to_string()).ok();
        assert_eq!(package_path("docs/README.md").as_deref(), Some("docs/README.md"));
        assert_eq!(package_path("/here/README.md").as_deref(), Some("README.md"));
        for outside in ["/tmp/charts/README.md", "../README.md", "/README.md"] {
            assert_eq!(package_path(outside), None, "{outside}");
        }
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink("../package/a", charts.join("out")).unwrap();
            assert_eq!(path(files.locate("/tmp/charts/out")), None);
        }
    }
}
