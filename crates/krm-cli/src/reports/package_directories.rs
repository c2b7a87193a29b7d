//! The package that a file belongs to, found by the Kptfiles on disk.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// The package directories of the directories that were asked for.
#[derive(Debug, Default)]
pub(super) struct PackageDirectories {
    known: HashMap<PathBuf, Option<PathBuf>>,
}

impl PackageDirectories {
    /// The directory of the innermost package that contains a file; the directory of the file if it is in no package. The current
    /// directory is `.`.
    pub(super) fn of(&mut self, file: &str) -> String {
        let directory = Path::new(file).parent().unwrap_or(Path::new(""));
        let package = self.find(directory).unwrap_or_else(|| directory.to_owned());
        match package.to_string_lossy() {
            name if name.is_empty() => ".".to_owned(),
            name => name.into_owned(),
        }
    }

    fn find(&mut self, directory: &Path) -> Option<PathBuf> {
        if let Some(known) = self.known.get(directory) {
            return known.clone();
        }
        let is_package = ["Kptfile", "Krmfile"].iter().any(|name| directory.join(name).is_file());
        let package = match directory.parent() {
            _ if is_package => Some(directory.to_owned()),
            Some(parent) => self.find(parent),
            None => None,
        };
        self.known.insert(directory.to_owned(), package.clone());
        package
    }
}
