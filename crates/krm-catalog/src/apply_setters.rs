//! `apply-setters`: sets the fields that refer to setters in `kpt-set` comments.

use krm_core::setters::{ApplySetters, CurrentValues, DeriveError, SetterKind};
use krm_sdk::{Diagnostic, Error, FunctionResult, Resource, ResourceList, Severity};

use crate::config::{invalid_field, with_context};
use crate::redact::redact;
use crate::{Builtin, Run, Version, releases, results, setters_config};

/// The description of the function.
pub const BUILTIN: Builtin = Builtin {
    name: "apply-setters",
    aliases: &[],
    summary: "set the fields that name a setter in a `kpt-set` comment",
    doc: include_str!("../doc/apply-setters.md"),
    releases: releases::APPLY_SETTERS,
    run: Run::Versioned(run),
};

/// The releases that fail if nothing is set; see [`releases::APPLY_SETTERS`].
const MUST_SET: std::ops::Range<Version> = Version::new(0, 1, 1)..Version::new(0, 2, 0);

/// The first release that hides secrets in results.
const REDACTS_SINCE: Version = Version::new(0, 3, 0);

/// Sets every field that refers to one of the setters.
pub fn run(list: &mut ResourceList, version: Version) -> Result<(), Error> {
    apply(list, version).map_err(|error| with_context(error, "failed to apply setters"))
}

fn apply(list: &mut ResourceList, version: Version) -> Result<(), Error> {
    let config = setters_config::file(list, BUILTIN.name)?;
    let mut applied = Applied::default();
    let data = setters_config::data(&config);
    if let Some(data) = data {
        let apply = ApplySetters::new(&config, data).map_err(Error::of_diagnostics)?;
        let before = list.items.clone();
        let mut current = None;
        applied.redacts = version >= REDACTS_SINCE;
        for item in &mut list.items {
            let mut result = applied.set(item, &apply, current.as_ref());
            if current.is_none() && result.as_ref().is_err_and(is_ambiguous) {
                current = Some(current_values(&before));
                result = applied.set(item, &apply, current.as_ref());
            }
            if let Err(error) = result {
                applied.errors.extend(error.diagnostics);
            }
        }
    }
    if !applied.errors.is_empty() {
        return Err(Error::of_diagnostics(applied.errors));
    }
    if applied.count == 0 {
        check_unused(list, data.is_some(), version)?;
        list.add_result(Severity::Info, "no matches for input setter(s)");
    }
    list.results.extend(applied.results);
    Ok(())
}

/// The error of the releases that fail if nothing is set.
fn check_unused(list: &ResourceList, has_setters: bool, version: Version) -> Result<(), Error> {
    let Some(config) = list.function_config.as_ref().filter(|_| MUST_SET.contains(&version)) else {
        return Ok(());
    };
    let message = match has_setters {
        true => "no matches for the input list of setters",
        false => "input setters list cannot be empty",
    };
    let hint = "use v0.2 of the function, which reports this without failing";
    Err(invalid_field(config, "data", message).hint(hint).into())
}

/// Whether an error is about setters without a value that a field does not tell.
fn is_ambiguous(error: &Error) -> bool {
    error.diagnostics.iter().any(|it| match it.kind() {
        Some(SetterKind::ValuesRequired { problem, .. }) => *problem != DeriveError::NoMatch,
        _ => false,
    })
}

/// The values that the fields of all resources have before any of them is set.
fn current_values(items: &[Resource]) -> CurrentValues {
    let mut current = CurrentValues::default();
    for item in items.iter().filter(|it| has_setters(it)) {
        current.add(&item.item().package_file());
    }
    current
}

fn has_setters(item: &Resource) -> bool {
    item.text().contains("kpt-set:")
}

/// What was set so far.
#[derive(Default)]
struct Applied {
    /// The number of fields that follow a setter.
    count: usize,
    results: Vec<FunctionResult>,
    errors: Vec<Diagnostic>,
    /// Whether secrets are hidden in results.
    redacts: bool,
}

impl Applied {
    fn set(
        &mut self,
        item: &mut Resource,
        apply: &ApplySetters<'_>,
        current: Option<&CurrentValues>,
    ) -> Result<(), Error> {
        if !has_setters(item) {
            return Ok(());
        }
        let file = item.item().package_file();
        let applied = apply.compute_with(&file, current).map_err(Error::of_diagnostics)?;
        let mut set = Vec::new();
        for it in &applied.fields {
            let path = results::path(it.field.node);
            let value = match self.redacts {
                true => redact(&it.value, [&path, it.field.comment.text]),
                false => it.value.clone(),
            };
            let value = results::value(item, it.field.node, &value);
            let message = format!("set field value to {value}");
            set.push(results::of_field(item, path, message));
        }
        set.extend(applied.warnings.iter().map(results::warning));
        if let Some(text) = applied.changes.text(&file)? {
            item.replace(text)?;
        }
        self.count += applied.fields.len();
        self.results.extend(set);
        Ok(())
    }
}
