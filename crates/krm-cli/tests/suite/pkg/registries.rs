//! Packages in a real registry: pushed, fetched, updated and locked, with every kind of authentication.
#![cfg(feature = "oci")]

use std::fs;
use std::io::{BufRead, BufReader};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use super::repository::{DEPLOYMENT, Remote};
use crate::sandbox::skipped;

/// `me:secret`, hashed with bcrypt at the lowest cost.
const HTPASSWD: &str = "me:$2y$04$MHVTSVG90haHd6JnJ.RsJuV42g7g6DWljUT2kxtH.NRzZKnElfLh6\n";

/// `me:secret` as `docker login` stores it.
const AUTH: &str = "bWU6c2VjcmV0";

/// A process that ends with the test.
struct Ended(Child);

impl Drop for Ended {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A registry, and a sandbox in which krm works with it.
struct Registry {
    remote: Remote,
    host: String,
    _process: Ended,
}

/// Skips a test with a message, which is a failure where the registry is required.
fn skip(program: &str) {
    assert!(std::env::var_os("KRM_REQUIRE_REGISTRY").is_none(), "{program} is not installed");
    skipped("krm pkg with a registry", &format!("{program} is not installed"));
}

fn is_installed(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|directory| directory.join(program).is_file())
}

impl Registry {
    /// Starts a registry; none with a message if a program is missing. `auth` is a part of its configuration.
    fn start(auth: &str) -> Option<Self> {
        let program = ["docker-registry", "registry"].into_iter().find(|name| is_installed(name));
        let Some(program) = program else {
            skip("docker-registry");
            return None;
        };
        let remote = Remote::new();
        let directory = remote.sandbox.path().to_owned();
        // A port that is free now; another process could take it before the registry does.
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let host = format!("127.0.0.1:{port}");
        let root = directory.display().to_string();
        let auth = auth.replace("ROOT", &root);
        let config = format!(
            "version: 0.1\nlog: {{level: error}}\nstorage: {{filesystem: {{rootdirectory: {root}/registry}}}}\nhttp: {{addr: {host}}}\n{auth}",
        );
        remote.write("config.yml", &config);
        remote.write("htpasswd", HTPASSWD);
        let mut command = Command::new(program);
        command.arg("serve").arg(directory.join("config.yml"));
        let process = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let registry = Self { remote, host, _process: Ended(process) };
        let start = Instant::now();
        while TcpStream::connect(&registry.host).is_err() {
            assert!(start.elapsed() < Duration::from_secs(60), "the registry does not start");
            std::thread::sleep(Duration::from_millis(20));
        }
        Some(registry)
    }

    /// A line in which `HOST` is the registry, with the configuration of docker in `docker`.
    fn line(&self, line: &str) -> String {
        let docker = "export DOCKER_CONFIG=$PWD/docker PATH=$PWD/bin:$PATH";
        format!("{docker}; {}", line.replace("HOST", &self.host))
    }

    fn ok(&self, line: &str) -> String {
        self.remote.ok(&self.line(line))
    }

    fn fails(&self, exit: i32, line: &str) -> String {
        self.remote.fails(exit, &self.line(line))
    }

    /// Pushes the package of the repository, and returns its digest.
    fn push(&self, tag: &str) -> String {
        let address = format!("oci://{}/team/shop:{tag}", self.host);
        let pushed = self.ok(&format!("krm pkg push -q up/shop {address}"));
        let digest = pushed.trim().strip_prefix(&format!("{address}@")).unwrap().to_owned();
        assert!(digest.starts_with("sha256:") && digest.len() == 71, "{digest}");
        digest
    }

    fn docker_config(&self, config: &str) {
        self.remote.write("docker/config.json", &config.replace("HOST", &self.host));
    }
}

#[test]
fn pushed_package_has_the_form_of_flux() {
    let Some(registry) = Registry::start("") else { return };
    let digest = registry.push("v1");
    assert_eq!(registry.push("v1"), digest, "the same files are the same digest");
    let preview = registry.ok("krm pkg push -q up/shop oci://HOST/team/shop:v9 --dry-run");
    assert!(preview.ends_with(&format!(":v9@{digest}\n")), "{preview}");
    if !is_installed("skopeo") {
        return skip("skopeo");
    }
    registry.remote.write("policy.json", r#"{"default":[{"type":"insecureAcceptAnything"}]}"#);
    let skopeo = "skopeo --policy policy.json";
    let tags =
        registry.ok(&format!("{skopeo} list-tags --tls-verify=false docker://HOST/team/shop"));
    assert!(tags.contains("\"v1\"") && !tags.contains("v9"), "{tags}");
    let raw = registry
        .ok(&format!("{skopeo} inspect --raw --tls-verify=false docker://HOST/team/shop:v1"));
    let commit = registry.remote.commit_of("v1");
    let head = r#"{"schemaVersion":2,"mediaType":"application/vnd.oci.image.manifest.v1+json","config":{"mediaType":"application/vnd.cncf.flux.config.v1+json","#;
    assert!(raw.starts_with(head), "{raw}");
    let layer = r#""layers":[{"mediaType":"application/vnd.cncf.flux.content.v1.tar+gzip","#;
    assert_eq!(raw.matches("mediaType").count(), 3, "one layer: {raw}");
    assert!(raw.contains(layer), "{raw}");
    let annotations = format!(
        r#""annotations":{{"org.opencontainers.image.created":"2026-01-01T00:00:00Z","org.opencontainers.image.revision":"main@sha1:{commit}"}}"#
    );
    assert!(raw.contains(&annotations), "{raw}");
    // The layer is an archive that tar reads.
    registry.ok(&format!(
        "{skopeo} copy -q --src-tls-verify=false docker://HOST/team/shop:v1 dir:copy && mkdir out && \
         tar -xzf copy/$(ls -S copy | grep -v -e manifest -e version | head -1) -C out && diff -r up/shop out"
    ));
}

/// The same holds for packages of git servers; a registry is the simplest place that is not on this machine.
#[test]
fn package_from_elsewhere_cannot_refer_to_repositories_of_this_machine() {
    let Some(registry) = Registry::start("") else { return };
    let url = format!("file://{}/up", registry.remote.sandbox.path().display());
    for repo in [&*url, "FILE:///etc", "/etc", "../up"] {
        let kptfile = format!(
            "apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: inner\nupstream:\n  type: git\n  git:\n    repo: {repo}\n    directory: /other\n    ref: v1\n"
        );
        registry.remote.write("up/shop/inner/Kptfile", &kptfile);
        registry.ok("krm pkg push -q up/shop oci://HOST/team/shop:hostile");
        let error = registry.fails(3, "krm pkg get -q oci://HOST/team/shop:hostile mine");
        assert!(error.contains("error[local-upstream]: inner/Kptfile:"), "{error}");
        assert!(!registry.remote.exists("mine"));
    }
}

#[test]
fn package_of_a_registry_is_fetched_and_updated() {
    let Some(registry) = Registry::start("") else { return };
    let (remote, first) = (&registry.remote, registry.push("stable"));
    registry.ok("krm pkg get -q oci://HOST/team/shop:stable mine");
    assert_eq!(remote.read("mine/deployment.yaml"), DEPLOYMENT);
    let kptfile = remote.read("mine/Kptfile");
    let lock = format!(
        "upstreamLock:\n  type: oci\n  oci:\n    image: {}/team/shop\n    directory: /\n    tag: stable\n    digest: {first}\n",
        registry.host
    );
    assert!(kptfile.contains(&lock), "{kptfile}");
    registry.ok("krm pkg update -q mine --check");
    // The tag moves, and the local edit stays.
    let edited = DEPLOYMENT.replace("replicas: 1", "replicas: 4");
    remote.write("mine/deployment.yaml", &edited);
    let newer = DEPLOYMENT.replace("web:1.0", "web:1.1");
    remote.commit("v2", &[("shop/deployment.yaml", &newer)]);
    let second = registry.push("stable");
    assert_ne!(first, second);
    let newer = registry.remote.run(&registry.line("krm pkg update mine --check"));
    assert_eq!(newer.exit, 1, "{}", newer.stderr);
    assert!(newer.stdout.starts_with("mine: stable (sha256:"), "{}", newer.stdout);
    registry.ok("krm pkg update -q mine");
    assert_eq!(remote.read("mine/deployment.yaml"), edited.replace("web:1.0", "web:1.1"));
    assert!(remote.read("mine/Kptfile").contains(&format!("digest: {second}\n")));
    let before = remote.sandbox.files();
    registry.ok("krm pkg update -q mine");
    assert_eq!(remote.sandbox.files(), before, "a second update changes nothing");
    // A digest is a version, too.
    registry.ok(&format!("krm pkg get -q oci://HOST/team/shop@{first} old"));
    assert_eq!(remote.read("old/deployment.yaml"), DEPLOYMENT);
    let diff = remote.run(&registry.line("krm pkg diff mine"));
    assert_eq!((diff.exit, diff.stdout.contains("+  replicas: 4")), (1, true), "{}", diff.stdout);
}

#[test]
fn directory_of_an_image_is_a_package() {
    let Some(registry) = Registry::start("") else { return };
    registry.ok("krm pkg push -q up oci://HOST/team/all:v1");
    registry.ok("krm pkg get -q oci://HOST/team/all//shop:v1");
    assert_eq!(registry.remote.read("shop/deployment.yaml"), DEPLOYMENT);
    assert!(!registry.remote.exists("shop/other") && !registry.remote.exists("other"));
    let error = registry.fails(3, "krm pkg get oci://HOST/team/all//none:v1");
    assert!(error.contains("none") && !registry.remote.exists("none"), "{error}");
    let error = registry.fails(3, "krm pkg get oci://HOST/team/all:v7 gone");
    assert!(error.contains("error[image-not-found]") && !registry.remote.exists("gone"), "{error}");
}

#[test]
fn locked_update_takes_the_digest_of_the_lock_file() {
    let Some(registry) = Registry::start("") else { return };
    let (remote, first) = (&registry.remote, registry.push("stable"));
    registry.ok("krm pkg get -q oci://HOST/team/shop:stable mine");
    registry.ok("krm pkg vendor -q .");
    let lock = remote.read("krm.lock");
    assert!(lock.contains(&format!("  tag: stable\n  digest: {first}\n")), "{lock}");
    registry.ok("krm fn render -q mine --locked --check");
    remote.commit("v2", &[("shop/README.md", "# 2\n")]);
    let second = registry.push("stable");
    registry.ok("krm pkg update -q mine --locked");
    assert_eq!(remote.read("mine/README.md"), "# shop\n", "the lock file has the old digest");
    registry.ok("krm pkg update -q mine");
    assert_eq!(remote.read("mine/README.md"), "# 2\n");
    for command in ["render mine", "eval mine -i set-labels:v0.2.0 -- a=b", "run mine"] {
        let (name, rest) = command.split_once(' ').unwrap();
        let error = registry.fails(3, &format!("krm fn {name} --locked {rest}"));
        assert!(error.contains("error[lock-mismatch]: "), "{command}: {error}");
        assert!(error.contains(" --> mine/Kptfile:"), "{command}: {error}");
        assert!(error.contains(&first) && error.contains(&second), "{command}: {error}");
    }
    registry.ok("krm pkg vendor -q . && krm fn render -q mine --locked --check");
}

#[test]
fn passwords_come_from_docker_login_or_a_credential_helper() {
    let auth = "auth: {htpasswd: {realm: test, path: ROOT/htpasswd}}\n";
    let Some(registry) = Registry::start(auth) else { return };
    let remote = &registry.remote;
    let push = "krm pkg push -q up/shop oci://HOST/team/shop:v1";
    let error = registry.fails(3, push);
    assert!(error.contains("error[registry-unauthorized]"), "{error}");
    assert!(error.contains(&format!("docker login {}", registry.host)), "{error}");
    registry.docker_config(&format!(r#"{{"auths":{{"HOST":{{"auth":"{AUTH}"}}}}}}"#));
    registry.ok(push);
    registry.ok("krm pkg get -q oci://HOST/team/shop:v1 basic");
    assert_eq!(remote.read("basic/deployment.yaml"), DEPLOYMENT);
    // A wrong password is not printed.
    let wrong = "bWU6aHVzaC1odXNo"; // me:hush-hush
    registry.docker_config(&format!(r#"{{"auths":{{"HOST":{{"auth":"{wrong}"}}}}}}"#));
    let error = registry.fails(3, push);
    assert!(error.contains("registry-unauthorized") && !error.contains("hush"), "{error}");
    // A helper: its input is the registry.
    remote.write(
        "bin/docker-credential-test",
        "#!/bin/sh\nread -r host\necho \"$1 $host\" >> \"$DOCKER_CONFIG/asked\"\n\
         echo '{\"ServerURL\":\"x\",\"Username\":\"me\",\"Secret\":\"secret\"}'\n",
    );
    remote.ok("chmod +x bin/docker-credential-test");
    registry.docker_config(r#"{"credHelpers":{"HOST":"test"}}"#);
    registry.ok("krm pkg get -q oci://HOST/team/shop:v1 helper");
    assert_eq!(remote.read("helper/deployment.yaml"), DEPLOYMENT);
    assert!(remote.read("docker/asked").starts_with(&format!("get {}\n", registry.host)));
    registry.docker_config(r#"{"credHelpers":{"HOST":"missing"}}"#);
    let error = registry.fails(3, "krm pkg get oci://HOST/team/shop:v1 none");
    assert!(error.contains("error[credential-helper-failed]"), "{error}");
    assert!(!remote.exists("none"));
}

/// Gives tokens for the user `me` with the password `secret`: the directory with key and certificate is its argument.
const TOKEN_SERVER: &str = r#"
import base64, http.server, json, subprocess, sys, time, urllib.parse
root = sys.argv[1]
b64 = lambda data: base64.urlsafe_b64encode(data).rstrip(b"=").decode()
certificate = "".join(line for line in open(root + "/token.crt").read().splitlines() if "-----" not in line)
class Handler(http.server.BaseHTTPRequestHandler):
    def log_message(self, *args): pass
    def do_GET(self):
        if self.headers.get("Authorization") != "Basic " + base64.b64encode(b"me:secret").decode():
            self.send_response(401)
            self.end_headers()
            return
        query = urllib.parse.parse_qs(urllib.parse.urlsplit(self.path).query)
        access = []
        for scope in " ".join(query.get("scope", [])).split():
            kind, name, actions = scope.split(":")
            access.append({"type": kind, "name": name, "actions": actions.split(",")})
        now = int(time.time())
        claims = {"iss": "test", "sub": "me", "aud": "registry", "exp": now + 600, "nbf": now - 60, "iat": now, "jti": "1", "access": access}
        head = {"typ": "JWT", "alg": "RS256", "x5c": [certificate]}
        signed = b64(json.dumps(head).encode()) + "." + b64(json.dumps(claims).encode())
        signature = subprocess.run(["openssl", "dgst", "-sha256", "-sign", root + "/token.key"], input=signed.encode(), capture_output=True).stdout
        body = json.dumps({"token": signed + "." + b64(signature)}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
server = http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[2])), Handler)
print("ready", flush=True)
server.serve_forever()
"#;

#[test]
fn token_of_a_token_server_opens_a_registry() {
    if !is_installed("openssl") {
        return skip("openssl");
    }
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let keys = tempfile::tempdir().unwrap();
    let root = keys.path().display().to_string();
    let made = Command::new("openssl")
        .args(["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=test", "-days", "2"])
        .args(["-keyout", &format!("{root}/token.key"), "-out", &format!("{root}/token.crt")])
        .output()
        .unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let auth = format!(
        "auth: {{token: {{realm: 'http://127.0.0.1:{port}/token', service: registry, issuer: test, rootcertbundle: {root}/token.crt}}}}\n"
    );
    let mut server = Command::new("python3");
    server.args(["-c", TOKEN_SERVER, &root, &port.to_string()]);
    let mut server = Ended(server.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap());
    let mut line = String::new();
    BufReader::new(server.0.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert_eq!(line, "ready\n");
    let Some(registry) = Registry::start(&auth) else { return };
    let push = "krm pkg push -q up/shop oci://HOST/team/shop:v1";
    assert!(registry.fails(3, push).contains("error[registry-unauthorized]"));
    registry.docker_config(&format!(r#"{{"auths":{{"HOST":{{"auth":"{AUTH}"}}}}}}"#));
    registry.ok(push);
    registry.ok("krm pkg get -q oci://HOST/team/shop:v1 mine");
    assert_eq!(registry.remote.read("mine/deployment.yaml"), DEPLOYMENT);
    registry.ok("krm pkg update -q mine --check");
    fs::remove_dir_all(registry.remote.sandbox.path().join("mine")).unwrap();
}
