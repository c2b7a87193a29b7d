//! `gatekeeper`: checks resources against the ConstraintTemplates (in Rego or CEL) and constraints of the package.

mod builtins;
mod cel;
mod constraint;
mod dialect;
mod engine;
mod exchange;
mod imports;
mod matching;
mod recursion;
mod rego;
mod review;
mod template;
mod template_code;

use std::collections::BTreeMap;
use std::sync::Arc;

use krm_sdk::{Diagnostic, Error, FunctionResult, ResourceList, Severity};

use crate::interpreter::{Interpreter, MessageReader, invalid_response};
use crate::kinds::CatalogKind;
use crate::validation_input::ValidationInput;
use crate::{Builtin, Run, releases};
use constraint::Constraint;
pub use engine::LANGUAGE;
use exchange::{Check, Outcome, PolicyError, Request};
use review::{Review, Reviews};
use template::Template;

/// The description of the function.
pub const BUILTIN: Builtin = Builtin {
    name: "gatekeeper",
    aliases: &["enforce-gatekeeper"],
    summary: "check resources against the ConstraintTemplates and Constraints of the package",
    doc: include_str!("../../doc/gatekeeper.md"),
    releases: releases::GATEKEEPER,
    run: Run::Interpreted(run),
};

/// Checks every resource against every constraint, and reports violations as results.
pub fn run(list: &mut ResourceList, interpreter: &dyn Interpreter) -> Result<(), Error> {
    let templates = list.items.iter().filter(|it| template::is_template(it));
    let templates = templates
        .map(|it| Ok((template::kind(it)?, Template::of(it)?)))
        .collect::<Result<Vec<(String, Template<'_>)>, Error>>()?;
    let by_kind: BTreeMap<&str, usize> =
        templates.iter().enumerate().map(|(at, (kind, _))| (kind.as_str(), at)).collect();
    let (resources, mut results) = ValidationInput::all(&list.items);
    for input in &resources {
        results.extend(input.differences.iter().map(|it| input.finding(*it, false)));
    }
    let constraints: Vec<Constraint<'_>> = resources.iter().filter_map(Constraint::of).collect();
    for constraint in &constraints {
        if !by_kind.contains_key(constraint.kind.as_str()) {
            return Err(missing_template(constraint, by_kind.keys().copied()));
        }
    }
    if templates.is_empty() {
        list.results.append(&mut results);
        return Ok(());
    }
    let reviews = Reviews::of(&resources)?;
    let (checks, undecided) = checks(&constraints, &by_kind, &reviews);
    results.extend(undecided);
    let parameters =
        constraints.iter().map(Constraint::parameters).collect::<Result<Vec<_>, Error>>()?;
    let request = Request {
        policies: templates.iter().map(|(_, template)| template.source()).collect(),
        documents: reviews.all().iter().map(Review::document).collect(),
        parameters: parameters.iter().map(String::as_str).collect(),
        checks,
    };
    let response = interpreter.evaluate(&LANGUAGE, &request.write())?;
    let outcome = Outcome::read(&mut MessageReader::new(&response)).ok_or_else(invalid_response)?;
    let violations = outcome.violations.map_err(|error| policy_error(&error, &templates))?;
    for (check, messages) in request.checks.iter().zip(violations) {
        let (constraint, review) = (&constraints[check.parameters], &reviews.all()[check.document]);
        results.extend(messages.iter().map(|message| constraint.result(review, message)));
    }
    results.sort_by_cached_key(sort_key);
    list.results.append(&mut results);
    Ok(())
}

/// The policies to evaluate, each on the resources that a constraint matches, and results where that cannot be decided.
fn checks(
    constraints: &[Constraint<'_>],
    by_kind: &BTreeMap<&str, usize>,
    reviews: &Reviews<'_>,
) -> (Vec<Check>, Vec<FunctionResult>) {
    let (mut checks, mut results) = (Vec::new(), Vec::new());
    for (parameters, constraint) in constraints.iter().enumerate() {
        let Some(policy) = by_kind.get(constraint.kind.as_str()).copied() else { continue };
        for (document, review) in reviews.all().iter().enumerate() {
            match matching::matches(constraint, review, reviews) {
                Ok(true) => checks.push(Check { policy, document, parameters }),
                Ok(false) => {}
                // Compat: the original skips the resource, without a message.
                Err(message) => {
                    results.push(review.written.result(Severity::Warning, message).into());
                }
            }
        }
    }
    (checks, results)
}

fn policy_error(error: &PolicyError, templates: &[(String, Template<'_>)]) -> Error {
    let template = |at: usize| templates.get(at).map(|(_, template)| template);
    let diagnostic = match error {
        PolicyError::Failed { policy, report } => template(*policy).map(|it| it.failed(report)),
        PolicyError::Expression { policy, expression, reason } => {
            template(*policy).map(|it| it.failed_expression(*expression, reason))
        }
        PolicyError::NoMessage { policy } => template(*policy).map(Template::no_message),
        PolicyError::Data { reason } => {
            let reason = reason.as_str().into();
            Some(Diagnostic::error(CatalogKind::PolicyFailed { reason }))
        }
    };
    diagnostic.map_or_else(invalid_response, Error::from)
}

fn missing_template<'n>(
    constraint: &Constraint<'_>,
    known: impl Iterator<Item = &'n str>,
) -> Error {
    let (kind, resource) = (&constraint.kind, constraint.written);
    let node = resource.get_in(["kind"]).unwrap_or(resource.root());
    let mut error = Diagnostic::error(CatalogKind::MissingTemplate { kind: kind.clone() })
        .at(resource.item().file(), node.span());
    error.file = resource.path().map(|path| path.as_str().into());
    let hint = match krm_core::diagnostics::closest_name(known, kind) {
        Some(near) => format!("did you mean `{near}`?"),
        None => "add the template to the package".to_owned(),
    };
    error.hint(hint).into()
}

/// Compat: results are sorted by file and index, then by descending severity, then by message.
fn sort_key(result: &FunctionResult) -> (Arc<str>, u64, std::cmp::Reverse<Severity>, String) {
    let (path, index) = match &result.file {
        Some(file) => (Arc::clone(&file.path), file.index),
        None => (Arc::default(), 0),
    };
    (path, index, std::cmp::Reverse(result.severity), result.message.clone())
}
