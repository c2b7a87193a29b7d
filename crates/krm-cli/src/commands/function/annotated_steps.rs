//! The steps of `krm fn run`, from annotations of resources or from the command line.

use std::path::{Path, PathBuf};

use krm_core::functions::kptfile::DeclarationSite;
use krm_core::functions::resource_list::{Item, Items};
use krm_core::functions::results::FieldLookup;
use krm_core::functions::{AnnotatedFunction, AnnotatedRuntime, annotated_functions};
use krm_core::{Diagnostic, Location, Package};
use krm_run::{
    DeclaredBy, Runner, RuntimeFactory, RuntimeRequest, Step, cannot_run, label, local_directory,
};

use super::function_config;
use super::kinds::FnCommandKind;
use super::run::Args;
use crate::cli::Global;
use crate::console::Console;
use crate::loader;
use crate::{Exit, Failure};

/// Creates the steps of the functions that a package, a directory or the command line declares.
pub(super) struct StepSource<'a> {
    pub(super) args: &'a Args,
    pub(super) factory: RuntimeFactory,
    /// The directory of the package; none for a list from standard input, whose paths are only annotations.
    pub(super) directory: Option<PathBuf>,
    pub(super) global: &'a Global,
}

/// A package that declares functions.
#[derive(Clone, Copy)]
struct DeclaringPackage<'a> {
    package: &'a Package,
    items: &'a [Item],
    /// Its directory; none for a list from standard input.
    root: Option<&'a Path>,
    /// Whether it is another package than the one that functions run on.
    is_separate: bool,
}

impl StepSource<'_> {
    /// The steps in their order. All functions that are not allowed are reported before any of them runs.
    pub(super) fn steps(
        &self,
        package: &Package,
        items: &[Item],
        console: &mut Console,
    ) -> Result<Vec<Step>, Failure> {
        let mut steps = Vec::new();
        if !self.args.is_explicit() && self.args.fn_path.is_empty() {
            let root = self.directory.as_deref();
            let source = DeclaringPackage { package, items, root, is_separate: false };
            steps.extend(self.declared_steps(source)?);
        }
        for dir in &self.args.fn_path {
            let loaded = loader::load(dir, self.global.load_options()).map_err(Failure::input)?;
            let diagnostics = loaded.diagnostics();
            if diagnostics.iter().any(Diagnostic::is_error) {
                return Err(Failure::Diagnostics(Exit::Input, diagnostics));
            }
            let package = &loaded.package;
            let items = Items::from_package(package, |_| true);
            let items = items.map_err(|errors| Failure::Diagnostics(Exit::Input, errors))?.items;
            let root = std::fs::canonicalize(dir)?;
            let root = Some(&*root);
            let source = DeclaringPackage { package, items: &items, root, is_separate: true };
            steps.extend(self.declared_steps(source)?);
        }
        if self.args.is_explicit() {
            steps.push(self.explicit_step());
        }
        let (mut ready, mut errors) = (Vec::new(), Vec::new());
        for step in steps {
            match step {
                Ok(step) => ready.push(step),
                Err(error) => errors.push(error),
            }
        }
        if !errors.is_empty() {
            return Err(Failure::Diagnostics(Exit::Function, errors));
        }
        if ready.is_empty() {
            console.report(&Diagnostic::warning(FnCommandKind::NoFunctions));
        }
        Ok(ready)
    }

    fn declared_steps(
        &self,
        source: DeclaringPackage<'_>,
    ) -> Result<Vec<Result<Step, Diagnostic>>, Failure> {
        let functions = annotated_functions(source.package)
            .map_err(|errors| Failure::Diagnostics(Exit::Input, errors))?;
        Ok(functions.iter().map(|function| self.declared_step(function, source)).collect())
    }

    fn explicit_step(&self) -> Result<Step, Diagnostic> {
        let request = RuntimeRequest {
            package_directory: self.directory.clone(),
            declared_by: DeclaredBy::User,
            network: self.args.flags.permissions.has_network(),
            ..RuntimeRequest::default()
        };
        let (name, runtime, runner) = match (&self.args.image, &self.args.exec_path) {
            (Some(image), _) => {
                let name = self.factory.resolution.full_name(image, None);
                (name, "image", self.factory.image(image, None, &request))
            }
            (None, path) => {
                let path = path.clone().unwrap_or_default();
                let runner = self.factory.exec(&path, Some(vec![path.clone()]), &request);
                (path, "exec", runner)
            }
        };
        let runner = runner.map_err(|error| cannot_run(error, &label(None, &name)))?;
        Ok(Step {
            name,
            runtime,
            config: function_config::from_args(&self.args.args)?,
            config_file: Some(function_config::NO_FILE.to_owned()),
            ..self.step(runner)
        })
    }

    fn declared_step(
        &self,
        function: &AnnotatedFunction<'_>,
        source: DeclaringPackage<'_>,
    ) -> Result<Step, Diagnostic> {
        let placed = function.resource;
        let declaration = &function.declaration;
        let declared_at = place(function);
        let name = name_of(&declaration.runtime);
        let root = source.root.unwrap_or(&self.factory.working_directory);
        let declared_by = DeclaredBy::Package {
            root: root.to_owned(),
            directory: placed.file.path.directory().to_owned(),
        };
        let config_file = Path::new(placed.file.path.as_str());
        let local = source.root.and_then(|root| local_directory(root, config_file));
        let (runtime, runner) = self.runner(&declaration.runtime, &declared_by, local.as_deref());
        let runner = runner.map_err(|error| {
            let error = cannot_run(error, &label(None, &name));
            if error.location.is_none() { declared_at.locate(error) } else { error }
        })?;
        let is_config = |item: &&Item| {
            item.path.as_ref() == Some(&placed.file.path) && item.index == Some(placed.index)
        };
        let config = match source.items.iter().find(is_config) {
            Some(config) => config.clone(),
            None => Item::from_node(placed.resource.node)?,
        };
        let is_global = self.args.global_scope || source.is_separate;
        let scope = if is_global { "" } else { function.scope() };
        // Paths are relative to the innermost package, or to the directory of the function if that is above it.
        let package_root = source.package.root_of(&placed.file.path);
        let is_above = scope.len() < package_root.len();
        let base = if is_global || is_above { scope } else { package_root };
        let directory = scope.to_owned();
        Ok(Step {
            name,
            runtime,
            config: Some(config),
            config_file: Some(placed.file.display_path.clone()),
            package: base.to_owned(),
            scope: scope.to_owned(),
            selects: Box::new(move |item| {
                directory.is_empty()
                    || item.path.as_ref().is_some_and(|path| path.is_in(&directory))
            }),
            defers_failure: declaration.defer_failure,
            version: declaration.version.unwrap_or(self.args.flags.version.version()),
            declared_at: Some(declared_at),
            ..self.step(runner)
        })
    }

    fn step(&self, runner: Runner) -> Step {
        Step {
            version: self.args.flags.version.version(),
            fail_on: self.args.flags.results.fail_on_severity(),
            limits: self.args.flags.permissions.limits.limits(),
            ..Step::new(runner)
        }
    }

    /// How a declared function runs. Its files are relative to the directory of its declaration, and inside the package.
    fn runner(
        &self,
        runtime: &AnnotatedRuntime,
        declared_by: &DeclaredBy,
        local: Option<&Path>,
    ) -> (&'static str, Result<Runner, Diagnostic>) {
        let request = |network: bool, mounts: &[String], variables: &[String]| RuntimeRequest {
            package_directory: self.directory.clone(),
            declared_by: declared_by.clone(),
            network,
            mounts: mounts.to_vec(),
            variables: variables.to_vec(),
            local: local.map(Path::to_owned),
        };
        let factory = &self.factory;
        match runtime {
            AnnotatedRuntime::Container { image, network, mounts, envs } => {
                ("image", factory.image(image, None, &request(*network, mounts, envs)))
            }
            AnnotatedRuntime::Exec { path, args, envs } => {
                let args = std::iter::once(path).chain(args).cloned().collect();
                let request = request(false, &[], envs);
                ("exec", factory.exec(&name_of(runtime), Some(args), &request))
            }
            AnnotatedRuntime::Wasm { path } => {
                ("wasm", factory.wasm(path, &request(false, &[], &[])))
            }
            AnnotatedRuntime::Starlark { path, .. } => {
                ("starlark", factory.starlark(runtime.name(), path, &request(false, &[], &[])))
            }
        }
    }
}

/// Where a function is declared: at its annotation.
fn place(function: &AnnotatedFunction<'_>) -> DeclarationSite {
    let resource = function.resource.resource;
    let annotation = ["config.kubernetes.io/function", "config.k8s.io/function"]
        .iter()
        .filter_map(|name| {
            FieldLookup::find(resource.node, &format!("metadata.annotations.{name}"))
        })
        .find(FieldLookup::exists);
    let key = annotation.and_then(|annotation| annotation.node.key());
    let span = key.map_or(resource.node.span(), |key| key.span());
    let location = Location::of(resource.document().file(), span);
    DeclarationSite { file: function.resource.file.display_path.as_str().into(), location }
}

/// The name of a declared function for messages: a command with its arguments.
fn name_of(runtime: &AnnotatedRuntime) -> String {
    match runtime {
        AnnotatedRuntime::Exec { path, args, .. } => {
            std::iter::once(path).chain(args).cloned().collect::<Vec<_>>().join(" ")
        }
        other => other.name().to_owned(),
    }
}
