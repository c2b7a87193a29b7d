//! Files and standard input: read whole, and written whole or not at all.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use krm_core::{Action, Change, Diagnostic, Plan};
use krm_yaml::{File, ReadOptions};
use tempfile::NamedTempFile;

/// What people type for standard input and output.
pub(crate) const STDIN: &str = "-";

/// The name that messages give a file.
pub(crate) fn shown(name: &str) -> &str {
    if name == STDIN { "<stdin>" } else { name }
}

/// Reads and parses a file, or standard input.
pub(crate) fn parse(name: &str, options: ReadOptions) -> Result<File, Diagnostic> {
    let bytes = read(name).map_err(|diagnostic| diagnostic.in_file(shown(name)))?;
    krm_yaml::decode(bytes)
        .and_then(|text| File::parse_with(text, options))
        .map_err(|error| Diagnostic::from(&error).in_file(shown(name)))
}

fn read(name: &str) -> Result<Vec<u8>, Diagnostic> {
    let mut bytes = Vec::new();
    let outcome = match name {
        STDIN => io::stdin().lock().read_to_end(&mut bytes).map(|_| bytes),
        path => fs::read(path),
    };
    outcome.map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => Diagnostic::error("there is no such file"),
        io::ErrorKind::IsADirectory => Diagnostic::error("this is a folder, and files are wanted")
            .hint(format!("name its files: {}/*.yaml", name.trim_end_matches('/'))),
        _ => Diagnostic::error(format!("it cannot be read: {}", reason(&error))),
    })
}

/// Makes every change of the plan: all contents are staged beside their targets before the first is renamed.
pub(crate) fn write(plan: &Plan) -> Result<(), Diagnostic> {
    let mut staged: BTreeMap<PathBuf, Staged<'_>> = BTreeMap::new();
    for change in plan.changes() {
        let next = Staged::new(change).map_err(|diagnostic| diagnostic.in_file(&*change.path))?;
        if let Some(other) = staged.get(&next.target) {
            let message = format!("this is the same file as {}; name it once", other.change.path);
            return Err(Diagnostic::error(message).in_file(&*change.path));
        }
        staged.insert(next.target.clone(), next);
    }
    for stage in staged.values() {
        stage.is_as_it_was_read().map_err(|diagnostic| diagnostic.in_file(&*stage.change.path))?;
    }
    for (_, stage) in staged {
        let path = &*stage.change.path;
        stage.finish().map_err(|diagnostic| diagnostic.in_file(path))?;
    }
    Ok(())
}

/// A change whose content lies beside its target, under a name of its own.
struct Staged<'a> {
    change: &'a Change,
    /// The file itself, where the name leads to it through links.
    target: PathBuf,
    /// None for a file that goes away.
    content: Option<NamedTempFile>,
}

impl<'a> Staged<'a> {
    fn new(change: &'a Change) -> Result<Self, Diagnostic> {
        if let (None, Some(text)) = (&change.old, &change.new) {
            let target = PathBuf::from(&change.path);
            let content = stage(text, &target, None).map_err(|error| cannot_write(&error))?;
            return Ok(Self { change, target, content: Some(content) });
        }
        let target = fs::canonicalize(&change.path).map_err(|error| cannot_write(&error))?;
        let metadata = fs::metadata(&target).map_err(|error| cannot_write(&error))?;
        if !metadata.is_file() {
            return Err(Diagnostic::error("only regular files are written")
                .hint("`-` reads standard input and writes standard output"));
        }
        if metadata.permissions().readonly() {
            return Err(Diagnostic::error("the file is read-only")
                .hint("make it writable, or write a copy"));
        }
        let content = match (&change.new, change.action()) {
            (Some(text), Action::Write) => {
                Some(stage(text, &target, Some(&metadata)).map_err(|error| cannot_write(&error))?)
            }
            _ => None,
        };
        Ok(Self { change, target, content })
    }

    /// Somebody else may have written since; their work is not ours to overwrite.
    fn is_as_it_was_read(&self) -> Result<(), Diagnostic> {
        if self.change.old.is_none() && fs::symlink_metadata(&self.target).is_err() {
            return Ok(());
        }
        let now = fs::read(&self.target).map_err(|error| cannot_write(&error))?;
        if self.change.old.as_ref().is_some_and(|old| old.as_bytes() == now) {
            return Ok(());
        }
        Err(Diagnostic::error("the file changed on disk while it was edited; nothing was written")
            .hint("run the command again"))
    }

    fn finish(self) -> Result<(), Diagnostic> {
        match self.content {
            Some(content) if self.change.old.is_none() => content
                .persist_noclobber(&self.target)
                .map(drop)
                .map_err(|error| cannot_write(&error.error)),
            Some(content) => {
                content.persist(&self.target).map(drop).map_err(|error| cannot_write(&error.error))
            }
            None => fs::remove_file(&self.target).map_err(|error| cannot_write(&error)),
        }
    }
}

/// Writes `text` to a new file in the folder of `target`, with the mode and, where allowed, owner of what is there.
fn stage(text: &str, target: &Path, there: Option<&fs::Metadata>) -> io::Result<NamedTempFile> {
    let folder = target.parent().filter(|folder| !folder.as_os_str().is_empty());
    let mut builder = tempfile::Builder::new();
    as_everybody_may_read(&mut builder);
    let mut file = builder.prefix(".krm-").tempfile_in(folder.unwrap_or(Path::new(".")))?;
    file.write_all(text.as_bytes())?;
    if let Some(metadata) = there {
        keep_owner(file.path(), metadata);
        file.as_file().set_permissions(metadata.permissions())?;
    }
    file.as_file().sync_all()?;
    Ok(file)
}

/// A new file has the mode that the user's other programs give to theirs.
#[cfg(unix)]
fn as_everybody_may_read(builder: &mut tempfile::Builder<'_, '_>) {
    use std::os::unix::fs::PermissionsExt;
    builder.permissions(fs::Permissions::from_mode(0o666));
}

#[cfg(not(unix))]
fn as_everybody_may_read(_: &mut tempfile::Builder<'_, '_>) {}

#[cfg(unix)]
fn keep_owner(path: &Path, metadata: &fs::Metadata) {
    use std::os::unix::fs::{MetadataExt, chown};
    // Only root may give files away; for all others the file was theirs or becomes theirs.
    let _ = chown(path, Some(metadata.uid()), Some(metadata.gid()));
}

#[cfg(not(unix))]
fn keep_owner(_: &Path, _: &fs::Metadata) {}

fn cannot_write(error: &io::Error) -> Diagnostic {
    Diagnostic::error(format!("it cannot be written: {}", reason(error)))
}

/// The operating system's words in our case, without its number.
pub(crate) fn reason(error: &io::Error) -> String {
    let text = error.to_string();
    let text = text.split(" (os error").next().unwrap_or(&text);
    // tempfile appends the folder; the message names the file already.
    let text = text.split(" at path").next().unwrap_or(text);
    let mut chars = text.chars();
    chars.next().map(|first| first.to_lowercase().chain(chars).collect()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder() -> (tempfile::TempDir, String, String) {
        let folder = tempfile::tempdir().unwrap();
        let [a, b] = ["a.yaml", "b.yaml"].map(|name| folder.path().join(name));
        fs::write(&a, "a: 1\n").unwrap();
        fs::write(&b, "b: 1\n").unwrap();
        (folder, a.to_str().unwrap().to_owned(), b.to_str().unwrap().to_owned())
    }

    fn names(folder: &tempfile::TempDir) -> usize {
        fs::read_dir(folder.path()).unwrap().count()
    }

    #[test]
    fn a_file_that_changed_since_it_was_read_stops_all() {
        let (folder, a, b) = folder();
        let mut plan = Plan::default();
        plan.write(&*a, "a: 1\n", "a: 2\n");
        plan.write(&*b, "b: 0\n", "b: 2\n");
        let error = write(&plan).unwrap_err();
        assert_eq!(error.file.as_deref(), Some(&*b));
        assert_eq!(fs::read_to_string(&a).unwrap(), "a: 1\n");
        assert_eq!(names(&folder), 2, "staged files are removed");
    }

    #[test]
    fn a_file_that_cannot_be_staged_stops_all() {
        let (folder, a, b) = folder();
        fs::remove_file(&b).unwrap();
        let mut plan = Plan::default();
        plan.write(&*a, "a: 1\n", "a: 2\n");
        plan.write(&*b, "b: 1\n", "b: 2\n");
        assert!(write(&plan).is_err());
        assert_eq!(fs::read_to_string(&a).unwrap(), "a: 1\n");
        assert_eq!(names(&folder), 1);
    }

    #[test]
    fn a_planned_deletion_removes_the_file() {
        let (folder, a, _) = folder();
        let mut plan = Plan::default();
        plan.add(Change { path: a, old: Some("a: 1\n".to_owned()), new: None });
        write(&plan).unwrap();
        assert_eq!(names(&folder), 1);
    }

    #[test]
    fn reasons_are_in_our_case_and_without_numbers() {
        let error = io::Error::from_raw_os_error(13);
        assert_eq!(reason(&error), "permission denied");
    }
}
