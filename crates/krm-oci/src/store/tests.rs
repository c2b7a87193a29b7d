//! The store on a real directory: interrupted and concurrent writers, damage, limits.

use super::*;

fn store() -> (tempfile::TempDir, Store) {
    let directory = tempfile::tempdir().unwrap();
    let store = Store::open(&directory.path().join("store")).unwrap();
    (directory, store)
}

#[test]
fn blobs_are_found_by_digest() {
    let (_directory, store) = store();
    let digest = store.write(b"content").unwrap();
    assert_eq!(store.read(&digest, 100).unwrap().unwrap(), b"content");
    assert_eq!(store.write(b"content").unwrap(), digest);
    assert!(matches!(store.read(&digest, 3), Err(OciKind::TooLarge { limit: 3, .. })));
    assert_eq!(store.read(&Digest::of(b"other"), 100).unwrap(), None);
}

#[test]
fn damaged_blob_is_a_miss_and_removed() {
    let (_directory, store) = store();
    let digest = store.write(b"content").unwrap();
    fs::write(store.blob_path(&digest), "c0ntent").unwrap();
    assert_eq!(store.read(&digest, 100).unwrap(), None);
    assert!(!store.blob_path(&digest).exists());
}

#[test]
fn interrupted_download_continues_and_wrong_content_is_dropped() {
    let (_directory, store) = store();
    let descriptor = Descriptor::of("x", b"one two");
    let control = Control::default();
    let mut partial = store.partial(&descriptor, &control).unwrap().unwrap();
    partial.append(b"one").unwrap();
    drop(partial);
    let mut partial = store.partial(&descriptor, &control).unwrap().unwrap();
    assert_eq!(partial.length(), 3);
    partial.append(b" tw0").unwrap();
    assert!(matches!(partial.complete(), Err(OciKind::DigestMismatch { .. })));
    assert_eq!(partial.length(), 0);
    assert!(partial.append(b"one two three").is_err(), "more bytes than the blob has");
    partial.append(b"one two").unwrap();
    partial.complete().unwrap();
    drop(partial);
    assert!(store.partial(&descriptor, &control).unwrap().is_none());
}

#[test]
fn one_of_several_writers_stores_a_blob_and_all_see_it() {
    let (_directory, store) = store();
    let data = vec![7; 1 << 20];
    let descriptor = Descriptor::of("x", &data);
    let written = std::sync::atomic::AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                if let Some(mut partial) = store.partial(&descriptor, &Control::default()).unwrap()
                {
                    let start = usize::try_from(partial.length()).unwrap();
                    for chunk in data[start..].chunks(10_000) {
                        partial.append(chunk).unwrap();
                    }
                    partial.complete().unwrap();
                    written.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                }
                assert!(store.has_blob(&descriptor.digest().unwrap(), 1 << 20));
            });
        }
    });
    assert_eq!(written.into_inner(), 1);
}

#[test]
fn tags_are_remembered() {
    let (_directory, store) = store();
    let digest = Digest::of(b"x");
    assert_eq!(store.tag("a.io/b:v1"), None);
    store.set_tag("a.io/b:v1", &digest).unwrap();
    assert_eq!(store.tag("a.io/b:v1"), Some(digest));
    assert_eq!(store.tag("a.io/b:v2"), None);
}

#[test]
fn prune_removes_the_oldest_entries_and_staging() {
    let (directory, store) = store();
    let root = directory.path().join("store");
    let old = store.write(&[1; 1000]).unwrap();
    let recent = store.write(&[2; 1000]).unwrap();
    let long_ago = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000);
    File::open(store.blob_path(&old)).unwrap().set_modified(long_ago).unwrap();
    fs::create_dir_all(store.staging("left/behind")).unwrap();
    let busy = Store::prune(&root, 0, Duration::from_millis(50));
    assert!(matches!(busy, Err(OciKind::StoreBusy { .. })), "the store is open");
    drop(store);
    let pruned = Store::prune(&root, 1500, Duration::ZERO).unwrap();
    assert_eq!(pruned, Pruned { entries: 1, bytes: 1000, left: 1000 });
    let store = Store::open(&root).unwrap();
    assert!(!store.blob_path(&old).exists() && store.blob_path(&recent).exists());
    assert!(!store.staging("left").exists());
    assert_eq!(Store::prune(&root.join("none"), 0, Duration::ZERO).unwrap(), Pruned::default());
}

#[cfg(unix)]
mod unpacked {
    use super::*;
    use crate::ImageLimits;
    use crate::archive::tests::raw;
    use crate::manifest::{ImageConfig, RootFs};
    use std::io::Write;

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gzip.write_all(bytes).unwrap();
        gzip.finish().unwrap()
    }

    /// Puts an image with one layer into the store.
    fn image(store: &Store, archive: &[u8]) -> (Vec<Descriptor>, ImageConfig) {
        let layer = gzip(archive);
        store.write(&layer).unwrap();
        let media_type = "application/vnd.oci.image.layer.v1.tar+gzip";
        let diff_ids = vec![Digest::of(archive).to_string()];
        let rootfs = RootFs { kind: "layers".to_owned(), diff_ids };
        (vec![Descriptor::of(media_type, &layer)], ImageConfig { rootfs, ..ImageConfig::default() })
    }

    fn unpack(
        store: &Store,
        (layers, config): &(Vec<Descriptor>, ImageConfig),
    ) -> Result<PathBuf, OciKind> {
        store.unpack(layers, config, &ImageLimits::default(), &Control::default())
    }

    #[test]
    fn image_is_unpacked_once() {
        let (_directory, store) = store();
        let image = image(&store, &raw(b'0', b"bin/f", b"", 0o755, b"x"));
        let root = unpack(&store, &image).unwrap();
        assert_eq!(fs::read_to_string(root.join("bin/f")).unwrap(), "x");
        fs::write(root.join("mark"), "").unwrap();
        assert_eq!(unpack(&store, &image).unwrap(), root);
        assert!(root.join("mark").exists(), "it was not unpacked again");
    }

    #[test]
    fn failed_unpacking_leaves_nothing() {
        let (_directory, store) = store();
        let image = image(&store, &raw(b'0', b"../x", b"", 0o755, b"x"));
        assert!(unpack(&store, &image).is_err());
        assert_eq!(fs::read_dir(store.root.join("roots")).unwrap().count(), 0);
        let staged = fs::read_dir(store.root.join("staging")).unwrap();
        let staged: Vec<_> = staged.map(|it| it.unwrap().path()).collect();
        assert!(staged.iter().all(|path| path.is_file()), "{staged:?}");
    }

    #[test]
    fn digest_after_decompression_is_verified() {
        let (_directory, store) = store();
        let (layers, mut config) = image(&store, &raw(b'0', b"f", b"", 0o755, b"x"));
        config.rootfs.diff_ids = vec![Digest::of(b"other").to_string()];
        let error = unpack(&store, &(layers, config)).unwrap_err();
        assert!(matches!(error, OciKind::DigestMismatch { .. }), "{error}");
    }

    #[test]
    fn damaged_layer_is_removed_from_the_store() {
        let (_directory, store) = store();
        let image = image(&store, &raw(b'0', b"f", b"", 0o755, b"x"));
        let blob = store.blob_path(&image.0[0].digest().unwrap());
        let mut bytes = fs::read(&blob).unwrap();
        bytes[20] ^= 1;
        fs::write(&blob, bytes).unwrap();
        assert!(matches!(unpack(&store, &image), Err(OciKind::Store { .. })));
        assert!(!blob.exists());
    }

    #[test]
    fn read_only_store_is_used_as_it_is() {
        let (directory, store) = store();
        let image = image(&store, &raw(b'0', b"f", b"", 0o755, b"x"));
        let root = unpack(&store, &image).unwrap();
        let path = directory.path().join("store");
        drop(store);
        let store = Store { root: path, is_writable: false, _lock: None };
        assert_eq!(unpack(&store, &image).unwrap(), root);
        assert!(matches!(store.write(b"new"), Err(OciKind::StoreReadOnly { .. })));
    }

    #[test]
    fn what_a_killed_process_left_is_removed_by_the_next_one() {
        let (_directory, store) = store();
        let image = image(&store, &raw(b'0', b"f", b"", 0o755, b"x"));
        let name = Digest::of(image.1.rootfs.diff_ids.join("\n").as_bytes());
        fs::create_dir_all(store.staging(&format!("{}-dead/half", name.hex()))).unwrap();
        unpack(&store, &image).unwrap();
        assert!(!store.staging(&format!("{}-dead", name.hex())).exists());
    }
}
