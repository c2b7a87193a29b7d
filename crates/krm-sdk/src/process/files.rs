//! Running a function on files and directories. The function has finished before the first file is written.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::arguments::Arguments;
use super::{file_error, write_stderr, write_stdout};
use crate::{Error, Function, Resource, batch};

/// The extensions of files with resources.
const EXTENSIONS: [&str; 3] = ["yaml", "yml", "json"];

/// Runs a function on files, writes those that changed, and returns the exit code.
pub(super) fn run(
    function: &Function,
    config: Option<Resource>,
    arguments: &Arguments,
) -> Result<i32, Error> {
    let (root, files) = find(&arguments.files)?;
    let mut texts = Vec::with_capacity(files.len());
    for file in &files {
        let bytes = fs::read(file).map_err(|error| cannot("read", file, &error))?;
        let text = krm_yaml::decode(bytes).map_err(|error| cannot("read", file, &error))?;
        let relative = file.strip_prefix(&root).unwrap_or(file);
        let segments: Vec<_> = relative.iter().map(|part| part.to_string_lossy()).collect();
        texts.push((segments.join("/"), text));
    }
    let output = batch::process(function, config, texts)?;
    output.stderr.iter().for_each(|line| write_stderr(&format!("{line}\n")));
    let code = i32::from(output.failed);
    if arguments.dry_run {
        let files = output.files.iter().map(|(path, text)| match text {
            Some(text) => format!("# {path}\n{text}"),
            None => format!("# {path} is removed\n"),
        });
        return Ok(write_stdout(&files.collect::<Vec<_>>().join("---\n")).max(code));
    }
    for (path, text) in &output.files {
        let target = root.join(path);
        match text {
            Some(text) => {
                write(&root, &target, text).map_err(|error| cannot("write", &target, &error))?;
            }
            None => {
                fs::remove_file(&target).map_err(|error| cannot("remove", &target, &error))?;
            }
        }
        write_stderr(&format!("{} {path}\n", if text.is_some() { "wrote" } else { "removed" }));
    }
    Ok(code)
}

fn cannot(action: &'static str, path: &Path, error: &dyn std::error::Error) -> Error {
    file_error(action, &path.display().to_string(), error)
}

/// The common directory of the arguments, and all files, sorted.
fn find(arguments: &[String]) -> Result<(PathBuf, Vec<PathBuf>), Error> {
    let mut files = Vec::new();
    let mut root: Option<PathBuf> = None;
    for name in arguments {
        let path =
            fs::canonicalize(name).map_err(|error| cannot("read", Path::new(name), &error))?;
        let directory = if path.is_dir() { path.as_path() } else { path.parent().unwrap_or(&path) };
        root = Some(
            root.map_or_else(|| directory.to_owned(), |root| common_ancestor(&root, directory)),
        );
        if path.is_dir() {
            walk(&path, &mut files).map_err(|error| cannot("read", &path, &error))?;
        } else {
            files.push(path);
        }
    }
    files.sort();
    files.dedup();
    Ok((root.unwrap_or_default(), files))
}

fn common_ancestor(a: &Path, b: &Path) -> PathBuf {
    a.iter().zip(b.iter()).take_while(|(a, b)| a == b).map(|(a, _)| a).collect()
}

/// Adds the files with resources below a directory, without symlinks and hidden files.
fn walk(directory: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    let mut pending = vec![directory.to_owned()];
    while let Some(directory) = pending.pop() {
        for entry in fs::read_dir(&directory)? {
            let entry = entry?;
            let (path, kind) = (entry.path(), entry.file_type()?);
            let is_hidden = entry.file_name().to_string_lossy().starts_with('.');
            let extension = path.extension().map(|it| it.to_string_lossy().into_owned());
            let is_resource = extension.is_some_and(|it| EXTENSIONS.contains(&it.as_str()));
            if kind.is_dir() && !is_hidden {
                pending.push(path);
            } else if kind.is_file() && !is_hidden && is_resource {
                files.push(path);
            }
        }
    }
    Ok(())
}

/// Writes a temporary file and renames it, so that no file is ever half written. Refuses to write outside of the directory.
fn write(root: &Path, target: &Path, text: &str) -> io::Result<()> {
    let directory = target.parent().unwrap_or(root);
    fs::create_dir_all(directory)?;
    if !fs::canonicalize(directory)?.starts_with(fs::canonicalize(root)?) {
        return Err(io::Error::other("a symlink leads outside of the directory"));
    }
    let name =
        target.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let staged = directory.join(format!(".{name}.{}.new", std::process::id()));
    let written = stage(&staged, text, fs::metadata(target).ok().as_ref());
    let renamed = written.and_then(|()| fs::rename(&staged, target));
    renamed.inspect_err(|error| {
        if error.kind() != io::ErrorKind::AlreadyExists {
            drop(fs::remove_file(&staged));
        }
    })
}

/// Writes a file that must not exist: a symlink of this name could lead anywhere. It is never more accessible than the one that it replaces.
fn stage(path: &Path, text: &str, existing: Option<&fs::Metadata>) -> io::Result<()> {
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    if existing.is_some() {
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    }
    let mut file = options.open(path)?;
    file.write_all(text.as_bytes())?;
    existing.map_or(Ok(()), |existing| file.set_permissions(existing.permissions()))
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn staged_file_does_not_follow_a_symlink() {
        let directory = std::env::temp_dir().join(format!("krm-sdk-files-{}", std::process::id()));
        fs::create_dir_all(&directory).unwrap();
        let [victim, target] = ["victim", "a.yaml"].map(|name| directory.join(name));
        fs::write(&victim, "untouched").unwrap();
        let staged = directory.join(format!(".a.yaml.{}.new", std::process::id()));
        symlink(&victim, &staged).unwrap();
        assert!(write(&directory, &target, "new").is_err());
        assert_eq!(fs::read_to_string(&victim).unwrap(), "untouched");
        fs::remove_file(staged).unwrap();
        write(&directory, &target, "new").unwrap();
        assert_eq!(fs::read_to_string(&target).unwrap(), "new");
        fs::remove_dir_all(directory).unwrap();
    }
}
