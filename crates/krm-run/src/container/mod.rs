//! Functions as containers, with the environment that the specification promises and nothing beside it.

mod arguments;
mod cleanup;
mod daemon;
mod engine;
mod image;
mod mount;

use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

pub use engine::Engine;
pub use image::{Image, Pull};
pub use mount::Mount;

use self::cleanup::Cleanup;
use crate::function::{End, Ran};
use crate::{Failure, Function, Interrupt, Limits, Listener, Outcome, Reason, Variable, process};

/// What a container may touch. The default is nothing: no network, no folder, nobody's rights.
#[derive(Clone, Debug, Default)]
pub struct ContainerSettings {
    /// The folder of the functionConfig, seen as `/local` and not written. An absolute path.
    pub local: Option<PathBuf>,
    /// Which network there is.
    pub network: Network,
    /// Whether the person allowed a network at all.
    pub allow_network: bool,
    /// Other folders and volumes.
    pub mounts: Vec<Mount>,
    /// Variables beside those of the image.
    pub variables: Vec<Variable>,
    /// Whose rights it has.
    pub user: User,
    /// Whether the image's own folders can be written; what is written is gone with the container.
    pub writable_root: bool,
    /// When the image is fetched.
    pub pull: Pull,
    /// Arguments for the image's command.
    pub args: Vec<String>,
}

/// The network of a container.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Network {
    /// None but its own loopback.
    #[default]
    None,
    /// That of the machine.
    Host,
    /// One that the engine knows by this name.
    Named(Box<str>),
}

/// Whose rights a container has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum User {
    /// Nobody, as `65534:65534`: images without a list of users know no name.
    #[default]
    Nobody,
    /// The person who runs krm.
    Current,
}

/// An image as a function.
#[derive(Debug)]
pub struct Container {
    image: Box<str>,
    engine: Engine,
    settings: ContainerSettings,
    /// One that was started for the next run.
    ahead: Mutex<Option<Running>>,
}

/// A container that runs and got no input yet. Dropped, it is gone: first the engine's program, then what that made.
#[derive(Debug)]
struct Running {
    program: process::Started,
    cleanup: Cleanup,
}

/// What a container gets to end by itself that nobody needs any more.
const LEAVE: Duration = Duration::from_secs(1);

impl Running {
    /// Lets go of it. Most end by themselves without input, which is sooner and surer than to look for a container
    /// that its engine may be making just now.
    fn dismiss(self) {
        let limits = Limits { time: LEAVE, ..Limits::default() };
        let ran = self.program.serve(b"", &limits, &Interrupt::new(), &mut |_| {});
        if ran.is_ok_and(|ran| matches!(ran.end, End::Exit(_))) {
            self.cleanup.is_done();
        }
    }
}

impl Container {
    /// A container of this image on this engine. Nothing is started or fetched yet.
    ///
    /// ```
    /// # #[cfg(unix)] {
    /// use krm_run::{Container, ContainerSettings, Engine, Environment, Network};
    ///
    /// # let folder = tempfile::tempdir().expect("a temporary folder");
    /// # let docker = folder.path().join("docker");
    /// # std::fs::write(&docker, "#!/bin/sh\n").expect("a file");
    /// # std::fs::set_permissions(&docker, std::os::unix::fs::PermissionsExt::from_mode(0o755)).expect("a mode");
    /// # let environment = Environment::from_iter([("PATH", folder.path())]);
    /// let engine = Engine::find("example.com/set-labels:v1", Some("docker"), &environment)?;
    /// let settings = ContainerSettings { network: Network::Host, ..ContainerSettings::default() };
    /// let refused = Container::new("example.com/set-labels:v1", engine, settings).expect_err("no network is allowed");
    /// assert_eq!(refused.reason, krm_run::Reason::NetworkNotAllowed);
    /// # }
    /// # Ok::<(), krm_run::Failure>(())
    /// ```
    ///
    /// # Errors
    /// A [`Failure`] where the network is wanted and not allowed, or where a setting makes no sense.
    pub fn new(image: &str, engine: Engine, settings: ContainerSettings) -> Result<Self, Failure> {
        if settings.network != Network::None && !settings.allow_network {
            return Err(Failure::new(image, Reason::NetworkNotAllowed));
        }
        arguments::check(image, &settings)
            .map_err(|words| Failure::new(image, Reason::Unusable(words.into())))?;
        Ok(Self { image: image.into(), engine, settings, ahead: Mutex::default() })
    }

    /// Whether it can change nothing outside, whatever it does before it knows its input.
    fn is_closed(&self) -> bool {
        self.settings.network == Network::None && self.settings.mounts.is_empty()
    }

    /// Starts a container of what is here.
    fn launch(&self, limits: &Limits) -> Result<Running, Failure> {
        let failure = |error| self.failure(cannot_start(&error));
        let cleanup = Cleanup::new(self.engine.clone()).map_err(failure)?;
        let mut command = self.engine.command();
        command.current_dir(cleanup.folder()).args(arguments::run(self, cleanup.name(), limits));
        let program = process::Started::new(command).map_err(failure)?;
        Ok(Running { program, cleanup })
    }

    /// One try: the container to its end, and beside it the question which image that is.
    fn attempt(
        &self,
        running: Running,
        input: &[u8],
        limits: &Limits,
        interrupt: &Interrupt,
        listener: &mut Listener<'_>,
    ) -> Result<(Ran, Option<Image>), Failure> {
        let Running { program, cleanup } = running;
        let (ran, image) = thread::scope(|scope| {
            // Asking takes as long as starting; side by side it costs nothing.
            let asked = scope.spawn(|| image::inspect(&self.engine, &self.image, interrupt));
            let ran = program.serve(input, limits, interrupt, listener);
            (ran, asked.join().unwrap_or_default())
        });
        let ran = ran.map_err(|error| self.failure(cannot_start(&error)))?;
        if matches!(ran.end, End::Exit(_)) {
            cleanup.is_done();
        }
        Ok((ran, image))
    }

    fn ahead(&self) -> MutexGuard<'_, Option<Running>> {
        self.ahead.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Why the engine had no image to run, where that is the reason; fetches it where that is wanted.
    fn fetch(&self, ran: &Ran, interrupt: &Interrupt) -> Result<(), Failure> {
        if !self.engine.answers(interrupt) {
            let code = if let End::Exit(code) = ran.end { code } else { 0 };
            let reason = Reason::Engine { engine: self.engine.name(), code };
            return Err(ran.clone().into_failure(&self.image, reason));
        }
        if self.settings.pull == Pull::Never {
            return Err(self.failure(Reason::NoImage("it is not to be pulled".into())));
        }
        self.pull(interrupt)
    }

    fn pull(&self, interrupt: &Interrupt) -> Result<(), Failure> {
        let ran = image::pull(&self.engine, &self.image, interrupt)
            .map_err(|error| self.failure(cannot_start(&error)))?;
        let reason = match ran.end {
            End::Exit(0) => return Ok(()),
            End::Exit(code) => {
                let words = format!("{} pull ended with exit code {code}", self.engine.name());
                Reason::NoImage(words.into())
            }
            End::Stopped(ref reason) => reason.clone(),
            End::Signal(number) => Reason::Signal(number),
        };
        Err(ran.into_failure(&self.image, reason))
    }

    fn failure(&self, reason: Reason) -> Failure {
        Failure::new(&self.image, reason)
    }
}

impl Drop for Container {
    fn drop(&mut self) {
        if let Some(running) = self.ahead().take() {
            running.dismiss();
        }
    }
}

impl Function for Container {
    fn name(&self) -> &str {
        &self.image
    }

    fn start(&self, limits: &Limits) {
        // What is pulled before every run is not here yet.
        if self.is_closed() && self.settings.pull != Pull::Always {
            *self.ahead() = self.launch(limits).ok();
        }
    }

    fn run_heard(
        &self,
        input: &[u8],
        limits: &Limits,
        interrupt: &Interrupt,
        listener: &mut Listener<'_>,
    ) -> Result<Outcome, Failure> {
        let ahead = self.ahead().take();
        if interrupt.is_interrupted() {
            return Err(self.failure(Reason::Interrupted));
        }
        if self.settings.pull == Pull::Always {
            self.pull(interrupt)?;
        }
        let running = ahead.map_or_else(|| self.launch(limits), Ok)?;
        let (mut ran, mut image) = self.attempt(running, input, limits, interrupt, listener)?;
        if image.is_none() && self.engine.has_perhaps_no_image(&ran.end) {
            self.fetch(&ran, interrupt)?;
            let running = self.launch(limits)?;
            (ran, image) = self.attempt(running, input, limits, interrupt, listener)?;
        }
        if ran.end == End::Exit(engine::OWN_ERROR) {
            let reason = Reason::Engine { engine: self.engine.name(), code: engine::OWN_ERROR };
            return Err(ran.into_failure(&self.image, reason));
        }
        match ran.judge(&self.image) {
            Ok(outcome) => Ok(Outcome { image, ..outcome }),
            Err(failure) => Err(failure.of_image(image)),
        }
    }
}

fn cannot_start(error: &std::io::Error) -> Reason {
    Reason::CannotStart(error.to_string().into())
}
