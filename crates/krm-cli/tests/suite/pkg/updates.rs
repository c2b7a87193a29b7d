//! `krm pkg update`: what is merged, what is kept, and what is refused.

use super::repository::{DEPLOYMENT, KPTFILE, Remote, SERVICE};

/// The package at `v1`, with a local edit, and `v2` upstream with changes elsewhere.
fn edited() -> Remote {
    let remote = Remote::new();
    remote.get();
    remote.write(
        "shop/deployment.yaml",
        &DEPLOYMENT.replace("replicas: 1 # few", "replicas: 5 # many"),
    );
    remote.commit(
        "v2",
        &[
            ("shop/deployment.yaml", &DEPLOYMENT.replace("web:1.0", "web:2.0")),
            ("shop/config.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n"),
            ("shop/README.md", "# shop 2\n"),
            ("shop/service.yaml", ""),
        ],
    );
    remote
}

fn merged() -> String {
    DEPLOYMENT.replace("replicas: 1 # few", "replicas: 5 # many").replace("web:1.0", "web:2.0")
}

#[test]
fn changes_of_both_sides_are_kept() {
    let remote = edited();
    let ran = remote.run("krm pkg update shop@v2");
    assert_eq!(ran.exit, 0, "{}", ran.stderr);
    let changes = "created shop/config.yaml\nremoved shop/service.yaml\nupdated shop to v2 (";
    assert!(ran.stderr.starts_with(changes), "{}", ran.stderr);
    assert_eq!(remote.read("shop/deployment.yaml"), merged());
    assert_eq!(remote.read("shop/README.md"), "# shop 2\n");
    assert!(remote.exists("shop/config.yaml") && !remote.exists("shop/service.yaml"));
    let kptfile = remote.read("shop/Kptfile");
    assert_eq!(kptfile.matches("ref: v2\n").count(), 2, "{kptfile}");
    assert!(kptfile.contains(&format!("commit: {}\n", remote.commit_of("v2"))));
    assert!(kptfile.contains("description: The web shop # short\n"));
    let before = remote.package();
    remote.ok("krm pkg update shop@v2 && krm pkg update shop && krm pkg update shop --check");
    assert_eq!(remote.package(), before);
}

#[test]
fn previews_write_nothing() {
    let remote = edited();
    let before = remote.package();
    let diff = remote.ok("krm pkg update shop@v2 --diff");
    assert!(
        diff.contains("-        image: shop/web:1.0\n+        image: shop/web:2.0\n"),
        "{diff}"
    );
    assert!(
        remote.ok("krm pkg update shop@v2 --dry-run").contains("would remove shop/service.yaml\n")
    );
    let check = remote.run("krm pkg update shop@v2 --check");
    assert_eq!(check.exit, 1);
    assert!(
        check.stdout.starts_with("shop: v1 (") && check.stdout.contains(") -> v2 ("),
        "{}",
        check.stdout
    );
    assert_eq!(remote.package(), before);
    // Commits that do not touch the package are no news.
    remote.ok("krm pkg update -q shop@v2");
    remote.ok("sed -i 's/ref: v2/ref: main/' shop/Kptfile");
    remote.commit("v3", &[("other/a.yaml", "a: 2\n")]);
    remote.ok("krm pkg update shop --check && krm pkg update -q shop");
    assert!(!remote.read("shop/Kptfile").contains(&remote.commit_of("v3")));
}

#[test]
fn conflicts_refuse_the_update_and_name_both_places() {
    let remote = edited();
    remote.commit(
        "v3",
        &[("shop/deployment.yaml", &DEPLOYMENT.replace("replicas: 1", "replicas: 2"))],
    );
    let before = remote.package();
    let error = remote.fails(1, "krm pkg update shop@v3");
    assert!(
        error.contains("error[merge-conflict]: `spec.replicas` was changed on both sides"),
        "{error}"
    );
    assert!(error.contains("shop/deployment.yaml:6:13"), "{error}");
    assert!(error.contains("upstream: 2 (shop@v3/deployment.yaml:6:13)"), "{error}");
    assert!(
        error.contains("error[update-conflicts]: shop: nothing was written because of 1 conflict"),
        "{error}"
    );
    assert_eq!(remote.package(), before);
    let json = remote.run("krm pkg update shop@v3 -o json -q").stdout;
    assert!(json.contains("\"path\":\"spec.replicas\""), "{json}");
    for (side, replicas) in [("upstream", "replicas: 2"), ("local", "replicas: 5")] {
        remote.ok("rm -rf copy && cp -r shop copy");
        let exit = if side == "upstream" { 1 } else { 0 };
        remote.fails(exit, &format!("krm pkg update copy@v3 --on-conflict {side}"));
        assert!(remote.read("copy/deployment.yaml").contains(replicas), "{side}");
        assert!(remote.read("copy/Kptfile").contains("ref: v3\n"));
    }
    remote.fails(1, "krm pkg update -q shop@v3 --on-conflict mark");
    assert!(remote.read("shop/deployment.yaml").contains("krm-conflict"));
    // Until they are resolved there is no further update.
    remote.commit("v4", &[("shop/README.md", "# shop 4\n")]);
    let error = remote.fails(3, "krm pkg update shop@v4");
    assert!(error.contains("error[merge-unresolved]"), "{error}");
    remote.ok("krm cfg merge3 --to shop --resolve local && krm pkg update -q shop@v4");
    assert!(remote.read("shop/deployment.yaml").contains("replicas: 5"));
}

#[test]
fn uncommitted_changes_refuse_the_update() {
    let remote = edited();
    remote.ok(
        "printf 'up\\nhome\\n' > .gitignore && git init -q . && git add . && git commit -q -m all",
    );
    remote.write("shop/new.yaml", "a: 1\n");
    let error = remote.fails(3, "krm pkg update shop@v2");
    assert!(
        error.contains("error[dirty-package]: shop: 1 change is not committed to git"),
        "{error}"
    );
    remote.ok("krm pkg update shop@v2 --diff > /dev/null");
    remote.ok("krm pkg update -q shop@v2 --allow-dirty");
    assert_eq!(remote.read("shop/deployment.yaml"), merged());
    remote.ok("git add . && git commit -q -m updated && echo 'b: 1' > outside.yaml");
    remote.commit("v3", &[("shop/README.md", "# shop 3\n")]);
    remote.ok("krm pkg update -q shop@v3");
}

#[test]
fn fast_forward_refuses_local_changes() {
    let remote = edited();
    let error = remote.fails(3, "krm pkg update shop@v2 --strategy fast-forward");
    assert!(
        error.contains(
            "error[local-changes]: shop: the package has local changes in 1 file: deployment.yaml"
        ),
        "{error}"
    );
    remote.write("shop/deployment.yaml", DEPLOYMENT);
    remote.ok("krm pkg update -q shop@v2 --strategy fast-forward");
    assert!(remote.read("shop/deployment.yaml").contains("web:2.0"));
    assert!(!remote.exists("shop/service.yaml"));
    // The strategy is recorded, and used from then on.
    assert!(remote.read("shop/Kptfile").contains("updateStrategy: fast-forward\n"));
    remote.write("shop/new.yaml", "a: 1\n");
    remote.commit("v3", &[("shop/README.md", "# shop 3\n")]);
    assert!(
        remote.fails(3, "krm pkg update shop@v3").contains("local changes in 1 file: new.yaml")
    );
}

#[test]
fn force_delete_replace_takes_upstream_and_keeps_the_kptfile() {
    let remote = edited();
    remote.write("shop/mine.yaml", "a: 1\n");
    let kptfile = remote
        .read("shop/Kptfile")
        .replace("info:", "pipeline:\n  validators:\n  - image: kubeconform\ninfo:");
    remote.write("shop/Kptfile", &kptfile);
    remote.ok("krm pkg update -q shop@v2 --strategy force-delete-replace");
    assert_eq!(remote.read("shop/deployment.yaml"), DEPLOYMENT.replace("web:1.0", "web:2.0"));
    assert!(!remote.exists("shop/mine.yaml") && !remote.exists("shop/service.yaml"));
    let kptfile = remote.read("shop/Kptfile");
    assert!(kptfile.contains("image: kubeconform\n") && kptfile.contains("ref: v2\n"), "{kptfile}");
}

#[test]
fn copy_merge_keeps_files_that_only_local_has() {
    let remote = edited();
    remote.write("shop/mine.yaml", "a: 1\n");
    remote.ok("krm pkg update -q shop@v2 --strategy copy-merge");
    assert_eq!(remote.read("shop/deployment.yaml"), DEPLOYMENT.replace("web:1.0", "web:2.0"));
    assert!(remote.exists("shop/mine.yaml") && !remote.exists("shop/service.yaml"));
}

#[test]
fn moved_and_renamed_files_are_followed() {
    let remote = Remote::new();
    remote.get();
    remote.write("shop/deployment.yaml", &DEPLOYMENT.replace("replicas: 1", "replicas: 5"));
    remote.ok("cd up/shop && mkdir app && git mv deployment.yaml app/web.yaml && git mv README.md app/README.md");
    remote.commit("v2", &[("shop/app/web.yaml", &DEPLOYMENT.replace("web:1.0", "web:2.0"))]);
    remote.ok("krm pkg update -q shop@v2");
    let expected = DEPLOYMENT.replace("replicas: 1", "replicas: 5").replace("web:1.0", "web:2.0");
    assert_eq!(remote.read("shop/app/web.yaml"), expected);
    assert!(!remote.exists("shop/deployment.yaml") && !remote.exists("shop/README.md"));
    // And a local move keeps the changes of upstream.
    remote.ok("mv shop/service.yaml shop/app/svc.yaml");
    remote.commit("v3", &[("shop/service.yaml", &SERVICE.replace("80", "8080"))]);
    remote.ok("krm pkg update -q shop@v3");
    assert_eq!(remote.read("shop/app/svc.yaml"), SERVICE.replace("80", "8080"));
    assert!(!remote.exists("shop/service.yaml"));
}

#[test]
fn conflict_of_a_binary_file_is_resolved_by_hand_or_for_local() {
    let remote = Remote::new();
    let logo = |path: &str, end: u8| remote.sandbox.write(path, &[0x89, b'P', 0xff, end]);
    logo("up/shop/logo.png", 1);
    remote.commit("v2", &[]);
    remote.ok("krm pkg get -q up/shop@v2");
    logo("up/shop/logo.png", 2);
    remote.commit("v3", &[("shop/README.md", "# theirs\n")]);
    logo("shop/logo.png", 3);
    remote.write("shop/README.md", "# ours\n");
    let error = remote.fails(1, "krm pkg update -q shop@v3 --on-conflict mark");
    assert!(error.contains("note: local: \"binary, 4 bytes\""), "{error}");
    let error = remote.fails(3, "krm cfg merge3 --to shop --resolve upstream");
    assert!(error.contains("error[merge-stale-record]: cannot resolve"), "{error}");
    assert!(error.contains("logo.png") && error.contains("resolve it by hand"), "{error}");
    assert_eq!(remote.read("shop/README.md"), "# ours\n");
    remote.ok("krm cfg merge3 --to shop --resolve local");
    assert!(!remote.exists("shop/.krm-conflicts.yaml"));
    let logo = std::fs::read(remote.sandbox.path().join("shop/logo.png")).unwrap();
    assert_eq!(logo, [0x89, b'P', 0xff, 3]);
}

#[test]
fn binary_files_templates_and_ignored_files_are_updated() {
    let remote = Remote::new();
    let template = "{{ if .x }}\na: {{ .y }}\n{{ end }}\n";
    remote.sandbox.write("up/shop/logo.png", b"\x89PNG\0one");
    remote.commit(
        "v2",
        &[
            ("shop/chart/t.yaml", template),
            ("shop/.krmignore", "big.yaml\n"),
            ("shop/big.yaml", "a: 1\n"),
            ("shop/run", "#!/bin/sh\n"),
        ],
    );
    remote.ok("krm pkg get -q up/shop@v2");
    remote.sandbox.write("up/shop/logo.png", b"\x89PNG\0two");
    remote.ok("chmod +x up/shop/run");
    remote.commit(
        "v3",
        &[("shop/chart/t.yaml", &template.replace(".y", ".z")), ("shop/big.yaml", "a: 2\n")],
    );
    remote.ok("krm pkg update -q shop@v3");
    assert_eq!(
        std::fs::read(remote.sandbox.path().join("shop/logo.png")).unwrap(),
        b"\x89PNG\0two"
    );
    assert_eq!(remote.read("shop/chart/t.yaml"), template.replace(".y", ".z"));
    assert_eq!(remote.read("shop/big.yaml"), "a: 2\n");
    remote.ok("test -x shop/run");
    // Both sides changed them: that is a conflict, and nothing is written.
    remote.sandbox.write("shop/logo.png", b"\x89PNG\0mine");
    remote.write("shop/big.yaml", "a: mine\n");
    remote.sandbox.write("up/shop/logo.png", b"\x89PNG\0three");
    remote.commit("v4", &[("shop/big.yaml", "a: 3\n"), ("shop/chart/t.yaml", template)]);
    let error = remote.fails(1, "krm pkg update shop@v4");
    assert!(error.contains("`logo.png`") && error.contains("`big.yaml`"), "{error}");
    assert_eq!(remote.read("shop/chart/t.yaml"), template.replace(".y", ".z"));
    remote.ok("krm pkg update -q shop@v4 --on-conflict local");
    assert_eq!(remote.read("shop/big.yaml"), "a: mine\n");
    assert_eq!(remote.read("shop/chart/t.yaml"), template);
}

#[test]
fn subpackages_with_their_own_upstream_update_by_themselves() {
    let remote = Remote::new();
    remote.get();
    remote.commit(
        "lib1",
        &[
            ("lib/Kptfile", &KPTFILE.replace("shop", "lib")),
            ("lib/deployment.yaml", &DEPLOYMENT.replace("name: web", "name: lib")),
        ],
    );
    remote.ok("krm pkg get -q up/lib@main shop/lib");
    remote.write(
        "shop/lib/deployment.yaml",
        &remote.read("shop/lib/deployment.yaml").replace("replicas: 1", "replicas: 9"),
    );
    remote.commit(
        "v2",
        &[
            ("shop/deployment.yaml", &DEPLOYMENT.replace("web:1.0", "web:2.0")),
            (
                "lib/deployment.yaml",
                &DEPLOYMENT.replace("name: web", "name: lib").replace("web:1.0", "web:7.0"),
            ),
        ],
    );
    let listed = remote.run("krm pkg update --all --check -o json");
    assert_eq!(listed.exit, 1, "{}", listed.stderr);
    for part in ["\"ref\":\"main\"", "\"newest\":\"", "\"package\":\"shop/lib\""] {
        assert!(
            listed.stdout.starts_with('[') && listed.stdout.contains(part),
            "{}",
            listed.stdout
        );
    }
    let check = remote.run("krm pkg update --all --check");
    assert_eq!((check.exit, check.stdout.lines().count()), (1, 1), "{}", check.stdout);
    assert!(check.stdout.starts_with("shop/lib: main ("), "{}", check.stdout);
    remote.ok("krm pkg update -q shop@v2");
    assert!(remote.read("shop/deployment.yaml").contains("web:2.0"));
    let lib = remote.read("shop/lib/deployment.yaml");
    assert!(lib.contains("web:7.0") && lib.contains("replicas: 9"), "{lib}");
    remote.ok("krm pkg update --all --check");
    assert_eq!(remote.ok("krm pkg update --all --check -o json"), "[]\n");
    let error = remote.fails(2, "krm pkg update shop@v2 --all");
    assert!(error.contains("error[reference-with-all]"), "{error}");
}

#[test]
fn kptfile_changes_of_both_sides_are_kept() {
    let remote = Remote::new();
    remote.get();
    let local = remote.read("shop/Kptfile");
    remote.write("shop/Kptfile", &format!("{local}pipeline:\n  mutators:\n  - image: set-labels\n    configMap: {{app: mine}} # ours\n"));
    remote.commit("v2", &[("shop/Kptfile", &format!("{KPTFILE}  keywords: [shop]\n"))]);
    remote.ok("krm pkg update -q shop@v2");
    let kptfile = remote.read("shop/Kptfile");
    assert!(
        kptfile.contains("configMap: {app: mine} # ours\n")
            && kptfile.contains("keywords: [shop]\n"),
        "{kptfile}"
    );
    assert!(kptfile.contains("name: shop\n") && kptfile.contains("ref: v2\n"), "{kptfile}");
}

#[test]
fn rewritten_history_and_moved_tags_are_noticed() {
    let remote = Remote::new();
    remote.get();
    // A tag that moved is an update like any other.
    remote.commit("v1", &[("shop/README.md", "# moved\n")]);
    remote.ok("krm pkg update -q shop");
    assert_eq!(remote.read("shop/README.md"), "# moved\n");
    // The commit that the package came from is gone, and so is the cache.
    remote.ok("cd up && git checkout -q --orphan fresh && git commit -q -m fresh && git branch -D -q main && git branch -m main && git tag -d v1 >/dev/null \
        && git -c gc.reflogExpire=now -c gc.reflogExpireUnreachable=now reflog expire --expire=now --all && git gc -q --prune=now");
    let error = remote.fails(3, "export KRM_CACHE_DIR=$PWD/other; krm pkg update shop@main");
    assert!(error.contains("error[git-commit-not-found]: shop/Kptfile:"), "{error}");
    let error = remote.fails(3, "krm pkg update shop");
    assert!(
        error.contains("error[git-reference-not-found]: shop/Kptfile: no branch or tag `v1`"),
        "{error}"
    );
    remote.ok("export KRM_CACHE_DIR=$PWD/other; krm pkg update -q shop@main --strategy force-delete-replace");
    assert!(remote.read("shop/Kptfile").contains(&remote.commit_of("main")));
}

#[test]
fn shallow_upstream_is_updated_from() {
    let remote = edited();
    remote.ok("git clone -q --depth 1 file://$PWD/up shallow && git -C shallow config uploadpack.allowFilter true");
    remote.ok("krm pkg get -q shallow/shop@main from-shallow");
    assert!(remote.read("from-shallow/deployment.yaml").contains("web:2.0"));
    remote.write("shallow/shop/README.md", "# newer\n");
    remote.ok("git -C shallow commit -q -a -m newer && krm pkg update -q from-shallow");
    assert_eq!(remote.read("from-shallow/README.md"), "# newer\n");
}

#[test]
fn package_without_upstream_is_an_error() {
    let remote = Remote::new();
    for command in ["update", "diff"] {
        let error = remote.fails(3, &format!("krm pkg {command} up/other"));
        assert!(error.contains("error[no-package]: up/other:"), "{error}");
        let error = remote.fails(3, &format!("krm pkg {command} up/shop"));
        assert!(error.contains("error[no-upstream]: up/shop/Kptfile:"), "{error}");
        let error = remote.fails(3, &format!("krm pkg {command} nowhere"));
        assert!(error.contains("error[file-not-found]: nowhere:"), "{error}");
    }
    assert!(remote.fails(3, "krm pkg update --all up/shop").contains("error[no-packages-below]"));
}

#[test]
fn kptfile_of_a_package_without_one_is_not_a_change() {
    let remote = Remote::new();
    remote.commit("v1", &[("shop/Kptfile", "")]);
    remote.commit("v2", &[("shop/deployment.yaml", &DEPLOYMENT.replace("web:1.0", "web:2.0"))]);
    remote.ok("krm pkg get -q up/shop@v1");
    assert_eq!(remote.ok("krm pkg diff shop"), "");
    assert!(remote.ok("krm pkg status shop").contains("local changes: none\n"));
    for kind in ["remote", "combined", "3way"] {
        let diff = remote.run(&format!("krm pkg diff shop@v2 --diff-type {kind}"));
        assert_eq!((diff.exit, diff.stdout.contains("Kptfile")), (1, false), "{}", diff.stdout);
    }
    remote.ok("printf 'pipeline: {}\\n' >> shop/Kptfile");
    let diff = remote.run("krm pkg diff shop").stdout;
    assert!(
        diff.starts_with("--- a/Kptfile\n+++ b/Kptfile\n") && diff.contains("\n+pipeline: {}\n"),
        "{diff}"
    );
    assert!(remote.ok("krm pkg status shop").contains("local changes: Kptfile\n"));
}

#[test]
fn diff_shows_each_pair_of_versions() {
    let remote = edited();
    let local = remote.run("krm pkg diff shop");
    assert_eq!(local.exit, 1);
    assert!(
        local.stdout.contains("--- a/deployment.yaml\n+++ b/deployment.yaml\n"),
        "{}",
        local.stdout
    );
    assert!(
        !local.stdout.contains("Kptfile") && local.stdout.matches("+++").count() == 1,
        "{}",
        local.stdout
    );
    let remote_diff = remote.run("krm pkg diff shop@v2 --diff-type remote").stdout;
    assert!(
        remote_diff.contains("+        image: shop/web:2.0")
            && remote_diff.contains("+++ /dev/null"),
        "{remote_diff}"
    );
    assert!(!remote_diff.contains("replicas: 5"), "{remote_diff}");
    let combined = remote.run("krm pkg diff shop@v2 --diff-type combined -o text").stdout;
    assert!(combined.contains("spec.replicas") && combined.contains("shop/web:2.0"), "{combined}");
    let both = remote.run("krm pkg diff shop@v2 --diff-type 3way").stdout;
    assert!(
        both.starts_with("# local changes\n") && both.contains("\n# upstream changes\n"),
        "{both}"
    );
    // Programs get one array, also of files without resources and of two comparisons.
    let json = remote.run("krm pkg diff shop@v2 --diff-type combined -o json").stdout;
    assert!(json.starts_with("[\n{\"changes\":") && json.ends_with("}\n]\n"), "{json}");
    assert_eq!(json.lines().filter(|line| !line.starts_with('{')).count(), 2, "{json}");
    remote.write("shop/notes.txt", "mine\n");
    let json = remote.run("krm pkg diff shop@v2 --diff-type 3way -o json").stdout;
    assert_eq!(json.lines().filter(|line| !line.starts_with('{')).count(), 2, "{json}");
    let added = "{\"side\":\"local\",\"changes\":[\"added\"],\"new\":{\"file\":\"notes.txt\"}}";
    assert!(json.contains(added) && json.contains("{\"side\":\"upstream\","), "{json}");
    remote.ok("rm shop/notes.txt");
    remote.write("shop/deployment.yaml", DEPLOYMENT);
    assert_eq!(remote.ok("krm pkg diff shop"), "");
    assert_eq!(remote.ok("krm pkg diff shop -o json"), "[]\n");
}

#[test]
fn status_tells_origin_distance_and_changes() {
    let remote = edited();
    remote.ok("sed -i 's/ref: v1/ref: main/' shop/Kptfile");
    remote.commit("v3", &[("other/a.yaml", "a: 3\n")]);
    let status = remote.ok("krm pkg status");
    let expected = [
        "shop",
        "  upstream: file://",
        "  version: main (",
        "  newest: ",
        "  local changes: deployment.yaml",
    ];
    assert_eq!(status.lines().count(), expected.len(), "{status}");
    for (line, start) in status.lines().zip(expected) {
        assert!(line.starts_with(start), "{status}");
    }
    assert!(status.contains(", 2 commits ahead\n"), "{status}");
    let json = remote.ok("krm pkg status shop -o json");
    assert!(
        json.contains("\"ahead\":2")
            && json.contains("\"newer\":true")
            && json.contains("\"changed\":[\"deployment.yaml\"]"),
        "{json}"
    );
    remote.ok("krm pkg update -q shop");
    assert!(remote.ok("krm pkg status").contains("  newest: up to date\n"));
    assert!(!remote.ok("krm pkg status --offline").contains("newest"));
}
