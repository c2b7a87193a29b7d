//! The packages that are attacked: commands with the files before and after them, and what is on disk.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::Attempt;
use crate::TaskResult;

/// Files with their contents, and directories without, by their paths.
pub(super) type Tree = BTreeMap<PathBuf, Option<Vec<u8>>>;

/// The directory of the package below that of an attempt.
pub(super) const PACKAGE: &str = "package";

/// A command that writes, with the package before and after it.
#[derive(Clone, Debug)]
pub(super) struct Scenario {
    pub(super) name: String,
    pub(super) args: Vec<String>,
    /// Everything in the directory of the attempt, other packages among them.
    pub(super) before: Tree,
    pub(super) after: Tree,
    /// How long an undisturbed run takes.
    pub(super) length: Duration,
}

/// A command that changes nothing, so that all it does is to recover.
pub(super) const RECOVER: [&str; 8] =
    ["cfg", "annotate", PACKAGE, "--kv", "a=b", "--kind", "Nobody", "--quiet"];

const KRMFILE: &str = "apiVersion: config.k8s.io/v1alpha1\nkind: Krmfile\nopenAPI:\n  definitions:\n    io.k8s.cli.setters.replicas:\n      x-k8s-cli:\n        setter:\n          name: replicas\n          value: \"3\"\n";

fn deployment(n: usize, more: &str) -> String {
    format!(
        "# {n}\nkind: Deployment\napiVersion: apps/v1\nmetadata:\n  name: d{n}\nspec:\n  replicas: 3 # {{\"$openapi\":\"replicas\"}}\n{more}"
    )
}

/// The path of a file of a package: some files in the package itself, others in two directories.
pub(super) fn path_of(n: usize) -> String {
    ["", "one/", "two/deep/"][n % 3].to_owned() + &format!("d{n}.yaml")
}

/// A package of `count` Deployments, each followed by further lines.
pub(super) fn package(name: &str, count: usize, more: &str) -> Tree {
    let mut tree = Tree::new();
    let file = |tree: &mut Tree, path: String, text: String| {
        let path = Path::new(name).join(path);
        for directory in path.ancestors().skip(1).filter(|it| !it.as_os_str().is_empty()) {
            tree.insert(directory.to_owned(), None);
        }
        tree.insert(path, Some(text.into_bytes()));
    };
    file(&mut tree, "Krmfile".to_owned(), KRMFILE.to_owned());
    for n in 0..count {
        file(&mut tree, path_of(n), deployment(n, more));
    }
    tree
}

/// All scenarios, with their results and times. A few files are flushed one by one, many at once.
pub(super) fn scenarios(attempt: &Attempt<'_>) -> TaskResult<Vec<Scenario>> {
    let mut all = Vec::new();
    for count in [3, 12] {
        let merge = ["cfg", "merge3", "--ancestor", "base", "--from", "upstream", "--to", PACKAGE];
        let commands: [(&str, &[&str]); 5] = [
            ("cfg fmt", &["cfg", "fmt", PACKAGE]),
            ("cfg set", &["cfg", "set", PACKAGE, "replicas", "5"]),
            (
                "fn eval",
                &["fn", "eval", PACKAGE, "-q", "-i", "set-annotations:v0.1.4", "--", "run=7"],
            ),
            ("cfg merge3", &merge),
            ("yaml set", &["yaml", "set", "spec.replicas", "9", "package/d0.yaml"]),
        ];
        for (name, args) in commands {
            let mut before = package(PACKAGE, count, "");
            if name == "cfg merge3" {
                before.extend(package("base", count, ""));
                before.extend(upstream(count));
            }
            let args = args.iter().map(|arg| (*arg).to_owned()).collect();
            all.push(measured(format!("{name} ({count} files)"), args, before, attempt)?);
        }
    }
    Ok(all)
}

/// Changes every file, adds one in new directories, and deletes one.
fn upstream(count: usize) -> Tree {
    let mut tree = package("upstream", count, "  paused: true\n");
    tree.remove(&Path::new("upstream").join(path_of(1)));
    let new = Path::new("upstream/new/deep");
    tree.insert("upstream/new".into(), None);
    tree.insert(new.to_owned(), None);
    tree.insert(new.join("n.yaml"), Some(deployment(count, "").into_bytes()));
    tree
}

fn measured(
    name: String,
    args: Vec<String>,
    before: Tree,
    attempt: &Attempt<'_>,
) -> TaskResult<Scenario> {
    let mut scenario =
        Scenario { name, args, before, after: Tree::new(), length: Duration::from_secs(60) };
    for _ in 0..5 {
        attempt.reset(&scenario.before);
        let start = Instant::now();
        let output = attempt.krm(&scenario.args).output()?;
        scenario.length = scenario.length.min(start.elapsed());
        if !output.status.success() {
            let stderr = String::from_utf8_lossy(&output.stderr);
            return Err(format!("{} fails undisturbed: {stderr}", scenario.name).into());
        }
        scenario.after = read(attempt.directory);
    }
    if scenario.after == scenario.before {
        return Err(format!("{} changes nothing", scenario.name).into());
    }
    Ok(scenario)
}

/// Everything below a directory. What vanishes meanwhile is left out.
pub(super) fn read(root: &Path) -> Tree {
    let mut tree = Tree::new();
    let mut waiting = vec![PathBuf::new()];
    while let Some(directory) = waiting.pop() {
        let Ok(entries) = fs::read_dir(root.join(&directory)) else { continue };
        for entry in entries.flatten() {
            let path = directory.join(entry.file_name());
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => {
                    tree.insert(path.clone(), None);
                    waiting.push(path);
                }
                Ok(_) => {
                    if let Ok(bytes) = fs::read(root.join(&path)) {
                        tree.insert(path, Some(bytes));
                    }
                }
                Err(_) => {}
            }
        }
    }
    tree
}

/// Writes a tree into an empty directory.
pub(super) fn write(root: &Path, tree: &Tree) -> std::io::Result<()> {
    for (path, content) in tree {
        match content {
            Some(bytes) => fs::write(root.join(path), bytes)?,
            None => fs::create_dir(root.join(path))?,
        }
    }
    Ok(())
}

/// Whether krm creates files of this name while it writes.
pub(super) fn is_temporary(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(".krm-"))
}

/// What is on disk, compared with the files before and after a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    Old,
    New,
    /// Each file is old or new, but some are old and some are new, or temporary files are left.
    Between,
}

impl Scenario {
    /// The state of the disk; an error names a file that is neither old nor new.
    pub(super) fn state(&self, now: &Tree) -> Result<State, String> {
        if *now == self.before {
            return Ok(State::Old);
        }
        if *now == self.after {
            return Ok(State::New);
        }
        let own = now.keys().filter(|path| !is_temporary(path));
        for path in own.chain(self.before.keys()).chain(self.after.keys()) {
            let found = now.get(path);
            if found != self.before.get(path) && found != self.after.get(path) {
                return Err(format!("{} is neither old nor new", path.display()));
            }
        }
        Ok(State::Between)
    }

    /// The paths at which the disk differs from both, for messages.
    pub(super) fn difference(&self, now: &Tree) -> String {
        let describe = |path: &PathBuf| {
            let found = now.get(path);
            let state = match (found == self.before.get(path), found == self.after.get(path)) {
                (true, true) => return None,
                (true, false) => "old",
                (false, true) => "new",
                (false, false) => "neither",
            };
            Some(format!("{} ({state})", path.display()))
        };
        let mut paths: Vec<&PathBuf> = now.keys().chain(self.before.keys()).collect();
        paths.extend(self.after.keys());
        paths.sort();
        paths.dedup();
        paths.into_iter().filter_map(describe).collect::<Vec<_>>().join(", ")
    }
}
