//! `krm fn eval`: one function on the resources of a package.

use std::path::{Path, PathBuf};

use clap::{ArgGroup, ValueEnum};
use krm_core::functions::resource_list::Item;
use krm_core::{Diagnostic, Package};
use krm_run::{Runner, Step};

use super::configuration;
use super::interrupt;
use super::opening::Flags;
use super::output::Output;
use super::permissions::{Asks, Workshop};
use super::running::Job;
use super::saving::{Config, Saving};
use super::selection::Selection;
use super::streams;
use crate::cli::Global;
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
/// What the function changes is edited into the files, and nothing else of them; where it fails they stay as they are. With - a
/// list is read from standard input and written to standard output.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES, group = ArgGroup::new("function").required(true).args(["image", "exec", "wasm", "starlark"]))]
pub(crate) struct Args {
    /// The folder or file; nothing for the current folder, - for standard input to standard output
    #[arg(value_name = "DIR", default_value = ".", hide_default_value = true)]
    dir: String,

    /// The function's image; some names are built in, see krm fn list
    #[arg(short, long, value_name = "IMAGE")]
    image: Option<String>,

    /// The function's command, split as a shell splits it
    #[arg(long, value_name = "COMMAND")]
    exec: Option<String>,

    /// The function's WASI module
    #[arg(long, value_name = "FILE")]
    wasm: Option<String>,

    /// The function's Starlark script
    #[arg(long, value_name = "FILE")]
    starlark: Option<String>,

    /// The tag of an image that names none, or a constraint on it such as ~0.2
    #[arg(long, value_name = "TAG", requires = "image")]
    tag: Option<String>,

    /// The file of the functionConfig
    #[arg(long, value_name = "FILE", conflicts_with = "args")]
    fn_config: Option<String>,

    /// The functionConfig as data of a ConfigMap; a first word without = is its kind
    #[arg(last = true, value_name = "KEY=VALUE")]
    args: Vec<String>,

    /// What the function is; a validator changes nothing
    #[arg(short = 't', long = "type", value_name = "TYPE")]
    role: Option<Role>,

    /// Add the function to the pipeline of the Kptfile
    #[arg(short, long, requires = "role")]
    save: bool,

    #[command(flatten)]
    flags: Flags,

    #[command(flatten)]
    selection: Selection,
}

/// What a function is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Role {
    /// It changes resources
    Mutator,
    /// It only looks
    Validator,
}

pub(super) fn run(args: &Args, global: &Global, console: &mut Console) -> CommandResult {
    args.check()?;
    let is_stream = args.dir == disk::STDIN;
    let workshop = args.flags.permissions.workshop((!is_stream).then_some(Path::new(&args.dir)))?;
    let usage = |told: Diagnostic| Failure::usage(told);
    let config = match &args.fn_config {
        Some(name) => Some(configuration::of_file(name).map_err(Failure::input)?),
        None => configuration::of_words(&args.args).map_err(usage)?,
    };
    let config_file = args.fn_config.as_deref().map_or(configuration::NO_FILE, disk::display_name);
    let config_file = config_file.to_owned();
    let (name, runtime, runner) = args.ready(&workshop)?;
    let wanted = |item: &Item| args.selection.has(item);
    let step = Step {
        name,
        config,
        is_validator: args.role == Some(Role::Validator),
        limits: args.flags.permissions.limits.limits(),
        ..Step::new(runner)
    };
    let job = Job { step, runtime, wanted: &wanted, place: None, config_file };
    match is_stream {
        true => args.on_stream(job, console),
        false => args.on_package(&job, &workshop, global, console),
    }
}

impl Args {
    fn check(&self) -> Result<(), Failure> {
        let kind = match (&self.exec, &self.wasm, &self.starlark) {
            (Some(_), _, _) => "a command",
            (_, Some(_), _) => "a module",
            (_, _, Some(_)) => "a script",
            _ => return Ok(()),
        };
        match self.flags.permissions.about_containers() {
            Some(flag) => {
                let words = format!("{flag} is for containers, and this is {kind}");
                Err(Failure::usage(Diagnostic::untyped_error(words)))
            }
            None => Ok(()),
        }
    }

    /// The function with its name and how it runs.
    fn ready(&self, workshop: &Workshop<'_>) -> Result<(String, &'static str, Runner), Failure> {
        let asks = Asks {
            network: self.flags.permissions.has_network(),
            local: self.fn_config.as_deref().and_then(folder_of),
            ..Asks::default()
        };
        let made = if let Some(image) = &self.image {
            let name = workshop.image_name(image, self.tag.as_deref());
            (name, "image", workshop.image(image, self.tag.as_deref(), &asks))
        } else if let Some(command) = &self.exec {
            (command.clone(), "exec", workshop.exec(command, None, true, &asks))
        } else if let Some(file) = &self.wasm {
            (file.clone(), "wasm", workshop.wasm(file, Path::new(file), &asks))
        } else {
            let file = self.starlark.clone().unwrap_or_default();
            let ready = workshop.starlark(&file, Path::new(&file));
            (file, "starlark", ready)
        };
        let (name, runtime, runner) = made;
        Ok((name, runtime, runner.map_err(Failure::function)?))
    }

    fn on_package(
        &self,
        job: &Job<'_>,
        workshop: &Workshop<'_>,
        global: &Global,
        console: &mut Console,
    ) -> CommandResult {
        let saving = match self.save {
            true => Some(self.saving(job, workshop)?),
            false => None,
        };
        let saving = saving.as_ref();
        // A container starts while the package is read; from here on somebody has to end it.
        interrupt::on_signals();
        job.step.start();
        self.flags.on_package(&self.dir, saving, global, console, |package, items, run, console| {
            Ok(run.step(package, job, items.to_vec(), console))
        })
    }

    fn on_stream(&self, mut job: Job<'_>, console: &mut Console) -> CommandResult {
        let output = self.flags.elsewhere.output.as_ref();
        let words = match output {
            _ if self.save => Some("--save is for packages, and this is standard input"),
            Some(Output::Folder(_)) => Some("a folder is made of a package; pipe into krm fn sink"),
            _ if self.flags.preview.is_on() => {
                Some("what goes to standard output is a preview already")
            }
            _ => None,
        };
        if let Some(words) = words {
            return Err(Failure::usage(Diagnostic::untyped_error(words)));
        }
        let mut piped = streams::Piped::read()?;
        job.step.config = job.step.config.take().or_else(|| piped.config());
        let mut run = self.flags.run(disk::display_name(disk::STDIN));
        let after = run.step(&Package::default(), &job, piped.items(), console);
        self.flags.results.keep(&run.report, console)?;
        piped.finish(&run, after, output, console)
    }

    fn saving(&self, job: &Job<'_>, workshop: &Workshop<'_>) -> Result<Saving, Failure> {
        let usage = |words: &str| Failure::usage(Diagnostic::untyped_error(words));
        if !matches!(job.runtime, "image" | "exec") {
            return Err(usage(
                "images and commands can be saved in a Kptfile, and this is neither",
            ));
        }
        let config = match (&self.fn_config, self.args.split_first()) {
            (Some(file), _) => Config::Path(self.inside(file)?),
            (None, None) => Config::None,
            (None, Some((first, _))) if !first.contains('=') => {
                return Err(usage(
                    "a configuration of another kind cannot be saved; keep it in a file of the package",
                ));
            }
            (None, Some(_)) => {
                let pairs = self.args.iter().filter_map(|word| word.split_once('='));
                Config::Map(pairs.map(|(a, b)| (a.to_owned(), b.to_owned())).collect())
            }
        };
        // A tag that was asked for apart is kept apart, because it may be a constraint.
        let (name, tag) = match (&self.image, &self.tag) {
            (Some(image), Some(tag)) => (workshop.bare_name(image), Some(tag.clone())),
            _ => (job.step.name.clone(), None),
        };
        let role = if self.role == Some(Role::Validator) { "validator" } else { "mutator" };
        let selection = self.selection.for_kptfile();
        Ok(Saving { role, runtime: job.runtime, name, tag, config, selection })
    }

    /// The path of a file inside the package.
    fn inside(&self, file: &str) -> Result<String, Failure> {
        let [dir, path] = [std::fs::canonicalize(&self.dir)?, std::fs::canonicalize(file)?];
        let inside = path.strip_prefix(&dir).ok().and_then(Path::to_str);
        inside.map(str::to_owned).ok_or_else(|| {
            let words = "a functionConfig that is saved must be a file of the package";
            Failure::usage(Diagnostic::untyped_error(words).in_file(file))
        })
    }
}

fn folder_of(file: &str) -> Option<PathBuf> {
    let path = std::fs::canonicalize(file).ok()?;
    path.parent().map(Path::to_owned)
}
