//! Texts that several files share, whole or in part.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use crate::span::{Span, is_same_text};

/// A text, or a part of one. Clones and parts share the bytes.
///
/// ```
/// use krm_yaml::{SharedText, Span};
///
/// let text = SharedText::from("a: 1\n---\nb: 2\n".to_owned());
/// let part = text.part(Span::new(9, 14)).expect("the span is inside the text");
/// assert_eq!(&*part, "b: 2\n");
/// assert_eq!(part.span_in(&text), Some(Span::new(9, 14)));
/// ```
#[derive(Clone)]
pub struct SharedText {
    whole: Arc<String>,
    /// None for the whole text, so that reading it needs no slicing.
    part: Option<Span>,
}

impl SharedText {
    /// A part of the text; `None` if it does not contain the span, or the text is too large for spans.
    pub fn part(&self, span: Span) -> Option<Self> {
        let start = self.part.map_or(0, |part| part.start);
        self.get(span.range())?;
        let part = Span::new(start.checked_add(span.start)?, start.checked_add(span.end)?);
        Some(Self { whole: Arc::clone(&self.whole), part: Some(part) })
    }

    /// The span of this text in another one, if it is a part of it that shares its bytes.
    pub fn span_in(&self, other: &Self) -> Option<Span> {
        let (own, other_span) = (self.span()?, other.span()?);
        let is_part = Arc::ptr_eq(&self.whole, &other.whole) && other_span.contains(own);
        is_part.then(|| Span::new(own.start - other_span.start, own.end - other_span.start))
    }

    /// Whether both are the same bytes in memory. Cheaper than a comparison, and true only if nobody changed the text.
    pub fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.whole, &other.whole)
            && (self.part == other.part || self.span() == other.span())
    }

    /// The span in the whole text.
    fn span(&self) -> Option<Span> {
        let whole = || Some(Span::new(0, u32::try_from(self.whole.len()).ok()?));
        self.part.or_else(whole)
    }

    /// The text, without copying it if nobody else shares it.
    pub fn into_string(self) -> String {
        match self.part {
            None => Arc::try_unwrap(self.whole).unwrap_or_else(|whole| (*whole).clone()),
            Some(_) => self.to_string(),
        }
    }
}

impl Deref for SharedText {
    type Target = str;

    fn deref(&self) -> &str {
        match self.part {
            None => &self.whole,
            Some(part) => part.of(&self.whole),
        }
    }
}

impl From<String> for SharedText {
    fn from(text: String) -> Self {
        Self { whole: Arc::new(text), part: None }
    }
}

impl fmt::Display for SharedText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self)
    }
}

impl fmt::Debug for SharedText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, f)
    }
}

impl PartialEq for SharedText {
    fn eq(&self, other: &Self) -> bool {
        self.is_same(other) || is_same_text(self.as_bytes(), other.as_bytes())
    }
}

impl Eq for SharedText {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_parts_share_the_whole() {
        let whole = SharedText::from("0123456789".to_owned());
        let part = whole.part(Span::new(2, 8)).unwrap();
        let inner = part.part(Span::new(1, 3)).unwrap();
        assert_eq!(&*inner, "34");
        assert_eq!(inner.span_in(&part), Some(Span::new(1, 3)));
        assert_eq!(inner.span_in(&whole), Some(Span::new(3, 5)));
        assert_eq!(part.span_in(&inner), None);
        assert_eq!(inner.span_in(&SharedText::from("0123456789".to_owned())), None);
        assert!(whole.part(Span::new(0, 10)).unwrap().is_same(&whole) && !part.is_same(&whole));
    }

    #[test]
    fn part_is_inside_the_text_and_between_characters() {
        let text = SharedText::from("é1".to_owned());
        assert!(text.part(Span::new(0, 4)).is_none() && text.part(Span::new(1, 3)).is_none());
        assert!(text.part(Span::new(2, 3)).unwrap().part(Span::new(0, 2)).is_none());
    }

    #[test]
    fn equal_texts_need_not_be_shared() {
        let [a, b] = ["x", "x"].map(|text| SharedText::from(text.to_owned()));
        assert!(a == b && !a.is_same(&b));
        assert_eq!(a.into_string(), "x");
    }
}
