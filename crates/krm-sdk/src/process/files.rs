//! Standalone: a function on files and folders. Everything is worked out before the first byte is written.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::arguments::Arguments;
use super::{print, say};
use crate::{Error, Function, Resource, batch};

/// Files that hold resources, by their endings.
const ENDINGS: [&str; 3] = ["yaml", "yml", "json"];

/// Runs a function on files, and writes those that changed; the exit code.
pub(super) fn run(
    function: &Function,
    config: Option<Resource>,
    arguments: &Arguments,
) -> Result<i32, Error> {
    let (root, files) = find(&arguments.files)?;
    let mut texts = Vec::with_capacity(files.len());
    for file in &files {
        let bytes = fs::read(file).map_err(|error| at(file, &error))?;
        let text = krm_yaml::decode(bytes)
            .map_err(|error| Error::new(format!("{}: {error}", file.display())))?;
        let inside = file.strip_prefix(&root).unwrap_or(file);
        let segments: Vec<_> = inside.iter().map(|part| part.to_string_lossy()).collect();
        texts.push((segments.join("/"), text));
    }
    let outcome = batch::process(function, config, texts)?;
    outcome.told.iter().for_each(|line| say(&format!("{line}\n")));
    let code = i32::from(outcome.failed);
    if arguments.dry_run {
        let shown = outcome.files.iter().map(|(path, text)| match text {
            Some(text) => format!("# {path}\n{text}"),
            None => format!("# {path} is removed\n"),
        });
        return Ok(print(&shown.collect::<Vec<_>>().join("---\n")).max(code));
    }
    for (path, text) in &outcome.files {
        let target = root.join(path);
        match text {
            Some(text) => write(&root, &target, text).map_err(|error| at(&target, &error))?,
            None => fs::remove_file(&target).map_err(|error| at(&target, &error))?,
        }
        say(&format!("{} {path}\n", if text.is_some() { "wrote" } else { "removed" }));
    }
    Ok(code)
}

fn at(path: &Path, error: &io::Error) -> Error {
    Error::new(format!("{}: {error}", path.display()))
}

/// The folder that holds all that is named, and the files, in order.
fn find(named: &[String]) -> Result<(PathBuf, Vec<PathBuf>), Error> {
    let mut files = Vec::new();
    let mut root: Option<PathBuf> = None;
    for name in named {
        let path = fs::canonicalize(name).map_err(|error| at(Path::new(name), &error))?;
        let folder = if path.is_dir() { path.as_path() } else { path.parent().unwrap_or(&path) };
        root = Some(root.map_or_else(|| folder.to_owned(), |root| shared(&root, folder)));
        if path.is_dir() {
            walk(&path, &mut files).map_err(|error| at(&path, &error))?;
        } else {
            files.push(path);
        }
    }
    files.sort();
    files.dedup();
    Ok((root.unwrap_or_default(), files))
}

fn shared(a: &Path, b: &Path) -> PathBuf {
    a.iter().zip(b.iter()).take_while(|(a, b)| a == b).map(|(a, _)| a).collect()
}

/// Files with resources below a folder; links and what is hidden are left out.
fn walk(folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    let mut waiting = vec![folder.to_owned()];
    while let Some(folder) = waiting.pop() {
        for entry in fs::read_dir(&folder)? {
            let entry = entry?;
            let (path, kind) = (entry.path(), entry.file_type()?);
            let is_hidden = entry.file_name().to_string_lossy().starts_with('.');
            let ending = path.extension().map(|it| it.to_string_lossy().into_owned());
            let is_resource = ending.is_some_and(|it| ENDINGS.contains(&it.as_str()));
            if kind.is_dir() && !is_hidden {
                waiting.push(path);
            } else if kind.is_file() && !is_hidden && is_resource {
                files.push(path);
            }
        }
    }
    Ok(())
}

/// Writes beside the target and renames, so that no half of a file is ever there; never outside of the folder.
fn write(root: &Path, target: &Path, text: &str) -> io::Result<()> {
    let folder = target.parent().unwrap_or(root);
    fs::create_dir_all(folder)?;
    if !fs::canonicalize(folder)?.starts_with(fs::canonicalize(root)?) {
        return Err(io::Error::other("a link leads out of the folder"));
    }
    let name =
        target.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let staged = folder.join(format!(".{name}.{}.new", std::process::id()));
    fs::write(&staged, text)?;
    if let Ok(there) = fs::metadata(target) {
        fs::set_permissions(&staged, there.permissions())?;
    }
    fs::rename(&staged, target).inspect_err(|_| drop(fs::remove_file(&staged)))
}
