//! One run of a function on the resources of a package, whatever runtime it has and whichever command started it.

use std::path::PathBuf;
use std::time::Duration;

use krm_catalog::kinds::CatalogKind;
use krm_core::functions::kptfile::{DeclarationSite, Role};
use krm_core::functions::resource_list::{FunctionResult, Item};
use krm_core::functions::results::FunctionRecord;
use krm_core::{Diagnostic, Severity};

use crate::DocumentChange;
use crate::kinds::RunKind;
use crate::pipeline::ItemChange;
use crate::runtime_factory::suggest_builtin;

/// How a function ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RunStatus {
    /// It succeeded.
    #[default]
    Succeeded,
    /// It ran and failed.
    Failed,
    /// It did not run, because its condition is not met.
    Skipped,
    /// It did not run, because its runtime or its functionConfig could not be created.
    NotRun,
    /// It was resolved and did not run, because another function of the pipeline cannot run.
    NotStarted,
}

/// One run of a function.
#[derive(Clone, Debug, Default)]
pub struct FunctionRun {
    /// What results.yaml records: name, runtime, image, package, exit code, stderr and results. Paths in results are
    /// relative to the package that declares the function.
    pub record: FunctionRecord,
    /// How it ended.
    pub status: RunStatus,
    /// All items after the run; none if the output of the function is not used.
    pub output: Option<Vec<Item>>,
    /// Files that its result depends on, besides the items and the functionConfig; none if it may depend on something else.
    pub inputs: Option<Vec<PathBuf>>,
    /// Documents of the package that it changed.
    pub documents: Vec<DocumentChange>,
    /// Whether the function writes documents, so that it has work in a package without resources.
    pub writes_documents: bool,
    /// What it changed, or only what it removed; filled in by the pipeline.
    pub changes: Vec<ItemChange>,
    /// How many resources it changed, added or removed; filled in by the pipeline of a package tree.
    pub changed: usize,
    /// How many results at the beginning of the record say something else than `errors`.
    pub reported_results: usize,
    /// Why it failed, without the name of the function. Files are relative to the root package.
    pub errors: Vec<Diagnostic>,
    /// Warnings, without the name of the function.
    pub warnings: Vec<Diagnostic>,
    /// How many items it received.
    pub selected: usize,
    /// How many items there were.
    pub total: usize,
    /// From start to end.
    pub duration: Duration,
    /// Whether the functions after it do not run.
    pub stops_pipeline: bool,
    /// Mutator or validator, where that is declared.
    pub role: Option<Role>,
    /// Where it is declared.
    pub declared_at: Option<DeclarationSite>,
    /// The exit code of the process, or 1 for a built-in function that reported errors.
    pub(crate) exit_code: Option<i32>,
}

impl FunctionRun {
    /// A function that could not be started.
    pub(crate) fn not_run(record: FunctionRecord, error: Diagnostic) -> Self {
        Self {
            record: FunctionRecord { exit_code: 1, ..record },
            status: RunStatus::NotRun,
            errors: vec![error],
            stops_pipeline: true,
            ..Self::default()
        }
    }

    /// Whether the function failed or did not run.
    pub fn is_failed(&self) -> bool {
        matches!(self.status, RunStatus::Failed | RunStatus::NotRun)
    }

    /// Whether the function did not run, without a failure of its own: its condition is not met, or another one cannot run.
    pub fn is_skipped(&self) -> bool {
        matches!(self.status, RunStatus::Skipped | RunStatus::NotStarted)
    }

    /// The results to print. The other results of the record repeat why the function failed.
    pub fn reported(&self) -> &[FunctionResult] {
        &self.record.results[..self.reported_results.min(self.record.results.len())]
    }

    /// Whether there are errors among the results.
    pub fn has_error_results(&self) -> bool {
        self.record.results.iter().any(|it| it.severity == Severity::Error)
    }

    /// Whether it failed only because `--fail-on` counts its results as a failure.
    pub fn is_failed_by_severity(&self) -> bool {
        let kinds = self.errors.iter().map(|error| error.kind::<RunKind>());
        kinds.flatten().any(|kind| matches!(kind, RunKind::FailOn { .. }))
    }

    /// Whether the failure is a finding: the function did its work and reported errors.
    pub fn is_finding(&self) -> bool {
        let exited = self.exit_code.is_some_and(|code| code != 0);
        self.is_failed_by_severity() || (exited && self.has_error_results())
    }

    /// Whether a built-in function or an interpreter failed because of a bug.
    pub fn is_crash(&self) -> bool {
        self.errors.iter().any(is_crash)
    }

    /// The role and name for messages: ``mutator `set-labels:v0.2` ``.
    pub fn label(&self) -> String {
        label(self.role, &self.record.name)
    }

    /// The warnings with the name of the function.
    pub fn warning_diagnostics(&self) -> impl Iterator<Item = Diagnostic> {
        self.warnings.iter().map(|warning| warning.clone().context(self.label()))
    }

    /// The errors with the name of the function, at the place that they are about or where the function is declared.
    pub fn error_diagnostics(&self) -> Vec<Diagnostic> {
        self.errors.iter().map(|error| self.error_diagnostic(error.clone())).collect()
    }

    fn error_diagnostic(&self, error: Diagnostic) -> Diagnostic {
        let error = match self.status {
            RunStatus::NotRun => cannot_run(error, &self.label()),
            _ => self.failed(error),
        };
        match &self.declared_at {
            Some(place) if error.location.is_none() => place.locate(error),
            // A location in a resource does not show which pipeline declares the function.
            Some(place) if error.file.as_deref() != Some(&*place.file) => {
                error.note(format!("the function is declared in {place}"))
            }
            _ => error,
        }
    }

    /// Whether errors among the results, which are reported by themselves, are the only failure.
    pub fn is_failed_by_results(&self) -> bool {
        let is_summary = |it: &Diagnostic| matches!(it.kind(), Some(RunKind::ErrorResults { .. }));
        self.errors.iter().all(is_summary)
    }

    fn failed(&self, error: Diagnostic) -> Diagnostic {
        let error = in_context(error, &self.label());
        match self.record.is_container() {
            true => suggest_builtin(error, &self.record.name),
            false => error,
        }
    }
}

/// Whether an error is a bug of krm: a panic of a built-in function, or a crash of an interpreter.
pub fn is_crash(error: &Diagnostic) -> bool {
    error.kind::<CatalogKind>().is_some_and(CatalogKind::is_crash)
        || matches!(error.kind(), Some(RunKind::Panicked { .. }))
}

/// Says which function failed or cannot run.
pub(crate) fn in_context(error: Diagnostic, label: &str) -> Diagnostic {
    match error.kind::<RunKind>().is_some_and(RunKind::prevents_start) {
        true => cannot_run(error, label),
        false => error.context(format!("{label} failed")),
    }
}

/// Says which function cannot run for this reason; see [`label`].
pub fn cannot_run(error: Diagnostic, label: &str) -> Diagnostic {
    error.context(format!("cannot run {label}"))
}

/// The role and name of a function for messages. Control characters of the name are escaped.
pub fn label(role: Option<Role>, name: &str) -> String {
    let role = role.map_or("function", Role::name);
    let escape = |c: char| match c {
        '\'' | '"' | '\\' => c.to_string(),
        _ => c.escape_debug().to_string(),
    };
    format!("{role} `{}`", name.chars().map(escape).collect::<String>())
}
