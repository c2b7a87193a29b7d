//! Tests of the process that cases cannot express: closed pipes, large inputs, permissions, file modes.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::Stdio;
use std::time::Duration;

use crate::sandbox::{Sandbox, krm};

fn many(count: usize) -> String {
    (0..count).map(|n| format!("---\napiVersion: v1\nkind: A\nspec: # {n}\n  n: {n}\n")).collect()
}

#[test]
fn closed_pipe_is_not_an_error() {
    let sandbox = Sandbox::new();
    sandbox.write("many.yaml", many(10_000).as_bytes());
    let commands: [&[&str]; 10] = [
        &["cfg", "cat", "many.yaml"],
        &["cfg", "cat", "many.yaml", "--wrap-kind", "List", "--annotate"],
        &["cfg", "grep", "kind=A", "many.yaml"],
        &["cfg", "tree", "many.yaml"],
        &["completion", "bash"],
        &["man", "cfg", "cat"],
        &["yaml", "get", "spec", "many.yaml"],
        &["yaml", "events", "many.yaml"],
        &["yaml", "set", "spec.n", "7", "many.yaml", "--diff"],
        &["yaml", "get", ".", "many.yaml", "-o", "json"],
    ];
    for args in commands {
        let mut command = krm();
        command
            .args(args)
            .current_dir(sandbox.path())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut first = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut first).unwrap();
        let output = child.wait_with_output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!((output.status.code(), &*stderr), (Some(0), ""), "{args:?}");
        assert!(!first.is_empty(), "{args:?}");
    }
}

#[test]
fn pipe_closed_before_the_start_is_not_an_error() {
    for args in [&["--help"][..], &["--version"], &["yaml", "get", "--help"]] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let output = krm().args(args).stdout(writer).stderr(Stdio::piped()).output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!((output.status.code(), &*stderr), (Some(0), ""), "{args:?}");
    }
}

#[test]
fn ten_thousand_documents_are_edited_in_one_run() {
    let sandbox = Sandbox::new();
    let old = many(10_000);
    sandbox.write("many.yaml", old.as_bytes());
    let ran =
        sandbox.run("krm yaml set -q kind B many.yaml && krm yaml get spec.n many.yaml | tail -1");
    assert_eq!((ran.stdout.as_str(), ran.stderr.as_str(), ran.exit), ("9999\n", "", 0));
    assert_eq!(sandbox.files()["many.yaml"], old.replace("kind: A", "kind: B"));
}

#[test]
fn standard_input_is_edited_to_standard_output() {
    let mut child = krm()
        .args(["yaml", "set", "a", "2", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(b"a: 1 # one\n").unwrap();
    let mut text = String::new();
    child.stdout.take().unwrap().read_to_string(&mut text).unwrap();
    assert_eq!((text.as_str(), child.wait().unwrap().code()), ("a: 2 # one\n", Some(0)));
}

#[test]
fn unwritable_directory_leaves_the_file_unchanged() {
    use std::os::unix::fs::PermissionsExt;
    let sandbox = Sandbox::new();
    sandbox.write("closed/a.yaml", b"a: 1\n");
    let directory = sandbox.path().join("closed");
    fs::set_permissions(&directory, fs::Permissions::from_mode(0o555)).unwrap();
    // The superuser may write everywhere, so there is nothing to test.
    let may_write = fs::write(directory.join("probe"), "").is_ok();
    let ran = sandbox.run("krm yaml set a 2 closed/a.yaml");
    fs::set_permissions(&directory, fs::Permissions::from_mode(0o755)).unwrap();
    if may_write {
        return;
    }
    assert_eq!(ran.exit, 3);
    assert_eq!(ran.stderr, "error[cannot-write]: closed/a.yaml: cannot write: permission denied\n");
    assert_eq!(sandbox.files()["closed/a.yaml"], "a: 1\n");
}

#[test]
fn file_mode_is_kept_and_no_temporary_file_is_left() {
    use std::os::unix::fs::PermissionsExt;
    let sandbox = Sandbox::new();
    sandbox.write("a.yaml", b"a: 1\n");
    let path = sandbox.path().join("a.yaml");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
    assert_eq!(sandbox.run("krm yaml set a 2 a.yaml").exit, 0);
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o640);
    assert_eq!(fs::read_dir(sandbox.path()).unwrap().count(), 1);
}

#[test]
fn unchanged_file_is_not_written() {
    let sandbox = Sandbox::new();
    sandbox.write("a.yaml", b"a: 1\n");
    let path = sandbox.path().join("a.yaml");
    let long_ago = std::time::SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000);
    fs::File::options().write(true).open(&path).unwrap().set_modified(long_ago).unwrap();
    assert_eq!(sandbox.run("krm yaml set a 1 a.yaml").exit, 0);
    assert_eq!(fs::metadata(&path).unwrap().modified().unwrap(), long_ago);
}

#[test]
fn kubectl_plugin_is_the_same_program() {
    let sandbox = Sandbox::new();
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_krm"), sandbox.path().join("kubectl-krm"))
        .unwrap();
    let ran = sandbox.run("./kubectl-krm --version && ./kubectl-krm yaml get --help | grep Usage");
    assert!(ran.stdout.starts_with("krm "), "{}", ran.stdout);
    assert!(ran.stdout.contains("Usage: kubectl krm yaml get"), "{}", ran.stdout);
}
