//! Files that a command writes besides the package, such as results: staged and renamed, without following symlinks.

use std::ffi::{OsStr, OsString};
use std::fs::{Metadata, OpenOptions};
use std::io::{self, Write};
use std::path::{Component, Path, PathBuf};

use super::journal::STAGED;
use super::random_number;
use super::read::is_stream;
use super::root::Directory;

/// Only for the owner: results can quote the values of Secrets.
const PRIVATE: u32 = 0o600;

/// Writes a file in a directory that is created if it is missing. A file of this name is replaced, and so is a symlink.
pub(crate) fn write_output(directory: &Path, name: &str, text: &str) -> io::Result<()> {
    let directory = open_or_create(directory)?;
    let staged = OsString::from(format!("{STAGED}{:016x}", random_number()));
    let written =
        stage(&directory, &staged, text).and_then(|()| directory.rename(&staged, OsStr::new(name)));
    written.inspect_err(|_| _ = directory.remove_file(&staged))
}

/// Whether a name is that of a descriptor of the process, such as `/dev/stderr` and that of `>(command)` in a shell, or of a pipe, a
/// socket or a device. It is written to, and not replaced. A symlink to one could come from a package, and is replaced.
pub(crate) fn is_output_stream(name: &str) -> bool {
    name == "/dev/stderr" || is_stream(name) || is_special(Path::new(name))
}

fn is_special(path: &Path) -> bool {
    let is_special = |it: &Metadata| !it.is_file() && !it.is_dir() && !it.is_symlink();
    std::fs::symlink_metadata(path).is_ok_and(|it| is_special(&it))
}

/// Writes to a pipe or a device. What a descriptor of the process has already is kept.
pub(crate) fn write_to_stream(name: &str, text: &str) -> io::Result<()> {
    match name {
        // Opened again, a file would have a position of its own, and what is printed later would replace the text.
        "/dev/stderr" | "/dev/fd/2" => io::stderr().write_all(text.as_bytes()),
        _ => OpenOptions::new().append(true).open(name)?.write_all(text.as_bytes()),
    }
}

fn stage(directory: &Directory, name: &OsStr, text: &str) -> io::Result<()> {
    let mut file = directory.create(Path::new(name), PRIVATE)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()
}

/// Opens a directory that the user named. Below the current directory no symlink is followed, because it could come from a package;
/// elsewhere only the last component must not be one.
fn open_or_create(path: &Path) -> io::Result<Directory> {
    let parts: Vec<Component<'_>> =
        path.components().filter(|part| *part != Component::CurDir).collect();
    let is_normal = |part: &Component<'_>| matches!(part, Component::Normal(_));
    let below = match path.is_absolute() {
        true => parts.len().saturating_sub(1),
        false => parts.iter().take_while(|part| !is_normal(part)).count(),
    };
    let (above, below) = parts.split_at(below);
    let above: PathBuf = above.iter().collect();
    if path.is_absolute() {
        std::fs::create_dir_all(&above)?;
    }
    let above = if above.as_os_str().is_empty() { Path::new(".") } else { &above };
    let mut directory = Directory::open(above)?;
    for part in below {
        let name = part.as_os_str();
        directory = match directory.directory(Path::new(name)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                match directory.create_directory(name) {
                    Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                        return Err(error);
                    }
                    _ => directory.directory(Path::new(name))?,
                }
            }
            opened => opened?,
        };
    }
    Ok(directory)
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    #[test]
    fn output_is_private_and_replaces_a_symlink() {
        let temporary = tempfile::tempdir().unwrap();
        let directory = temporary.path().join("a/results");
        fs::write(temporary.path().join("victim"), "untouched").unwrap();
        write_output(&directory, "results.yaml", "one").unwrap();
        let file = directory.join("results.yaml");
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
        fs::remove_file(&file).unwrap();
        symlink("../../victim", &file).unwrap();
        write_output(&directory, "results.yaml", "two").unwrap();
        assert_eq!(fs::read_to_string(&file).unwrap(), "two");
        assert!(!file.is_symlink());
        assert_eq!(fs::read_to_string(temporary.path().join("victim")).unwrap(), "untouched");
        assert_eq!(fs::read_dir(&directory).unwrap().count(), 1);
    }

    #[test]
    fn directory_that_is_a_symlink_is_refused() {
        let temporary = tempfile::tempdir().unwrap();
        let link = temporary.path().join("link");
        fs::create_dir(temporary.path().join("elsewhere")).unwrap();
        symlink("elsewhere", &link).unwrap();
        assert!(super::super::root::is_refused(&write_output(&link, "r", "").unwrap_err()));
        assert_eq!(fs::read_dir(temporary.path().join("elsewhere")).unwrap().count(), 0);
    }

    #[test]
    fn failed_output_leaves_no_staged_file() {
        let temporary = tempfile::tempdir().unwrap();
        fs::create_dir_all(temporary.path().join("results.yaml/in-use")).unwrap();
        write_output(temporary.path(), "results.yaml", "").unwrap_err();
        assert_eq!(fs::read_dir(temporary.path()).unwrap().count(), 1);
    }
}
