//! Packages that rendering did not change last time: if their files are the same, they are neither read nor rendered.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use krm_core::functions::resource_list::Item;
use krm_core::{PackagePath, Severity};
use krm_run::{CacheKey, FunctionIdentity, FunctionRun, PipelineRun, ResultStore, RunStatus};

use super::Args;
use crate::cli::Global;
use crate::console::Console;
use crate::loader::LoadedPackage;
use crate::lock_file;
use crate::result_cache::{
    Counts, DirectoryStore, Input, RenderIndex, RenderedPackage, has_reliable_times,
};
use crate::walk::{IGNORE_FILE, PackageSelection};

/// Options that do not decide what is printed about a package that does not change.
const PREVIEW: [&str; 3] = ["--check", "--dry-run", "--diff"];

/// Variables that decide what is rendered or printed, besides those of krm.
const VARIABLES: [&str; 11] = [
    "APPDATA",
    "CI",
    "CLICOLOR",
    "CLICOLOR_FORCE",
    "COLUMNS",
    "HOME",
    "NO_COLOR",
    "PATH",
    "TERM",
    "USERPROFILE",
    "XDG_CONFIG_HOME",
];

/// One run of `render` with the index.
pub(super) struct IndexSession {
    store: DirectoryStore,
    key: CacheKey,
    /// Whether the index is updated.
    writes: bool,
    /// When the command started, before it read anything.
    started: SystemTime,
    root: PathBuf,
    /// Files that all packages depend on, apart from what is in the directory.
    settings: Vec<Input>,
    /// The packages that did not change. Empty if everything is rendered.
    index: RenderIndex,
    /// The outermost packages, in the order in which they are reported.
    roots: Vec<String>,
    /// How many packages of the index were reported.
    replayed: usize,
    /// The package that is being reported.
    current: Option<String>,
    /// What was printed about each package that was rendered.
    reports: BTreeMap<String, String>,
}

impl IndexSession {
    /// The index for this command line; none if it asks for more than the files of packages and the lines about them.
    pub(super) fn open(args: &Args, global: &Global, console: &Console) -> Option<Self> {
        let started = SystemTime::now();
        let (store, writes) = args.cache.index_store()?;
        let asks_for_more = args.explain
            || args.write_status
            || args.output.is_given()
            || args.packages.is_on()
            || args.results.writes_more()
            || args.schemas.has_locations()
            || global.verbose
            || global.follow_external_links
            || !global.report.is_empty();
        if asks_for_more || !args.recursion.includes_subpackages() {
            return None;
        }
        let root = std::fs::canonicalize(&args.dir).ok()?;
        if !root.is_dir() || !has_reliable_times(&root) {
            return None;
        }
        let key = key(&root, console)?;
        let settings = settings(args, &root)?;
        let mut session = Self {
            store,
            key,
            writes,
            started,
            root,
            settings,
            index: RenderIndex::default(),
            roots: Vec::new(),
            replayed: 0,
            current: None,
            reports: BTreeMap::new(),
        };
        session.find_unchanged();
        Some(session)
    }

    /// Looks for packages that did not change.
    fn find_unchanged(&mut self) {
        let Some(bytes) = self.store.get(&self.key) else { return };
        let Some(mut index) = RenderIndex::decode(&bytes) else {
            return self.store.discard(&self.key);
        };
        if !index.is_current() {
            return;
        }
        index.retain_unchanged();
        let unchanged: HashSet<&str> = index.packages.iter().map(|it| &*it.root).collect();
        let changed = index.all_roots.iter().filter(|it| !unchanged.contains(&***it));
        // A directory that has stopped being a package changes which packages there are.
        let is_package = |root: &String| {
            ["Kptfile", "Krmfile"].iter().any(|name| {
                std::fs::symlink_metadata(self.root.join(root).join(name))
                    .is_ok_and(|it| it.is_file())
            })
        };
        if changed.clone().all(is_package) {
            self.roots = index.all_roots.clone();
            self.index = index;
        }
    }

    /// Whether nothing has to be rendered.
    pub(super) fn is_complete(&self) -> bool {
        !self.roots.is_empty() && self.index.packages.len() == self.roots.len()
    }

    /// The packages to render; none if all are.
    pub(super) fn selection(&self) -> Option<PackageSelection> {
        if self.index.packages.is_empty() {
            return None;
        }
        let unchanged: HashSet<&str> = self.index.packages.iter().map(|it| &*it.root).collect();
        let changed = self.roots.iter().filter(|it| !unchanged.contains(&***it)).map(Path::new);
        Some(PackageSelection::new(changed, HashSet::new()))
    }

    /// What the packages that are not rendered have.
    pub(super) fn skipped(&self) -> Counts {
        let mut total = Counts::default();
        if !self.index.packages.is_empty() {
            total.resources = self.index.loose_resources;
        }
        for RenderedPackage { counts, .. } in &self.index.packages {
            total.resources += counts.resources;
            total.functions += counts.functions;
            total.infos += counts.infos;
        }
        total
    }

    /// Adds the packages that are read to those that are not.
    pub(super) fn set_loaded(&mut self, loaded: &LoadedPackage) {
        let found = outermost(loaded.package.files().iter().map(|it| &it.path));
        let known = self.index.packages.iter().map(|it| it.root.clone());
        let mut roots: Vec<String> = known.chain(found).collect();
        roots.sort_by(|a, b| by_path(a, b));
        roots.dedup();
        self.roots = roots;
    }

    /// Called before something is printed about a package. Packages before it that were not rendered are reported first.
    pub(super) fn begin_report(&mut self, directory: &str, console: &mut Console) {
        let owner = owner(&self.roots, directory).map(str::to_owned);
        if owner.is_none() || owner == self.current {
            return;
        }
        self.end_current(console);
        let before = |it: &RenderedPackage| {
            owner.as_deref().is_some_and(|owner| by_path(&it.root, owner) == Ordering::Less)
        };
        let end = self.index.packages.iter().take_while(|it| before(it)).count();
        self.replay(end, console);
        console.record_text();
        self.current = owner;
    }

    /// Called after the last package. After a failure nothing else is reported.
    pub(super) fn end_report(&mut self, is_stopped: bool, console: &mut Console) {
        self.end_current(console);
        if !is_stopped {
            self.replay(self.index.packages.len(), console);
        }
    }

    fn end_current(&mut self, console: &mut Console) {
        if let Some(root) = self.current.take() {
            self.reports.insert(root, console.take_text());
        }
    }

    fn replay(&mut self, end: usize, console: &mut Console) {
        let reports = self.index.packages.get(self.replayed..end).unwrap_or_default();
        reports.iter().for_each(|it| console.replay(&it.report));
        self.replayed = self.replayed.max(end);
    }

    /// Stores which packages did not change, for the next run. `changed` are the files that did.
    ///
    /// A state is trusted if it is older than the command: whatever was written since then has a newer one. A run with warnings is not
    /// stored, so that they are printed again.
    pub(super) fn store(
        &self,
        loaded: &LoadedPackage,
        (pipeline, before): (&PipelineRun, &[Item]),
        changed: &BTreeSet<&PackagePath>,
        console: &mut Console,
    ) {
        let has_warnings = console.worst_reported().is_some_and(|it| it >= Severity::Warning);
        let inputs = &loaded.inputs;
        if !self.writes || pipeline.is_stopped || has_warnings || inputs.has_symlinks {
            return;
        }
        let mut excluded: HashSet<&str> =
            changed.iter().filter_map(|it| owner(&self.roots, it.as_str())).collect();
        if self.roots.iter().all(|root| excluded.contains(&**root)) {
            return;
        }
        let directories = loaded.directories.iter().map(|it| it.to_input());
        let files = inputs.files.iter().chain(&inputs.ignore_files).cloned();
        let mut owned: BTreeMap<Option<&str>, Vec<Input>> = BTreeMap::new();
        for input in directories.chain(files) {
            let inside = input.path.strip_prefix(&self.root).ok().and_then(Path::to_str);
            let Some(inside) = inside else { return };
            owned.entry(owner(&self.roots, inside)).or_default().push(input);
        }
        let is_new = self.index.packages.is_empty();
        let mut index = match is_new {
            false => self.index.clone(),
            true => {
                let loose = owned.remove(&None).unwrap_or_default();
                let shared: Vec<Input> = self.settings.iter().cloned().chain(loose).collect();
                if !self.are_trusted(&shared) {
                    return;
                }
                RenderIndex { shared, ..RenderIndex::default() }
            }
        };
        let mut counts: BTreeMap<Option<&str>, Counts> = BTreeMap::new();
        for item in before {
            let owner = item.path.as_ref().and_then(|it| owner(&self.roots, it.as_str()));
            counts.entry(owner).or_default().resources += 1;
        }
        if is_new {
            index.loose_resources = counts.get(&None).map_or(0, |it| it.resources);
        }
        for run in &pipeline.runs {
            let Some(owner) = owner(&self.roots, &run.record.package) else { return };
            match pure_inputs(run) {
                Some(files) => {
                    let files = files.iter().cloned().map(Input::of);
                    owned.entry(Some(owner)).or_default().extend(files);
                }
                None => _ = excluded.insert(owner),
            }
            let counts = counts.entry(Some(owner)).or_default();
            counts.functions += usize::from(run.status == RunStatus::Succeeded);
            counts.infos += run.reported().len();
        }
        for (root, inputs) in owned {
            let Some(root) = root else { continue };
            if excluded.contains(root) || !self.are_trusted(&inputs) {
                continue;
            }
            index.packages.push(RenderedPackage {
                root: root.to_owned(),
                inputs,
                report: self.reports.get(root).cloned().unwrap_or_default(),
                counts: counts.get(&Some(root)).copied().unwrap_or_default(),
            });
        }
        index.packages.sort_by(|a, b| by_path(&a.root, &b.root));
        index.all_roots = self.roots.clone();
        if index.packages.len() > self.index.packages.len() {
            self.store.put(&self.key, &index.encode());
        }
    }

    /// Whether the states of files show every later change: on the file system of the directory, without other names, and old enough.
    fn are_trusted(&self, inputs: &[Input]) -> bool {
        let device = |input: &Input| input.state.and_then(|it| it.file_id()).map(|it| it.0);
        let own = device(&Input::of(self.root.clone()));
        inputs.iter().all(|input| {
            let is_single =
                input.state.is_none_or(|it| !it.has_other_names() || input.path.is_dir());
            let has_reliable_times = match device(input) {
                None => true,
                device if device == own => true,
                _ => input.path.parent().is_some_and(has_reliable_times),
            };
            is_single && has_reliable_times && input.is_settled_at(self.started)
        })
    }
}

/// The files that a function read besides the resources; none if its result may depend on something else.
fn pure_inputs(run: &FunctionRun) -> Option<&[PathBuf]> {
    let is_quiet = run.warnings.is_empty()
        && run.documents.is_empty()
        && run.reported().iter().all(|it| it.severity == Severity::Info);
    match run.status {
        RunStatus::Skipped => Some(&[]),
        RunStatus::Succeeded if is_quiet => {
            run.inputs.as_deref().filter(|it| it.iter().all(|it| !it.is_symlink()))
        }
        _ => None,
    }
}

/// Everything that the result depends on, apart from files: the command line, the environment, the terminal and the program itself.
fn key(root: &Path, console: &Console) -> Option<CacheKey> {
    // The program itself is part of every identity.
    let mut identity = FunctionIdentity::new("render index")
        .field("root", root.as_os_str().as_encoded_bytes())
        .field("directory", std::env::current_dir().ok()?.as_os_str().as_encoded_bytes())
        .field("console", console.style().as_bytes());
    for argument in std::env::args_os().skip(1) {
        if !PREVIEW.iter().any(|it| argument == *it) {
            identity = identity.field("argument", argument.as_encoded_bytes());
        }
    }
    let mut variables: Vec<_> = std::env::vars_os().collect();
    variables.sort();
    for (name, value) in variables {
        let text = name.to_string_lossy();
        let is_own = ["KRM_", "KPT_", "KUST_"].iter().any(|prefix| text.starts_with(prefix));
        if is_own || VARIABLES.contains(&&*text) {
            identity = identity
                .field("variable", name.as_encoded_bytes())
                .field("value", value.as_encoded_bytes());
        }
    }
    Some(identity.key())
}

/// Files outside of the packages that decide what is rendered, whether they exist or not. None if one of them is a symlink.
fn settings(args: &Args, root: &Path) -> Option<Vec<Input>> {
    let above = root.ancestors().skip(1).flat_map(|directory| {
        ["Kptfile", "Krmfile", IGNORE_FILE, lock_file::NAME].map(|name| directory.join(name))
    });
    let named = args.images.files().chain(args.schemas.files());
    let named = named.filter_map(|path| std::path::absolute(path).ok());
    let files = above.chain([root.join(lock_file::NAME)]).chain(named);
    files.map(|path| (!path.is_symlink()).then(|| Input::of(path))).collect()
}

/// The outermost packages of some files.
fn outermost<'a>(files: impl Iterator<Item = &'a PackagePath>) -> Vec<String> {
    let roots = files.filter(|path| path.is_package_file()).map(PackagePath::directory);
    let mut packages: Vec<String> = Vec::new();
    for root in roots.map(Path::new).collect::<BTreeSet<_>>() {
        if packages.last().is_none_or(|last| !root.starts_with(last)) {
            packages.extend(root.to_str().map(str::to_owned));
        }
    }
    packages
}

/// Paths in the order of their segments, in which packages are rendered.
fn by_path(a: &str, b: &str) -> Ordering {
    Path::new(a).cmp(Path::new(b))
}

/// The package that contains a path. Packages are ordered, and none is in another one.
fn owner<'a>(roots: &'a [String], path: &str) -> Option<&'a str> {
    let after = roots.partition_point(|root| by_path(root, path) != Ordering::Greater);
    let root = roots.get(after.checked_sub(1)?)?;
    Path::new(path).starts_with(root).then_some(&**root)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn owner_is_the_outermost_package() {
        let roots = ["a", "a-b", "c/d"].map(str::to_owned);
        for (path, expected) in [
            ("a", Some("a")),
            ("a/x/y.yaml", Some("a")),
            ("a-b/x", Some("a-b")),
            ("c/x", None),
            ("c/d/e", Some("c/d")),
            ("", None),
            ("z", None),
        ] {
            assert_eq!(owner(&roots, path), expected, "{path}");
        }
        assert_eq!(owner(&[String::new()], "x/y"), Some(""));
        let paths = ["a/Kptfile", "a/b/Kptfile", "a-b/Krmfile", "c/x.yaml"];
        let paths = paths.map(|it| PackagePath::new(it).unwrap());
        assert_eq!(outermost(paths.iter()), ["a", "a-b"]);
    }
}
