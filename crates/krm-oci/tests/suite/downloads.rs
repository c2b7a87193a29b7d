//! Downloads of blobs from servers that break off, ignore ranges or lie.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use krm_oci::{
    Client, ClientSettings, Control, Descriptor, ImageLimits, OciKind, Platform, Reference, Store,
    pull,
};

use crate::fake_registry::{FakeRegistry, Request, Response};

fn content() -> Vec<u8> {
    (0..300_000_u32).flat_map(u32::to_le_bytes).collect()
}

fn store() -> (tempfile::TempDir, Store) {
    let directory = tempfile::tempdir().unwrap();
    let store = Store::open(&directory.path().join("store")).unwrap();
    (directory, store)
}

fn download(registry: &FakeRegistry, store: &Store, content: &[u8]) -> Result<(), OciKind> {
    let reference = Reference::parse(&format!("{}/a/b:v1", registry.host)).unwrap();
    Client::default().download(&reference, &Descriptor::of("x", content), store)
}

/// The first byte that a request asks for.
fn start_of(request: &Request) -> usize {
    let range = request.header("range").and_then(|it| it.strip_prefix("bytes="));
    range.map_or(0, |it| it.trim_end_matches('-').parse().unwrap())
}

/// The rest of the content from the byte that was asked for.
fn rest(request: &Request, content: &[u8]) -> Response {
    match start_of(request) {
        0 => Response::of(200, content),
        start => Response::of(206, &content[start..]).header(
            "content-range",
            format!("bytes {start}-{}/{}", content.len() - 1, content.len()),
        ),
    }
}

#[test]
fn broken_download_continues_where_it_ended() {
    let registry = FakeRegistry::start(|request| Response {
        cut: Some(500_000).filter(|_| start_of(request) < 700_000),
        ..rest(request, &content())
    });
    let (_directory, store) = store();
    download(&registry, &store, &content()).unwrap();
    let descriptor = Descriptor::of("x", &content());
    let blob = store.blob_path(&descriptor.digest().unwrap());
    assert_eq!(std::fs::read(blob).unwrap(), content());
    let starts: Vec<usize> = registry.requests().iter().map(start_of).collect();
    assert_eq!(starts.len(), 3);
    assert!(starts[1] > 0 && starts[2] > starts[1], "{starts:?}");
    download(&registry, &store, &content()).unwrap();
    assert_eq!(registry.requests().len(), 3, "the blob is in the store");
}

#[test]
fn server_without_ranges_sends_everything_again() {
    let count = AtomicUsize::new(0);
    let registry = FakeRegistry::start(move |_| Response {
        cut: (count.fetch_add(1, Ordering::SeqCst) == 0).then_some(100_000),
        ..Response::of(200, content())
    });
    let (_directory, store) = store();
    download(&registry, &store, &content()).unwrap();
    assert_eq!(registry.requests().len(), 2);
}

#[test]
fn wrong_content_is_never_stored() {
    let mut wrong = content();
    wrong[7] ^= 1;
    let registry = FakeRegistry::start(move |request| rest(request, &wrong));
    let (_directory, store) = store();
    let error = download(&registry, &store, &content()).unwrap_err();
    assert!(matches!(error, OciKind::DigestMismatch { .. }), "{error}");
    let longer = FakeRegistry::start(|_| Response::of(200, [content(), vec![0]].concat()));
    let error = download(&longer, &store, &content()).unwrap_err();
    assert!(matches!(error, OciKind::TooLarge { .. }), "{error}");
    let blobs = std::fs::read_dir(store.path().join("blobs/sha256")).unwrap();
    assert_eq!(blobs.count(), 0);
}

#[test]
fn server_that_always_breaks_off_is_given_up() {
    let registry =
        FakeRegistry::start(|_| Response { cut: Some(0), ..Response::of(200, content()) });
    let (_directory, store) = store();
    let error = download(&registry, &store, &content()).unwrap_err();
    assert!(matches!(error, OciKind::Unreachable { .. }), "{error}");
}

#[test]
fn damaged_rest_of_an_earlier_download_is_fetched_again() {
    let registry = FakeRegistry::start(|request| rest(request, &content()));
    let (_directory, store) = store();
    let digest = Descriptor::of("x", &content()).digest().unwrap();
    let partial = store.path().join("staging").join(format!("{}.partial", digest.hex()));
    std::fs::write(partial, vec![9; 1000]).unwrap();
    download(&registry, &store, &content()).unwrap();
    let starts: Vec<usize> = registry.requests().iter().map(start_of).collect();
    assert_eq!(starts, [1000, 0]);
}

#[test]
fn several_downloads_of_a_blob_are_one() {
    let registry = FakeRegistry::start(|request| rest(request, &content()));
    let (_directory, store) = store();
    std::thread::scope(|scope| {
        for _ in 0..6 {
            scope.spawn(|| download(&registry, &store, &content()).unwrap());
        }
    });
    assert_eq!(registry.requests().len(), 1);
}

#[test]
fn transfer_is_observed_and_interrupted() {
    let registry = FakeRegistry::start(|request| rest(request, &content()));
    let (_directory, store) = store();
    let flag = Arc::new(AtomicBool::new(false));
    let (stop, seen) = (Arc::clone(&flag), Arc::new(Mutex::new(Vec::new())));
    let observed = Arc::clone(&seen);
    let control = Control::default().stopped_by(flag).observed_by(move |progress| {
        observed.lock().unwrap().push((progress.done, progress.total));
        stop.store(true, Ordering::SeqCst);
    });
    let client = Client::new(ClientSettings { control, ..ClientSettings::default() });
    let reference = Reference::parse(&format!("{}/a/b:v1", registry.host)).unwrap();
    let result = client.download(&reference, &Descriptor::of("x", &content()), &store);
    assert_eq!(result, Err(OciKind::Interrupted));
    let seen = seen.lock().unwrap();
    assert!(seen.len() == 1 && seen[0].0 > 0 && seen[0].1 == 1_200_000, "{seen:?}");
}

#[test]
fn registry_that_does_not_answer_is_left_soon_after_the_interrupt() {
    let registry = FakeRegistry::start(|_| {
        std::thread::sleep(Duration::from_secs(30));
        Response::of(200, "")
    });
    let (_directory, store) = store();
    let flag = Arc::new(AtomicBool::new(false));
    let control = Control::default().stopped_by(Arc::clone(&flag));
    let client = Client::new(ClientSettings { control, ..ClientSettings::default() });
    let reference = Reference::parse(&format!("{}/a/b:v1", registry.host)).unwrap();
    let start = Instant::now();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(Duration::from_millis(200));
            flag.store(true, Ordering::SeqCst);
        });
        let pulled = pull(&client, &store, &reference, &Platform::current());
        assert_eq!(pulled.map(|_| ()), Err(OciKind::Interrupted));
    });
    assert!(start.elapsed() < Duration::from_secs(10), "{:?}", start.elapsed());
    // What is asked for next does not even start.
    let result = client.download(&reference, &Descriptor::of("x", &content()), &store);
    assert_eq!(result, Err(OciKind::Interrupted));
}

/// A registry with an index, a manifest, a configuration and a layer.
fn image_registry() -> (FakeRegistry, usize) {
    let layer = {
        let mut builder = tar::Builder::new(Vec::new());
        let mut header = tar::Header::new_gnu();
        header.set_size(2);
        header.set_mode(0o755);
        builder.append_data(&mut header, "bin/tool", &b"#!"[..]).unwrap();
        builder.into_inner().unwrap()
    };
    let layer_digest = krm_oci::Digest::of(&layer);
    let config = format!(
        r#"{{"os":"linux","config":{{"Entrypoint":["/bin/tool"]}},"rootfs":{{"type":"layers","diff_ids":["{layer_digest}"]}}}}"#
    );
    let describe = |media_type: &str, bytes: &[u8]| {
        serde_json::to_string(&Descriptor::of(media_type, bytes)).unwrap()
    };
    let manifest = format!(
        r#"{{"schemaVersion":2,"config":{},"layers":[{}]}}"#,
        describe("application/vnd.oci.image.config.v1+json", config.as_bytes()),
        describe("application/vnd.oci.image.layer.v1.tar", &layer)
    );
    let platform = Platform::current();
    let mut entry =
        Descriptor::of("application/vnd.oci.image.manifest.v1+json", manifest.as_bytes());
    entry.platform = Some(platform);
    let index = format!(
        r#"{{"schemaVersion":2,"manifests":[{}]}}"#,
        serde_json::to_string(&entry).unwrap()
    );
    let blobs: Vec<Vec<u8>> =
        vec![layer, config.into_bytes(), manifest.into_bytes(), index.clone().into_bytes()];
    let registry = FakeRegistry::start(move |request| {
        let name = request.path.rsplit('/').next().unwrap();
        let found = blobs.iter().find(|it| krm_oci::Digest::of(it).to_string() == name);
        match (name, found) {
            ("v1", _) => Response::of(200, index.clone()),
            (_, Some(blob)) => Response::of(200, blob.clone()),
            _ => Response::of(404, ""),
        }
    });
    (registry, 4)
}

#[cfg(unix)]
#[test]
fn image_is_pulled_unpacked_and_found_without_a_network() {
    let (registry, requests) = image_registry();
    let (_directory, store) = store();
    let client = Client::default();
    let reference = Reference::parse(&format!("{}/a/b:v1", registry.host)).unwrap();
    let (platform, limits) = (Platform::current(), ImageLimits::default());
    assert!(krm_oci::find(&store, &reference, &platform, &limits).unwrap().is_none());
    let image = krm_oci::pull(&client, &store, &reference, &platform).unwrap();
    assert_eq!(registry.requests().len(), requests);
    let control = Control::default();
    let root = store.unpack(&image.layers, &image.config, &limits, &control).unwrap();
    assert_eq!(std::fs::read(root.join("bin/tool")).unwrap(), b"#!");
    let found = krm_oci::find(&store, &reference, &platform, &limits).unwrap().unwrap();
    assert_eq!(
        (found.digest.clone(), found.config.config.entrypoint),
        (image.digest, vec!["/bin/tool".to_owned()])
    );
    let by_digest = reference.with_digest(&found.digest);
    krm_oci::pull(&client, &store, &by_digest, &platform).unwrap();
    assert_eq!(registry.requests().len(), requests, "a digest in the store needs no registry");
    let other = Platform { architecture: "s390x".to_owned(), ..platform };
    let error = krm_oci::pull(&client, &store, &reference, &other).unwrap_err();
    assert!(matches!(error, OciKind::NoPlatform { .. }), "{error}");
}
