//! `krm fn render --changed-since` and `--shard`, with the real git.

use crate::sandbox::{Output, Sandbox};

const KPTFILE: &str = "apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata: {name: p}\npipeline:\n  mutators:\n  - image: set-namespace\n    configMap: {namespace: shop}\n";

fn config_map(name: &str) -> String {
    format!("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {name}\n")
}

/// A repository with three packages that are not rendered yet, so that `--check` names the files of those that it renders.
/// `c` has a subpackage, and `shared` is in no package.
fn repository() -> Sandbox {
    let sandbox = Sandbox::new();
    for package in ["a", "b", "c", "c/sub"] {
        sandbox.write(&format!("repo/{package}/Kptfile"), KPTFILE.as_bytes());
        sandbox.write(&format!("repo/{package}/x.yaml"), config_map("x").as_bytes());
    }
    sandbox.write("repo/a/y.yaml", config_map("y").as_bytes());
    sandbox.write("repo/shared/data.txt", config_map("data").as_bytes());
    sandbox.write("repo/README.md", b"# Packages\n");
    sandbox.write("repo/.gitignore", b"local.yaml\n*.log\n");
    let ran = shell(&sandbox, "git init -q -b main . && git add . && git commit -q -m first");
    assert_eq!((ran.exit, ran.stderr.as_str()), (0, ""));
    sandbox
}

fn shell(sandbox: &Sandbox, line: &str) -> Output {
    let env = "export GIT_CONFIG_NOSYSTEM=1 GIT_CONFIG_GLOBAL=/dev/null HOME=/nowhere \
               GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b";
    sandbox.run(&format!("{env}; cd repo && {line}"))
}

/// The packages that are rendered after a change, by the names of the files that `--check` prints.
#[track_caller]
fn rendered(change: &str, options: &str) -> String {
    let sandbox = repository();
    let ran = shell(&sandbox, change);
    assert_eq!((ran.exit, ran.stderr.as_str()), (0, ""), "{change}");
    let ran = shell(&sandbox, &format!("krm fn render --check -q {options}"));
    assert!(ran.stderr.lines().all(|it| !it.starts_with("error")), "{change}: {}", ran.stderr);
    assert_eq!(ran.exit, i32::from(!ran.stdout.is_empty()), "{change}: {}", ran.stderr);
    let mut packages: Vec<&str> =
        ran.stdout.lines().filter_map(|it| Some(it.rsplit_once('/')?.0)).collect();
    packages.sort_unstable();
    packages.dedup();
    packages.join(" ")
}

#[test]
fn packages_with_changed_inputs_are_rendered() {
    let changes = [
        ("true", ""),
        ("echo '# more' >> a/x.yaml", "a"),
        ("echo '# more' >> a/x.yaml; git add .", "a"),
        ("echo '# more' >> a/x.yaml; git add .; cat b/x.yaml > a/x.yaml", ""),
        ("touch a/x.yaml", ""),
        ("echo text > b/notes.txt", "b"),
        ("rm a/y.yaml", "a"),
        ("git rm -q a/y.yaml", "a"),
        ("git rm -q --cached a/y.yaml", "a"),
        ("git mv a/y.yaml b/y.yaml", "a b"),
        ("git mv b d", "d"),
        // The functions of a package see the resources of its subpackages.
        ("echo '# more' >> c/sub/x.yaml", "c c/sub"),
        ("echo '# more' >> c/x.yaml", "c c/sub"),
        ("rm c/Kptfile", "c/sub"),
        ("echo text >> README.md; echo text > shared/new.txt; mkdir d", ""),
        ("cp -r a new", "new"),
        ("echo 'nothing' > .krmignore", "a b c c/sub"),
        // What git ignores counts if krm reads it.
        ("cp a/x.yaml a/local.yaml", "a"),
        ("echo text > a/build.log", ""),
        ("chmod +x a/x.yaml", "a"),
    ];
    for (change, expected) in changes {
        assert_eq!(rendered(change, "--changed-since HEAD"), expected, "{change}");
    }
}

#[test]
fn changes_are_compared_with_any_revision() {
    let commits = "git checkout -q -b feature && echo '# more' >> a/x.yaml && git commit -q -a -m a \
                   && git checkout -q main && echo '# more' >> b/x.yaml && git commit -q -a -m b \
                   && git tag -a -m t v1 && git checkout -q feature";
    assert_eq!(rendered(commits, "--changed-since main"), "a b");
    assert_eq!(rendered(commits, "--changed-since v1"), "a b");
    assert_eq!(rendered(commits, "--changed-since main..."), "a");
    assert_eq!(rendered(commits, "--changed-since HEAD~1"), "a");
    assert_eq!(rendered(commits, "a --changed-since main..."), "a");
    assert_eq!(rendered(commits, "b --changed-since main..."), "");
    assert_eq!(rendered(commits, "--changed-since main... --shard 1/2"), "a");
    assert_eq!(rendered(commits, "--changed-since main... --shard 2/2"), "");
}

#[test]
fn inputs_outside_of_a_package_count() {
    let link = "ln -s ../shared/data.txt a/data.yaml && git add . && git commit -q -m link";
    assert_eq!(rendered(link, "--changed-since HEAD"), "");
    let changed = format!("{link} && echo '# more' >> shared/data.txt");
    assert_eq!(rendered(&changed, "--changed-since HEAD"), "a");
    assert_eq!(rendered(&format!("{link} && rm shared/data.txt"), "--changed-since HEAD"), "a");
    // A symlink to a file that is read under its own name is not an input.
    let alias = "ln -s ../b/x.yaml a/b.yaml && git add . && git commit -q -m link \
                 && echo '# more' >> b/x.yaml";
    assert_eq!(rendered(alias, "--changed-since HEAD"), "b");
    let config = "echo 'builtin: fitting' > krm.yaml && git add . && git commit -q -m config";
    assert_eq!(rendered(config, "--changed-since HEAD --config krm.yaml"), "");
    let changed = format!("{config} && echo '# more' >> krm.yaml");
    assert_eq!(rendered(&changed, "--changed-since HEAD --config krm.yaml"), "a b c c/sub");
    let nested = "git init -q b && (cd b && git add . && git commit -q -m b)";
    assert_eq!(rendered(nested, "--changed-since HEAD"), "b");
}

#[test]
fn symlink_to_another_package_is_not_rendered_with_its_own() {
    let alias = "ln -s ../b/x.yaml a/b.yaml && git add . && git commit -q -m link \
                 && echo '# more' >> a/x.yaml";
    let sandbox = repository();
    assert_eq!(shell(&sandbox, alias).exit, 0);
    let ran = shell(&sandbox, "krm fn render --changed-since HEAD && git diff --name-only");
    assert_eq!((ran.stdout.as_str(), ran.exit), ("a/x.yaml\na/y.yaml\n", 0), "{}", ran.stderr);
}

#[test]
fn shards_divide_the_packages() {
    let all = rendered("true", "");
    assert_eq!(all, "a b c c/sub");
    let parts: Vec<String> =
        (1..=4).map(|index| rendered("true", &format!("--shard {index}/4"))).collect();
    assert_eq!(parts, ["c c/sub", "a", "b", ""]);
    assert_eq!(rendered("true", "--shard 1/1"), all);
}

#[test]
fn status_tells_how_many_packages_are_rendered() {
    let sandbox = repository();
    let ran =
        shell(&sandbox, "echo >> a/x.yaml; krm fn render --check --changed-since HEAD --shard 1/2");
    let status: Vec<&str> = ran.stderr.lines().take(2).collect();
    assert_eq!(status, ["1 of 3 packages changed since HEAD", "shard 1/2: 1 of 1 package"]);
    let ran = shell(&sandbox, "git stash -q; krm fn render --check --changed-since HEAD");
    let expected = (0, "", "0 of 3 packages changed since HEAD\n");
    assert_eq!((ran.exit, ran.stdout.as_str(), ran.stderr.as_str()), expected);
}

#[test]
fn revision_that_cannot_be_compared_is_an_error() {
    let sandbox = repository();
    let failures = [
        ("krm fn render --changed-since nope", "unknown-git-revision"),
        ("krm fn render --changed-since HEAD~5", "unknown-git-revision"),
        ("krm fn render --changed-since HEAD:a/x.yaml", "unknown-git-revision"),
        ("krm fn render --changed-since=--output=x", "invalid-git-revision"),
        ("krm fn render --changed-since ''", "invalid-git-revision"),
        ("krm fn render --changed-since ...", "invalid-git-revision"),
        (
            "git checkout -q --orphan o && git commit -q -m o && git checkout -q main && krm fn render --changed-since o...",
            "no-merge-base",
        ),
        ("cp -r a ../alone && krm fn render ../alone --changed-since HEAD", "not-a-git-repository"),
        (
            "krm=$(command -v krm); PATH=/nowhere; $krm fn render --changed-since HEAD",
            "cannot-run-git",
        ),
        ("mkdir ../empty && krm fn render ../empty --changed-since HEAD --check", "no-manifests"),
        ("krm fn render shared --changed-since HEAD --check", "no-manifests"),
        ("krm fn render a/x.yaml --changed-since HEAD", "not-a-directory"),
        ("krm fn render missing --changed-since HEAD", "file-not-found"),
    ];
    for (line, id) in failures {
        let ran = shell(&sandbox, line);
        assert!(ran.stderr.contains(&format!("error[{id}]")), "{line}: {}", ran.stderr);
        assert_eq!((ran.exit, ran.stdout.as_str()), (3, ""), "{line}");
    }
    let files = sandbox.files();
    assert!(!files.contains_key("repo/x"), "git was given an option");
}

#[test]
fn shallow_clone_says_what_to_fetch() {
    let sandbox = repository();
    let line = "echo >> a/x.yaml && git commit -q -a -m second && git clone -q --depth 1 file://$PWD ../shallow \
                && cd ../shallow && krm fn render --changed-since HEAD~1";
    let ran = shell(&sandbox, line);
    assert_eq!(ran.exit, 3, "{}", ran.stderr);
    assert!(ran.stderr.contains("git fetch --unshallow"), "{}", ran.stderr);
}

#[test]
fn programs_of_the_configuration_do_not_run() {
    let sandbox = repository();
    sandbox.write("spy.sh", b"#!/bin/sh\ntouch \"$(dirname \"$0\")/ran\"\ncat\n");
    let setup = "chmod +x ../spy.sh && echo '*.yaml filter=spy diff=spy' > .gitattributes && git add . && git commit -q -m attributes \
        && s=$(cd .. && pwd)/spy.sh && git config core.fsmonitor $s && git config filter.spy.clean $s && git config filter.spy.process $s \
        && git config filter.spy.required true && git config diff.external $s && git config diff.spy.textconv $s \
        && mkdir hooks && cp ../spy.sh hooks/post-index-change && git config core.hooksPath hooks && echo >> a/x.yaml";
    assert_eq!(shell(&sandbox, setup).exit, 0);
    let ran = shell(&sandbox, "krm fn render --check -q --changed-since HEAD");
    assert_eq!((ran.exit, ran.stderr.as_str()), (1, ""));
    assert!(!sandbox.files().contains_key("ran"), "a program ran");
    let _ = shell(&sandbox, "git status");
    assert!(sandbox.files().contains_key("ran"), "the configuration is effective for git alone");
}
