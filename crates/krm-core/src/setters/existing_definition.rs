//! Whether the arguments of a new setter or substitution agree with an existing definition of the same name.

use krm_yaml::Value;

use super::create_setter::CreateSetter;
use super::definition::{NodeLocation, Setter, SetterValue, Substitution, openapi_type};
use super::kinds::SetterKind;
use super::new_definition::Entries;
use super::pattern::Pattern;
use super::{Setters, resolve};
use crate::Diagnostic;
use crate::model::resource::{field, scalar_text};
use crate::print::json;

/// Checks that a setter can be created again, which adds references to further fields. Only what is given is compared.
pub(super) fn check_setter(
    new: &CreateSetter<'_>,
    existing: &Setter<'_>,
    schema: &Entries<'_>,
) -> Result<(), Diagnostic> {
    let Some(location) = existing.location else { return Ok(()) };
    let error = |what: &str| {
        let error = already_defined("setter", &existing.name, location, what);
        Err(error.hint("change it with `krm cfg set`, or delete it with `krm cfg delete-setter`"))
    };
    if let Some(value) = &new.value {
        let value = match existing.is_list() {
            true => SetterValue::List(vec![value.clone()]),
            false => SetterValue::Scalar(value.clone()),
        };
        if value != existing.value {
            return error("value");
        }
    }
    let Some(definition) = existing.schema() else { return Ok(()) };
    for (key, value) in schema {
        let Value::String(key) = key else { continue };
        let old = field(definition, key);
        let is_same = match (&**key, old, value) {
            ("type", Some(old), Value::String(new)) => {
                scalar_text(old).and_then(|it| openapi_type(&it)) == openapi_type(new)
            }
            (_, Some(old), new) => {
                old.to_value().is_ok_and(|old| json::display(&old) == json::display(new))
            }
            (_, None, _) => false,
        };
        if !is_same {
            return error(&format!("`{key}`"));
        }
    }
    if new.set_by.is_some() && new.set_by != existing.set_by {
        return error("`setBy`");
    }
    if new.required && !existing.required {
        return error("`required`");
    }
    Ok(())
}

/// Checks that a substitution can be created again. `pattern` has `${name}` for its markers.
///
/// Spec: a field has the value of its substitution, so another value is refused.
pub(super) fn check_substitution(
    existing: &Substitution<'_>,
    pattern: &Pattern,
    field_value: &str,
    setters: &Setters<'_>,
) -> Result<(), Diagnostic> {
    let error = |what: &str| {
        let error = already_defined("substitution", &existing.name, existing.location, what);
        Err(error.hint("delete it with `krm cfg delete-subst`, or use another name"))
    };
    let name = |marker: &str| {
        let value = existing.values.iter().find(|value| value.marker == marker);
        value.map_or_else(|| marker.to_owned(), |value| value.target.name().to_owned())
    };
    if existing.pattern.renamed(name) != *pattern {
        return error("pattern");
    }
    let value = resolve::substitution_value(setters.definitions(), &existing.name);
    if value.is_some_and(|value| value != field_value) {
        return error("value");
    }
    Ok(())
}

fn already_defined(kind: &str, name: &str, at: NodeLocation<'_>, what: &str) -> Diagnostic {
    let target = format!("{kind} `{name}`");
    at.error(SetterKind::AlreadyDefined { target }).note(format!("its {what} differs"))
}
