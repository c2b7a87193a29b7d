//! Documented differences of the functions that create and list setters.

use regex::Regex;

use super::{Case, config_text, text};
use crate::differential::functions::outcome::{Difference, Part};

/// Both references in the comment of a field.
fn comments(difference: &Difference) -> Option<(&str, &str)> {
    let both = text(&difference.ours).zip(text(&difference.theirs));
    both.filter(|_| difference.part == Part::Comment)
}

/// The comment has the same reference, after the text that was there.
pub(super) fn is_comment_kept(_: &Case, difference: &Difference) -> bool {
    comments(difference).is_some_and(|(ours, theirs)| {
        ours.split_once(" kpt-set: ").is_some_and(|(_, rest)| theirs == format!("kpt-set: {rest}"))
    })
}

/// The names in a pattern such as `${image}:${tag}`.
fn names(pattern: &str) -> Vec<&str> {
    let parts = pattern.split("${").skip(1);
    parts.filter_map(|part| Some(part.split_once('}')?.0)).collect()
}

/// Whether a pattern matches the value of a field if the given setters have their values.
fn matches_value(case: &Case, pattern: &str, value: &str) -> bool {
    let mut regex = regex::escape(pattern);
    for name in names(pattern) {
        let value = match config_text(case, &["data", name]) {
            Some(value) => regex::escape(value),
            None => ".*".to_owned(),
        };
        regex = regex.replace(&regex::escape(&format!("${{{name}}}")), &value);
    }
    Regex::new(&format!("^{regex}$")).is_ok_and(|it| it.is_match(value))
}

/// The field had a reference, and krm keeps its setters beside those that are given. Both patterns describe the value.
pub(super) fn is_reference_kept(case: &Case, difference: &Difference) -> bool {
    let path = difference.path.concat();
    let Some((ours, theirs)) = comments(difference) else { return false };
    let (Some(before), Some(value)) = (case.comments.get(&path), case.scalars.get(&path)) else {
        return false;
    };
    let (kept, now) = (names(before), names(ours));
    let pattern = |comment: &str| comment.trim_start_matches("kpt-set: ").to_owned();
    let is_known =
        |name: &&str| kept.contains(name) || config_text(case, &["data", name]).is_some();
    kept.iter().all(|name| now.contains(name))
        && now.iter().all(is_known)
        && matches_value(case, &pattern(ours), value)
        && matches_value(case, &pattern(theirs), value)
}

/// Only the original comments the annotations of the orchestrator, which may be all that it finds.
pub(super) fn is_of_tool(case: &Case, difference: &Difference) -> bool {
    let is_of_tool = |path: &str| path.contains("config.kubernetes.io/");
    match difference.part {
        Part::Comment | Part::Result => {
            difference.ours.is_none() && is_of_tool(&difference.path.concat())
        }
        Part::Failure => {
            difference.path == ["krm"]
                && !case.theirs.results.is_empty()
                && case.theirs.results.iter().all(|it| is_of_tool(&it.field))
                && case.ours.results.iter().any(|it| it.text.contains("no matches for the input"))
        }
        _ => false,
    }
}

/// A sequence inside a flow mapping, which the original rewrites in block style: its output is invalid, or the sequence becomes a key.
pub(super) fn is_flow_in_flow(case: &Case, difference: &Difference) -> bool {
    let has_list = config_text(case, &["data", "list"]) == Some("[run, all]");
    let in_flow =
        |line: &str| line.split_once("args: [run, all]").is_some_and(|it| it.0.contains('{'));
    let is_lost = match difference.part {
        Part::Failure => difference.path == ["original"],
        Part::Item(_) => {
            let last = difference.path.last().map(String::as_str);
            let is_null = difference.theirs.as_ref().is_some_and(|it| it.is_type("null"));
            is_null && matches!(last, Some("args" | "[run, all]"))
        }
        _ => false,
    };
    has_list && is_lost && case.text.lines().any(in_flow)
}

/// A setter that krm counts for every field whose comment names it.
pub(super) fn counts_every_field(case: &Case, difference: &Difference) -> bool {
    let either = text(&difference.ours).or(text(&difference.theirs));
    let Some(name) = either.and_then(|it| name_of(it)) else { return false };
    let of = |results: &[super::super::outcome::ResultText]| {
        let mut found = results.iter().filter(|it| name_of(&it.text) == Some(name));
        found.next().and_then(|it| it.text.rsplit_once("Count: ")?.1.parse::<usize>().ok())
    };
    let fields = case.comments.values().filter(|it| names(it).contains(&name)).count();
    let (ours, theirs) = (of(&case.ours.results), of(&case.theirs.results).unwrap_or(0));
    difference.part == Part::Result && ours == Some(fields) && theirs < fields
}

fn name_of(result: &str) -> Option<&str> {
    Some(result.strip_prefix("info: Name: ")?.split_once(", Value: ")?.0)
}
