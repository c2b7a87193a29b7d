//! Functions of pipelines, made ready, run and told.

use std::path::Path;

use krm_core::findings::{Finder, Ran, Report};
use krm_core::hydration::Tree;
use krm_core::kptfile::{self, Function, Program, Role};
use krm_core::wire::Item;
use krm_core::{Diagnostic, Package, Severity};
use krm_run::render::{self, Ended, Rendered, Step, act};
use krm_run::{Interrupt, Limits, Programs, Ready};

use crate::Failure;
use crate::folder::Loaded;
use crate::show::Screen;

/// All that a function of a pipeline needs to run.
pub(super) struct Work<'a> {
    pub(super) loaded: &'a Loaded,
    /// The package as it goes in: as it was read, or mended.
    pub(super) package: &'a Package,
    pub(super) tree: &'a Tree,
    pub(super) programs: &'a Programs,
    pub(super) limits: Limits,
    pub(super) interrupt: &'a Interrupt,
    /// Documents that are no resources.
    pub(super) left_out: Option<Diagnostic>,
    /// The package's folder. An absolute path.
    pub(super) folder: &'a Path,
}

/// What there is to say about a function that ran.
pub(super) struct Told {
    pub(super) ran: Ran,
    is_builtin: bool,
    seen: usize,
    of: usize,
    time: std::time::Duration,
    warnings: Vec<Diagnostic>,
    errors: Vec<Diagnostic>,
}

impl Work<'_> {
    /// Runs one function of a package.
    pub(super) fn run(&self, member: usize, function: &Function, items: Vec<Item>) -> Ended<Told> {
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
            let told = if told.location.is_some() { told } else { function.place.put(told) };
            let ran = Ran { exit_code: 1, ..ran.clone() };
            let report = Told {
                ran,
                is_builtin: false,
                seen: 0,
                of,
                time: Default::default(),
                warnings: Vec::new(),
                errors: vec![told],
            };
            Ended { items: None, report }
        };
        let config = match kptfile::config_of(function, &items) {
            Ok(config) => config,
            Err(told) => return refused(told),
        };
        let folder = self.folder.join(root);
        let ready = self.programs.ready(&function.program, function.tag.as_deref(), &folder);
        let ready = match ready {
            Ok(ready) => ready,
            Err(told) => return refused(told),
        };
        let wanted = |item: &Item| function.selection.has(item.resource());
        let before = items.clone();
        let mut acted = act(&ready, config, items, wanted, &self.limits, self.interrupt);
        let errors = std::mem::take(&mut acted.errors).into_iter();
        acted.errors = errors.map(|told| self.placed(told, root, function, &before)).collect();
        let report = Told {
            ran: Ran {
                exit_code: acted.exit_code,
                stderr: acted.stderr,
                results: acted.results,
                ..ran
            },
            is_builtin: matches!(ready, Ready::Builtin(_)),
            seen: acted.seen,
            of,
            time: acted.time,
            warnings: acted.warnings,
            errors: acted.errors,
        };
        Ended { items: acted.items, report }
    }

    /// An error of a function in the file that it is about: functions know their resources as documents of their own.
    fn placed(
        &self,
        mut told: Diagnostic,
        root: &str,
        function: &Function,
        items: &[Item],
    ) -> Diagnostic {
        let Some(place) = told.location.as_mut() else { return told };
        let Some(path) = told.file.take() else {
            // It is about values that stand in the pipeline.
            told.location = None;
            return function.place.put(told);
        };
        let is_it = |item: &&Item| {
            let is_named = told.resource.as_deref() == Some(&item.resource().label());
            is_named && item.path.as_ref().is_some_and(|it| it.as_str() == &*path)
        };
        if let Some(item) = items.iter().find(is_it)
            && let Some(placed) = item.origin.and_then(|at| self.package.resources().nth(at))
        {
            let lines = placed.resource.position().line.saturating_sub(item.root().position().line);
            place.line += lines;
        }
        told.in_file(self.loaded.shown(&inside(root, &path)))
    }
}

/// A path of a package as the outermost one knows it.
fn inside(root: &str, path: &str) -> String {
    if root.is_empty() { path.to_owned() } else { format!("{root}/{path}") }
}

/// Says what every function did, package by package.
pub(super) fn tell(work: &Work<'_>, rendered: &Rendered<'_, Told>, screen: &mut Screen) {
    work.left_out.iter().for_each(|told| screen.tell(told));
    let finder = Finder::new(work.package);
    let mut last = None;
    for step in &rendered.steps {
        if last.replace(step.member) != Some(step.member) {
            let name = work.loaded.shown(&step.report.ran.package);
            screen.say(&format!("Package \"{name}\":"));
        }
        screen.say(&line(step, screen.is_verbose()));
        step.report.warnings.iter().for_each(|told| screen.tell(told));
        for result in &step.report.ran.results {
            match result.severity {
                Severity::Info => screen.say(&format!("  [info] {}", one_line(result))),
                _ => screen.tell(&finder.tell(&step.report.ran.package, result)),
            }
        }
        if step.failed {
            continue;
        }
        let words = deleted(step);
        if step.function.role == Role::Validator {
            if !step.changes.is_empty() {
                screen.tell(&changes_nothing(step));
            }
        } else {
            words.iter().for_each(|words| screen.say(&format!("  {words}")));
        }
    }
}

fn one_line(result: &krm_core::wire::FunctionResult) -> String {
    let told = result.to_diagnostic();
    let places = [
        result.file.as_ref().map(|it| it.path.as_str()),
        told.resource.as_deref(),
        told.field.as_deref(),
    ];
    let places: Vec<&str> = places.into_iter().flatten().collect();
    let message = told.message.replace('\n', " ");
    if places.is_empty() { message } else { format!("{}: {message}", places.join(" ")) }
}

/// What ran, on what, and what came of it.
fn line(step: &Step<'_, Told>, verbose: bool) -> String {
    let told = &step.report;
    let word = if step.failed { "FAIL" } else { "PASS" };
    let runtime = match (told.is_builtin, told.ran.runtime) {
        (true, _) => "built in",
        (_, "image") => "container",
        (_, other) => other,
    };
    let mut line = format!("[{word}] \"{}\" ({runtime})", told.ran.name);
    let many = |count: usize| {
        if count == 1 { "1 resource".to_owned() } else { format!("{count} resources") }
    };
    match told.seen == told.of {
        true => line += &format!(" on {}", many(told.seen)),
        false => line += &format!(" on {} of {}", told.seen, many(told.of)),
    }
    if step.function.role == Role::Mutator && !step.failed {
        line += &format!(", {} changed", step.changes.len());
    }
    if verbose {
        line += &format!(" in {} ms", told.time.as_millis());
    }
    line
}

/// Resources that a function saw and did not give back.
fn deleted(step: &Step<'_, Told>) -> Vec<String> {
    let gone = step.changes.iter().filter(|it| it.after.is_none());
    let words = |item: &Item| {
        let place = item.path.as_ref().map(|path| format!(" in {path}")).unwrap_or_default();
        format!("deleted {}{place}", item.resource().label())
    };
    gone.filter_map(|it| it.before.as_ref()).map(words).collect()
}

fn changes_nothing(step: &Step<'_, Told>) -> Diagnostic {
    let words = format!(
        "the validator `{}` gave back other resources than it got, which changes nothing",
        step.report.ran.name
    );
    step.function
        .place
        .put(Diagnostic::warning(words))
        .hint("declare it as a mutator where the change is wanted")
}

/// Why the run failed: each function that did, with its declaration.
pub(super) fn failures(rendered: &Rendered<'_, Told>, loaded: &Loaded) -> Vec<Diagnostic> {
    let mut told = Vec::new();
    for step in rendered.steps.iter().filter(|step| step.failed) {
        let report = &step.report;
        let role = step.function.role.name();
        let package = loaded.shown(&report.ran.package);
        let mut errors = report.errors.iter();
        let words = match (errors.next(), errors_of(report)) {
            (Some(first), _) if first.location.is_none() => first.message.clone(),
            (Some(_), _) => "it cannot run".to_owned(),
            (None, 1) => "1 error".to_owned(),
            (None, count) => format!("{count} errors"),
        };
        let words =
            format!("the {role} `{}` of the package `{package}` failed: {words}", report.ran.name);
        let placed = report.errors.iter().filter(|it| it.location.is_some());
        told.extend(placed.cloned());
        let hints = report.errors.first().filter(|it| it.location.is_none());
        let hints = hints.into_iter().flat_map(|it| it.hints.clone());
        told.push(hints.fold(step.function.place.error(words), Diagnostic::hint));
    }
    told
}

fn errors_of(told: &Told) -> usize {
    told.ran.results.iter().filter(|it| it.severity == Severity::Error).count()
}

/// Whether only validators failed, and said why in their results.
pub(super) fn are_findings(rendered: &Rendered<'_, Told>) -> bool {
    let mut failed = rendered.steps.iter().filter(|step| step.failed);
    failed.all(|it| it.function.role == Role::Validator && errors_of(&it.report) > 0)
}

/// Deletions that need a word of the person: of a package's own file, or of everything.
pub(super) fn dangerous(rendered: &Rendered<'_, Told>, had: usize) -> Option<Diagnostic> {
    let is_package_file = |item: &Item| {
        item.origin.is_some() && item.path.as_ref().is_some_and(|path| path.is_package_file())
    };
    let mutators = || rendered.steps.iter().filter(|step| step.function.role == Role::Mutator);
    let gone = |step: &&Step<'_, Told>| {
        let mut gone = step.changes.iter().filter(|it| it.after.is_none());
        gone.any(|it| it.before.as_ref().is_some_and(is_package_file))
    };
    let of_all =
        || mutators().filter(|step| step.changes.iter().any(|it| it.after.is_none())).last();
    let (step, what) = match mutators().find(gone) {
        _ if had > 0 && rendered.items.is_empty() => (of_all()?, "everything"),
        Some(step) => (step, "the file that makes its folder a package"),
        None => return None,
    };
    let words = format!("`{}` deletes {what}", step.report.ran.name);
    Some(step.function.place.error(words).hint("allow it with `--allow-delete`, if that is meant"))
}

/// What is kept of the run for other programs.
pub(super) fn report(rendered: &Rendered<'_, Told>) -> Report {
    let ran = rendered.steps.iter().map(|step| step.report.ran.clone());
    Report { exit_code: rendered.failed.into(), ran: ran.collect() }
}

/// Prints what each function changed, field by field.
pub(super) fn explain(
    work: &Work<'_>,
    rendered: &Rendered<'_, Told>,
    screen: &mut Screen,
) -> Result<(), Failure> {
    let mutators = rendered.steps.iter().filter(|step| step.function.role == Role::Mutator);
    for step in mutators.filter(|step| !step.changes.is_empty()) {
        let package = work.loaded.shown(&step.report.ran.package);
        screen
            .print(&format!("{} in {package} ({})\n", step.report.ran.name, step.function.place))?;
        for line in render::explain(&step.changes, screen.shows_secrets()) {
            screen.print(&format!("  {line}\n"))?;
        }
    }
    Ok(())
}
