//! A `krm serve` process for a test, or another server.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use crate::sandbox::{Sandbox, krm};

pub(super) struct Server {
    process: Child,
    /// `HOST:PORT`
    pub(super) address: String,
    metrics_address: String,
    log: Arc<Mutex<Vec<String>>>,
}

impl Server {
    /// Starts a server with these flags in the directory of the sandbox, and waits until it listens.
    pub(super) fn start(sandbox: &Sandbox, flags: &[&str]) -> Self {
        let mut command = krm();
        command.args(["serve", "--address", "127.0.0.1:0"]).args(flags);
        Self::start_with(sandbox, command)
    }

    /// Starts a server that can have so many open files.
    pub(super) fn start_limited(sandbox: &Sandbox, files: usize) -> Self {
        let mut command = Command::new("sh");
        let script = format!("ulimit -n {files}; exec \"$1\" serve --address 127.0.0.1:0");
        command.args(["-c", &script, "sh"]).arg(krm().get_program());
        Self::start_with(sandbox, command)
    }

    fn start_with(sandbox: &Sandbox, mut command: Command) -> Self {
        command.current_dir(sandbox.path()).env("KRM_CACHE_DIR", sandbox.cache());
        command.env_remove("KRM_FN_RUNTIME").env("SERVER_SECRET", "not for functions");
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut process = command.spawn().unwrap();
        let lines = BufReader::new(process.stderr.take().unwrap()).lines();
        let log: Arc<Mutex<Vec<String>>> = Arc::default();
        let seen = Arc::clone(&log);
        std::thread::spawn(move || {
            lines.map_while(Result::ok).for_each(|line| seen.lock().unwrap().push(line));
        });
        let mut server =
            Self { process, address: String::new(), metrics_address: String::new(), log };
        server.wait_for("it listens", |server| server.log().contains("\"listening\""));
        let line = server.log();
        server.address = field(&line, "address").unwrap();
        server.metrics_address = field(&line, "metrics").unwrap_or_default();
        server
    }

    /// Everything that it has written.
    pub(super) fn log(&self) -> String {
        self.log.lock().unwrap().join("\n")
    }

    /// The names of all events.
    pub(super) fn events(&self) -> Vec<String> {
        self.log().lines().filter_map(|line| field(line, "event")).collect()
    }

    /// How many requests ended with a status.
    pub(super) fn codes(&self, code: &str) -> usize {
        let text = format!("\"code\":\"{code}\"");
        // The last line may be written after the client has its answer.
        std::thread::sleep(Duration::from_millis(200));
        self.log().lines().filter(|line| line.contains(&text)).count()
    }

    pub(super) fn metrics(&self) -> String {
        std::thread::sleep(Duration::from_millis(200));
        let mut stream = TcpStream::connect(&self.metrics_address).unwrap();
        write!(stream, "GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        text
    }

    /// The processor time that it has used, in ticks: usually a hundredth of a second each.
    #[cfg(target_os = "linux")]
    pub(super) fn processor_ticks(&self) -> u64 {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.process.id())).unwrap();
        // The name in parentheses may contain spaces.
        let (_, fields) = stat.rsplit_once(") ").unwrap();
        fields.split(' ').skip(11).take(2).map(|it| it.parse::<u64>().unwrap()).sum()
    }

    pub(super) fn signal(&self, signal: &str) {
        let status =
            Command::new("kill").args(["-s", signal, &self.process.id().to_string()]).status();
        assert!(status.unwrap().success());
    }

    /// Sends a signal and returns the exit code.
    pub(super) fn stop(&mut self, signal: &str) -> Option<i32> {
        self.signal(signal);
        let code = self.process.wait().unwrap().code();
        std::thread::sleep(Duration::from_millis(100));
        code
    }

    pub(super) fn wait_for(&mut self, what: &str, is_true: impl Fn(&Self) -> bool) {
        let start = Instant::now();
        while !is_true(self) {
            let ended = self.process.try_wait().unwrap();
            assert!(ended.is_none(), "{what}: {ended:?}\n{}", self.log());
            assert!(start.elapsed() < Duration::from_secs(60), "{what}\n{}", self.log());
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// A string field of a line of the log.
fn field(line: &str, name: &str) -> Option<String> {
    let (_, rest) = line.split_once(&format!("\"{name}\":\""))?;
    Some(rest.split('"').next()?.to_owned())
}

/// A server of another project, which says nothing when it listens.
pub(super) struct OtherServer {
    process: Child,
    pub(super) address: String,
}

impl OtherServer {
    /// `arguments` gets a free port and returns the arguments.
    pub(super) fn start(program: &Path, arguments: impl Fn(u16) -> Vec<String>) -> Self {
        let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let port = free.local_addr().unwrap().port();
        drop(free);
        let mut command = Command::new(program);
        command
            .args(arguments(port))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let server =
            Self { process: command.spawn().unwrap(), address: format!("127.0.0.1:{port}") };
        let start = Instant::now();
        while TcpStream::connect(&server.address).is_err() {
            assert!(
                start.elapsed() < Duration::from_secs(60),
                "{} does not listen",
                program.display()
            );
            std::thread::sleep(Duration::from_millis(20));
        }
        server
    }
}

impl Drop for OtherServer {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
