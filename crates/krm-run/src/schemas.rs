//! The schemas that a built-in validator may read: what the user chose, files of the package, and mounted directories.

use std::io::ErrorKind;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use krm_catalog::{NamedBy, SchemaFiles};
use krm_core::Diagnostic;

use crate::execution::diagnostic;
use crate::{PackageFiles, RegularFileError, RunKind, read_regular_file};

/// The largest schema that is read.
const SCHEMA_LIMIT: u64 = 64 << 20;

/// What the user chose for all validators.
#[derive(Clone, Debug, Default)]
pub struct SchemaSettings {
    /// The Kubernetes version to validate against, unless a functionConfig names one.
    pub kubernetes_version: Option<String>,
    /// Locations of JSON Schemas: directories, or templates of paths.
    pub locations: Vec<String>,
    /// The names and texts of files with CustomResourceDefinitions.
    pub definitions: Vec<(String, String)>,
}

/// The schemas that one validator may read.
#[derive(Clone, Debug)]
pub struct GrantedSchemas {
    pub(crate) settings: SchemaSettings,
    pub(crate) files: PackageFiles,
    /// Whether a file was looked for.
    has_read: Arc<AtomicBool>,
}

impl GrantedSchemas {
    pub(crate) fn new(settings: SchemaSettings, files: PackageFiles) -> Self {
        Self { settings, files, has_read: Arc::default() }
    }

    /// Whether a file was looked for, whether it exists or not.
    pub(crate) fn has_read(&self) -> bool {
        self.has_read.load(Ordering::Relaxed)
    }
}

impl SchemaFiles for GrantedSchemas {
    fn kubernetes_version(&self) -> Option<&str> {
        self.settings.kubernetes_version.as_deref()
    }

    fn locations(&self) -> &[String] {
        &self.settings.locations
    }

    fn definitions(&self) -> &[(String, String)] {
        &self.settings.definitions
    }

    fn read(&self, path: &str, named_by: NamedBy) -> Result<Option<String>, Diagnostic> {
        self.has_read.store(true, Ordering::Relaxed);
        if named_by == NamedBy::User {
            return read(path, &self.files.working_directory.join(path));
        }
        let located = self.files.locate(path).map_err(outside)?;
        read(path, &located.path)
    }
}

fn outside(error: RunKind) -> Diagnostic {
    diagnostic(error)
        .hint("or use `--schema-location DIR`, or `--mount type=bind,src=DIR,dst=PATH`")
}

fn read(name: &str, location: &Path) -> Result<Option<String>, Diagnostic> {
    let failed = |reason: String| {
        Diagnostic::error(RunKind::CannotReadFile { path: name.to_owned(), reason })
    };
    let bytes = match read_regular_file(location, SCHEMA_LIMIT) {
        Ok(bytes) => bytes,
        Err(RegularFileError::Io(error))
            if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) =>
        {
            return Ok(None);
        }
        Err(RegularFileError::Io(error)) => return Err(failed(error.to_string())),
        Err(RegularFileError::NotRegular) => return Err(failed("not a regular file".to_owned())),
        Err(RegularFileError::TooLarge { .. }) => {
            return Err(failed(format!("the file is larger than {} MiB", SCHEMA_LIMIT >> 20)));
        }
    };
    let text = String::from_utf8(bytes).map_err(|_| failed("not valid UTF-8".to_owned()))?;
    Ok(Some(text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{DeclaredBy, Mount};

    #[test]
    fn only_files_of_the_package_and_mounted_files_are_read() {
        let temporary = tempfile::tempdir().unwrap();
        let (package, other) = (temporary.path().join("package"), temporary.path().join("other"));
        for directory in [&package, &other] {
            std::fs::create_dir(directory).unwrap();
            std::fs::write(directory.join("a.json"), "{}").unwrap();
        }
        let schemas = GrantedSchemas::new(
            SchemaSettings::default(),
            PackageFiles {
                package: Some(DeclaredBy::package(&package)),
                mounts: vec![Mount::bind(&other, "/schemas")],
                working_directory: temporary.path().to_owned(),
            },
        );
        let read = |path: &str, named_by| schemas.read(path, named_by).map(|it| it.is_some());
        for path in ["a.json", "/schemas/a.json"] {
            assert!(matches!(read(path, NamedBy::Config), Ok(true)), "{path}");
        }
        for path in ["b.json", "/schemas/b.json", "a.json/b.json"] {
            assert!(matches!(read(path, NamedBy::Config), Ok(false)), "{path}");
        }
        let absolute = other.join("a.json");
        for path in
            ["../other/a.json", "/schemas/../../x", "/schemasx/a.json", absolute.to_str().unwrap()]
        {
            assert!(read(path, NamedBy::Config).is_err(), "{path}");
        }
        assert!(matches!(read("other/a.json", NamedBy::User), Ok(true)));
        assert!(read("other", NamedBy::User).is_err());
        let files = PackageFiles { package: None, ..schemas.files.clone() };
        let list = GrantedSchemas { files, ..schemas.clone() };
        assert!(list.read("a.json", NamedBy::Config).is_err());
    }
}
