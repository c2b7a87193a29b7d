//! What the tests run: shell scripts in temporary directories, and the probe, built for the host and for WASI.

use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use krm_run::{Environment, Exec, ExecSettings, Execution, Function, Invocation, Limits, RunKind};
use tempfile::TempDir;

/// A directory with scripts, which is the working directory and the package.
pub(crate) struct Scripts {
    directory: TempDir,
}

impl Scripts {
    pub(crate) fn new() -> Self {
        Self { directory: tempfile::tempdir().unwrap() }
    }

    pub(crate) fn path(&self) -> &Path {
        self.directory.path()
    }

    /// Writes an executable shell script.
    pub(crate) fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, format!("#!/bin/sh\n{text}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    pub(crate) fn settings(&self) -> ExecSettings {
        ExecSettings {
            declared_by: krm_run::DeclaredBy::User,
            allow_exec: true,
            working_directory: self.path().to_owned(),
            package_directory: self.path().to_owned(),
            environment: Environment::from_iter([("PATH", "/usr/local/bin:/usr/bin:/bin")]),
            variables: Vec::new(),
        }
    }

    pub(crate) fn exec(&self, command: &str) -> Result<Exec, RunKind> {
        Exec::new(command, self.settings())
    }

    /// Runs a script.
    pub(crate) fn run(&self, text: &str, limits: &Limits) -> Execution {
        self.write("function", text);
        self.exec("./function")
            .unwrap()
            .run(&mut Invocation { limits: *limits, ..Invocation::new(INPUT) })
    }
}

/// Checks of an execution.
pub(crate) trait Checked {
    /// The same execution, which must have succeeded.
    fn succeeded(self) -> Self;
    /// The same execution, which must have failed.
    fn failed(self) -> Self;
    /// The output of an execution that succeeded.
    fn text(&self) -> &str;
    /// Why it failed.
    fn error(&self) -> RunKind;
}

impl Checked for Execution {
    fn succeeded(self) -> Self {
        assert_eq!(self.output().err(), None);
        self
    }

    fn failed(self) -> Self {
        assert!(self.output().is_err());
        self
    }

    fn text(&self) -> &str {
        self.output().unwrap()
    }

    fn error(&self) -> RunKind {
        self.output().unwrap_err()
    }
}

/// The input of functions where it does not matter.
pub(crate) const INPUT: &[u8] = b"kind: ResourceList\n";

/// Prints why a test is skipped, directly to stderr because the test runner captures `eprintln!`.
pub(crate) fn skipped(test: &str, why: &str) {
    // One write, because other tests write in parallel.
    let _ = std::io::stderr().write_all(format!("\nskipped: {test}: {why}\n").as_bytes());
}

/// The probe as a program for the host.
pub(crate) fn probe() -> &'static Path {
    static PROBE: OnceLock<PathBuf> = OnceLock::new();
    PROBE.get_or_init(|| rustc("probe", &[]).expect("the probe compiles"))
}

/// The probe as a static program; not every machine has a static C library.
pub(crate) fn static_probe() -> Result<PathBuf, String> {
    rustc("probe-static", &["-C", "target-feature=+crt-static"])
}

/// The probe as a WASI module, if the target is installed.
pub(crate) fn probe_module() -> Option<Vec<u8>> {
    static MODULE: OnceLock<Result<PathBuf, String>> = OnceLock::new();
    let module = MODULE.get_or_init(|| rustc("probe.wasm", &["--target", "wasm32-wasip1"]));
    match module {
        Ok(path) => Some(fs::read(path).unwrap()),
        Err(error) => {
            skipped("Rust modules", &format!("`rustup target add wasm32-wasip1`: {error}"));
            None
        }
    }
}

fn source(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs").join(name)
}

fn target(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
}

fn rustc(name: &str, flags: &[&str]) -> Result<PathBuf, String> {
    let mut command = Command::new(std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()));
    command.args(["--edition=2024", "-C", "opt-level=1", "-C", "strip=symbols"]).args(flags);
    build(name, &source("probe.rs"), command.arg(source("probe.rs")))
}

/// The Go function as a WASI module, if Go is installed.
pub(crate) fn go_module() -> Option<Vec<u8>> {
    let mut command = Command::new("go");
    command.env("GOOS", "wasip1").env("GOARCH", "wasm").env("GO111MODULE", "off");
    match build("upper-go.wasm", &source("upper.go"), command.arg("build")) {
        Ok(path) => Some(fs::read(path).unwrap()),
        Err(error) => {
            skipped("Go modules", &error);
            None
        }
    }
}

/// Builds to a temporary name and renames, because other test runs may do the same. A file that is newer than its source is
/// kept.
fn build(name: &str, source: &Path, command: &mut Command) -> Result<PathBuf, String> {
    let path = target(name);
    let age = |path: &Path| path.metadata().and_then(|metadata| metadata.modified()).ok();
    if age(&path) > age(source) {
        return Ok(path);
    }
    let stage = target(&format!("{name}.{}", std::process::id()));
    command.arg("-o").arg(&stage);
    if command.get_program() == "go" {
        command.arg(source);
    }
    let output = command.output().map_err(|error| error.to_string())?;
    if !output.status.success() {
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        return Err(stderr.lines().next().unwrap_or("it does not compile").to_owned());
    }
    fs::rename(&stage, &path).map_err(|error| error.to_string())?;
    Ok(path)
}
