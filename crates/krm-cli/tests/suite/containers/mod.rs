//! Images in every runtime that this machine has: what each option allows, how containers stop, and that none is left.
#![cfg(target_os = "linux")]

mod annotated_functions;
pub(crate) mod base_image;
mod failures;
#[cfg(feature = "oci")]
mod images;
mod options;
#[cfg(feature = "oci")]
mod sandboxed;
mod stop;
pub(crate) mod template;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::OnceLock;

use crate::sandbox::{Output, Sandbox, skipped};

/// An image that runs the shell script in the variable `DO`.
const SHELL: &str = "example.com/krm-cli-tests/shell:v1";
/// The same image under the name of a built-in function.
const LABELS: &str = "example.com/krm-cli-tests/set-labels:v0.2";
/// An image in a registry that does not answer.
const REMOTE: &str = "localhost:1/krm-cli-tests/shell:v1";
/// An image that prints its network devices, for pipelines, which have no environment variables.
const DEVICES: &str = "example.com/krm-cli-tests/devices:v1";

const PROGRAMS: [&str; 7] = ["sh", "cat", "head", "tr", "id", "sleep", "env"];
const RESOURCE: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a # mine\n";

/// A package with one resource, and a runtime that has the images.
struct Shop {
    sandbox: Sandbox,
    /// As in `--runtime`.
    runtime: String,
}

impl Shop {
    /// One package for each runtime of this machine.
    fn all() -> Vec<Self> {
        let engine = Self::with_engine().into_iter();
        #[cfg(feature = "oci")]
        return engine.chain(images::runtimes().iter().map(|it| Self::with(it))).collect();
        #[cfg(not(feature = "oci"))]
        engine.collect()
    }

    /// A package for the container engine, if there is one.
    fn with_engine() -> Option<Self> {
        static BUILT: OnceLock<Result<(), String>> = OnceLock::new();
        is_built(BUILT.get_or_init(build)).then(|| Self::with(&engine()))
    }

    fn with(runtime: &str) -> Self {
        let sandbox = Sandbox::new();
        sandbox.write("shop/a.yaml", RESOURCE.as_bytes());
        sandbox.write("folder/file", b"of the machine\n");
        open(&sandbox.path().join("folder"), 0o777);
        sandbox.run("mkdir tmp");
        Self { sandbox, runtime: runtime.to_owned() }
    }

    #[cfg(feature = "oci")]
    fn is_engine(&self) -> bool {
        !["krm", "bubblewrap"].contains(&&*self.runtime)
    }

    /// Whether memory and processes are limited for a function as a whole.
    fn has_groups(&self) -> bool {
        #[cfg(feature = "oci")]
        return self.is_engine() || images::has_groups();
        #[cfg(not(feature = "oci"))]
        true
    }

    /// The variable with the store of images, for runtimes without an engine.
    fn store(&self) -> Vec<(&'static str, String)> {
        #[cfg(feature = "oci")]
        if !self.is_engine() {
            return vec![("KRM_IMAGE_STORE", images::store())];
        }
        Vec::new()
    }

    /// The image with its digest, as results name it.
    fn with_digest(&self, image: &str) -> String {
        #[cfg(feature = "oci")]
        if !self.is_engine() {
            return images::with_digest(image);
        }
        with_digest(image)
    }

    /// Runs a shell command line with the runtime, and with a script for the container.
    fn run(&self, script: &str, line: &str) -> Output {
        assert!(!script.contains('\''), "{script}");
        let host = std::env::var("DOCKER_HOST").map(|host| format!("export DOCKER_HOST='{host}'"));
        let host = host.unwrap_or_else(|_| ":".to_owned());
        let store = self.store();
        let store: String =
            store.iter().map(|(name, value)| format!("export {name}='{value}'; ")).collect();
        let named = format!("{store}export KRM_FN_RUNTIME={}", self.runtime);
        self.sandbox.run(&format!("{host}; {named}; export TMPDIR=$PWD/tmp DO='{script}'; {line}"))
    }

    /// Runs `krm fn eval` with the shell image.
    fn eval(&self, script: &str, flags: &str) -> Output {
        let line =
            format!("krm fn eval shop -i {SHELL} --image-pull-policy never --env DO {flags}");
        self.run(script, &line)
    }

    /// The standard error of a script in a function that succeeds.
    fn stderr_of(&self, script: &str, flags: &str) -> String {
        let ran = self.eval(&format!("cat; ({script}) >&2"), &format!("{flags} --results-dir out"));
        assert_eq!(ran.exit, 0, "{script} {flags}\n{}", ran.stderr);
        assert_eq!(self.sandbox.files()["shop/a.yaml"], RESOURCE);
        self.recorded_stderr()
    }

    /// The standard error in the results file.
    fn recorded_stderr(&self) -> String {
        let results = &self.sandbox.files()["out/results.yaml"];
        let (_, stderr) = results.split_once("  stderr: |\n").expect(results);
        let lines = stderr.lines().map_while(|line| line.strip_prefix("    "));
        lines.map(|line| format!("{line}\n")).collect()
    }

    /// Runs a function that must fail with exit code 4 and unchanged files, and returns standard error.
    fn fails(&self, script: &str, flags: &str) -> String {
        let ran = self.eval(script, flags);
        assert_eq!((ran.exit, ran.stdout.as_str()), (4, ""), "{script} {flags}\n{}", ran.stderr);
        assert_eq!(self.sandbox.files()["shop/a.yaml"], RESOURCE);
        self.is_clean();
        ran.stderr
    }

    /// Checks that no temporary file is left.
    fn is_clean(&self) {
        assert_eq!(fs::read_dir(self.sandbox.path().join("tmp")).unwrap().count(), 0);
    }
}

/// Whether images could be built. Without an engine the tests are skipped, unless `KRM_REQUIRE_ENGINE` is set.
fn is_built(built: &Result<(), String>) -> bool {
    match built {
        Ok(()) => true,
        Err(why) if std::env::var_os("KRM_REQUIRE_ENGINE").is_some() => {
            panic!("KRM_REQUIRE_ENGINE is set, and there is no image: {why}")
        }
        Err(why) => {
            skipped("containers", why.lines().next().unwrap_or_default());
            false
        }
    }
}

pub(crate) fn engine() -> String {
    std::env::var("KRM_FN_RUNTIME").unwrap_or_else(|_| "docker".to_owned())
}

/// Runs a command of the engine and returns its standard output.
fn ask(arguments: &[&str]) -> Result<String, String> {
    let output =
        Command::new(engine()).args(arguments).output().map_err(|error| error.to_string())?;
    match output.status.success() {
        true => Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned()),
        false => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
    }
}

/// The image with its digest if the engine has one, as podman does, otherwise its id.
fn with_digest(image: &str) -> String {
    let format = "--format={{range .RepoDigests}}{{println .}}{{end}}{{.Id}}";
    let lines = ask(&["image", "inspect", format, image]).unwrap();
    let own = format!("{}@", image.rsplit_once(':').map_or(image, |(name, _)| name));
    let digest = lines.lines().find(|line| line.starts_with(&own));
    digest.or(lines.lines().last()).unwrap_or_default().to_owned()
}

/// The commands of the images.
const RUN_SCRIPT: &str = r#"["/bin/sh", "-c", "eval \"$DO\""]"#;
const SHOW_DEVICES: &str = r#"["/bin/sh", "-c", "cat; cat /proc/net/dev >&2"]"#;

fn build() -> Result<(), String> {
    let root = root()?;
    import(root.path(), SHELL, RUN_SCRIPT)?;
    import(root.path(), DEVICES, SHOW_DEVICES)?;
    ask(&["tag", SHELL, LABELS])?;
    ask(&["tag", SHELL, REMOTE]).map(|_| ())
}

/// A directory with what images contain: a few programs with their libraries, and a directory that everybody may write.
fn root() -> Result<tempfile::TempDir, String> {
    let root = tempfile::tempdir().unwrap();
    for program in PROGRAMS {
        add_program(root.path(), program, &path_of(program)?)?;
    }
    fs::create_dir(root.path().join("open")).unwrap();
    open(&root.path().join("open"), 0o777);
    Ok(root)
}

/// Makes an image of a directory, without a registry.
fn import(root: &Path, image: &str, command: &str) -> Result<(), String> {
    ask(&["version"]).map_err(|_| "no container engine is available".to_owned())?;
    let archive = tempfile::NamedTempFile::new().unwrap();
    let mut tar = Command::new("tar");
    tar.arg("-C").arg(root).arg("-cf").arg(archive.path()).arg(".");
    assert!(tar.status().unwrap().success());
    let archive = archive.path().to_str().unwrap();
    ask(&["import", "--change", &format!("CMD {command}"), archive, image]).map(|_| ())
}

/// Copies a program and its libraries to a directory.
fn add_program(root: &Path, name: &str, path: &str) -> Result<(), String> {
    fs::create_dir_all(root.join("bin")).unwrap();
    fs::copy(path, root.join("bin").join(name)).map_err(|error| format!("{path}: {error}"))?;
    for library in libraries_of(path)? {
        let inside = root.join(library.trim_start_matches('/'));
        fs::create_dir_all(inside.parent().unwrap()).unwrap();
        fs::copy(&library, inside).unwrap();
    }
    Ok(())
}

fn path_of(program: &str) -> Result<String, String> {
    let found = ["/bin", "/usr/bin"].map(|directory| format!("{directory}/{program}"));
    let found = found.into_iter().find(|path| Path::new(path).is_file());
    found.ok_or_else(|| format!("{program} is not installed"))
}

/// The shared libraries of a program, according to ldd.
pub(crate) fn libraries_of(program: &str) -> Result<BTreeSet<String>, String> {
    let output = Command::new("ldd").arg(program).output().map_err(|error| error.to_string())?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let paths = text.split_whitespace().filter(|part| part.starts_with('/'));
    Ok(paths.map(str::to_owned).collect())
}

fn open(path: &Path, mode: u32) {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

/// The network devices in the format of `/proc/net/dev`.
fn devices(text: &str) -> BTreeSet<String> {
    let names = text.lines().skip(2).filter_map(|line| line.split_once(':'));
    names.map(|(name, _)| name.trim().to_owned()).collect()
}

/// The devices of this machine.
fn devices_here() -> BTreeSet<String> {
    devices(&fs::read_to_string("/proc/net/dev").unwrap())
}
