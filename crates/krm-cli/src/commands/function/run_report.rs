//! Reports function runs: a line for each function, its warnings and results, and why it failed.

use krm_core::functions::resource_list::Item;
use krm_core::functions::results::ResultLocator;
use krm_core::{Diagnostic, Package, Severity};
use krm_run::{FunctionRun, Interrupt, PipelineEvent, PipelineRun, Step, run_steps};

use super::kinds::FnCommandKind;
use crate::Exit;
use crate::console::{Activity, Console};
use crate::reports::FunctionFinding;

/// From which severity on results are a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum FailOn {
    /// Results of severity error
    Error,
    /// Results of severity error or warning
    Warning,
    /// All results
    Info,
}

impl FailOn {
    pub(super) fn severity(self) -> Severity {
        match self {
            Self::Error => Severity::Error,
            Self::Warning => Severity::Warning,
            Self::Info => Severity::Info,
        }
    }
}

/// Runs steps and reports each of them when it ends. `title` is the package for messages.
pub(super) fn run_and_report(
    steps: &[Step],
    items: Vec<Item>,
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
    let duration = run.duration.as_millis();
    let image = image(run);
    console.status(&format!(
        "[{}] \"{function}\" ({how}) on {} of {name} in {duration}ms{image}",
        verdict(run),
        selected(run)
    ));
    report_stderr(run, console);
    without_resources(run).iter().for_each(|warning| console.report(warning));
    run.warning_diagnostics().for_each(|warning| console.report(&warning));
    report_results(run, &ResultLocator::new(package), console);
}

/// A warning if a function that is not a generator received nothing: its success says nothing then.
pub(super) fn without_resources(run: &FunctionRun) -> Option<Diagnostic> {
    let is_empty = run.selected == 0 && !run.is_skipped() && !run.is_failed();
    let (function, total) = (run.record.name.clone(), run.total);
    (is_empty && run.changes.is_empty())
        .then(|| Diagnostic::warning(FnCommandKind::NoResources { function, total }))
}

/// Prints the results of a function. Those that are not printed are not located, which takes longer than printing them.
pub(super) fn report_results(
    run: &FunctionRun,
    locator: &ResultLocator<'_>,
    console: &mut Console,
) {
    for result in run.reported() {
        if console.reports(result.severity) {
            let source = FunctionFinding { function: &run.record.name, result };
            console.report_result(&locator.diagnostic(&run.record.package, result), source);
        }
    }
}

/// Prints the standard error of a function that succeeded if `--verbose` is given. The error of one that failed quotes it.
pub(super) fn report_stderr(run: &FunctionRun, console: &mut Console) {
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
            let Some(after) = &change.after else { continue };
            let Some(path) = &after.path else { continue };
            let before = change.before.as_ref().map(Item::text).unwrap_or_default();
            let texts = (before, after.text());
            console.recorder().add_author(&display(path.as_str()), texts, &run.record.name);
        }
    }
}

/// Prints how many functions ran and how many results they reported.
pub(super) fn report_summary(pipeline: &PipelineRun, console: &mut Console) {
    let results = pipeline.runs.iter().flat_map(|run| &run.record.results);
    let count = |severity| results.clone().filter(|it| it.severity == severity).count();
    let counts = [Severity::Error, Severity::Warning, Severity::Info].map(|it| (it, count(it)));
    let counts = counts.into_iter().filter(|(_, count)| *count > 0);
    let counts: Vec<String> = counts.map(|(it, count)| plural(count, it.name())).collect();
    let functions = pipeline.runs.len();
    if functions > 1 || !counts.is_empty() {
        let counts = if counts.is_empty() { "no results".to_owned() } else { counts.join(", ") };
        console.status(&format!("{}: {counts}", plural(functions, "function")));
    }
}

/// `PASS` or `FAIL`.
pub(super) fn verdict(run: &FunctionRun) -> &'static str {
    if run.is_failed() { "FAIL" } else { "PASS" }
}

/// How many resources a function received.
pub(super) fn selected(run: &FunctionRun) -> String {
    match run.selected == run.total {
        true => plural(run.total, "resource"),
        false => format!("{} of {}", run.selected, plural(run.total, "resource")),
    }
}

/// The image that ran, for the end of a line.
pub(super) fn image(run: &FunctionRun) -> String {
    run.record.image.as_ref().map(|image| format!(", image {image}")).unwrap_or_default()
}

/// Why functions failed, with the names of files as the user knows them.
pub(super) fn errors(pipeline: &PipelineRun, package: &Package) -> Vec<Diagnostic> {
    let failed = pipeline.runs.iter().filter(|run| run.is_failed());
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

pub(super) fn plural(count: usize, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}
