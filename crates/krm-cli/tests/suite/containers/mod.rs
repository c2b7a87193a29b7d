//! A real engine under the commands: what each flag opens, how containers end, and that none is left.
#![cfg(target_os = "linux")]

mod annotated_functions;
mod failures;
mod options;
mod stop;
pub(crate) mod template;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::OnceLock;

use crate::sandbox::{Output, Sandbox, skipped};

/// An image that does what the variable `DO` says, in the shell.
const SHELL: &str = "example.com/krm-cli-tests/shell:v1";
/// The same under the name of a function that is built in.
const LABELS: &str = "example.com/krm-cli-tests/set-labels:v0.2";
/// One that is in a registry where nobody listens.
const REMOTE: &str = "localhost:1/krm-cli-tests/shell:v1";
/// One that tells its devices: pipelines have no variables.
const DEVICES: &str = "example.com/krm-cli-tests/devices:v1";

const PROGRAMS: [&str; 7] = ["sh", "cat", "head", "tr", "id", "sleep", "env"];
const RESOURCE: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a # mine\n";

/// A package of one resource where there is an engine with the images.
struct Shop {
    sandbox: Sandbox,
}

impl Shop {
    fn new() -> Option<Self> {
        static BUILT: OnceLock<Result<(), String>> = OnceLock::new();
        is_built(BUILT.get_or_init(build)).then(|| {
            let sandbox = Sandbox::new();
            sandbox.write("shop/a.yaml", RESOURCE.as_bytes());
            // Everybody may write there.
            sandbox.write("folder/file", b"of the machine\n");
            open(&sandbox.path().join("folder"), 0o777);
            sandbox.run("mkdir tmp");
            Self { sandbox }
        })
    }

    /// A line of the shell with the engine, and with a script for the container.
    fn run(&self, script: &str, line: &str) -> Output {
        assert!(!script.contains('\''), "{script}");
        let host = std::env::var("DOCKER_HOST").map(|host| format!("export DOCKER_HOST='{host}'"));
        let host = host.unwrap_or_else(|_| ":".to_owned());
        let named = format!("export KRM_FN_RUNTIME={}", engine());
        self.sandbox.run(&format!("{host}; {named}; export TMPDIR=$PWD/tmp DO='{script}'; {line}"))
    }

    /// `krm fn eval` of the shell's image.
    fn eval(&self, script: &str, flags: &str) -> Output {
        let line =
            format!("krm fn eval shop -i {SHELL} --image-pull-policy never --env DO {flags}");
        self.run(script, &line)
    }

    /// What a script writes to standard error, in a function that ends well.
    fn seen(&self, script: &str, flags: &str) -> String {
        let ran = self.eval(&format!("cat; ({script}) >&2"), &format!("{flags} --results-dir out"));
        assert_eq!(ran.exit, 0, "{script} {flags}\n{}", ran.stderr);
        assert_eq!(self.sandbox.files()["shop/a.yaml"], RESOURCE);
        self.said()
    }

    /// The standard error that the results file keeps.
    fn said(&self) -> String {
        let results = &self.sandbox.files()["out/results.yaml"];
        let (_, said) = results.split_once("  stderr: |\n").expect(results);
        let lines = said.lines().map_while(|line| line.strip_prefix("    "));
        lines.map(|line| format!("{line}\n")).collect()
    }

    /// A function that fails: exit code 4, and the files as they were.
    fn fails(&self, script: &str, flags: &str) -> String {
        let ran = self.eval(script, flags);
        assert_eq!((ran.exit, ran.stdout.as_str()), (4, ""), "{script} {flags}\n{}", ran.stderr);
        assert_eq!(self.sandbox.files()["shop/a.yaml"], RESOURCE);
        self.is_clean();
        ran.stderr
    }

    /// Nothing of ours stays in the folder for temporary files.
    fn is_clean(&self) {
        assert_eq!(fs::read_dir(self.sandbox.path().join("tmp")).unwrap().count(), 0);
    }
}

/// Whether images could be built; without an engine the tests are skipped, and say so, unless one is demanded.
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

/// What the engine says; it must end well.
fn ask(words: &[&str]) -> Result<String, String> {
    let output = Command::new(engine()).args(words).output().map_err(|error| error.to_string())?;
    match output.status.success() {
        true => Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned()),
        false => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
    }
}

/// The image to the byte: by its digest where the engine gives it one, as podman does, else by its own number.
fn named(image: &str) -> String {
    let format = "--format={{range .RepoDigests}}{{println .}}{{end}}{{.Id}}";
    let lines = ask(&["image", "inspect", format, image]).unwrap();
    let own = format!("{}@", image.rsplit_once(':').map_or(image, |(name, _)| name));
    let digest = lines.lines().find(|line| line.starts_with(&own));
    digest.or(lines.lines().last()).unwrap_or_default().to_owned()
}

fn build() -> Result<(), String> {
    let root = tempfile::tempdir().unwrap();
    for program in PROGRAMS {
        add_program(root.path(), program, &path_of(program)?)?;
    }
    fs::create_dir(root.path().join("open")).unwrap();
    open(&root.path().join("open"), 0o777);
    import(root.path(), SHELL, r#"["/bin/sh", "-c", "eval \"$DO\""]"#)?;
    import(root.path(), DEVICES, r#"["/bin/sh", "-c", "cat; cat /proc/net/dev >&2"]"#)?;
    ask(&["tag", SHELL, LABELS])?;
    ask(&["tag", SHELL, REMOTE]).map(|_| ())
}

/// Makes an image of a folder, without a registry.
fn import(root: &Path, image: &str, command: &str) -> Result<(), String> {
    ask(&["version"]).map_err(|_| "no engine answers".to_owned())?;
    let archive = tempfile::NamedTempFile::new().unwrap();
    let mut tar = Command::new("tar");
    tar.arg("-C").arg(root).arg("-cf").arg(archive.path()).arg(".");
    assert!(tar.status().unwrap().success());
    let archive = archive.path().to_str().unwrap();
    ask(&["import", "--change", &format!("CMD {command}"), archive, image]).map(|_| ())
}

/// Puts a program and the libraries that it needs into a folder.
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
    let found = ["/bin", "/usr/bin"].map(|folder| format!("{folder}/{program}"));
    let found = found.into_iter().find(|path| Path::new(path).is_file());
    found.ok_or_else(|| format!("there is no {program}"))
}

/// What a program needs beside itself, as the system's own tool says.
pub(crate) fn libraries_of(program: &str) -> Result<BTreeSet<String>, String> {
    let output = Command::new("ldd").arg(program).output().map_err(|error| error.to_string())?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let words = text.split_whitespace().filter(|word| word.starts_with('/'));
    Ok(words.map(str::to_owned).collect())
}

fn open(path: &Path, mode: u32) {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

/// The network devices that a text of the kernel names.
fn devices(text: &str) -> BTreeSet<String> {
    let names = text.lines().skip(2).filter_map(|line| line.split_once(':'));
    names.map(|(name, _)| name.trim().to_owned()).collect()
}

/// The devices of this machine.
fn devices_here() -> BTreeSet<String> {
    devices(&fs::read_to_string("/proc/net/dev").unwrap())
}
