//! Rendering: functions of pipelines are made ready, run and told, and what came of them is written.

mod finish;
mod settings;
mod words;

use std::path::Path;
use std::time::Duration;

use krm_core::functions::PackageTree;
use krm_core::functions::kptfile::{self, Function, Program};
use krm_core::functions::resource_list::{FunctionResult, Item};
use krm_core::functions::results::Ran;
use krm_core::{Diagnostic, Package};
use krm_run::render::Ended;
use krm_run::{Image, Interrupt, Limits, Programs, Runner, StepFailure};

pub(super) use settings::Settings;

use super::running::FailOn;
use crate::loader::LoadedPackage;

/// All that a function of a pipeline needs to run.
struct Work<'a> {
    loaded: &'a LoadedPackage,
    /// The package as it goes in: as it was read, or mended.
    package: &'a Package,
    tree: &'a PackageTree,
    programs: &'a Programs,
    limits: Limits,
    interrupt: &'a Interrupt,
    /// From which severity on results are a failure.
    fail_on: Option<FailOn>,
    /// Documents that are no resources.
    left_out: Option<Diagnostic>,
    /// The package's folder. An absolute path.
    folder: &'a Path,
}

/// What there is to say about a function that ran.
struct Told {
    ran: Ran,
    seen: usize,
    of: usize,
    time: Duration,
    warnings: Vec<Diagnostic>,
    errors: Vec<Diagnostic>,
    /// Whether it failed by its results alone.
    is_finding: bool,
}

impl Work<'_> {
    /// Runs one function of a package.
    fn run(&self, member: usize, function: &Function, items: &[Item]) -> Ended<Told> {
        let root = &self.tree.nodes()[member].root;
        let of = items.len();
        let runtime = match function.program {
            Program::Image(_) => "image",
            Program::Exec(_) => "exec",
            Program::Wasm(_) => "wasm",
        };
        let ran = Ran {
            name: self.programs.name(&function.program, function.tag.as_deref()),
            runtime,
            package: root.clone(),
            ..Ran::default()
        };
        let refused = |told: Diagnostic| {
            let ran = Ran { exit_code: 1, ..ran.clone() };
            let report = Told {
                ran,
                seen: 0,
                of,
                time: Default::default(),
                warnings: Vec::new(),
                errors: vec![told],
                is_finding: false,
            };
            Ended { items: None, report }
        };
        let config = match kptfile::function_config(function, items) {
            Ok(config) => config,
            Err(told) => return refused(told),
        };
        let folder = self.folder.join(root);
        let runner = self.programs.ready(&function.program, function.tag.as_deref(), &folder);
        let runner = match runner {
            Ok(runner) => runner,
            Err(told) => return refused(told),
        };
        let ran = Ran { is_builtin: matches!(runner, Runner::Builtin(_)), ..ran };
        let step = krm_run::Step {
            name: ran.name.clone(),
            config,
            limits: self.limits,
            ..krm_run::Step::new(runner)
        };
        let wanted = |item: &Item| function.selection.selects(item.resource());
        let seen = items.iter().filter(|item| wanted(item)).count();
        let told = |ran, time, warnings, errors| Told {
            ran,
            seen,
            of,
            time,
            warnings,
            errors,
            is_finding: false,
        };
        let named = |told: Vec<Diagnostic>| -> Vec<Diagnostic> {
            told.into_iter().map(|it| krm_run::named(&step.name, it, false)).collect()
        };
        match step.run(items.to_vec(), wanted, self.interrupt) {
            Ok(done) => {
                let counts = |it: &FunctionResult| self.fail_on.is_some_and(|on| on.counts(it));
                let is_finding = done.results.iter().any(counts);
                let (stderr, exit_code) = (done.stderr.text(), is_finding.into());
                let image = done.image.as_ref().map(Image::to_string);
                let ran = Ran { stderr, results: done.results, exit_code, image, ..ran };
                let report = told(ran, done.time, named(done.warnings), Vec::new());
                let report = Told { is_finding, ..report };
                Ended { items: (!is_finding).then_some(done.items), report }
            }
            Err(failure) => {
                // Which function it is, is said together with its package.
                let StepFailure { diagnostics, results, warnings, time, image, .. } = *failure;
                let placed = |told| self.placed(told, root, function);
                let errors = diagnostics.into_iter().map(placed).collect();
                let (exit_code, stderr) = (failure.exit_code.unwrap_or(1), failure.stderr.text());
                let image = image.as_ref().map(Image::to_string);
                let ran = Ran { exit_code, stderr, results, image, ..ran };
                Ended { items: None, report: told(ran, time, named(warnings), errors) }
            }
        }
    }

    /// An error of a function with the name of its file that people know.
    fn placed(&self, mut told: Diagnostic, root: &str, function: &Function) -> Diagnostic {
        if told.location.is_none() {
            return told;
        }
        let Some(path) = told.file.take() else {
            // It is about values that stand in the pipeline.
            told.location = None;
            return function.place.locate(told);
        };
        told.in_file(self.loaded.display_path(&inside(root, &path)))
    }
}

/// A path of a package as the outermost one knows it.
fn inside(root: &str, path: &str) -> String {
    if root.is_empty() { path.to_owned() } else { format!("{root}/{path}") }
}
