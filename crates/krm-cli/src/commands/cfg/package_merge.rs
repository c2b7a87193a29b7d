//! Merging packages: loads the sources, merges files in parallel, and makes the plan.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use krm_core::merge::{PackageMerge, PackageMergeResult, TextChange};
use krm_core::schema::Schema;
use krm_core::{Change, Diagnostic, Package, PackageFile, PackagePath, Plan};
use krm_yaml::File;

use super::edit_session::{EditOptions, EditSession};
use crate::cli::Global;
use crate::commands::merge_options::ListOptions;
use crate::console::Console;
use crate::loader::{self, LoadedPackage, Origin};
use crate::{Exit, Failure, disk, parallel};

/// Loads a source of a merge. Files that equal those of packages that are already loaded are shared with them. Without `--keep-going`
/// a file that cannot be read is an error; with it, the session records the error.
pub(super) fn load(
    name: &str,
    beside: &[&Package],
    session: &mut EditSession<'_>,
    edit_options: &EditOptions,
    global: &Global,
    console: &mut Console,
) -> Result<LoadedPackage, Failure> {
    let mut known = vec![&session.loaded.package];
    known.extend(beside);
    let mut loaded = loader::load_beside(name, global.jobs, &known).map_err(Failure::input)?;
    let diagnostics = loaded.diagnostics();
    let has_errors = diagnostics.iter().any(Diagnostic::is_error);
    if has_errors && !edit_options.keep_going {
        return Err(Failure::Diagnostics(Exit::Input, diagnostics));
    }
    console.report_all(&diagnostics);
    session.has_errors |= has_errors;
    if session.loaded.origin != Origin::Directory && loaded.origin != Origin::Directory {
        loaded.package = with_path_of(loaded.package, &session.loaded.package);
    }
    Ok(loaded)
}

/// Gives a single file the path of the other single file: two files are merged whatever their names are.
fn with_path_of(package: Package, like: &Package) -> Package {
    let Some(path) = like.files().first().map(|file| file.path.clone()) else { return package };
    let mut files = package.into_files();
    files.iter_mut().for_each(|file| file.path = path.clone());
    Package::new(files)
}

/// The schema of Kubernetes, of the packages and of `--schema`. If packages disagree, the last one has precedence.
pub(super) fn schema(
    lists: &ListOptions,
    packages: &[&Package],
    console: &mut Console,
) -> Result<Schema, Failure> {
    let files = packages.iter().flat_map(|package| package.files());
    let may_define_types = |path: &PackagePath, file: &File| {
        path.is_package_file() || file.text().contains("CustomResourceDefinition")
    };
    // Versions share unchanged files; each is read once, at its last occurrence, which has precedence.
    let mut seen: HashSet<*const File> = HashSet::new();
    let mut files: Vec<&File> = files
        .rev()
        .filter_map(|file| Some((&file.path, file.file()?)))
        .filter(|(_, file)| seen.insert(*file))
        .filter(|(path, file)| may_define_types(path, file))
        .map(|(_, file)| file)
        .collect();
    files.reverse();
    lists.schema(&files, console)
}

/// Merges all files in parallel.
pub(super) fn run<'a>(
    merge: &PackageMerge<'a, '_>,
    global: &Global,
) -> Result<PackageMergeResult<'a>, Failure> {
    let done = parallel::map(merge.file_merges(), global.jobs, |file| merge.run(file));
    merge.finish(done).map_err(|errors| Failure::Diagnostics(Exit::Input, errors))
}

/// The name under which a file of the destination is written.
pub(super) fn output_name(
    path: &PackagePath,
    old: Option<&PackageFile>,
    loaded: &LoadedPackage,
) -> String {
    match (loaded.origin, old) {
        (Origin::Stdin, _) => disk::STDIN.to_owned(),
        (_, Some(file)) => file.display_path.clone(),
        (_, None) => loaded.display_path(path.as_str()),
    }
}

/// Makes the plan of the changes and moves the texts of the package into it. Standard input is printed even if nothing changes.
pub(super) fn plan(
    changes: Vec<(PackagePath, Option<TextChange>)>,
    loaded: &mut LoadedPackage,
    global: &Global,
) -> Plan {
    let is_stream = loaded.origin == Origin::Stdin;
    let mut files = by_path(loaded);
    let text = PackageFile::into_text;
    let mut plan = Plan::default();
    if is_stream && changes.is_empty() {
        let old = files.pop_first().and_then(|(_, file)| text(file));
        plan.add(Change { path: disk::STDIN.to_owned(), new: old.clone(), old });
    }
    let changes = changes.into_iter().map(|(path, new)| {
        let old = files.remove(&path);
        (output_name(&path, old.as_ref(), loaded), old.and_then(text), new)
    });
    let changes: Vec<(String, Option<String>, Option<TextChange>)> = changes.collect();
    drop(files);
    // Parallel, as the threads reuse the memory that dropping the other files has freed.
    let texts = parallel::map(&changes, global.jobs, |(_, old, new)| {
        new.as_ref().map(|new| new.apply(old.as_deref().unwrap_or_default()))
    });
    for ((path, old, _), new) in changes.into_iter().zip(texts) {
        // A stream cannot be removed, only be empty.
        let new = if is_stream { Some(new.unwrap_or_default()) } else { new };
        plan.add(Change { path, old, new });
    }
    plan
}

/// Takes the files out of a package.
fn by_path(loaded: &mut LoadedPackage) -> BTreeMap<PackagePath, PackageFile> {
    let files = std::mem::take(&mut loaded.package).into_files();
    files.into_iter().map(|file| (file.path.clone(), file)).collect()
}

/// Applies changes to the package, and records in `before` the original text of each changed file.
pub(super) fn apply(
    loaded: &mut LoadedPackage,
    changes: Vec<(PackagePath, Option<TextChange>)>,
    before: &mut BTreeMap<PackagePath, Option<String>>,
) -> Result<(), Failure> {
    let mut files = by_path(loaded);
    for (path, new) in changes {
        let old = files.remove(&path);
        let display_path = old
            .as_ref()
            .map_or_else(|| loaded.display_path(path.as_str()), |it| it.display_path.clone());
        let text = old.and_then(PackageFile::into_text);
        let new = new.map(|new| new.apply(text.as_deref().unwrap_or_default()));
        before.entry(path.clone()).or_insert(text);
        let Some(new) = new else { continue };
        let content = File::parse(new);
        let content = content.map_err(|error| Failure::input(Diagnostic::from(&error)))?;
        let file = PackageFile {
            path: path.clone(),
            display_path,
            is_external_symlink: false,
            content: Ok(Arc::new(content)),
        };
        files.insert(path, file);
    }
    loaded.package = Package::new(files.into_values().collect());
    Ok(())
}
