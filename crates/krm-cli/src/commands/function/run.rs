//! `krm fn run`: the functions that a package declares.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use krm_core::functions::resource_list::Item;
use krm_core::functions::results::FieldLookup;
use krm_core::functions::{AnnotatedFunction, AnnotatedRuntime, annotated_functions};
use krm_core::{Diagnostic, Package, PackageFile};
use krm_run::{Limits, Runner, Step};

use super::configuration;
use super::opening::Flags;
use super::output::{self, Output};
use super::permissions::{Asks, Workshop};
use super::running::{Job, Run};
use super::streams;
use crate::cli::{Global, optional_bool};
use crate::console::Console;
use crate::loader;
use crate::{CommandResult, Exit, Failure, disk};

const EXAMPLES: &str = "\
Examples:
  krm fn run shop
  krm fn run shop --enable-exec --diff
  krm fn run shop --fn-path functions --results-dir out
  krm fn run shop --image set-labels -- app=shop";

/// Run the functions that a package declares.
///
/// A resource with the annotation config.kubernetes.io/function is the functionConfig of a function that gets the resources of its
/// folder and of those below. Deeper folders come first, then functions run by folder, file and place in the file. What they change
/// is edited into the files, and nothing else of them; where one fails they stay as they are.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES, mut_arg("include_subpackages", optional_bool))]
pub(crate) struct Args {
    /// The folder or file; - or nothing for standard input to standard output
    #[arg(value_name = "DIR", default_value = disk::STDIN, hide_default_value = true)]
    dir: String,

    /// Run the functions that this folder declares instead; may be repeated
    #[arg(long, value_name = "DIR")]
    fn_path: Vec<String>,

    /// Run this image instead of what is declared
    #[arg(short, long, value_name = "IMAGE")]
    image: Option<String>,

    /// Run this command instead of what is declared
    #[arg(long, value_name = "FILE", conflicts_with = "image")]
    exec_path: Option<String>,

    /// The functionConfig for --image and --exec-path, as data of a ConfigMap; a first word without = is its kind
    #[arg(last = true, value_name = "KEY=VALUE")]
    args: Vec<String>,

    /// Give every function all resources
    #[arg(long)]
    global_scope: bool,

    /// Taken because kustomize takes it: what each function does is told anyway
    #[arg(long)]
    log_steps: bool,

    /// Taken because kustomize takes it: packages inside the package always take part
    #[arg(long, default_value = "true", hide_default_value = true)]
    include_subpackages: bool,

    #[command(flatten)]
    flags: Flags,
}

/// A function with what it needs.
struct Planned {
    name: String,
    runtime: &'static str,
    runner: Runner,
    config: Option<Item>,
    /// The folder whose resources it gets.
    scope: String,
    /// The folder that it sees paths from.
    base: String,
    defer_failure: bool,
    place: Option<Diagnostic>,
    config_file: String,
}

pub(super) fn run(args: &Args, global: &Global, console: &mut Console) -> CommandResult {
    let explicit = args.image.is_some() || args.exec_path.is_some();
    if !args.args.is_empty() && !explicit {
        let words =
            "a functionConfig is given, and no function: name it with --image or --exec-path";
        return Err(Failure::usage(Diagnostic::untyped_error(words)));
    }
    let is_stream = args.dir == disk::STDIN;
    let workshop = args.flags.permissions.workshop((!is_stream).then_some(Path::new(&args.dir)))?;
    match is_stream {
        true => args.on_stream(&workshop, global, console),
        false => {
            let limits = args.flags.permissions.limits.limits();
            args.flags.on_package(
                &args.dir,
                None,
                global,
                console,
                |package, items, run, console| {
                    let planned = args.planned(package, items, &workshop, global)?;
                    Ok(steps(planned, limits, package, run, items.to_vec(), console))
                },
            )
        }
    }
}

impl Args {
    fn on_stream(
        &self,
        workshop: &Workshop<'_>,
        global: &Global,
        console: &mut Console,
    ) -> CommandResult {
        let output = self.flags.elsewhere.output.as_ref();
        if self.flags.preview.is_on() || matches!(output, Some(Output::Folder(_))) {
            let words = "what is read from standard input goes to standard output";
            return Err(Failure::usage(Diagnostic::untyped_error(words)));
        }
        let mut piped = streams::Piped::read()?;
        let mut run = self.flags.run(disk::display_name(disk::STDIN));
        let items = piped.items();
        let package = as_package(&items)?;
        let planned = self.planned(&package, &items, workshop, global)?;
        let limits = self.flags.permissions.limits.limits();
        let after = steps(planned, limits, &Package::default(), &mut run, items, console);
        self.flags.results.keep(&run.report, console)?;
        piped.finish(&run, after, output, console)
    }

    /// The functions in their order. What is not allowed is told before anything runs.
    fn planned(
        &self,
        package: &Package,
        items: &[Item],
        workshop: &Workshop<'_>,
        global: &Global,
    ) -> Result<Vec<Planned>, Failure> {
        let input = |told| Failure::Diagnostics(Exit::Input, told);
        let (mut planned, mut errors) = (Vec::new(), Vec::new());
        let mut add = |made: Result<Planned, Diagnostic>| match made {
            Ok(function) => planned.push(function),
            Err(told) => errors.push(told),
        };
        let explicit = self.image.is_some() || self.exec_path.is_some();
        if !explicit && self.fn_path.is_empty() {
            for function in annotated_functions(package).map_err(input)? {
                add(self.of_declared(
                    &function,
                    package,
                    items,
                    workshop,
                    workshop.folder(),
                    false,
                ));
            }
        }
        for dir in &self.fn_path {
            let loaded = loader::load(dir, global.jobs).map_err(Failure::input)?;
            let told = loaded.diagnostics();
            if told.iter().any(Diagnostic::is_error) {
                return Err(input(told));
            }
            let items =
                krm_core::functions::resource_list::Items::from_package(&loaded.package, |_| true)
                    .map_err(input)?
                    .items;
            let root = std::fs::canonicalize(dir)?;
            for function in annotated_functions(&loaded.package).map_err(input)? {
                add(self.of_declared(&function, &loaded.package, &items, workshop, &root, true));
            }
        }
        if explicit {
            add(self.explicit(workshop));
        }
        if errors.is_empty() {
            Ok(planned)
        } else {
            Err(Failure::Diagnostics(Exit::Function, errors))
        }
    }

    fn explicit(&self, workshop: &Workshop<'_>) -> Result<Planned, Diagnostic> {
        let asks = Asks { network: self.flags.permissions.has_network(), ..Asks::default() };
        let (name, runtime, ready) = match (&self.image, &self.exec_path) {
            (Some(image), _) => {
                (workshop.image_name(image, None), "image", workshop.image(image, None, &asks))
            }
            (None, path) => {
                let path = path.clone().unwrap_or_default();
                let ready = workshop.exec(&path, Some(vec![path.clone()]), true, &asks);
                (path, "exec", ready)
            }
        };
        Ok(Planned {
            name,
            runtime,
            runner: ready?,
            config: configuration::of_words(&self.args)?,
            scope: String::new(),
            base: String::new(),
            defer_failure: false,
            place: None,
            config_file: configuration::NO_FILE.to_owned(),
        })
    }

    fn of_declared(
        &self,
        function: &AnnotatedFunction<'_>,
        package: &Package,
        items: &[Item],
        workshop: &Workshop<'_>,
        root: &Path,
        is_elsewhere: bool,
    ) -> Result<Planned, Diagnostic> {
        let placed = function.placed;
        let place = place(function);
        let at = |told: Diagnostic| match told.location {
            Some(_) => told,
            None => told.located_as(&place),
        };
        let folder = root.join(placed.file.path.directory());
        let (runtime, ready) = ready(&function.declaration.runtime, workshop, &folder);
        let is_config = |item: &&Item| {
            let same = item.path.as_ref() == Some(&placed.file.path);
            same && item.index == Some(placed.index)
        };
        let config = items.iter().find(is_config).cloned();
        let config = match config {
            Some(config) => config,
            None => Item::from_node(placed.resource.node)?,
        };
        let is_global = self.global_scope || is_elsewhere;
        let scope = if is_global { "" } else { function.scope() };
        // Paths begin at the innermost package, or at the folder of the function where that is above it.
        let package_root = package.root_of(&placed.file.path);
        let is_above = scope.len() < package_root.len();
        let base = if is_global || is_above { scope } else { package_root };
        Ok(Planned {
            name: name_of(&function.declaration.runtime),
            runtime,
            runner: ready.map_err(at)?,
            config: Some(config),
            scope: scope.to_owned(),
            base: base.to_owned(),
            defer_failure: function.declaration.defer_failure,
            place: Some(place),
            config_file: placed.file.display_path.clone(),
        })
    }
}

/// Runs the functions one after the other, to the first that fails.
fn steps(
    planned: Vec<Planned>,
    limits: Limits,
    package: &Package,
    run: &mut Run,
    mut items: Vec<Item>,
    console: &mut Console,
) -> Vec<Item> {
    if planned.is_empty() {
        console.status("no function is declared");
    }
    for function in planned {
        let scope = function.scope;
        let wanted = |item: &Item| {
            let path = item.path.as_ref().map(krm_core::PackagePath::as_str);
            let inside = path.and_then(|path| path.strip_prefix(scope.as_str()));
            scope.is_empty() || inside.is_some_and(|rest| rest.starts_with('/'))
        };
        let step = Step {
            name: function.name,
            config: function.config,
            folder: function.base,
            defers_failure: function.defer_failure,
            limits,
            ..Step::new(function.runner)
        };
        let Planned { runtime, place, config_file, .. } = function;
        let job = Job { step, runtime, wanted: &wanted, place, config_file };
        items = run.step(package, &job, items, console);
        housed(&mut items, &scope);
        if !run.is_good {
            break;
        }
    }
    items
}

/// New resources that name no file get one below the folder of the function that made them.
fn housed(items: &mut [Item], scope: &str) {
    if scope.is_empty() {
        return;
    }
    for item in items.iter_mut().filter(|item| item.path.is_none()) {
        let Some(identity) = item.resource().identity() else { continue };
        let path = krm_core::files::Placement::default().new_file(&identity);
        item.path = krm_core::PackagePath::new(&format!("{scope}/{path}")).ok();
        item.index = None;
    }
}

/// Where a function is declared.
fn place(function: &AnnotatedFunction<'_>) -> Diagnostic {
    let resource = function.placed.resource;
    let field = ["config.kubernetes.io/function", "config.k8s.io/function"]
        .iter()
        .filter_map(|name| {
            FieldLookup::find(resource.node, &format!("metadata.annotations.{name}"))
        })
        .find(FieldLookup::exists);
    let key = field.and_then(|field| field.node.key());
    let span = key.map_or(resource.node.span(), |key| key.span());
    let told = Diagnostic::untyped_error("").at(resource.document().file(), span);
    told.in_file(&*function.placed.file.display_path)
}

/// What people call a declared function: a command with its arguments.
fn name_of(runtime: &AnnotatedRuntime) -> String {
    match runtime {
        AnnotatedRuntime::Exec { path, args, .. } => {
            std::iter::once(path).chain(args).cloned().collect::<Vec<_>>().join(" ")
        }
        other => other.name().to_owned(),
    }
}

/// A declared function made ready; its files stand in the folder of its declaration.
fn ready(
    runtime: &AnnotatedRuntime,
    workshop: &Workshop<'_>,
    folder: &Path,
) -> (&'static str, Result<Runner, Diagnostic>) {
    let asks = |network: bool, mounts: &[String], envs: &[String]| Asks {
        network,
        mounts: mounts.to_vec(),
        envs: envs.to_vec(),
        local: Some(PathBuf::from(folder)).filter(|folder| folder.is_dir()),
    };
    match runtime {
        AnnotatedRuntime::Container { image, network, mounts, envs } => {
            ("image", workshop.image(image, None, &asks(*network, mounts, envs)))
        }
        AnnotatedRuntime::Exec { path, args, envs } => {
            let words = std::iter::once(path).chain(args).cloned().collect();
            let name = name_of(runtime);
            ("exec", workshop.exec(&name, Some(words), false, &asks(false, &[], envs)))
        }
        AnnotatedRuntime::Wasm { path } => {
            ("wasm", workshop.wasm(path, &folder.join(path), &Asks::default()))
        }
        AnnotatedRuntime::Starlark { path, .. } => {
            ("starlark", workshop.starlark(runtime.name(), &folder.join(path)))
        }
    }
}

/// The resources of a stream as files, by the paths that they name.
fn as_package(items: &[Item]) -> Result<Package, Failure> {
    let mut by_path: BTreeMap<&str, Vec<Item>> = BTreeMap::new();
    for item in items {
        let path = item.path.as_ref().map_or("stdin.yaml", |path| path.as_str());
        by_path.entry(path).or_default().push(item.clone());
    }
    let files = by_path.into_iter();
    let files = files.map(|(path, items)| PackageFile::from_text(path, output::documents(&items)));
    let files = files.collect::<Result<Vec<_>, _>>();
    let files =
        files.map_err(|error| Failure::input(Diagnostic::untyped_error(error.to_string())))?;
    Ok(Package::new(files))
}
