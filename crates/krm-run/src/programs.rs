//! A declared function made ready to run: built in, a container, a command or a module, as far as that is allowed.

use std::path::{Path, PathBuf};

use krm_core::Diagnostic;
use krm_core::functions::kptfile::Program;

use crate::{
    Container, ContainerSettings, Engine, Environment, Exec, ExecSettings, Failure, Function,
    NOT_BUILT_IN, Network, Pull, Resolution, Runner, ScalarType, UseBuiltin, Wasi, WasiSettings,
};

/// What functions of packages may do, and where things are.
#[derive(Clone, Debug)]
pub struct Programs {
    /// What runs for an image.
    pub resolution: Resolution,
    /// Whether commands run at all.
    pub allow_exec: bool,
    /// Whether containers have the machine's network.
    pub allow_network: bool,
    /// When images are fetched.
    pub pull: Pull,
    /// The engine that the person named.
    pub engine: Option<String>,
    /// Where the person stands. An absolute path.
    pub stands: PathBuf,
    /// Where PATH is, and what can be passed on.
    pub environment: Environment,
}

impl Programs {
    /// The name that people know a function by: an image with prefix and tag, or the words of its declaration.
    pub fn name(&self, program: &Program, tag: Option<&str>) -> String {
        match program {
            Program::Image(image) => self.resolution.whole_name(image, tag),
            Program::Exec(words) | Program::Wasm(words) => words.clone(),
        }
    }

    /// Makes a function ready that a package in this folder declares.
    ///
    /// # Errors
    /// Where it is not allowed, not there, or makes no sense.
    pub fn ready(
        &self,
        program: &Program,
        tag: Option<&str>,
        folder: &Path,
    ) -> Result<Runner, Diagnostic> {
        let only = self.resolution.builtin == UseBuiltin::Only;
        let outside = |made: Result<Box<dyn Function>, Failure>| {
            made.map(Runner::Outside).map_err(|failure| Diagnostic::from(&failure))
        };
        match program {
            Program::Image(image) => match self.resolution.resolve(image, tag)? {
                ScalarType::Builtin(builtin) => Ok(Runner::Builtin(builtin)),
                ScalarType::Container(image) => outside(self.container(&image, folder)),
            },
            Program::Exec(words) | Program::Wasm(words) if only => {
                Err(Diagnostic::untyped_error(format!("`{words}` {NOT_BUILT_IN}")))
            }
            Program::Exec(words) => outside(self.exec(words, folder)),
            Program::Wasm(file) => self.wasm(file, folder).map(Runner::Outside),
        }
    }

    fn container(&self, image: &str, folder: &Path) -> Result<Box<dyn Function>, Failure> {
        let engine = Engine::find(image, self.engine.as_deref(), &self.environment)?;
        let settings = ContainerSettings {
            local: Some(folder.to_owned()),
            network: if self.allow_network { Network::Host } else { Network::None },
            allow_network: self.allow_network,
            pull: self.pull,
            ..ContainerSettings::default()
        };
        Ok(Box::new(Container::new(image, engine, settings)?))
    }

    fn exec(&self, words: &str, folder: &Path) -> Result<Box<dyn Function>, Failure> {
        let settings = ExecSettings {
            allow_exec: self.allow_exec,
            stands: self.stands.clone(),
            folder: folder.to_owned(),
            environment: self.environment.clone(),
            variables: Vec::new(),
        };
        Ok(Box::new(Exec::new(words, settings)?))
    }

    /// A module stands in the package.
    fn wasm(&self, file: &str, folder: &Path) -> Result<Box<dyn Function>, Diagnostic> {
        let bytes = std::fs::read(folder.join(file)).map_err(|error| {
            let why = match error.kind() {
                std::io::ErrorKind::NotFound => "there is no such file".to_owned(),
                _ => error.to_string(),
            };
            Diagnostic::untyped_error(format!("the module `{file}` cannot be read: {why}"))
                .hint("it is named from the folder of the package")
        })?;
        let made = Wasi::new(file, &bytes, WasiSettings::default());
        Ok(Box::new(made.map_err(|failure| Diagnostic::from(&failure))?))
    }
}
