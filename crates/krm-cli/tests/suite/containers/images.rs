//! The images of the tests in the store of krm: pushed to a real registry, and pulled from it.

use std::collections::BTreeMap;
use std::fs;
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use krm_oci::{Client, Descriptor, Digest, Manifest, Platform, Reference};

use super::{DEVICES, LABELS, RUN_SCRIPT, SHELL, SHOW_DEVICES, root};
use crate::sandbox::{Sandbox, skipped};

/// A registry that ends with the test.
pub(super) struct Registry {
    process: Child,
    pub(super) host: String,
    _directory: tempfile::TempDir,
}

impl Registry {
    pub(super) fn start() -> Result<Self, String> {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let is_installed =
            |name: &&str| std::env::split_paths(&path).any(|it| it.join(name).is_file());
        let program = ["docker-registry", "registry"].into_iter().find(is_installed);
        let program = program.ok_or("docker-registry is not installed")?;
        let directory = tempfile::tempdir().unwrap();
        // A port that is free now; another process could take it before the registry does.
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let host = format!("127.0.0.1:{port}");
        let config = format!(
            "version: 0.1\nlog: {{level: error}}\nstorage: {{filesystem: {{rootdirectory: {}}}}}\nhttp: {{addr: {host}}}\n",
            directory.path().join("data").display()
        );
        let file = directory.path().join("config.yml");
        fs::write(&file, config).unwrap();
        let mut command = Command::new(program);
        command.arg("serve").arg(file).stdout(Stdio::null()).stderr(Stdio::null());
        let process = command.spawn().unwrap();
        let registry = Self { process, host, _directory: directory };
        let start = Instant::now();
        while TcpStream::connect(&registry.host).is_err() {
            assert!(start.elapsed() < Duration::from_secs(60), "the registry does not start");
            std::thread::sleep(Duration::from_millis(20));
        }
        Ok(registry)
    }

    /// Pushes a directory as an image with one layer, and returns its digest. `config` are fields of its process.
    pub(super) fn push(&self, name: &str, root: &Path, config: &str) -> String {
        let archive =
            Command::new("tar").arg("-C").arg(root).args(["-cf", "-", "."]).output().unwrap();
        assert!(archive.status.success());
        self.push_layer(name, &archive.stdout, config)
    }

    pub(super) fn push_layer(&self, name: &str, layer: &[u8], config: &str) -> String {
        let reference = Reference::parse(&format!("{}/{name}", self.host)).unwrap();
        let config = format!(
            r#"{{"architecture":"{}","os":"linux","config":{{{config}}},"rootfs":{{"type":"layers","diff_ids":["{}"]}}}}"#,
            Platform::current().architecture,
            Digest::of(layer)
        );
        let client = Client::default();
        client.push_blob(&reference, layer).unwrap();
        client.push_blob(&reference, config.as_bytes()).unwrap();
        let manifest = Manifest {
            schema_version: 2,
            media_type: Some("application/vnd.oci.image.manifest.v1+json".to_owned()),
            config: Descriptor::of("application/vnd.oci.image.config.v1+json", config.as_bytes()),
            layers: vec![Descriptor::of("application/vnd.oci.image.layer.v1.tar", layer)],
            annotations: BTreeMap::new(),
        };
        client.push_manifest(&reference, &manifest).unwrap().to_string()
    }
}

impl Drop for Registry {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// The store that all tests share.
struct Images {
    runtimes: Vec<&'static str>,
    has_groups: bool,
    /// By image.
    digests: BTreeMap<&'static str, String>,
}

fn images() -> &'static Images {
    static IMAGES: OnceLock<Images> = OnceLock::new();
    IMAGES.get_or_init(|| {
        prepare().unwrap_or_else(|why| {
            // Not every machine allows namespaces, so that is required by a variable of its own.
            let is_required = std::env::var_os("KRM_REQUIRE_SANDBOX").is_some();
            assert!(!is_required, "images cannot run without an engine: {why}");
            skipped("images without an engine", &why);
            Images { runtimes: Vec::new(), has_groups: false, digests: BTreeMap::new() }
        })
    })
}

/// Runtimes without an engine that work here.
pub(super) fn runtimes() -> &'static [&'static str] {
    &images().runtimes
}

pub(super) fn has_groups() -> bool {
    images().has_groups
}

/// The directory of the store, which stays until the next test run.
pub(super) fn store() -> String {
    directory().display().to_string()
}

fn directory() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("images-{}", std::process::id()))
}

pub(super) fn with_digest(image: &str) -> String {
    let repository = image.rsplit_once(':').map_or(image, |(repository, _)| repository);
    format!("{repository}@{}", images().digests[image])
}

/// Pulls the images from a registry, which stands in for example.com as its mirror.
fn prepare() -> Result<Images, String> {
    let sandbox = Sandbox::new();
    let doctor = sandbox.run("krm fn doctor");
    let works = |name: &str| doctor.stdout.contains(&format!("{name}: works"));
    let runtimes: Vec<&str> = ["krm", "bubblewrap"].into_iter().filter(|it| works(it)).collect();
    if runtimes.is_empty() {
        return Err(doctor.stdout);
    }
    remove_old_stores();
    let registry = Registry::start()?;
    let root = root()?;
    sandbox.write("a/a.yaml", super::RESOURCE.as_bytes());
    let mut digests = BTreeMap::new();
    for (image, command) in [(SHELL, RUN_SCRIPT), (LABELS, RUN_SCRIPT), (DEVICES, SHOW_DEVICES)] {
        let name = image.strip_prefix("example.com/").unwrap();
        let digest = registry.push(name, root.path(), &format!(r#""Cmd":{command}"#));
        digests.insert(image, digest);
        let (store, host, runtime) = (store(), &registry.host, runtimes[0]);
        let pulled = sandbox.run(&format!(
            "KRM_IMAGE_STORE='{store}' KRM_REGISTRY_MIRRORS=example.com={host} krm fn eval a --runtime {runtime} --no-builtin -i {image} -e DO=cat",
        ));
        assert_eq!(pulled.exit, 0, "{}", pulled.stderr);
    }
    let has_groups = doctor.stdout.contains("limited by a control group");
    Ok(Images { runtimes, has_groups, digests })
}

/// Removes the stores of earlier test runs.
fn remove_old_stores() {
    let entries = fs::read_dir(env!("CARGO_TARGET_TMPDIR")).into_iter().flatten().flatten();
    for entry in entries {
        let name = entry.file_name().to_string_lossy().into_owned();
        let is_gone = |pid: &str| !Path::new("/proc").join(pid).exists();
        if name.strip_prefix("images-").is_some_and(is_gone) {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}
