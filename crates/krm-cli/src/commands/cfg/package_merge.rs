//! Merging packages: loads the sources, merges files in parallel, and makes the plan.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use krm_core::merge::{PackageMerge, PackageMergeResult};
use krm_core::schema::Schema;
use krm_core::{Diagnostic, FileText, OriginalFile, Package, PackageFile, PackagePath, Plan};
use krm_yaml::File;

use super::edit_session::{EditOptions, EditSession};
use crate::cli::Global;
use crate::commands::merge_options::ListOptions;
use crate::console::Console;
use crate::loader::{self, LoadOptions, LoadedPackage, Origin};
use crate::{Exit, Failure, parallel};

/// Loads a source of a merge. Files that equal those of packages that are already loaded are shared with them. Without `--keep-going`
/// a file that cannot be read is an error; with it, the session records the error.
pub(super) fn load(
    name: &str,
    beside: &[&Package],
    session: &mut EditSession<'_>,
    edit_options: &EditOptions,
    options: LoadOptions,
    console: &mut Console,
) -> Result<LoadedPackage, Failure> {
    let mut known = vec![&session.loaded.package];
    known.extend(beside);
    let options = edit_options.load_options(options);
    let mut loaded = loader::load_beside(name, options, &known).map_err(Failure::input)?;
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
pub(crate) fn schema(
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
pub(crate) fn run<'a>(
    merge: &PackageMerge<'a, '_>,
    global: &Global,
) -> Result<PackageMergeResult<'a>, Failure> {
    let done = parallel::map(merge.file_merges(), global.jobs, |file| merge.run(file));
    merge.finish(done).map_err(|errors| Failure::Diagnostics(Exit::Input, errors))
}

/// Makes the plan of the changes and moves the texts of the package into it. Standard input is printed even if nothing changes.
pub(crate) fn plan(
    changes: Vec<(PackagePath, Option<FileText>)>,
    loaded: &mut LoadedPackage,
) -> Result<Plan, Failure> {
    let is_stream = loaded.origin == Origin::Stdin;
    let mut files = by_path(loaded);
    let (mut plan, mut errors) = (Plan::default(), Vec::new());
    if is_stream
        && changes.is_empty()
        && let Some((_, file)) = files.pop_first()
    {
        let original = loaded.original(file);
        let text = original.shared_text().cloned().map(FileText::from);
        errors.extend(plan.set(original, text).err());
    }
    let changes = changes.into_iter().map(|(path, new)| match files.remove(&path) {
        Some(file) => (loaded.original(file), new),
        None => (loaded.new_file(&path), new),
    });
    let changes: Vec<(OriginalFile, Option<FileText>)> = changes.collect();
    drop(files);
    for (original, new) in changes {
        // A stream cannot be deleted, only be empty.
        let new = if is_stream { Some(new.unwrap_or_else(|| String::new().into())) } else { new };
        errors.extend(plan.set(original, new).err());
    }
    if errors.is_empty() { Ok(plan) } else { Err(Failure::Diagnostics(Exit::Input, errors)) }
}

/// Takes the files out of a package.
fn by_path(loaded: &mut LoadedPackage) -> BTreeMap<PackagePath, PackageFile> {
    let files = std::mem::take(&mut loaded.package).into_files();
    files.into_iter().map(|file| (file.path.clone(), file)).collect()
}

/// Applies changes to the package, and records in `before` the original text of each changed file.
pub(super) fn apply(
    loaded: &mut LoadedPackage,
    changes: Vec<(PackagePath, Option<FileText>)>,
    before: &mut BTreeMap<PackagePath, OriginalFile>,
) -> Result<(), Failure> {
    let mut files = by_path(loaded);
    for (path, new) in changes {
        let old = files.remove(&path);
        let original = match &old {
            Some(file) => loaded.original(file),
            None => loaded.new_file(&path),
        };
        let display_path = match old {
            Some(file) => file.display_path,
            None => loaded.display_path(path.as_str()),
        };
        let new = new.map(FileText::into_text);
        before.entry(path.clone()).or_insert(original);
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
