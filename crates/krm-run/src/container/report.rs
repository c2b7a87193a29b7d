//! What each runtime of images can do on this machine: what `krm fn doctor` prints.

use super::Engine;
use super::engine::ENGINES;
use super::ladder::NOT_BUILT_IN;
use crate::sandbox::Builder;
use crate::{Environment, Interrupt, RunKind, Sandbox};

/// One runtime of images.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuntimeReport {
    /// Its name, as in `--runtime`.
    pub name: &'static str,
    /// Whether images can run in it.
    pub is_usable: bool,
    /// How it works here, or why it does not.
    pub detail: String,
    /// What to change if it does not work, or works less well than it could.
    pub remedy: Option<String>,
}

/// Tries all runtimes, in the order in which they are used.
pub fn check_runtimes(sandbox: Option<&Sandbox>, environment: &Environment) -> Vec<RuntimeReport> {
    let builders = [Builder::Krm, Builder::Bubblewrap];
    let sandboxes = builders.map(|it| RuntimeReport::of_sandbox(it, sandbox, environment));
    let engines = ENGINES.map(|name| RuntimeReport::of_engine(name, environment));
    sandboxes.into_iter().chain(engines).collect()
}

impl RuntimeReport {
    fn of_sandbox(builder: Builder, sandbox: Option<&Sandbox>, environment: &Environment) -> Self {
        let name = builder.name();
        let unusable = |detail: String, remedy| Self { name, is_usable: false, detail, remedy };
        let Some(sandbox) = sandbox else {
            return unusable(NOT_BUILT_IN.to_owned(), None);
        };
        let directory = match tempfile::tempdir() {
            Ok(directory) => directory,
            Err(error) => return unusable(format!("cannot create a directory: {error}"), None),
        };
        let checked = sandbox.check(builder, directory.path().to_owned(), environment);
        match checked {
            Ok(check) => {
                let limits = match check.has_group {
                    true => "memory and processes limited by a control group",
                    false => {
                        "memory limited per process, because krm may not create control groups"
                    }
                };
                let proc = if check.has_proc {
                    ""
                } else {
                    "; functions have no /proc, because the kernel does not allow to mount it here"
                };
                Self { name, is_usable: true, detail: format!("{limits}{proc}"), remedy: None }
            }
            Err(reason) => {
                // What bwrap says names the reason already, and it may not even have been started.
                let obstacle = sandbox.obstacle().filter(|_| builder == Builder::Krm);
                let obstacle = obstacle.map(|it| format!(" ({it})")).unwrap_or_default();
                unusable(format!("{reason}{obstacle}"), sandbox.remedy(builder, environment))
            }
        }
    }

    fn of_engine(name: &'static str, environment: &Environment) -> Self {
        let (is_usable, detail, remedy) = match Engine::find(Some(name), environment) {
            Ok(engine) if engine.responds(&Interrupt::new()) => {
                (true, "it responds".to_owned(), None)
            }
            Ok(_) => (false, "it does not respond".to_owned(), Some(format!("start {name}"))),
            Err(RunKind::NoEngine { reason }) => (false, reason, None),
            Err(error) => (false, error.to_string(), None),
        };
        Self { name, is_usable, detail, remedy }
    }
}
