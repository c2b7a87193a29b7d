//! Hostile and ordinary layers: what they leave in the root, and that nothing outside of it changes.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};

use proptest::prelude::*;

use super::*;
use crate::archive::tests::raw;

/// The root, with a file beside it that no layer may touch.
struct Root {
    temporary: tempfile::TempDir,
}

impl Root {
    fn new() -> Self {
        let temporary = tempfile::tempdir().unwrap();
        fs::create_dir(temporary.path().join("root")).unwrap();
        fs::write(temporary.path().join("secret"), "secret").unwrap();
        Self { temporary }
    }

    fn path(&self, path: &str) -> std::path::PathBuf {
        self.temporary.path().join("root").join(path)
    }

    fn unpack(&self, layers: &[Vec<u8>]) -> Result<(), OciKind> {
        let limits = ArchiveLimits { bytes: 1 << 20, entries: 200, ..ArchiveLimits::default() };
        unpack_layers(layers.iter().map(Vec::as_slice), &self.path(""), &limits)
    }

    /// Everything outside of the root is as it was.
    fn check_outside(&self) {
        let mut names: Vec<_> = fs::read_dir(self.temporary.path())
            .unwrap()
            .map(|it| it.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        assert_eq!(names, ["root", "secret"]);
        let secret = self.temporary.path().join("secret");
        assert_eq!(fs::read_to_string(&secret).unwrap(), "secret");
        assert_eq!(fs::metadata(secret).unwrap().nlink(), 1);
    }

    /// All paths in the root, sorted.
    fn tree(&self) -> Vec<String> {
        fn walk(directory: &Path, root: &Path, paths: &mut Vec<String>) {
            for entry in fs::read_dir(directory).unwrap() {
                let entry = entry.unwrap();
                let path = entry.path();
                paths.push(path.strip_prefix(root).unwrap().display().to_string());
                if entry.file_type().unwrap().is_dir() {
                    walk(&path, root, paths);
                }
            }
        }
        let mut paths = Vec::new();
        walk(&self.path(""), &self.path(""), &mut paths);
        paths.sort();
        paths
    }
}

fn file(path: &str, data: &str) -> Vec<u8> {
    raw(b'0', path.as_bytes(), b"", 0o644, data.as_bytes())
}

fn link(kind: u8, path: &str, target: &str) -> Vec<u8> {
    raw(kind, path.as_bytes(), target.as_bytes(), 0o777, b"")
}

#[test]
fn layers_are_stacked() {
    let root = Root::new();
    let lower = [
        file("etc/a", "1"),
        file("etc/b", "1"),
        raw(b'5', b"bin", b"", 0o755, b""),
        raw(b'0', b"bin/tool", b"", 0o4755, b"#!"),
        link(b'2', "tool", "bin/tool"),
        link(b'1', "bin/same", "bin/tool"),
        raw(b'3', b"dev/null", b"", 0o666, b""),
        raw(b'5', b"closed", b"", 0o000, b""),
        file("closed/file", "x"),
    ]
    .concat();
    let upper = [file("etc/a", "2"), file("etc/.wh.b", ""), file("bin", "a file now")].concat();
    root.unpack(std::slice::from_ref(&lower)).unwrap();
    let mode = |path: &str| fs::metadata(root.path(path)).unwrap().permissions().mode() & 0o7777;
    assert_eq!(mode("bin/tool"), 0o755);
    assert_eq!(mode("closed"), 0o700);
    assert_eq!(fs::metadata(root.path("bin/tool")).unwrap().mtime(), 1_000_000_000);
    assert_eq!(fs::read_link(root.path("tool")).unwrap(), Path::new("bin/tool"));
    let root = Root::new();
    root.unpack(&[lower, upper]).unwrap();
    assert_eq!(root.tree(), ["bin", "closed", "closed/file", "etc", "etc/a", "tool"]);
    assert_eq!(fs::read_to_string(root.path("etc/a")).unwrap(), "2");
    root.check_outside();
}

#[test]
fn opaque_directories_hide_lower_layers_only() {
    let lower = [file("d/old", ""), file("d/sub/old", ""), file("e/kept", "")].concat();
    let marker = || file("d/.wh..wh..opq", "");
    for upper in [
        [file("d/new", ""), file("d/sub/new", ""), marker()].concat(),
        [marker(), file("d/new", ""), file("d/sub/new", "")].concat(),
    ] {
        let root = Root::new();
        root.unpack(&[lower.clone(), upper]).unwrap();
        assert_eq!(root.tree(), ["d", "d/new", "d/sub", "d/sub/new", "e", "e/kept"]);
    }
    let root = Root::new();
    let same_layer = [file("a", "kept"), file(".wh.a", "")].concat();
    root.unpack(&[file("a", "old"), same_layer]).unwrap();
    assert_eq!(fs::read_to_string(root.path("a")).unwrap(), "kept");
}

#[test]
fn symlinks_are_never_followed() {
    for layers in [
        vec![[link(b'2', "out", ".."), file("out/secret", "changed")].concat()],
        vec![link(b'2', "out", ".."), file("out/new", "x")],
        vec![link(b'2', "out", "/"), file("out/tmp/new", "x")],
        vec![link(b'2', "out", ".."), file("out/.wh.secret", "")],
        vec![link(b'2', "out", ".."), file("out/.wh..wh..opq", "")],
        vec![link(b'2', "out", ".."), link(b'1', "stolen", "out/secret")],
        vec![link(b'2', "out", ".."), raw(b'5', b"out/new", b"", 0o755, b"")],
        vec![link(b'1', "stolen", "../secret")],
        vec![link(b'1', "stolen", "/../secret")],
        vec![file("../secret", "changed")],
        vec![file("a", "x"), file("a/b", "below a file")],
        vec![link(b'1', "directory", "d"), raw(b'5', b"d", b"", 0o755, b"")],
        vec![link(b'1', "self", "self")],
        vec![link(b'1', "none", "missing")],
        vec![file("x/.wh...", "")],
    ] {
        let root = Root::new();
        let error = root.unpack(&layers).unwrap_err();
        assert!(matches!(error, OciKind::InvalidLayer { .. }), "{error}");
        root.check_outside();
    }
}

#[test]
fn files_replace_symlinks_instead_of_writing_through_them() {
    let root = Root::new();
    let layers = [
        [link(b'2', "a", "../secret"), file("a", "changed")].concat(),
        link(b'2', "b", "../secret"),
        file("b", "changed"),
        link(b'2', "c", ".."),
        raw(b'5', b"c", b"", 0o000, b""),
        [link(b'2', "d", "../secret"), link(b'1', "e", "d"), file("e", "changed")].concat(),
    ];
    root.unpack(&layers).unwrap();
    root.check_outside();
    assert_eq!(fs::read_to_string(root.path("a")).unwrap(), "changed");
    assert!(root.path("c").is_dir());
    assert!(fs::symlink_metadata(root.path("d")).unwrap().is_symlink());
}

#[test]
fn symlink_that_another_process_creates_is_refused() {
    let root = Root::new();
    symlink("..", root.path("swapped")).unwrap();
    assert!(root.unpack(&[file("swapped/secret", "x")]).is_err());
    assert!(root.unpack(&[file("swapped/.wh.secret", "")]).is_err());
    root.check_outside();
}

#[test]
fn limits_count_over_all_layers() {
    let root = Root::new();
    let layer: Vec<u8> = (0..90).flat_map(|at| file(&format!("f{at}"), "")).collect();
    root.unpack(&[layer.clone(), layer.clone()]).unwrap();
    let error = root.unpack(&[layer.clone(), layer.clone(), layer]).unwrap_err();
    assert!(matches!(error, OciKind::TooLarge { limit: 200, .. }), "{error}");
}

#[test]
fn directories_that_no_entry_lists_count() {
    let root = Root::new();
    let layer = |count: usize| -> Vec<u8> {
        let path = |at: usize| format!("d{at}/{}f", "x/".repeat(40));
        (0..count).flat_map(|at| file(&path(at), "")).collect()
    };
    root.unpack(&[layer(4)]).unwrap();
    let error = root.unpack(&[layer(100)]).unwrap_err();
    assert!(matches!(error, OciKind::TooLarge { limit: 200, .. }), "{error}");
    assert!(root.tree().len() < 300);
}

/// One entry of a random layer: few names, so that they collide.
fn entry() -> impl Strategy<Value = Vec<u8>> {
    let name = prop_oneof![
        Just("a"),
        Just("b"),
        Just(".."),
        Just("a/b"),
        Just("a/a"),
        Just("b/a"),
        Just("b/../a"),
        Just(".wh.a"),
        Just("a/.wh.b"),
        Just("a/.wh..wh..opq"),
        Just(".wh..wh..opq"),
        Just("/a"),
        Just("secret"),
        Just("a/secret"),
        Just(".wh.secret"),
        Just("b/.wh.secret"),
    ];
    let target = prop_oneof![
        Just(".."),
        Just("../secret"),
        Just("/"),
        Just("a"),
        Just("b"),
        Just("."),
        Just("a/b"),
        Just("/proc/self/root"),
        Just("secret"),
    ];
    let kind = prop_oneof![Just(b'0'), Just(b'1'), Just(b'2'), Just(b'5'), Just(b'3')];
    (kind, name, target, 0_u32..0o10000).prop_map(|(kind, name, target, mode)| {
        let (target, data) = match kind {
            b'0' => ("", &b"data"[..]),
            b'1' | b'2' => (target, &b""[..]),
            _ => ("", &b""[..]),
        };
        raw(kind, name.as_bytes(), target.as_bytes(), mode, data)
    })
}

proptest! {
    #[test]
    fn nothing_outside_of_the_root_changes(
        layers in proptest::collection::vec(proptest::collection::vec(entry(), 0..6), 1..4)
    ) {
        let root = Root::new();
        let layers: Vec<Vec<u8>> = layers.iter().map(|it| it.concat()).collect();
        let _ = root.unpack(&layers);
        root.check_outside();
    }

    #[test]
    fn damaged_layers_change_nothing_outside(at in 0_usize..4000, byte: u8) {
        let mut layer =
            [link(b'2', "out", ".."), file("a/b", "x"), link(b'1', "c", "a/b")].concat();
        let at = at % layer.len();
        layer[at] = byte;
        let root = Root::new();
        let _ = root.unpack(&[layer, file("out/secret", "changed")]);
        root.check_outside();
    }
}
