//! `--changed-since` and `--shard`: which packages of a directory are rendered.
//!
//! A package and its subpackages are rendered together, because the functions of a package see the resources of its subpackages. So the
//! unit is an outermost package: one that is in no other package of the directory.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use krm_core::{Diagnostic, PackagePath};

use crate::console::Console;
use crate::console::plural;
use crate::git::WorkingTree;
use crate::loader::FoundDirectory;
use crate::walk::{self, Location, PackageSelection};
use crate::{Exit, Failure};

#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Packages of a repository")]
pub(super) struct PackageFlags {
    /// Render only packages that differ from this git revision; REF... is the common ancestor of REF and HEAD
    #[arg(long, value_name = "REF")]
    changed_since: Option<String>,

    /// Render only part I of N, to divide the packages among the jobs of a CI system
    #[arg(long, value_name = "I/N")]
    shard: Option<Shard>,
}

/// A part of the packages, from one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Shard {
    index: usize,
    count: usize,
}

impl FromStr for Shard {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let numbers = text.split_once('/').and_then(|(index, count)| {
            let number = |text: &str| text.parse::<usize>().ok();
            Some(Self { index: number(index)?, count: number(count)? })
        });
        let is_part = |it: &Self| it.index >= 1 && it.index <= it.count;
        numbers.filter(is_part).ok_or("expected I/N with I from 1 to N, such as 2/5")
    }
}

impl PackageFlags {
    /// Whether only some packages may be rendered.
    pub(super) fn is_on(&self) -> bool {
        self.changed_since.is_some() || self.shard.is_some()
    }

    /// The packages to render; none if all are, or if the directory has no package. `inputs` are files and directories that
    /// the user named, and that all packages use.
    pub(super) fn select(
        &self,
        found: &FoundDirectory,
        inputs: &[PathBuf],
        console: &mut Console,
    ) -> Result<Option<PackageSelection>, Failure> {
        // A package in a directory that cannot be read would be left out in silence.
        let errors = found.walk.diagnostics.iter().filter(|it| it.is_error()).cloned();
        let errors: Vec<Diagnostic> = errors.collect();
        if !errors.is_empty() {
            return Err(Failure::Diagnostics(Exit::Input, errors));
        }
        let mut packages = outermost(found);
        let total = packages.len();
        if total == 0 {
            return Ok(None);
        }
        if let Some(revision) = &self.changed_since {
            let tree = WorkingTree::of(&found.root, &found.title).map_err(Failure::input)?;
            let changed = tree.changed_since(revision, &found.root);
            let changed = Changed { tree, paths: changed.map_err(Failure::input)? };
            let is_changed = changed.packages(found, &packages, inputs);
            let mut kept = is_changed.into_iter();
            packages.retain(|_| kept.next().unwrap_or(true));
            let of = format!("{} of {}", packages.len(), plural(total, "package"));
            console.status(&format!("{of} changed since {revision}"));
        }
        if let Some(shard) = self.shard {
            let all = packages.len();
            packages = shard.of(packages);
            let of = format!("{} of {}", packages.len(), plural(all, "package"));
            console.status(&format!("shard {}/{}: {of}", shard.index, shard.count));
        }
        let roots = packages.iter().map(|it| it.root.as_path());
        Ok(Some(PackageSelection::new(roots, aliases(found))))
    }
}

/// An outermost package.
#[derive(Clone, Debug, PartialEq, Eq)]
struct OutermostPackage {
    /// Its directory, relative to the one that was walked.
    root: PathBuf,
    /// The number of its files.
    files: usize,
}

/// The outermost packages, in the order of their paths.
fn outermost(found: &FoundDirectory) -> Vec<OutermostPackage> {
    let files = || found.walk.found.iter().map(|it| &it.path);
    let roots = files().filter(|path| path.is_package_file()).map(PackagePath::directory);
    let mut packages: Vec<OutermostPackage> = Vec::new();
    // Paths are compared by their segments, so that a directory comes right before what is in it.
    for root in roots.map(Path::new).collect::<BTreeSet<_>>() {
        if packages.last().is_none_or(|last| !root.starts_with(&last.root)) {
            packages.push(OutermostPackage { root: root.to_owned(), files: 0 });
        }
    }
    let index = index(&packages);
    let mut counts = vec![0; packages.len()];
    for path in files() {
        owner(&index, Path::new(path.directory())).into_iter().for_each(|at| counts[at] += 1);
    }
    packages.iter_mut().zip(counts).for_each(|(package, files)| package.files = files);
    packages
}

/// Symlinks to other files that are found, which are read under their own names only.
fn aliases(found: &FoundDirectory) -> HashSet<PathBuf> {
    let files = found.walk.found.iter().filter(|file| !file.is_link);
    let files: HashSet<&Path> = files.map(|file| Path::new(file.path.as_str())).collect();
    let links = found.walk.found.iter().filter(|file| file.is_link);
    let is_alias = |location: &Location| matches!(location, Location::Inside(target) if files.contains(target.as_path()));
    links.filter(|link| is_alias(&link.location)).map(|link| link.path.as_str().into()).collect()
}

/// The positions of packages by their directory.
fn index(packages: &[OutermostPackage]) -> HashMap<PathBuf, usize> {
    packages.iter().enumerate().map(|(at, package)| (package.root.clone(), at)).collect()
}

/// The package that contains a path.
fn owner(index: &HashMap<PathBuf, usize>, path: &Path) -> Option<usize> {
    path.ancestors().find_map(|directory| index.get(directory).copied())
}

impl Shard {
    /// The packages of this part. The largest are dealt out first, each to the part that has the fewest files, so that the
    /// parts are about equal and depend on nothing but the paths and the numbers of files.
    fn of(self, packages: Vec<OutermostPackage>) -> Vec<OutermostPackage> {
        let mut by_size: Vec<usize> = (0..packages.len()).collect();
        by_size.sort_by_key(|at| std::cmp::Reverse(packages[*at].files));
        // Parts by their files and number. The first one is the smallest.
        let mut parts: BTreeSet<(usize, usize)> =
            (1..=self.count.min(packages.len())).map(|it| (0, it)).collect();
        let mut own = vec![false; packages.len()];
        for at in by_size {
            let Some((files, part)) = parts.pop_first() else { break };
            own[at] = part == self.index;
            parts.insert((files + packages[at].files, part));
        }
        let own = packages.into_iter().zip(own).filter(|(_, own)| *own);
        own.map(|(package, _)| package).collect()
    }
}

/// What changed in a working tree.
struct Changed {
    tree: WorkingTree,
    /// Relative to the root of the working tree, in order.
    paths: Vec<PathBuf>,
}

impl Changed {
    /// Which packages changed.
    fn packages(
        &self,
        found: &FoundDirectory,
        packages: &[OutermostPackage],
        inputs: &[PathBuf],
    ) -> Vec<bool> {
        let below = found.root.strip_prefix(&self.tree.root).unwrap_or(&found.root);
        let index = index(packages);
        if inputs.iter().any(|input| self.includes(input)) {
            return vec![true; packages.len()];
        }
        let mut is_changed = vec![false; packages.len()];
        for path in &self.paths {
            match path.strip_prefix(below).ok().and_then(|inside| owner(&index, inside)) {
                Some(at) => is_changed[at] = true,
                None if decides_about_packages(path) => {
                    let directory = path.parent().unwrap_or(Path::new(""));
                    let inside = packages.iter().zip(&mut is_changed);
                    let inside =
                        inside.filter(|(it, _)| below.join(&it.root).starts_with(directory));
                    inside.for_each(|(_, is_changed)| *is_changed = true);
                }
                None => {}
            }
        }
        for directory in &found.walk.nested_repositories {
            // git does not say what changed in another repository.
            for (package, is_changed) in packages.iter().zip(&mut is_changed) {
                *is_changed |= package.root.starts_with(directory);
            }
            owner(&index, directory).into_iter().for_each(|at| is_changed[at] = true);
        }
        for link in &found.walk.dangling {
            // Its target may have been deleted.
            owner(&index, link).into_iter().for_each(|at| is_changed[at] = true);
        }
        let aliases = aliases(found);
        for link in found.walk.found.iter().filter(|file| file.is_link) {
            let path = Path::new(link.path.as_str());
            let Some(at) = owner(&index, path).filter(|_| !aliases.contains(path)) else {
                continue;
            };
            let target = match &link.location {
                Location::Inside(path) => found.root.join(path),
                Location::Outside(path) => path.clone(),
            };
            let is_own = target.starts_with(found.root.join(&packages[at].root));
            is_changed[at] |= !is_own && self.may_include(&target);
        }
        is_changed
    }

    /// Whether the target of a symlink may have changed: itself, or because a symlink on the way to it did. What is outside of the
    /// working tree is unknown.
    fn may_include(&self, target: &Path) -> bool {
        let is_symlink = |path: &PathBuf| self.tree.root.join(path).is_symlink();
        !target.starts_with(&self.tree.root)
            || self.includes(target)
            || self.paths.iter().any(is_symlink)
    }

    /// Whether a file, or a file in a directory, changed.
    fn includes(&self, path: &Path) -> bool {
        let Ok(path) = path.strip_prefix(&self.tree.root) else { return false };
        let after = self.paths.partition_point(|changed| changed.as_path() < path);
        self.paths.get(after).is_some_and(|changed| changed.starts_with(path))
    }
}

/// Whether a file that is in no package decides what the packages below its directory are, and which of their files are read.
fn decides_about_packages(path: &Path) -> bool {
    let names = ["Kptfile", "Krmfile", walk::IGNORE_FILE];
    path.file_name().is_some_and(|name| names.iter().any(|it| name == *it))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packages(sizes: &[usize]) -> Vec<OutermostPackage> {
        let package = |(at, files): (usize, &usize)| OutermostPackage {
            root: PathBuf::from(format!("p{at:02}")),
            files: *files,
        };
        sizes.iter().enumerate().map(package).collect()
    }

    #[test]
    fn shards_are_disjoint_complete_and_balanced() {
        let all = packages(&[90, 1, 1, 30, 30, 30, 2, 2, 2, 1, 1]);
        for count in 1..=12 {
            let shards: Vec<Vec<OutermostPackage>> =
                (1..=count).map(|index| Shard { index, count }.of(all.clone())).collect();
            let mut union: Vec<OutermostPackage> = shards.iter().flatten().cloned().collect();
            union.sort_by(|a, b| a.root.cmp(&b.root));
            assert_eq!(union, all, "{count} shards");
        }
        let files = |index| -> usize {
            Shard { index, count: 2 }.of(all.clone()).iter().map(|it| it.files).sum()
        };
        assert_eq!((files(1), files(2)), (95, 95));
    }

    #[test]
    fn shards_of_equal_packages_differ_by_one() {
        let all = packages(&[2; 10]);
        let sizes: Vec<usize> =
            (1..=4).map(|index| Shard { index, count: 4 }.of(all.clone()).len()).collect();
        assert_eq!(sizes, [3, 3, 2, 2]);
    }

    #[test]
    fn shard_is_one_of_n() {
        assert_eq!("2/5".parse(), Ok(Shard { index: 2, count: 5 }));
        for text in
            ["0/5", "6/5", "5", "/", "1/0", "-1/5", "1/5/6", "a/b", "1/99999999999999999999"]
        {
            assert!(text.parse::<Shard>().is_err(), "{text}");
        }
    }
}
