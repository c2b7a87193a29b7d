//! Machines that share results through a real bazel-remote.

use std::fs;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use super::{EVAL, PACKAGES, cache_lines, shops};
use crate::sandbox::{Output, Sandbox, skipped};
use crate::wasm::shop;

/// `me:secret`, hashed with bcrypt at the lowest cost.
const HTPASSWD: &str = "me:$2y$04$MHVTSVG90haHd6JnJ.RsJuV42g7g6DWljUT2kxtH.NRzZKnElfLh6\n";

/// The program, if it is installed. Without it the tests are skipped, unless `KRM_REQUIRE_BAZEL_REMOTE` is set.
fn program() -> Option<PathBuf> {
    let own = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../target/peers/bin/bazel-remote");
    let named = std::env::var_os("KRM_BAZEL_REMOTE").map(PathBuf::from);
    let found = named.or_else(|| Some(own).filter(|it| it.is_file()));
    if found.is_none() {
        let message = "`cargo xtask peers --only bazel-remote` installs bazel-remote";
        assert!(std::env::var_os("KRM_REQUIRE_BAZEL_REMOTE").is_none(), "{message}");
        skipped("shared cache", message);
    }
    found
}

/// A server that ends with the test.
struct BazelRemote {
    process: Child,
    address: String,
    directory: tempfile::TempDir,
}

impl BazelRemote {
    fn start(flags: &[&str]) -> Option<Self> {
        let program = program()?;
        let directory = tempfile::tempdir().unwrap();
        let htpasswd = directory.path().join("htpasswd");
        fs::write(&htpasswd, HTPASSWD).unwrap();
        // A port that is free now; another process could take it before the server does.
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let address = format!("127.0.0.1:{port}");
        let mut command = Command::new(program);
        command.arg("--dir").arg(directory.path().join("data")).args(["--max_size", "1"]);
        command.args(["--http_address", &address, "--grpc_address", "none"]);
        command.args(flags.iter().map(|it| it.replace("HTPASSWD", htpasswd.to_str().unwrap())));
        let process = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let server = Self { process, address, directory };
        let start = Instant::now();
        while TcpStream::connect(&server.address).is_err() {
            assert!(start.elapsed() < Duration::from_secs(60), "bazel-remote does not start");
            std::thread::sleep(Duration::from_millis(20));
        }
        Some(server)
    }

    fn flags(&self) -> String {
        format!("--cache-server http://{}", self.address)
    }

    /// The files of the server below `cas` or `ac`.
    fn stored(&self, kind: &str) -> Vec<PathBuf> {
        let mut directories = vec![self.directory.path().join("data").join(kind)];
        let mut files = Vec::new();
        while let Some(directory) = directories.pop() {
            for entry in fs::read_dir(directory).into_iter().flatten() {
                let path = entry.unwrap().path();
                if path.is_dir() { directories.push(path) } else { files.push(path) }
            }
        }
        files
    }

    /// The response to a request for JSON.
    fn json(&self, path: &str) -> String {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        let head = format!(
            "GET {path} HTTP/1.1\r\nhost: x\r\naccept: application/json\r\nconnection: close\r\n\r\n"
        );
        stream.write_all(head.as_bytes()).unwrap();
        let mut response = String::new();
        stream.read_to_string(&mut response).unwrap();
        response
    }
}

impl Drop for BazelRemote {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Another machine: a cache directory of its own.
fn on(machine: &str, sandbox: &Sandbox, line: &str) -> Output {
    sandbox.run(&format!("export KRM_CACHE_DIR=$PWD/machines/{machine}; {line}"))
}

#[test]
fn second_machine_gets_the_results_of_the_first() {
    let Some((sandbox, server)) = shop().zip(BazelRemote::start(&[])) else { return };
    // The function is impure, so equal outputs mean that it did not run.
    let eval = format!("{EVAL} -e CLOCK=1 {}", server.flags());
    let upload = on("ci", &sandbox, &format!("{eval} --cache-upload"));
    assert_eq!(
        cache_lines(&upload.stderr),
        [
            "result cache: 0 results found, 1 not found",
            "shared cache: 0 results found, 1 not found, 1 uploaded"
        ]
    );
    assert!(upload.exit == 0 && upload.stdout.contains("+  name: b1"), "{}", upload.stderr);
    let download = on("laptop", &sandbox, &eval);
    assert_eq!(
        cache_lines(&download.stderr),
        ["result cache: 1 result found, 0 not found", "shared cache: 1 result found, 0 not found"]
    );
    assert_eq!((&download.stdout, download.exit), (&upload.stdout, 0));
    let again = on("laptop", &sandbox, &eval);
    assert_eq!(
        cache_lines(&again.stderr),
        ["result cache: 1 result found, 0 not found", "shared cache: 0 results found, 0 not found"],
        "it is in the cache of the machine"
    );
    assert_eq!(again.stdout, upload.stdout);
    assert!([upload, download, again].iter().all(|ran| !ran.stderr.contains("warning")));
    assert_eq!((server.stored("cas.v2").len(), server.stored("ac.v2").len()), (1, 1));
}

#[test]
fn packages_of_a_directory_share_results() {
    let Some((sandbox, server)) = shops().zip(BazelRemote::start(&[])) else { return };
    let render = format!("krm fn render shops --diff -v {}", server.flags());
    let off = on("off", &sandbox, "krm fn render shops --diff");
    let upload = on("ci", &sandbox, &format!("KRM_CACHE_UPLOAD=1 {render}"));
    let stored =
        format!("shared cache: 0 results found, {PACKAGES} not found, {PACKAGES} uploaded");
    assert_eq!(cache_lines(&upload.stderr)[1], stored);
    let download = on("laptop", &sandbox, &render);
    assert_eq!(
        cache_lines(&download.stderr)[1],
        format!("shared cache: {PACKAGES} results found, 0 not found")
    );
    assert_eq!((&upload.stdout, upload.exit), (&off.stdout, off.exit));
    assert_eq!((&download.stdout, download.exit), (&off.stdout, off.exit));
    assert!(off.stdout.contains("+  name: b # 7"), "{}", off.stdout);
}

#[test]
fn nothing_is_uploaded_unless_a_flag_or_variable_says_so() {
    let Some((sandbox, server)) = shop().zip(BazelRemote::start(&[])) else { return };
    for flags in ["", "--cache read", "--cache verify", "-e SPAM=0 --cache-upload"] {
        on("laptop", &sandbox, &format!("{EVAL} {} {flags}", server.flags()));
    }
    let config = format!("cacheServer: http://{}\n", server.address);
    sandbox.write("user/krm/config.yaml", config.as_bytes());
    let ran = on("other", &sandbox, &format!("XDG_CONFIG_HOME=$PWD/user {EVAL}"));
    assert_eq!(cache_lines(&ran.stderr)[1], "shared cache: 0 results found, 1 not found");
    assert!(server.stored("cas.v2").is_empty() && server.stored("ac.v2").is_empty());
}

#[test]
fn results_with_secrets_are_not_uploaded() {
    let Some((sandbox, server)) = shop().zip(BazelRemote::start(&[])) else { return };
    sandbox.write(
        "shop/secret.yaml",
        b"apiVersion: v1\nkind: Secret\nmetadata:\n  name: s\nstringData:\n  password: hunter2\n",
    );
    let ran = on("ci", &sandbox, &format!("{EVAL} {} --cache-upload", server.flags()));
    assert_eq!(
        cache_lines(&ran.stderr)[1],
        "shared cache: 0 results found, 1 not found, 1 with Secrets not uploaded"
    );
    assert!(server.stored("cas.v2").is_empty() && server.stored("ac.v2").is_empty());
}

#[test]
fn verification_finds_results_that_the_function_does_not_return() {
    let Some((sandbox, server)) = shop().zip(BazelRemote::start(&[])) else { return };
    let verify = format!("{EVAL} {} --cache verify", server.flags());
    on("ci", &sandbox, &format!("{EVAL} {} --cache-upload", server.flags()));
    assert_eq!(on("laptop", &sandbox, &verify).exit, 0);
    let flags = "-e CLOCK=1";
    on("ci", &sandbox, &format!("{EVAL} {} {flags} --cache-upload", server.flags()));
    let ran = on("laptop", &sandbox, &format!("{verify} {flags}"));
    let message = "error[shared-result-differs]: function `shop/rename.wasm` failed: returned another output than the shared cache has for the same input";
    assert!(ran.exit == 4 && ran.stderr.contains(message), "{}", ran.stderr);
}

#[test]
fn server_that_lost_a_content_has_no_result() {
    let Some((sandbox, server)) = shop().zip(BazelRemote::start(&[])) else { return };
    let upload = on("ci", &sandbox, &format!("{EVAL} {} --cache-upload", server.flags()));
    server.stored("cas.v2").iter().for_each(|path| fs::remove_file(path).unwrap());
    let ran = on("laptop", &sandbox, &format!("{EVAL} {}", server.flags()));
    assert_eq!((&ran.stdout, ran.exit), (&upload.stdout, 0));
    let found = cache_lines(&ran.stderr);
    assert_eq!(found[0], "result cache: 0 results found, 1 not found", "{}", ran.stderr);
}

#[test]
fn content_that_is_damaged_on_the_server_is_not_used() {
    let flags = ["--storage_mode", "uncompressed"];
    let Some((sandbox, server)) = shop().zip(BazelRemote::start(&flags)) else { return };
    let upload = on("ci", &sandbox, &format!("{EVAL} {} --cache-upload", server.flags()));
    let path = &server.stored("cas.v2")[0];
    let mut bytes = fs::read(path).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(path, bytes).unwrap();
    let ran = on("laptop", &sandbox, &format!("{EVAL} {}", server.flags()));
    assert_eq!((&ran.stdout, ran.exit), (&upload.stdout, 0));
    let warning = "the content of a result has another digest or size\n";
    assert!(ran.stderr.contains("warning[shared-cache-failed]: cannot use"), "{}", ran.stderr);
    assert!(ran.stderr.contains(warning), "{}", ran.stderr);
}

#[test]
fn credentials_come_from_the_environment_and_are_not_printed() {
    let flags = ["--htpasswd_file", "HTPASSWD", "--allow_unauthenticated_reads"];
    let Some((sandbox, server)) = shop().zip(BazelRemote::start(&flags)) else { return };
    let eval = format!("{EVAL} {}", server.flags());
    let denied = on("1", &sandbox, &format!("{eval} --cache-upload"));
    let warning = "the shared cache `http://127.0.0.1:";
    assert!(denied.stderr.contains(warning), "{}", denied.stderr);
    assert!(denied.stderr.contains("access is denied (status 401)\n"), "{}", denied.stderr);
    assert_eq!(denied.exit, 0);
    let wrong = "KRM_CACHE_USER=me KRM_CACHE_PASSWORD=hunter2";
    let denied = on("2", &sandbox, &format!("{wrong} {eval} --cache-upload"));
    assert!(denied.stderr.contains("access is denied (status 401)\n"), "{}", denied.stderr);
    assert!(!denied.stderr.contains("hunter2"), "{}", denied.stderr);
    let right = "KRM_CACHE_USER=me KRM_CACHE_PASSWORD=secret";
    let upload = on("3", &sandbox, &format!("{right} {eval} --cache-upload"));
    assert!(cache_lines(&upload.stderr)[1].ends_with(", 1 uploaded"), "{}", upload.stderr);
    let anonymous = on("4", &sandbox, &eval);
    assert_eq!(cache_lines(&anonymous.stderr)[1], "shared cache: 1 result found, 0 not found");
    assert_eq!(anonymous.stdout, upload.stdout);
}

#[test]
fn stored_result_is_valid_for_other_clients() {
    let Some((sandbox, server)) = shop().zip(BazelRemote::start(&[])) else { return };
    on("ci", &sandbox, &format!("{EVAL} {} --cache-upload", server.flags()));
    let name = server.stored("ac.v2")[0].file_name().unwrap().to_str().unwrap().to_owned();
    let key = &name[..64];
    // The server checks that it has all files of the result, and translates it.
    let result = server.json(&format!("/ac/{key}"));
    assert!(result.starts_with("HTTP/1.1 200 "), "{result}");
    assert!(result.contains("\"krm-result\""), "{result}");
}
