//! The container engine: which one, where its client is, and whether it responds.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use super::daemon;
use crate::{Environment, ExecutionEnd, Interrupt, Invocation, Limits, RunKind, process};

/// The exit code with which engines report their own errors.
pub(super) const OWN_ERROR: i32 = 125;
/// The supported engines, in the order in which they are tried.
pub(crate) const ENGINES: [&str; 3] = ["docker", "podman", "nerdctl"];
/// Runtimes of images that are not engines, and the choice of krm.
pub(crate) const SANDBOXES: [&str; 3] = ["auto", "krm", "bubblewrap"];
/// The variable that chooses an engine. Compat: kpt reads the same one.
pub(crate) const ENGINE_VARIABLE: &str = "KRM_FN_RUNTIME";
/// An engine that needs longer to print its version counts as not running.
const VERSION_TIMEOUT: Duration = Duration::from_secs(20);

/// `docker`, `podman` or `nerdctl`, with the environment that it is started in.
#[derive(Clone, Debug)]
pub struct Engine {
    name: &'static str,
    program: PathBuf,
    environment: Environment,
}

impl Engine {
    /// The engine that the user named, or that `KRM_FN_RUNTIME` names, or the first that responds.
    ///
    /// An engine that is the only one installed is taken without asking for its version, which would take longer than krm
    /// itself; if it does not respond, the run reports that.
    ///
    /// # Errors
    /// If there is no such engine.
    pub fn find(named: Option<&str>, environment: &Environment) -> Result<Self, RunKind> {
        let unavailable = |reason: String| RunKind::NoEngine { reason };
        let variable =
            environment.get(ENGINE_VARIABLE).map(|value| value.to_string_lossy().into_owned());
        // It may also name a runtime that is not an engine.
        let variable = variable.filter(|value| !value.is_empty() && !SANDBOXES.contains(&&**value));
        if let Some(chosen) = named.or(variable.as_deref()) {
            let name = ENGINES.into_iter().find(|name| *name == chosen);
            let name = name.ok_or_else(|| RunKind::UnknownEngine { name: chosen.to_owned() })?;
            return Self::on_path(name, environment)
                .ok_or_else(|| unavailable(format!("{name} is not on PATH")));
        }
        let mut found: Vec<Self> =
            ENGINES.iter().filter_map(|name| Self::on_path(name, environment)).collect();
        if found.len() < 2 {
            return found
                .pop()
                .ok_or_else(|| unavailable(format!("none of {} is on PATH", ENGINES.join(", "))));
        }
        let names: Vec<&str> = found.iter().map(|engine| engine.name).collect();
        found
            .into_iter()
            .find(|engine| engine.responds(&Interrupt::new()))
            .ok_or_else(|| unavailable(format!("none of {} responds", names.join(", "))))
    }

    /// `docker`, `podman` or `nerdctl`.
    pub fn name(&self) -> &'static str {
        self.name
    }

    fn on_path(name: &'static str, environment: &Environment) -> Option<Self> {
        let mut programs = environment.search_path().into_iter().map(|dir| dir.join(name));
        let is_program = |path: &PathBuf| {
            path.metadata().is_ok_and(|metadata| process::is_executable(&metadata))
        };
        let program = programs.find(is_program)?;
        Some(Self { name, program, environment: environment.clone() })
    }

    /// A variable of the environment that the engine passes on to containers.
    pub(super) fn variable(&self, name: &str) -> Option<&std::ffi::OsStr> {
        self.environment.get(name)
    }

    /// A command of the client, without arguments yet.
    pub(super) fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.env_clear().envs(self.environment.iter());
        command
    }

    /// The directory for temporary files.
    pub(super) fn temporary_directory(&self) -> &Path {
        Path::new(self.environment.get("TMPDIR").unwrap_or("/tmp".as_ref()))
    }

    /// Whether a run may have ended this way because the image is missing. Compat: nerdctl has no exit code of its own for it.
    pub(super) fn may_lack_image(&self, end: &ExecutionEnd) -> bool {
        match end {
            ExecutionEnd::Exited(code) => {
                *code == OWN_ERROR || (self.name == "nerdctl" && *code != 0)
            }
            ExecutionEnd::Signaled(_) | ExecutionEnd::Stopped(_) => false,
        }
    }

    /// Compat: nerdctl keeps no log of a container that runs in the foreground.
    pub(super) fn has_log_drivers(&self) -> bool {
        self.name != "nerdctl"
    }

    /// Compat: only podman can stop a container after a time.
    pub(super) fn has_timeouts(&self) -> bool {
        self.name == "podman"
    }

    /// Whether the engine responds. Its daemon is asked first where it can be asked without the client, which is faster.
    pub(crate) fn responds(&self, interrupt: &Interrupt) -> bool {
        daemon::is_listening(self.name, &self.environment) || self.answers(interrupt)
    }

    /// Whether the engine, and for docker its daemon, responds.
    pub(super) fn answers(&self, interrupt: &Interrupt) -> bool {
        self.ask(&["version"], VERSION_TIMEOUT, interrupt).is_some()
    }

    /// What the daemon reports about an image, where it can be asked without the client.
    pub(super) fn image_from_daemon(&self, image: &str) -> Option<String> {
        daemon::image(self.name, &self.environment, image)
    }

    /// The output of the client for these arguments, if it succeeds.
    pub(super) fn ask(
        &self,
        args: &[&str],
        time: Duration,
        interrupt: &Interrupt,
    ) -> Option<String> {
        let mut command = self.command();
        command.args(args);
        let limits = Limits { time, output: 1 << 20, ..Limits::default() };
        let interrupt = interrupt.clone();
        let mut invocation = Invocation { limits, interrupt, ..Invocation::new(b"") };
        let execution = process::run(command, &mut invocation).ok()?;
        let text = String::from_utf8_lossy(&execution.stdout).into_owned();
        (execution.end == ExecutionEnd::Exited(0)).then_some(text)
    }
}
