//! The fields of a mapping that was sent and of the one that a function returned, where keys may have changed their type.

use std::collections::HashMap;

use krm_yaml::{NodeRef, ScalarStyle, ScalarType};

use super::timestamp;
use crate::compare::fields::{Fields, key_name};

/// The fields of a mapping that was sent and of the one that was returned. A plain key that was returned as a YAML 1.1 reader
/// takes it (`on` as `true`, `0x1F` as `31`) gets the name that it was sent with.
pub(crate) fn fields_as_sent<'a, 'b>(
    sent: NodeRef<'a>,
    returned: NodeRef<'b>,
) -> (Fields<'a>, Fields<'b>) {
    let (ours, mut theirs) = (Fields::of(sent, true), Fields::of(returned, true));
    let unknown = theirs.iter().filter(|(name, _)| ours.get(name).is_none());
    let unknown: HashMap<String, String> =
        unknown.map(|(name, field)| (canonical_key(field.key), name.to_owned())).collect();
    if unknown.is_empty() {
        return (ours, theirs);
    }
    let missing = ours.iter().filter(|(name, _)| theirs.get(name).is_none());
    let renamed = missing.filter_map(|(name, field)| {
        let returned = readings(field.key).into_iter().flatten().find_map(|it| unknown.get(&it))?;
        Some((returned.clone(), name.to_owned()))
    });
    let renamed: Vec<(String, String)> = renamed.collect();
    renamed.into_iter().for_each(|(from, to)| theirs.rename(&from, to));
    (ours, theirs)
}

/// A key as a string that is equal for the key as it was sent, as a YAML 1.1 reader takes it, and as the string that JSON has for a
/// number.
pub(crate) fn canonical_key(key: NodeRef<'_>) -> String {
    let [core, older, time] = readings(key);
    older.or(core).or(time).unwrap_or_else(|| {
        let name = key_name(key);
        let number = match ScalarType::of_plain(&name) {
            number @ (ScalarType::Int(_) | ScalarType::Float(_)) => canonical_scalar(number),
            _ => None,
        };
        number.or_else(|| instant(&name)).unwrap_or_else(|| match &*name {
            // How some languages print the floats that JSON does not have.
            "Infinity" => "inf".to_owned(),
            "-Infinity" => "-inf".to_owned(),
            _ => name.into_owned(),
        })
    })
}

/// The key to a YAML 1.2 reader, to a YAML 1.1 reader and as a timestamp, each where it is not a string to them.
fn readings(key: NodeRef<'_>) -> [Option<String>; 3] {
    let key = key.resolve();
    match key.as_scalar() {
        Some(it) if it.style() == ScalarStyle::Plain => {
            let [core, older] = [it.resolve(), it.resolve_1_1()].map(canonical_scalar);
            [core, older, instant(&it.value())]
        }
        Some(it) if key.tag().is_some() => [canonical_scalar(it.resolve()), None, None],
        _ => [None, None, None],
    }
}

/// A timestamp in one notation. No other key begins with NUL.
fn instant(text: &str) -> Option<String> {
    timestamp::parse(text).map(|time| format!("\0{time}"))
}

/// A scalar that is not a string, in one notation; `None` for a string, and for an integer that is too long to be parsed.
pub(crate) fn canonical_scalar(resolved: ScalarType) -> Option<String> {
    match resolved {
        ScalarType::Null => Some("null".to_owned()),
        ScalarType::Bool(value) => Some(value.to_string()),
        ScalarType::Int(value) => value.map(|value| value.to_string()),
        ScalarType::Float(value) if value as i128 as f64 == value && value.abs() < 1e38 => {
            Some((value as i128).to_string())
        }
        ScalarType::Float(value) => Some(value.to_string()),
        ScalarType::String => None,
    }
}
