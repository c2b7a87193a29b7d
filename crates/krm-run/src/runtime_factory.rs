//! Creates the runtime of a function, built-in, container, exec, Wasm or Starlark, within the permissions of the user.
//!
//! `eval`, `run` and `render` all create their functions here, so that no command can bypass a permission.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use krm_catalog::{Builtin, Run};
use krm_core::Diagnostic;
use krm_core::functions::kptfile::Program;
use krm_core::functions::resource_list::Item;

use crate::container::{RuntimeChoice, image_function};
use crate::execution::diagnostic;
use crate::isolation::ThreadInterpreter;
use crate::kinds::{ResolutionKind, RunKind};
use crate::regular_file::read_file_or_pipe;
use crate::remote::RemoteFunction;
use crate::resolution::{builtin_of, builtin_tags, similar_builtin};
use crate::result_cache::{CachedFunction, bytes_digest};
use crate::{
    BuiltinPolicy, ContainerSettings, DeclaredBy, Environment, Exec, ExecSettings, Function,
    GrantedCharts, GrantedDocuments, GrantedSchemas, Interpreted, Interrupt, Limits, Network,
    PackageFiles, Permissions, ProcessInterpreter, Pull, RegularFileError, RemoteEvaluator,
    Resolution, Resolved, ResultCache, Runner, Sandbox, SchemaSettings, User, Variable, Wasi,
    WasiSettings, condition, read_regular_file,
};

/// The largest Wasm module and the largest Starlark script that are read.
const MODULE_LIMIT: u64 = 512 << 20;
const SCRIPT_LIMIT: u64 = 16 << 20;
/// The longest time of a condition, which is much shorter than that of a function: the number of its steps is limited, but not what
/// one step costs.
const CONDITION_TIME: Duration = Duration::from_secs(10);

/// Creates the runtimes of functions.
#[derive(Clone, Debug)]
pub struct RuntimeFactory {
    /// What an image resolves to.
    pub resolution: Resolution,
    /// What functions may access.
    pub permissions: Permissions,
    /// When images are pulled.
    pub pull: Pull,
    /// The runtime of images that the user chose: `auto`, `krm`, `bubblewrap` or a container engine.
    pub engine: Option<String>,
    /// What runs images without a container engine; none where krm cannot.
    pub sandbox: Option<Sandbox>,
    /// The user's working directory. An absolute path.
    pub working_directory: PathBuf,
    /// Where PATH and the variables that are passed on come from.
    pub environment: Environment,
    /// The program that evaluates scripts, policies and conditions in a process of its own; see [`crate::serve`]. Without one they
    /// are evaluated in this process, where their memory is not limited.
    pub interpreter: Option<PathBuf>,
    /// Schemas for validators.
    pub schemas: SchemaSettings,
    /// Results of functions; none if every function runs.
    pub cache: Option<ResultCache>,
    /// The server that evaluates images; none if they run on this machine.
    pub remote: Option<Arc<dyn RemoteEvaluator>>,
}

/// What the declaration of a function requests.
#[derive(Clone, Debug, Default)]
pub struct RuntimeRequest {
    /// The directory of the package that declares the function. An absolute path; none for a list from standard input, which has no
    /// files of its own.
    pub package_directory: Option<PathBuf>,
    /// Who declares the function. A command that the user types is allowed.
    pub declared_by: DeclaredBy,
    /// Whether it requests the network of the host.
    pub network: bool,
    /// The mounts that it requests.
    pub mounts: Vec<String>,
    /// The environment variables that it requests.
    pub variables: Vec<String>,
    /// The directory that a container sees as `/local`: see [`local_directory`].
    pub local: Option<PathBuf>,
}

/// The directory that a container sees as `/local`: that of the file with its functionConfig, if there is such a file in the directory
/// `root`.
///
/// Spec: "the volume containing the `functionConfig` yaml is mounted under `/local`". A functionConfig that is not in a file has no
/// such directory, and any other one (the working directory, say) would show the function what nobody gave it.
pub fn local_directory(root: &Path, config: &Path) -> Option<PathBuf> {
    let root = root.canonicalize().ok()?;
    let file = root.join(config);
    let directory = file.parent()?.canonicalize().ok()?;
    (file.is_file() && directory.starts_with(&root)).then_some(directory)
}

impl RuntimeFactory {
    /// The name of a function for messages: an image with prefix and tag, or the text of the declaration.
    pub fn name(&self, program: &Program, tag: Option<&str>) -> String {
        match program {
            Program::Image(image) => self.resolution.full_name(image, tag),
            Program::Exec(text) | Program::Wasm(text) => text.clone(),
        }
    }

    /// The runtime of a function of a Kptfile.
    ///
    /// # Errors
    /// If the function is not allowed, not found or invalid.
    pub fn program(
        &self,
        program: &Program,
        tag: Option<&str>,
        request: &RuntimeRequest,
    ) -> Result<Runner, Diagnostic> {
        match program {
            Program::Image(image) => self.image(image, tag, request),
            Program::Exec(command) => self.exec(command, None, request),
            Program::Wasm(file) => self.wasm(file, request).map_err(|error| match error.kind() {
                Some(RunKind::CannotReadFile { .. }) => {
                    error.hint("the path is relative to the package directory")
                }
                _ => error,
            }),
        }
    }

    /// The runtime of an image: a built-in function or a container.
    ///
    /// # Errors
    /// If the image is invalid or not built in where it must be, or the container is not allowed.
    pub fn image(
        &self,
        image: &str,
        tag: Option<&str>,
        request: &RuntimeRequest,
    ) -> Result<Runner, Diagnostic> {
        let resolved = self.resolution.resolve(image, tag)?;
        if let Some(remote) = &self.remote
            && let Some(name) = self.remote_name(&resolved, image, tag)
        {
            return self.remote_function(&name, request, remote);
        }
        match resolved {
            Resolved::Builtin(builtin) if matches!(builtin.function.run, Run::Validating(_)) => {
                Ok(Runner::Validator(builtin, Arc::new(self.granted_schemas(request)?)))
            }
            Resolved::Builtin(builtin) if matches!(builtin.function.run, Run::Rendering(_)) => {
                let (files, environment) = (self.package_files(request)?, self.environment.clone());
                let charts = GrantedCharts::new(files, environment, self.permissions.allow_exec)?;
                Ok(Runner::Charts(builtin, charts))
            }
            Resolved::Builtin(builtin) if matches!(builtin.function.run, Run::Documenting(_)) => {
                let documents = GrantedDocuments::new(self.package_files(request)?);
                Ok(Runner::Documents(builtin, documents))
            }
            Resolved::Builtin(builtin) => {
                let interpreted = Interpreted::builtin(builtin, self.interpreter.clone());
                Ok(interpreted.map_or(Runner::Builtin(builtin), Runner::Interpreted))
            }
            Resolved::Container(image) => {
                self.container(&image, request).map_err(|error| suggest_builtin(error, &image))
            }
        }
    }

    /// The name by which a server knows an image; none for a function of this krm.
    ///
    /// Built-in functions of the catalog are images as well, and the server may have other releases of them than this krm. They run here if
    /// the user wants krm's own: by the mapping of images, by `builtin: only`, or by a lock, which has no digests of built-in functions.
    /// Those that read files of the package also run here, because a server never sees files.
    fn remote_name(&self, resolved: &Resolved, image: &str, tag: Option<&str>) -> Option<String> {
        let Resolution { builtin: policy, lock, .. } = &self.resolution;
        match resolved {
            Resolved::Container(image) => Some(image.clone()),
            Resolved::Builtin(builtin) => {
                let reads_files = matches!(
                    builtin.function.run,
                    Run::Validating(_) | Run::Rendering(_) | Run::Documenting(_)
                );
                let is_own = *policy == BuiltinPolicy::Only
                    || lock.is_some()
                    || self.resolution.is_mapped(image);
                (!reads_files && !is_own).then(|| self.resolution.full_name(image, tag))
            }
        }
    }

    /// A function on a server, which has nothing of this machine.
    fn remote_function(
        &self,
        image: &str,
        request: &RuntimeRequest,
        remote: &Arc<dyn RemoteEvaluator>,
    ) -> Result<Runner, Diagnostic> {
        let permissions = &self.permissions;
        let unsupported = [
            (request.network, "network access"),
            (!permissions.granted_mounts(request, &self.working_directory)?.is_empty(), "a mount"),
            (!permissions.granted_variables(request)?.is_empty(), "an environment variable"),
            (permissions.user != User::Nobody, "another user than nobody"),
            (permissions.writable_root, "a writable root"),
        ];
        if let Some((_, what)) = unsupported.into_iter().find(|(is_used, _)| *is_used) {
            return Err(Diagnostic::error(RunKind::RemoteUnsupported { what }));
        }
        if let Some(lock) = &self.resolution.lock {
            lock.verify(image, &self.environment).map_err(diagnostic)?;
        }
        Ok(Runner::External(Box::new(RemoteFunction::new(image, Arc::clone(remote)))))
    }

    /// The schemas that a validator may read.
    fn granted_schemas(&self, request: &RuntimeRequest) -> Result<GrantedSchemas, Diagnostic> {
        Ok(GrantedSchemas::new(self.schemas.clone(), self.package_files(request)?))
    }

    /// The files that a functionConfig may name.
    fn package_files(&self, request: &RuntimeRequest) -> Result<PackageFiles, Diagnostic> {
        let package = match &request.declared_by {
            DeclaredBy::User => request.package_directory.as_ref().map(DeclaredBy::package),
            declared_by => Some(declared_by.clone()),
        };
        Ok(PackageFiles {
            package,
            mounts: self.permissions.granted_mounts(request, &self.working_directory)?,
            working_directory: self.working_directory.clone(),
        })
    }

    fn container(&self, image: &str, request: &RuntimeRequest) -> Result<Runner, Diagnostic> {
        let settings = ContainerSettings {
            local: request.local.clone(),
            network: if request.network { Network::Host } else { Network::None },
            allow_network: self.permissions.allow_network,
            mounts: self.permissions.granted_mounts(request, &self.working_directory)?,
            variables: self.permissions.granted_variables(request)?,
            user: self.permissions.user,
            writable_root: self.permissions.writable_root,
            pull: self.pull,
            args: Vec::new(),
        };
        if let Some(lock) = &self.resolution.lock {
            lock.verify(image, &self.environment).map_err(diagnostic)?;
        }
        let choice = RuntimeChoice::of(self.engine.as_deref(), &self.environment);
        self.external(choice.and_then(|choice| {
            image_function(image, choice, (self.sandbox.as_ref(), settings), &self.environment)
        }))
    }

    /// Checks that there is a runtime for images, as far as that can be known without starting one.
    pub(crate) fn check_engine(&self, interrupt: &Interrupt) -> Result<(), Diagnostic> {
        if self.remote.is_some() {
            return Ok(());
        }
        let choice = RuntimeChoice::of(self.engine.as_deref(), &self.environment);
        choice
            .and_then(|choice| choice.check(self.sandbox.as_ref(), &self.environment, interrupt))
            .map_err(diagnostic)
    }

    /// The runtime of a command, which is split already where `args` are given.
    ///
    /// # Errors
    /// If exec functions are not allowed, or the command is not found.
    pub fn exec(
        &self,
        name: &str,
        args: Option<Vec<String>>,
        request: &RuntimeRequest,
    ) -> Result<Runner, Diagnostic> {
        self.check_builtin_only(name)?;
        let settings = ExecSettings {
            allow_exec: request.declared_by == DeclaredBy::User || self.permissions.allow_exec,
            declared_by: request.declared_by.clone(),
            working_directory: self.working_directory.clone(),
            package_directory: self.directory(request).to_owned(),
            environment: self.environment.clone(),
            variables: self.permissions.granted_variables(request)?,
        };
        self.external(match args {
            Some(args) => Exec::from_args(name, args, settings),
            None => Exec::new(name, settings),
        })
    }

    /// The runtime of a WASI module in a file.
    ///
    /// # Errors
    /// If the file is not readable or not a module.
    pub fn wasm(&self, file: &str, request: &RuntimeRequest) -> Result<Runner, Diagnostic> {
        self.check_builtin_only(file)?;
        let (location, bytes) = self.read(file, MODULE_LIMIT, request)?;
        let value = |variable: Variable| match variable {
            Variable::Set(name, value) => Some((name.into_string(), value.into_string())),
            Variable::Pass(name) => {
                let value = self.environment.get(&*name)?.to_str()?.to_owned();
                Some((name.into_string(), value))
            }
        };
        let variables =
            self.permissions.granted_variables(request)?.into_iter().filter_map(value).collect();
        let settings = WasiSettings { args: Vec::new(), variables };
        self.external(self.module(file, bytes, settings).map(|it| it.read_from(&location)))
    }

    /// A module. If its result may be in the cache, and it can be read for certain, it is not compiled before that is clear.
    fn module(&self, name: &str, bytes: Vec<u8>, settings: WasiSettings) -> Result<Wasi, RunKind> {
        let Some(cache) = &self.cache else { return Wasi::new(name, &bytes, settings) };
        let digest = bytes_digest(&bytes);
        let module = match cache.is_known_module(&digest) {
            true => Wasi::deferred(name, bytes, settings),
            false => {
                let module = Wasi::new(name, &bytes, settings)?;
                cache.add_known_module(&digest);
                module
            }
        };
        Ok(module.with_digest(digest))
    }

    fn external<F: Function + 'static>(
        &self,
        function: Result<F, RunKind>,
    ) -> Result<Runner, Diagnostic> {
        let function = function.map_err(diagnostic)?;
        Ok(Runner::External(match &self.cache {
            Some(cache) => Box::new(CachedFunction::new(function, cache.clone())),
            None => Box::new(function),
        }))
    }

    /// The runtime of a Starlark script in a file.
    ///
    /// # Errors
    /// If the file is not readable.
    pub fn starlark(
        &self,
        name: &str,
        file: &str,
        request: &RuntimeRequest,
    ) -> Result<Runner, Diagnostic> {
        let (_, bytes) = self.read(file, SCRIPT_LIMIT, request)?;
        let text = String::from_utf8(bytes)
            .map_err(|_| cannot_read(file, "the script is not valid UTF-8".to_owned()))?;
        Ok(Runner::Interpreted(Interpreted::script(name, &text, self.interpreter.clone())))
    }

    /// Whether the condition of a function is met.
    ///
    /// # Errors
    /// If the condition is invalid, or exceeds a limit.
    pub(crate) fn evaluate_condition(
        &self,
        expression: &str,
        items: &[&Item],
        (limits, interrupt): (Limits, &Interrupt),
    ) -> Result<bool, Diagnostic> {
        let interrupt = interrupt.clone();
        let limits = Limits { time: limits.time.min(CONDITION_TIME), ..limits };
        match &self.interpreter {
            Some(program) => {
                let interpreter = ProcessInterpreter::new(program, limits, interrupt);
                condition::is_met(expression, items, &interpreter)
            }
            None => condition::is_met(expression, items, &ThreadInterpreter { limits, interrupt }),
        }
    }

    /// Reads a file that the declaration of a function names, and returns where it is.
    fn read(
        &self,
        file: &str,
        limit: u64,
        request: &RuntimeRequest,
    ) -> Result<(PathBuf, Vec<u8>), Diagnostic> {
        let declared_by = &request.declared_by;
        let location = declared_by.locate(file, &self.working_directory).map_err(diagnostic)?;
        declared_by.check_symlinks(file, &location).map_err(diagnostic)?;
        // A pipe in a package is never opened: reading it could wait for ever.
        let read = match declared_by {
            DeclaredBy::User => read_file_or_pipe(&location, limit),
            DeclaredBy::Package { .. } => read_regular_file(&location, limit),
        };
        let bytes = read.map_err(|error| {
            let reason = match error {
                RegularFileError::NotRegular => "not a regular file".to_owned(),
                RegularFileError::TooLarge { .. } => {
                    format!("the file is larger than {} MiB", limit >> 20)
                }
                RegularFileError::Io(error) if error.kind() == ErrorKind::NotFound => {
                    "no such file".to_owned()
                }
                RegularFileError::Io(error) => error.to_string(),
            };
            cannot_read(file, reason)
        })?;
        Ok((location, bytes))
    }

    fn check_builtin_only(&self, name: &str) -> Result<(), Diagnostic> {
        match self.resolution.builtin {
            BuiltinPolicy::Only => {
                Err(Diagnostic::error(ResolutionKind::NotBuiltIn { function: name.to_owned() }))
            }
            _ => Ok(()),
        }
    }

    /// The directory that relative paths of a function start from.
    fn directory<'a>(&'a self, request: &'a RuntimeRequest) -> &'a Path {
        request.package_directory.as_deref().unwrap_or(&self.working_directory)
    }
}

/// Adds the built-in function that the user may have meant by a container image: that of its name with other tags, or one with a
/// similar name.
pub fn suggest_builtin(error: Diagnostic, image: &str) -> Diagnostic {
    use RunKind::{RemoteFailed, RemoteUnreachable, RemoteUnsupported};
    if let Some(RemoteUnreachable { .. } | RemoteFailed { .. } | RemoteUnsupported { .. }) =
        error.kind()
    {
        // The same would happen with a built-in function.
        return error;
    }
    let has_tags = |it: &&Builtin| !it.tags().is_empty();
    match (builtin_of(image).filter(has_tags), similar_builtin(image)) {
        (Some(builtin), _) => error.hint(builtin_tags(builtin)),
        (None, Some(name)) => error.hint(format!("did you mean `{name}`, which is built in?")),
        (None, None) => error,
    }
}

fn cannot_read(path: &str, reason: String) -> Diagnostic {
    Diagnostic::error(RunKind::CannotReadFile { path: path.to_owned(), reason })
}
