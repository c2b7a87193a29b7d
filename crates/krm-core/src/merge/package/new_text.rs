//! A new text, held as what is not the old one: most of a file stays, and many files are held at once.

/// What a file says instead of what it said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewText {
    /// How many bytes of the old text stay before and behind what is new.
    kept: [usize; 2],
    middle: Box<str>,
}

impl NewText {
    /// All of a text, whatever stood there.
    pub fn whole(text: String) -> Self {
        Self { kept: [0, 0], middle: text.into() }
    }

    /// A text in the place of another.
    pub(super) fn of(old: &str, new: &str) -> Self {
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

    /// The text, where `old` is what stands there; nothing for a file that is new. Without a copy where all of it is new.
    pub(super) fn into_text(self, old: &str) -> String {
        if self.kept == [0, 0] { self.middle.into() } else { self.on(old) }
    }

    /// The same, and it stays.
    pub fn on(&self, old: &str) -> String {
        let [front, back] = self.kept;
        [&old[..front], &self.middle, &old[old.len() - back..]].concat()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_new_text_comes_back_whatever_stays_of_the_old_one() {
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
            // The last byte of both is the same.
            ("x: \u{e9}\n", "x: \u{2a9}\n", "\u{2a9}"),
            ("same", "same", ""),
        ] {
            let text = NewText::of(old, new);
            assert_eq!((text.on(old).as_str(), &*text.middle), (new, middle), "{old:?}");
            assert_eq!(NewText::whole(new.to_owned()).on(old), new);
            assert_eq!(text.into_text(old), new);
        }
    }
}
