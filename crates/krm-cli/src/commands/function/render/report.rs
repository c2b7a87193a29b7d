//! Reports a run of `render`: a line for each function by package, its results, and the exit code.

use krm_core::functions::kptfile::Role;
use krm_core::functions::resource_list::{FunctionResult, Item};
use krm_core::functions::results::ResultLocator;
use krm_core::{Diagnostic, Package, Severity};
use krm_run::{FunctionRun, PipelineRun};

use super::super::kinds::FnCommandKind;
use super::super::run_report::{image, report_stderr, selected, verdict, without_resources};
use crate::console::Console;
use crate::loader::LoadedPackage;
use crate::reports::FunctionFinding;
use crate::{Exit, Failure};

/// Prints what every function did, package by package.
pub(super) fn report(
    pipeline: &PipelineRun,
    package: &Package,
    loaded: &LoadedPackage,
    console: &mut Console,
) {
    let locator = ResultLocator::new(package);
    let mut last = None;
    for run in &pipeline.runs {
        let package = run.record.package.as_str();
        if last.replace(package) != Some(package) {
            console.status(&format!("Package \"{}\":", loaded.display_path(package)));
        }
        console.status(&line(run, console.is_verbose()));
        report_stderr(run, console);
        without_resources(run).iter().for_each(|warning| console.report(warning));
        run.warning_diagnostics().for_each(|warning| console.report(&warning));
        for result in run.reported() {
            if !console.reports(result.severity) {
                continue;
            }
            let source = FunctionFinding { function: &run.record.name, result };
            let diagnostic = || locator.diagnostic(package, result);
            match result.severity {
                Severity::Info if console.records(Severity::Info) => {
                    console.status(&format!("  [info] {}", one_line(result)));
                    console.record_result(&diagnostic(), source);
                }
                Severity::Info => console.status(&format!("  [info] {}", one_line(result))),
                _ => console.report_result(&diagnostic(), source),
            }
        }
        for item in removed(run) {
            let path = item.path.as_ref().map(|path| format!(" in {path}")).unwrap_or_default();
            console.status(&format!("  deleted {}{path}", item.resource().label()));
        }
    }
}

fn one_line(result: &FunctionResult) -> String {
    let diagnostic = result.to_diagnostic();
    let subject = [
        result.file.as_ref().map(|it| it.path.as_str()),
        diagnostic.resource.as_deref(),
        diagnostic.field.as_deref(),
    ];
    let subject: Vec<&str> = subject.into_iter().flatten().collect();
    let message = diagnostic.message().replace('\n', " ");
    if subject.is_empty() { message } else { format!("{}: {message}", subject.join(" ")) }
}

/// The function, the resources that it received, and its result.
fn line(run: &FunctionRun, is_verbose: bool) -> String {
    if run.is_skipped() {
        return format!("[SKIP] \"{}\": its condition is not met", run.record.name);
    }
    let (verdict, how) = (verdict(run), run.record.how());
    let mut line = format!("[{verdict}] \"{}\" ({how}) on {}", run.record.name, selected(run));
    if run.role == Some(Role::Mutator) && !run.is_failed() {
        line += &format!(", {} changed", run.changes.len());
    }
    line += &image(run);
    if is_verbose {
        line += &format!(" in {} ms", run.duration.as_millis());
    }
    line
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

/// Deletions that need `--allow-delete`: of a Kptfile or Krmfile, or of everything.
pub(super) fn deletion_error(pipeline: &PipelineRun, count_before: usize) -> Option<Diagnostic> {
    let is_package_file = |item: &Item| {
        item.origin.is_some() && item.path.as_ref().is_some_and(|path| path.is_package_file())
    };
    let mutators = || pipeline.runs.iter().filter(|run| run.role == Some(Role::Mutator));
    let (run, deleted) = match mutators().find(|run| removed(run).any(is_package_file)) {
        _ if count_before > 0 && pipeline.items.is_empty() => {
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
    console: &mut Console,
) -> Result<(), Failure> {
    let mutators = pipeline.runs.iter().filter(|run| run.role == Some(Role::Mutator));
    for run in mutators.filter(|run| !run.changes.is_empty()) {
        let (name, package) = (&run.record.name, loaded.display_path(&run.record.package));
        let place = run.declared_at.as_ref().map(ToString::to_string).unwrap_or_default();
        console.line(&format!("{name} in {package} ({place})"))?;
        for line in krm_run::explain(&run.changes, console.shows_secrets()) {
            console.line(&format!("  {line}"))?;
        }
    }
    Ok(())
}
