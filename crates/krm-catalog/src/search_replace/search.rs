//! The search conditions and replacements of the functionConfig.

use std::ops::Range;

use krm_sdk::yaml::{NodeRef, Scalar};
use krm_sdk::{Diagnostic, Error, ResourceList};
use regex_lite::Regex;
use serde::Deserialize;

use super::glob::Glob;
use super::path::{FieldSegment, PathPattern};
use crate::config::{read_data, reword_unknown_fields};
use crate::kinds::CatalogKind;
use crate::results;

/// The functionConfig. An empty string counts as unset.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
struct Config {
    by_value: String,
    by_value_regex: String,
    by_path: String,
    by_file_path: String,
    by_file_path_exclude: String,
    put_value: String,
    put_comment: String,
}

/// Compat: the options as the original lists them.
const MATCHERS: &str =
    r#"["by-value" "by-file-path" "by-value-regex" "by-path" "put-value" "put-comment"]"#;

/// The search, and what is put into the matching fields.
#[derive(Debug)]
pub(super) struct Search {
    value: Option<String>,
    /// The pattern for whole values, and for parts of values.
    regex: Option<(Regex, Regex)>,
    path: Option<PathPattern>,
    files: Option<Glob>,
    not_files: Option<Glob>,
    pub(super) put_value: Option<String>,
    pub(super) put_comment: Option<String>,
    /// The error for a capture group that the pattern does not have, reported if a field matches.
    pub(super) missing_group: Option<Error>,
}

fn pattern_error(syntax: &'static str, pattern: &str, reason: String) -> CatalogKind {
    CatalogKind::InvalidPattern { syntax, pattern: pattern.into(), reason }
}

fn non_empty(text: String) -> Option<String> {
    Some(text).filter(|text| !text.is_empty())
}

impl Search {
    /// Reads the functionConfig.
    pub(super) fn read(list: &ResourceList) -> Result<Self, Error> {
        let message = |name: &str| {
            format!("invalid matcher {}, must be one of {MATCHERS}", results::quoted(name))
        };
        let config: Result<Config, Error> = match &list.function_config {
            Some(config) => read_data(config),
            None => list.config(),
        };
        let config = config.map_err(|error| reword_unknown_fields(error, message))?;
        let invalid = |key: &str, kind: CatalogKind| -> Error {
            let mut error = Diagnostic::error(kind);
            let node = list.function_config.as_ref().and_then(|config| {
                let node = config.get_in(["data", key])?;
                Some((config, node))
            });
            if let Some((config, node)) = node {
                error = error.at(config.item().file(), node.span());
                error.file = config.path().map(|path| path.as_str().into());
            }
            error.hint(format!("check `{key}`")).into()
        };
        if !config.by_value.is_empty() && !config.by_value_regex.is_empty() {
            let message = r#"only one of ["by-value", "by-value-regex"] can be provided"#.into();
            return Err(invalid("by-value-regex", CatalogKind::ConfigRejected { message }));
        }
        let regex = |text: String| {
            let whole = Regex::new(&format!("^(?:{text})$"));
            let both = Regex::new(&text).and_then(|part| Ok((whole?, part)));
            both.map_err(|error| {
                let kind = pattern_error("regular expression", &text, error.to_string());
                invalid("by-value-regex", kind)
            })
        };
        let glob = |key: &str, text: String| {
            let error = |reason| invalid(key, pattern_error("file pattern", &text, reason));
            Glob::new(&text).map_err(error)
        };
        let path = |text: String| {
            let error = |reason| invalid("by-path", pattern_error("path pattern", &text, reason));
            PathPattern::new(&text).map_err(error)
        };
        let regex = non_empty(config.by_value_regex).map(regex).transpose()?;
        let groups = regex.as_ref().map(|(whole, _)| whole.captures_len());
        let puts = [("put-value", &config.put_value), ("put-comment", &config.put_comment)];
        let with_missing_group = puts.iter().find(|(_, text)| {
            let is_missing = |number: &str| {
                !number.parse().is_ok_and(|it| (1..groups.unwrap_or(0)).contains(&it))
            };
            groups.is_some() && group_references(text).iter().any(|(_, number)| is_missing(number))
        });
        let missing_group = with_missing_group.map(|(key, _)| {
            let message = "unable to resolve capture groups".into();
            invalid(key, CatalogKind::ConfigRejected { message })
        });
        Ok(Self {
            value: non_empty(config.by_value),
            missing_group,
            regex,
            path: non_empty(config.by_path).map(path).transpose()?,
            files: non_empty(config.by_file_path).map(|it| glob("by-file-path", it)).transpose()?,
            not_files: non_empty(config.by_file_path_exclude)
                .map(|it| glob("by-file-path-exclude", it))
                .transpose()?,
            put_value: non_empty(config.put_value),
            put_comment: non_empty(config.put_comment),
        })
    }

    /// Whether resources of a file are searched.
    pub(super) fn includes_file(&self, file: &str) -> bool {
        self.files.as_ref().is_none_or(|glob| glob.matches(file))
            && !self.not_files.as_ref().is_some_and(|glob| glob.matches(file))
    }

    /// Whether matching fields are changed.
    pub(super) fn replaces(&self) -> bool {
        self.put_value.is_some() || self.put_comment.is_some()
    }

    /// The path of a field that is created if it is missing.
    pub(super) fn path_to_create(&self) -> Option<Vec<&str>> {
        let is_put = self.value.is_none() && self.regex.is_none() && self.put_value.is_some();
        self.path.as_ref().filter(|_| is_put)?.keys()
    }

    /// Whether the comment of a sequence is set.
    pub(super) fn matches_sequence(&self, path: &[FieldSegment<'_>], list: NodeRef<'_>) -> bool {
        self.put_comment.is_some()
            && matches!(path.last(), Some(FieldSegment::Key(_)))
            && list.children().next().is_some()
            && self.path.as_ref().is_some_and(|pattern| pattern.matches(path))
    }

    /// Whether a scalar matches.
    pub(super) fn matches(&self, path: &[FieldSegment<'_>], scalar: Scalar<'_>) -> bool {
        let by_value = match (&self.value, &self.regex) {
            (Some(value), _) => Some(scalar.is(value)),
            (None, Some((whole, _))) => Some(whole.is_match(&scalar.value())),
            (None, None) => None,
        };
        if by_value == Some(false) {
            return false;
        }
        let by_path = self.path.as_ref().map(|pattern| pattern.matches(path));
        by_path.or(by_value).unwrap_or(false)
    }

    /// Whether a part of a value matches.
    pub(super) fn matches_part(&self, scalar: Scalar<'_>) -> bool {
        self.regex.as_ref().is_some_and(|(_, part)| part.is_match(&scalar.value()))
    }

    /// Replaces `${1}` by the capture groups of a value. The error is the length of a result that is longer than `limit`: it is measured
    /// before it is built, because a text may refer to a long group thousands of times.
    pub(super) fn expand_groups(
        &self,
        text: &str,
        value: &str,
        limit: usize,
    ) -> Result<String, usize> {
        let groups = self.regex.as_ref().and_then(|(whole, _)| whole.captures(value));
        let Some(groups) = groups else { return Ok(text.to_owned()) };
        let mut parts = Vec::new();
        let mut at = 0;
        for (range, number) in group_references(text) {
            let group = number.parse().ok().and_then(|number| groups.get(number));
            parts.push(&text[at..range.start]);
            parts.push(group.map_or("", |group| group.as_str()));
            at = range.end;
        }
        parts.push(&text[at..]);
        let length = parts.iter().map(|part| part.len()).fold(0, usize::saturating_add);
        if length > limit { Err(length) } else { Ok(parts.concat()) }
    }
}

/// The range and the digits of every `${1}` in a text.
fn group_references(text: &str) -> Vec<(Range<usize>, &str)> {
    let mut found = Vec::new();
    for (start, _) in text.match_indices("${") {
        let Some(end) = text[start..].find('}').map(|end| start + end) else { break };
        let digits = &text[start + 2..end];
        if !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()) {
            found.push((start..end + 1, digits));
        }
    }
    found
}
