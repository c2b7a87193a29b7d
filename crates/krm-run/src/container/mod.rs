//! Container functions, with the environment that the functions specification promises and nothing else.

mod arguments;
mod cache_identity;
mod cleanup;
mod daemon;
mod engine;
mod image;
mod ladder;
mod mount;
mod report;

use std::path::PathBuf;
use std::thread;
use std::time::Duration;

pub(crate) use cache_identity::identity;
pub use engine::Engine;
pub use image::{Image, Pull};
pub(crate) use ladder::{RuntimeChoice, image_function};
pub use mount::Mount;
pub use report::{RuntimeReport, check_runtimes};

use self::cleanup::Cleanup;
use crate::started_ahead::StartedAhead;
use crate::{
    Execution, ExecutionEnd, Function, FunctionIdentity, Interrupt, Invocation, Limits, RunKind,
    Variable, process,
};

/// What a container may access. The default is nothing: no network, no directories, the user `nobody`.
#[derive(Clone, Debug, Default)]
pub struct ContainerSettings {
    /// The directory of the functionConfig, mounted read-only as `/local`. An absolute path.
    pub local: Option<PathBuf>,
    /// The network of the container.
    pub network: Network,
    /// Whether the user allowed network access.
    pub allow_network: bool,
    /// Further directories and volumes.
    pub mounts: Vec<Mount>,
    /// Variables in addition to those of the image.
    pub variables: Vec<Variable>,
    /// The user it runs as.
    pub user: User,
    /// Whether the root file system is writable; changes are lost with the container.
    pub writable_root: bool,
    /// When the image is pulled.
    pub pull: Pull,
    /// Arguments for the entrypoint of the image.
    pub args: Vec<String>,
}

/// The network of a container.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Network {
    /// Only the container's own loopback interface.
    #[default]
    None,
    /// The network of the host.
    Host,
    /// A network of the engine with this name.
    Named(Box<str>),
}

/// The user that a container runs as.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum User {
    /// `65534:65534`, by number because not every image has an `/etc/passwd`.
    #[default]
    Nobody,
    /// The user and group that run krm.
    Current,
}

/// An image as a function.
#[derive(Debug)]
pub struct Container {
    image: Box<str>,
    engine: Engine,
    settings: ContainerSettings,
    /// A container that was started for the next run.
    started_ahead: StartedAhead<RunningContainer>,
}

/// A container that runs and has received no input yet. Dropping it kills the engine's client and then removes the
/// container: the order of the fields matters.
#[derive(Debug)]
struct RunningContainer {
    client: process::RunningChild,
    cleanup: Cleanup,
}

/// How long an unneeded container may take to exit by itself.
const EXIT_TIME: Duration = Duration::from_secs(1);

impl RunningContainer {
    /// Ends a container that is not needed. Most functions exit when their input ends, which is faster and more reliable
    /// than `rm --force` of a container that the engine may just be creating.
    fn dismiss(self) {
        let limits = Limits { time: EXIT_TIME, ..Limits::default() };
        let execution = self.client.finish(&mut Invocation { limits, ..Invocation::new(b"") });
        if execution.is_ok_and(|it| it.exit_code().is_some()) {
            self.cleanup.disarm();
        }
    }
}

impl Container {
    /// A container of an image on an engine. Nothing is started or pulled yet.
    ///
    /// ```
    /// # #[cfg(unix)] {
    /// use krm_run::{Container, ContainerSettings, Engine, Environment, Network};
    ///
    /// # let directory = tempfile::tempdir().expect("a temporary directory");
    /// # let docker = directory.path().join("docker");
    /// # std::fs::write(&docker, "#!/bin/sh\n").expect("a file");
    /// # std::fs::set_permissions(&docker, std::os::unix::fs::PermissionsExt::from_mode(0o755)).expect("a mode");
    /// # let environment = Environment::from_iter([("PATH", directory.path())]);
    /// let engine = Engine::find(Some("docker"), &environment)?;
    /// let settings = ContainerSettings { network: Network::Host, ..ContainerSettings::default() };
    /// let error = Container::new("example.com/set-labels:v1", engine, settings).expect_err("the network is not allowed");
    /// assert_eq!(error, krm_run::RunKind::NetworkNotAllowed);
    /// # }
    /// # Ok::<(), krm_run::RunKind>(())
    /// ```
    ///
    /// # Errors
    /// If a network is requested and not allowed, or a setting is invalid.
    pub fn new(image: &str, engine: Engine, settings: ContainerSettings) -> Result<Self, RunKind> {
        check(image, &settings)?;
        Ok(Self { image: image.into(), engine, settings, started_ahead: StartedAhead::default() })
    }

    /// Starts a container of the image that is present.
    fn launch(&self, limits: &Limits) -> Result<RunningContainer, RunKind> {
        let cleanup = Cleanup::new(self.engine.clone()).map_err(|error| cannot_start(&error))?;
        let mut command = self.engine.command();
        command.current_dir(cleanup.directory()).args(arguments::run_arguments(
            self,
            cleanup.name(),
            limits,
        ));
        let client = process::RunningChild::start(command).map_err(|error| cannot_start(&error))?;
        Ok(RunningContainer { client, cleanup })
    }

    /// One attempt: runs the container until it exits, and asks the engine meanwhile which image that is.
    fn attempt(
        &self,
        container: RunningContainer,
        invocation: &mut Invocation<'_>,
    ) -> Result<Execution, RunKind> {
        let RunningContainer { client, cleanup } = container;
        let interrupt = invocation.interrupt.clone();
        let (execution, image) = thread::scope(|scope| {
            // `image inspect` takes as long as starting the container; in parallel it costs nothing.
            let inspection = scope.spawn(|| image::inspect(&self.engine, &self.image, &interrupt));
            let execution = client.finish(invocation);
            (execution, inspection.join().unwrap_or_default())
        });
        let execution = execution.map_err(|error| cannot_start(&error))?;
        if execution.exit_code().is_some() {
            cleanup.disarm();
        }
        Ok(Execution { image, ..execution })
    }

    /// Whether the engine has the image.
    pub(crate) fn has_image(&self, interrupt: &Interrupt) -> bool {
        image::inspect(&self.engine, &self.image, interrupt).is_some()
    }

    /// Pulls the image after an attempt without one.
    ///
    /// Engines are not asked for the image before the first attempt, because that would cost as much as the run itself.
    #[expect(
        clippy::result_large_err,
        reason = "a failed execution is as large as a successful one, and is not copied often"
    )]
    fn pull_missing(&self, failed: Execution, interrupt: &Interrupt) -> Result<(), Execution> {
        if !self.engine.answers(interrupt) {
            let code = failed.exit_code().unwrap_or_default();
            let reason = format!("{} exited with code {code}", self.engine.name());
            return Err(failed.stopped(RunKind::NoEngine { reason }));
        }
        if self.settings.pull == Pull::Never {
            return Err(Execution::not_started(RunKind::PullDisabled));
        }
        self.pull(interrupt)
    }

    #[expect(
        clippy::result_large_err,
        reason = "a failed execution is as large as a successful one, and is not copied often"
    )]
    fn pull(&self, interrupt: &Interrupt) -> Result<(), Execution> {
        let pulled = image::pull(&self.engine, &self.image, interrupt)
            .map_err(|error| Execution::not_started(cannot_start(&error)))?;
        match pulled.end {
            ExecutionEnd::Exited(0) => Ok(()),
            ExecutionEnd::Exited(code) => {
                let engine = self.engine.name();
                Err(pulled.stopped(RunKind::PullFailed { engine, code }))
            }
            ExecutionEnd::Signaled(_) | ExecutionEnd::Stopped(_) => Err(pulled),
        }
    }

    #[expect(
        clippy::result_large_err,
        reason = "a failed execution is as large as a successful one, and is not copied often"
    )]
    fn try_run(&self, invocation: &mut Invocation<'_>) -> Result<Execution, Execution> {
        let not_started = Execution::not_started;
        let (limits, interrupt) = (invocation.limits, invocation.interrupt.clone());
        let ahead = self.started_ahead.take();
        if interrupt.is_interrupted() {
            return Err(not_started(RunKind::Interrupted));
        }
        if self.settings.pull == Pull::Always {
            self.pull(&interrupt)?;
        }
        let container = ahead.map_or_else(|| self.launch(&limits), Ok).map_err(not_started)?;
        let mut execution = self.attempt(container, invocation).map_err(not_started)?;
        if execution.image.is_none() && self.engine.may_lack_image(&execution.end) {
            self.pull_missing(execution, &interrupt)?;
            let container = self.launch(&limits).map_err(not_started)?;
            execution = self.attempt(container, invocation).map_err(not_started)?;
        }
        if execution.exit_code() == Some(engine::OWN_ERROR) {
            let (engine, code) = (self.engine.name(), engine::OWN_ERROR);
            return Err(Execution { image: None, ..execution }
                .stopped(RunKind::EngineFailed { engine, code }));
        }
        Ok(execution)
    }
}

impl Drop for Container {
    fn drop(&mut self) {
        if let Some(container) = self.started_ahead.take() {
            container.dismiss();
        }
    }
}

impl Function for Container {
    fn name(&self) -> &str {
        &self.image
    }

    fn start_ahead(&self, limits: &Limits) {
        self.started_ahead.start(&self.settings, || self.launch(limits).ok());
    }

    fn identity(&self) -> Option<FunctionIdentity> {
        identity(&self.image, &self.settings, |name| self.engine.variable(name))
    }

    fn run(&self, invocation: &mut Invocation<'_>) -> Execution {
        self.try_run(invocation).unwrap_or_else(|failed| failed)
    }
}

/// Checks that the settings are valid, and that the network is allowed if they ask for one.
pub(crate) fn check(image: &str, settings: &ContainerSettings) -> Result<(), RunKind> {
    if settings.network != Network::None && !settings.allow_network {
        return Err(RunKind::NetworkNotAllowed);
    }
    arguments::check(image, settings).map_err(|reason| RunKind::InvalidSettings { reason })
}

/// Whether a container cannot affect anything outside, whatever it does before it receives input.
pub(crate) fn is_isolated(settings: &ContainerSettings) -> bool {
    settings.network == Network::None && settings.mounts.is_empty()
}

fn cannot_start(error: &std::io::Error) -> RunKind {
    RunKind::CannotStart { reason: error.to_string() }
}
