//! The container engine: which one, where its program is, and whether it answers.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use super::daemon;
use crate::function::End;
use crate::{Environment, Failure, Interrupt, Limits, Reason, process};

/// The exit code with which engines report errors of their own.
pub(super) const OWN_ERROR: i32 = 125;
/// In the order in which they are tried.
const KNOWN: [&str; 3] = ["docker", "podman", "nerdctl"];
/// The variable that chooses one. Compat: kpt reads the same.
const VARIABLE: &str = "KRM_FN_RUNTIME";
/// An engine that takes longer to say its version does not answer.
const PATIENCE: Duration = Duration::from_secs(20);

/// `docker`, `podman` or `nerdctl`, with the environment that it is started in.
#[derive(Clone, Debug)]
pub struct Engine {
    name: &'static str,
    program: PathBuf,
    environment: Environment,
}

impl Engine {
    /// The engine for a function: the one that the person named, or `KRM_FN_RUNTIME` names, or the first that answers.
    ///
    /// The only one that is installed is not asked first: if it does not answer, running says so.
    ///
    /// # Errors
    /// A [`Failure`] of that function where there is no such engine.
    pub fn find(
        function: &str,
        named: Option<&str>,
        environment: &Environment,
    ) -> Result<Self, Failure> {
        let failure = |words: String| Failure::new(function, Reason::NoEngine(words.into()));
        let variable = environment.get(VARIABLE).map(|value| value.to_string_lossy().into_owned());
        let variable = variable.filter(|value| !value.is_empty());
        if let Some(wanted) = named.or(variable.as_deref()) {
            let name = KNOWN.into_iter().find(|name| *name == wanted).ok_or_else(|| {
                failure(format!("`{wanted}` is none; there are {}", KNOWN.join(", ")))
            })?;
            return Self::on_path(name, environment)
                .ok_or_else(|| failure(format!("{name} is not on PATH")));
        }
        let mut found: Vec<Self> =
            KNOWN.iter().filter_map(|name| Self::on_path(name, environment)).collect();
        if found.len() < 2 {
            return found
                .pop()
                .ok_or_else(|| failure(format!("none of {} is on PATH", KNOWN.join(", "))));
        }
        let names: Vec<&str> = found.iter().map(|engine| engine.name).collect();
        found
            .into_iter()
            .find(|engine| {
                daemon::is_there(engine.name, environment) || engine.answers(&Interrupt::new())
            })
            .ok_or_else(|| failure(format!("none of {} answers", names.join(", "))))
    }

    /// `docker`, `podman` or `nerdctl`.
    pub fn name(&self) -> &'static str {
        self.name
    }

    fn on_path(name: &'static str, environment: &Environment) -> Option<Self> {
        let mut programs = environment.search_path().into_iter().map(|folder| folder.join(name));
        let is_program = |path: &PathBuf| {
            path.metadata().is_ok_and(|metadata| process::is_executable(&metadata))
        };
        let program = programs.find(is_program)?;
        Some(Self { name, program, environment: environment.clone() })
    }

    /// The program with its environment, waiting for words.
    pub(super) fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.env_clear().envs(self.environment.iter());
        command
    }

    /// Where its environment has temporary folders.
    pub(super) fn temporary(&self) -> &Path {
        Path::new(self.environment.get("TMPDIR").unwrap_or("/tmp".as_ref()))
    }

    /// Whether this can be the end of a container that has no image. Compat: nerdctl has no exit code for it.
    pub(super) fn has_perhaps_no_image(&self, end: &End) -> bool {
        match end {
            End::Exit(code) => *code == OWN_ERROR || (self.name == "nerdctl" && *code != 0),
            End::Signal(_) | End::Stopped(_) => false,
        }
    }

    /// Compat: nerdctl keeps no log of a container that it waits for.
    pub(super) fn has_log_drivers(&self) -> bool {
        self.name != "nerdctl"
    }

    /// Compat: podman alone can end a container by itself.
    pub(super) fn has_timeouts(&self) -> bool {
        self.name == "podman"
    }

    /// Whether it can do something now; for docker that is a question for the daemon.
    pub(super) fn answers(&self, interrupt: &Interrupt) -> bool {
        self.ask(&["version"], PATIENCE, interrupt).is_some()
    }

    /// What its daemon says about an image, where it can be asked without the program.
    pub(super) fn image(&self, image: &str) -> Option<String> {
        daemon::image(self.name, &self.environment, image)
    }

    /// What it says to a question, if it ends well.
    pub(super) fn ask(
        &self,
        words: &[&str],
        time: Duration,
        interrupt: &Interrupt,
    ) -> Option<String> {
        let mut command = self.command();
        command.args(words);
        let limits = Limits { time, output: 1 << 20, ..Limits::default() };
        let ran = process::run(command, b"", &limits, interrupt, &mut |_| {}).ok()?;
        let text = String::from_utf8_lossy(&ran.stdout).into_owned();
        (ran.end == End::Exit(0)).then_some(text)
    }
}
