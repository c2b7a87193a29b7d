//! `cargo xtask engine`: a temporary container engine for tests.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::{TaskResult, shell};

/// How long a daemon may take to start.
const START_TIMEOUT: Duration = Duration::from_secs(60);

/// A running container engine.
pub(crate) enum Engine {
    /// An engine that was already running.
    Existing,
    /// An engine that was started here and is stopped on drop.
    Started(Daemon),
}

impl Engine {
    /// Uses the running engine or starts one. With `install`, docker is installed if it is missing.
    pub(crate) fn start(install: bool) -> TaskResult<Self> {
        if is_running(None) {
            return Ok(Self::Existing);
        }
        if !shell::exists("dockerd") || !shell::exists("docker") {
            if !install {
                return Err("no container engine is running, and dockerd is not installed".into());
            }
            shell::install(&["docker.io"])?;
        }
        Daemon::start().map(Self::Started)
    }

    /// Sets the variables by which tests find the engine, and which turn skipped container tests into failures.
    pub(crate) fn set_environment(&self, command: &mut Command) {
        command.env("KRM_REQUIRE_ENGINE", "1");
        if let Self::Started(daemon) = self {
            command.env("DOCKER_HOST", daemon.address()).env("KRM_FN_RUNTIME", "docker");
        }
    }
}

/// Runs a command with an engine: `cargo xtask engine cargo test -p krm-run`.
pub(crate) fn run(mut args: lexopt::Parser) -> TaskResult {
    let command_line: Vec<_> = args.raw_args()?.collect();
    let (program, rest) = command_line.split_first().ok_or("expected a command to run")?;
    let engine = Engine::start(false)?;
    let mut command = shell::program(program);
    engine.set_environment(command.args(rest));
    shell::run(&mut command)
}

fn is_running(address: Option<&str>) -> bool {
    let mut docker = shell::program("docker");
    docker.arg("version").stdout(Stdio::null()).stderr(Stdio::null());
    if let Some(address) = address {
        docker.env("DOCKER_HOST", address);
    }
    docker.status().is_ok_and(|status| status.success())
}

/// A docker daemon that is isolated from others: no network, and all of its files in one directory.
pub(crate) struct Daemon {
    process: Child,
    directory: PathBuf,
}

impl Daemon {
    fn start() -> TaskResult<Self> {
        // Not under `target`, because the path of a Unix socket is limited to about 100 bytes.
        let directory = std::env::temp_dir().join(format!("krm-engine-{}", std::process::id()));
        fs::create_dir_all(&directory)?;
        let log = File::create(directory.join("log"))?;
        let mut command = shell::program("dockerd");
        command
            .args([
                "--iptables=false",
                "--ip6tables=false",
                "--bridge=none",
                "--storage-driver=vfs",
            ])
            .args(["--data-root", "--exec-root", "--pidfile"].into_iter().flat_map(|flag| {
                [flag.into(), directory.join(flag.trim_start_matches('-')).into_os_string()]
            }))
            .args(["--host", &address(&directory)])
            .stdout(log.try_clone()?)
            .stderr(log);
        let process = command.spawn().map_err(|error| format!("cannot start dockerd: {error}"))?;
        let mut daemon = Self { process, directory };
        daemon.wait()?;
        Ok(daemon)
    }

    fn address(&self) -> String {
        address(&self.directory)
    }

    fn wait(&mut self) -> TaskResult {
        let start = Instant::now();
        while !is_running(Some(&self.address())) {
            if self.process.try_wait()?.is_some() || start.elapsed() > START_TIMEOUT {
                let log = fs::read_to_string(self.directory.join("log")).unwrap_or_default();
                let last: Vec<&str> = log.lines().rev().take(5).collect();
                let last: Vec<&str> = last.into_iter().rev().collect();
                return Err(format!("dockerd did not start:\n{}", last.join("\n")).into());
            }
            thread::sleep(Duration::from_millis(200));
        }
        Ok(())
    }

    /// Stops the daemon with SIGTERM; after SIGKILL it would leave its child processes running.
    fn stop(&mut self) -> TaskResult {
        if self.process.try_wait()?.is_none() {
            shell::output(shell::program("kill").arg(self.process.id().to_string()))?;
            self.process.wait()?;
        }
        self.unmount()?;
        fs::remove_dir_all(&self.directory)?;
        Ok(())
    }

    /// Unmounts the network namespace that the daemon leaves mounted, so that its directory can be removed.
    fn unmount(&self) -> TaskResult {
        let mounts = fs::read_to_string("/proc/mounts").unwrap_or_default();
        let directories = mounts.lines().filter_map(|line| line.split(' ').nth(1)).map(Path::new);
        let mut mounted: Vec<&Path> =
            directories.filter(|it| it.starts_with(&self.directory)).collect();
        // Mounts can be nested: unmount the deepest first.
        mounted.sort();
        for directory in mounted.into_iter().rev() {
            shell::output(shell::program("umount").arg(directory))?;
        }
        Ok(())
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        if let Err(error) = self.stop() {
            eprintln!("cannot stop the container engine: {error}");
        }
    }
}

fn address(directory: &Path) -> String {
    format!("unix://{}", directory.join("socket").display())
}
