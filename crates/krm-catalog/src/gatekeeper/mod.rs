//! `gatekeeper`: policies in the package, as ConstraintTemplates in Rego and Constraints, are checked on its resources.

mod constraint;
mod imports;
mod matching;
mod review;
mod template;

use std::collections::BTreeMap;

use krm_sdk::{Diagnostic, Error, FunctionResult, ResourceList, Severity};

use crate::Builtin;
use constraint::Constraint;
use review::{Reviews, inventory};
use template::Template;

/// The function as it is listed.
pub const BUILTIN: Builtin = Builtin {
    name: "gatekeeper",
    aliases: &[],
    summary: "check resources against the ConstraintTemplates and Constraints of the package",
    doc: include_str!("../../doc/gatekeeper.md"),
    tags: &["v0.1", "v0.2", "v0.2.1", "v0.3", "v0.3.0"],
    run,
};

/// Checks every resource by every constraint; what is violated are results.
pub fn run(list: &mut ResourceList) -> Result<(), Error> {
    let templates = list.items.iter().filter(|it| template::is_template(it));
    let mut templates = templates
        .map(|it| Ok((template::kind(it)?, Template::of(it)?)))
        .collect::<Result<BTreeMap<String, Template<'_>>, Error>>()?;
    let constraints: Vec<Constraint<'_>> = list.items.iter().filter_map(Constraint::of).collect();
    for constraint in &constraints {
        if !templates.contains_key(&constraint.kind) {
            return Err(no_template(constraint, templates.keys()));
        }
    }
    let reviews = Reviews::of(&list.items)?;
    let inventory = inventory(&list.items)?;
    for template in templates.values_mut() {
        template.know(&inventory)?;
    }
    let mut results = Vec::new();
    for constraint in &constraints {
        let Some(template) = templates.get_mut(&constraint.kind) else { continue };
        for review in reviews.all() {
            match matching::fits(constraint, review, &reviews) {
                Ok(true) => results.extend(constraint.check(template, review)?),
                Ok(false) => {}
                Err(message) => {
                    results.push(review.resource.result(Severity::Error, message).into());
                }
            }
        }
    }
    results.sort_by_cached_key(order);
    list.results.append(&mut results);
    Ok(())
}

fn no_template<'n>(constraint: &Constraint<'_>, known: impl Iterator<Item = &'n String>) -> Error {
    let kind = &constraint.kind;
    let message = format!("there is no ConstraintTemplate for constraints of kind `{kind}`");
    let node = constraint.resource.get("kind").unwrap_or(constraint.resource.root());
    let mut told =
        Diagnostic::untyped_error(message).at(constraint.resource.item().file(), node.span());
    told.file = constraint.resource.path().map(|path| path.as_str().into());
    let known: Vec<&str> = known.map(String::as_str).collect();
    let hint = match krm_core::diagnostics::closest_name(known.iter().copied(), kind) {
        Some(near) => format!("did you mean `{near}`?"),
        None => "add the template to the package".to_owned(),
    };
    told.hint(hint).into()
}

/// Compat: by file and place in it, then the worst first, then by the words.
fn order(result: &FunctionResult) -> (String, u64, std::cmp::Reverse<Severity>, String) {
    let (path, index) = match &result.file {
        Some(file) => (file.path.clone(), file.index),
        None => (String::new(), 0),
    };
    (path, index, std::cmp::Reverse(result.severity), result.message.clone())
}
