//! Functions run one after the other on the resources of a package: what each did is told and kept.

use krm_core::functions::resource_list::{FunctionResult, Item};
use krm_core::functions::results::{Ran, Report, ResultLocator};
use krm_core::{Diagnostic, Package, Severity};
use krm_run::{Image, Interrupt, Runner, Step, StepFailure, Stepped, named};

use super::configuration;
use crate::Exit;
use crate::console::{Activity, Console};

/// How many lines of what a function said are told.
const MOST_LINES: usize = 10;

/// One function that is to run.
pub(super) struct Job<'a> {
    pub(super) step: Step,
    /// How it runs: `image`, `exec`, `wasm`, `starlark`.
    pub(super) runtime: &'static str,
    /// Which resources it gets; paths are those of the package.
    pub(super) wanted: &'a dyn Fn(&Item) -> bool,
    /// Where it is declared: an error that is nothing but a place.
    pub(super) place: Option<Diagnostic>,
    /// What people call the file of its functionConfig.
    pub(super) config_file: String,
}

/// From which severity on results are a failure, beside the exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum FailOn {
    /// Results of severity error
    Error,
    /// Those and warnings
    Warning,
}

impl FailOn {
    pub(super) fn counts(self, result: &FunctionResult) -> bool {
        match self {
            Self::Error => result.severity == Severity::Error,
            Self::Warning => result.severity >= Severity::Warning,
        }
    }
}

/// A run of functions.
#[derive(Default)]
pub(super) struct Run {
    pub(super) interrupt: Interrupt,
    pub(super) fail_on: Option<FailOn>,
    /// What people call the package.
    pub(super) title: String,
    pub(super) report: Report,
    /// How the run ends, as far as it is known.
    pub(super) exit: Exit,
    /// Why functions failed.
    pub(super) errors: Vec<Diagnostic>,
    /// Whether the output may be written: no function failed, but those that may.
    pub(super) is_good: bool,
}

impl Run {
    /// Runs one function: the resources after it. After a failure that is not deferred nothing more is to run.
    pub(super) fn step(
        &mut self,
        package: &Package,
        job: &Job<'_>,
        items: Vec<Item>,
        console: &mut Console,
    ) -> Vec<Item> {
        let name = crate::loader::joined(&self.title, &job.step.folder);
        let total = items.len();
        let seen = items.iter().filter(|item| (job.wanted)(item)).count();
        let doing = Activity::begin(&format!("running {} on {name}", job.step.name));
        let ran = job.step.run(items.clone(), job.wanted, &self.interrupt);
        drop(doing);
        let (items, done) = match ran {
            Ok(stepped) => (None, stepped),
            Err(failure) => {
                let failure = Some(failure);
                (Some(items), Stepped { failure, ..Stepped::default() })
            }
        };
        let failure = done.failure.as_deref();
        let mut results = done.results.clone();
        if results.is_empty() {
            results.extend(failure.iter().flat_map(|it| it.results.clone()));
        }
        let counts = results.iter().any(|it| self.fail_on.is_some_and(|on| on.counts(it)));
        let word = if failure.is_some() || counts { "FAIL" } else { "PASS" };
        let time = failure.map_or(done.time, |it| it.time.max(done.time)).as_millis();
        let seen = match seen == total {
            true => many(total, "resource"),
            false => format!("{seen} of {}", many(total, "resource")),
        };
        let ran = ran_of(job, &done, &results, counts);
        let image = ran.image.as_ref().map(|image| format!(", image {image}")).unwrap_or_default();
        let (function, how) = (&ran.name, ran.how());
        console.status(&format!(
            "[{word}] \"{function}\" ({how}) on {seen} of {name} in {time}ms{image}"
        ));
        tell(package, job, &done, &results, console);
        let errors = self.fail(job, failure, &results, counts, items.is_some());
        let errors = errors.into_iter().map(|told| placed(shown(told, package), job, &ran));
        self.errors.extend(errors);
        self.report.ran.push(ran);
        items.unwrap_or(done.items)
    }

    /// Why a function failed, if it did.
    fn fail(
        &mut self,
        job: &Job<'_>,
        failure: Option<&StepFailure>,
        results: &[FunctionResult],
        counts: bool,
        is_refused: bool,
    ) -> Vec<Diagnostic> {
        if failure.is_none() && !counts {
            return Vec::new();
        }
        let said = results.iter().any(|it| it.severity == Severity::Error);
        let gave_up = |it: &StepFailure| it.exit_code.is_some_and(|code| code != 0);
        let are_findings = failure.is_none_or(|it| it.is_finding || (gave_up(it) && said));
        let exit = if are_findings { Exit::Findings } else { Exit::Function };
        self.exit = if self.exit == Exit::Function { self.exit } else { exit };
        self.report.exit_code = 1;
        self.is_good &= job.step.defers_failure && !is_refused;
        match failure {
            Some(failure) => {
                let told = failure.told(&job.step.name).into_iter();
                told.map(|told| with_last_words(told, failure)).collect()
            }
            None => {
                let name = &job.step.name;
                let words = format!("function `{name}` gave results that count as a failure");
                vec![Diagnostic::untyped_error(words)]
            }
        }
    }

    /// Says how the run went as a whole.
    pub(super) fn sum_up(&self, console: &mut Console) {
        let results = self.report.ran.iter().flat_map(|ran| &ran.results);
        let count = |severity| results.clone().filter(|it| it.severity == severity).count();
        let found = [Severity::Error, Severity::Warning, Severity::Info].map(|it| (it, count(it)));
        let found = found.into_iter().filter(|(_, count)| *count > 0);
        let found: Vec<String> =
            found.map(|(severity, count)| many(count, severity.name())).collect();
        let ran = self.report.ran.len();
        if ran > 1 || !found.is_empty() {
            let found = if found.is_empty() { "no results".to_owned() } else { found.join(", ") };
            console.status(&format!("{}: {found}", many(ran, "function")));
        }
    }
}

/// What is kept of a function: what it did, with paths as its package knows them.
fn ran_of(job: &Job<'_>, done: &Stepped, results: &[FunctionResult], counts: bool) -> Ran {
    let folder = &job.step.folder;
    let inside = |mut result: FunctionResult| {
        if let Some(file) = &mut result.file {
            let path = file.path.strip_prefix(folder.as_str());
            let path = path.and_then(|path| path.strip_prefix('/')).filter(|_| !folder.is_empty());
            file.path = path.unwrap_or(&file.path).to_owned();
        }
        result
    };
    let failure = done.failure.as_deref();
    let code = failure.map_or(0, |it| it.exit_code.filter(|code| *code != 0).unwrap_or(1));
    let stderr = failure.map(|it| it.stderr.text()).filter(|text| !text.is_empty());
    let image = done.image.as_ref().or(failure.and_then(|it| it.image.as_ref()));
    Ran {
        name: job.step.name.clone(),
        runtime: job.runtime,
        is_builtin: matches!(job.step.runner, Runner::Builtin(_)),
        image: image.map(Image::to_string),
        package: folder.clone(),
        exit_code: if counts && code == 0 { 1 } else { code },
        stderr: stderr.unwrap_or_else(|| done.stderr.text()),
        results: results.iter().cloned().map(inside).collect(),
    }
}

/// Says what a function found, with the lines that it is about.
fn tell(
    package: &Package,
    job: &Job<'_>,
    done: &Stepped,
    results: &[FunctionResult],
    console: &mut Console,
) {
    let late = done.failure.iter().flat_map(|failure| &failure.warnings);
    for told in done.warnings.iter().chain(late) {
        console.report(&named(&job.step.name, told.clone(), false));
    }
    if !results.is_empty() {
        let locator = ResultLocator::new(package);
        let errors = || done.failure.iter().flat_map(|it| &it.diagnostics);
        // Why a function failed is told by itself, with its place and what to do.
        let is_error = |it: &&FunctionResult| errors().any(|error| error.message() == it.message);
        let others = results.iter().filter(|it| it.message.is_empty() || !is_error(it));
        others.for_each(|it| console.report(&locator.diagnostic("", it)));
    }
}

/// The error with what the function said last, where it is not in it already.
fn with_last_words(mut told: Diagnostic, failure: &StepFailure) -> Diagnostic {
    let lines = failure.stderr.last_lines(MOST_LINES);
    if !lines.is_empty() && !told.message().contains("it said last:") {
        let lines: Vec<String> = lines.iter().map(|line| format!("\n  {line}")).collect();
        told.set_untyped(format!("{}; it said last:{}", told.message(), lines.concat()));
    }
    told
}

/// The error with the name of its file that people know.
fn shown(told: Diagnostic, package: &Package) -> Diagnostic {
    let file = told.file.as_deref();
    let known = package.files().iter().find(|it| Some(it.path.as_str()) == file);
    match known {
        Some(known) => told.in_file(&*known.display_path),
        None => told,
    }
}

/// The error in the file of the functionConfig, if that is what it is about, or with the place where the function is declared.
fn placed(told: Diagnostic, job: &Job<'_>, ran: &Ran) -> Diagnostic {
    let told = configuration::placed(told, &job.config_file);
    let told = if ran.is_container() { with_meant(told, &job.step.name) } else { told };
    match &job.place {
        Some(place) if told.location.is_none() => told.located_as(place),
        _ => told,
    }
}

/// The error with the built-in function that somebody may have meant by an image.
pub(super) fn with_meant(told: Diagnostic, image: &str) -> Diagnostic {
    match krm_run::meant(image) {
        Some(name) => told.hint(format!("did you mean `{name}`, which is built in?")),
        None => told,
    }
}

pub(super) fn many(count: usize, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}
