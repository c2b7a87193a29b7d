//! What is on disk beside upstream's version: line breaks of a checkout, symlinks, directories that become empty, and locks of other programs.

use std::io::Write;
use std::process::{Command, Stdio};
use std::time::Duration;

use super::repository::{DEPLOYMENT, Remote};
use crate::sandbox::krm;

/// A package in a git repository whose files git checked out with CRLF.
fn checkout_with_crlf() -> Remote {
    let remote = Remote::new();
    remote.ok("git init -q -b main work && cd work && krm pkg get -q ../up/shop@v1 && git add -A && git commit -q -m shop");
    remote.ok("cd work && git config core.autocrlf true && rm -r shop && git checkout -q -- shop");
    assert_eq!(remote.read("work/shop/deployment.yaml"), DEPLOYMENT.replace('\n', "\r\n"));
    remote.commit(
        "v2",
        &[
            ("shop/deployment.yaml", &DEPLOYMENT.replace("web:1.0", "web:2.0")),
            ("shop/README.md", "# shop\n\nNewer.\n"),
            ("shop/service.yaml", ""),
        ],
    );
    remote
}

#[test]
fn line_breaks_of_a_checkout_are_not_local_changes() {
    let remote = checkout_with_crlf();
    assert!(remote.ok("krm pkg status work/shop").contains("local changes: none\n"));
    assert_eq!(remote.ok("krm pkg diff work/shop"), "");
    let combined = remote.run("krm pkg diff work/shop@v2 --diff-type combined").stdout;
    let is_removed = |line: &&str| line.starts_with('-') && !line.starts_with("---");
    // The image, and the lines of the service.
    assert_eq!(combined.lines().filter(is_removed).count(), 1 + 7, "{combined}");
    for strategy in ["fast-forward", "resource-merge", "force-delete-replace", "copy-merge"] {
        remote.ok(&format!("cd work && krm pkg update -q shop@v2 --strategy {strategy}"));
        let deployment = DEPLOYMENT.replace("web:1.0", "web:2.0").replace('\n', "\r\n");
        assert_eq!(remote.read("work/shop/deployment.yaml"), deployment, "{strategy}");
        assert_eq!(remote.read("work/shop/README.md"), "# shop\r\n\r\nNewer.\r\n", "{strategy}");
        assert!(!remote.exists("work/shop/service.yaml"), "{strategy}");
        let changed =
            remote.ok("cd work && git diff --numstat -- shop/deployment.yaml 2>/dev/null");
        assert_eq!(changed, "1\t1\tshop/deployment.yaml\n", "{strategy}");
        remote.ok("cd work && git checkout -q -f . && git clean -fdq && rm -r shop && git checkout -q -- shop");
    }
}

#[test]
fn edits_of_a_checkout_with_crlf_are_kept() {
    let remote = checkout_with_crlf();
    remote.ok("cd work && sed -i 's/replicas: 1/replicas: 5/' shop/deployment.yaml && git commit -q -a -m edit 2>/dev/null");
    assert!(remote.ok("krm pkg status work/shop").contains("local changes: deployment.yaml\n"));
    remote.fails(3, "cd work && krm pkg update shop@v2 --strategy fast-forward");
    remote.ok("cd work && krm pkg update -q shop@v2");
    let expected = DEPLOYMENT.replace("web:1.0", "web:2.0").replace("replicas: 1", "replicas: 5");
    assert_eq!(remote.read("work/shop/deployment.yaml"), expected.replace('\n', "\r\n"));
}

#[test]
fn renamed_directories_are_not_left_behind() {
    let remote = Remote::new();
    remote.commit(
        "v2",
        &[
            ("shop/old/deep/config.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n"),
            ("shop/old/note.txt", "a\n"),
        ],
    );
    remote.ok("git -C up mv shop/old shop/new");
    remote.commit("v3", &[]);
    for strategy in ["resource-merge", "fast-forward", "force-delete-replace", "copy-merge"] {
        remote.ok(&format!("rm -rf shop && krm pkg get -q up/shop@v2 && krm pkg update -q shop@v3 --strategy {strategy}"));
        assert!(remote.exists("shop/new/deep/config.yaml") && remote.exists("shop/new/note.txt"));
        assert!(!remote.exists("shop/old"), "{strategy}");
    }
    // A directory with anything else in it stays.
    remote.ok("rm -rf shop && krm pkg get -q up/shop@v2 && mkdir shop/old/mine && krm pkg update -q shop@v3");
    assert!(remote.exists("shop/old/mine") && !remote.exists("shop/old/deep"));
}

#[test]
fn modes_of_files_are_updated_by_all_strategies() {
    let remote = Remote::new();
    remote.commit("v2", &[("shop/run.sh", "echo hi\n"), ("shop/stop.sh", "echo stop\n")]);
    remote.ok("chmod +x up/shop/run.sh");
    remote.commit("v3", &[]);
    for strategy in ["resource-merge", "fast-forward", "force-delete-replace", "copy-merge"] {
        remote.ok(&format!("rm -rf shop && krm pkg get -q up/shop@v2 && test ! -x shop/run.sh && krm pkg update -q shop@v3 --strategy {strategy}"));
        remote.ok("test -x shop/run.sh && test ! -x shop/stop.sh");
    }
}

#[test]
fn symlinks_that_leave_the_package_are_not_followed() {
    let remote = Remote::new();
    remote.commit(
        "v2",
        &[("shop/extra/new.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: n}\n")],
    );
    remote.commit("v3", &[("shop/deployment.yaml", &DEPLOYMENT.replace("web:1.0", "web:3.0"))]);
    remote.get();
    // A directory that upstream adds is a symlink here.
    remote.ok("mkdir outside && ln -s ../outside shop/extra");
    for strategy in ["resource-merge", "force-delete-replace", "copy-merge"] {
        let line = format!("krm pkg update shop@v2 --strategy {strategy} --on-conflict upstream");
        assert!(remote.fails(3, &line).contains("error[outside-package]: shop/extra/new.yaml"));
    }
    assert!(!remote.exists("outside/new.yaml"));
    // A file that upstream changes is a symlink here.
    remote.ok("rm shop/extra && mv shop/deployment.yaml outside/ && ln -s ../outside/deployment.yaml shop/");
    remote.fails(1, "krm pkg update shop@v3");
    for strategy in ["resource-merge", "force-delete-replace", "copy-merge"] {
        let line = format!("krm pkg update shop@v3 --strategy {strategy} --on-conflict upstream");
        assert!(remote.fails(3, &line).contains("error[outside-package]: shop/deployment.yaml"));
    }
    assert_eq!(remote.read("outside/deployment.yaml"), DEPLOYMENT);
    assert!(remote.read("shop/Kptfile").contains("ref: v1\n"));
}

#[test]
fn entries_that_become_symlinks_or_submodules_upstream_are_reported() {
    let remote = Remote::new();
    remote.get();
    remote.ok("ln -sf deployment.yaml up/shop/service.yaml && ln -s /etc/passwd up/shop/passwd");
    remote.ok("git init -q sub && cd sub && echo a > a && git add . && git commit -q -m a");
    remote.ok("cd up && git -c protocol.file.allow=always submodule --quiet add ../sub shop/sub");
    remote.commit("v2", &[]);
    let ran = remote.run("krm pkg update shop@v2");
    assert_eq!(ran.exit, 0, "{}", ran.stderr);
    for (name, what) in
        [("service.yaml", "a symlink"), ("passwd", "a symlink"), ("sub", "a submodule")]
    {
        let line = format!("shop/{name}: skipped, because it is {what} upstream");
        assert!(ran.stderr.contains(&line), "{}", ran.stderr);
        assert!(!remote.exists(&format!("shop/{name}")), "{name}");
    }
}

#[test]
fn forced_branch_is_an_update_like_any_other() {
    let remote = Remote::new();
    remote.commit("v2", &[("shop/deployment.yaml", &DEPLOYMENT.replace("web:1.0", "web:2.0"))]);
    remote.ok(
        "krm pkg get -q up/shop@main && sed -i 's/replicas: 1/replicas: 5/' shop/deployment.yaml",
    );
    remote.ok("cd up && git checkout -q v1 -B main");
    remote.commit("v3", &[("shop/deployment.yaml", &DEPLOYMENT.replace("web:1.0", "web:forced"))]);
    assert!(
        remote.ok("krm pkg status shop").contains("whose history does not contain this version")
    );
    remote.ok("krm pkg update -q shop");
    let expected =
        DEPLOYMENT.replace("web:1.0", "web:forced").replace("replicas: 1", "replicas: 5");
    assert_eq!(remote.read("shop/deployment.yaml"), expected);
    assert!(remote.read("shop/Kptfile").contains(&remote.commit_of("main")));
    assert!(remote.run("krm pkg update shop").stderr.contains("up to date"));
}

#[test]
fn package_that_another_program_locks_is_waited_for() {
    let remote = Remote::new();
    remote.get();
    remote.commit("v2", &[("shop/README.md", "# newer\n")]);
    // The lock is held by another process than the parent of krm, which would hold it on its behalf.
    let mut holder = Command::new("flock")
        .args(["shop", "sh", "-c", "echo locked; cat >/dev/null"])
        .current_dir(remote.sandbox.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = [0; 7];
    std::io::Read::read_exact(holder.stdout.as_mut().unwrap(), &mut line).unwrap();
    let mut command = krm();
    command.args(["pkg", "update", "shop@v2"]).current_dir(remote.sandbox.path());
    command.env("KRM_CACHE_DIR", remote.sandbox.path().join("cache")).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    std::thread::sleep(Duration::from_millis(300));
    assert!(child.try_wait().unwrap().is_none(), "the run did not wait");
    assert_eq!(remote.read("shop/README.md"), "# shop\n");
    holder.stdin.take().unwrap().flush().unwrap();
    holder.wait().unwrap();
    assert!(child.wait().unwrap().success());
    assert_eq!(remote.read("shop/README.md"), "# newer\n");
}

#[test]
fn run_that_is_killed_after_the_fetch_changes_nothing() {
    let remote = Remote::new();
    remote.get();
    remote.commit("v2", &[("shop/README.md", "# newer\n")]);
    // The last step of a fetch reads the files. As soon as that is done, krm is killed.
    let git = remote.ok("command -v git").trim().to_owned();
    let script = format!(
        "#!/bin/sh\n{git} \"$@\"\nstatus=$?\ncase \"$*\" in *cat-file*) kill -9 $PPID;; esac\nexit $status\n"
    );
    remote.sandbox.write("bin/git", script.as_bytes());
    let before = remote.package();
    let cache = "export KRM_CACHE_DIR=$PWD/cache";
    let kill = "chmod +x bin/git; export PATH=$PWD/bin:$PATH";
    assert_eq!(remote.run(&format!("{cache}; {kill}; krm pkg update shop@v2")).exit, 137);
    assert_eq!(remote.package(), before);
    assert_eq!(remote.run(&format!("{cache}; {kill}; krm pkg get up/shop@v2 got")).exit, 137);
    assert!(!remote.exists("got"));
    remote.ok(&format!("{cache}; krm pkg update -q shop@v2 && krm pkg get -q up/shop@v2 got"));
    assert_eq!(remote.read("shop/README.md"), "# newer\n");
    assert_eq!(remote.read("got/README.md"), "# newer\n");
}
