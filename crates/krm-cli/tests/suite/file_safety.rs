//! What krm writes while others change the same files, and who may access what it has written.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink};
use std::os::unix::process::CommandExt;

use crate::sandbox::{Sandbox, krm, skipped};

const POD: &str = "apiVersion: v1\nkind: Pod\nmetadata:\n  name: p\n";

/// A package with a file in a directory, and a function that runs a script and then adds a label.
fn with_script(script: &str) -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("shop/sub/pod.yaml", POD.as_bytes());
    sandbox.write("outside/pod.yaml", POD.as_bytes());
    let function = format!("cd ..\n({script}) >&2\nsed 's/name: p$/&x/'\n");
    sandbox.write("function.sh", function.as_bytes());
    sandbox
}

#[test]
fn edit_during_a_run_is_kept_and_reported() {
    let sandbox = with_script("echo '# mine' >> shop/sub/pod.yaml");
    let ran = sandbox.run("krm fn eval shop --exec 'sh ../function.sh' -q");
    assert_eq!(ran.exit, 3, "{}", ran.stderr);
    assert!(ran.stderr.contains("error[file-changed-meanwhile]"), "{}", ran.stderr);
    assert!(ran.stderr.contains("shop/sub/pod.yaml"), "{}", ran.stderr);
    let text = fs::read_to_string(sandbox.path().join("shop/sub/pod.yaml")).unwrap();
    assert_eq!(text, format!("{POD}# mine\n"));
}

#[test]
fn directory_swapped_during_a_run_takes_no_writes() {
    let sandbox = with_script("mv shop/sub aside && ln -s ../outside shop/sub");
    let ran = sandbox.run("krm fn eval shop --exec 'sh ../function.sh' -q");
    assert_eq!(ran.exit, 3, "{}", ran.stderr);
    assert!(ran.stderr.contains("error[outside-package]"), "{}", ran.stderr);
    let files = sandbox.files();
    assert_eq!(files["outside/pod.yaml"], POD);
    assert_eq!(files["aside/pod.yaml"], POD);
    assert!(!files.keys().any(|name| name.contains(".krm-")), "{files:?}");
}

#[test]
fn rewrite_by_a_user_outside_the_group_only_narrows_access() {
    let nobody = 65_534;
    for (mode, expected) in [(0o660, 0o600), (0o664, 0o644), (0o604, 0o600), (0o600, 0o600)] {
        let sandbox = Sandbox::new();
        sandbox.write("pod.yaml", POD.as_bytes());
        let file = sandbox.path().join("pod.yaml");
        // The owner is not a member of the group.
        if chown(&file, Some(nobody), Some(1)).is_err() {
            return skipped("files of another group", "only root may run krm as another user");
        }
        chown(sandbox.path(), Some(nobody), Some(nobody)).unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(mode)).unwrap();
        let mut command = krm();
        command.args(["yaml", "set", "metadata.name", "q", "pod.yaml"]).current_dir(sandbox.path());
        let output = match command.uid(nobody).gid(nobody).output() {
            Ok(output) => output,
            Err(error) => return skipped("files of another group", &error.to_string()),
        };
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let metadata = fs::metadata(&file).unwrap();
        assert_eq!((metadata.gid(), metadata.mode() & 0o7777), (nobody, expected), "{mode:o}");
    }
}

#[test]
fn results_are_private_and_do_not_follow_symlinks() {
    let sandbox = Sandbox::new();
    sandbox.write("shop/pod.yaml", POD.as_bytes());
    sandbox.write("victim", b"untouched\n");
    fs::create_dir(sandbox.path().join("out")).unwrap();
    symlink("../victim", sandbox.path().join("out/results.yaml")).unwrap();
    symlink("out", sandbox.path().join("link")).unwrap();
    let ran = sandbox.run("krm fn eval shop --exec cat -q --results-dir out");
    assert_eq!(ran.exit, 0, "{}", ran.stderr);
    let mode = fs::symlink_metadata(sandbox.path().join("out/results.yaml")).unwrap().mode();
    assert_eq!(mode, 0o100_600);
    assert_eq!(sandbox.files()["victim"], "untouched\n");
    let ran = sandbox.run("krm fn eval shop --exec cat -q --results-dir link/new");
    assert_eq!(ran.exit, 3, "{}", ran.stderr);
    assert!(ran.stderr.contains("cannot create: a symlink on the path is not followed"));
    assert!(!sandbox.path().join("out/new").exists());
}

#[test]
fn secret_that_moves_between_files_stays_private() {
    let mode = |sandbox: &Sandbox, name: &str| {
        fs::metadata(sandbox.path().join(name)).unwrap().mode() & 0o777
    };
    let secret = "apiVersion: v1\nkind: Secret\nmetadata:\n  name: s\nstringData:\n  a: b\n";
    let config = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: c\n";
    for (from, to, expected) in
        [(0o600, 0o644, 0o600), (0o640, 0o664, 0o640), (0o644, 0o664, 0o644), (0o664, 0o644, 0o644)]
    {
        let sandbox = Sandbox::new();
        sandbox.write("shop/private.yaml", secret.as_bytes());
        sandbox.write("shop/all.yaml", config.as_bytes());
        for (name, mode) in [("private", from), ("all", to)] {
            let file = sandbox.path().join(format!("shop/{name}.yaml"));
            fs::set_permissions(file, fs::Permissions::from_mode(mode)).unwrap();
        }
        let ran = sandbox.run("krm fn eval shop --exec 'sed s/private.yaml/all.yaml/' -q");
        assert_eq!(ran.exit, 0, "{}", ran.stderr);
        assert!(sandbox.files()["shop/all.yaml"].contains("kind: Secret"), "{}", ran.stderr);
        assert_eq!(mode(&sandbox, "shop/all.yaml"), expected, "{from:o} {to:o}");
        let has_warning = ran.stderr.contains("warning[access-narrowed]: shop/all.yaml");
        assert_eq!(has_warning, to & !expected != 0, "{from:o} {to:o} {}", ran.stderr);
    }
}

#[test]
fn secret_that_stays_in_its_file_changes_no_access() {
    let sandbox = Sandbox::new();
    let secret = "apiVersion: v1\nkind: Secret\nmetadata:\n  name: s\nstringData:\n  a: b\n";
    sandbox.write("shop/a.yaml", secret.as_bytes());
    sandbox.write("shop/b.yaml", POD.as_bytes());
    for (name, mode) in [("a", 0o600), ("b", 0o644)] {
        let file = sandbox.path().join(format!("shop/{name}.yaml"));
        fs::set_permissions(file, fs::Permissions::from_mode(mode)).unwrap();
    }
    let ran = sandbox.run("krm fn eval shop -i set-labels:v0.2.0 -q -- a=b");
    assert_eq!((ran.exit, &*ran.stderr), (0, ""));
    let mode = |name: &str| fs::metadata(sandbox.path().join(name)).unwrap().mode() & 0o777;
    assert_eq!([mode("shop/a.yaml"), mode("shop/b.yaml")], [0o600, 0o644]);
}

#[test]
fn new_files_with_secrets_are_private() {
    let sandbox = Sandbox::new();
    let secret = "apiVersion: v1\nkind: Secret\nmetadata:\n  name: s\nstringData:\n  a: b\n";
    sandbox.write("shop/secret.yaml", secret.as_bytes());
    sandbox.write("shop/pod.yaml", format!("{POD}spec:\n  imagePullSecrets: []\n").as_bytes());
    let ran = sandbox.run("umask 022; krm fn eval shop --exec cat -q -o copy");
    assert_eq!(ran.exit, 0, "{}", ran.stderr);
    let mode = |name: &str| fs::metadata(sandbox.path().join(name)).unwrap().mode() & 0o777;
    assert_eq!([mode("copy/secret.yaml"), mode("copy/pod.yaml")], [0o600, 0o644]);
}
