//! Choices from bytes: the same bytes make the same choices, and missing bytes make the simplest ones.
//!
//! So a property test shrinks a document by shrinking bytes, and a fuzzer that flips bytes flips choices.

/// A source of choices.
#[derive(Debug)]
pub(crate) struct Draw<'b> {
    bytes: &'b [u8],
}

impl<'b> Draw<'b> {
    pub(crate) fn new(bytes: &'b [u8]) -> Self {
        Self { bytes }
    }

    /// Whether all bytes are used, so that further choices are the simplest ones.
    pub(crate) fn is_spent(&self) -> bool {
        self.bytes.is_empty()
    }

    fn byte(&mut self) -> u8 {
        let Some((&first, rest)) = self.bytes.split_first() else { return 0 };
        self.bytes = rest;
        first
    }

    /// A number below `bound`.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        match bound {
            0 | 1 => 0,
            2..=256 => usize::from(self.byte()) % bound,
            _ => (usize::from(self.byte()) << 8 | usize::from(self.byte())) % bound,
        }
    }

    /// True once in `of` times; false when no bytes are left.
    pub(crate) fn once_in(&mut self, of: usize) -> bool {
        self.below(of) + 1 == of && of > 1
    }

    /// True in `percent` of a hundred times; false when no bytes are left.
    pub(crate) fn percent(&mut self, percent: usize) -> bool {
        self.below(100) >= 100 - percent.min(100)
    }

    /// One of several values.
    pub(crate) fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }
}
