//! What `merge` and `merge3` have in common: sources are loaded, files are merged side by side, and a plan is made.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use krm_core::merge::package::{Merged, NewText, PackageMerge};
use krm_core::schema::Schema;
use krm_core::{Change, Diagnostic, Package, PackageFile, PackagePath, Plan};
use krm_yaml::File;

use super::edit_session::{EditOptions, EditSession};
use crate::cli::Global;
use crate::commands::merge_options::ListFlags;
use crate::console::Console;
use crate::loader::{self, LoadedPackage, Origin};
use crate::{Exit, Failure, disk, parallel};

/// Loads what is merged from, beside what is loaded already. What cannot be read stops all, unless `--keep-going`; then the session knows.
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
    let told = loaded.diagnostics();
    let has_errors = told.iter().any(Diagnostic::is_error);
    if has_errors && !edit_options.keep_going {
        return Err(Failure::Diagnostics(Exit::Input, told));
    }
    console.report_all(&told);
    session.has_errors |= has_errors;
    if session.loaded.origin != Origin::Directory && loaded.origin != Origin::Directory {
        loaded.package = at_one_path(loaded.package, &session.loaded.package);
    }
    Ok(loaded)
}

/// Single files are one file, whatever they are called.
fn at_one_path(package: Package, like: &Package) -> Package {
    let Some(path) = like.files().first().map(|file| file.path.clone()) else { return package };
    let mut files = package.into_files();
    files.iter_mut().for_each(|file| file.path = path.clone());
    Package::new(files)
}

/// What Kubernetes, the packages themselves and `--schema` say about types; of packages the last counts most.
pub(super) fn schema(
    lists: &ListFlags,
    packages: &[&Package],
    console: &mut Console,
) -> Result<Schema, Failure> {
    let files = packages.iter().flat_map(|package| package.files());
    let may_tell = |path: &PackagePath, file: &File| {
        path.is_package_file() || file.text().contains("CustomResourceDefinition")
    };
    // What versions share is looked at once, where it counts most.
    let mut seen: HashSet<*const File> = HashSet::new();
    let mut files: Vec<&File> = files
        .rev()
        .filter_map(|file| Some((&file.path, file.file()?)))
        .filter(|(_, file)| seen.insert(*file))
        .filter(|(path, file)| may_tell(path, file))
        .map(|(_, file)| file)
        .collect();
    files.reverse();
    lists.schema(&files, console)
}

/// Does all works of a merge, side by side.
pub(super) fn run<'a>(
    merge: &PackageMerge<'a, '_>,
    global: &Global,
) -> Result<Merged<'a>, Failure> {
    let done = parallel::map(merge.works(), global.jobs, |work| merge.run(work));
    merge.finish(done).map_err(|errors| Failure::Diagnostics(Exit::Input, errors))
}

/// The name under which a file of the destination is written.
pub(super) fn target(
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

/// The changes as a plan, into which the texts of the package are moved. What goes through a pipe comes out of it,
/// changed or not.
pub(super) fn plan(
    changes: Vec<(PackagePath, Option<NewText>)>,
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
        (target(&path, old.as_ref(), loaded), old.and_then(text), new)
    });
    let changes: Vec<(String, Option<String>, Option<NewText>)> = changes.collect();
    drop(files);
    // The threads that read the files put the texts where what was let go has been.
    let texts = parallel::map(&changes, global.jobs, |(_, old, new)| {
        new.as_ref().map(|new| new.on(old.as_deref().unwrap_or_default()))
    });
    for ((path, old, _), new) in changes.into_iter().zip(texts) {
        // A stream has no end but an empty one.
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

/// The package with the changes made, and what the files were before, where that is not known already.
pub(super) fn applied(
    loaded: &mut LoadedPackage,
    changes: Vec<(PackagePath, Option<NewText>)>,
    before: &mut BTreeMap<PackagePath, Option<String>>,
) -> Result<(), Failure> {
    let mut files = by_path(loaded);
    for (path, new) in changes {
        let old = files.remove(&path);
        let display_path = old
            .as_ref()
            .map_or_else(|| loaded.display_path(path.as_str()), |it| it.display_path.clone());
        let text = old.and_then(PackageFile::into_text);
        let new = new.map(|new| new.on(text.as_deref().unwrap_or_default()));
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
