//! Images of projects that `krm fn new` makes: built from their Dockerfiles by a real engine, and run as nobody.
//!
//! Those that hold krm need nothing from a registry but their base, and a Dockerfile takes another one as an argument.
#![cfg(target_os = "linux")]

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

use crate::containers::{engine, libraries_of, run};
use crate::sandbox::Sandbox;

const BASE: &str = "example.com/krm-cli-tests/base:v1";

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

#[test]
fn projects_become_images_that_run_as_nobody() {
    if !has_base() {
        return;
    }
    for lang in ["shell", "starlark"] {
        let sandbox = Sandbox::new();
        sandbox.write("pkg/pod.yaml", POD.as_bytes());
        run(&sandbox, &format!("krm fn new set-owner --lang {lang}"));
        put_krm(&sandbox.path().join("set-owner/krm"));
        let image = format!("example.com/krm-cli-tests/set-owner-{lang}");
        let engine = engine();
        run(&sandbox, &format!("{engine} build -q --build-arg BASE={BASE} -t {image} set-owner"));
        let line =
            format!("{engine} inspect -f '{{{{.Config.User}}}} {{{{len .Config.Cmd}}}}' {image}");
        let settings = run(&sandbox, &line);
        assert!(settings.starts_with("65534:65534 ") && !settings.ends_with(" 0\n"), "{settings}");
        let eval = format!("krm fn eval pkg -i {image} --image-pull-policy never -q");
        run(&sandbox, &format!("{eval} -- owner=team-a"));
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
        assert_eq!(run(&sandbox, &format!("{eval} --check -- owner=team-a")), "");
    }
}
