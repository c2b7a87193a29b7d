//! What functions may touch, by flags, and how one is made ready with it.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use krm_core::Diagnostic;
use krm_run::{
    Container, ContainerSettings, Engine, Environment, Exec, ExecSettings, Function, Mount,
    Network, Pull, Resolution, Runner, ScalarType, Script, UseBuiltin, User, Variable, Wasi,
    WasiSettings,
};

use krm_sdk::ResourceList;

use super::images::Images;
use super::limits::LimitFlags;
use super::running::with_meant;
use crate::Failure;

/// What functions may touch.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Permissions of functions")]
pub(super) struct Permissions {
    /// Run commands that packages declare
    #[arg(long, visible_alias = "enable-exec")]
    allow_exec: bool,

    /// Give containers the network of the machine
    #[arg(long, visible_alias = "allow-network")]
    network: bool,

    /// Let containers see a folder, read-only unless rw=true: type=bind,src=DIR,dst=PATH[,rw=true]
    #[arg(long, value_name = "MOUNT", value_parser = mount)]
    mount: Vec<String>,

    /// A variable of functions; by its name alone it is passed on
    #[arg(short, long, value_name = "NAME[=VALUE]")]
    env: Vec<Variable>,

    /// Run containers with your own user and group instead of nobody's
    #[arg(long)]
    as_current_user: bool,

    /// Let containers write to their own root; what they write is gone with them
    #[arg(long)]
    writable_root: bool,

    /// When images are fetched: Always, IfNotPresent, Never
    #[arg(long, value_name = "POLICY", default_value = "IfNotPresent")]
    image_pull_policy: Pull,

    /// The container engine: docker, podman or nerdctl [default: $KRM_FN_RUNTIME, or the first that answers]
    #[arg(long, value_name = "ENGINE")]
    runtime: Option<String>,

    /// Compat: modules need no permission here
    #[arg(long, hide = true)]
    allow_alpha_wasm: bool,

    #[command(flatten)]
    images: Images,

    #[command(flatten)]
    pub(super) limits: LimitFlags,
}

/// What a function asks for beside what the person says.
#[derive(Clone, Debug, Default)]
pub(super) struct Asks {
    pub(super) network: bool,
    pub(super) mounts: Vec<String>,
    pub(super) envs: Vec<String>,
    /// The folder that a container sees as /local.
    pub(super) local: Option<PathBuf>,
}

/// Makes functions ready.
pub(super) struct Workshop<'a> {
    permissions: &'a Permissions,
    resolution: Resolution,
    stands: PathBuf,
    environment: Environment,
    /// The folder that commands run in.
    folder: PathBuf,
}

impl Permissions {
    /// Whether functions may have the network of the machine.
    pub(super) fn has_network(&self) -> bool {
        self.network
    }

    /// A flag that is given and says something only about containers.
    pub(super) fn about_containers(&self) -> Option<&'static str> {
        let flags = [
            (self.network, "--network"),
            (!self.mount.is_empty(), "--mount"),
            (self.as_current_user, "--as-current-user"),
            (self.writable_root, "--writable-root"),
            (self.runtime.is_some(), "--runtime"),
        ];
        flags.into_iter().find(|(is_given, _)| *is_given).map(|(_, name)| name)
    }

    /// A workshop for the functions of a package.
    pub(super) fn workshop(&self, dir: Option<&Path>) -> Result<Workshop<'_>, Failure> {
        let stands = env::current_dir()?;
        // What is not there is told when the package is read.
        let folder =
            dir.and_then(|dir| fs::canonicalize(dir).ok()).and_then(|it| match it.is_dir() {
                true => Some(it),
                false => it.parent().map(Path::to_owned),
            });
        let folder = folder.unwrap_or_else(|| stands.clone());
        let resolution = self.images.resolution()?;
        let environment = env::vars_os().collect();
        Ok(Workshop { permissions: self, resolution, stands, environment, folder })
    }
}

impl Workshop<'_> {
    /// The folder of the package on the disk.
    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// What people call an image: with its prefix and tag.
    pub(super) fn image_name(&self, image: &str, tag: Option<&str>) -> String {
        self.resolution.whole_name(image, tag)
    }

    /// The same without a tag.
    pub(super) fn bare_name(&self, image: &str) -> String {
        self.resolution.with_prefix(image)
    }

    /// An image: built in, or a container.
    pub(super) fn image(
        &self,
        image: &str,
        tag: Option<&str>,
        asks: &Asks,
    ) -> Result<Runner, Diagnostic> {
        match self.resolution.resolve(image, tag)? {
            ScalarType::Builtin(builtin) => Ok(Runner::Builtin(builtin)),
            ScalarType::Container(image) => {
                self.container(&image, asks).map_err(|told| with_meant(told, &image))
            }
        }
    }

    fn container(&self, image: &str, asks: &Asks) -> Result<Runner, Diagnostic> {
        let Permissions { network, as_current_user, writable_root, .. } = *self.permissions;
        let settings = ContainerSettings {
            local: asks.local.clone(),
            network: if asks.network { Network::Host } else { Network::None },
            allow_network: network,
            mounts: self.mounts(image, &asks.mounts)?,
            variables: self.variables(image, &asks.envs)?,
            user: if as_current_user { User::Current } else { User::Nobody },
            writable_root,
            pull: self.permissions.image_pull_policy,
            args: Vec::new(),
        };
        let engine = Engine::find(image, self.permissions.runtime.as_deref(), &self.environment);
        outside(engine.and_then(|engine| Container::new(image, engine, settings)))
    }

    /// A package may show a function what is its own; for all else the person names the same mount.
    fn mounts(&self, image: &str, asked: &[String]) -> Result<Vec<Mount>, Diagnostic> {
        let read = |texts: &[String], folder: &Path| {
            texts.iter().map(|text| Mount::parse(text, folder)).collect::<Result<Vec<_>, _>>()
        };
        let asked = read(asked, &self.folder).map_err(Diagnostic::untyped_error)?;
        let given =
            read(&self.permissions.mount, &self.stands).map_err(Diagnostic::untyped_error)?;
        let is_refused =
            |mount: &&Mount| !mount.stays_inside(&self.folder) && !given.contains(mount);
        if let Some(mount) = asked.iter().find(is_refused) {
            let words = format!(
                "function `{image}` wants to mount `{}`, which is more than its package to read",
                mount.source()
            );
            let hint = "name the same mount with `--mount`, if you trust this function";
            return Err(Diagnostic::untyped_error(words).hint(hint));
        }
        let asked = asked.into_iter().filter(|mount| !given.contains(mount));
        Ok(asked.chain(given.iter().cloned()).collect())
    }

    /// A command that a package declares runs only where commands are allowed; one that the person typed is allowed by that.
    pub(super) fn exec(
        &self,
        name: &str,
        words: Option<Vec<String>>,
        is_typed: bool,
        asks: &Asks,
    ) -> Result<Runner, Diagnostic> {
        self.only_built_in(name)?;
        let settings = ExecSettings {
            allow_exec: is_typed || self.permissions.allow_exec,
            stands: self.stands.clone(),
            folder: self.folder.clone(),
            environment: self.environment.clone(),
            variables: self.variables(name, &asks.envs)?,
        };
        outside(match words {
            Some(words) => Exec::of_words(name, words, settings),
            None => Exec::new(name, settings),
        })
    }

    /// A WASI module in a file.
    pub(super) fn wasm(&self, name: &str, file: &Path, asks: &Asks) -> Result<Runner, Diagnostic> {
        self.only_built_in(name)?;
        let bytes = fs::read(file).map_err(|error| unreadable(name, &error))?;
        let pass = |variable: Variable| match variable {
            Variable::Set(name, value) => Some((name.into_string(), value.into_string())),
            Variable::Pass(name) => {
                let value = self.environment.get(&*name)?.to_str()?.to_owned();
                Some((name.into_string(), value))
            }
        };
        let variables = self.variables(name, &asks.envs)?.into_iter().filter_map(pass).collect();
        outside(Wasi::new(name, &bytes, WasiSettings { args: Vec::new(), variables }))
    }

    /// A Starlark script in a file.
    pub(super) fn starlark(&self, name: &str, file: &Path) -> Result<Runner, Diagnostic> {
        let text = fs::read_to_string(file).map_err(|error| unreadable(name, &error))?;
        let shown = name.to_owned();
        let run =
            move |list: &mut ResourceList| krm_catalog::starlark::run_file(&shown, &text, list);
        Ok(Runner::Script(Script { name: name.to_owned(), run: std::sync::Arc::new(run) }))
    }

    fn only_built_in(&self, name: &str) -> Result<(), Diagnostic> {
        match self.resolution.builtin {
            UseBuiltin::Only => {
                Err(Diagnostic::untyped_error(format!("`{name}` {}", krm_run::NOT_BUILT_IN)))
            }
            _ => Ok(()),
        }
    }

    /// A package may give a function variables with values; those of the person's environment it gets where the person names them.
    fn variables(&self, name: &str, asked: &[String]) -> Result<Vec<Variable>, Diagnostic> {
        let asked = asked.iter().map(|text| text.parse()).collect::<Result<Vec<Variable>, _>>();
        let asked = asked.map_err(Diagnostic::untyped_error)?;
        let given = &self.permissions.env;
        let is_named = |variable: &Variable| given.iter().any(|it| it.name() == variable.name());
        let is_refused = |it: &&Variable| matches!(it, Variable::Pass(_)) && !is_named(it);
        if let Some(variable) = asked.iter().find(is_refused) {
            let variable = variable.name();
            let words = format!("function `{name}` wants `{variable}` of your environment");
            let hint = format!("pass it on with `--env {variable}`, if you trust this function");
            return Err(Diagnostic::untyped_error(words).hint(hint));
        }
        let asked = asked.into_iter().filter(|it| !is_named(it));
        Ok(asked.chain(given.iter().cloned()).collect())
    }
}

/// A mount that makes sense; where its folder is, is known later.
fn mount(text: &str) -> Result<String, String> {
    Mount::parse(text, Path::new("/")).map(|_| text.to_owned())
}

fn outside<F: Function + 'static>(made: Result<F, krm_run::Failure>) -> Result<Runner, Diagnostic> {
    match made {
        Ok(function) => Ok(Runner::Outside(Box::new(function))),
        Err(failure) => Err(Diagnostic::from(&failure)),
    }
}

/// Why a file of a function cannot be read.
pub(super) fn unreadable(name: &str, error: &std::io::Error) -> Diagnostic {
    let words = format!("function `{name}` cannot be read: {}", crate::disk::io_reason(error));
    Diagnostic::untyped_error(words)
}
