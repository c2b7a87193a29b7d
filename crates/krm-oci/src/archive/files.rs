//! Packages as archives: small files in memory, written so that the same files are always the same bytes.

use std::collections::BTreeMap;
use std::io::{self, Write};

use super::{Archive, EntryKind, Used, components};
use crate::{ArchiveLimits, OciKind};

/// A file of a package.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PackageFile {
    /// The path within the package, with slashes.
    pub path: String,
    /// The content.
    pub data: Vec<u8>,
    /// Whether it is executable.
    pub executable: bool,
}

/// An entry of an archive that is not a file or directory, and was left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkippedEntry {
    /// The path within the package.
    pub path: String,
    /// What it is.
    pub what: &'static str,
}

/// Writes files as a gzip-compressed archive: sorted by path, without owners and times.
///
/// ```
/// use krm_oci::{ArchiveLimits, PackageFile, pack, unpack_files};
///
/// let file = PackageFile { path: "Kptfile".into(), data: b"kind: Kptfile\n".to_vec(), executable: false };
/// let archive = pack(std::slice::from_ref(&file))?;
/// let (files, skipped) = unpack_files(&archive, &ArchiveLimits::of_package())?;
/// assert_eq!((files, skipped.len()), (vec![file], 0));
/// # Ok::<(), krm_oci::OciKind>(())
/// ```
///
/// # Errors
/// If a path is not one of a package, or occurs twice.
pub fn pack(files: &[PackageFile]) -> Result<Vec<u8>, OciKind> {
    let limits = ArchiveLimits::of_package();
    let mut sorted = BTreeMap::new();
    for file in files {
        check_path(&file.path, &limits)?;
        if sorted.insert(file.path.as_str(), file).is_some() {
            return Err(super::invalid(&file.path, "the path occurs twice"));
        }
    }
    write(sorted.values().copied()).map_err(|error| super::malformed(&error))
}

fn write<'a>(files: impl Iterator<Item = &'a PackageFile>) -> io::Result<Vec<u8>> {
    // The header of the stream contains neither a time nor a name nor an operating system.
    let gzip = flate2::GzBuilder::new().mtime(0).operating_system(255);
    let mut builder = tar::Builder::new(gzip.write(Vec::new(), flate2::Compression::default()));
    builder.mode(tar::HeaderMode::Deterministic);
    for file in files {
        let mut header = tar::Header::new_gnu();
        header.set_size(file.data.len() as u64);
        header.set_mode(if file.executable { 0o755 } else { 0o644 });
        header.set_mtime(0);
        builder.append_data(&mut header, &file.path, &*file.data)?;
    }
    let mut gzip = builder.into_inner()?;
    gzip.flush()?;
    gzip.finish()
}

/// The files of an archive, sorted by path. Links, devices and pipes are left out and listed.
///
/// # Errors
/// If the archive is malformed, exceeds a limit, or has a path that does not belong into a package.
pub fn unpack_files(
    archive: &[u8],
    limits: &ArchiveLimits,
) -> Result<(Vec<PackageFile>, Vec<SkippedEntry>), OciKind> {
    let source = super::decompress(super::Compression::Gzip, archive);
    let mut archive = Archive::new(source, *limits, Used::default());
    let (mut files, mut skipped) = (BTreeMap::new(), Vec::new());
    while let Some(entry) = archive.next()? {
        let path = String::from_utf8(entry.path.join(&b'/'))
            .map_err(|_| entry.invalid("the path is not UTF-8"))?;
        let what = match entry.kind {
            EntryKind::Directory => continue,
            EntryKind::File => {
                check_path(&path, limits)?;
                let mut data = Vec::new();
                let mut buffer = [0; 16 << 10];
                loop {
                    match archive.read(&mut buffer)? {
                        0 => break,
                        count => data.extend_from_slice(&buffer[..count]),
                    }
                }
                let executable = entry.mode & 0o111 != 0;
                let file = PackageFile { path: path.clone(), data, executable };
                if files.insert(path, file).is_some() {
                    return Err(entry.invalid("the path occurs twice"));
                }
                continue;
            }
            EntryKind::Symlink => "a symlink",
            EntryKind::HardLink => "a hard link",
            EntryKind::Special => "a device or pipe",
        };
        skipped.push(SkippedEntry { path, what });
    }
    archive.finish()?;
    Ok((files.into_values().collect(), skipped))
}

/// Files of a package have relative paths, and are never files of git: hooks there are programs that git runs.
fn check_path(path: &str, limits: &ArchiveLimits) -> Result<(), OciKind> {
    let names = components(path.as_bytes(), limits)?;
    let is_canonical = !names.is_empty() && names.join(&b'/') == path.as_bytes();
    let is_git = |name: &[u8]| {
        let trimmed = name.trim_ascii_end();
        trimmed.eq_ignore_ascii_case(b".git") || trimmed.eq_ignore_ascii_case(b"git~1")
    };
    let is_special = path.contains('\\') || path.chars().any(char::is_control);
    if !is_canonical || is_special || names.iter().any(|name| is_git(name)) {
        return Err(super::invalid(path, "not the path of a file of a package"));
    }
    Ok(())
}
