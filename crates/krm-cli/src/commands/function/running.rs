//! Functions run one after the other on the resources of a package: what each did is told and kept.

use krm_core::findings::{Finder, Ran, Report};
use krm_core::wire::{FunctionResult, Item};
use krm_core::{Diagnostic, Package, PackagePath, Severity};
use krm_run::render::{Acted, act};
use krm_run::{Interrupt, Limits, Ready};

use crate::Exit;
use crate::show::{Doing, Screen};

/// How many lines of what a function said are told.
const MOST_LINES: usize = 10;

/// One function that is to run.
pub(super) struct Job<'a> {
    /// What people call it.
    pub(super) name: String,
    /// How it runs: `image`, `exec`, `wasm`, `starlark`.
    pub(super) runtime: &'static str,
    pub(super) ready: Ready,
    pub(super) config: Option<Item>,
    /// The folder from which it sees paths, and out of which it cannot write; empty for the package.
    pub(super) folder: String,
    /// Which resources it gets; paths are those of the package.
    pub(super) wanted: &'a dyn Fn(&Item) -> bool,
    /// Whether its output is taken and the rest runs when it fails.
    pub(super) defer_failure: bool,
    /// Where it is declared: an error that is nothing but a place.
    pub(super) place: Option<Diagnostic>,
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
    fn counts(self, result: &FunctionResult) -> bool {
        match self {
            Self::Error => result.severity == Severity::Error,
            Self::Warning => result.severity >= Severity::Warning,
        }
    }
}

/// A run of functions.
#[derive(Default)]
pub(super) struct Run {
    pub(super) limits: Limits,
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
        screen: &mut Screen,
    ) -> Vec<Item> {
        let total = items.len();
        let name = match job.folder.as_str() {
            "" => self.title.clone(),
            folder => crate::folder::joined(&self.title, folder),
        };
        let doing = Doing::begin(&format!("running {} on {name}", job.name));
        let (acted, others) = scoped(job, items.clone(), &self.limits, &self.interrupt);
        drop(doing);
        let findings = acted.results.iter().any(|it| self.fail_on.is_some_and(|on| on.counts(it)));
        let has_failed = acted.items.is_none() || findings;
        screen.say(&line(job, &acted, &name, total, has_failed));
        if let Some(image) = &acted.image {
            screen.note(&format!("  image {image}"));
        }
        tell(package, job, &acted, screen);
        self.fail(job, &acted, has_failed, findings);
        let Acted { items: new, deferred, results, stderr, exit_code, image, .. } = acted;
        let name = match image {
            // The image that ran, to the byte, is the one to be run again.
            Some(image) if job.runtime == "image" => format!("{} ({image})", job.name),
            _ => job.name.clone(),
        };
        self.report.ran.push(Ran {
            name,
            runtime: job.runtime,
            package: job.folder.clone(),
            exit_code: if has_failed && exit_code == 0 { 1 } else { exit_code },
            stderr,
            results,
        });
        match new.or(deferred.filter(|_| job.defer_failure)) {
            Some(new) => others.back(new, &job.folder),
            None => items,
        }
    }

    fn fail(&mut self, job: &Job<'_>, acted: &Acted, has_failed: bool, findings: bool) {
        if !has_failed {
            return;
        }
        let said = acted.results.iter().any(|it| it.severity == Severity::Error);
        let are_findings = (acted.gave_up && said) || (acted.items.is_some() && findings);
        let exit = if are_findings { Exit::Findings } else { Exit::Function };
        self.exit = if self.exit == Exit::Function { self.exit } else { exit };
        self.report.exit_code = 1;
        self.is_good &= job.defer_failure && (acted.items.is_some() || acted.deferred.is_some());
        if acted.items.is_some() {
            let words = format!("function `{}` gave results that count as a failure", job.name);
            self.errors.push(Diagnostic::error(words));
        }
        let errors = acted.errors.iter().map(|told| placed(&with_last_words(told, acted), job));
        self.errors.extend(errors);
    }

    /// Says how the run went as a whole.
    pub(super) fn sum_up(&self, screen: &mut Screen) {
        let results = self.report.ran.iter().flat_map(|ran| &ran.results);
        let count = |severity| results.clone().filter(|it| it.severity == severity).count();
        let found = [Severity::Error, Severity::Warning, Severity::Info].map(|it| (it, count(it)));
        let found = found.into_iter().filter(|(_, count)| *count > 0);
        let found: Vec<String> =
            found.map(|(severity, count)| many(count, severity.name())).collect();
        let ran = self.report.ran.len();
        if ran > 1 || !found.is_empty() {
            let found = if found.is_empty() { "no results".to_owned() } else { found.join(", ") };
            screen.say(&format!("{}: {found}", many(ran, "function")));
        }
    }
}

/// Says what a function found, with the lines that it is about.
fn tell(package: &Package, job: &Job<'_>, acted: &Acted, screen: &mut Screen) {
    let name = |told: &Diagnostic| told.clone().in_file(format!("output of {}", job.name));
    let warnings: Vec<Diagnostic> = acted.warnings.iter().map(name).collect();
    screen.tell_all(&warnings);
    if !acted.results.is_empty() {
        let finder = Finder::new(package);
        acted.results.iter().for_each(|it| screen.tell(&finder.tell(&job.folder, it)));
    }
}

/// The error with what the function said last, where it is not in it already.
fn with_last_words(told: &Diagnostic, acted: &Acted) -> Diagnostic {
    let mut told = told.clone();
    let lines: Vec<&str> = acted.stderr.lines().filter(|line| !line.trim().is_empty()).collect();
    if !lines.is_empty() && !told.message.contains("it said last:") {
        told.message += "; it said last:";
        for line in &lines[lines.len().saturating_sub(MOST_LINES)..] {
            told.message += &format!("\n  {}", line.escape_debug());
        }
    }
    told
}

/// The error with the place where the function is declared, where it has none of its own.
fn placed(told: &Diagnostic, job: &Job<'_>) -> Diagnostic {
    match &job.place {
        Some(place) if told.location.is_none() => {
            let mut placed = place.clone();
            placed.message.clone_from(&told.message);
            placed.hints.clone_from(&told.hints);
            placed
        }
        _ => told.clone(),
    }
}

/// What ran, on what, and how it ended.
fn line(job: &Job<'_>, acted: &Acted, package: &str, total: usize, has_failed: bool) -> String {
    let word = if has_failed { "FAIL" } else { "PASS" };
    let seen = match acted.seen == total {
        true => many(total, "resource"),
        false => format!("{} of {}", acted.seen, many(total, "resource")),
    };
    let time = acted.time.as_millis();
    format!("[{word}] \"{}\" on {seen} of {package} in {time}ms", job.name)
}

pub(super) fn many(count: usize, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}

/// The resources that a function did not get, each with its place among all.
struct Others {
    all: Vec<Item>,
    inside: Vec<bool>,
}

/// Runs a function on the resources below its folder, with paths from there.
fn scoped(
    job: &Job<'_>,
    items: Vec<Item>,
    limits: &Limits,
    interrupt: &Interrupt,
) -> (Acted, Others) {
    let wanted = |item: &Item| (job.wanted)(item) && relative(item, &job.folder).is_some();
    let inside: Vec<bool> = items.iter().map(wanted).collect();
    let mut given = Vec::new();
    for (at, item) in items.iter().enumerate().filter(|(at, _)| inside[*at]) {
        if let Some(mut item) = relative(item, &job.folder) {
            item.origin = Some(at);
            given.push(item);
        }
    }
    let acted = act(&job.ready, job.config.clone(), given, |_| true, limits, interrupt);
    (acted, Others { all: items, inside })
}

impl Others {
    /// All resources in their order: what came back in the place of what was given, and what is new at the end.
    fn back(self, returned: Vec<Item>, folder: &str) -> Vec<Item> {
        let mut kept: Vec<Option<Item>> = vec![None; self.all.len()];
        let mut new = Vec::new();
        for mut item in returned {
            item.path = item.path.map(|path| absolute(&path, folder));
            match item.origin.filter(|at| *at < kept.len()) {
                Some(at) if self.inside[at] && kept[at].is_none() => kept[at] = Some(item),
                _ => {
                    item.origin = None;
                    new.push(item);
                }
            }
        }
        let Self { all, inside } = self;
        let old = all.into_iter().enumerate().filter_map(|(at, old)| match inside[at] {
            true => kept[at].take().map(|item| with_origin(item, old.origin)),
            false => Some(old),
        });
        old.chain(new).collect()
    }
}

fn with_origin(mut item: Item, origin: Option<usize>) -> Item {
    item.origin = origin;
    item
}

fn relative(item: &Item, folder: &str) -> Option<Item> {
    let mut item = item.clone();
    if folder.is_empty() {
        return Some(item);
    }
    let path = item.path.as_ref()?.as_str().strip_prefix(folder)?.strip_prefix('/')?;
    item.path = Some(PackagePath::new(path).ok()?);
    Some(item)
}

fn absolute(path: &PackagePath, folder: &str) -> PackagePath {
    let whole = crate::folder::joined(folder, path.as_str());
    if folder.is_empty() {
        path.clone()
    } else {
        PackagePath::new(&whole).unwrap_or_else(|_| path.clone())
    }
}
