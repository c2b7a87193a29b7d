//! Patterns with markers: filled in one pass, and read backward where there is one reading only.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// A text with places for values.
///
/// ```
/// use krm_core::setters::Pattern;
///
/// let pattern = Pattern::new("IMAGE_NAME:IMAGE_TAG", &["IMAGE_NAME", "IMAGE_TAG"])?;
/// let values = [("IMAGE_NAME", "IMAGE_TAG"), ("IMAGE_TAG", "1.8.2")];
/// let value = |marker: &str| values.iter().find(|(name, _)| *name == marker).map(|(_, value)| (*value).to_owned());
/// // A value that holds another marker is not replaced again.
/// assert_eq!(pattern.fill(value), Ok("IMAGE_TAG:1.8.2".to_owned()));
///
/// let read = pattern.derive("nginx:1.8.1", |_| None)?;
/// assert_eq!((read["IMAGE_NAME"].as_str(), read["IMAGE_TAG"].as_str()), ("nginx", "1.8.1"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    text: String,
    parts: Vec<Part>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    Text(String),
    Marker(String),
}

/// Why a pattern cannot be used as it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PatternError {
    /// A marker without a letter.
    EmptyMarker,
    /// A marker that does not occur.
    MissingMarker(String),
    /// `${` without its `}`, or without a name inside.
    Unclosed,
}

impl fmt::Display for PatternError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::EmptyMarker => f.write_str("a marker is empty"),
            Self::MissingMarker(marker) => {
                write!(f, "the marker `{marker}` is not in the pattern")
            }
            Self::Unclosed => f.write_str("a `${` has no name and `}` behind it"),
        }
    }
}

impl std::error::Error for PatternError {}

/// What each marker stands for.
pub type MarkerValues = BTreeMap<String, String>;

/// Why the values cannot be told from a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeriveError {
    /// The text does not fit the pattern.
    NoMatch,
    /// It fits in more than one way; these are two of them.
    Ambiguous(MarkerValues, MarkerValues),
    /// There are too many ways to try.
    TooManyCandidates,
}

impl fmt::Display for DeriveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoMatch => f.write_str("it does not fit the pattern"),
            Self::Ambiguous(first, second) => {
                write!(f, "it fits the pattern in two ways: {}, or {}", words(first), words(second))
            }
            Self::TooManyCandidates => {
                f.write_str("there are too many ways to fit it to the pattern")
            }
        }
    }
}

impl std::error::Error for DeriveError {}

/// `NAME=nginx, TAG=1.8.1`
fn words(reading: &MarkerValues) -> String {
    let words: Vec<String> =
        reading.iter().map(|(marker, value)| format!("{marker}=`{value}`")).collect();
    words.join(" and ")
}

impl Pattern {
    /// A pattern with these markers. Where two of them fit at one place, the longer one counts.
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
        missing.map_or(Ok(found), |marker| Err(PatternError::MissingMarker((*marker).to_owned())))
    }

    /// A pattern whose markers are written `${name}`; each is known by its name.
    pub fn with_names(text: &str) -> Result<Self, PatternError> {
        let mut found = Self { text: text.to_owned(), parts: Vec::new() };
        let mut rest = text;
        while let Some((before, after)) = rest.split_once("${") {
            before.chars().for_each(|c| found.push_char(c));
            let (name, behind) = after.split_once('}').ok_or(PatternError::Unclosed)?;
            if name.is_empty() || name.contains("${") {
                return Err(PatternError::Unclosed);
            }
            found.parts.push(Part::Marker(name.to_owned()));
            rest = behind;
        }
        rest.chars().for_each(|c| found.push_char(c));
        Ok(found)
    }

    fn push_char(&mut self, c: char) {
        match self.parts.last_mut() {
            Some(Part::Text(text)) => text.push(c),
            _ => self.parts.push(Part::Text(c.into())),
        }
    }

    /// The pattern as it is written.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The markers in order, each once.
    pub fn markers(&self) -> Vec<&str> {
        let mut seen = BTreeSet::new();
        let markers = self.parts.iter().filter_map(|part| match part {
            Part::Marker(marker) => Some(marker.as_str()),
            Part::Text(_) => None,
        });
        markers.filter(|marker| seen.insert(*marker)).collect()
    }

    /// The marker that is all of the pattern, where one is.
    pub fn only_marker(&self) -> Option<&str> {
        match &self.parts[..] {
            [Part::Marker(marker)] => Some(marker),
            _ => None,
        }
    }

    /// The pattern with other texts between its markers.
    pub(super) fn with_texts(&self, change: impl Fn(&str) -> String) -> String {
        let part = |part: &Part| match part {
            Part::Text(text) => change(text),
            Part::Marker(marker) => format!("${{{marker}}}"),
        };
        self.parts.iter().map(part).collect()
    }

    /// The text with values in place of the markers, in one pass; the marker that has no value is the error.
    pub fn fill(&self, value: impl Fn(&str) -> Option<String>) -> Result<String, String> {
        let mut out = String::new();
        for part in &self.parts {
            match part {
                Part::Text(text) => out.push_str(text),
                Part::Marker(marker) => out.push_str(&value(marker).ok_or_else(|| marker.clone())?),
            }
        }
        Ok(out)
    }

    /// What the markers stand for in a text that was made from the pattern. Values that are known narrow it down.
    pub fn derive(
        &self,
        text: &str,
        known: impl Fn(&str) -> Option<String>,
    ) -> Result<MarkerValues, DeriveError> {
        let given = self.markers().into_iter().filter_map(|m| Some((m.to_owned(), known(m)?)));
        let mut search = Search {
            parts: &self.parts,
            text,
            bound: given.collect(),
            found: Vec::new(),
            steps: 0,
        };
        let complete = search.from(0, 0);
        let mut found = search.found.into_iter();
        match (found.next(), found.next()) {
            (Some(first), Some(second)) => Err(DeriveError::Ambiguous(first, second)),
            _ if !complete => Err(DeriveError::TooManyCandidates),
            (Some(only), None) => Ok(only),
            (None, _) => Err(DeriveError::NoMatch),
        }
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// How many places are tried: a text of a few thousand letters with two unknown markers is far below.
const MOST_STEPS: usize = 100_000;

/// Tries all ways to fit a text to a pattern until two are found.
struct Search<'a> {
    parts: &'a [Part],
    text: &'a str,
    bound: MarkerValues,
    found: Vec<MarkerValues>,
    steps: usize,
}

impl Search<'_> {
    /// Whether all ways from here on were tried, or two were found. It goes as deep as the pattern has parts.
    fn from(&mut self, part: usize, at: usize) -> bool {
        self.steps += 1;
        if self.steps > MOST_STEPS {
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
            Some(Part::Text(text)) => text.clone(),
            Some(Part::Marker(marker)) => match self.bound.get(marker) {
                Some(value) => value.clone(),
                None => return self.unknown(part, marker, at),
            },
        };
        !rest.starts_with(&fixed) || self.from(part + 1, at + fixed.len())
    }

    /// Every end of an unknown value: all that the text behind it allows.
    fn unknown(&mut self, part: usize, marker: &str, at: usize) -> bool {
        let behind = match self.parts.get(part + 1) {
            Some(Part::Text(text)) => text.as_str(),
            _ => "",
        };
        let is_last = part + 1 == self.parts.len();
        let text = self.text;
        let ends = text[at..].char_indices().map(|(end, _)| at + end).chain([text.len()]);
        for end in ends {
            if self.found.len() > 1 {
                return true;
            }
            if is_last && end < text.len() || !text[end..].starts_with(behind) {
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
        Pattern::with_names(pattern).unwrap().derive(text, |_| None).map(|it| words(&it))
    }

    #[test]
    fn one_reading_is_a_value_and_two_are_an_error_that_shows_both() {
        assert_eq!(read("${a}:${b}", "nginx:1.8.1").unwrap(), "a=`nginx` and b=`1.8.1`");
        assert_eq!(read("x-${a}-x-${a}", "x-1-x-1").unwrap(), "a=`1`");
        assert_eq!(read("${a}", "").unwrap(), "a=``");
        assert_eq!(read("${a}:${b}", "nginx"), Err(DeriveError::NoMatch));
        assert_eq!(read("x-${a}-x-${a}", "x-1-x-2"), Err(DeriveError::NoMatch));
        let error = read("${a}:${b}", "host:5000/nginx:1").unwrap_err().to_string();
        assert_eq!(
            error,
            "it fits the pattern in two ways: a=`host` and b=`5000/nginx:1`, or a=`host:5000/nginx` and b=`1`"
        );
        assert!(matches!(read("${a}${b}", "xy"), Err(DeriveError::Ambiguous(..))));
        assert!(read("${a}-${a}${b}", "é-éé").is_ok());
    }

    #[test]
    fn known_values_narrow_the_readings() {
        let pattern = Pattern::with_names("${a}:${b}").unwrap();
        let known = |marker: &str| (marker == "b").then(|| "1".to_owned());
        let read = pattern.derive("host:5000/nginx:1", known).unwrap();
        assert_eq!(read["a"], "host:5000/nginx");
        assert_eq!(pattern.derive("nginx:2", known), Err(DeriveError::NoMatch));
    }

    #[test]
    fn hopeless_texts_are_given_up() {
        let pattern = Pattern::with_names(&format!("{}x", "${a}-${b}-${c}-${d}-${e}-")).unwrap();
        assert_eq!(
            pattern.derive(&"-".repeat(2000), |_| None),
            Err(DeriveError::TooManyCandidates)
        );
    }

    #[test]
    fn of_overlapping_markers_the_longer_counts() {
        let pattern = Pattern::new("IMAGE/IMAGE_TAG", &["IMAGE", "IMAGE_TAG"]).unwrap();
        assert_eq!(pattern.markers(), ["IMAGE", "IMAGE_TAG"]);
        assert_eq!(Pattern::new("a", &["b"]), Err(PatternError::MissingMarker("b".to_owned())));
        assert_eq!(Pattern::new("a", &[""]), Err(PatternError::EmptyMarker));
        for text in ["${", "${}", "${a", "${a${b}"] {
            assert_eq!(Pattern::with_names(text), Err(PatternError::Unclosed), "{text}");
        }
    }
}
