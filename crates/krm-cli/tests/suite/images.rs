//! Images of projects that `krm fn new` makes: built from their Dockerfiles by a real engine, and run as nobody.
//!
//! Those that hold krm need nothing from a registry but their base, and a Dockerfile takes another one as an argument.
#![cfg(target_os = "linux")]

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

use crate::containers::template::run;
use crate::containers::{engine, libraries_of};
use crate::sandbox::Sandbox;

const BASE: &str = "example.com/krm-cli-tests/base:v1";

/// The name of the projects, which no image of a person has.
const NAME: &str = "krm-cli-tests-owner";

const POD: &str = "apiVersion: v1\nkind: Pod # the one\nmetadata:\n  name: web # do not rename\n";

/// Whether there is an engine, and the base: the shell, `cat` and the libraries of both and of krm.
fn has_base() -> bool {
    match import() {
        Ok(()) => true,
        Err(why) if std::env::var_os("KRM_REQUIRE_ENGINE").is_some() => {
            panic!("KRM_REQUIRE_ENGINE is set, and there is no base for images: {why}")
        }
        Err(why) => {
            println!("skipped: images: {why}");
            false
        }
    }
}

fn import() -> Result<(), String> {
    let answers = Command::new(engine()).arg("version").output();
    if !answers.is_ok_and(|it| it.status.success()) {
        return Err("no engine answers".to_owned());
    }
    let root = tempfile::tempdir().unwrap();
    let mut files = BTreeSet::from(["/bin/bash".to_owned(), "/bin/cat".to_owned()]);
    for program in ["/bin/bash", "/bin/cat", env!("CARGO_BIN_EXE_krm")] {
        files.extend(libraries_of(program)?);
    }
    for file in files {
        let inside = root.path().join(file.trim_start_matches('/'));
        fs::create_dir_all(inside.parent().unwrap()).unwrap();
        fs::copy(&file, inside).map_err(|error| format!("{file}: {error}"))?;
    }
    let archive = tempfile::NamedTempFile::new().unwrap();
    let mut tar = Command::new("tar");
    tar.arg("-C").arg(root.path()).arg("-cf").arg(archive.path()).arg(".");
    assert!(tar.status().unwrap().success());
    let imported = Command::new(engine()).arg("import").arg(archive.path()).arg(BASE).output();
    let imported = imported.map_err(|error| error.to_string())?;
    let words = String::from_utf8_lossy(&imported.stderr).into_owned();
    if imported.status.success() { Ok(()) } else { Err(words) }
}

/// krm without what only a debugger reads, because engines copy it more than once.
fn put_krm(into: &Path) {
    let own = env!("CARGO_BIN_EXE_krm");
    let stripped = Command::new("strip").arg("-o").arg(into).arg(own).status();
    if !stripped.is_ok_and(|status| status.success()) {
        fs::copy(own, into).unwrap();
    }
}

/// The lines of the README that build the image and run it, with what is to be filled in.
fn commands(sandbox: &Sandbox) -> (String, String) {
    let files = sandbox.files();
    let line =
        files[&format!("{NAME}/README.md")].lines().find(|line| line.starts_with("docker build"));
    let (build, eval) = line.unwrap().split_once(" && ").unwrap();
    let build = build.replacen("docker", &engine(), 1);
    (format!("{build} --build-arg BASE={BASE}"), eval.replace("DIR", "../pkg"))
}

#[test]
fn projects_become_images_that_run_as_nobody() {
    if !has_base() {
        return;
    }
    for lang in ["shell", "starlark"] {
        let sandbox = Sandbox::new();
        sandbox.write("pkg/pod.yaml", POD.as_bytes());
        run(&sandbox, &format!("krm fn new {NAME} --lang {lang}"));
        put_krm(&sandbox.path().join(NAME).join("krm"));
        let (build, eval) = commands(&sandbox);
        run(&sandbox, &format!("cd {NAME} && {build}"));
        let settings = run(&sandbox, &format!("{} inspect localhost/{NAME}", engine()));
        assert!(settings.contains("\"User\": \"65534:65534\""), "{settings}");
        run(&sandbox, &format!("cd {NAME} && {eval}"));
        let files = sandbox.files();
        match lang {
            "shell" => {
                assert_eq!(files["pkg/pod.yaml"], POD);
                let made = &files["pkg/config/owner_configmap.yaml"];
                assert!(made.contains("owner: \"team-a\""), "{made}");
            }
            _ => {
                let added = "  annotations:\n    example.com/owner: team-a\n";
                let text = &files["pkg/pod.yaml"];
                assert!(text.contains(added) && text.replace(added, "") == POD, "{text}");
            }
        }
        let (eval, owner) = eval.split_once(" -- ").unwrap();
        assert_eq!(run(&sandbox, &format!("cd {NAME} && {eval} --check -- {owner}")), "");
    }
}
