//! Paths of files in a package: relative, with slashes, and never outside of it.

use std::cmp::Ordering;
use std::fmt;
use std::sync::Arc;

use krm_yaml::diagnostic_kinds;

/// The path of a file, relative to its package. Paths are ordered directory by directory, as a walk visits them.
///
/// A value of this type cannot leave the package, which is why plans are keyed by it. Code that resolves a path of a document ends here.
///
/// ```
/// use krm_core::PackagePath;
///
/// assert_eq!(PackagePath::new("./base//web.yaml")?.as_str(), "base/web.yaml");
/// assert!(PackagePath::new("a..b.yaml").is_ok());
/// assert!(PackagePath::new("../web.yaml").is_err());
/// assert!(PackagePath::new("/etc/passwd").is_err());
/// # Ok::<(), krm_core::PackagePathError>(())
/// ```
/// Clones share the text, because every resource of a file has its path.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PackagePath(Arc<str>);

diagnostic_kinds! {
    /// Why a path cannot be one inside a package.
    pub enum PackagePathError {
        /// It starts at the root of the file system.
        Absolute { path: String } = "absolute-path": "expected a path relative to the package, found `{path}`";
        /// It has a `..` segment.
        OutsidePackage { path: String } = "path-outside-package": "path `{path}` leaves the package";
        /// It does not name a file.
        NotAFile { path: String } = "path-without-file-name": "path `{path}` does not name a file";
    }
}

impl PackagePath {
    /// Parses a path with slashes; `.` segments and doubled slashes are dropped.
    pub fn new(path: &str) -> Result<Self, PackagePathError> {
        let segments: Vec<&str> =
            path.split('/').filter(|part| !part.is_empty() && *part != ".").collect();
        let first = segments.first().copied().unwrap_or_default();
        if path.starts_with('/') || first.starts_with('\\') || starts_at_drive(first) {
            return Err(PackagePathError::Absolute { path: path.to_owned() });
        }
        // On Windows a backslash separates, too.
        if segments.iter().any(|part| part.split('\\').any(|part| part == "..")) {
            return Err(PackagePathError::OutsidePackage { path: path.to_owned() });
        }
        if segments.is_empty() || path.ends_with('/') || path.contains('\0') {
            return Err(PackagePathError::NotAFile { path: path.to_owned() });
        }
        Ok(Self(segments.join("/").into()))
    }

    /// The path with slashes.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The directory of the file; empty for the package itself.
    pub fn directory(&self) -> &str {
        self.0.rsplit_once('/').map_or("", |(directory, _)| directory)
    }

    /// The name of the file.
    pub fn name(&self) -> &str {
        self.0.rsplit_once('/').map_or(&self.0, |(_, name)| name)
    }

    /// The path as the package in a directory of this package knows it; none for a file outside that directory.
    ///
    /// ```
    /// use krm_core::PackagePath;
    ///
    /// let path = PackagePath::new("base/web.yaml")?;
    /// assert_eq!(path.relative_to("base"), PackagePath::new("web.yaml").ok());
    /// assert_eq!(path.relative_to("ba"), None);
    /// assert_eq!(path.relative_to("base").map(|path| path.in_directory("base")), Some(path));
    /// # Ok::<(), krm_core::PackagePathError>(())
    /// ```
    pub fn relative_to(&self, directory: &str) -> Option<Self> {
        match directory {
            "" => Some(self.clone()),
            _ => self.0.strip_prefix(directory)?.strip_prefix('/').map(|rest| Self(rest.into())),
        }
    }

    /// The path of this file of the package in `directory`, as the package around it knows it.
    pub fn in_directory(&self, directory: &str) -> Self {
        match directory {
            "" => self.clone(),
            _ => Self(format!("{directory}/{}", self.0).into()),
        }
    }

    /// Whether the file is in a directory or below it; the empty directory is the package itself.
    pub fn is_in(&self, directory: &str) -> bool {
        directory.is_empty()
            || self.0.strip_prefix(directory).is_some_and(|rest| rest.starts_with('/'))
    }

    /// Whether the file is JSON, by its name.
    pub fn is_json(&self) -> bool {
        Self::is_json_name(&self.0)
    }

    /// Whether a file name is one of a JSON file.
    pub fn is_json_name(name: &str) -> bool {
        let extension = name.len().checked_sub(5).and_then(|at| name.as_bytes().get(at..));
        extension.is_some_and(|extension| extension.eq_ignore_ascii_case(b".json"))
    }

    /// Whether this stands for standard input.
    pub fn is_stream(&self) -> bool {
        &*self.0 == "-"
    }

    /// Whether files of this name are loaded with a package.
    pub fn is_manifest_name(name: &str) -> bool {
        let by_ending = [".yaml", ".yml", ".json"].iter().any(|ending| name.ends_with(ending));
        by_ending || matches!(name, "Kptfile" | "Krmfile")
    }

    /// Whether the file is a Kptfile or Krmfile, which makes its directory a package.
    pub fn is_package_file(&self) -> bool {
        matches!(self.name(), "Kptfile" | "Krmfile")
    }
}

/// Whether the first segment of a path is a drive of Windows: `C:`, `C:\x`, and on Windows itself also `C:x`, which is relative to
/// the current directory of that drive. Elsewhere `a:b.yaml` is a file name like any other.
fn starts_at_drive(first: &str) -> bool {
    match first.as_bytes() {
        [letter, b':', rest @ ..] if letter.is_ascii_alphabetic() => {
            cfg!(windows) || matches!(rest, [] | [b'\\', ..])
        }
        _ => false,
    }
}

impl Ord for PackagePath {
    fn cmp(&self, other: &Self) -> Ordering {
        // By segment: the separator sorts before every other byte.
        let order = |byte: &u8| if *byte == b'/' { 0 } else { *byte };
        let (one, other) = (self.0.as_bytes(), other.0.as_bytes());
        // Paths of one package begin alike, and a large one is sorted and searched by them.
        let chunks = one.as_chunks::<8>().0.iter().zip(other.as_chunks::<8>().0);
        let same = 8 * chunks.take_while(|(one, other)| one == other).count();
        one[same..].iter().map(order).cmp(other[same..].iter().map(order))
    }
}

impl PartialOrd for PackagePath {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// The same text, shared.
impl From<&PackagePath> for Arc<str> {
    fn from(path: &PackagePath) -> Self {
        Arc::clone(&path.0)
    }
}

impl fmt::Display for PackagePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_outside_the_package_are_errors() {
        for path in
            ["", ".", "/", "a/", "..", "a/../b", "a/..", "C:/x", "C:", "C:\\x", "\\x", "a\0b"]
        {
            assert!(PackagePath::new(path).is_err(), "{path:?}");
        }
    }

    #[test]
    #[cfg(not(windows))]
    fn colon_is_part_of_a_file_name() {
        for path in ["a:b.yaml", "ab:c.yaml", ":a.yaml", "a:.yaml", "a:b/c.yaml", "x/c:/y.yaml"] {
            assert_eq!(PackagePath::new(path).unwrap().as_str(), path);
        }
    }

    #[test]
    fn path_is_split_into_directory_and_name() {
        let path = PackagePath::new("a/b/Kptfile").unwrap();
        assert_eq!(
            (path.directory(), path.name(), path.is_package_file()),
            ("a/b", "Kptfile", true)
        );
        assert_eq!(PackagePath::new("x.json").unwrap().directory(), "");
    }

    #[test]
    fn directory_sorts_before_one_whose_name_it_begins() {
        let [a, b] = ["a/x.yaml", "a-b/x.yaml"].map(|path| PackagePath::new(path).unwrap());
        assert!(a < b, "although `-` sorts before `/`");
    }

    #[test]
    fn paths_are_ordered_by_segment() {
        let paths = [
            "a", "a/-", "a/b", "a/b/c", "a/bé", "a b/c", "a-/x", "a.yaml", "é", "\u{1}", "\u{1}/a",
        ];
        let parts = |path: &PackagePath| path.0.split('/').map(str::to_owned).collect::<Vec<_>>();
        let paths = paths.map(|path| PackagePath::new(path).unwrap());
        for (one, other) in paths.iter().flat_map(|one| paths.iter().map(move |it| (one, it))) {
            assert_eq!(one.cmp(other), parts(one).cmp(&parts(other)), "{one} and {other}");
        }
    }
}
