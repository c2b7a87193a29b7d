//! Packages in git repositories: a bare repository per URL in the cache, which gets only what is needed.
//!
//! A commit is fetched without history and without files; then the files of the one directory are fetched together. Servers that
//! do not support this get a plain fetch. There is never a work tree, so that no hook, filter or submodule is involved.

mod program;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use krm_core::diagnostics::closest_name;
use krm_core::{Diagnostic, PackagePath};

use super::address::{check_reference, check_url};
use super::cache::CacheEntry;
use super::{
    FetchedFile, FetchedPackage, PackageSource, RESERVED, Revision, SourceKind, is_reserved,
};
use crate::cache_directory::Area;
use crate::console::Activity;
use crate::disk::io_reason;
use program::{Git, GitOutput};

/// A directory of a git repository.
pub(super) struct GitSource {
    git: Git,
    /// Without slashes around it; empty for the whole repository.
    directory: String,
    entry: CacheEntry,
}

/// An entry of a git tree.
struct TreeEntry {
    mode: String,
    id: String,
    path: String,
}

/// Stands for the mode of an entry whose path cannot be written.
const NOT_UTF8: &str = "not UTF-8";

/// Options of every fetch.
const FETCH: [&str; 6] = [
    "fetch",
    "--quiet",
    "--no-tags",
    "--no-recurse-submodules",
    "--no-write-fetch-head",
    "--no-auto-gc",
];

impl GitSource {
    /// Opens the repository of the cache for a URL, and creates it on first use.
    pub(super) fn open(url: &str, directory: &str) -> Result<Self, Diagnostic> {
        check_url(url)?;
        let public = super::address::without_credentials(url);
        let entry = CacheEntry::lock(Area::Git, &public)?;
        let git = Git::new(url, &entry.directory)?;
        let source = Self { git, directory: directory.trim_matches('/').to_owned(), entry };
        source.create(&source.entry.directory, &source.git)?;
        Ok(source)
    }

    /// Creates a bare repository without hooks. One that was not completed is replaced.
    fn create(&self, directory: &PathBuf, git: &Git) -> Result<(), Diagnostic> {
        let mark = directory.join("krm-ready");
        if mark.is_file() {
            return Ok(());
        }
        let failed = |error: std::io::Error| {
            Diagnostic::error(SourceKind::CacheFailed { reason: io_reason(&error) })
        };
        if directory.exists() {
            fs::remove_dir_all(directory).map_err(failed)?;
        }
        fs::create_dir_all(directory).map_err(failed)?;
        let created = git.local(&["init", "--quiet", "--bare", "--template="], &[])?;
        self.succeeded(created, "create a repository in the cache")?;
        fs::write(mark, self.git.public_url()).map_err(failed)
    }

    fn failed(&self, action: &str, reason: String) -> Diagnostic {
        let action = action.to_owned();
        let reason =
            if reason.is_empty() { "git failed without a message".to_owned() } else { reason };
        let error = Diagnostic::error(SourceKind::GitFailed { action, reason });
        let url = self.git.public_url();
        match url.split_once("://").map(|(scheme, _)| scheme) {
            Some("https" | "http") => error.hint(
                "check the URL and your access; krm asks git's credential helpers, which `git config --global credential.helper` sets",
            ),
            Some("file") => error,
            _ => error.hint("check the URL and your access with `ssh`; krm uses your ssh keys and agent"),
        }
    }

    fn succeeded(&self, output: GitOutput, action: &str) -> Result<Vec<u8>, Diagnostic> {
        match output.is_success {
            true => Ok(output.stdout),
            false => Err(self.failed(action, output.reason)),
        }
    }

    fn reading(&self) -> String {
        format!("read {}", self.git.public_url())
    }

    /// Ids of references by their full names. Tags that point to tags are resolved.
    fn references(&self, patterns: &[&str]) -> Result<BTreeMap<String, String>, Diagnostic> {
        let _activity = Activity::begin(&self.reading());
        let arguments: Vec<&str> = ["ls-remote", "--quiet", "--symref", "origin"]
            .into_iter()
            .chain(patterns.iter().copied())
            .collect();
        let output = self.git.remote(&arguments, &[])?;
        let text = self.succeeded(output, &self.reading())?;
        let text = String::from_utf8_lossy(&text);
        let lines = text.lines().filter_map(|line| line.split_once('\t'));
        Ok(lines
            .map(|(id, name)| {
                // `ref: refs/heads/main\tHEAD` names the branch of HEAD. A clone has `refs/remotes/origin/HEAD`, too.
                match id.strip_prefix("ref: ") {
                    Some(target) => (format!("ref: {name}"), target.to_owned()),
                    None => (name.to_owned(), id.to_owned()),
                }
            })
            .collect())
    }

    /// The id of the directory's tree in a commit, if the cache has the commit.
    fn tree(&self, commit: &str) -> Result<Option<TreeEntry>, Diagnostic> {
        let found = match self.directory.is_empty() {
            true => {
                let output = self.git.local(
                    &["rev-parse", "--quiet", "--verify", &format!("{commit}^{{tree}}")],
                    &[],
                )?;
                let id = String::from_utf8_lossy(&output.stdout).trim().to_owned();
                return Ok(output.is_success.then_some(TreeEntry {
                    mode: "040000".to_owned(),
                    id,
                    path: String::new(),
                }));
            }
            false => self.git.local(&["ls-tree", "-z", commit, "--", &self.directory], &[])?,
        };
        if !found.is_success {
            return Ok(None);
        }
        match tree_entries(&found.stdout).into_iter().find(|it| it.path == self.directory) {
            Some(entry) => Ok(Some(entry)),
            None => {
                Ok(Some(TreeEntry { mode: String::new(), id: String::new(), path: String::new() }))
            }
        }
    }

    /// The tree of the directory, after fetching the commit if needed.
    fn fetched_tree(&self, revision: &Revision) -> Result<String, Diagnostic> {
        let entry = match self.tree(&revision.id)? {
            Some(entry) => entry,
            None => {
                self.fetch_commit(revision)?;
                self.tree(&revision.id)?.ok_or_else(|| self.commit_not_found(revision))?
            }
        };
        if entry.mode == "040000" {
            return Ok(entry.id);
        }
        let name = format!("{}@{}", self.git.public_url(), revision.reference);
        let directory = format!("/{}", self.directory);
        let error = Diagnostic::error(SourceKind::NoSuchDirectory { directory, revision: name });
        let all =
            self.git.local(&["ls-tree", "-r", "-d", "-z", "--name-only", &revision.id], &[])?;
        let all = String::from_utf8_lossy(&all.stdout).into_owned();
        let similar = closest_name(all.split('\0').filter(|it| !it.is_empty()), &self.directory);
        Err(match similar {
            Some(similar) => error.hint(format!("did you mean `{similar}`?")),
            None => error,
        })
    }

    fn commit_not_found(&self, revision: &Revision) -> Diagnostic {
        let (commit, repo) = (revision.id.clone(), self.git.public_url());
        Diagnostic::error(SourceKind::CommitNotFound { commit, repo })
            .hint("the branch was probably rewritten or deleted; update with `--strategy force-delete-replace`, or get the package again")
    }

    /// Fetches a commit with its trees, without its files where the server supports it.
    fn fetch_commit(&self, revision: &Revision) -> Result<(), Diagnostic> {
        let _activity =
            Activity::begin(&format!("fetching {}@{}", self.git.public_url(), revision.reference));
        let has_commit = || Ok::<_, Diagnostic>(self.tree(&revision.id)?.is_some());
        let partial = ["--depth=1", "--filter=blob:none", "origin"];
        let by_id = self.fetch_with(&partial, &revision.id)?;
        if by_id.is_success && has_commit()? {
            self.entry.evict_others();
            return Ok(());
        }
        // A server that hands out references only.
        let name = [
            format!("refs/tags/{}", revision.reference),
            format!("refs/heads/{}", revision.reference),
        ];
        for name in name {
            if self.fetch_with(&partial, &name)?.is_success && has_commit()? {
                self.entry.evict_others();
                return Ok(());
            }
        }
        let all = "+refs/*:refs/krm/*";
        let whole = self.fetch_with(&["origin"], all)?;
        self.entry.evict_others();
        match whole.is_success {
            true if has_commit()? => Ok(()),
            true => Err(self.commit_not_found(revision)),
            false => Err(self.failed(&self.reading(), whole.reason)),
        }
    }

    fn fetch_with(&self, options: &[&str], what: &str) -> Result<GitOutput, Diagnostic> {
        let arguments: Vec<&str> = FETCH.iter().chain(options).copied().chain([what]).collect();
        self.git.remote(&arguments, &[])
    }

    /// Fetches the files of a tree that the cache does not have, all at once.
    fn fetch_files(&self, tree: &str, revision: &Revision) -> Result<(), Diagnostic> {
        let missing = self.missing(tree)?;
        if missing.is_empty() {
            return Ok(());
        }
        let _activity = Activity::begin(&format!(
            "fetching {} files of {}",
            missing.len(),
            self.git.public_url()
        ));
        let mut input = missing.join("\n");
        input.push('\n');
        let batch = ["--filter=blob:none", "--stdin", "origin"];
        // A server that knows which commits the cache has would leave out their files, which the cache does not have.
        let alone = ["-c", "fetch.negotiationAlgorithm=noop"];
        let arguments: Vec<&str> = alone.iter().chain(&FETCH).chain(&batch).copied().collect();
        let fetched = self.git.remote(&arguments, input.as_bytes())?;
        if !fetched.is_success || !self.missing(tree)?.is_empty() {
            // A server that hands out whole commits only.
            let whole = ["--refetch", "--depth=1", "--no-filter", "origin"];
            let by_id = self.fetch_with(&whole, &revision.id)?;
            if !by_id.is_success {
                let by_name = self.fetch_with(&whole, &revision.reference)?;
                self.succeeded(by_name, &self.reading())?;
            }
        }
        self.entry.evict_others();
        Ok(())
    }

    fn missing(&self, tree: &str) -> Result<Vec<String>, Diagnostic> {
        let arguments = ["rev-list", "--objects", "--missing=print", "--no-object-names", tree];
        let output = self.git.local(&arguments, &[])?;
        let text = self.succeeded(output, "read the cache")?;
        let text = String::from_utf8_lossy(&text);
        Ok(text.lines().filter_map(|line| line.strip_prefix('?')).map(str::to_owned).collect())
    }

    /// The contents of objects, by id.
    fn contents(&self, ids: &BTreeSet<&str>) -> Result<BTreeMap<String, Arc<[u8]>>, Diagnostic> {
        let input: String = ids.iter().map(|id| format!("{id}\n")).collect();
        let output = self.git.local(&["cat-file", "--batch", "--buffer"], input.as_bytes())?;
        let bytes = self.succeeded(output, "read the cache")?;
        let mut contents = BTreeMap::new();
        let mut rest = &bytes[..];
        while let Some((id, content, next)) = batch_entry(rest) {
            contents.insert(id, Arc::from(content));
            rest = next;
        }
        Ok(contents)
    }
}

impl PackageSource for GitSource {
    fn resolve(&self, reference: Option<&str>) -> Result<Revision, Diagnostic> {
        let Some(reference) = reference else {
            let found = self.references(&["HEAD"])?;
            let id = found.get("HEAD").cloned();
            let branch = found.get("ref: HEAD").and_then(|it| it.strip_prefix("refs/heads/"));
            let reference = branch.unwrap_or("HEAD").to_owned();
            return match id {
                Some(id) => Ok(Revision { reference, id }),
                None => {
                    Err(self.failed(&self.reading(), "the repository has no commit".to_owned()))
                }
            };
        };
        check_reference(reference)?;
        let is_id = [40, 64].contains(&reference.len())
            && reference.bytes().all(|it| it.is_ascii_hexdigit());
        if is_id {
            let id = reference.to_ascii_lowercase();
            return Ok(Revision { reference: reference.to_owned(), id });
        }
        // Compat: a tag can name a directory and its version, as in `shop/v1`.
        let own = format!("{}/{reference}", self.directory);
        let names = [
            format!("refs/tags/{own}"),
            format!("refs/tags/{reference}"),
            format!("refs/heads/{reference}"),
            reference.to_owned(),
        ];
        let peeled = names.iter().map(|name| format!("{name}^{{}}"));
        let patterns: Vec<String> = names.iter().cloned().chain(peeled).collect();
        let patterns: Vec<&str> = patterns.iter().map(String::as_str).collect();
        let found = self.references(&patterns)?;
        let id = names
            .iter()
            .find_map(|name| found.get(&format!("{name}^{{}}")).or_else(|| found.get(name)));
        match id {
            Some(id) => Ok(Revision { reference: reference.to_owned(), id: id.clone() }),
            None => Err(self.reference_not_found(reference)),
        }
    }

    fn content_id(&self, revision: &Revision) -> Result<String, Diagnostic> {
        self.fetched_tree(revision)
    }

    fn fetch(&self, revision: &Revision) -> Result<FetchedPackage, Diagnostic> {
        let tree = self.fetched_tree(revision)?;
        self.fetch_files(&tree, revision)?;
        let output = self.git.local(&["ls-tree", "-r", "-z", &tree], &[])?;
        let entries = tree_entries(&self.succeeded(output, "read the cache")?);
        let is_file = |entry: &&TreeEntry| entry.mode.starts_with("100");
        let ids: BTreeSet<&str> = entries.iter().filter(is_file).map(|it| &*it.id).collect();
        let contents = self.contents(&ids)?;
        let mut package = FetchedPackage::default();
        for entry in &entries {
            let what = match &*entry.mode {
                "120000" => Some("a symlink"),
                "160000" => Some("a submodule"),
                NOT_UTF8 => Some("a path that is not UTF-8"),
                _ if is_reserved(&entry.path) => Some(RESERVED),
                _ => None,
            };
            if let Some(what) = what {
                package.skipped.push((entry.path.clone(), what));
                continue;
            }
            let is_git = entry.path.split('/').any(|part| part.eq_ignore_ascii_case(".git"));
            match (PackagePath::new(&entry.path), contents.get(&entry.id)) {
                (Ok(path), Some(content)) if !is_git => {
                    let is_executable = entry.mode == "100755";
                    package
                        .files
                        .insert(path, FetchedFile { content: Arc::clone(content), is_executable });
                }
                (Ok(_), None) => {
                    let reason = format!("the cache has no content of `{}`", entry.path);
                    return Err(self.failed(&self.reading(), reason));
                }
                _ => package.skipped.push((entry.path.clone(), "an invalid path")),
            }
        }
        Ok(package)
    }

    fn count_newer(&self, from: &Revision, to: &Revision) -> Result<Option<usize>, Diagnostic> {
        if from.id == to.id {
            return Ok(Some(0));
        }
        // Histories are kept apart: the other repository has single commits, which git takes for the beginning of history.
        let directory = self.entry.directory.join("history");
        let git = self.git.at(&directory);
        self.create(&directory, &git)?;
        let _activity =
            Activity::begin(&format!("fetching the history of {}", self.git.public_url()));
        let arguments: Vec<&str> =
            FETCH.iter().copied().chain(["--filter=tree:0", "origin", &*to.id]).collect();
        if !git.remote(&arguments, &[])?.is_success {
            return Ok(None);
        }
        self.entry.evict_others();
        let is_ancestor = git.local(&["merge-base", "--is-ancestor", &from.id, &to.id], &[])?;
        if !is_ancestor.is_success {
            return Ok(None);
        }
        let range = format!("{}..{}", from.id, to.id);
        let output = git.local(&["rev-list", "--count", &range], &[])?;
        Ok(String::from_utf8_lossy(&output.stdout)
            .trim()
            .parse()
            .ok()
            .filter(|_| output.is_success))
    }
}

impl GitSource {
    fn reference_not_found(&self, reference: &str) -> Diagnostic {
        let repo = self.git.public_url();
        let reference = reference.to_owned();
        let is_short_id = (7..40).contains(&reference.len())
            && reference.bytes().all(|it| it.is_ascii_hexdigit());
        let all = self.references(&[]).unwrap_or_default();
        let names = all.keys().filter(|it| !it.ends_with("^{}")).filter_map(|name| {
            name.strip_prefix("refs/heads/").or_else(|| name.strip_prefix("refs/tags/"))
        });
        let similar = closest_name(names, &reference).map(str::to_owned);
        let error = Diagnostic::error(SourceKind::ReferenceNotFound { reference, repo });
        match similar {
            _ if is_short_id => error.hint("use the whole id of a commit"),
            Some(similar) => error.hint(format!("did you mean `{similar}`?")),
            None => error,
        }
    }
}

fn tree_entries(output: &[u8]) -> Vec<TreeEntry> {
    let entry = |bytes: &[u8]| {
        let line = String::from_utf8_lossy(bytes);
        let (head, path) = line.split_once('\t')?;
        let mut parts = head.split(' ');
        let (mode, id) = (parts.next()?.to_owned(), parts.nth(1)?.to_owned());
        let mode = if std::str::from_utf8(bytes).is_ok() { mode } else { NOT_UTF8.to_owned() };
        Some(TreeEntry { mode, id, path: path.to_owned() })
    };
    output.split(|byte| *byte == 0).filter_map(entry).collect()
}

/// The first object of the output of `git cat-file --batch`: its id, its content and the rest of the output.
fn batch_entry(output: &[u8]) -> Option<(String, &[u8], &[u8])> {
    let end = output.iter().position(|byte| *byte == b'\n')?;
    let head = std::str::from_utf8(&output[..end]).ok()?;
    let mut parts = head.split(' ');
    let id = parts.next()?.to_owned();
    let length: usize = parts.nth(1)?.parse().ok()?;
    let content = output.get(end + 1..end + 1 + length)?;
    Some((id, content, output.get(end + 2 + length..).unwrap_or_default()))
}
