//! `render`: creates the steps of Kptfiles and runs them in the order of the package tree.

use std::path::{Path, PathBuf};

use krm_core::functions::PackageTree;
use krm_core::functions::kptfile::{self, Config, Function, Program};
use krm_core::functions::resource_list::{Item, Version};
use krm_core::functions::results::FunctionRecord;
use krm_core::{Diagnostic, Severity};

use super::PipelineRun;
use super::run_tree::{self, TreeOptions};
use crate::{
    DeclaredBy, FunctionRun, Interrupt, Limits, RunStatus, RuntimeFactory, RuntimeRequest, Step,
    local_directory,
};

/// Runs the pipelines of a package and its subpackages.
#[derive(Debug)]
pub struct Renderer {
    /// Creates the runtimes of functions.
    pub factory: RuntimeFactory,
    /// The limits of each function.
    pub limits: Limits,
    /// The version of the ResourceList that functions receive.
    pub version: Version,
    /// Results of this severity or higher are a failure.
    pub fail_on: Option<Severity>,
    /// Stops all functions.
    pub interrupt: Interrupt,
    /// Whether [`FunctionRun::changes`] has all changed resources, and not only those that were removed. They keep the texts of every step in
    /// memory.
    pub records_changes: bool,
    /// The directory of the root package. An absolute path.
    pub directory: PathBuf,
}

impl Renderer {
    /// Runs all pipelines of a tree on its resources. If one of the functions cannot run, none does.
    pub fn run(&self, tree: &PackageTree, items: Vec<Item>) -> PipelineRun {
        if let Some(runs) = self.preflight(tree) {
            return PipelineRun { items, runs, is_stopped: true };
        }
        let run = |member: usize, function: &Function, items: &mut [Item]| {
            self.run_function(&tree.nodes()[member].root, function, items)
        };
        let processors = rayon::current_num_threads();
        // Functions on a server only wait on this machine.
        let remote = self.factory.remote.as_ref().map_or(0, |remote| remote.concurrency());
        let (threads, records_changes) = (processors.max(remote), self.records_changes);
        run_tree::run(tree, items, TreeOptions { threads, records_changes }, &run)
    }

    /// Runs one function on items whose paths are relative to its package.
    fn run_function(&self, package: &str, function: &Function, items: &mut [Item]) -> FunctionRun {
        let is_met = function.condition.as_ref().map_or(Ok(true), |condition| {
            let selected: Vec<&Item> =
                items.iter().filter(|it| function.selection.selects(it.resource())).collect();
            self.factory
                .evaluate_condition(
                    &condition.expression,
                    &selected,
                    (self.limits, &self.interrupt),
                )
                .map_err(|error| condition.place.locate(error))
        });
        let step = match is_met.and_then(|is_met| match is_met {
            true => self.step(package, function, items).map(Some),
            false => Ok(None),
        }) {
            Ok(Some(step)) => step,
            Ok(None) => {
                return FunctionRun {
                    record: self.record(package, function),
                    status: RunStatus::Skipped,
                    total: items.len(),
                    output: Some(items.to_vec()),
                    role: Some(function.role),
                    declared_at: Some(function.place.clone()),
                    ..FunctionRun::default()
                };
            }
            Err(error) => {
                return FunctionRun {
                    total: items.len(),
                    role: Some(function.role),
                    declared_at: Some(function.place.clone()),
                    ..FunctionRun::not_run(self.record(package, function), error)
                };
            }
        };
        let mut run = step.run(items, &self.interrupt);
        run.record.package = package.to_owned();
        for change in &mut run.documents {
            change.path = change.path.in_directory(package);
        }
        run.errors = run.errors.into_iter().map(|it| from_root(it, package, items)).collect();
        run
    }

    fn step(&self, package: &str, function: &Function, items: &[Item]) -> Result<Step, Diagnostic> {
        let directory = self.directory.join(package);
        let config = kptfile::function_config(function, items)?;
        let config_file = config.as_ref().and_then(|config| config.path.as_ref());
        let request = RuntimeRequest {
            network: self.factory.permissions.allow_network,
            local: config_file
                .and_then(|path| local_directory(&directory, Path::new(path.as_str()))),
            declared_by: DeclaredBy::package(&directory),
            package_directory: Some(directory),
            ..RuntimeRequest::default()
        };
        let runner = self.factory.program(&function.program, function.tag.as_deref(), &request)?;
        let selection = function.selection.clone();
        Ok(Step {
            name: self.factory.name(&function.program, function.tag.as_deref()),
            runtime: runtime(&function.program),
            role: Some(function.role),
            declared_at: Some(function.place.clone()),
            config,
            config_sites: match &function.config {
                Config::Inline(inline) => inline.sites.clone(),
                Config::None | Config::File { .. } | Config::Ref(_) => Vec::new(),
            },
            selects: Box::new(move |item| selection.selects(item.resource())),
            version: self.version,
            fail_on: self.fail_on,
            limits: self.limits,
            ..Step::new(runner)
        })
    }

    pub(super) fn record(&self, package: &str, function: &Function) -> FunctionRecord {
        FunctionRecord {
            name: self.factory.name(&function.program, function.tag.as_deref()),
            runtime: runtime(&function.program),
            package: package.to_owned(),
            ..FunctionRecord::default()
        }
    }
}

fn runtime(program: &Program) -> &'static str {
    match program {
        Program::Image(_) => "image",
        Program::Exec(_) => "exec",
        Program::Wasm(_) => "wasm",
    }
}

/// The error with the path of its file relative to the root package, if it is about an item.
fn from_root(error: Diagnostic, package: &str, items: &[Item]) -> Diagnostic {
    let is_item = |file: &str| {
        items.iter().any(|item| item.path.as_ref().is_some_and(|path| path.as_str() == file))
    };
    match &error.file {
        Some(file) if !package.is_empty() && is_item(file) => {
            let path = format!("{package}/{file}");
            error.in_file(path)
        }
        _ => error,
    }
}
