//! The result cache: the same bytes as without it, whatever happens to its files.

use std::fs;
use std::path::{Path, PathBuf};

use crate::sandbox::{Output, Sandbox};
use crate::wasm::shop;

const EVAL: &str = "krm fn eval shop --wasm shop/rename.wasm -v";

fn found(ran: &Output) -> Option<&str> {
    ran.stderr.lines().find(|line| line.starts_with("result cache: "))
}

/// The entries of the cache.
fn entries(sandbox: &Sandbox) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut directories = vec![sandbox.cache().join("results")];
    while let Some(directory) = directories.pop() {
        for entry in fs::read_dir(&directory).into_iter().flatten() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => directories.push(path),
                false if path.file_name().unwrap() == "usage" => {}
                false => found.push(path),
            }
        }
    }
    found.sort();
    found
}

fn diff(sandbox: &Sandbox, flags: &str) -> Output {
    sandbox.run(&format!("{EVAL} --diff {flags}"))
}

#[test]
fn second_run_uses_the_result_of_the_first() {
    let Some(sandbox) = shop() else { return };
    let [first, second, off] = ["", "", "--cache off"].map(|flags| diff(&sandbox, flags));
    assert_eq!(found(&first), Some("result cache: 0 results found, 1 not found"));
    assert_eq!(found(&second), Some("result cache: 1 result found, 0 not found"));
    assert_eq!(found(&off), None);
    assert!(first.stdout.contains("+  name: b # mine"), "{}", first.stdout);
    assert_eq!((&first.stdout, first.exit), (&second.stdout, second.exit));
    assert_eq!((&first.stdout, first.exit), (&off.stdout, off.exit));
    assert!(sandbox.run(EVAL).exit == 0 && sandbox.files()["shop/a.yaml"].contains("name: b"));
}

#[test]
fn everything_that_the_result_depends_on_is_in_the_key() {
    let Some(sandbox) = shop() else { return };
    let missing = Some("result cache: 0 results found, 1 not found");
    let flags =
        ["", "-e A=1", "-e A=2", "-e B=1", "--timeout 9s", "--memory 1g", "-- a=b", "-- a=c"];
    for flags in flags {
        assert_eq!(found(&diff(&sandbox, flags)), missing, "{flags}");
    }
    let resource = fs::read_to_string(sandbox.path().join("shop/a.yaml")).unwrap();
    sandbox.write("shop/a.yaml", resource.replace("mine", "ours").as_bytes());
    assert_eq!(found(&diff(&sandbox, "")), missing, "a comment is part of the input");
    let mut module = fs::read(sandbox.path().join("shop/rename.wasm")).unwrap();
    // An empty custom section, so that the module is the same program with other bytes.
    module.extend_from_slice(b"\0\x02\x01x");
    sandbox.write("shop/rename.wasm", &module);
    assert_eq!(found(&diff(&sandbox, "")), missing, "another module");
}

#[test]
fn another_build_of_the_same_version_finds_no_results() {
    let Some(sandbox) = shop() else { return };
    diff(&sandbox, "");
    let copy = sandbox.run("mkdir bin && cp --preserve=timestamps $(command -v krm) bin/krm");
    assert_eq!(copy.exit, 0, "{}", copy.stderr);
    let with_copy = || sandbox.run(&format!("PATH=$PWD/bin:$PATH; {EVAL} --diff"));
    assert_eq!(found(&with_copy()), Some("result cache: 1 result found, 0 not found"));
    sandbox.run("touch -d 2020-01-01 bin/krm");
    assert_eq!(found(&with_copy()), Some("result cache: 0 results found, 1 not found"));
}

#[test]
fn modes_read_write_or_neither() {
    let Some(sandbox) = shop() else { return };
    for mode in ["off", "read"] {
        diff(&sandbox, &format!("--cache {mode}"));
        assert_eq!(entries(&sandbox), Vec::<PathBuf>::new(), "{mode}");
    }
    diff(&sandbox, "");
    let stored = entries(&sandbox);
    // The result, and that the module can be read.
    assert_eq!(stored.len(), 2);
    let read = diff(&sandbox, "--cache read");
    assert_eq!(found(&read), Some("result cache: 1 result found, 0 not found"));
    let verified = diff(&sandbox, "--cache verify");
    assert_eq!((verified.exit, entries(&sandbox)), (0, stored));
}

#[test]
fn impure_function_is_an_error_of_verify() {
    let Some(sandbox) = shop() else { return };
    let flags = "--cache verify -e CLOCK=1";
    assert_eq!(diff(&sandbox, flags).exit, 0);
    let second = diff(&sandbox, flags);
    let message = "function `shop/rename.wasm` failed: returned another output than the cached one for the same input";
    assert!(second.stderr.contains(message), "{}", second.stderr);
    assert!(second.stderr.contains("use `--cache off` for this function"), "{}", second.stderr);
    assert_eq!(second.exit, 4);
}

#[test]
fn failures_and_commands_are_not_stored() {
    let Some(sandbox) = shop() else { return };
    assert_eq!(diff(&sandbox, "-e SPAM=0").exit, 4);
    assert_eq!(entries(&sandbox).len(), 1, "only that the module can be read");
    let ran = sandbox.run("krm fn eval shop --exec cat -v; krm fn eval shop --exec cat -v");
    assert_eq!((ran.exit, found(&ran)), (0, None));
    assert_eq!(entries(&sandbox).len(), 1);
}

#[test]
fn damaged_entries_are_replaced() {
    let Some(sandbox) = shop() else { return };
    let first = diff(&sandbox, "");
    let damages: [fn(&Path); 4] = [
        |path| fs::write(path, "").unwrap(),
        |path| fs::write(path, &fs::read(path).unwrap()[..50]).unwrap(),
        |path| {
            let mut bytes = fs::read(path).unwrap();
            let middle = bytes.len() / 2;
            bytes[middle] ^= 1;
            fs::write(path, bytes).unwrap();
        },
        |path| {
            fs::remove_file(path).unwrap();
            fs::create_dir(path).unwrap();
        },
    ];
    for (at, damage) in damages.into_iter().enumerate() {
        entries(&sandbox).iter().for_each(|path| damage(path));
        let ran = diff(&sandbox, "");
        assert_eq!((&ran.stdout, ran.exit), (&first.stdout, first.exit), "damage {at}");
        assert_eq!(found(&ran), Some("result cache: 0 results found, 1 not found"), "damage {at}");
    }
}

#[test]
fn entries_of_other_inputs_are_not_used() {
    let Some(sandbox) = shop() else { return };
    let one = diff(&sandbox, "");
    let before = entries(&sandbox);
    sandbox
        .write("shop/a.yaml", b"apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a # yours\n");
    let two = diff(&sandbox, "");
    let results: Vec<PathBuf> =
        entries(&sandbox).into_iter().filter(|it| !before.contains(it)).collect();
    assert_ne!(one.stdout, two.stdout);
    // The result for the first input, under the key of the second.
    for path in &before {
        fs::copy(path, &results[0]).unwrap();
        assert_eq!(diff(&sandbox, "").stdout, two.stdout);
    }
}

#[test]
fn processes_share_the_cache() {
    let Some(sandbox) = shop() else { return };
    let one = diff(&sandbox, "--cache off");
    let ran = sandbox.run(&format!(
        "for i in 1 2 3 4; do {EVAL} --diff > $i.out 2>/dev/null & done; wait; cat ?.out"
    ));
    assert_eq!(ran.stdout, one.stdout.repeat(4));
    assert_eq!(entries(&sandbox).len(), 2);
}

#[test]
fn cache_that_others_can_write_to_is_not_used() {
    let Some(sandbox) = shop() else { return };
    let directory = sandbox.cache().join("results");
    fs::create_dir(&directory).unwrap();
    let permissions = std::os::unix::fs::PermissionsExt::from_mode(0o777);
    fs::set_permissions(&directory, permissions).unwrap();
    let ran = diff(&sandbox, "");
    assert!(ran.stderr.contains("warning[cache-not-private]: "), "{}", ran.stderr);
    assert_eq!((ran.exit, entries(&sandbox).len()), (0, 0));
}

#[test]
fn unusable_cache_is_not_an_error() {
    let Some(sandbox) = shop() else { return };
    sandbox.write("file", b"");
    for directory in ["", "/proc/none", "$PWD/file"] {
        let ran = sandbox.run(&format!("export KRM_CACHE_DIR={directory}; {EVAL} --diff"));
        assert_eq!(ran.exit, 0, "{directory}: {}", ran.stderr);
        assert!(ran.stdout.contains("+  name: b"), "{directory}");
    }
}

#[test]
fn statistics_and_pruning() {
    let Some(sandbox) = shop() else { return };
    diff(&sandbox, "");
    let stats = sandbox.run("krm cache stats -o json");
    assert!(stats.stdout.contains(r#"{"part":"results","entries":2,"#), "{}", stats.stdout);
    let kept = sandbox.run("krm cache prune");
    assert!(kept.stderr.contains("results: removed 0 entries, 0 bytes\n"), "{}", kept.stderr);
    let pruned = sandbox.run("krm cache prune --max-size 0");
    assert!(pruned.stderr.contains("results: removed 2 entries, "), "{}", pruned.stderr);
    assert_eq!((pruned.exit, entries(&sandbox).len()), (0, 0));
}

#[cfg(feature = "oci")]
#[test]
fn part_that_cannot_be_pruned_does_not_keep_the_others() {
    let sandbox = Sandbox::new();
    let ran = sandbox.run(
        "mkdir -p images/blobs images/lock; KRM_IMAGE_STORE=images krm cache prune --max-size 0",
    );
    assert_eq!(ran.exit, 3, "{}", ran.stderr);
    assert!(ran.stderr.contains("error[image-store-error]"), "{}", ran.stderr);
    for part in ["results", "git"] {
        assert!(ran.stderr.contains(&format!("{part}: removed 0 entries")), "{}", ran.stderr);
    }
}
