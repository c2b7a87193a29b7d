//! An image with a shell, `cat` and the libraries of krm, for Dockerfiles whose own base would come from a registry.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

use super::{engine, libraries_of};

pub(crate) const BASE: &str = "example.com/krm-cli-tests/base:v1";

/// Whether there is a container engine with the base image: a shell, `cat` and the libraries of both and of krm.
pub(crate) fn has_base() -> bool {
    match import() {
        Ok(()) => true,
        Err(why) if std::env::var_os("KRM_REQUIRE_ENGINE").is_some() => {
            panic!("KRM_REQUIRE_ENGINE is set, and there is no base for images: {why}")
        }
        Err(why) => {
            println!("skipped: images: {why}");
            false
        }
    }
}

fn import() -> Result<(), String> {
    let answers = Command::new(engine()).arg("version").output();
    if !answers.is_ok_and(|it| it.status.success()) {
        return Err("no container engine is available".to_owned());
    }
    let root = tempfile::tempdir().unwrap();
    let mut files = BTreeSet::from(["/bin/bash".to_owned(), "/bin/cat".to_owned()]);
    for program in ["/bin/bash", "/bin/cat", env!("CARGO_BIN_EXE_krm")] {
        files.extend(libraries_of(program)?);
    }
    for file in files {
        let inside = root.path().join(file.trim_start_matches('/'));
        fs::create_dir_all(inside.parent().unwrap()).unwrap();
        fs::copy(&file, inside).map_err(|error| format!("{file}: {error}"))?;
    }
    let archive = tempfile::NamedTempFile::new().unwrap();
    let mut tar = Command::new("tar");
    tar.arg("-C").arg(root.path()).arg("-cf").arg(archive.path()).arg(".");
    assert!(tar.status().unwrap().success());
    let imported = Command::new(engine()).arg("import").arg(archive.path()).arg(BASE).output();
    let imported = imported.map_err(|error| error.to_string())?;
    let stderr = String::from_utf8_lossy(&imported.stderr).into_owned();
    if imported.status.success() { Ok(()) } else { Err(stderr) }
}

/// Copies krm without debug information, because engines copy it more than once.
pub(crate) fn copy_krm(into: &Path) {
    let own = env!("CARGO_BIN_EXE_krm");
    let stripped = Command::new("strip").arg("-o").arg(into).arg(own).status();
    if !stripped.is_ok_and(|status| status.success()) {
        fs::copy(own, into).unwrap();
    }
}
