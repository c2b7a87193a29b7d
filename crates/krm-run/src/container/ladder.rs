//! The runtimes of images, strongest and fastest first. A runtime that cannot be used is passed over with a reason, and never replaced
//! by one that isolates less: all of them deny the same.

use super::engine::{ENGINE_VARIABLE, ENGINES, SANDBOXES};
use super::{Container, ContainerSettings, Engine, check};
use crate::sandbox::{Builder, SandboxFailure, SandboxedImage};
use crate::{
    Environment, Execution, ExecutionEnd, Function, FunctionIdentity, Interrupt, Invocation,
    Limits, RunKind, Sandbox,
};

/// Why there is no sandbox where none was passed in: without the client of registries, or where krm does not start itself again.
pub(super) const NOT_BUILT_IN: &str = match cfg!(target_os = "linux") {
    true => "this krm was built without the feature `oci`",
    false => "it needs Linux on x86_64 or aarch64",
};

/// The runtime of images that the user chose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RuntimeChoice {
    /// The first that works.
    Auto,
    Sandbox(Builder),
    Engine(&'static str),
}

impl RuntimeChoice {
    /// The runtime that the user named, or else that `KRM_FN_RUNTIME` names.
    pub(crate) fn of(named: Option<&str>, environment: &Environment) -> Result<Self, RunKind> {
        let variable = environment.get(ENGINE_VARIABLE).and_then(|value| value.to_str());
        let name = named.or(variable.filter(|value| !value.is_empty())).unwrap_or(SANDBOXES[0]);
        Ok(match name {
            "auto" => Self::Auto,
            "krm" => Self::Sandbox(Builder::Krm),
            "bubblewrap" => Self::Sandbox(Builder::Bubblewrap),
            _ => {
                let engine = ENGINES.into_iter().find(|engine| *engine == name);
                Self::Engine(
                    engine.ok_or_else(|| RunKind::UnknownEngine { name: name.to_owned() })?,
                )
            }
        })
    }

    fn builders(self) -> &'static [Builder] {
        match self {
            Self::Auto => &[Builder::Krm, Builder::Bubblewrap],
            Self::Sandbox(Builder::Krm) => &[Builder::Krm],
            Self::Sandbox(Builder::Bubblewrap) => &[Builder::Bubblewrap],
            Self::Engine(_) => &[],
        }
    }

    /// The engine that may run the image.
    fn engine(self, environment: &Environment) -> Option<Result<Engine, RunKind>> {
        match self {
            Self::Auto => Some(Engine::find(None, environment)),
            Self::Engine(name) => Some(Engine::find(Some(name), environment)),
            Self::Sandbox(_) => None,
        }
    }

    /// Checks that something can run images. A sandbox is believed unless a setting of the system forbids it.
    pub(crate) fn check(
        self,
        sandbox: Option<&Sandbox>,
        environment: &Environment,
        interrupt: &Interrupt,
    ) -> Result<(), RunKind> {
        let may_work = sandbox.is_some_and(|sandbox| sandbox.obstacle().is_none());
        if may_work && !self.builders().is_empty() {
            return Ok(());
        }
        match self.engine(environment) {
            None => Ok(()),
            Some(engine) => match engine? {
                engine if engine.responds(interrupt) => Ok(()),
                engine => {
                    let reason = format!("{} does not respond", engine.name());
                    Err(RunKind::NoEngine { reason })
                }
            },
        }
    }
}

impl Sandbox {
    /// An image as a function, in the runtime `krm`, in `bubblewrap`, or with `auto` in the first that works.
    ///
    /// # Errors
    /// If a setting is not allowed or invalid, or the runtime cannot be used.
    pub fn function(
        &self,
        image: &str,
        runtime: &str,
        settings: ContainerSettings,
        environment: &Environment,
    ) -> Result<Box<dyn Function>, RunKind> {
        let choice = RuntimeChoice::of(Some(runtime), environment)?;
        image_function(image, choice, (Some(self), settings), environment)
    }
}

/// The function of an image under the chosen runtime.
///
/// # Errors
/// If a setting is not allowed or invalid, or no runtime can be used.
pub(crate) fn image_function(
    image: &str,
    choice: RuntimeChoice,
    (sandbox, settings): (Option<&Sandbox>, ContainerSettings),
    environment: &Environment,
) -> Result<Box<dyn Function>, RunKind> {
    check(image, &settings)?;
    let (mut sandboxed, mut reasons) = (Vec::new(), Vec::new());
    for builder in choice.builders() {
        let made = match sandbox {
            Some(sandbox) => {
                SandboxedImage::new(image, (sandbox, *builder), &settings, environment)
            }
            None => Err(NOT_BUILT_IN.to_owned()),
        };
        match made {
            Ok(function) => sandboxed.push((*builder, function)),
            Err(reason) => reasons.push(format!("{}: {reason}", builder.name())),
        }
    }
    let engine =
        choice.engine(environment).unwrap_or(Err(RunKind::NoRuntime { reasons: Vec::new() }));
    match engine {
        Ok(engine) if sandboxed.is_empty() => {
            Ok(Box::new(Container::new(image, engine, settings)?))
        }
        Err(error) if sandboxed.is_empty() && (sandbox.is_none() || reasons.is_empty()) => {
            Err(match error {
                RunKind::NoRuntime { .. } => RunKind::NoRuntime { reasons },
                error => error,
            })
        }
        Err(error) if sandboxed.is_empty() => {
            reasons.extend(reason_of(&error));
            Err(RunKind::NoRuntime { reasons })
        }
        engine => {
            let (container, reason) = match engine {
                Ok(engine) => (Some(Container::new(image, engine, settings)?), None),
                Err(error) => (None, reason_of(&error)),
            };
            reasons.extend(reason);
            Ok(Box::new(Ladder { image: image.into(), sandboxed, container, reasons }))
        }
    }
}

fn reason_of(error: &RunKind) -> Option<String> {
    match error {
        RunKind::NoEngine { reason } => Some(format!("container engines: {reason}")),
        _ => None,
    }
}

/// An image that runs in the first runtime that works.
#[derive(Debug)]
struct Ladder {
    image: Box<str>,
    sandboxed: Vec<(Builder, SandboxedImage)>,
    /// The container engine, if it may be used and is installed.
    container: Option<Container>,
    /// Why other runtimes are not used.
    reasons: Vec<String>,
}

impl Function for Ladder {
    fn name(&self) -> &str {
        &self.image
    }

    fn start_ahead(&self, limits: &Limits) {
        if let Some((_, first)) = self.sandboxed.first() {
            first.start_ahead(limits);
        }
    }

    fn identity(&self) -> Option<FunctionIdentity> {
        // All runtimes isolate alike, so they have the same identity.
        let sandboxed = self.sandboxed.first().map(|(_, function)| function.identity());
        sandboxed.unwrap_or_else(|| self.container.as_ref()?.identity())
    }

    fn run(&self, invocation: &mut Invocation<'_>) -> Execution {
        let mut reasons = Vec::new();
        for (builder, function) in &self.sandboxed {
            match function.try_run(invocation) {
                Ok(execution) => return execution,
                Err(SandboxFailure::NoImage(kind)) => {
                    // An image that was built here is in an engine and in no registry.
                    let is_missing =
                        matches!(kind, RunKind::ImageUnavailable { .. } | RunKind::PullDisabled);
                    let container = self.container.as_ref().filter(|_| is_missing);
                    return match container.filter(|it| it.has_image(&invocation.interrupt)) {
                        Some(container) => container.run(invocation),
                        None => Execution::not_started(kind),
                    };
                }
                Err(SandboxFailure::Unusable(reason)) => {
                    reasons.push(format!("{}: {reason}", builder.name()));
                }
            }
        }
        let Some(container) = &self.container else {
            reasons.extend(self.reasons.iter().cloned());
            return Execution::not_started(RunKind::NoRuntime { reasons });
        };
        let execution = container.run(invocation);
        match &execution.end {
            // The engine was the last resort, so the user also needs to know why the others failed.
            ExecutionEnd::Stopped(error @ RunKind::NoEngine { .. }) => {
                reasons.extend(reason_of(error));
                execution.stopped(RunKind::NoRuntime { reasons })
            }
            _ => execution,
        }
    }
}
