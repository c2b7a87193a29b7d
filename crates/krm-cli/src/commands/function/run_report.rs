//! Reports function runs: a line for each function, its warnings and results, and why it failed.

use krm_core::functions::resource_list::{FunctionResult, Item};
use krm_core::functions::results::ResultLocator;
use krm_core::{Diagnostic, Package, PackagePath, Severity};
use krm_run::{FunctionRun, Interrupt, PipelineEvent, PipelineRun, RunStatus, Step, run_steps};

use super::kinds::FnCommandKind;
use super::result_report;
use crate::Exit;
use crate::console::{Activity, Console, Verdict, plural};
use crate::reports::{FunctionFinding, ResourceText};

/// Runs steps and reports each of them when it ends. `title` is the package for messages.
pub(super) fn run_and_report(
    steps: &[Step],
    items: &mut [Item],
    (package, title): (&Package, &str),
    interrupt: &Interrupt,
    console: &mut Console,
) -> PipelineRun {
    let mut activity = None;
    run_steps(steps, items, interrupt, &mut |event| match event {
        PipelineEvent::Started(step) => {
            let package = crate::loader::join_display_path(title, &step.package);
            activity = Some(Activity::begin(&format!("running {} on {package}", step.name)));
        }
        PipelineEvent::Finished(run) => {
            drop(activity.take());
            report_run(run, package, title, console);
        }
    })
}

fn report_run(run: &FunctionRun, package: &Package, title: &str, console: &mut Console) {
    let name = crate::loader::join_display_path(title, &run.record.package);
    let (function, how) = (&run.record.name, run.record.how());
    let (selected, image, time) = (selected(run), image(run), time(run, console));
    let line = format!("\"{function}\" ({how}) on {selected} of {name}{image}{time}");
    console.verdict(verdict(run), &line);
    report_outcome(run, (package, &ResultLocator::new(package)), console);
}

/// Prints what a function wrote, warned about and found.
pub(super) fn report_outcome(
    run: &FunctionRun,
    (package, locator): (&Package, &ResultLocator<'_>),
    console: &mut Console,
) {
    report_stderr(run, console);
    without_resources(run, package).iter().for_each(|warning| console.report(warning));
    run.warning_diagnostics().for_each(|warning| console.report(&warning));
    result_report::report(run, (package, locator), console);
}

/// A warning if a function that is not a generator received nothing, or only the Kptfile: its success says nothing then.
fn without_resources(run: &FunctionRun, package: &Package) -> Option<Diagnostic> {
    let is_only_kptfile = || {
        let path = PackagePath::new("Kptfile").ok()?.in_directory(&run.record.package);
        // Only the changes of pipelines are known here.
        let is_alone = (run.selected, run.total) == (1, 1) && run.role.is_some();
        package.file(&path).filter(|_| is_alone && !run.writes_documents)
    };
    let is_empty = run.selected == 0 || is_only_kptfile().is_some();
    let has_run = !run.is_skipped() && !run.is_failed();
    let has_generated = run.output.as_ref().is_some_and(|items| items.len() > run.total);
    let (function, selected, total) = (run.record.name.clone(), run.selected, run.total);
    (is_empty && has_run && !has_generated && run.changed == 0)
        .then(|| Diagnostic::warning(FnCommandKind::NoResources { function, selected, total }))
}

/// A result for reports, with the edit that it proposes.
pub(super) fn finding<'a>(
    run: &'a FunctionRun,
    result: &'a FunctionResult,
    (package, locator): (&Package, &ResultLocator<'_>),
    console: &mut Console,
) -> FunctionFinding<'a> {
    let fix = console.recorder().fix(package, locator, &run.record.package, result);
    FunctionFinding { function: &run.record.name, result, fix }
}

/// Prints the standard error of a function that succeeded if `--verbose` is given. The error of one that failed quotes it.
fn report_stderr(run: &FunctionRun, console: &mut Console) {
    if !run.is_failed() {
        run.record.stderr.lines().for_each(|line| console.detail(&format!("  [stderr] {line}")));
    }
}

/// Records which function changed which lines, for a report that shows it. `display` gives the name of a file for people.
pub(super) fn record_authors(
    pipeline: &PipelineRun,
    display: impl Fn(&str) -> String,
    console: &mut Console,
) {
    if !console.recorder().records_changes() {
        return;
    }
    for run in &pipeline.runs {
        for change in &run.changes {
            let named = |item: &Item| {
                let path = item.path.as_ref()?;
                Some((display(path.as_str()), item.resource().label()))
            };
            let Some(item) = &change.after else { continue };
            let Some((file, label)) = named(item) else { continue };
            let after = ResourceText { file: &file, label: &label, text: item.text() };
            let before = change.before.as_ref().and_then(|item| Some((named(item)?, item)));
            let before = before.as_ref().map(|((file, label), item)| ResourceText {
                file,
                label,
                text: item.text(),
            });
            console.recorder().add_author(before, after, &run.record.name);
        }
    }
}

/// Counts the functions that ran and the results that they reported, for the closing line.
pub(super) fn count(pipeline: &PipelineRun, console: &mut Console) {
    let results = pipeline.runs.iter().flat_map(FunctionRun::reported);
    let count = |severity| results.clone().filter(|it| it.severity == severity).count();
    let counts = [Severity::Error, Severity::Warning, Severity::Info].map(|it| (it, count(it)));
    let ran = |run: &&FunctionRun| matches!(run.status, RunStatus::Succeeded | RunStatus::Failed);
    let functions = pipeline.runs.iter().filter(ran).count();
    console.summary().add_functions(functions, counts.to_vec());
}

/// How a function ended.
pub(super) fn verdict(run: &FunctionRun) -> Verdict {
    match run.status {
        RunStatus::Failed | RunStatus::NotRun => Verdict::Fail,
        RunStatus::Skipped | RunStatus::NotStarted => Verdict::Skip,
        RunStatus::Succeeded => Verdict::Pass,
    }
}

/// How many resources a function received.
pub(super) fn selected(run: &FunctionRun) -> String {
    match run.selected == run.total {
        true => plural(run.total, "resource"),
        false => format!("{} of {}", run.selected, plural(run.total, "resource")),
    }
}

/// How long a function ran, for the end of a line; only with `--verbose`.
pub(super) fn time(run: &FunctionRun, console: &Console) -> String {
    match console.is_verbose() {
        true => format!(" in {} ms", run.duration.as_millis()),
        false => String::new(),
    }
}

/// The image that ran, for the end of a line.
pub(super) fn image(run: &FunctionRun) -> String {
    run.record.image.as_ref().map(|image| format!(", image {image}")).unwrap_or_default()
}

/// Why functions failed, apart from results, which are reported by themselves.
pub(super) fn unreported_errors(pipeline: &PipelineRun, package: &Package) -> Vec<Diagnostic> {
    let runs = pipeline.runs.iter().filter(|run| !run.is_failed_by_results());
    errors(runs, package)
}

/// Why functions failed, with the names of files as the user knows them.
pub(super) fn errors<'a>(
    runs: impl IntoIterator<Item = &'a FunctionRun>,
    package: &Package,
) -> Vec<Diagnostic> {
    let failed = runs.into_iter().filter(|run| run.is_failed());
    let errors = failed.flat_map(FunctionRun::error_diagnostics);
    errors.map(|error| with_display_path(error, package)).collect()
}

/// The exit code of `eval` and `run`: findings if every function that failed did its work and reported errors.
pub(super) fn exit(pipeline: &PipelineRun) -> Exit {
    let failed: Vec<_> = pipeline.runs.iter().filter(|run| run.is_failed()).collect();
    match failed.iter().all(|run| run.is_finding()) {
        _ if failed.iter().any(|run| run.is_crash()) => Exit::Bug,
        true if failed.is_empty() => Exit::Success,
        true => Exit::Findings,
        false => Exit::Function,
    }
}

fn with_display_path(diagnostic: Diagnostic, package: &Package) -> Diagnostic {
    let path = diagnostic.file.as_deref();
    let file = package.files().iter().find(|it| Some(it.path.as_str()) == path);
    match file {
        Some(file) => diagnostic.in_file(&*file.display_path),
        None => diagnostic,
    }
}
