//! The cache that machines share (`--cache-server`): flags, a real bazel-remote, and servers that are dead, slow or wrong.

#[cfg(feature = "oci")]
mod bazel_remote;
#[cfg(feature = "oci")]
mod hostile_servers;

#[cfg(feature = "oci")]
use crate::sandbox::Sandbox;
use crate::wasm::shop;

const EVAL: &str = "krm fn eval shop --wasm shop/rename.wasm --diff -v";

#[cfg(feature = "oci")]
const KPTFILE: &str = "apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: NAME\npipeline:\n  mutators:\n  - wasm: rename.wasm\n";

/// How many packages `shops` has: more than the failures after which a server is not asked any more.
#[cfg(feature = "oci")]
const PACKAGES: usize = 8;

/// A directory of packages, each with a function.
#[cfg(feature = "oci")]
fn shops() -> Option<Sandbox> {
    let sandbox = shop()?;
    for number in 0..PACKAGES {
        let directory = format!("shops/{number}");
        sandbox.write(&format!("{directory}/Kptfile"), KPTFILE.replace("NAME", "shop").as_bytes());
        let resource = std::fs::read_to_string(sandbox.path().join("shop/a.yaml")).unwrap();
        let resource = resource.replace("mine", &format!("{number}"));
        sandbox.write(&format!("{directory}/a.yaml"), resource.as_bytes());
        let module = std::fs::read(sandbox.path().join("shop/rename.wasm")).unwrap();
        sandbox.write(&format!("{directory}/rename.wasm"), &module);
    }
    Some(sandbox)
}

/// The lines of the report about the caches.
#[cfg(feature = "oci")]
fn cache_lines(stderr: &str) -> Vec<&str> {
    let is_cache =
        |line: &&str| line.starts_with("result cache: ") || line.starts_with("shared cache: ");
    stderr.lines().filter(is_cache).collect()
}

#[cfg(not(feature = "oci"))]
#[test]
fn build_without_the_feature_rejects_a_server() {
    let Some(sandbox) = shop() else { return };
    let ran = sandbox.run(&format!("{EVAL} --cache-server http://127.0.0.1:1"));
    let message = "error[cache-server-not-built-in]: --cache-server needs the feature `oci`, and this krm was built without it\n";
    assert!(ran.stderr.contains(message), "{}", ran.stderr);
    assert_eq!(ran.exit, 2);
    let ran = sandbox.run(&format!("export KRM_CACHE_SERVER=http://127.0.0.1:1; {EVAL}"));
    assert!(ran.stderr.contains(": KRM_CACHE_SERVER needs the feature `oci`"), "{}", ran.stderr);
    let ran =
        sandbox.run(&format!("KRM_CACHE_SERVER=http://127.0.0.1:1 {EVAL} --cache-server off"));
    assert_eq!(ran.exit, 0, "{}", ran.stderr);
}

#[test]
fn upload_without_a_server_or_a_cache_is_an_error() {
    let Some(sandbox) = shop() else { return };
    let cases = [
        ("--cache-upload", "`--cache-upload` needs a server"),
        ("--cache-upload --cache-server off", "`--cache-upload` needs a server"),
        ("--cache-upload --cache read", "`--cache-upload` needs `--cache write` or `verify`"),
        ("--cache-upload --cache off", "`--cache-upload` needs `--cache write` or `verify`"),
    ];
    for (flags, message) in cases {
        let ran = sandbox.run(&format!("{EVAL} {flags}"));
        let message = format!("error[cache-upload-not-possible]: {message}\n");
        assert!(ran.stderr.contains(&message), "{flags}: {}", ran.stderr);
        assert_eq!(ran.exit, 2, "{flags}");
    }
    let ran = sandbox.run(&format!("KRM_CACHE_UPLOAD=yes {EVAL}"));
    let message = "error[invalid-cache-upload]: expected `true` or `false` in KRM_CACHE_UPLOAD, found `yes`\n";
    assert!(ran.exit == 2 && ran.stderr.contains(message), "{}", ran.stderr);
    // A variable is for many commands, of which some have no server.
    assert_eq!(sandbox.run(&format!("KRM_CACHE_UPLOAD=true {EVAL}")).exit, 0);
}

#[cfg(feature = "oci")]
#[test]
fn invalid_address_or_credentials_are_an_error_that_quotes_no_secret() {
    let Some(sandbox) = shop() else { return };
    let server = "--cache-server http://127.0.0.1:1";
    let cases = [
        (
            "",
            "--cache-server cache.example.com",
            "invalid-cache-server",
            "in --cache-server: expected an address that begins with",
        ),
        (
            "KRM_CACHE_SERVER=grpc://cache:9092",
            "",
            "invalid-cache-server",
            "in KRM_CACHE_SERVER: expected an address that begins with",
        ),
        (
            "",
            "--cache-server https://me:hunter2@cache",
            "invalid-cache-server",
            "expected an address without credentials",
        ),
        (
            "KRM_CACHE_USER=hunter2",
            server,
            "invalid-cache-credentials",
            "KRM_CACHE_USER is set without KRM_CACHE_PASSWORD",
        ),
        (
            "KRM_CACHE_PASSWORD=hunter2",
            server,
            "invalid-cache-credentials",
            "KRM_CACHE_PASSWORD is set without KRM_CACHE_USER",
        ),
        (
            "KRM_CACHE_TOKEN='hunter2 x'",
            server,
            "invalid-cache-credentials",
            "KRM_CACHE_TOKEN contains a space",
        ),
        (
            "KRM_CACHE_TOKEN=hunter2 KRM_CACHE_USER=me KRM_CACHE_PASSWORD=x",
            server,
            "invalid-cache-credentials",
            "KRM_CACHE_TOKEN is set together with",
        ),
    ];
    for (variables, flags, id, message) in cases {
        let ran = sandbox.run(&format!("{variables} {EVAL} {flags}"));
        assert!(ran.stderr.contains(id) && ran.stderr.contains(message), "{}", ran.stderr);
        assert!(!ran.stderr.contains("hunter2"), "{}", ran.stderr);
        assert_eq!(ran.exit, 2, "{}", ran.stderr);
    }
}

#[cfg(feature = "oci")]
#[test]
fn package_cannot_name_a_server() {
    use std::sync::atomic::{AtomicUsize, Ordering};
    let Some(sandbox) = shops() else { return };
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let server = format!("http://{}", listener.local_addr().unwrap());
    static CONNECTIONS: AtomicUsize = AtomicUsize::new(0);
    std::thread::spawn(move || {
        for _ in listener.incoming() {
            CONNECTIONS.fetch_add(1, Ordering::SeqCst);
        }
    });
    let config = format!("cacheServer: {server}\n");
    for name in [
        "shops/config.yaml",
        "shops/krm/config.yaml",
        "shops/.config/krm/config.yaml",
        "shops/.krm/config.yaml",
        "shops/krm.yaml",
    ] {
        sandbox.write(name, config.as_bytes());
    }
    let ran = sandbox.run("cd shops && krm fn render 1 --diff -v");
    assert_eq!(cache_lines(&ran.stderr), ["result cache: 0 results found, 1 not found"]);
    assert_eq!((ran.exit, CONNECTIONS.load(Ordering::SeqCst)), (0, 0), "{}", ran.stderr);
    // The same file as configuration of the user.
    let ran = sandbox.run("XDG_CONFIG_HOME=$PWD/shops/.config krm fn render shops/2 --diff -v");
    assert!(
        ran.stderr.contains(&format!("cannot use the shared cache `{server}`")),
        "{}",
        ran.stderr
    );
    assert!(ran.exit == 0 && CONNECTIONS.load(Ordering::SeqCst) > 0);
}
