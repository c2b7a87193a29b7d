//! Reads triples from the history of a repository.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use krm_yaml::File;

use super::Triple;
use crate::{TaskResult, shell};

/// The maximum number of triples of one file, so that a file that changes often does not crowd out the others.
const PER_FILE: usize = 3;

/// Up to `wanted` triples: those of merge commits first, then those of neighbouring versions.
pub(super) fn triples(repository: &Path, wanted: usize) -> TaskResult<Vec<Triple>> {
    let mut triples = of_merges(repository, wanted)?;
    if triples.len() < wanted {
        triples.extend(of_versions(repository, wanted - triples.len())?);
    }
    Ok(triples)
}

fn git(repository: &Path, args: &[&str]) -> TaskResult<String> {
    shell::output(shell::program("git").arg("-C").arg(std::path::absolute(repository)?).args(args))
}

/// The files that both parents of a merge commit changed.
fn of_merges(repository: &Path, wanted: usize) -> TaskResult<Vec<Triple>> {
    let mut triples = Vec::new();
    let merges = git(repository, &["log", "--merges", "--format=%H %P"])?;
    for line in merges.lines() {
        let [merge, local, upstream] = line.split(' ').collect::<Vec<_>>()[..] else { continue };
        let Ok(base) = git(repository, &["merge-base", local, upstream]) else { continue };
        let base = base.trim();
        let changed = |side: &str| -> TaskResult<BTreeSet<String>> {
            let args = ["diff", "--name-only", "--no-renames", base, side, "--", "*.yaml", "*.yml"];
            Ok(git(repository, &args)?.lines().map(str::to_owned).collect())
        };
        for path in changed(local)?.intersection(&changed(upstream)?) {
            triples.extend(triple(repository, path, [base, local, upstream], merge));
            if triples.len() == wanted {
                return Ok(triples);
            }
        }
    }
    Ok(triples)
}

/// Three neighbouring versions of a file: the middle one is the base.
fn of_versions(repository: &Path, wanted: usize) -> TaskResult<Vec<Triple>> {
    let args = [
        "log",
        "--no-merges",
        "--no-renames",
        "--format=%x00%H",
        "--name-only",
        "--",
        "*.yaml",
        "*.yml",
    ];
    let log = git(repository, &args)?;
    let mut commits = BTreeMap::<&str, Vec<&str>>::new();
    for entry in log.split('\0').skip(1) {
        let mut lines = entry.lines().filter(|line| !line.is_empty());
        let Some(commit) = lines.next() else { continue };
        lines.for_each(|path| commits.entry(path).or_default().push(commit));
    }
    let mut triples = Vec::new();
    for (path, commits) in commits {
        // Windows that do not overlap: no edit is counted twice.
        for window in commits.chunks_exact(3).take(PER_FILE) {
            let [upstream, base, local] = [window[0], window[1], window[2]];
            triples.extend(triple(repository, path, [base, local, upstream], base));
        }
        if triples.len() >= wanted {
            break;
        }
    }
    triples.truncate(wanted);
    Ok(triples)
}

/// A triple, if both sides changed the file and all versions are YAML with a document.
fn triple(repository: &Path, path: &str, commits: [&str; 3], commit: &str) -> Option<Triple> {
    let show = |commit: &str| git(repository, &["show", &format!("{commit}:{path}")]).ok();
    let [base, local, upstream] = commits.map(show);
    let (base, local, upstream) = (base?, local?, upstream?);
    let is_yaml = |text: &String| {
        File::parse(text.clone()).is_ok_and(|file| file.documents().any(|it| it.root().is_some()))
    };
    let differ = base != local && base != upstream && local != upstream;
    (differ && [&base, &local, &upstream].into_iter().all(is_yaml)).then(|| {
        let repository = repository.to_string_lossy();
        let repository =
            repository.trim_end_matches("/repo").rsplit('/').next().unwrap_or_default();
        let name = format!("{repository} {path} {}", &commit[..commit.len().min(10)]);
        Triple { name, base, local, upstream }
    })
}
