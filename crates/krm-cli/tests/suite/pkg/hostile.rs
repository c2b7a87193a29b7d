//! Configuration and addresses that must not run programs, git that is missing or too old, and credentials that must not be printed.

use super::repository::Remote;

#[test]
fn configuration_of_the_user_runs_no_program() {
    let remote = Remote::new();
    let mark = remote.sandbox.path().join("ran");
    let script = format!("#!/bin/sh\ntouch {}\nexit 0\n", mark.display());
    remote.sandbox.write("home/program", script.as_bytes());
    for hook in [
        "post-checkout",
        "reference-transaction",
        "pre-auto-gc",
        "post-fetch",
        "fsmonitor-watchman",
    ] {
        remote.sandbox.write(&format!("home/hooks/{hook}"), script.as_bytes());
    }
    remote.ok("chmod +x home/program home/hooks/*");
    let program = remote.sandbox.path().join("home/program").display().to_string();
    let config = format!(
        "[core]\n\thooksPath = {0}/home/hooks\n\tfsmonitor = {program}\n\tpager = {program}\n\teditor = {program}\n\talternateRefsCommand = {program}\n\
         [uploadpack]\n\tpackObjectsHook = {program}\n[filter \"x\"]\n\tsmudge = {program}\n\tclean = {program}\n\
         [remote \"origin\"]\n\tuploadpack = {program}\n\tvcs = ext\n[alias]\n\tfetch = !{program}\n\tls-remote = !{program}\n[gc]\n\tauto = 1\n",
        remote.sandbox.path().display()
    );
    remote.write("home/.gitconfig", &config);
    remote.commit("v2", &[("shop/.gitattributes", "* filter=x\n"), ("shop/README.md", "# 2\n")]);
    std::fs::remove_file(&mark).ok();
    remote.ok("unset GIT_CONFIG_GLOBAL; krm pkg get -q up/shop@v1 && krm pkg update -q shop@v2 && krm pkg status shop >/dev/null");
    assert!(!mark.exists(), "a program of the configuration ran");
    // Variables of git do not redirect it, either.
    remote.ok(&format!("GIT_DIR=/nowhere GIT_OBJECT_DIRECTORY=/nowhere GIT_EXTERNAL_DIFF={program} GIT_EXEC_PATH=/nowhere krm pkg get -q up/shop@v1 again"));
    assert!(remote.exists("again/Kptfile") && !mark.exists());
}

#[test]
fn replaced_urls_cannot_run_programs() {
    let remote = Remote::new();
    remote.write("home/.gitconfig", "[url \"ext::sh -c 'touch ran'\"]\n\tinsteadOf = file://\n[protocol \"ext\"]\n\tallow = always\n");
    let error = remote.fails(3, "unset GIT_CONFIG_GLOBAL; krm pkg get up/shop@v1");
    assert!(
        error.contains("error[upstream-git-failed]")
            && error.contains("transport 'ext' not allowed"),
        "{error}"
    );
    assert!(!remote.exists("ran"));
}

#[test]
fn addresses_that_are_options_or_programs_are_refused() {
    let remote = Remote::new();
    for address in [
        "ext::sh",
        "ext::sh/a.git/b",
        "ssh://-oProxyCommand=touch/x.git",
        "https://x.io/a.git/../b",
    ] {
        let error = remote.fails(2, &format!("krm pkg get '{address}' x"));
        assert!(error.contains("error[invalid-repository-url]"), "{error}");
    }
    let error = remote.fails(2, "krm pkg get -- --upload-pack=touch x");
    assert!(error.contains("error[invalid-repository-url]"), "{error}");
    for reference in ["-x", "--upload-pack=touch", "a..b", "+main:main"] {
        let error = remote.fails(2, &format!("krm pkg get 'up/shop@{reference}' x"));
        assert!(error.contains("error[invalid-git-reference]"), "{error}");
    }
    // A Kptfile that somebody else wrote is not trusted more than the command line.
    remote.get();
    let kptfile = remote.read("shop/Kptfile");
    let url = kptfile.lines().find_map(|line| line.trim().strip_prefix("repo: ")).unwrap();
    for hostile in ["ext::sh -c 'touch ran'", "--upload-pack=touch ran", "-x"] {
        remote.write("shop/Kptfile", &kptfile.replace(url, &format!("{hostile:?}")));
        let error = remote.fails(3, "krm pkg update shop");
        assert!(error.contains("error[invalid-repository-url]"), "{error}");
    }
    remote.write("shop/Kptfile", &kptfile.replace("ref: v1", "ref: --upload-pack=x"));
    assert!(remote.fails(3, "krm pkg update shop").contains("error[invalid-git-reference]"));
    assert!(!remote.exists("ran"));
}

#[test]
fn files_with_names_of_journals_are_skipped() {
    let remote = Remote::new();
    for name in ["shop/.krm-journal", "shop/sub/.krm-journal", "shop/.krm-0a-1", "shop/.krm-x/y"] {
        remote.write(&format!("up/{name}"), "x\n");
    }
    remote.commit("v2", &[("shop/a.yaml", "a: 1\n")]);
    let ran = remote.run("krm pkg get up/shop@v2");
    assert_eq!(ran.exit, 0, "{}", ran.stderr);
    assert_eq!(ran.stderr.matches("a file with a reserved name").count(), 4);
    let package = remote.package();
    assert!(package.contains_key("shop/a.yaml"));
    assert!(!package.keys().any(|it| it.contains(".krm-")), "{package:?}");
}

#[test]
fn missing_or_old_git_is_a_clear_error() {
    let remote = Remote::new();
    let only = "mkdir -p bin && cp $(command -v krm) bin/";
    remote.ok(only);
    let error = remote.fails(3, "PATH=$PWD/bin; krm pkg get up/shop@v1");
    assert!(
        error.contains("error[git-not-found]: cannot run git:")
            && error.contains("install git 2.32"),
        "{error}"
    );
    remote.sandbox.write("bin/git", b"#!/bin/sh\necho git version 2.20.1\n");
    remote.ok("chmod +x bin/git");
    let error = remote.fails(3, "PATH=$PWD/bin:$PATH; krm pkg get up/shop@v1");
    assert!(error.contains("error[git-too-old]: git 2.20.1 is too old"), "{error}");
}

#[test]
fn credentials_are_neither_printed_nor_stored() {
    let remote = Remote::new();
    let ran = remote.run(
        "export KRM_CACHE_DIR=$PWD/cache; krm -v pkg get https://me:s3cret@127.0.0.1:1/a.git/b x",
    );
    assert_eq!(ran.exit, 3);
    assert!(
        ran.stderr.contains("error[upstream-git-failed]: cannot read https://127.0.0.1:1/a.git"),
        "{}",
        ran.stderr
    );
    assert!(ran.stderr.contains("credential.helper"), "{}", ran.stderr);
    assert!(!ran.stderr.contains("s3cret") && !ran.stderr.contains("me@"), "{}", ran.stderr);
    let stored = remote.run("grep -r s3cret cache");
    assert_eq!(stored.stdout, "");
}

#[test]
fn cache_is_evicted_by_size_and_must_be_writable() {
    let remote = Remote::new();
    remote.ok("cp -r up second");
    let environment = "export KRM_CACHE_DIR=$PWD/cache KRM_CACHE_SIZE_MB=0";
    remote.ok(&format!("{environment}; krm pkg get -q up/shop@v1 a && ls cache/git"));
    let entries = |remote: &Remote| remote.ok("cd cache/git && ls -d */");
    assert!(entries(&remote).starts_with("up-"), "{}", entries(&remote));
    remote.ok(&format!("{environment}; krm pkg get -q second/shop@v1 b"));
    assert!(
        entries(&remote).starts_with("second-") && entries(&remote).lines().count() == 1,
        "{}",
        entries(&remote)
    );
    // What was evicted is fetched again.
    remote.ok(&format!("{environment}; krm pkg get -q up/shop@v1 c"));
    let error = remote.fails(3, "KRM_CACHE_DIR=/dev/null/x krm pkg get up/shop@v1 d");
    assert!(error.contains("error[cache-failed]: cannot use the cache:"), "{error}");
}
