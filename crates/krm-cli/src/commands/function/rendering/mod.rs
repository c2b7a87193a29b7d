//! Rendering: functions of pipelines are made ready, run and told, and what came of them is written.

mod finish;
mod settings;
mod words;

use std::path::Path;
use std::time::Duration;

use krm_core::findings::Ran;
use krm_core::hydration::Tree;
use krm_core::kptfile::{self, Function, Program};
use krm_core::wire::{FunctionResult, Item};
use krm_core::{Diagnostic, Package};
use krm_run::render::Ended;
use krm_run::{Interrupt, Limits, Programs, Runner, StepFailure};

pub(super) use settings::Settings;

use super::placing;
use super::running::FailOn;
use crate::folder::Loaded;

/// All that a function of a pipeline needs to run.
struct Work<'a> {
    loaded: &'a Loaded,
    /// The package as it goes in: as it was read, or mended.
    package: &'a Package,
    tree: &'a Tree,
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
    is_builtin: bool,
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
        let root = &self.tree.members()[member].root;
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
                is_builtin: false,
                seen: 0,
                of,
                time: Default::default(),
                warnings: Vec::new(),
                errors: vec![told],
                is_finding: false,
            };
            Ended { items: None, report }
        };
        let config = match kptfile::config_of(function, items) {
            Ok(config) => config,
            Err(told) => return refused(told),
        };
        let folder = self.folder.join(root);
        let runner = self.programs.ready(&function.program, function.tag.as_deref(), &folder);
        let runner = match runner {
            Ok(runner) => runner,
            Err(told) => return refused(told),
        };
        let is_builtin = matches!(runner, Runner::Builtin(_));
        let step = krm_run::Step {
            name: ran.name.clone(),
            config,
            limits: self.limits,
            ..krm_run::Step::new(runner)
        };
        let wanted = |item: &Item| function.selection.has(item.resource());
        let seen = items.iter().filter(|item| wanted(item)).count();
        let told = |ran, time, warnings, errors| Told {
            ran,
            is_builtin,
            seen,
            of,
            time,
            warnings,
            errors,
            is_finding: false,
        };
        match step.run(items.to_vec(), wanted, self.interrupt) {
            Ok(done) => {
                let counts = |it: &FunctionResult| self.fail_on.is_some_and(|on| on.counts(it));
                let is_finding = done.results.iter().any(counts);
                let (stderr, exit_code) = (done.stderr.text(), is_finding.into());
                let ran = Ran { stderr, results: done.results, exit_code, ..ran };
                let report = told(ran, done.time, done.warnings, Vec::new());
                let report = Told { is_finding, ..report };
                Ended { items: (!is_finding).then_some(done.items), report }
            }
            Err(failure) => {
                let StepFailure { mut diagnostics, mut results, warnings, time, .. } = *failure;
                // Which function it is, is said together with its package.
                let names = [": ", " found "].map(|it| format!("function `{}`{it}", ran.name));
                for told in &mut diagnostics {
                    let bare = names.iter().find_map(|name| told.message.strip_prefix(name));
                    told.message = bare.unwrap_or(&told.message).to_owned();
                }
                // A built-in function that gave up says why in its results, as a program would.
                if is_builtin && failure.exit_code.is_none() {
                    let why = diagnostics.iter();
                    results.extend(why.map(|it| FunctionResult::new(it.severity, &*it.message)));
                }
                let placed = |told| self.placed(told, root, function, items);
                let errors = diagnostics.into_iter().map(placed).collect();
                let (exit_code, stderr) = (failure.exit_code.unwrap_or(1), failure.stderr.text());
                let ran = Ran { exit_code, stderr, results, ..ran };
                Ended { items: None, report: told(ran, time, warnings, errors) }
            }
        }
    }

    /// An error of a function in the file that it is about: functions know their resources as documents of their own.
    fn placed(
        &self,
        mut told: Diagnostic,
        root: &str,
        function: &Function,
        items: &[Item],
    ) -> Diagnostic {
        if told.location.is_none() {
            return told;
        }
        let Some(path) = told.file.take() else {
            // It is about values that stand in the pipeline.
            told.location = None;
            return function.place.put(told);
        };
        let item = placing::about(&told, &path, items);
        placing::in_file(told, item, self.package, self.loaded.shown(&inside(root, &path)))
    }
}

/// A path of a package as the outermost one knows it.
fn inside(root: &str, path: &str) -> String {
    if root.is_empty() { path.to_owned() } else { format!("{root}/{path}") }
}
