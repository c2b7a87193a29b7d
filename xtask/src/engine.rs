//! `cargo xtask engine`: a container engine for the tests, in a folder of its own, gone when they are done.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::{Outcome, shell};

/// How long a daemon may take to answer.
const PATIENCE: Duration = Duration::from_secs(60);

/// An engine that answers, and the address at which it does.
pub(crate) enum Engine {
    /// The machine's own.
    Present,
    /// One that was started here and is stopped when this is dropped.
    Ours(Daemon),
}

impl Engine {
    /// The engine of the machine, or one that is started for this run; `install` where its program may be installed.
    pub(crate) fn start(install: bool) -> Outcome<Self> {
        if answers(None) {
            return Ok(Self::Present);
        }
        if !shell::exists("dockerd") || !shell::exists("docker") {
            if !install {
                return Err("no container engine answers, and dockerd is not installed".into());
            }
            install_docker()?;
        }
        Daemon::start().map(Self::Ours)
    }

    /// Lets a command find the engine, and its tests fail rather than be skipped.
    pub(crate) fn lend(&self, command: &mut Command) {
        command.env("KRM_REQUIRE_ENGINE", "1");
        if let Self::Ours(daemon) = self {
            command.env("DOCKER_HOST", daemon.address()).env("KRM_FN_RUNTIME", "docker");
        }
    }
}

/// Runs a command with an engine: `cargo xtask engine cargo test -p krm-run`.
pub(crate) fn run(mut args: lexopt::Parser) -> Outcome {
    let words: Vec<_> = args.raw_args()?.collect();
    let (program, rest) = words.split_first().ok_or("name the command that wants an engine")?;
    let engine = Engine::start(false)?;
    let mut command = shell::program(program);
    engine.lend(command.args(rest));
    shell::run(&mut command)
}

fn answers(address: Option<&str>) -> bool {
    let mut docker = shell::program("docker");
    docker.arg("version").stdout(Stdio::null()).stderr(Stdio::null());
    if let Some(address) = address {
        docker.env("DOCKER_HOST", address);
    }
    docker.status().is_ok_and(|status| status.success())
}

/// Only CI installs something by itself: it runs on a machine that nobody prepared.
fn install_docker() -> Outcome {
    println!("installing docker.io");
    let apt = |words: &[&str]| {
        let mut command = shell::program("apt-get");
        command.args(words).env("DEBIAN_FRONTEND", "noninteractive");
        shell::output(&mut command)
    };
    apt(&["update"])?;
    apt(&["install", "--yes", "--no-install-recommends", "docker.io"]).map(|_| ())
}

/// A docker daemon that shares nothing with another one: no network of its own, everything in one folder.
pub(crate) struct Daemon {
    process: Child,
    folder: PathBuf,
}

impl Daemon {
    fn start() -> Outcome<Self> {
        // The name of a socket is short by law, so it is not under `target`.
        let folder = std::env::temp_dir().join(format!("krm-engine-{}", std::process::id()));
        fs::create_dir_all(&folder)?;
        let log = File::create(folder.join("log"))?;
        let mut command = shell::program("dockerd");
        command
            .args([
                "--iptables=false",
                "--ip6tables=false",
                "--bridge=none",
                "--storage-driver=vfs",
            ])
            .args(["--data-root", "--exec-root", "--pidfile"].into_iter().flat_map(|flag| {
                [flag.into(), folder.join(flag.trim_start_matches('-')).into_os_string()]
            }))
            .args(["--host", &address(&folder)])
            .stdout(log.try_clone()?)
            .stderr(log);
        let process = command.spawn().map_err(|error| format!("cannot start dockerd: {error}"))?;
        let mut daemon = Self { process, folder };
        daemon.wait()?;
        Ok(daemon)
    }

    fn address(&self) -> String {
        address(&self.folder)
    }

    fn wait(&mut self) -> Outcome {
        let start = Instant::now();
        while !answers(Some(&self.address())) {
            if self.process.try_wait()?.is_some() || start.elapsed() > PATIENCE {
                let log = fs::read_to_string(self.folder.join("log")).unwrap_or_default();
                let last: Vec<&str> = log.lines().rev().take(5).collect();
                let last: Vec<&str> = last.into_iter().rev().collect();
                return Err(format!("dockerd does not answer:\n{}", last.join("\n")).into());
            }
            thread::sleep(Duration::from_millis(200));
        }
        Ok(())
    }

    /// Asked to end, it ends its own children, too; killed, it would leave them.
    fn stop(&mut self) -> Outcome {
        if self.process.try_wait()?.is_none() {
            shell::output(shell::program("kill").arg(self.process.id().to_string()))?;
            self.process.wait()?;
        }
        self.unmount()?;
        fs::remove_dir_all(&self.folder)?;
        Ok(())
    }

    /// The daemon leaves its network namespace mounted, and a folder with a mount in it cannot be removed.
    fn unmount(&self) -> Outcome {
        let mounts = fs::read_to_string("/proc/mounts").unwrap_or_default();
        let folders = mounts.lines().filter_map(|line| line.split(' ').nth(1)).map(Path::new);
        let mut ours: Vec<&Path> = folders.filter(|it| it.starts_with(&self.folder)).collect();
        // A mount can lie in another one.
        ours.sort();
        for folder in ours.into_iter().rev() {
            shell::output(shell::program("umount").arg(folder))?;
        }
        Ok(())
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        if let Err(error) = self.stop() {
            eprintln!("the container engine is not gone: {error}");
        }
    }
}

fn address(folder: &Path) -> String {
    format!("unix://{}", folder.join("socket").display())
}
