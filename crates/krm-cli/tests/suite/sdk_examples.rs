//! The examples of krm-sdk under krm (exec, render and Wasm), kpt and kustomize: the same cases, and the same bytes where files are written.
//!
//! `cargo test --workspace` builds the examples. Modules are built if `KRM_PROJECTS` is `all`, because that takes a minute.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use krm_sdk::Resource;
use krm_sdk::testing::{Host, HostProgram, Program, golden_under};

use crate::sandbox::{Sandbox, skipped};

/// The programs and the directories of their cases.
const EXAMPLES: [(&str, &str); 3] =
    [("sidecar", "sidecar"), ("container_limits", "container-limits"), ("web_app", "web-app")];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

fn cases(directory: &str) -> PathBuf {
    root().join("crates/krm-sdk/tests/cases").join(directory)
}

/// The directory of the tests' own build, such as `target/debug`.
fn build_directory() -> PathBuf {
    Path::new(env!("CARGO_BIN_EXE_krm")).parent().unwrap().to_owned()
}

/// The compiled examples; none, with a message, if only the tests of krm-cli are built.
fn examples() -> Vec<(PathBuf, PathBuf)> {
    let all = EXAMPLES.map(|(program, directory)| {
        (build_directory().join("examples").join(program), cases(directory))
    });
    if all.iter().all(|(program, _)| program.is_file()) {
        return all.to_vec();
    }
    let message = "`cargo build -p krm-sdk --examples` builds the examples of krm-sdk";
    assert!(std::env::var_os("KRM_PROJECTS").is_none(), "{message}");
    skipped("the examples of krm-sdk", message);
    Vec::new()
}

/// The program of kustomize, on PATH or as `cargo xtask peers` installs it; none if there is neither.
fn kustomize() -> Option<PathBuf> {
    if Host::Kustomize.is_installed() {
        return Some("kustomize".into());
    }
    Some(root().join("target/peers/bin/kustomize-5")).filter(|program| program.is_file())
}

#[test]
fn examples_pass_their_cases_under_every_host() {
    for (program, cases) in examples() {
        let program = Program::Exec(&program);
        golden_under(HostProgram::new(Host::Krm, env!("CARGO_BIN_EXE_krm")), &cases, program);
        golden_under(Host::Kpt, &cases, program);
        match kustomize() {
            Some(kustomize) => {
                golden_under(HostProgram::new(Host::Kustomize, kustomize), &cases, program);
            }
            None => println!("skipped: kustomize is not installed"),
        }
    }
}

#[test]
fn examples_pass_their_cases_as_modules() {
    if std::env::var_os("KRM_PROJECTS").is_none_or(|it| it != "all") {
        println!("skipped: KRM_PROJECTS is not `all`");
        return;
    }
    let target = root().join("target/projects");
    let arguments = "build -p krm-sdk --target wasm32-wasip1 --target-dir".split(' ');
    let mut cargo = std::process::Command::new("cargo");
    cargo.args(arguments).arg(&target).current_dir(root());
    cargo.args(EXAMPLES.iter().flat_map(|(program, _)| ["--example", program]));
    assert!(cargo.status().unwrap().success());
    for (program, directory) in EXAMPLES {
        let module = target.join("wasm32-wasip1/debug/examples").join(format!("{program}.wasm"));
        let krm = HostProgram::new(Host::Krm, env!("CARGO_BIN_EXE_krm"));
        golden_under(krm, cases(directory), Program::Wasm(&module));
    }
}

/// A package that renders a case, with the function in its pipeline.
fn package(program: &Path, case: &Path) -> Sandbox {
    let sandbox = Sandbox::new();
    copy(&case.join("in"), &sandbox.path().join("pkg"));
    let mut config_path = String::new();
    if let Ok(config) = fs::read_to_string(case.join("config.yaml")) {
        // A functionConfig that is a resource of the package is named by the pipeline.
        let own = rendered(&sandbox).into_iter().find(|(_, text)| *text == config);
        let path = own.map_or_else(|| ".function.yaml".to_owned(), |(path, _)| path);
        sandbox.write(&format!("pkg/{path}"), config.as_bytes());
        config_path = format!("    configPath: {path}\n");
    }
    // A program of a package is below it; a name is searched in PATH, which is the same under krm and kpt.
    fs::copy(program, sandbox.path().join("the-function")).unwrap();
    let kptfile = format!(
        "apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: pkg\npipeline:\n  mutators:\n  - exec: the-function\n{config_path}"
    );
    sandbox.write("pkg/Kptfile", kptfile.as_bytes());
    sandbox
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).into_iter().flatten().flatten() {
        match entry.path().is_dir() {
            true => copy(&entry.path(), &to.join(entry.file_name())),
            false => _ = fs::copy(entry.path(), to.join(entry.file_name())).unwrap(),
        }
    }
}

/// The resources of a rendered package: its files without the Kptfile and the functionConfig.
fn rendered(sandbox: &Sandbox) -> BTreeMap<String, String> {
    let files = sandbox.files().into_iter();
    let files =
        files.filter_map(|(path, text)| Some((path.strip_prefix("pkg/")?.to_owned(), text)));
    files.filter(|(path, _)| path != "Kptfile" && path != ".function.yaml").collect()
}

/// The command line that runs the function of a package in place, and writes the files; none if the host is not installed.
fn command_line(host: Host, sandbox: &Sandbox, case: &Path) -> Option<String> {
    match host {
        Host::Krm => Some("krm fn render pkg --allow-exec".to_owned()),
        Host::Kpt => Host::Kpt.is_installed().then(|| "kpt fn render pkg --allow-exec".to_owned()),
        Host::Kustomize => {
            let kustomize = kustomize()?;
            let config = fs::read_to_string(case.join("config.yaml"));
            let none = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: none\n".to_owned();
            let mut config = Resource::parse(config.unwrap_or(none)).unwrap();
            let program = sandbox.path().join("the-function");
            let function = format!("exec:\n  path: {}\n", program.display());
            config.set_annotation("config.kubernetes.io/function", &function).unwrap();
            sandbox.write("function.yaml", config.text().as_bytes());
            let kustomize = kustomize.display();
            Some(format!("{kustomize} fn run pkg --enable-exec --fn-path function.yaml"))
        }
    }
}

#[test]
fn examples_write_the_same_bytes_under_every_host() {
    for (program, cases) in examples() {
        for case in fs::read_dir(cases).unwrap().flatten().map(|entry| entry.path()) {
            let results = fs::read_to_string(case.join("results.yaml")).unwrap_or_default();
            let fails = results.contains("severity: error");
            let expected = if case.join("expected").is_dir() { "expected" } else { "in" };
            let sandbox = Sandbox::new();
            copy(&case.join(expected), &sandbox.path().join("pkg"));
            let expected = rendered(&sandbox);
            for host in [Host::Krm, Host::Kpt, Host::Kustomize] {
                let sandbox = package(&program, &case);
                let Some(line) = command_line(host, &sandbox, &case) else {
                    println!("skipped: {host:?} is not installed");
                    continue;
                };
                let ran = sandbox.run(&format!("PATH=\"$PWD:$PATH\" {line}"));
                let context = format!("{} under {host:?}\n{}", case.display(), ran.stderr);
                assert_eq!(ran.exit != 0, fails, "{context}");
                assert_eq!(rendered(&sandbox), expected, "{context}");
            }
        }
    }
}
