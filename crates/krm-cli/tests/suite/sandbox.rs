//! A temporary directory in which a command line runs, and its result.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A temporary directory, removed when dropped.
pub(crate) struct Sandbox {
    directory: tempfile::TempDir,
}

/// The output and exit code of a command line.
pub(crate) struct Output {
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    pub(crate) exit: i32,
}

impl Sandbox {
    pub(crate) fn new() -> Self {
        Self { directory: tempfile::Builder::new().prefix("krm-test-").tempdir().unwrap() }
    }

    pub(crate) fn path(&self) -> &Path {
        self.directory.path()
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
            .stdin(Stdio::null())
            .output()
            .unwrap();
        Output {
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
            exit: output.status.code().unwrap_or(-1),
        }
    }
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
