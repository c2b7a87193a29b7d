//! Markers: what a template writes where it prints a value.
//!
//! A marker consists of characters for private use, which YAML allows everywhere in a plain scalar, and which filters such as `upper` do
//! not change. It contains a random number, so that no value can imitate one.

use std::hash::BuildHasher;

use krm_yaml::Value;
use minijinja::{AutoEscape, Output, State};

use crate::Error;
use crate::typed::to_value;

const START: char = '\u{e000}';
const END: char = '\u{e001}';
/// The digits from 0 to 9.
const ZERO: u32 = 0xe010;

/// The values that a template printed, which are kept in the state of the engine while it renders.
#[derive(Clone, Debug)]
pub(super) struct Values {
    /// How every marker of this rendering begins.
    prefix: String,
    all: Vec<minijinja::Value>,
}

impl Default for Values {
    fn default() -> Self {
        let random = std::hash::RandomState::new().hash_one(ZERO);
        Self { prefix: format!("{START}{}{START}", digits(random)), all: Vec::new() }
    }
}

/// A part of a scalar or a comment.
#[derive(Clone, Copy, Debug)]
pub(super) enum Part<'t> {
    Text(&'t str),
    /// The index of a value.
    Value(usize),
}

impl Values {
    /// The values that were printed in a rendering.
    pub(super) fn of(state: &State<'_, '_>) -> Self {
        state.get_extension::<Self>().cloned().unwrap_or_default()
    }

    /// Whether a text contains a marker, or a part of one.
    pub(super) fn is_marked(&self, text: &str) -> bool {
        text.contains(&self.prefix)
    }

    /// The texts and values of a marked text.
    pub(super) fn parts<'t>(&self, text: &'t str) -> Vec<Part<'t>> {
        let mut parts = Vec::new();
        let mut rest = text;
        while let Some(start) = rest.find(&self.prefix) {
            let after = &rest[start + self.prefix.len()..];
            let index = after.find(END).and_then(|end| Some((number(&after[..end])?, end)));
            let Some((index, end)) = index.filter(|(index, _)| *index < self.all.len()) else {
                break;
            };
            parts.push(Part::Text(&rest[..start]));
            parts.push(Part::Value(index));
            rest = &after[end + END.len_utf8()..];
        }
        parts.push(Part::Text(rest));
        parts.retain(|part| !matches!(part, Part::Text("")));
        parts
    }

    /// A text with `{{ }}` in place of the values, as in the template. A marker that the end of the text cuts is left out.
    pub(super) fn shown(&self, text: &str) -> String {
        let last = text.rfind(END).map_or(0, |at| at + END.len_utf8());
        let end = text[last..].find(START).map_or(text.len(), |at| last + at);
        let text = &text[..end];
        let part = |part: &Part<'_>| match part {
            Part::Text(text) => (*text).to_owned(),
            Part::Value(_) => "{{ }}".to_owned(),
        };
        self.parts(text).iter().map(part).collect()
    }

    /// A value that was printed.
    pub(super) fn get(&self, index: usize) -> Result<Value<'static>, Error> {
        to_value(&self.all[index])
    }
}

/// Writes a marker instead of a value. Text that is already YAML, such as that of a macro or of the filter `safe`, is written as it is.
pub(super) fn format(
    out: &mut Output<'_>,
    state: &mut State<'_, '_>,
    value: &minijinja::Value,
) -> Result<(), minijinja::Error> {
    // Without an `else`, `{{ x if y }}` prints nothing.
    if value.is_undefined() {
        return Ok(());
    }
    if value.is_safe() || *state.auto_escape() == AutoEscape::None {
        return Ok(out.write_str(&value.to_string())?);
    }
    let values = state.get_or_insert_extension_with(Values::default);
    let marker = format!("{}{}{END}", values.prefix, digits(values.all.len() as u64));
    values.all.push(value.clone());
    Ok(out.write_str(&marker)?)
}

fn digits(number: u64) -> String {
    let digit = |digit: char| {
        let digit = digit.to_digit(10).unwrap_or_default();
        char::from_u32(ZERO + digit).unwrap_or_default()
    };
    number.to_string().chars().map(digit).collect()
}

fn number(digits: &str) -> Option<usize> {
    let digit = |c: char| char::from_digit((c as u32).checked_sub(ZERO)?, 10);
    digits.chars().map(digit).collect::<Option<String>>()?.parse().ok()
}
