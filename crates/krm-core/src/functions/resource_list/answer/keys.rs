//! The fields of two mappings side by side, where a function may have read a key as something else than a text.

use std::collections::HashMap;

use krm_yaml::{NodeRef, ScalarStyle, ScalarType};

use super::timestamp;
use crate::merge::node::Fields;

/// The fields of a mapping that was sent and of the one that came back. A plain key that came back as its YAML 1.1
/// reading (`on` as `true`, `0x1F` as `31`) has the name that it was sent with.
pub(super) fn fields<'a, 'b>(sent: NodeRef<'a>, returned: NodeRef<'b>) -> (Fields<'a>, Fields<'b>) {
    let (ours, mut theirs) = (Fields::of(sent, true), Fields::of(returned, true));
    let strangers = theirs.iter().filter(|(name, _)| ours.get(name).is_none());
    let strangers: HashMap<String, String> =
        strangers.map(|(name, field)| (meaning(field.key), name.to_owned())).collect();
    if strangers.is_empty() {
        return (ours, theirs);
    }
    let missing = ours.iter().filter(|(name, _)| theirs.get(name).is_none());
    let came = missing.filter_map(|(name, field)| {
        let came = readings(field.key).into_iter().flatten().find_map(|it| strangers.get(&it))?;
        Some((came.clone(), name.to_owned()))
    });
    let came: Vec<(String, String)> = came.collect();
    came.into_iter().for_each(|(from, to)| theirs.rename(&from, to));
    (ours, theirs)
}

/// What a key means as a text, whoever reads it: equal for one that was sent and its YAML 1.1 reading, and for a number
/// and the text that JSON has for it.
pub(super) fn meaning(key: NodeRef<'_>) -> String {
    let [core, older, time] = readings(key);
    older.or(core).or(time).unwrap_or_else(|| {
        let name = crate::merge::node::key_name(key);
        let number = match ScalarType::of_plain(&name) {
            number @ (ScalarType::Int(_) | ScalarType::Float(_)) => spelled(number),
            _ => None,
        };
        number.or_else(|| instant(&name)).unwrap_or_else(|| match &*name {
            // What some languages call numbers that JSON has not.
            "Infinity" => "inf".to_owned(),
            "-Infinity" => "-inf".to_owned(),
            _ => name.into_owned(),
        })
    })
}

/// What readers of YAML 1.2 and 1.1 make of a key that is no text to them, because it is plain or has a tag; of points in time,
/// too.
fn readings(key: NodeRef<'_>) -> [Option<String>; 3] {
    let key = key.resolve();
    match key.as_scalar() {
        Some(it) if it.style() == ScalarStyle::Plain => {
            let [core, older] = [it.resolve(), it.resolve_1_1()].map(spelled);
            [core, older, instant(&it.value())]
        }
        Some(it) if key.tag().is_some() => [spelled(it.resolve()), None, None],
        _ => [None, None, None],
    }
}

/// A point in time, spelled the same way whoever wrote it; no other key begins with this.
fn instant(text: &str) -> Option<String> {
    timestamp::read(text).map(|time| format!("\0{time}"))
}

/// What is no text, spelled the same way whoever wrote it; none for an integer that is too long to be read.
pub(super) fn spelled(resolved: ScalarType) -> Option<String> {
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
