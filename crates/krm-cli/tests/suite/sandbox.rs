//! A temporary directory in which a command line runs, and its result.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A temporary directory, removed when dropped.
pub(crate) struct Sandbox {
    directory: tempfile::TempDir,
    /// The cache of upstreams, outside of the directory that commands see.
    cache: tempfile::TempDir,
}

/// The output and exit code of a command line.
pub(crate) struct Output {
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    pub(crate) exit: i32,
}

impl Sandbox {
    pub(crate) fn new() -> Self {
        let new = |prefix| tempfile::Builder::new().prefix(prefix).tempdir().unwrap();
        Self { directory: new("krm-test-"), cache: new("krm-cache-") }
    }

    pub(crate) fn path(&self) -> &Path {
        self.directory.path()
    }

    /// The directory of caches.
    pub(crate) fn cache(&self) -> &Path {
        self.cache.path()
    }

    pub(crate) fn write(&self, name: &str, bytes: &[u8]) {
        let path = self.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }

    /// The files with their contents, except those that are not UTF-8. Symlinks are not followed.
    pub(crate) fn files(&self) -> BTreeMap<String, String> {
        let mut files = BTreeMap::new();
        collect(self.path(), self.path(), &mut files);
        files
    }

    /// Runs a shell command line in which `krm` is the program under test.
    pub(crate) fn run(&self, line: &str) -> Output {
        let output = Command::new("sh")
            .args(["-c", line])
            .current_dir(self.path())
            .env_clear()
            .env("PATH", search_path())
            .env("KRM_CACHE_DIR", self.cache.path())
            .stdin(Stdio::null())
            .output()
            .unwrap();
        Output {
            stdout: with_fixed_times(&String::from_utf8_lossy(&output.stdout)),
            stderr: with_fixed_times(&String::from_utf8_lossy(&output.stderr)),
            exit: output.status.code().unwrap_or(-1),
        }
    }
}

/// The text with `1 ms` for every time at the end of a line or before a comma, as in `3 functions in 41 ms`.
pub(crate) fn with_fixed_times(text: &str) -> String {
    let mut fixed = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        match line.rsplit_once(" in ").and_then(|(head, time)| Some((head, unit_of(time)?))) {
            Some((head, end)) => fixed.push_str(&format!("{head} in 1 ms{end}")),
            None => fixed.push_str(line),
        }
    }
    fixed
}

/// What follows a time, if the text begins with one.
fn unit_of(text: &str) -> Option<&str> {
    let rest = text.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
    let end = rest.strip_prefix(" ms").or_else(|| rest.strip_prefix(" s"))?;
    let is_whole =
        rest.len() < text.len() && end.chars().next().is_none_or(|c| !c.is_alphanumeric());
    is_whole.then_some(end)
}

/// Prints why tests were skipped to standard error, as the test runner captures standard output.
pub(crate) fn skipped(tests: &str, why: &str) {
    use std::io::Write;
    // One write, so that lines of parallel tests do not mix.
    let _ = std::io::stderr().write_all(format!("\nskipped: {tests}: {why}\n").as_bytes());
}

/// The program under test.
pub(crate) fn krm() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_krm"));
    command.env_remove("NO_COLOR").env_remove("CLICOLOR_FORCE");
    command
}

fn search_path() -> std::ffi::OsString {
    let own = PathBuf::from(env!("CARGO_BIN_EXE_krm")).parent().unwrap().to_owned();
    let others = std::env::var_os("PATH").unwrap_or_default();
    std::env::join_paths(std::iter::once(own).chain(std::env::split_paths(&others))).unwrap()
}

fn collect(root: &Path, directory: &Path, files: &mut BTreeMap<String, String>) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        let name = path.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
        if path.is_symlink() {
            files.insert(name, format!("link to {}\n", fs::read_link(&path).unwrap().display()));
        } else if path.is_dir() {
            collect(root, &path, files);
        } else if let Ok(text) = fs::read_to_string(&path) {
            files.insert(name, text);
        }
    }
}
