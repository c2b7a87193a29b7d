//! A new text of a file, stored as its difference to the old one: most of a file stays, and a large package has many files.

/// A new text of a file, relative to the old text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextChange {
    /// How many bytes of the old text are kept before and after the new part.
    kept: [usize; 2],
    middle: Box<str>,
}

impl TextChange {
    /// A text that does not depend on the old one.
    pub fn whole(text: String) -> Self {
        Self { kept: [0, 0], middle: text.into() }
    }

    /// The change from an old text to a new one.
    pub(super) fn between(old: &str, new: &str) -> Self {
        let same = |(one, other): &(u8, u8)| one == other;
        let mut front = old.bytes().zip(new.bytes()).take_while(same).count();
        while !old.is_char_boundary(front) {
            front -= 1;
        }
        let (old, new) = (&old[front..], &new[front..]);
        let mut back = old.bytes().rev().zip(new.bytes().rev()).take_while(same).count();
        while !old.is_char_boundary(old.len() - back) {
            back -= 1;
        }
        Self { kept: [front, back], middle: new[..new.len() - back].into() }
    }

    /// The new text, where `old` is the old one; empty for a new file. Does not copy where all of it is new.
    pub(super) fn into_text(self, old: &str) -> String {
        if self.kept == [0, 0] { self.middle.into() } else { self.apply(old) }
    }

    /// The new text, where `old` is the old one; empty for a new file.
    pub fn apply(&self, old: &str) -> String {
        let [front, back] = self.kept;
        [&old[..front], &self.middle, &old[old.len() - back..]].concat()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn new_text_is_restored_from_the_old_one() {
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
            let text = TextChange::between(old, new);
            assert_eq!((text.apply(old).as_str(), &*text.middle), (new, middle), "{old:?}");
            assert_eq!(TextChange::whole(new.to_owned()).apply(old), new);
            assert_eq!(text.into_text(old), new);
        }
    }
}
