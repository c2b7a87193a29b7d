//! What people are told about a run: a line for each function, what it found, and why it failed.

use krm_core::functions::kptfile::Role;
use krm_core::functions::resource_list::{FunctionResult, Item};
use krm_core::functions::results::{Report, ResultLocator};
use krm_core::{Diagnostic, Severity};
use krm_run::render::{self, Rendered, Step};

use super::super::running::{many, with_meant};
use super::{Told, Work};
use crate::Failure;
use crate::console::Console;
use crate::loader::LoadedPackage;

/// Says what every function did, package by package.
pub(super) fn tell(work: &Work<'_>, rendered: &Rendered<'_, Told>, console: &mut Console) {
    work.left_out.iter().for_each(|told| console.report(told));
    let locator = ResultLocator::new(work.package);
    let mut last = None;
    for step in &rendered.steps {
        if last.replace(step.member) != Some(step.member) {
            let name = work.loaded.display_path(&step.report.ran.package);
            console.status(&format!("Package \"{name}\":"));
        }
        console.status(&line(step, console.is_verbose()));
        step.report.warnings.iter().for_each(|told| console.report(told));
        let is_error =
            |it: &&FunctionResult| step.report.errors.iter().any(|e| e.message() == it.message);
        for result in step.report.ran.results.iter().filter(|it| !is_error(it)) {
            match result.severity {
                Severity::Info => console.status(&format!("  [info] {}", one_line(result))),
                _ => console.report(&locator.diagnostic(&step.report.ran.package, result)),
            }
        }
        if step.failed {
            continue;
        }
        let words = deleted(step);
        if step.function.role == Role::Validator {
            if !step.changes.is_empty() {
                console.report(&changes_nothing(step));
            }
        } else {
            words.iter().for_each(|words| console.status(&format!("  {words}")));
        }
    }
}

fn one_line(result: &FunctionResult) -> String {
    let told = result.to_diagnostic();
    let places = [
        result.file.as_ref().map(|it| it.path.as_str()),
        told.resource.as_deref(),
        told.field.as_deref(),
    ];
    let places: Vec<&str> = places.into_iter().flatten().collect();
    let message = told.message().replace('\n', " ");
    if places.is_empty() { message } else { format!("{}: {message}", places.join(" ")) }
}

/// What ran, on what, and what came of it.
fn line(step: &Step<'_, Told>, verbose: bool) -> String {
    let told = &step.report;
    let word = if step.failed { "FAIL" } else { "PASS" };
    let mut line = format!("[{word}] \"{}\" ({})", told.ran.name, told.ran.how());
    let many = |count: usize| many(count, "resource");
    match told.seen == told.of {
        true => line += &format!(" on {}", many(told.seen)),
        false => line += &format!(" on {} of {}", told.seen, many(told.of)),
    }
    if step.function.role == Role::Mutator && !step.failed {
        line += &format!(", {} changed", step.changes.len());
    }
    if let Some(image) = &told.ran.image {
        line += &format!(", image {image}");
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
        .locate(Diagnostic::untyped_warning(words))
        .hint("declare it as a mutator where the change is wanted")
}

/// Why the run failed: each function that did, with its declaration.
pub(super) fn failures(rendered: &Rendered<'_, Told>, loaded: &LoadedPackage) -> Vec<Diagnostic> {
    let mut told = Vec::new();
    for step in rendered.steps.iter().filter(|step| step.failed) {
        let report = &step.report;
        let role = step.function.role.name();
        let package = loaded.display_path(&report.ran.package);
        let mut errors = report.errors.iter();
        let why = match (errors.next(), errors_of(report)) {
            (Some(first), _) if first.location.is_none() => format!(": {}", first.message()),
            // The place and the words come before this.
            (Some(_), _) => String::new(),
            (None, _) if report.is_finding => ": its results count as a failure".to_owned(),
            (None, 1) => ": 1 error".to_owned(),
            (None, count) => format!(": {count} errors"),
        };
        let words =
            format!("the {role} `{}` of the package `{package}` failed{why}", report.ran.name);
        let placed = report.errors.iter().filter(|it| it.location.is_some());
        told.extend(placed.cloned());
        let hints = report.errors.first().filter(|it| it.location.is_none());
        let hints = hints.into_iter().flat_map(|it| it.hints.clone());
        let why = hints.fold(step.function.place.error(words), Diagnostic::hint);
        told.push(if report.ran.is_container() { with_meant(why, &report.ran.name) } else { why });
    }
    told
}

fn errors_of(told: &Told) -> usize {
    told.ran.results.iter().filter(|it| it.severity == Severity::Error).count()
}

/// Whether only validators failed, and said why in their results, or results alone make it a failure.
pub(super) fn are_findings(rendered: &Rendered<'_, Told>) -> bool {
    let mut failed = rendered.steps.iter().filter(|step| step.failed);
    failed.all(|it| {
        let found = it.function.role == Role::Validator && errors_of(&it.report) > 0;
        found || it.report.is_finding
    })
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
    let of_all = || mutators().rfind(|step| step.changes.iter().any(|it| it.after.is_none()));
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
    console: &mut Console,
) -> Result<(), Failure> {
    let mutators = rendered.steps.iter().filter(|step| step.function.role == Role::Mutator);
    for step in mutators.filter(|step| !step.changes.is_empty()) {
        let package = work.loaded.display_path(&step.report.ran.package);
        console
            .print(&format!("{} in {package} ({})\n", step.report.ran.name, step.function.place))?;
        for line in render::explain(&step.changes, console.shows_secrets()) {
            console.print(&format!("  {line}\n"))?;
        }
    }
    Ok(())
}
