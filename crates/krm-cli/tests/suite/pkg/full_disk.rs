//! Full disks during `krm pkg get` and `krm pkg update`: an error that names the file, and nothing half written.

use std::fs;

use super::repository::Remote;
use crate::disk_errors::Mount;

/// A manifest of this many bytes that git cannot compress.
fn noise(name: &str, bytes: usize) -> String {
    let mut state = name.bytes().fold(0x9e37_79b9_7f4a_7c15_u64, |state, byte| {
        state.wrapping_mul(31).wrapping_add(byte.into())
    });
    let mut text = format!("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {name}\ndata:\n");
    for line in 0.. {
        if text.len() > bytes {
            break;
        }
        text.push_str(&format!("  k{line}: \""));
        for _ in 0..8 {
            state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
            text.push_str(&format!("{:016x}", state ^ state >> 29));
        }
        text.push_str("\"\n");
    }
    text
}

/// A repository whose package has files of 300 kB altogether.
fn remote() -> Remote {
    let remote = Remote::new();
    let files: Vec<(String, String)> =
        (0..6).map(|at| (format!("shop/big{at}.yaml"), noise(&format!("n{at}"), 50_000))).collect();
    let files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (&**name, &**text)).collect();
    remote.commit("v2", &files);
    remote
}

#[test]
fn get_to_a_full_disk_leaves_nothing() {
    let remote = remote();
    let disk = remote.sandbox.path().join("disk");
    let Some(_mount) = Mount::new(&disk, "size=200k") else { return };
    let error = remote.fails(3, "krm pkg get up/shop@v2 disk/shop");
    assert!(error.starts_with("error[cannot-write]: disk/shop/big"), "{error}");
    assert!(error.contains("no space left on"), "{error}");
    let left: Vec<_> = fs::read_dir(&disk).unwrap().map(|it| it.unwrap().path()).collect();
    assert!(left.is_empty(), "{left:?}");
    // The cache is whole: the same version arrives where there is space, and a smaller one here.
    remote.ok("krm pkg get -q up/shop@v2 elsewhere && diff -r -x Kptfile up/shop elsewhere");
    remote.ok("krm pkg get -q up/shop@v1 disk/shop && krm pkg status disk/shop");
}

#[test]
fn update_on_a_full_disk_changes_nothing() {
    let remote = remote();
    let disk = remote.sandbox.path().join("disk");
    let Some(_mount) = Mount::new(&disk, "size=200k") else { return };
    remote.ok("krm pkg get -q up/shop@v1 disk/shop");
    let files = || {
        let all = remote.sandbox.files().into_iter();
        all.filter(|(name, _)| name.starts_with("disk/")).collect::<Vec<_>>()
    };
    let before = files();
    for strategy in ["resource-merge", "fast-forward", "force-delete-replace", "copy-merge"] {
        let line = format!("krm pkg update disk/shop@v2 --strategy {strategy}");
        let error = remote.fails(3, &line);
        assert!(error.contains("error[cannot-write]: disk/shop/"), "{strategy}: {error}");
        assert!(error.contains("no space left on"), "{strategy}: {error}");
        assert_eq!(files(), before, "{strategy}");
    }
    remote.ok("krm pkg get -q up/shop@v1 elsewhere && krm pkg update -q elsewhere@v2");
    remote.ok("diff -r -x Kptfile up/shop elsewhere");
}

#[test]
fn full_cache_is_an_error_and_is_used_again_once_there_is_space() {
    let remote = remote();
    let cache = remote.sandbox.path().join("cache");
    let Some(_mount) = Mount::new(&cache, "size=300k") else { return };
    fs::write(cache.join("filler"), vec![1; 200_000]).unwrap();
    let get = "KRM_CACHE_DIR=$PWD/cache krm pkg get -q up/shop@v2";
    let error = remote.fails(3, get);
    assert!(error.contains("o space left on"), "{error}");
    assert!(!remote.exists("shop"));
    fs::remove_file(cache.join("filler")).unwrap();
    remote.ok("mount -o remount,size=4m cache");
    remote.ok(&format!("{get} && diff -r -x Kptfile up/shop shop"));
}
