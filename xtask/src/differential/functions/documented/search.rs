//! Documented differences of `search-replace`.

use regex::Regex;

use super::{Case, Part, config_text, fails, items, text};
use crate::differential::functions::outcome::{Difference, Node};

fn option<'a>(case: &'a Case, key: &str) -> Option<&'a str> {
    config_text(case, &["data", key]).filter(|it| !it.is_empty())
}

/// The path without wildcards whose field is set, if the functionConfig has one.
fn set_path(case: &Case) -> Option<&str> {
    let has_condition = ["by-value", "by-value-regex"].iter().any(|it| option(case, it).is_some());
    option(case, "put-value").filter(|_| !has_condition)?;
    option(case, "by-path").filter(|path| !path.contains(['*', '[']))
}

/// The comment of a field that is set by its path: new in krm, as before in the original.
pub(super) fn is_comment_at_path(case: &Case, difference: &Difference) -> bool {
    let path = difference.path.concat();
    let Some((_, field)) = path.split_once("].") else { return false };
    difference.part == Part::Comment
        && set_path(case) == Some(field)
        && text(&difference.ours) == option(case, "put-comment")
        && text(&difference.theirs) == case.comments.get(&path).map(String::as_str)
}

/// The same result with other quotes.
pub(super) fn differs_in_quotes(case: &Case, difference: &Difference) -> bool {
    let plain = |text: &str| text.replace(['\'', '"', '\\'], "");
    let (mine, others) = match (text(&difference.ours), text(&difference.theirs)) {
        (Some(ours), None) => (ours, &case.theirs.results),
        (None, Some(theirs)) => (theirs, &case.ours.results),
        _ => return false,
    };
    difference.part == Part::Result && others.iter().any(|it| plain(&it.text) == plain(mine))
}

/// A sequence or a mapping that the original replaces by a scalar.
pub(super) fn is_sequence_kept(case: &Case, difference: &Difference) -> bool {
    let Some(path) = set_path(case) else { return false };
    let keys: Vec<&str> = path.split('.').collect();
    let is_collection =
        |item: &Node| item.get(&keys).is_some_and(|it| !matches!(it, Node::Scalar(..)));
    fails(difference, "krm") && items(case).iter().any(is_collection)
}

/// What the original finds in the annotations of the orchestrator.
pub(super) fn is_of_tool(_: &Case, difference: &Difference) -> bool {
    let path = difference.path.concat();
    let is_of_tool = ["config.kubernetes.io/path", "config.kubernetes.io/index"];
    let is_of_tool = is_of_tool.iter().any(|key| path.contains(key));
    matches!(difference.part, Part::Result | Part::Comment)
        && difference.ours.is_none()
        && is_of_tool
}

/// Whether a regular expression matches only a part of a value.
fn is_part(regex: &str, value: &str) -> bool {
    let matches = |regex: &str| Regex::new(regex).is_ok_and(|it| it.is_match(value));
    matches(regex) && !matches(&format!("^(?:{regex})$"))
}

/// The regular expression matches only a part of the value, which krm therefore does not change.
pub(super) fn is_part_of_value(case: &Case, difference: &Difference) -> bool {
    let Some(regex) = option(case, "by-value-regex") else { return false };
    let is_part = |value: &str| is_part(regex, value);
    match difference.part {
        // The value is compared as it is written: `1e3` has a letter.
        Part::Item(_) => {
            let mut path = "]".to_owned();
            for key in &difference.path {
                match key.parse::<usize>() {
                    Ok(at) => path.push_str(&format!("[{at}]")),
                    Err(_) if key.contains(['.', '/']) => path.push_str(&format!(".{key:?}")),
                    Err(_) => path.push_str(&format!(".{key}")),
                }
            }
            let mut at_path = case.scalars.iter().filter(|(it, _)| it.ends_with(&path));
            at_path.any(|(_, value)| is_part(value))
        }
        Part::Comment => {
            let path = difference.path.concat();
            let before = case.comments.get(&path).map(String::as_str);
            text(&difference.ours) == before
                && case.scalars.get(&path).is_some_and(|it| is_part(it))
        }
        Part::Result => {
            let warns = |it: &str| it == "info: no matches" || it.contains("matches a part of");
            // The original reports the value that it found or wrote; the field says which.
            let field = format!("].{}", difference.path.concat());
            let mut found = case.scalars.iter().filter(|(path, _)| path.ends_with(&field));
            text(&difference.ours).is_some_and(warns) || found.any(|(_, value)| is_part(value))
        }
        Part::Failure => {
            let is_whole = |value: &String| {
                Regex::new(&format!("^(?:{regex})$")).is_ok_and(|it| it.is_match(value))
            };
            fails(difference, "original")
                && ["put-value", "put-comment"]
                    .iter()
                    .any(|key| option(case, key).is_some_and(|it| it.contains("${1}")))
                && case.scalars.values().any(|it| is_part(it))
                && !case.scalars.values().any(is_whole)
        }
        _ => false,
    }
}
