//! `gatekeeper`: checks resources against the ConstraintTemplates (in Rego) and constraints of the package.

mod constraint;
mod imports;
mod matching;
mod review;
mod template;

use std::collections::BTreeMap;

use krm_sdk::{Diagnostic, Error, FunctionResult, ResourceList, Severity};

use crate::Builtin;
use crate::kinds::CatalogKind;
use constraint::Constraint;
use review::{Reviews, inventory};
use template::Template;

/// The description of the function.
pub const BUILTIN: Builtin = Builtin {
    name: "gatekeeper",
    aliases: &[],
    summary: "check resources against the ConstraintTemplates and Constraints of the package",
    doc: include_str!("../../doc/gatekeeper.md"),
    tags: &["v0.1", "v0.2", "v0.2.1", "v0.3", "v0.3.0"],
    run,
};

/// Checks every resource against every constraint, and reports violations as results.
pub fn run(list: &mut ResourceList) -> Result<(), Error> {
    let templates = list.items.iter().filter(|it| template::is_template(it));
    let mut templates = templates
        .map(|it| Ok((template::kind(it)?, Template::of(it)?)))
        .collect::<Result<BTreeMap<String, Template<'_>>, Error>>()?;
    let constraints: Vec<Constraint<'_>> = list.items.iter().filter_map(Constraint::of).collect();
    for constraint in &constraints {
        if !templates.contains_key(&constraint.kind) {
            return Err(missing_template(constraint, templates.keys()));
        }
    }
    let reviews = Reviews::of(&list.items)?;
    let inventory = inventory(&list.items)?;
    for template in templates.values_mut() {
        template.set_inventory(&inventory)?;
    }
    let mut results = Vec::new();
    for constraint in &constraints {
        let Some(template) = templates.get_mut(&constraint.kind) else { continue };
        for review in reviews.all() {
            match matching::matches(constraint, review, &reviews) {
                Ok(true) => results.extend(constraint.check(template, review)?),
                Ok(false) => {}
                Err(message) => {
                    results.push(review.resource.result(Severity::Error, message).into());
                }
            }
        }
    }
    results.sort_by_cached_key(sort_key);
    list.results.append(&mut results);
    Ok(())
}

fn missing_template<'n>(
    constraint: &Constraint<'_>,
    known: impl Iterator<Item = &'n String>,
) -> Error {
    let kind = &constraint.kind;
    let node = constraint.resource.get("kind").unwrap_or(constraint.resource.root());
    let mut error = Diagnostic::error(CatalogKind::MissingTemplate { kind: kind.clone() })
        .at(constraint.resource.item().file(), node.span());
    error.file = constraint.resource.path().map(|path| path.as_str().into());
    let known: Vec<&str> = known.map(String::as_str).collect();
    let hint = match krm_core::diagnostics::closest_name(known.iter().copied(), kind) {
        Some(near) => format!("did you mean `{near}`?"),
        None => "add the template to the package".to_owned(),
    };
    error.hint(hint).into()
}

/// Compat: results are sorted by file and index, then by descending severity, then by message.
fn sort_key(result: &FunctionResult) -> (String, u64, std::cmp::Reverse<Severity>, String) {
    let (path, index) = match &result.file {
        Some(file) => (file.path.clone(), file.index),
        None => (String::new(), 0),
    };
    (path, index, std::cmp::Reverse(result.severity), result.message.clone())
}
