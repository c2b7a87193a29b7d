//! `krm pkg get`: what is written, what is transferred, and what is refused.

use super::repository::{DEPLOYMENT, KPTFILE, Remote};

#[test]
fn package_is_written_with_upstream_and_lock() {
    let remote = Remote::new();
    remote.get();
    let commit = remote.commit_of("v1");
    let url =
        format!("file://{}", remote.sandbox.path().canonicalize().unwrap().join("up").display());
    let kptfile = KPTFILE.replace(
        "info:",
        &format!(
            "upstream:\n  type: git\n  git:\n    repo: {url}\n    directory: /shop\n    ref: v1\n  updateStrategy: resource-merge\nupstreamLock:\n  type: git\n  git:\n    repo: {url}\n    directory: /shop\n    ref: v1\n    commit: {commit}\ninfo:"
        ),
    );
    assert_eq!(remote.read("shop/Kptfile"), kptfile);
    assert_eq!(remote.read("shop/deployment.yaml"), DEPLOYMENT);
    assert!(!remote.exists("shop/a.yaml") && !remote.exists("other"));
    assert_eq!(remote.package().len(), 4);
}

#[test]
fn every_form_of_address_gets_the_same_package() {
    let remote = Remote::new();
    let path = remote.sandbox.path().display().to_string();
    remote.ok("git clone -q --bare up up.git 2>/dev/null && git -C up.git config uploadpack.allowFilter true");
    let addresses = [
        "up/shop@v1".to_owned(),
        format!("{path}/up/shop@v1"),
        format!("file://{path}/up/shop@main"),
        "up.git/shop@v1".to_owned(),
        format!("file://{path}/up.git/shop"),
        format!("file://{path}/up.git --subdir shop"),
        format!("file://{path}/up.git@v1 --subdir /shop/"),
        format!("up/shop@{}", remote.commit_of("v1")),
    ];
    for (at, address) in addresses.iter().enumerate() {
        let mut words = address.split(' ');
        let (first, rest) = (words.next().unwrap(), words.collect::<Vec<_>>().join(" "));
        remote.ok(&format!("krm pkg get -q '{first}' got{at} {rest}"));
        assert_eq!(remote.read(&format!("got{at}/deployment.yaml")), DEPLOYMENT, "{address}");
        assert!(remote.read(&format!("got{at}/Kptfile")).contains(&format!("name: got{at}\n")));
    }
    assert!(remote.read("got4/Kptfile").contains("ref: main\n"), "the default branch is recorded");
    // The whole repository is a package, too.
    remote.ok("krm pkg get -q up@v1 all");
    assert!(remote.exists("all/shop/Kptfile") && remote.exists("all/Kptfile"));
    assert!(!remote.exists("all/.git"));
}

#[test]
fn branch_of_a_clone_is_the_default_reference() {
    let remote = Remote::new();
    // A clone has `refs/remotes/origin/HEAD` beside its own `HEAD`.
    remote.ok("git clone -q up clone && krm pkg get -q clone/shop");
    assert_eq!(remote.read("shop/Kptfile").matches("ref: main\n").count(), 2);
}

#[test]
fn destination_must_be_missing_or_empty() {
    let remote = Remote::new();
    remote.write("shop/mine.yaml", "a: 1\n");
    let error = remote.fails(3, "krm pkg get up/shop@v1");
    assert!(error.contains("error[destination-exists]: shop:"), "{error}");
    assert_eq!(remote.package().len(), 1);
    remote.ok("mkdir -p new/empty && krm pkg get -q up/shop@v1 new/empty/");
    assert!(remote.exists("new/empty/Kptfile"));
    remote.ok("mkdir here && cd here && krm pkg get -q ../up/shop@v1 .");
    assert!(remote.read("here/Kptfile").contains("name: here\n"));
}

#[test]
fn preview_writes_nothing() {
    let remote = Remote::new();
    let diff = remote.ok("krm pkg get up/shop@v1 --diff");
    assert!(diff.contains("+++ b/shop/deployment.yaml"), "{diff}");
    assert_eq!(remote.ok("krm pkg get up/shop@v1 --dry-run").lines().count(), 4);
    assert_eq!(remote.run("krm pkg get up/shop@v1 --check").exit, 1);
    assert!(!remote.exists("shop"));
}

#[test]
fn only_the_files_of_the_directory_are_transferred() {
    let remote = Remote::new();
    for at in 0..200 {
        remote.write(&format!("up/other/d{}/f{at}.yaml", at % 10), &format!("a: {at}\n"));
    }
    remote.commit("v2", &[("shop/deployment.yaml", &DEPLOYMENT.replace("1.0", "2.0"))]);
    remote.ok("export KRM_CACHE_DIR=$PWD/cache; krm pkg get -q up/shop@v2");
    let count = "cat-file --batch-all-objects --batch-check";
    let objects = remote.ok(&format!("git --git-dir=$(echo cache/git/up-*[0-9a-f]/) {count}"));
    let blobs = objects.lines().filter(|line| line.contains(" blob ")).count();
    assert_eq!(blobs, 4, "{objects}");
    assert_eq!(objects.lines().filter(|line| line.contains(" commit ")).count(), 1);
    // A second get needs no transfer; the repository may even be gone.
    remote.ok("export KRM_CACHE_DIR=$PWD/cache; krm pkg get -q up/shop@v2 again");
    assert_eq!(
        remote.ok(&format!("git --git-dir=$(echo cache/git/up-*[0-9a-f]/) {count}")),
        objects
    );
}

#[test]
fn repository_without_filters_is_fetched_as_a_whole() {
    let remote = Remote::new();
    remote.ok("git -C up config uploadpack.allowFilter false");
    remote.get();
    assert_eq!(remote.read("shop/deployment.yaml"), DEPLOYMENT);
}

#[test]
fn modes_binary_files_and_line_breaks_are_kept() {
    let remote = Remote::new();
    remote.sandbox.write("up/shop/logo.png", b"\x89PNG\0\xff");
    remote.sandbox.write("up/shop/crlf.yaml", b"a: 1\r\nb: 2\r\n");
    remote.sandbox.write("up/shop/run", b"echo hi\n");
    remote.sandbox.write("up/shop/hash.txt", b"#!/bin/sh\n");
    remote.ok("chmod +x up/shop/run && printf '* text=auto eol=crlf\\n' > up/shop/.gitattributes && git -C up -c core.autocrlf=false add -A");
    remote.ok("cd up && git commit -q -m v2 && git tag v2");
    let blob = remote.ok("git -C up cat-file -p v2:shop/crlf.yaml");
    // Settings of the user do not convert anything, either.
    remote.ok("mkdir -p home && printf '[core]\\n\\tautocrlf = true\\n\\teol = crlf\\n' > home/.gitconfig; \
        unset GIT_CONFIG_GLOBAL; krm pkg get -q up/shop@v2");
    assert_eq!(
        std::fs::read(remote.sandbox.path().join("shop/logo.png")).unwrap(),
        b"\x89PNG\0\xff"
    );
    assert_eq!(remote.read("shop/crlf.yaml"), blob);
    assert_eq!(remote.read("shop/deployment.yaml"), DEPLOYMENT);
    let modes = remote.ok("cd shop && stat -c %a run hash.txt deployment.yaml");
    let is_executable = |mode: &str| mode.chars().any(|digit| "1357".contains(digit));
    assert_eq!(
        modes.lines().map(is_executable).collect::<Vec<_>>(),
        [true, false, false],
        "{modes}"
    );
}

#[test]
fn symlinks_submodules_and_lfs_pointers_are_reported() {
    let remote = Remote::new();
    remote.ok("ln -s ../../../../etc/passwd up/shop/passwd.yaml && ln -s deployment.yaml up/shop/link.yaml");
    remote.write(
        "up/shop/model.bin",
        "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 3\n",
    );
    remote
        .ok("git init -q sub && cd sub && echo 'a: 1' > a.yaml && git add . && git commit -q -m a");
    remote.ok("cd up && git -c protocol.file.allow=always submodule --quiet add ../sub shop/sub");
    remote.commit("v2", &[]);
    let ran = remote.run("krm pkg get up/shop@v2");
    assert_eq!(ran.exit, 0, "{}", ran.stderr);
    for (name, what) in
        [("passwd.yaml", "a symlink"), ("link.yaml", "a symlink"), ("sub", "a submodule")]
    {
        let line = format!(
            "warning[upstream-entry-skipped]: shop/{name}: skipped, because it is {what} upstream"
        );
        assert!(ran.stderr.contains(&line), "{}", ran.stderr);
        assert!(!remote.exists(&format!("shop/{name}")));
    }
    assert!(ran.stderr.contains("warning[lfs-pointer]: shop/model.bin"), "{}", ran.stderr);
    assert!(remote.read("shop/model.bin").starts_with("version https://git-lfs"));
}

#[test]
fn instance_for_deployment_has_its_name_as_context() {
    let remote = Remote::new();
    remote.ok("krm pkg get -q up/shop@v1 my-shop --for-deployment --strategy fast-forward");
    let context = remote.read("my-shop/package-context.yaml");
    assert!(
        context.contains("name: kptfile.kpt.dev\n")
            && context.ends_with("data:\n  name: my-shop\n"),
        "{context}"
    );
    assert!(remote.read("my-shop/Kptfile").contains("updateStrategy: fast-forward\n"));
}

/// Compat: a pipeline of a subpackage may take its name from there, too.
#[test]
fn subpackages_of_an_instance_have_their_own_names_as_context() {
    let remote = Remote::new();
    let context = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: kptfile.kpt.dev\ndata:\n  name: example # set\n  tier: web\n";
    remote.commit(
        "v2",
        &[
            ("all/Kptfile", &KPTFILE.replace("shop", "all")),
            ("all/one/Kptfile", &KPTFILE.replace("shop", "one")),
            ("all/one/two/Kptfile", &KPTFILE.replace("shop", "two")),
            ("all/one/two/package-context.yaml", context),
        ],
    );
    remote.ok("krm pkg get -q up/all@v2 mine --for-deployment");
    let read = |directory: &str| remote.read(&format!("mine/{directory}package-context.yaml"));
    assert!(read("").ends_with("data:\n  name: mine\n"), "{}", read(""));
    assert!(read("one/").ends_with("data:\n  name: one\n"), "{}", read("one/"));
    assert_eq!(read("one/two/"), context.replace("example", "two"));
}

#[test]
fn referenced_subpackages_are_fetched() {
    let remote = Remote::new();
    let url = format!("file://{}/up", remote.sandbox.path().canonicalize().unwrap().display());
    let kptfile = format!(
        "apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: inner # mine\nupstream:\n  type: git\n  git:\n    repo: {url}\n    directory: /shop\n    ref: v1\n"
    );
    remote.commit(
        "v2",
        &[("all/Kptfile", &KPTFILE.replace("shop", "all")), ("all/inner/Kptfile", &kptfile)],
    );
    remote.ok("krm pkg get -q up/all@v2");
    assert_eq!(remote.read("all/inner/deployment.yaml"), DEPLOYMENT);
    let inner = remote.read("all/inner/Kptfile");
    assert!(
        inner.contains("name: inner # mine\n") && inner.contains(&remote.commit_of("v1")),
        "{inner}"
    );
}

#[test]
fn missing_references_and_directories_are_errors_with_suggestions() {
    let remote = Remote::new();
    let error = remote.fails(3, "krm pkg get up/shop@v11");
    assert!(
        error.contains("error[git-reference-not-found]") && error.contains("did you mean `v1`?"),
        "{error}"
    );
    let error = remote.fails(3, "krm pkg get up/shpo@v1");
    assert!(error.contains("error[upstream-directory-not-found]: no directory `/shpo`"), "{error}");
    assert!(error.contains("did you mean `shop`?"), "{error}");
    let error = remote.fails(3, "krm pkg get up/shop/service.yaml@v1");
    assert!(error.contains("error[upstream-directory-not-found]"), "{error}");
    let error = remote.fails(3, &format!("krm pkg get up/shop@{}", "0123456789".repeat(4)));
    assert!(error.contains("error[git-commit-not-found]"), "{error}");
    let error = remote.fails(3, &format!("krm pkg get up/shop@{}", &remote.commit_of("v1")[..10]));
    assert!(error.contains("use the whole id of a commit"), "{error}");
    let error = remote.fails(3, "krm pkg get file://$PWD/nowhere.git/shop");
    assert!(error.contains("error[upstream-git-failed]: cannot read file://"), "{error}");
    remote.ok("git init -q empty");
    let error = remote.fails(3, "krm pkg get empty/shop");
    assert!(
        error.contains("error[upstream-git-failed]")
            && error.contains("the repository has no commit"),
        "{error}"
    );
    assert!(!remote.exists("shop"));
}
