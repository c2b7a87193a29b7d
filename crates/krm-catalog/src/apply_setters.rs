//! `apply-setters`: sets the fields that refer to setters in `kpt-set` comments.

use krm_core::setters::{ApplySetters, CurrentValues, DeriveError, SetterKind};
use krm_sdk::{Error, FunctionResult, Resource, ResourceList, Severity};
use rayon::prelude::*;

use crate::changes::MIN_PER_THREAD;
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
        let apply = || ApplySetters::new(&config, data).map_err(Error::of_diagnostics);
        let redacts = version >= REDACTS_SINCE;
        let before = list.items.clone();
        match set_in_parallel(&mut list.items, &apply()?, redacts) {
            Some(set) => set.into_iter().for_each(|it| applied.add(it)),
            None => {
                list.items.clone_from(&before);
                applied = set_one_by_one(&mut list.items, &before, &apply()?, redacts)?;
            }
        }
    }
    if applied.count == 0 {
        check_unused(list, data.is_some(), version)?;
        list.add_result(Severity::Info, "no matches for input setter(s)");
    }
    list.results.extend(applied.results);
    Ok(())
}

/// Sets the fields of resources that do not depend on each other. None if one of them cannot be set like that: the values of others may help,
/// and which error is reported must not depend on the number of threads.
fn set_in_parallel(
    items: &mut [Resource],
    apply: &ApplySetters<'_>,
    redacts: bool,
) -> Option<Vec<Applied>> {
    let set = |item: &mut Resource| {
        has_setters(item).then(|| Applied::of(item, apply, None, redacts).ok())
    };
    let applied: Option<Vec<Applied>> = match items.len() <= MIN_PER_THREAD {
        true => items.iter_mut().filter_map(set).collect(),
        false => items.par_iter_mut().with_min_len(MIN_PER_THREAD).filter_map(set).collect(),
    };
    applied.filter(|_| !apply.is_too_large())
}

/// Sets the fields of resources, of which `before` are copies, in order. From the first one on whose setters have no value that its fields tell,
/// the values of all fields are used.
fn set_one_by_one(
    items: &mut [Resource],
    before: &[Resource],
    apply: &ApplySetters<'_>,
    redacts: bool,
) -> Result<Applied, Error> {
    let (mut applied, mut errors) = (Applied::default(), Vec::new());
    let mut current = None;
    for item in items.iter_mut().filter(|it| has_setters(it)) {
        let mut result = Applied::of(item, apply, current.as_ref(), redacts);
        if current.is_none() && result.as_ref().is_err_and(is_ambiguous) {
            current = Some(current_values(before));
            result = Applied::of(item, apply, current.as_ref(), redacts);
        }
        match result {
            Ok(set) => applied.add(set),
            Err(error) => errors.extend(error.diagnostics),
        }
    }
    if errors.is_empty() { Ok(applied) } else { Err(Error::of_diagnostics(errors)) }
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

/// What was set.
#[derive(Default)]
struct Applied {
    /// The number of fields that follow a setter.
    count: usize,
    results: Vec<FunctionResult>,
}

impl Applied {
    /// Sets the fields of a resource. With `redacts`, secrets are hidden in results.
    fn of(
        item: &mut Resource,
        apply: &ApplySetters<'_>,
        current: Option<&CurrentValues>,
        redacts: bool,
    ) -> Result<Self, Error> {
        let file = item.item().package_file();
        let applied = apply.compute_with(&file, current).map_err(Error::of_diagnostics)?;
        let mut set = Vec::new();
        for it in &applied.fields {
            let path = results::path(it.field.node);
            let value = match redacts {
                true => redact(&it.value, [&path, it.field.comment.text]),
                false => it.value.clone(),
            };
            let value = results::value(item, it.field.node, &value);
            let message = format!("set field value to {value}");
            set.push(results::of_field(item, path, message));
        }
        set.extend(applied.warnings.iter().map(results::warning));
        if let Some(new) = applied.changes.file(&file)? {
            item.replace_file(new)?;
        }
        Ok(Self { count: applied.fields.len(), results: set })
    }

    fn add(&mut self, other: Self) {
        self.count += other.count;
        self.results.extend(other.results);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sets the tag in more resources than one thread takes, of which the one at `at` has this field.
    fn set(count: usize, at: usize, field: &str) -> (Vec<String>, Result<Vec<String>, String>) {
        let pod = |number: usize| {
            let field = if number == at { field } else { "app:1 # kpt-set: ${name}:${tag}" };
            let text =
                format!("apiVersion: v1\nkind: Pod\nmetadata:\n  name: p{number}\nx: {field}\n");
            Resource::parse(text).unwrap()
        };
        let config = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata: {tag: '2'}\n";
        let mut list = ResourceList {
            items: (0..count).map(pod).collect(),
            function_config: Some(Resource::parse(config).unwrap()),
            ..ResourceList::default()
        };
        let result = apply(&mut list, Version::new(0, 2, 0));
        let messages = list.results.into_iter().map(|it| it.message).collect();
        let texts = list.items.iter().map(|it| it.get_text("x").unwrap().unwrap()).collect();
        (texts, result.map(|()| messages).map_err(|error| error.to_string()))
    }

    #[test]
    fn resources_that_do_not_depend_on_each_other_are_all_set() {
        for count in [3, 200] {
            let (texts, messages) = set(count, 1, "web:1 # kpt-set: ${name}:${tag}");
            assert_eq!((texts.len(), &*texts[0], &*texts[1]), (count, "app:2", "web:2"));
            let messages = messages.unwrap();
            assert_eq!((messages.len(), &*messages[1]), (count, "set field value to \"web:2\""));
        }
    }

    #[test]
    fn value_of_another_field_is_found_among_many_resources() {
        // The tag could be `1` or `1-b`, and the other fields say which.
        let ambiguous = "1-b-c # kpt-set: ${tag}-${right}";
        for count in [3, 200] {
            let (texts, messages) = set(count, 2, ambiguous);
            assert_eq!((&*texts[0], &*texts[2]), ("app:2", "2-b-c"), "{messages:?}");
            assert!(messages.unwrap().len() >= count);
        }
    }

    #[test]
    fn failure_among_many_resources_is_reported_alone() {
        let invalid = "app # kpt-set: ${name}:${tag}";
        let (few, many) = (set(3, 2, invalid).1, set(200, 2, invalid).1);
        assert!(few.is_err() && few == many, "{few:?}, {many:?}");
    }
}
