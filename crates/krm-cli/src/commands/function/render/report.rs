//! Reports a run of `render`: a line for each function by package, its results, and the exit code.

use krm_core::functions::kptfile::Role;
use krm_core::functions::resource_list::Item;
use krm_core::functions::results::ResultLocator;
use krm_core::print::{self, Record};
use krm_core::{Diagnostic, Package};
use krm_run::{FunctionRun, PipelineRun, RunStatus};
use krm_yaml::Value;

use super::super::kinds::FnCommandKind;
use super::super::run_report::{image, report_outcome, selected, time, verdict};
use super::index::IndexSession;
use crate::console::{Console, number};
use crate::loader::LoadedPackage;
use crate::{Exit, Failure};

/// Prints what every function did, package by package.
pub(super) fn report(
    pipeline: &PipelineRun,
    package: &Package,
    loaded: &LoadedPackage,
    mut index: Option<&mut IndexSession>,
    console: &mut Console,
) {
    let locator = ResultLocator::new(package);
    let mut last = None;
    for run in &pipeline.runs {
        let directory = run.record.package.as_str();
        if last.replace(directory) != Some(directory) {
            console.report_duplicate_keys();
            if let Some(index) = &mut index {
                index.begin_report(directory, console);
            }
            console.status(&format!("Package \"{}\":", loaded.display_path(directory)));
        }
        let line = format!("{}{}", line(run), time(run, console));
        console.verdict(verdict(run), &line);
        report_outcome(run, (package, &locator), console);
        for item in removed(run) {
            let path = item.path.as_ref().map(|path| format!(" in {path}")).unwrap_or_default();
            console.status(&format!("  deleted {}{path}", item.resource().label()));
        }
    }
    if let Some(index) = index {
        index.end_report(pipeline.is_stopped, console);
    }
}

/// The function, the resources that it received, and what it did.
fn line(run: &FunctionRun) -> String {
    let (name, how) = (&run.record.name, run.record.how());
    match run.status {
        RunStatus::Skipped => return format!("\"{name}\": its condition is not met"),
        RunStatus::NotStarted => return format!("\"{name}\" ({how}): not started"),
        // A container that cannot run has no other description than its error.
        RunStatus::NotRun => return format!("\"{name}\": cannot run"),
        RunStatus::Succeeded | RunStatus::Failed => {}
    }
    let mut line = format!("\"{name}\" ({how}) on {}", selected(run));
    if run.role == Some(Role::Mutator) && !run.is_failed() {
        line += &format!(", {} changed", number(run.changed));
    }
    line + &image(run)
}

/// Resources that a function received and did not return.
fn removed(run: &FunctionRun) -> impl Iterator<Item = &Item> {
    let removed = run.changes.iter().filter(|change| change.after.is_none());
    removed.filter_map(|change| change.before.as_ref())
}

/// The exit code of a run that failed: findings if validators reported errors, or `--fail-on` counts their results.
pub(super) fn failure_exit(pipeline: &PipelineRun) -> Exit {
    let mut failed = pipeline.runs.iter().filter(|run| run.is_failed());
    let is_finding = |run: &FunctionRun| {
        let is_validator = run.role == Some(Role::Validator);
        (is_validator && run.has_error_results()) || run.is_failed_by_severity()
    };
    match failed.clone().any(FunctionRun::is_crash) {
        true => Exit::Bug,
        false if failed.all(is_finding) => Exit::Findings,
        false => Exit::Function,
    }
}

/// Deletions that need `--allow-delete`: of a Kptfile or Krmfile, or of everything. `skipped` resources are in packages that were not
/// rendered, because they did not change.
pub(super) fn deletion_error(
    pipeline: &PipelineRun,
    count_before: usize,
    skipped: usize,
) -> Option<Diagnostic> {
    let is_package_file = |item: &Item| {
        item.origin.is_some() && item.path.as_ref().is_some_and(|path| path.is_package_file())
    };
    let mutators = || pipeline.runs.iter().filter(|run| run.role == Some(Role::Mutator));
    let (run, deleted) = match mutators().find(|run| removed(run).any(is_package_file)) {
        _ if count_before > 0 && skipped == 0 && pipeline.items.is_empty() => {
            (mutators().rfind(|run| removed(run).next().is_some())?, "all resources")
        }
        Some(run) => (run, "the Kptfile or Krmfile of its package"),
        None => return None,
    };
    let function = run.label();
    let error = Diagnostic::error(FnCommandKind::DeletionNotAllowed { function, deleted });
    Some(run.declared_at.iter().fold(error, |error, place| place.locate(error)))
}

/// Prints what each function changed, field by field.
pub(super) fn explain(
    pipeline: &PipelineRun,
    loaded: &LoadedPackage,
    is_json: bool,
    console: &mut Console,
) -> Result<(), Failure> {
    let mutators = pipeline.runs.iter().filter(|run| run.role == Some(Role::Mutator));
    let mutators = mutators.filter(|run| !run.changes.is_empty());
    if is_json {
        let shows_secrets = console.shows_secrets();
        let records = mutators.map(|run| explanations(run, loaded, shows_secrets));
        let records = records.collect::<Result<Vec<_>, _>>().map_err(Failure::input)?.concat();
        return console.data(&print::records_to_json(&records).map_err(Failure::input)?);
    }
    for run in mutators {
        let (name, package) = (&run.record.name, loaded.display_path(&run.record.package));
        let place = run.declared_at.as_ref().map(ToString::to_string).unwrap_or_default();
        console.line(&format!("{name} in {package} ({place})"))?;
        for line in krm_run::explain(&run.changes, console.shows_secrets()) {
            console.line(&format!("  {line}"))?;
        }
    }
    Ok(())
}

/// The changes of a function as records, one for each resource.
fn explanations(
    run: &FunctionRun,
    loaded: &LoadedPackage,
    shows_secrets: bool,
) -> Result<Vec<Record<'static>>, Diagnostic> {
    let head = vec![
        ("function", Value::string(run.record.name.clone())),
        ("package", Value::string(loaded.display_path(&run.record.package))),
    ];
    let records = krm_run::explain_records(&run.changes, shows_secrets)?.into_iter();
    Ok(records.map(|record| [head.clone(), record].concat()).collect())
}
