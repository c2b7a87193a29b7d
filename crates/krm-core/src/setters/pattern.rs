//! Patterns with markers: filled with values, and matched against strings to derive the values.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use krm_yaml::{KindParameter, diagnostic_kinds};

/// A string with markers that are replaced by values.
///
/// ```
/// use krm_core::setters::Pattern;
///
/// let pattern = Pattern::new("IMAGE_NAME:IMAGE_TAG", &["IMAGE_NAME", "IMAGE_TAG"])?;
/// let values = [("IMAGE_NAME", "IMAGE_TAG"), ("IMAGE_TAG", "1.8.2")];
/// let value = |marker: &str| values.iter().find(|(name, _)| *name == marker).map(|(_, value)| (*value).to_owned());
/// // Markers inside a value are not replaced.
/// assert_eq!(pattern.fill(value), Ok("IMAGE_TAG:1.8.2".to_owned()));
///
/// let values = pattern.derive("nginx:1.8.1", |_| None)?;
/// assert_eq!((values["IMAGE_NAME"].as_str(), values["IMAGE_TAG"].as_str()), ("nginx", "1.8.1"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    text: String,
    parts: Vec<Part>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    Literal(String),
    Marker(String),
}

diagnostic_kinds! {
    /// Why the text of a pattern cannot be used.
    pub enum PatternError {
        /// A marker without characters.
        EmptyMarker = "pattern-empty-marker": "empty marker";
        /// A marker that does not occur in the pattern.
        MissingMarker { marker: String } = "pattern-missing-marker": "marker `{marker}` does not occur in the pattern";
        /// `${` without a name or without its `}`.
        UnclosedMarker = "pattern-unclosed-marker": "expected a name and `}}` after `${{`";
        /// A pattern that would be the same for all values.
        NoMarker = "pattern-no-marker": "pattern has no marker", hint "write ${{name}} where the value of a setter belongs";
    }
}

/// The value of each marker.
pub type MarkerValues = BTreeMap<String, String>;

diagnostic_kinds! {
    /// Why the values of the markers cannot be derived from a string.
    pub enum DeriveError {
        /// The string does not match.
        NoMatch = "pattern-no-match": "value does not match the pattern";
        /// The string matches in more than one way; these are two of them.
        Ambiguous { first: Candidate, second: Candidate } = "pattern-ambiguous": "value matches the pattern in two ways: {first}, or {second}";
        /// Trying all ways would take too long.
        TooManyCandidates = "pattern-too-complex": "value matches the pattern in too many ways to try";
    }
}

impl KindParameter for DeriveError {
    fn masked(&self, hides: &dyn Fn(&str) -> bool) -> Option<Self> {
        let Self::Ambiguous { first, second } = self else { return None };
        let (first, second) = (first.masked(hides)?, second.masked(hides)?);
        Some(Self::Ambiguous { first, second })
    }
}

/// One of several possible values of the markers, shown as ``a=`nginx` and b=`1.8.1` ``.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate(MarkerValues);

impl Candidate {
    pub(super) fn of(values: MarkerValues) -> Self {
        Self(values)
    }
}

impl fmt::Display for Candidate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, (marker, value)) in self.0.iter().enumerate() {
            write!(f, "{}{marker}=`{value}`", if at > 0 { " and " } else { "" })?;
        }
        Ok(())
    }
}

impl KindParameter for Candidate {
    // Each value is a part of what is written in the field, so all are masked if one is.
    fn masked(&self, hides: &dyn Fn(&str) -> bool) -> Option<Self> {
        let mask = |(name, _): (&String, &String)| (name.clone(), "***".to_owned());
        self.0.values().any(|value| hides(value)).then(|| Self(self.0.iter().map(mask).collect()))
    }
}

impl Pattern {
    /// A pattern with these markers. Of two markers that match at the same position, the longer one is used.
    pub fn new(text: &str, markers: &[&str]) -> Result<Self, PatternError> {
        if markers.contains(&"") {
            return Err(PatternError::EmptyMarker);
        }
        let mut found = Self { text: text.to_owned(), parts: Vec::new() };
        let mut at = 0;
        while let Some(c) = text[at..].chars().next() {
            let here = markers.iter().filter(|marker| text[at..].starts_with(**marker));
            match here.max_by_key(|marker| marker.len()) {
                Some(marker) => {
                    found.parts.push(Part::Marker((*marker).to_owned()));
                    at += marker.len();
                }
                None => {
                    found.push_char(c);
                    at += c.len_utf8();
                }
            }
        }
        let missing = markers.iter().find(|marker| !found.markers().contains(*marker));
        missing.map_or(Ok(found), |marker| {
            Err(PatternError::MissingMarker { marker: (*marker).to_owned() })
        })
    }

    /// A pattern whose markers are written `${name}`. [`Pattern::markers`] lists the names.
    pub fn with_names(text: &str) -> Result<Self, PatternError> {
        let mut found = Self { text: text.to_owned(), parts: Vec::new() };
        let mut rest = text;
        while let Some((before, after)) = rest.split_once("${") {
            before.chars().for_each(|c| found.push_char(c));
            let (name, remaining) = after.split_once('}').ok_or(PatternError::UnclosedMarker)?;
            if name.is_empty() || name.contains("${") {
                return Err(PatternError::UnclosedMarker);
            }
            found.parts.push(Part::Marker(name.to_owned()));
            rest = remaining;
        }
        rest.chars().for_each(|c| found.push_char(c));
        Ok(found)
    }

    /// A pattern whose markers are its words of capital letters, digits and underscores, such as `IMAGE_NAME:IMAGE_TAG`.
    pub(super) fn with_capitals(text: &str) -> Result<Self, PatternError> {
        let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let words = text.split(|c: char| !is_word(c));
        let is_marker = |word: &&str| {
            word.len() > 1
                && word.starts_with(|c: char| c.is_ascii_uppercase())
                && !word.contains(|c: char| c.is_ascii_lowercase())
        };
        let markers: Vec<&str> = words.filter(is_marker).collect();
        if markers.is_empty() { Err(PatternError::NoMarker) } else { Self::new(text, &markers) }
    }

    /// The same pattern with other markers, written `${name}`.
    pub(super) fn renamed(&self, name: impl Fn(&str) -> String) -> Self {
        let rename = |part: &Part| match part {
            Part::Literal(text) => Part::Literal(text.clone()),
            Part::Marker(marker) => Part::Marker(name(marker)),
        };
        let parts: Vec<Part> = self.parts.iter().map(rename).collect();
        let text = |part: &Part| match part {
            Part::Literal(text) => text.clone(),
            Part::Marker(marker) => format!("${{{marker}}}"),
        };
        Self { text: parts.iter().map(text).collect(), parts }
    }

    fn push_char(&mut self, c: char) {
        match self.parts.last_mut() {
            Some(Part::Literal(text)) => text.push(c),
            _ => self.parts.push(Part::Literal(c.into())),
        }
    }

    /// The pattern as written.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The markers in order, without duplicates.
    pub fn markers(&self) -> Vec<&str> {
        let mut seen = BTreeSet::new();
        let markers = self.parts.iter().filter_map(|part| match part {
            Part::Marker(marker) => Some(marker.as_str()),
            Part::Literal(_) => None,
        });
        markers.filter(|marker| seen.insert(*marker)).collect()
    }

    /// The marker, if the pattern is nothing but that marker.
    pub(super) fn only_marker(&self) -> Option<&str> {
        match &self.parts[..] {
            [Part::Marker(marker)] => Some(marker),
            _ => None,
        }
    }

    /// The pattern with the literal parts between its markers replaced.
    pub(super) fn map_literals(&self, change: impl Fn(&str) -> String) -> String {
        let part = |part: &Part| match part {
            Part::Literal(text) => change(text),
            Part::Marker(marker) => format!("${{{marker}}}"),
        };
        self.parts.iter().map(part).collect()
    }

    /// Replaces the markers by values in one pass. The error is a marker without a value.
    pub fn fill(&self, value: impl Fn(&str) -> Option<String>) -> Result<String, String> {
        self.fill_up_to(usize::MAX, value).map(Option::unwrap_or_default)
    }

    /// Replaces the markers by values, unless the result has more than `limit` bytes. It is measured before it is built: a pattern may
    /// repeat a marker with a long value thousands of times.
    pub(super) fn fill_up_to(
        &self,
        limit: usize,
        value: impl Fn(&str) -> Option<String>,
    ) -> Result<Option<String>, String> {
        let mut values: BTreeMap<&str, String> = BTreeMap::new();
        for marker in self.markers() {
            values.insert(marker, value(marker).ok_or_else(|| marker.to_owned())?);
        }
        let length = |part: &Part| match part {
            Part::Literal(text) => text.len(),
            Part::Marker(marker) => values[marker.as_str()].len(),
        };
        let length = self.parts.iter().map(length).fold(0, usize::saturating_add);
        if length > limit {
            return Ok(None);
        }
        let mut out = String::with_capacity(length);
        for part in &self.parts {
            out.push_str(match part {
                Part::Literal(text) => text,
                Part::Marker(marker) => &values[marker.as_str()],
            });
        }
        Ok(Some(out))
    }

    /// The values of the markers in a string that matches the pattern. Known values reduce ambiguity.
    pub fn derive(
        &self,
        text: &str,
        known: impl Fn(&str) -> Option<String>,
    ) -> Result<MarkerValues, DeriveError> {
        let given = self.markers().into_iter().filter_map(|m| Some((m.to_owned(), known(m)?)));
        let mut search = Search::new(self, text, given.collect());
        let complete = search.from(0, 0);
        let mut found = search.found.into_iter();
        match (found.next(), found.next()) {
            (Some(first), Some(second)) => {
                Err(DeriveError::Ambiguous { first: Candidate(first), second: Candidate(second) })
            }
            _ if !complete => Err(DeriveError::TooManyCandidates),
            (Some(only), None) => Ok(only),
            (None, _) => Err(DeriveError::NoMatch),
        }
    }

    /// The values of the markers in a string that matches the pattern, where each takes as many characters as the ones after it leave.
    ///
    /// Compat: apply-setters of kpt's catalog matches the pattern as a regular expression, with `.*` for every marker.
    pub(super) fn derive_longest(&self, text: &str) -> Result<MarkerValues, DeriveError> {
        let mut search =
            Search { takes_longest: true, ..Search::new(self, text, MarkerValues::new()) };
        let complete = search.from(0, 0);
        match search.found.pop() {
            Some(found) => Ok(found),
            None if complete => Err(DeriveError::NoMatch),
            None => Err(DeriveError::TooManyCandidates),
        }
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// The maximum number of positions to try. A string of a few thousand characters with two unknown markers needs far less.
const MAX_STEPS: usize = 100_000;

/// Tries all ways to match a string until two are found.
struct Search<'a> {
    parts: &'a [Part],
    text: &'a str,
    bound: MarkerValues,
    found: Vec<MarkerValues>,
    steps: usize,
    /// Whether long values are tried first and the first way is the only one that counts.
    takes_longest: bool,
}

impl<'a> Search<'a> {
    fn new(pattern: &'a Pattern, text: &'a str, bound: MarkerValues) -> Self {
        let (parts, found) = (pattern.parts.as_slice(), Vec::new());
        Self { parts, text, bound, found, steps: 0, takes_longest: false }
    }

    /// Whether no further way is needed.
    fn is_done(&self) -> bool {
        self.found.len() > usize::from(!self.takes_longest)
    }

    /// Returns whether all ways from here were tried or two were found. The recursion is as deep as the pattern has parts.
    fn from(&mut self, part: usize, at: usize) -> bool {
        self.steps += 1;
        if self.steps > MAX_STEPS {
            return false;
        }
        let rest = &self.text[at..];
        let fixed = match self.parts.get(part) {
            None => {
                if rest.is_empty() && !self.found.contains(&self.bound) {
                    self.found.push(self.bound.clone());
                }
                return true;
            }
            Some(Part::Literal(text)) => text.clone(),
            Some(Part::Marker(marker)) => match self.bound.get(marker) {
                Some(value) => value.clone(),
                None => return self.unknown(part, marker, at),
            },
        };
        !rest.starts_with(&fixed) || self.from(part + 1, at + fixed.len())
    }

    /// Tries every end of an unknown value that the following literal allows.
    fn unknown(&mut self, part: usize, marker: &str, at: usize) -> bool {
        let next_literal = match self.parts.get(part + 1) {
            Some(Part::Literal(text)) => text.as_str(),
            _ => "",
        };
        let is_last = part + 1 == self.parts.len();
        let text = self.text;
        let ends = text[at..].char_indices().map(|(end, _)| at + end).chain([text.len()]);
        let ends: Box<dyn Iterator<Item = usize>> = match self.takes_longest {
            true => Box::new(ends.rev()),
            false => Box::new(ends),
        };
        for end in ends {
            if self.is_done() {
                return true;
            }
            if is_last && end < text.len() || !text[end..].starts_with(next_literal) {
                continue;
            }
            self.bound.insert(marker.to_owned(), text[at..end].to_owned());
            let complete = self.from(part + 1, end);
            self.bound.remove(marker);
            if !complete {
                return false;
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(pattern: &str, text: &str) -> Result<String, DeriveError> {
        Pattern::with_names(pattern)
            .unwrap()
            .derive(text, |_| None)
            .map(|values| Candidate(values).to_string())
    }

    #[test]
    fn ambiguous_match_is_an_error_with_two_candidates() {
        assert_eq!(read("${a}:${b}", "nginx:1.8.1").unwrap(), "a=`nginx` and b=`1.8.1`");
        assert_eq!(read("x-${a}-x-${a}", "x-1-x-1").unwrap(), "a=`1`");
        assert_eq!(read("${a}", "").unwrap(), "a=``");
        assert_eq!(read("${a}:${b}", "nginx"), Err(DeriveError::NoMatch));
        assert_eq!(read("x-${a}-x-${a}", "x-1-x-2"), Err(DeriveError::NoMatch));
        let error = read("${a}:${b}", "host:5000/nginx:1").unwrap_err().to_string();
        assert_eq!(
            error,
            "value matches the pattern in two ways: a=`host` and b=`5000/nginx:1`, or a=`host:5000/nginx` and b=`1`"
        );
        assert!(matches!(read("${a}${b}", "xy"), Err(DeriveError::Ambiguous { .. })));
        assert!(read("${a}-${a}${b}", "é-éé").is_ok());
    }

    #[test]
    fn longest_values_come_first_as_in_a_regular_expression() {
        let read = |pattern: &str, text: &str| {
            let values = Pattern::with_names(pattern).unwrap().derive_longest(text);
            values.map(|values| Candidate(values).to_string())
        };
        let container = "${project}-${cluster}-container";
        let values = "cluster=`name` and project=`project-id-cluster`".to_owned();
        assert_eq!(read(container, "project-id-cluster-name-container"), Ok(values));
        assert_eq!(read("${a}${b}", "xy"), Ok("a=`xy` and b=``".to_owned()));
        assert_eq!(read("${a}:${b}", "nginx"), Err(DeriveError::NoMatch));
        let pattern = "${a}-${b}-${c}-${d}-${e}-x";
        assert_eq!(read(pattern, &"-".repeat(2000)), Err(DeriveError::TooManyCandidates));
    }

    #[test]
    fn filled_pattern_is_measured_before_it_is_built() {
        let pattern = Pattern::with_names(&"${a}".repeat(3)).unwrap();
        let calls = std::cell::Cell::new(0);
        let value = |_: &str| {
            calls.set(calls.get() + 1);
            Some("xy".to_owned())
        };
        assert_eq!(pattern.fill_up_to(6, value), Ok(Some("xyxyxy".to_owned())));
        assert_eq!(pattern.fill_up_to(5, value), Ok(None));
        // Each value is copied once, not once per marker.
        assert_eq!(calls.get(), 2);
        assert_eq!(pattern.fill_up_to(5, |_| None), Err("a".to_owned()));
    }

    #[test]
    fn known_values_resolve_ambiguity() {
        let pattern = Pattern::with_names("${a}:${b}").unwrap();
        let known = |marker: &str| (marker == "b").then(|| "1".to_owned());
        let read = pattern.derive("host:5000/nginx:1", known).unwrap();
        assert_eq!(read["a"], "host:5000/nginx");
        assert_eq!(pattern.derive("nginx:2", known), Err(DeriveError::NoMatch));
    }

    #[test]
    fn matching_is_bounded() {
        let pattern = Pattern::with_names(&format!("{}x", "${a}-${b}-${c}-${d}-${e}-")).unwrap();
        assert_eq!(
            pattern.derive(&"-".repeat(2000), |_| None),
            Err(DeriveError::TooManyCandidates)
        );
    }

    #[test]
    fn longest_marker_is_used() {
        let pattern = Pattern::new("IMAGE/IMAGE_TAG", &["IMAGE", "IMAGE_TAG"]).unwrap();
        assert_eq!(pattern.markers(), ["IMAGE", "IMAGE_TAG"]);
        assert_eq!(
            Pattern::new("a", &["b"]),
            Err(PatternError::MissingMarker { marker: "b".to_owned() })
        );
        assert_eq!(Pattern::new("a", &[""]), Err(PatternError::EmptyMarker));
        for text in ["${", "${}", "${a", "${a${b}"] {
            assert_eq!(Pattern::with_names(text), Err(PatternError::UnclosedMarker), "{text}");
        }
    }
}
