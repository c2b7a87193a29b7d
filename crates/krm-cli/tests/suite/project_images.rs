//! Images of projects created by `krm fn new`: built from their Dockerfiles by a real container engine, and run as nobody.
//!
//! Only projects whose image needs no registry are tested; their base image is replaced with a local one by a build argument.
#![cfg(target_os = "linux")]

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

use crate::containers::template::run;
use crate::containers::{engine, libraries_of};
use crate::sandbox::Sandbox;

const BASE: &str = "example.com/krm-cli-tests/base:v1";

/// The name of the projects, unlikely to be that of an existing image.
const NAME: &str = "krm-cli-tests-owner";

const POD: &str = "apiVersion: v1\nkind: Pod # the one\nmetadata:\n  name: web # do not rename\n";

/// Whether there is a container engine with the base image: a shell, `cat` and the libraries of both and of krm.
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
        return Err("no container engine is available".to_owned());
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
    let stderr = String::from_utf8_lossy(&imported.stderr).into_owned();
    if imported.status.success() { Ok(()) } else { Err(stderr) }
}

/// Copies krm without debug information, because engines copy it more than once.
fn copy_krm(into: &Path) {
    let own = env!("CARGO_BIN_EXE_krm");
    let stripped = Command::new("strip").arg("-o").arg(into).arg(own).status();
    if !stripped.is_ok_and(|status| status.success()) {
        fs::copy(own, into).unwrap();
    }
}

/// The commands of the README that build and run the image, with placeholders replaced.
fn commands(sandbox: &Sandbox) -> (String, String) {
    let files = sandbox.files();
    let line =
        files[&format!("{NAME}/README.md")].lines().find(|line| line.starts_with("docker build"));
    let (build, eval) = line.unwrap().split_once(" && ").unwrap();
    let build = build.replacen("docker", &engine(), 1);
    (format!("{build} --build-arg BASE={BASE}"), eval.replace("DIR", "../pkg"))
}

#[test]
fn project_images_run_as_nobody() {
    if !has_base() {
        return;
    }
    for lang in ["shell", "starlark"] {
        let sandbox = Sandbox::new();
        sandbox.write("pkg/pod.yaml", POD.as_bytes());
        run(&sandbox, &format!("krm fn new {NAME} --lang {lang}"));
        copy_krm(&sandbox.path().join(NAME).join("krm"));
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
