//! The new text of a file, stored as what replaces parts of the old one: most of a file stays, and a large package has many files.

use std::borrow::Cow;

use krm_yaml::{SharedText, Span};

/// The new text of a file. It is put together where it is needed, and until then shares the bytes of the old text and of the new parts.
///
/// ```
/// use krm_core::FileText;
/// use krm_yaml::{SharedText, Span};
///
/// let old = SharedText::from("a: 1\nb: 1\n".to_owned());
/// let new = FileText::replacing(old, vec![(Span::new(3, 4), "2".to_owned().into())]);
/// assert_eq!(new.text(), "a: 2\nb: 1\n");
/// assert_eq!(FileText::from("c: 3\n".to_owned()).text(), "c: 3\n");
/// ```
#[derive(Clone, Debug)]
pub struct FileText(Parts);

#[derive(Clone, Debug)]
enum Parts {
    Whole(SharedText),
    /// The old text, and what replaces ranges of it, in order.
    Replaced(SharedText, Box<[(Span, SharedText)]>),
}

impl FileText {
    /// An old text with ranges replaced, which are in order and do not overlap.
    ///
    /// # Panics
    /// If a range is not one of the old text.
    pub fn replacing(old: SharedText, parts: Vec<(Span, SharedText)>) -> Self {
        debug_assert!(parts.is_sorted_by(|(one, _), (next, _)| one.end <= next.start));
        Self(Parts::Replaced(old, parts.into()))
    }

    /// A text that is similar to an old one, and shares what both begin and end with.
    pub(crate) fn between(old: &SharedText, new: &str) -> Self {
        let same = |(one, other): &(u8, u8)| one == other;
        let mut front = old.bytes().zip(new.bytes()).take_while(same).count();
        while !old.is_char_boundary(front) {
            front -= 1;
        }
        let (old_rest, new_rest) = (&old[front..], &new[front..]);
        let mut back = old_rest.bytes().rev().zip(new_rest.bytes().rev()).take_while(same).count();
        while !old_rest.is_char_boundary(old_rest.len() - back) {
            back -= 1;
        }
        let middle = new_rest[..new_rest.len() - back].to_owned();
        match u32::try_from(old.len() - back) {
            Ok(end) => {
                Self::replacing(old.clone(), vec![(Span::new(front as u32, end), middle.into())])
            }
            Err(_) => Self::from(new.to_owned()),
        }
    }

    /// The whole text. Copies only where a part of the old text is kept.
    pub fn text(&self) -> Cow<'_, str> {
        match &self.0 {
            Parts::Whole(text) => Cow::Borrowed(text),
            Parts::Replaced(..) => {
                let pieces: Vec<&str> = self.pieces().collect();
                Cow::Owned(pieces.concat())
            }
        }
    }

    /// The whole text as a string of its own. Does not copy where all of it is new and nobody shares it.
    pub fn into_text(self) -> String {
        match self.0 {
            Parts::Whole(text) => text.into_string(),
            Parts::Replaced(..) => self.text().into_owned(),
        }
    }

    /// The pieces of the text, in order.
    fn pieces(&self) -> impl Iterator<Item = &str> {
        let (old, parts, mut at) = match &self.0 {
            Parts::Whole(text) => (&**text, &[][..], 0),
            Parts::Replaced(old, parts) => (&**old, &**parts, 0),
        };
        let rest = parts.last().map_or(0, |(span, _)| span.end as usize);
        let replaced = parts.iter().flat_map(move |(span, new)| {
            let kept = &old[at..span.start as usize];
            at = span.end as usize;
            [kept, &**new]
        });
        replaced.chain([&old[rest..]])
    }
}

impl From<SharedText> for FileText {
    fn from(text: SharedText) -> Self {
        Self(Parts::Whole(text))
    }
}

impl From<String> for FileText {
    fn from(text: String) -> Self {
        SharedText::from(text).into()
    }
}

impl PartialEq<str> for FileText {
    fn eq(&self, other: &str) -> bool {
        let length: usize = self.pieces().map(str::len).sum();
        let mut rest = other;
        // Most texts have another length, and others differ early.
        length == other.len()
            && self.pieces().all(|piece| match rest.strip_prefix(piece) {
                Some(behind) => {
                    rest = behind;
                    true
                }
                None => false,
            })
    }
}

impl PartialEq for FileText {
    fn eq(&self, other: &Self) -> bool {
        *self == *other.text()
    }
}

impl Eq for FileText {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn similar_text_shares_its_beginning_and_end() {
        for (old, new, middle) in [
            ("a: 1\nb: 2\n", "a: 1\nb: 3\n", "3"),
            ("a: 1\n", "a: 1\nb: 2\n", "b: 2\n"),
            ("a: 1\nb: 2\n", "b: 2\n", ""),
            ("aaa", "aa", ""),
            ("aa", "aaa", "a"),
            ("", "a", "a"),
            ("a", "", ""),
            ("ä", "ö", "ö"),
            ("xéy", "xèy", "è"),
            // Both end with the same byte of different characters.
            ("x: \u{e9}\n", "x: \u{2a9}\n", "\u{2a9}"),
            ("same", "same", ""),
        ] {
            let text = FileText::between(&old.to_owned().into(), new);
            let Parts::Replaced(_, parts) = &text.0 else { panic!("{text:?}") };
            assert_eq!((&*text.text(), &*parts[0].1), (new, middle), "{old:?}");
            let whole = FileText::from(new.to_owned());
            assert_eq!(text, whole);
            for text in [text, whole] {
                assert_eq!(text == *old, old == new, "{old:?}");
                assert!(text == *new);
                assert_eq!(text.into_text(), new);
            }
        }
    }

    #[test]
    fn several_parts_are_replaced() {
        let part = |start, end, new: &str| (Span::new(start, end), new.to_owned().into());
        let new = |parts| FileText::replacing("abcd".to_owned().into(), parts);
        let text = new(vec![part(0, 1, "x"), part(1, 2, ""), part(4, 4, "y")]);
        assert_eq!(text.text(), "xcdy");
        assert!(text != *"abcd" && text != *"xcdz" && text == *"xcdy");
        assert!(new(vec![part(0, 1, "a")]) == *"abcd");
        assert_eq!(new(Vec::new()).text(), "abcd");
    }
}
