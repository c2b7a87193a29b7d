//! A git working tree: what changed since a revision or the last commit, and its settings. The answers come from the git of the system.
//!
//! A repository can be configured to run programs when git compares files: a monitor of the file system, filters such as `git-lfs`,
//! hooks, and transports that fetch missing objects. None of them runs here: a command that only looks at a repository must not run
//! what somebody wrote into its configuration. A file behind a filter therefore counts as changed once its time differs.

mod kinds;

pub(crate) use kinds::GitKind;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use krm_core::{Diagnostic, PackagePath};

use crate::disk;

/// A suffix that selects the common ancestor of a revision and HEAD, as in `git diff REF...`.
const MERGE_BASE: &str = "...";

const SHALLOW: &str = "fetch the history that is missing: `git fetch --unshallow`, or `fetch-depth: 0` in GitHub's checkout action";

/// A working tree.
#[derive(Debug)]
pub(crate) struct WorkingTree {
    /// Its topmost directory, without symlinks.
    pub(crate) root: PathBuf,
    /// Settings that keep git from running the programs of filters.
    settings: Vec<OsString>,
}

impl WorkingTree {
    /// The working tree that contains a directory. `title` is the directory as messages show it.
    pub(crate) fn of(directory: &Path, title: &str) -> Result<Self, Diagnostic> {
        let output = git(directory, &[]).args(["rev-parse", "--show-toplevel"]).output();
        let output = output.map_err(|error| cannot_run(&error))?;
        let missing = |note: String| {
            let error = Diagnostic::error(GitKind::NotARepository).in_file(title);
            if note.is_empty() { error } else { error.note(note) }
        };
        if !output.status.success() {
            return Err(missing(last_line(&output.stderr)));
        }
        let root = output.stdout.strip_suffix(b"\n").unwrap_or(&output.stdout);
        let root = std::fs::canonicalize(os_string(root))
            .map_err(|error| missing(disk::io_reason(&error)))?;
        // With GIT_WORK_TREE, the working tree can be somewhere else.
        if !directory.starts_with(&root) {
            return Err(missing(format!("the working tree is {}", root.display())));
        }
        let settings = without_filters(&root)?;
        Ok(Self { root, settings })
    }

    /// The paths, relative to the root, of all files that differ from a revision: changed, added, deleted and untracked ones. A renamed
    /// file has both paths. Ignored files are included below `directory` if krm reads files of their name.
    pub(crate) fn changed_since(
        &self,
        revision: &str,
        directory: &Path,
    ) -> Result<Vec<PathBuf>, Diagnostic> {
        let commit = self.commit(revision)?;
        let diff = [
            "diff",
            "--name-only",
            "-z",
            "--no-renames",
            "--no-relative",
            "--no-ext-diff",
            "--no-textconv",
            // The files of submodules are not known here: see `nested_repositories` of the walk.
            "--ignore-submodules=dirty",
            &commit,
            "--",
        ];
        let untracked = ["ls-files", "--others", "--exclude-standard", "-z", "--"];
        let below = self.below(directory);
        let ignored = ["ls-files", "--others", "--ignored", "--exclude-standard", "-z", "--"];
        let is_read = |path: &PathBuf| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            PackagePath::is_manifest_name(&name) || name == crate::walk::IGNORE_FILE
        };
        std::thread::scope(|scope| {
            let untracked = scope.spawn(|| self.paths(&untracked, None));
            let ignored = scope.spawn(|| self.paths(&ignored, Some(below)));
            let mut changed = self.paths(&diff, None)?;
            changed.extend(joined(untracked)?);
            changed.extend(joined(ignored)?.into_iter().filter(is_read));
            changed.sort_unstable();
            changed.dedup();
            Ok(changed)
        })
    }

    /// The number of files in a directory that are changed or untracked.
    pub(crate) fn count_uncommitted(&self, directory: &Path) -> Result<usize, Diagnostic> {
        let status = ["status", "--porcelain", "-z", "--no-renames", "--"];
        Ok(self.paths(&status, Some(self.below(directory)))?.len())
    }

    /// The value of a setting of this repository.
    pub(crate) fn setting(&self, key: &str) -> Result<Option<String>, Diagnostic> {
        self.line(&["config", "--local", "--get", key])
    }

    /// Changes a setting of this repository.
    pub(crate) fn set(&self, key: &str, value: &str) -> Result<(), Diagnostic> {
        let output = self.run(&["config", "--local", key, value], None)?;
        if output.status.success() { Ok(()) } else { Err(failed("config", &output)) }
    }

    /// Removes all settings of a section. Returns whether there were any.
    pub(crate) fn remove_section(&self, section: &str) -> Result<bool, Diagnostic> {
        let name = format!("^{}\\.", section.replace('.', "\\."));
        if self.line(&["config", "--local", "--get-regexp", &name])?.is_none() {
            return Ok(false);
        }
        let output = self.run(&["config", "--local", "--remove-section", section], None)?;
        if output.status.success() { Ok(true) } else { Err(failed("config", &output)) }
    }

    /// A file of git's own directory, which working trees may share.
    pub(crate) fn git_path(&self, name: &str) -> Result<PathBuf, Diagnostic> {
        let arguments = ["rev-parse", "--path-format=absolute", "--git-path", name];
        let output = self.run(&arguments, None)?;
        let path = output.stdout.strip_suffix(b"\n").unwrap_or(&output.stdout);
        match output.status.success() {
            true => Ok(PathBuf::from(os_string(path))),
            false => Err(failed("rev-parse", &output)),
        }
    }

    /// A directory as a path below the root, for git.
    fn below<'a>(&self, directory: &'a Path) -> &'a Path {
        let below = directory.strip_prefix(&self.root).unwrap_or(directory);
        if below.as_os_str().is_empty() { Path::new(".") } else { below }
    }

    /// The commit that a revision names, or the common ancestor of it and HEAD.
    fn commit(&self, revision: &str) -> Result<String, Diagnostic> {
        let name = revision.strip_suffix(MERGE_BASE).unwrap_or(revision);
        if name.is_empty() || name.starts_with('-') {
            let revision = revision.to_owned();
            return Err(Diagnostic::error(GitKind::InvalidRevision { revision }));
        }
        let name_owned = || name.to_owned();
        let commit = format!("{name}^{{commit}}");
        let arguments = ["rev-parse", "--verify", "--quiet", "--end-of-options", &commit];
        let Some(commit) = self.line(&arguments)? else {
            let error = Diagnostic::error(GitKind::UnknownRevision { revision: name_owned() });
            return Err(
                error.hint(self.hint("use a branch, a tag or a commit of this repository")?)
            );
        };
        if name == revision {
            return Ok(commit);
        }
        match self.line(&["merge-base", &commit, "HEAD"])? {
            Some(base) => Ok(base),
            None => {
                let error = Diagnostic::error(GitKind::NoMergeBase { revision: name_owned() });
                Err(error.hint(self.hint("compare with the revision itself, without `...`")?))
            }
        }
    }

    /// What to do about a missing commit.
    fn hint(&self, otherwise: &'static str) -> Result<&'static str, Diagnostic> {
        let is_shallow = self.line(&["rev-parse", "--is-shallow-repository"])?;
        Ok(if is_shallow.as_deref() == Some("true") { SHALLOW } else { otherwise })
    }

    /// The line that a command prints; none if it fails or prints nothing.
    fn line(&self, arguments: &[&str]) -> Result<Option<String>, Diagnostic> {
        let output = self.run(arguments, None)?;
        let line = String::from_utf8_lossy(&output.stdout).trim_end().to_owned();
        Ok(Some(line).filter(|line| output.status.success() && !line.is_empty()))
    }

    /// The paths that a command prints, each with a NUL after it.
    fn paths(&self, arguments: &[&str], below: Option<&Path>) -> Result<Vec<PathBuf>, Diagnostic> {
        let output = self.run(arguments, below)?;
        if !output.status.success() {
            return Err(failed(arguments[0], &output));
        }
        let paths = output.stdout.split(|byte| *byte == 0).filter(|path| !path.is_empty());
        Ok(paths.map(|path| os_string(path).into()).collect())
    }

    fn run(&self, arguments: &[&str], below: Option<&Path>) -> Result<Output, Diagnostic> {
        let mut command = git(&self.root, &self.settings);
        command.args(arguments).args(below);
        command.output().map_err(|error| cannot_run(&error))
    }
}

/// The result of a thread, which does not panic.
fn joined(
    thread: std::thread::ScopedJoinHandle<'_, Result<Vec<PathBuf>, Diagnostic>>,
) -> Result<Vec<PathBuf>, Diagnostic> {
    thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// A call of git that reads only, asks nothing and fetches nothing.
fn git(directory: &Path, settings: &[OsString]) -> Command {
    let mut command = Command::new("git");
    command.arg("-C").arg(directory);
    command.args(["--no-pager", "--no-optional-locks", "--literal-pathspecs"]);
    command.args(["-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null"]);
    // Files whose time changed, but not their content, are no changes.
    command.args(["-c", "diff.autoRefreshIndex=true"]);
    command.args(settings);
    command.env("GIT_ALLOW_PROTOCOL", "none").env("GIT_NO_LAZY_FETCH", "1");
    command.env("GIT_TERMINAL_PROMPT", "0");
    command.stdin(Stdio::null());
    command
}

/// Settings that switch off every filter of the configuration. Listing the configuration runs nothing.
fn without_filters(root: &Path) -> Result<Vec<OsString>, Diagnostic> {
    let mut list = git(root, &[]);
    list.args(["config", "-z", "--name-only", "--get-regexp", r"^filter\."]);
    let output = list.output().map_err(|error| cannot_run(&error))?;
    // Exit code 1: there are none.
    if !output.status.success() && output.status.code() != Some(1) {
        return Err(failed("config", &output));
    }
    let mut settings = Vec::new();
    for key in output.stdout.split(|byte| *byte == 0).filter(|key| !key.is_empty()) {
        let value = match key.rsplit(|byte| *byte == b'.').next() {
            Some(b"clean" | b"smudge" | b"process") => "",
            Some(b"required") => "false",
            _ => continue,
        };
        if key.contains(&b'=') {
            // A setting on the command line ends its key at the first `=`.
            let reason = format!("cannot switch off the filter `{}`", String::from_utf8_lossy(key));
            return Err(Diagnostic::error(GitKind::GitFailed {
                command: "config".to_owned(),
                reason,
            }));
        }
        let mut setting = os_string(key);
        setting.push("=");
        setting.push(value);
        settings.extend(["-c".into(), setting]);
    }
    Ok(settings)
}

/// Text that git printed, such as a path.
#[cfg(unix)]
fn os_string(bytes: &[u8]) -> OsString {
    std::os::unix::ffi::OsStringExt::from_vec(bytes.to_vec())
}

/// Text that git printed, such as a path, which is UTF-8 on Windows.
#[cfg(not(unix))]
fn os_string(bytes: &[u8]) -> OsString {
    String::from_utf8_lossy(bytes).into_owned().into()
}

fn cannot_run(error: &std::io::Error) -> Diagnostic {
    Diagnostic::error(GitKind::CannotRunGit { reason: disk::io_reason(error) })
}

fn failed(command: &str, output: &Output) -> Diagnostic {
    let reason = match last_line(&output.stderr) {
        line if line.is_empty() => output.status.to_string(),
        line => line,
    };
    Diagnostic::error(GitKind::GitFailed { command: command.to_owned(), reason })
}

/// The last line that git printed, without its prefix.
fn last_line(stderr: &[u8]) -> String {
    let text = String::from_utf8_lossy(stderr);
    let line = text.lines().rfind(|line| !line.trim().is_empty()).unwrap_or_default();
    line.strip_prefix("fatal: ").unwrap_or(line).trim().to_owned()
}
