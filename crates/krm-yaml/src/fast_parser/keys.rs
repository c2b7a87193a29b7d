//! Whether a mapping has a key twice, which is cheap to see while the key is read.

use super::FastParser;
use super::bytes::Bytes;
use crate::key_filter::{bit, inner};
use crate::node::{Node, NodeKind, ScalarStyle};
use crate::span::Span;

/// With how many keys a key is compared. Larger mappings are left to an exact search, which does not compare every key with all others.
const MAX_COMPARED: usize = 64;

impl FastParser<'_> {
    /// Compares a new key with those of its mapping, of which `seen` has a bit each, and returns the bits with that of the key.
    #[inline]
    pub(super) fn compare_key(
        &mut self,
        key: Span,
        style: ScalarStyle,
        mapping: u32,
        seen: u64,
    ) -> u64 {
        let Some(key) = key_text(self.bytes, key, style) else {
            // Escapes have many spellings.
            self.has_repeated_keys = true;
            return seen;
        };
        let bit = bit(key);
        if seen & bit != 0 && !self.has_repeated_keys {
            self.has_repeated_keys = self.may_have_key(mapping, key);
        }
        seen | bit
    }

    /// Whether a mapping that is being read may have this key already.
    fn may_have_key(&self, mapping: u32, key: &[u8]) -> bool {
        let mut at = mapping + 1;
        for _ in 0..MAX_COMPARED {
            let entry = self.nodes.get(at as usize).zip(self.nodes.get(at as usize + 1));
            let Some((other, value)) = entry else { return false };
            if text_of(self.bytes, *other) == Some(key) {
                return true;
            }
            at = value.subtree_end(at + 1);
        }
        true
    }
}

/// The text of a key without quotes; none if it has escapes.
#[inline]
fn key_text(bytes: Bytes<'_>, key: Span, style: ScalarStyle) -> Option<&[u8]> {
    let text = bytes.all();
    let key = match style {
        ScalarStyle::Plain => key,
        ScalarStyle::DoubleQuoted => inner(key, b'\\', text)?,
        _ => inner(key, b'\'', text)?,
    };
    text.get(key.start as usize..key.end as usize)
}

fn text_of(bytes: Bytes<'_>, key: Node) -> Option<&[u8]> {
    match key.kind() {
        NodeKind::Scalar(style) => key_text(bytes, key.leaf_span(), style),
        _ => None,
    }
}
