//! `krm git install` with real merges and diffs of git.

use super::{DEPLOYMENT, succeed};
use crate::sandbox::{Output, Sandbox};

const ENVIRONMENT: &str = "export GIT_CONFIG_NOSYSTEM=1 GIT_CONFIG_GLOBAL=/dev/null HOME=/nowhere \
    GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b";

fn git(sandbox: &Sandbox, line: &str) -> Output {
    sandbox.run(&format!("{ENVIRONMENT}; {line}"))
}

/// A repository with one commit and krm installed with these options.
fn repository(options: &str) -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("web.yaml", DEPLOYMENT.as_bytes());
    let line = format!(
        "git init -q -b main . && krm git install -q {options} && git add . && git commit -q -m base"
    );
    let ran = git(&sandbox, &line);
    assert_eq!((ran.exit, ran.stderr.as_str()), (0, ""));
    sandbox
}

#[test]
fn merges_use_the_driver() {
    for options in ["", "--local", "--no-diff"] {
        let sandbox = repository(options);
        let theirs =
            DEPLOYMENT.replace("image: shop/web:1.0", "image: shop/web:1.0\n        tty: true");
        let ours = DEPLOYMENT.replace("shop/web:1.0", "shop/web:2.0");
        sandbox.write("web.yaml", theirs.as_bytes());
        git(
            &sandbox,
            "git checkout -q -b theirs && git commit -q -a -m theirs && git checkout -q main",
        );
        sandbox.write("web.yaml", ours.as_bytes());
        let ran = git(&sandbox, "git commit -q -a -m ours && git merge -q theirs -m merged");
        assert_eq!(ran.exit, 0, "{options}: {}{}", ran.stdout, ran.stderr);
        let merged = ours.replace("shop/web:2.0", "shop/web:2.0\n        tty: true");
        assert_eq!(sandbox.files()["web.yaml"], merged, "{options}");
    }
}

#[test]
fn diffs_show_values_with_their_paths() {
    let sandbox = repository("");
    let changed = DEPLOYMENT
        .replace("replicas: 1 #", "replicas: 2   #")
        .replace("{app: web}", "{\"app\": web}");
    sandbox.write("web.yaml", changed.as_bytes());
    let diff = git(&sandbox, "git diff").stdout;
    let lines: Vec<&str> = diff.lines().filter(|it| it.starts_with(['+', '-'])).skip(2).collect();
    assert_eq!(lines, ["-  spec.replicas: 1", "+  spec.replicas: 2"], "{diff}");
    assert!(diff.lines().any(|it| it.ends_with("@@ Deployment web")), "{diff}");
    let patch =
        git(&sandbox, "git diff --no-textconv > p && git stash -q && git apply p && cat web.yaml");
    assert_eq!(patch.stdout, changed, "{}", patch.stderr);
    git(&sandbox, "git commit -q -a -m changed");
    assert!(git(&sandbox, "git log -p -1").stdout.contains("+  spec.replicas: 2"));
    assert!(git(&sandbox, "git blame web.yaml").stdout.contains("spec.replicas: 2"));
}

#[test]
fn invalid_files_are_compared_line_by_line() {
    let sandbox = repository("");
    sandbox.write("web.yaml", b"a: [1\nb: 2\n");
    let ran = git(&sandbox, "git diff");
    assert_eq!(ran.exit, 0, "{}", ran.stderr);
    assert!(ran.stdout.contains("\n+a: [1\n"), "{}", ran.stdout);
}

#[test]
fn second_run_changes_nothing_and_uninstall_restores() {
    let sandbox = Sandbox::new();
    sandbox.write(".gitattributes", b"*.png binary");
    git(&sandbox, "git init -q -b main .");
    let before = git(&sandbox, "git config --local --list").stdout;
    assert_eq!(git(&sandbox, "krm git install --check -q").exit, 1);
    assert_eq!(sandbox.files()[".gitattributes"], "*.png binary", "a check writes nothing");
    assert_eq!(git(&sandbox, "krm git install -q").exit, 0);
    assert_eq!(git(&sandbox, "krm git install --check -q").exit, 0);
    let installed = sandbox.files()[".gitattributes"].clone();
    assert!(installed.starts_with("*.png binary\n*.yaml merge=krm diff=krm\n"), "{installed}");
    git(&sandbox, "krm git install -q");
    assert_eq!(sandbox.files()[".gitattributes"], installed);
    assert_eq!(git(&sandbox, "krm git uninstall -q").exit, 0);
    assert_eq!(sandbox.files()[".gitattributes"], "*.png binary\n");
    assert_eq!(git(&sandbox, "git config --local --list").stdout, before);
}

#[test]
fn subdirectories_and_linked_worktrees_belong_to_the_repository() {
    let sandbox = repository("--local");
    let line = "mkdir below && cd below && krm git install && cd .. && git worktree add -q linked; krm git install --local --check linked";
    let ran = git(&sandbox, line);
    assert_eq!(ran.exit, 0, "{}{}", ran.stdout, ran.stderr);
    assert!(sandbox.files().contains_key(".gitattributes"), "the root of the working tree");
    assert!(!sandbox.files().contains_key("below/.gitattributes"));
}

#[test]
fn directory_without_a_repository_is_an_error() {
    let sandbox = Sandbox::new();
    let ran = git(&sandbox, "GIT_CEILING_DIRECTORIES=$PWD/.. krm git install --error-format json");
    assert_eq!(ran.exit, 3);
    assert!(ran.stderr.contains("\"not-a-git-repository\""), "{}", ran.stderr);
    succeed(&sandbox, "krm git install --help");
}
