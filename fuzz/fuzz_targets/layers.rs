//! Layers and packages of any bytes: nothing outside of the root changes, and nothing panics.
#![no_main]

use std::fs;

use krm_oci::{ArchiveLimits, unpack_files, unpack_layers};
use libfuzzer_sys::fuzz_target;

const LIMITS: ArchiveLimits = ArchiveLimits { bytes: 1 << 20, entries: 200, path: 300, depth: 10 };

fuzz_target!(|bytes: &[u8]| {
    let _ = unpack_files(bytes, &LIMITS);
    let temporary = tempfile::tempdir().expect("a temporary directory");
    let (root, secret) = (temporary.path().join("root"), temporary.path().join("secret"));
    fs::create_dir(&root).expect("a directory");
    fs::write(&secret, "secret").expect("a file");
    // Two layers, so that the second one meets symlinks of the first.
    let blocks = bytes.len() / 512;
    let (lower, upper) = bytes.split_at(blocks / 2 * 512);
    let _ = unpack_layers([lower, upper], &root, &LIMITS);
    assert_eq!(fs::read_to_string(&secret).expect("the file is there"), "secret");
    let names = fs::read_dir(temporary.path()).expect("the directory is there");
    assert_eq!(names.count(), 2);
});
