//! `krm fn eval`: runs one function on the resources of a package.

use std::path::{Path, PathBuf};

use clap::{ArgGroup, ValueEnum};
use clap_complete::engine::ArgValueCandidates;
use krm_core::functions::kptfile;
use krm_core::{Diagnostic, PackagePath};
use krm_run::{DeclaredBy, Runner, RuntimeFactory, RuntimeRequest, Step, cannot_run, label};

use super::function_config;
use super::kinds::FnCommandKind;
use super::permissions::package_directory;
use super::piped_list::PipedList;
use super::run_flags::{RunFlags, Steps};
use super::save::{SavedConfig, SavedFunction};
use super::selection::Selection;
use crate::cli::Global;
use crate::commands::completion::candidates;
use crate::console::Console;
use crate::{CommandResult, Failure, disk};

const EXAMPLES: &str = "\
Examples:
  krm fn eval shop -i set-labels -- app=shop tier=web
  krm fn eval shop --exec './check.sh --all' --results-dir out
  krm fn eval shop -i example.com/fn:v1 --fn-config config.yaml --match-kind Deployment --diff
  krm fn source shop | krm fn eval - --wasm fn.wasm -o unwrap";

/// Run one function on the resources of a package.
///
/// Changes of the function are edited into the files; everything else stays byte for byte as it was. If the function fails,
/// no file is written. With -, a list is read from standard input and written to standard output.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES, group = ArgGroup::new("function").required(true).args(["image", "exec", "wasm", "starlark"]))]
pub(crate) struct Args {
    /// Directory or file of the package [default: current directory]; - reads and writes a list on standard input and output
    #[arg(value_name = "DIR", default_value = ".", hide_default_value = true)]
    dir: String,

    /// Image of the function; functions that krm fn list shows are built in
    #[arg(short, long, value_name = "IMAGE", add = ArgValueCandidates::new(candidates::images))]
    image: Option<String>,

    /// Command of the function, split like a shell command
    #[arg(long, value_name = "COMMAND")]
    exec: Option<String>,

    /// WASI module of the function
    #[arg(long, value_name = "FILE")]
    wasm: Option<String>,

    /// Starlark script of the function
    #[arg(long, value_name = "FILE")]
    starlark: Option<String>,

    /// Tag of an image without a tag, or a version constraint such as ~0.2
    #[arg(long, value_name = "TAG", requires = "image")]
    tag: Option<String>,

    /// File with the functionConfig
    #[arg(long, value_name = "FILE", conflicts_with = "args")]
    fn_config: Option<String>,

    /// Data of a ConfigMap as functionConfig; a first argument without = is another kind
    #[arg(last = true, value_name = "KEY=VALUE")]
    args: Vec<String>,

    /// Role of the function; changes of a validator are dropped
    #[arg(short = 't', long = "type", value_name = "TYPE")]
    role: Option<Role>,

    /// Add the function to the pipeline of the Kptfile
    #[arg(short, long, requires = "role")]
    save: bool,

    /// Compat: accepted and ignored; kpt uses it to complete names of images
    #[arg(short, long, hide = true, value_name = "KEYWORD")]
    keywords: Vec<String>,

    #[command(flatten)]
    flags: RunFlags,

    #[command(flatten)]
    selection: Selection,
}

/// The role of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Role {
    /// Changes resources
    Mutator,
    /// Only reports results
    Validator,
}

impl Role {
    fn to_kptfile(self) -> kptfile::Role {
        match self {
            Self::Mutator => kptfile::Role::Mutator,
            Self::Validator => kptfile::Role::Validator,
        }
    }
}

pub(super) fn run(args: &Args, global: &Global, console: &mut Console) -> CommandResult {
    args.check_container_flags()?;
    let is_stream = args.dir == disk::STDIN;
    let factory = args.flags.permissions.factory(&args.dir)?;
    let directory = package_directory(&args.dir);
    let step = args.step(&factory, directory)?;
    let exit = match is_stream {
        true => args.run_on_list(step, console)?,
        false => args.run_on_package(step, &factory, global, console)?,
    };
    Ok(args.flags.results.exit(exit, console))
}

impl Args {
    fn check_container_flags(&self) -> Result<(), Failure> {
        let runtime = match (&self.exec, &self.wasm, &self.starlark) {
            (Some(_), _, _) => "commands",
            (_, Some(_), _) => "Wasm modules",
            (_, _, Some(_)) => "Starlark scripts",
            _ => return Ok(()),
        };
        match self.flags.permissions.container_flag() {
            Some(flag) => Err(usage(FnCommandKind::ContainerFlag { flag, runtime })),
            None => Ok(()),
        }
    }

    fn step(&self, factory: &RuntimeFactory, directory: Option<PathBuf>) -> Result<Step, Failure> {
        let config = match &self.fn_config {
            Some(name) => Some(function_config::from_file(name).map_err(Failure::input)?),
            None => function_config::from_args(&self.args).map_err(Failure::usage)?,
        };
        let config_file =
            self.fn_config.as_deref().map_or(function_config::NO_FILE, disk::display_name);
        let role = self.role.map(Role::to_kptfile);
        let own = self.fn_config.as_deref().zip(directory.as_deref());
        let own = own.map(|(file, root)| paths_in_package(file, root)).unwrap_or_default();
        let (name, runtime, runner) = self.runner(factory, directory);
        let cannot_run = |error| Failure::function(cannot_run(error, &label(role, &name)));
        let runner = runner.map_err(cannot_run)?;
        let selection = self.selection.clone();
        Ok(Step {
            name,
            runtime,
            role,
            config,
            config_file: Some(config_file.to_owned()),
            selects: Box::new(move |item| {
                let is_config = item.path.as_ref().is_some_and(|path| own.contains(path));
                !is_config && selection.matches(item)
            }),
            version: self.flags.version.version(),
            fail_on: self.flags.results.fail_on_severity(),
            limits: self.flags.permissions.limits.limits(),
            ..Step::new(runner)
        })
    }

    /// The name of the function, how it is declared, and what runs it.
    fn runner(
        &self,
        factory: &RuntimeFactory,
        package_directory: Option<PathBuf>,
    ) -> (String, &'static str, Result<Runner, Diagnostic>) {
        let request = RuntimeRequest {
            package_directory,
            declared_by: DeclaredBy::User,
            network: self.flags.permissions.has_network(),
            local: self.fn_config.as_deref().and_then(parent_directory),
            ..RuntimeRequest::default()
        };
        if let Some(image) = &self.image {
            let tag = self.tag.as_deref();
            let name = factory.resolution.full_name(image, tag);
            (name, "image", factory.image(image, tag, &request))
        } else if let Some(command) = &self.exec {
            (command.clone(), "exec", factory.exec(command, None, &request))
        } else if let Some(file) = &self.wasm {
            (file.clone(), "wasm", factory.wasm(file, &request))
        } else {
            let file = self.starlark.clone().unwrap_or_default();
            let runner = factory.starlark(&file, &file, &request);
            (file, "starlark", runner)
        }
    }

    fn run_on_package(
        &self,
        step: Step,
        factory: &RuntimeFactory,
        global: &Global,
        console: &mut Console,
    ) -> CommandResult {
        let save = match self.save {
            true => Some(self.saved_function(&step, factory)?),
            false => None,
        };
        // The container starts while the package is read. Signals are handled from here on, so that it is always removed.
        crate::interrupt::on_signals();
        step.start_ahead();
        let dir = (&*self.dir, self.flags.recursion.includes_subpackages());
        let steps = Steps::Given(Box::new(step));
        self.flags.run_on_package(dir, save.as_ref(), global, console, steps)
    }

    fn run_on_list(&self, mut step: Step, console: &mut Console) -> CommandResult {
        self.flags.output.of_list()?;
        let option = match () {
            () if self.save => Some("--save"),
            () if self.flags.preview.is_on() => Some("a preview"),
            () => None,
        };
        if let Some(option) = option {
            return Err(usage(FnCommandKind::OptionNeedsPackage { option }));
        }
        let mut list = PipedList::read()?;
        step.config = step.config.take().or_else(|| list.config());
        let items = list.take_items();
        self.flags.run_on_list(list, &[step], items, console)
    }

    fn saved_function(
        &self,
        step: &Step,
        factory: &RuntimeFactory,
    ) -> Result<SavedFunction, Failure> {
        let cannot_save = |reason| usage(FnCommandKind::CannotSave { reason });
        if !matches!(step.runtime, "image" | "exec") {
            return Err(cannot_save("a Kptfile declares images and commands only"));
        }
        let config = match (&self.fn_config, self.args.split_first()) {
            (Some(file), _) => SavedConfig::Path(self.path_in_package(file)?),
            (None, None) => SavedConfig::None,
            (None, Some((first, _))) if !first.contains('=') => {
                return Err(cannot_save(
                    "a functionConfig that is not a ConfigMap must be a file of the package",
                ));
            }
            (None, Some(_)) => {
                let pairs = self.args.iter().filter_map(|arg| arg.split_once('='));
                SavedConfig::Map(pairs.map(|(a, b)| (a.to_owned(), b.to_owned())).collect())
            }
        };
        // A tag that is given separately is saved separately, because it may be a version constraint.
        let (name, tag) = match (&self.image, &self.tag) {
            (Some(image), Some(tag)) => (factory.resolution.with_prefix(image), Some(tag.clone())),
            _ => (step.name.clone(), None),
        };
        let role = if self.role == Some(Role::Validator) { "validator" } else { "mutator" };
        let selection = self.selection.for_kptfile();
        Ok(SavedFunction { role, runtime: step.runtime, name, tag, config, selection })
    }

    /// The path of a file relative to the package.
    fn path_in_package(&self, file: &str) -> Result<String, Failure> {
        let [dir, path] = [std::fs::canonicalize(&self.dir)?, std::fs::canonicalize(file)?];
        let inside = path.strip_prefix(&dir).ok().and_then(Path::to_str);
        inside.map(str::to_owned).ok_or_else(|| {
            let reason = "the functionConfig is not a file of the package";
            let error = Diagnostic::error(FnCommandKind::CannotSave { reason });
            Failure::usage(error.in_file(file))
        })
    }
}

fn usage(kind: FnCommandKind) -> Failure {
    Failure::usage(Diagnostic::error(kind))
}

/// The paths of a file in a package: where it is, and where a symlink to it is. None if it is not in the package.
///
/// A functionConfig file of the package is not part of the function's input: otherwise `set-namespace` would change the namespace of
/// its own functionConfig.
fn paths_in_package(file: &str, root: &Path) -> Vec<PackagePath> {
    let file = Path::new(file);
    let parent = file.parent().filter(|it| !it.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let named = parent.canonicalize().ok().zip(file.file_name()).map(|(dir, name)| dir.join(name));
    let found = [named, file.canonicalize().ok()].into_iter().flatten();
    let inside = found.filter_map(|path| {
        let path = path.strip_prefix(root).ok()?.to_str()?.replace(std::path::MAIN_SEPARATOR, "/");
        PackagePath::new(&path).ok()
    });
    inside.collect()
}

fn parent_directory(file: &str) -> Option<PathBuf> {
    // A pipe or a device, such as /dev/stdin, has no directory that belongs to the package or was given by the user.
    let path = std::fs::canonicalize(file).ok().filter(|path| path.is_file())?;
    path.parent().map(Path::to_owned)
}
