//! Runs a compiled function on cases under the programs that run functions.

use std::collections::BTreeSet;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicUsize, Ordering};

use krm_core::print::json;
use krm_yaml::{File, NodeRef};

use super::case::{Case, Files, differences};

/// A program that runs functions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Host {
    /// `krm fn eval`: the files must have the expected bytes.
    Krm,
    /// `kpt fn eval`: the files must have the expected resources; kpt writes them in its own layout.
    Kpt,
    /// `kustomize build` with the function as a transformer: it must print the expected resources.
    Kustomize,
}

/// A host with its program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostProgram {
    host: Host,
    program: PathBuf,
}

impl HostProgram {
    /// A host whose program is not on `PATH`, or has another name there.
    pub fn new(host: Host, program: impl Into<PathBuf>) -> Self {
        Self { host, program: program.into() }
    }

    fn is_installed(&self) -> bool {
        let version = Command::new(&self.program).arg("version").output();
        version.is_ok_and(|output| output.status.success())
    }
}

impl From<Host> for HostProgram {
    fn from(host: Host) -> Self {
        Self::new(host, host.name())
    }
}

/// A compiled function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Program<'a> {
    /// An executable file.
    Exec(&'a Path),
    /// A WASI module, which only krm runs.
    Wasm(&'a Path),
}

impl Host {
    fn name(self) -> &'static str {
        match self {
            Self::Krm => "krm",
            Self::Kpt => "kpt",
            Self::Kustomize => "kustomize",
        }
    }

    /// Whether the program is on `PATH`.
    pub fn is_installed(self) -> bool {
        HostProgram::from(self).is_installed()
    }
}

/// Runs a compiled function on every case in a directory under a host. A host that is not installed is skipped with a message.
///
/// ```no_run
/// use std::path::Path;
///
/// use krm_sdk::testing::{Host, Program, golden_under};
///
/// // In tests/hosts.rs; cargo sets the variable to the path of the program.
/// # let program = "";
/// // let program = env!("CARGO_BIN_EXE_set-owner");
/// for host in [Host::Krm, Host::Kpt, Host::Kustomize] {
///     golden_under(host, "tests/cases", Program::Exec(Path::new(program)));
/// }
/// ```
///
/// # Panics
///
/// If the output of a case differs from what is expected, if there is no case, or if a host other than krm gets a module.
#[expect(clippy::print_stdout, reason = "a test that is skipped says so")]
pub fn golden_under(
    host: impl Into<HostProgram>,
    directory: impl AsRef<Path>,
    program: Program<'_>,
) {
    let host = host.into();
    if !host.is_installed() {
        println!("skipped: {} is not installed", host.program.display());
        return;
    }
    let cases = Case::all(directory.as_ref());
    assert!(!cases.is_empty(), "no test cases in {}", directory.as_ref().display());
    let failures = cases.iter().filter_map(|case| {
        let checked = check(&host, case, program);
        checked.err().map(|why| format!("{} under {}: {why}", case.name(), host.host.name()))
    });
    let failures: Vec<String> = failures.collect();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

fn check(host: &HostProgram, case: &Case, program: Program<'_>) -> Result<(), String> {
    let workspace = Workspace::new()?;
    let before = case.input()?;
    workspace.write("package", &before)?;
    let output = run(host, case, program, &workspace, &before)?;
    let host = host.host;
    let stderr = String::from_utf8_lossy(&output.stderr);
    if case.expects_failure()? == output.status.success() {
        return Err(format!("unexpected exit code {}\n{stderr}", output.status));
    }
    let (expected, actual) = match host {
        Host::Kustomize if !output.status.success() => return Ok(()),
        Host::Kustomize => {
            let printed = String::from_utf8_lossy(&output.stdout).into_owned();
            let expected = resources(case.expected(&before)?.values(), true)?;
            (expected, resources([&printed], true)?)
        }
        Host::Krm | Host::Kpt => {
            let after = super::case::files(&workspace.path("package"))?;
            let expected = case.expected(&before)?;
            if host == Host::Krm {
                let differences = differences(&expected, &after);
                let is_same = differences.is_empty();
                return if is_same { Ok(()) } else { Err(differences.join("\n")) };
            }
            (resources(expected.values(), false)?, resources(after.values(), false)?)
        }
    };
    let missing: Vec<&String> = expected.difference(&actual).collect();
    let unexpected: Vec<&String> = actual.difference(&expected).collect();
    if missing.is_empty() && unexpected.is_empty() {
        return Ok(());
    }
    Err(format!("missing resources:\n{missing:#?}\nunexpected resources:\n{unexpected:#?}"))
}

fn run(
    host: &HostProgram,
    case: &Case,
    program: Program<'_>,
    workspace: &Workspace,
    before: &Files,
) -> Result<Output, String> {
    let package = workspace.path("package");
    let config = workspace.path("config.yaml");
    let text = case.config()?;
    if let Some(text) = &text {
        fs::write(&config, text).map_err(|error| error.to_string())?;
    }
    let mut command = Command::new(&host.program);
    match (host.host, program) {
        (Host::Krm | Host::Kpt, Program::Exec(path)) => {
            command.args(["fn", "eval"]).arg(&package).arg("--exec").arg(path);
        }
        (Host::Krm, Program::Wasm(path)) => {
            command.args(["fn", "eval"]).arg(&package).arg("--wasm").arg(path);
        }
        (Host::Kustomize, Program::Exec(path)) => {
            let paths = before.keys().map(|path| format!("- package/{path}\n"));
            let kustomization = format!(
                "resources:\n{}transformers:\n- function.yaml\n",
                paths.collect::<String>()
            );
            let function = transformer(text.as_deref(), path)?;
            let files = [
                ("kustomization.yaml".to_owned(), kustomization),
                ("function.yaml".to_owned(), function),
            ];
            workspace.write("", &files.into())?;
            command.args(["build", "--enable-alpha-plugins", "--enable-exec"]);
            command.arg(workspace.path(""));
            return command.output().map_err(|error| error.to_string());
        }
        (other, Program::Wasm(_)) => panic!("{} does not run WASI modules", other.name()),
    }
    if text.is_some() {
        command.arg("--fn-config").arg(&config);
    }
    command.output().map_err(|error| error.to_string())
}

/// The functionConfig as kustomize needs it: a resource with the annotation that names the program.
fn transformer(config: Option<&str>, program: &Path) -> Result<String, String> {
    const NONE: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: none\n";
    let mut config = crate::Resource::parse(config.unwrap_or(NONE).to_owned())
        .map_err(|error| format!("config.yaml: {error}"))?;
    let function = format!("exec:\n  path: {}\n", program.display());
    let annotated = config.set_annotation("config.kubernetes.io/function", &function);
    annotated.map_err(|error| format!("config.yaml: {error}"))?;
    Ok(config.text().to_owned())
}

/// The resources of some texts, each as one line in which fields are sorted. kustomize does not print local configuration.
fn resources<'a>(
    texts: impl IntoIterator<Item = &'a String>,
    without_local: bool,
) -> Result<BTreeSet<String>, String> {
    const LOCAL: &str = "config.kubernetes.io/local-config";
    let mut all = BTreeSet::new();
    for text in texts {
        let file = File::parse(text.clone()).map_err(|error| error.to_string())?;
        for document in file.documents() {
            let Some(root) = document.root() else { continue };
            let line = canonical(root);
            if !(without_local && line.contains(LOCAL)) {
                all.insert(line);
            }
        }
    }
    Ok(all)
}

fn canonical(node: NodeRef<'_>) -> String {
    if let Some(mapping) = node.as_mapping() {
        let entries = mapping.entries();
        let entries =
            entries.map(|entry| format!("{}: {}", canonical(entry.key), canonical(entry.value)));
        let sorted: BTreeSet<String> = entries.collect();
        return format!("{{{}}}", sorted.into_iter().collect::<Vec<_>>().join(", "));
    }
    if let Some(sequence) = node.as_sequence() {
        let elements: Vec<String> = sequence.items().map(canonical).collect();
        return format!("[{}]", elements.join(", "));
    }
    json::display(&node.into())
}

/// A directory that is removed in the end.
struct Workspace {
    directory: PathBuf,
}

impl Workspace {
    /// A new directory: one that exists is that of another process.
    fn new() -> Result<Self, String> {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        loop {
            let count = COUNT.fetch_add(1, Ordering::Relaxed);
            let name = format!("krm-sdk-{}-{count}", std::process::id());
            let directory = std::env::temp_dir().join(name);
            match fs::create_dir(&directory) {
                Ok(()) => return Ok(Self { directory }),
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) => return Err(format!("{}: {error}", directory.display())),
            }
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.join(name)
    }

    fn write(&self, below: &str, files: &Files) -> Result<(), String> {
        let directory = self.path(below);
        fs::create_dir_all(&directory).map_err(|error| error.to_string())?;
        for (path, text) in files {
            let path = directory.join(path);
            let parent = path.parent().unwrap_or(&directory);
            fs::create_dir_all(parent).map_err(|error| error.to_string())?;
            fs::write(path, text).map_err(|error| error.to_string())?;
        }
        Ok(())
    }
}

impl Drop for Workspace {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.directory);
    }
}
