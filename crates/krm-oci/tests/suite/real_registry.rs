//! A real registry: Debian's `docker-registry`, with and without passwords, read by a real `skopeo`.

use std::collections::BTreeMap;
use std::fs;
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use krm_oci::{
    ArchiveLimits, Client, ClientSettings, Control, Credentials, ImageLimits, OciKind, PackageFile,
    Platform, REVISION, Reference, SOURCE, Store,
};

/// A registry process, ended on drop.
struct Registry {
    child: Child,
    host: String,
    directory: tempfile::TempDir,
}

impl Registry {
    /// Starts the registry; none with a message if it is not installed.
    fn start(htpasswd: Option<&str>) -> Option<Self> {
        let program = ["docker-registry", "registry"].into_iter().find(|name| exists(name));
        let Some(program) = program else {
            skip("docker-registry is not installed");
            return None;
        };
        let directory = tempfile::tempdir().unwrap();
        // A port that is free now; another process could take it before the registry does.
        let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let host = format!("127.0.0.1:{port}");
        let auth = htpasswd.map_or(String::new(), |line| {
            let file = directory.path().join("htpasswd");
            fs::write(&file, line).unwrap();
            format!("auth: {{htpasswd: {{realm: test, path: {}}}}}\n", file.display())
        });
        let config = format!(
            "version: 0.1\nlog: {{level: error}}\nstorage: {{filesystem: {{rootdirectory: {}}}}}\nhttp: {{addr: {host}}}\n{auth}",
            directory.path().join("data").display()
        );
        let file = directory.path().join("config.yml");
        fs::write(&file, config).unwrap();
        let mut command = Command::new(program);
        command.arg("serve").arg(&file).stdout(Stdio::null()).stderr(Stdio::null());
        let registry = Self { child: command.spawn().unwrap(), host, directory };
        let start = Instant::now();
        while TcpStream::connect(&registry.host).is_err() {
            assert!(start.elapsed() < Duration::from_secs(30), "the registry does not start");
            std::thread::sleep(Duration::from_millis(20));
        }
        Some(registry)
    }

    fn reference(&self, name: &str) -> Reference {
        Reference::parse(&format!("{}/{name}", self.host)).unwrap()
    }
}

impl Drop for Registry {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn exists(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|directory| directory.join(program).is_file())
}

/// Skips a test with a message, which is a failure where the registry is required.
fn skip(reason: &str) {
    assert!(std::env::var_os("KRM_REQUIRE_REGISTRY").is_none(), "{reason}");
    eprintln!("skipped: {reason}");
}

/// Runs skopeo without a policy, as a freshly installed one has none.
fn skopeo(arguments: &[&str], directory: &Path) -> Option<String> {
    if !exists("skopeo") {
        skip("skopeo is not installed");
        return None;
    }
    let policy = directory.join("policy.json");
    fs::write(&policy, r#"{"default":[{"type":"insecureAcceptAnything"}]}"#).unwrap();
    let mut command = Command::new("skopeo");
    let output = command.arg("--policy").arg(&policy).args(arguments).output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "skopeo {arguments:?}: {stderr}");
    Some(String::from_utf8(output.stdout).unwrap())
}

fn files() -> Vec<PackageFile> {
    let file = |path: &str, data: &str, executable| PackageFile {
        path: path.to_owned(),
        data: data.as_bytes().to_vec(),
        executable,
    };
    vec![
        file("Kptfile", "kind: Kptfile\n", false),
        file("db/statefulset.yaml", "kind: StatefulSet\n", false),
        file("scripts/check.sh", "#!/bin/sh\n", true),
    ]
}

#[test]
fn package_is_pushed_and_read_by_us_and_by_skopeo() {
    let Some(registry) = Registry::start(None) else { return };
    let reference = registry.reference("team/shop:v1");
    let annotations = BTreeMap::from([
        (SOURCE.to_owned(), "https://example.com/shop.git".to_owned()),
        (REVISION.to_owned(), "main@sha1:abc".to_owned()),
    ]);
    let client = Client::default();
    let digest = client.push_package(&reference, &files(), &annotations).unwrap();
    assert_eq!(krm_oci::package_digest(&files(), &annotations).unwrap(), digest);
    let again = client.push_package(&reference.with_tag("v2").unwrap(), &files(), &annotations);
    assert_eq!(again.unwrap(), digest, "the same files are the same digest");
    assert_eq!(client.resolve(&reference).unwrap(), digest);
    let mut tags = client.tags(&reference).unwrap();
    tags.sort();
    assert_eq!(tags, ["v1", "v2"]);
    let limits = ArchiveLimits::of_package();
    let pulled = client.pull_package(&reference.with_digest(&digest), &limits).unwrap();
    assert_eq!((pulled.files, pulled.annotations), (files(), annotations));
    let missing = client.pull_package(&registry.reference("team/none:v1"), &limits).unwrap_err();
    assert!(matches!(missing, OciKind::NotFound { .. }), "{missing}");

    let name = format!("docker://{reference}");
    let directory = registry.directory.path();
    let Some(raw) = skopeo(&["inspect", "--raw", "--tls-verify=false", &name], directory) else {
        return;
    };
    assert!(raw.contains("application/vnd.cncf.flux.content.v1.tar+gzip"), "{raw}");
    assert!(raw.contains(r#""org.opencontainers.image.revision":"main@sha1:abc""#), "{raw}");
    let layout = format!("oci:{}:v1", directory.join("layout").display());
    skopeo(&["copy", "--src-tls-verify=false", &name, &layout], directory);
    let blobs = fs::read_dir(directory.join("layout/blobs/sha256")).unwrap().count();
    assert_eq!(blobs, 3);
}

#[test]
fn password_of_docker_login_opens_a_private_registry() {
    // `me:secret`, hashed with bcrypt at the lowest cost.
    let line = "me:$2y$04$MHVTSVG90haHd6JnJ.RsJuV42g7g6DWljUT2kxtH.NRzZKnElfLh6\n";
    let Some(registry) = Registry::start(Some(line)) else { return };
    let reference = registry.reference("team/shop:v1");
    let error = Client::default().push_package(&reference, &files(), &BTreeMap::new()).unwrap_err();
    assert!(matches!(error, OciKind::Unauthorized { .. }), "{error}");
    let config = format!(r#"{{"auths":{{"{}":{{"auth":"bWU6c2VjcmV0"}}}}}}"#, registry.host);
    fs::write(registry.directory.path().join("config.json"), config).unwrap();
    let environment = [("DOCKER_CONFIG".into(), registry.directory.path().into())];
    let credentials = Credentials::from_environment(environment);
    let client = Client::new(ClientSettings { credentials, ..ClientSettings::default() });
    client.push_package(&reference, &files(), &BTreeMap::new()).unwrap();
    let pulled = client.pull_package(&reference, &ArchiveLimits::of_package()).unwrap();
    assert_eq!(pulled.files, files());
}

/// Images that skopeo copies, with all compressions that registries have.
#[cfg(unix)]
#[test]
fn image_of_another_tool_is_pulled_and_unpacked() {
    let Some(registry) = Registry::start(None) else { return };
    let directory = registry.directory.path();
    let layout = directory.join("image");
    image_layout(&layout);
    for compression in ["gzip", "zstd"] {
        let reference = registry.reference(&format!("team/fn:{compression}"));
        let source = format!("oci:{}:v1", layout.display());
        let target = format!("docker://{reference}");
        let format = ["copy", "--dest-tls-verify=false", "--dest-compress-format", compression];
        let arguments = [&format[..], &["--format", "oci", &source, &target]].concat();
        if skopeo(&arguments, directory).is_none() {
            return;
        }
        let store = Store::open(&directory.join(format!("store-{compression}"))).unwrap();
        let client = Client::default();
        let image = krm_oci::pull(&client, &store, &reference, &Platform::current()).unwrap();
        let limits = ImageLimits::default();
        let root =
            store.unpack(&image.layers, &image.config, &limits, &Control::default()).unwrap();
        let content = fs::read(root.join("etc/hello")).unwrap();
        assert_eq!(content.len(), 100_000, "{:?}", image.layers[0].media_type);
    }
}

/// Writes an image with one uncompressed layer as a directory that skopeo reads.
fn image_layout(directory: &Path) {
    let mut builder = tar::Builder::new(Vec::new());
    let mut header = tar::Header::new_gnu();
    header.set_size(100_000);
    header.set_mode(0o644);
    builder.append_data(&mut header, "etc/hello", &vec![b'h'; 100_000][..]).unwrap();
    let layer = builder.into_inner().unwrap();
    fs::create_dir_all(directory.join("blobs/sha256")).unwrap();
    let add = |media_type: &str, bytes: &[u8]| {
        let descriptor = krm_oci::Descriptor::of(media_type, bytes);
        let digest = descriptor.digest().unwrap();
        fs::write(directory.join("blobs/sha256").join(digest.hex()), bytes).unwrap();
        serde_json::to_string(&descriptor).unwrap()
    };
    let layer_entry = add("application/vnd.oci.image.layer.v1.tar", &layer);
    let platform = Platform::current();
    let config = format!(
        r#"{{"architecture":"{}","os":"linux","config":{{}},"rootfs":{{"type":"layers","diff_ids":["{}"]}}}}"#,
        platform.architecture,
        krm_oci::Digest::of(&layer)
    );
    let config = add("application/vnd.oci.image.config.v1+json", config.as_bytes());
    let manifest = format!(
        r#"{{"schemaVersion":2,"mediaType":"application/vnd.oci.image.manifest.v1+json","config":{config},"layers":[{layer_entry}]}}"#
    );
    let manifest = add("application/vnd.oci.image.manifest.v1+json", manifest.as_bytes());
    let manifest =
        manifest.replacen('{', r#"{"annotations":{"org.opencontainers.image.ref.name":"v1"},"#, 1);
    fs::write(directory.join("oci-layout"), r#"{"imageLayoutVersion":"1.0.0"}"#).unwrap();
    let index = format!(r#"{{"schemaVersion":2,"manifests":[{manifest}]}}"#);
    fs::write(directory.join("index.json"), index).unwrap();
}
