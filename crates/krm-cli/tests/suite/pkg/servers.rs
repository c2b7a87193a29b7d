//! Repositories behind real servers: `git http-backend` over HTTP, and sshd.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use super::repository::{DEPLOYMENT, Remote};
use crate::sandbox::skipped;

/// Serves git repositories over HTTP: the directory and, for authentication, `user:password` are its arguments.
const SERVER: &str = r#"
import base64, http.server, os, subprocess, sys, urllib.parse
root, secret = sys.argv[1], sys.argv[2]
class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.0"
    def log_message(self, *args): pass
    def handle_git(self):
        expected = "Basic " + base64.b64encode(secret.encode()).decode()
        if secret and self.headers.get("Authorization") != expected:
            self.send_response(401)
            self.send_header("WWW-Authenticate", 'Basic realm="git"')
            self.end_headers()
            return
        url = urllib.parse.urlsplit(self.path)
        body = b""
        if self.headers.get("Content-Length"):
            body = self.rfile.read(int(self.headers["Content-Length"]))
        elif self.headers.get("Transfer-Encoding") == "chunked":
            while True:
                size = int(self.rfile.readline().strip() or b"0", 16)
                if size == 0: break
                body += self.rfile.read(size)
                self.rfile.readline()
        env = dict(os.environ, GIT_PROJECT_ROOT=root, GIT_HTTP_EXPORT_ALL="1", PATH_INFO=url.path, QUERY_STRING=url.query,
            REQUEST_METHOD=self.command, CONTENT_TYPE=self.headers.get("Content-Type", ""), REMOTE_ADDR="127.0.0.1",
            HTTP_CONTENT_ENCODING=self.headers.get("Content-Encoding", ""), GIT_PROTOCOL=self.headers.get("Git-Protocol", ""),
            CONTENT_LENGTH=str(len(body)))
        answer = subprocess.run(["git", "-c", "safe.directory=*", "http-backend"], input=body, env=env, capture_output=True).stdout
        head, _, content = answer.partition(b"\r\n\r\n")
        lines = [line.split(": ", 1) for line in head.decode().split("\r\n") if ": " in line]
        status = next((int(value.split()[0]) for name, value in lines if name == "Status"), 200)
        self.send_response(status)
        for name, value in lines:
            if name != "Status": self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)
    do_GET = do_POST = handle_git
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(server.server_address[1], flush=True)
server.serve_forever()
"#;

/// A server, which ends with the test.
struct Server {
    child: Child,
    port: u16,
}

impl Server {
    fn start(remote: &Remote, secret: &str) -> Self {
        let mut child = Command::new("python3")
            .args(["-c", SERVER])
            .arg(remote.sandbox.path())
            .arg(secret)
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        Self { child, port: line.trim().parse().unwrap() }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn has_python() -> bool {
    let found =
        Command::new("python3").arg("--version").output().is_ok_and(|it| it.status.success());
    if !found {
        assert!(std::env::var_os("KRM_REQUIRE_PYTHON").is_none(), "python3 is required");
        skipped("git over HTTP", "python3 is not on PATH");
    }
    found
}

#[test]
fn http_server_with_and_without_filters() {
    if !has_python() {
        return;
    }
    let remote = Remote::new();
    let server = Server::start(&remote, "");
    for (at, filters) in ["true", "false"].into_iter().enumerate() {
        remote.ok(&format!("git -C up config uploadpack.allowFilter {filters}"));
        let cache = format!("export KRM_CACHE_DIR=$PWD/cache{at}");
        let url = format!("http://127.0.0.1:{}/up/.git", server.port);
        remote.ok(&format!("{cache}; krm pkg get -q {url} got{at} --subdir shop"));
        assert_eq!(remote.read(&format!("got{at}/deployment.yaml")), DEPLOYMENT);
        let count = format!(
            "git --git-dir=$(echo cache{at}/git/*-*[0-9a-f]/) cat-file --batch-all-objects --batch-check | grep -c ' blob '"
        );
        let blobs: usize = remote.ok(&count).trim().parse().unwrap();
        assert_eq!(blobs, if filters == "true" { 4 } else { 5 }, "filters: {filters}");
        remote.commit(&format!("w{at}"), &[("shop/README.md", &format!("# {at} over HTTP\n"))]);
        remote.ok(&format!("{cache}; krm pkg update -q got{at}"));
        assert_eq!(remote.read(&format!("got{at}/README.md")), format!("# {at} over HTTP\n"));
        remote.ok(&format!("{cache}; krm pkg status got{at} > /dev/null"));
    }
}

#[test]
fn http_server_that_hands_out_references_only() {
    if !has_python() {
        return;
    }
    let remote = Remote::new();
    let server = Server::start(&remote, "");
    // The oldest protocol, in which a server refuses commits and files that no reference names.
    remote.ok("git -C up config uploadpack.allowFilter false; git -C up config protocol.version 0; \
        git -C up config uploadpack.allowAnySHA1InWant false; git -C up config uploadpack.advertiseBundleURIs false");
    let url = format!("http://127.0.0.1:{}/up/.git", server.port);
    remote.ok(&format!("krm pkg get -q {url}@v1 got --subdir shop"));
    remote.commit("v2", &[("shop/README.md", "# 2\n")]);
    remote.ok("krm pkg update -q got@v2");
    assert_eq!(remote.read("got/README.md"), "# 2\n");
}

#[test]
fn http_server_with_basic_authentication() {
    if !has_python() {
        return;
    }
    let remote = Remote::new();
    let server = Server::start(&remote, "me:s3cret");
    let host = format!("127.0.0.1:{}", server.port);
    let error = remote.fails(3, &format!("krm pkg get http://{host}/up/.git got --subdir shop"));
    assert!(
        error.contains("error[upstream-git-failed]") && error.contains("credential.helper"),
        "{error}"
    );
    let error =
        remote.fails(3, &format!("krm pkg get http://me:wr0ng@{host}/up/.git got --subdir shop"));
    assert!(!error.contains("wr0ng"), "{error}");
    // A credential helper of the user, as git uses it.
    remote.write("home/.gitconfig", "[credential]\n\thelper = \"!f() { test \\\"$1\\\" = get && echo username=me && echo password=s3cret; }; f\"\n");
    remote.ok(&format!(
        "unset GIT_CONFIG_GLOBAL; krm pkg get -q http://{host}/up/.git got --subdir shop"
    ));
    assert_eq!(remote.read("got/deployment.yaml"), DEPLOYMENT);
    // Credentials in the address are used and not stored.
    let ran = remote.run(&format!("export KRM_CACHE_DIR=$PWD/cache; krm -v pkg get http://me:s3cret@{host}/up/.git typed --subdir shop"));
    assert_eq!(ran.exit, 0, "{}", ran.stderr);
    assert!(remote.read("typed/Kptfile").contains(&format!("repo: http://{host}/up/.git\n")));
    assert_eq!(remote.run("grep -rl s3cret cache typed").stdout, "");
    assert!(!ran.stderr.contains("s3cret"), "{}", ran.stderr);
}

#[test]
fn ssh_server_with_a_key() {
    let sshd = ["/usr/sbin/sshd", "/usr/local/sbin/sshd"]
        .into_iter()
        .find(|it| std::path::Path::new(it).exists());
    let Some(sshd) = sshd else {
        assert!(std::env::var_os("KRM_REQUIRE_SSHD").is_none(), "sshd is required");
        return skipped("git over ssh", "sshd is not installed");
    };
    let remote = Remote::new();
    remote.ok("mkdir -p ssh && chmod 700 ssh && ssh-keygen -q -t ed25519 -N '' -f ssh/host && ssh-keygen -q -t ed25519 -N '' -f ssh/key && cp ssh/key.pub ssh/authorized");
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let directory = remote.sandbox.path().join("ssh").display().to_string();
    let config = format!(
        "Port {port}\nListenAddress 127.0.0.1\nHostKey {directory}/host\nAuthorizedKeysFile {directory}/authorized\nPidFile none\nStrictModes no\nUsePAM no\nPasswordAuthentication no\nPermitRootLogin prohibit-password\n"
    );
    remote.write("ssh/config", &config);
    // As root sshd needs this directory, which only its service creates.
    let _ = std::fs::create_dir_all("/run/sshd");
    let child = Command::new(sshd)
        .args(["-D", "-e", "-f", &format!("{directory}/config")])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let server = Server { child, port };
    let started = std::time::Instant::now();
    while std::net::TcpStream::connect(("127.0.0.1", server.port)).is_err() {
        assert!(started.elapsed().as_secs() < 20, "sshd does not start");
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    let user = remote.ok("id -un").trim().to_owned();
    let path = remote.sandbox.path().display().to_string();
    let options = "-F /dev/null -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o LogLevel=ERROR";
    let with_key = format!("export GIT_SSH_COMMAND='ssh -i {directory}/key {options}'");
    remote.ok(&format!(
        "{with_key}; krm pkg get -q ssh://{user}@127.0.0.1:{port}{path}/up/.git/ got --subdir shop"
    ));
    assert_eq!(remote.read("got/deployment.yaml"), DEPLOYMENT);
    remote.commit("v2", &[("shop/README.md", "# over ssh\n")]);
    remote.ok(&format!("{with_key}; krm pkg update -q got"));
    assert_eq!(remote.read("got/README.md"), "# over ssh\n");
    // The form of scp, with the port in the options.
    remote.ok("git clone -q --bare up up.git 2>/dev/null");
    remote.ok(&format!("export GIT_SSH_COMMAND='ssh -p {port} -i {directory}/key {options}'; krm pkg get -q {user}@127.0.0.1:{path}/up.git/shop scp"));
    assert_eq!(remote.read("scp/deployment.yaml"), DEPLOYMENT);
    // Without the key nobody is asked for a password.
    let error = remote.fails(3, &format!("export GIT_SSH_COMMAND='ssh -i /nowhere -o IdentitiesOnly=yes -o BatchMode=yes {options}'; krm pkg get ssh://{user}@127.0.0.1:{port}{path}/up.git/shop no"));
    assert!(
        error.contains("error[upstream-git-failed]") && error.contains("ssh keys and agent"),
        "{error}"
    );
}
