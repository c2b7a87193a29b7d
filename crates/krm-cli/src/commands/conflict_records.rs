//! `.krm-conflicts.yaml`: records conflicts that no line of a file can mark, resolves them, and reports those that are left.

use std::collections::BTreeMap;
use std::path::Path;

use krm_core::merge::{
    CONFLICT_FILE, Conflict, ConflictFile, Side, resolve_conflicts, unresolved_conflicts,
};
use krm_core::{Diagnostic, OriginalFile, Package, PackageFile, PackagePath, Plan};
use krm_yaml::File;

use crate::commands::plan;
use crate::disk::{FileKind, Lock};
use crate::loader::{LoadedPackage, Origin};
use crate::{Failure, disk, walk};

/// The path of the records beside a file.
pub(crate) fn path_beside(name: &str) -> String {
    match name.rsplit_once('/') {
        Some((directory, _)) => format!("{directory}/{CONFLICT_FILE}"),
        None => CONFLICT_FILE.to_owned(),
    }
}

fn base_name(name: &str) -> &str {
    name.rsplit('/').next().unwrap_or(name)
}

fn parse(text: Option<&str>, name: &str) -> Result<ConflictFile, Failure> {
    let Some(text) = text else { return Ok(ConflictFile::default()) };
    let file = File::parse(text.to_owned());
    let file = file.map_err(|error| Failure::input(Diagnostic::from(&error).in_file(name)))?;
    Ok(ConflictFile::parse(&file))
}

/// Adds the conflicts that are not marked to the records of their directories.
pub(crate) fn add_to_plan(
    conflicts: &[Conflict],
    loaded: &LoadedPackage,
    plan: &mut Plan,
) -> Result<(), Failure> {
    let mut directories: BTreeMap<String, Vec<&Conflict>> = BTreeMap::new();
    for conflict in conflicts.iter().filter(|conflict| !conflict.is_marked) {
        directories.entry(path_beside(&conflict.file)).or_default().push(conflict);
    }
    for (path, conflicts) in directories {
        let path = package_path(&path)?;
        let name = match loaded.origin {
            Origin::File => path_beside(&loaded.title),
            _ => loaded.display_path(path.as_str()),
        };
        let old = plan::existing_content(&name)?;
        let mut records = parse(old.as_deref(), &name)?;
        conflicts.iter().for_each(|conflict| records.add(conflict, base_name(&conflict.file)));
        plan.set(OriginalFile::new(path, name, old), records.to_text()).map_err(Failure::input)?;
    }
    Ok(())
}

/// Adds the conflicts of one file that are not marked to the records beside it.
pub(crate) fn add_beside(
    conflicts: &[Conflict],
    name: &str,
    lock: &Lock,
    plan: &mut Plan,
) -> Result<(), Failure> {
    let conflicts: Vec<&Conflict> = conflicts.iter().filter(|it| !it.is_marked).collect();
    if conflicts.is_empty() {
        return Ok(());
    }
    let path = path_beside(name);
    let old = plan::existing_content(&path)?;
    let mut records = parse(old.as_deref(), &path)?;
    conflicts.into_iter().for_each(|conflict| records.add(conflict, base_name(name)));
    let original = original(&path, old, lock)?;
    plan.set(original, records.to_text()).map_err(Failure::input)
}

/// A file that may not exist yet, as a plan needs it.
fn original(name: &str, text: Option<String>, lock: &Lock) -> Result<OriginalFile, Failure> {
    let parent = Path::new(name).parent().filter(|parent| !parent.as_os_str().is_empty());
    let parent = parent.unwrap_or(Path::new("."));
    let real = std::fs::canonicalize(parent).unwrap_or_else(|_| parent.to_owned());
    let real = real.join(base_name(name));
    let path = lock.package_path(&real.to_string_lossy()).map_err(Failure::input)?;
    Ok(OriginalFile::new(path, name, text))
}

/// Resolves the markers of files that the user names, and the records beside them.
pub(crate) fn resolve_files(
    files: &[String],
    side: Side,
    lock: &Lock,
    read: impl Fn(&[&str]) -> Result<Vec<File>, Failure>,
) -> Result<Plan, Failure> {
    let mut plan = Plan::default();
    let mut beside: BTreeMap<String, (Option<String>, ConflictFile)> = BTreeMap::new();
    let names: Vec<&str> = files.iter().map(String::as_str).collect();
    for (file, name) in read(&names)?.into_iter().zip(names) {
        let shown = disk::display_name(name);
        let in_file = |error: Diagnostic| Failure::input(error.in_file(shown));
        let mut text = Some(resolve_conflicts(&file, side).map_err(in_file)?);
        let path = path_beside(name);
        if !beside.contains_key(&path) {
            let old = plan::existing_content(&path)?;
            let records = parse(old.as_deref(), &path)?;
            beside.insert(path.clone(), (old, records));
        }
        if let Some((_, records)) = beside.get_mut(&path) {
            let own = records.split_off(base_name(name));
            let resolved = own.resolve(side, |_| Ok(text.clone())).map_err(in_file)?;
            text = resolved.into_values().next().unwrap_or(text);
        }
        let original = lock.original(name, file.into_text()).map_err(Failure::input)?;
        plan.set(original, text).map_err(Failure::input)?;
    }
    for (path, (old, records)) in beside.into_iter().filter(|(_, (old, _))| old.is_some()) {
        plan.set(original(&path, old, lock)?, records.to_text()).map_err(Failure::input)?;
    }
    Ok(plan)
}

/// Resolves the markers and records of a package.
pub(crate) fn resolve_package(loaded: &LoadedPackage, side: Side) -> Result<Plan, Failure> {
    let mut texts: BTreeMap<PackagePath, Option<String>> = BTreeMap::new();
    let mut records = Vec::new();
    for file in loaded.package.files().iter().filter(|file| file.errors().is_empty()) {
        let Some(content) = file.file() else { continue };
        if file.path.name() == CONFLICT_FILE {
            records.push((&file.path, ConflictFile::parse(content)));
            continue;
        }
        let in_file = |error: Diagnostic| Failure::input(error.in_file(&*file.display_path));
        let text = resolve_conflicts(content, side).map_err(in_file)?;
        texts.insert(file.path.clone(), Some(text));
    }
    for (path, records) in records {
        let in_package = |name: &str| match name.strip_prefix('/') {
            Some(name) => PackagePath::new(name),
            None => PackagePath::new(name).map(|name| name.in_directory(path.directory())),
        };
        let resolved = records.resolve(side, |name| {
            let path = in_package(name).map_err(Diagnostic::error)?;
            let text = texts.get(&path).cloned();
            match text {
                Some(text) => Ok(text),
                None => existing_in_package(loaded, &path),
            }
        });
        for (name, text) in resolved.map_err(Failure::input)? {
            texts.insert(
                in_package(&name).map_err(|it| Failure::input(Diagnostic::error(it)))?,
                text,
            );
        }
        texts.insert(path.clone(), None);
    }
    let mut plan = Plan::default();
    for (path, text) in texts {
        let original = match loaded.package.file(&path) {
            Some(_) => loaded.original_at(&path),
            None => {
                let name = loaded.display_path(path.as_str());
                let old = existing_in_package(loaded, &path).map_err(Failure::input)?;
                OriginalFile::new(path, name, old)
            }
        };
        plan.set(original, text).map_err(Failure::input)?;
    }
    Ok(plan)
}

/// The text of a file that the records of a package name and that is not a manifest. Symlinks are not followed out of the package.
fn existing_in_package(
    loaded: &LoadedPackage,
    path: &PackagePath,
) -> Result<Option<String>, Diagnostic> {
    let name = loaded.display_path(path.as_str());
    let outside = || Diagnostic::error(FileKind::OutsidePackage).in_file(&*name);
    let file = Path::new(&name);
    let root = std::fs::canonicalize(&loaded.title).map_err(|_| outside())?;
    if std::fs::symlink_metadata(file).is_ok() && !walk::stays_inside(&root, file) {
        return Err(outside());
    }
    // Inside the package, a symlink may lead to another directory.
    let real = std::fs::canonicalize(file).unwrap_or_else(|_| file.to_owned());
    disk::read_existing(&real).map_err(|error| error.in_file(&*name))
}

/// An error for each unresolved conflict of a package.
pub(crate) fn unresolved(package: &Package) -> Vec<Diagnostic> {
    package.files().iter().flat_map(unresolved_in).collect()
}

/// Fails if a package has unresolved conflicts.
pub(crate) fn check_resolved(package: &Package) -> Result<(), Failure> {
    let errors = unresolved(package);
    if errors.is_empty() {
        return Ok(());
    }
    Err(Failure::Diagnostics(crate::Exit::Input, errors))
}

fn unresolved_in(file: &PackageFile) -> Vec<Diagnostic> {
    let Some(content) = file.file() else { return Vec::new() };
    if file.path.name() == CONFLICT_FILE {
        return ConflictFile::unresolved(content, &file.display_path, None);
    }
    let errors = unresolved_conflicts(content).into_iter();
    errors.map(|error| error.in_file(&*file.display_path)).collect()
}

/// An error for each unresolved conflict of a file that the user names: in the file, and recorded beside it.
pub(crate) fn unresolved_of_file(name: &str, file: &File) -> Vec<Diagnostic> {
    let shown = disk::display_name(name);
    if base_name(name) == CONFLICT_FILE {
        return ConflictFile::unresolved(file, shown, None);
    }
    let mut errors: Vec<Diagnostic> =
        unresolved_conflicts(file).into_iter().map(|error| error.in_file(shown)).collect();
    let beside = path_beside(name);
    let records = plan::existing_content(&beside).ok().flatten().map(File::parse);
    if let Some(Ok(records)) = records.filter(|_| name != disk::STDIN) {
        errors.extend(ConflictFile::unresolved(&records, &beside, Some(base_name(name))));
    }
    errors
}

fn package_path(path: &str) -> Result<PackagePath, Failure> {
    PackagePath::new(path).map_err(|error| Failure::input(Diagnostic::error(error)))
}
