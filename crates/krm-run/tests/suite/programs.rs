//! What the tests run: scripts in folders of their own, and the probe, built for this machine and for WASI.

use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use krm_run::{Environment, Exec, ExecSettings, Failure, Function, Interrupt, Limits, Outcome};
use tempfile::TempDir;

/// A folder with scripts, which is where the person stands and what the package is.
pub(crate) struct Scripts {
    folder: TempDir,
}

impl Scripts {
    pub(crate) fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// A script for the shell; `#!` and all.
    pub(crate) fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, format!("#!/bin/sh\n{text}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    pub(crate) fn settings(&self) -> ExecSettings {
        ExecSettings {
            allow_exec: true,
            stands: self.path().to_owned(),
            folder: self.path().to_owned(),
            environment: Environment::from_iter([("PATH", "/usr/local/bin:/usr/bin:/bin")]),
            variables: Vec::new(),
        }
    }

    pub(crate) fn exec(&self, command: &str) -> Result<Exec, Failure> {
        Exec::new(command, self.settings())
    }

    /// Runs a script to its end.
    pub(crate) fn run(&self, text: &str, limits: &Limits) -> Result<Outcome, Failure> {
        self.write("function", text);
        self.exec("./function")?.run(INPUT, limits, &Interrupt::new())
    }
}

/// What functions get where it does not matter.
pub(crate) const INPUT: &[u8] = b"kind: ResourceList\n";

/// Says why a test did nothing, past the test runner, which hides what tests print.
pub(crate) fn skipped(test: &str, why: &str) {
    // In one piece, as other tests write, too.
    let _ = std::io::stderr().write_all(format!("\nskipped: {test}: {why}\n").as_bytes());
}

/// The probe as a program of this machine.
pub(crate) fn probe() -> &'static Path {
    static PROBE: OnceLock<PathBuf> = OnceLock::new();
    PROBE.get_or_init(|| rustc("probe", &[]).expect("the probe can be built"))
}

/// The probe as a program that needs nothing but a kernel; not every machine has a C library for that.
pub(crate) fn static_probe() -> Result<PathBuf, String> {
    rustc("probe-static", &["-C", "target-feature=+crt-static"])
}

/// The probe as a WASI module, where this Rust can make one.
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

/// The Go function as a WASI module, where there is a Go.
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

/// Builds beside the target and renames, as other test runs may do the same; what is newer than its source stays.
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
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        return Err(said.lines().next().unwrap_or("it does not build").to_owned());
    }
    fs::rename(&stage, &path).map_err(|error| error.to_string())?;
    Ok(path)
}
