//! An image in a sandbox. It is one of the runtimes among which `crate::container` chooses.

use std::path::PathBuf;
use std::time::Duration;

use super::linux::{self, Group, Purpose};
use super::{Builder, Sandbox, UnpackedImage};
use crate::container::identity;
use crate::process::RunningChild;
use crate::started_ahead::StartedAhead;
use crate::{
    ContainerSettings, Environment, Execution, FunctionIdentity, Interrupt, Invocation, Limits,
    Pull, RunKind,
};

/// How long an unneeded sandbox may take to exit by itself.
const EXIT_TIME: Duration = Duration::from_millis(200);

/// An image that runs in a sandbox.
#[derive(Debug)]
pub(crate) struct SandboxedImage {
    image: Box<str>,
    sandbox: Sandbox,
    builder: Builder,
    settings: ContainerSettings,
    environment: Environment,
    /// A sandbox that was started for the next run.
    started_ahead: StartedAhead<Running>,
}

/// A sandbox that has received no input yet. Dropping it kills its processes and then removes its control group: the order of the fields
/// matters.
#[derive(Debug)]
pub(super) struct Running {
    pub(super) child: RunningChild,
    pub(super) group: Option<Group>,
    pub(super) image: UnpackedImage,
    /// Marks messages of stages.
    pub(super) token: String,
}

/// Why there is no execution.
#[derive(Debug)]
pub(crate) enum SandboxFailure {
    /// The sandbox cannot be built on this machine. Nothing has run.
    Unusable(String),
    /// The image is not available.
    NoImage(RunKind),
}

impl SandboxedImage {
    /// An image in a sandbox. Nothing is started or pulled yet.
    ///
    /// # Errors
    /// Why the sandbox cannot do what the settings ask for.
    pub(crate) fn new(
        image: &str,
        (sandbox, builder): (&Sandbox, Builder),
        settings: &ContainerSettings,
        environment: &Environment,
    ) -> Result<Self, String> {
        if let crate::Network::Named(name) = &settings.network {
            return Err(format!("the network `{name}` is one of a container engine"));
        }
        if let Some(mount) = settings.mounts.iter().find(|mount| mount.is_volume()) {
            return Err(format!("the volume `{}` is one of a container engine", mount.source()));
        }
        if builder == Builder::Bubblewrap && settings.writable_root {
            return Err("it cannot make the root writable".to_owned());
        }
        Ok(Self {
            image: image.into(),
            sandbox: sandbox.clone(),
            builder,
            settings: settings.clone(),
            environment: environment.clone(),
            started_ahead: StartedAhead::default(),
        })
    }

    fn start(
        &self,
        pull: Pull,
        limits: &Limits,
        interrupt: &Interrupt,
    ) -> Result<Running, SandboxFailure> {
        if let Some(reason) = self.sandbox.failure(self.builder) {
            return Err(SandboxFailure::Unusable(reason));
        }
        let image = self.sandbox.images.get(&self.image, pull, interrupt);
        let image = image.map_err(SandboxFailure::NoImage)?;
        let settings = (&self.settings, &self.environment);
        linux::start((&self.sandbox, self.builder), image, settings, (limits, Purpose::Run))
            .map_err(|reason| self.unusable(reason))
    }

    fn unusable(&self, reason: String) -> SandboxFailure {
        self.sandbox.record_failure(self.builder, reason.clone());
        SandboxFailure::Unusable(reason)
    }

    /// Starts a sandbox for the next run, if the image is in the store.
    pub(crate) fn start_ahead(&self, limits: &Limits) {
        let start = || self.start(Pull::Never, limits, &Interrupt::new()).ok();
        self.started_ahead.start(&self.settings, start);
    }

    pub(crate) fn identity(&self) -> Option<FunctionIdentity> {
        identity(&self.image, &self.settings, |name| self.environment.get(name))
    }

    /// Runs the image.
    ///
    /// # Errors
    /// If nothing has run.
    pub(crate) fn try_run(
        &self,
        invocation: &mut Invocation<'_>,
    ) -> Result<Execution, SandboxFailure> {
        let (limits, interrupt) = (invocation.limits, invocation.interrupt.clone());
        let ahead = self.started_ahead.take();
        if interrupt.is_interrupted() {
            return Err(SandboxFailure::NoImage(RunKind::Interrupted));
        }
        let running = match ahead {
            Some(running) => running,
            None => self.start(self.settings.pull, &limits, &interrupt)?,
        };
        let Running { child, group, image, token } = running;
        let execution = {
            // Removed as soon as no process is left in it.
            let _group = group;
            child.finish(invocation)
        };
        let execution = execution.map_err(|error| self.unusable(error.to_string()))?;
        match stage_message(&execution, &token) {
            None => Ok(Execution { image: Some(image.image), ..execution }),
            Some((true, message)) => {
                let kind = RunKind::CannotStart { reason: message };
                Ok(Execution { image: Some(image.image), ..Execution::not_started(kind) })
            }
            Some((false, message)) => Err(self.unusable(message)),
        }
    }
}

/// The message of a stage that failed, and whether only the program of the image could not be started.
fn stage_message(execution: &Execution, token: &str) -> Option<(bool, String)> {
    let last = execution.stderr.last_lines(1).pop()?;
    let (kind, message) = last.strip_prefix(token)?.trim_start().split_once(' ')?;
    if execution.exit_code() != Some(linux::FAILED) {
        return None;
    }
    // What bwrap printed before says more than its exit code.
    let mut lines = execution.stderr.last_lines(2);
    let message = if lines.len() == 2 { lines.remove(0) } else { message.to_owned() };
    Some((kind == linux::PROGRAM_FAILED, message))
}

impl Drop for SandboxedImage {
    fn drop(&mut self) {
        let Some(Running { child, .. }) = self.started_ahead.take() else { return };
        // Most functions exit when their input ends.
        let limits = Limits { time: EXIT_TIME, ..Limits::default() };
        let _ = child.finish(&mut Invocation { limits, ..Invocation::new(b"") });
    }
}

/// Whether a sandbox can be built here, and what it can do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SandboxCheck {
    /// Whether functions have `/proc`.
    pub(crate) has_proc: bool,
    /// Whether control groups limit memory and processes of a function as a whole.
    pub(crate) has_group: bool,
}

impl Sandbox {
    /// Builds a sandbox around an empty directory, in which nothing runs.
    ///
    /// # Errors
    /// Why that is not possible.
    pub(crate) fn check(
        &self,
        builder: Builder,
        directory: PathBuf,
        environment: &Environment,
    ) -> Result<SandboxCheck, String> {
        let image = UnpackedImage {
            root: directory,
            image: crate::Image { id: "check".into(), digest: None },
            entrypoint: Vec::new(),
            arguments: Vec::new(),
            variables: Vec::new(),
            working_directory: String::new(),
            lease: Box::new(()),
        };
        let settings = ContainerSettings::default();
        let running = linux::start(
            (self, builder),
            image,
            (&settings, environment),
            (&Limits::default(), Purpose::Check),
        )?;
        let Running { child, group, token, .. } = running;
        let has_group = group.is_some();
        let execution =
            child.finish(&mut Invocation::new(b"")).map_err(|error| error.to_string())?;
        match (execution.exit_code(), stage_message(&execution, &token)) {
            (Some(0), _) => {
                let has_proc = !String::from_utf8_lossy(&execution.stdout).contains("proc: false");
                Ok(SandboxCheck { has_proc, has_group })
            }
            (_, Some((_, message))) => Err(message),
            _ => Err(execution
                .stderr
                .last_lines(1)
                .pop()
                .unwrap_or_else(|| "it did not start".to_owned())),
        }
    }
}
