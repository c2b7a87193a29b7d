//! A quick test whether a document can have duplicate keys, for readers that report them.
//!
//! Every command that reads a file asks this, so that the fast parser sees it while it reads keys (`fast_parser/keys.rs`). For all other
//! documents there is one pass over the table, without an allocation; keys are only compared if they have the same bit in a small filter of
//! their length, first and last byte. What would take more is left to an exact search.

use crate::document::{Document, ParsedBy};
use crate::node::{NodeKind, ScalarStyle};
use crate::span::Span;
use crate::{DocumentRef, File};

/// The keys of all open mappings together. Documents with more are left to an exact search.
const MAX_KEYS: usize = 128;

/// The depth of mappings. Deeper documents are left to an exact search.
const MAX_DEPTH: usize = 32;

impl DocumentRef<'_> {
    /// Whether a mapping of the document may have a key twice. If not, it certainly has none; otherwise the keys have to be compared.
    ///
    /// ```
    /// let file = krm_yaml::File::parse("a: 1\nb: {a: 2}\n---\na: 1\n'a': 2\n".to_owned())?;
    /// let found: Vec<bool> = file.documents().map(|it| it.may_have_duplicate_keys()).collect();
    /// assert_eq!(found, [false, true]);
    /// # Ok::<(), krm_yaml::ReadError>(())
    /// ```
    pub fn may_have_duplicate_keys(self) -> bool {
        let search = || may_have_duplicate_keys(self.table(), self.file);
        if let ParsedBy::Fast { has_unique_keys: true } = self.table().parsed_by {
            debug_assert_ne!(search(), Some(true), "the fast parser missed a duplicate key");
            return false;
        }
        search().unwrap_or(true)
    }
}

/// A mapping whose keys are being read.
#[derive(Clone, Copy)]
struct Level {
    /// The index after its last node.
    end: u32,
    /// Its first key among those of all open mappings.
    first: usize,
    /// A bit for each key: most new keys need no comparison.
    seen: u64,
}

/// One pass over the table. `None` if that needs an exact search.
fn may_have_duplicate_keys(table: &Document, file: &File) -> Option<bool> {
    let text = file.text().as_bytes();
    // The fast parser reads keys of one line only.
    let is_one_line = matches!(table.parsed_by, ParsedBy::Fast { .. });
    let mut open = [Level { end: u32::MAX, first: 0, seen: 0 }; MAX_DEPTH];
    let mut keys = [Span::empty(0); MAX_KEYS];
    let (mut depth, mut count) = (0, 0);
    for (at, node) in (0_u32..).zip(&table.nodes) {
        if node.is_key() {
            while open[depth].end <= at {
                count = open[depth].first;
                depth -= 1;
            }
            let mut span = node.leaf_span();
            match node.kind() {
                NodeKind::Scalar(ScalarStyle::Plain) => {}
                NodeKind::Scalar(ScalarStyle::DoubleQuoted) => span = inner(span, b'\\', text)?,
                NodeKind::Scalar(ScalarStyle::SingleQuoted) => span = inner(span, b'\'', text)?,
                _ => return None,
            }
            let key = &text[span.start as usize..span.end as usize];
            if !is_one_line && key.contains(&b'\n') {
                return None;
            }
            let level = &mut open[depth];
            let bit = bit(key);
            if level.seen & bit != 0 && is_among(key, &keys[level.first..count], text) {
                return Some(true);
            }
            level.seen |= bit;
            *keys.get_mut(count)? = span;
            count += 1;
        } else if node.kind() == NodeKind::Mapping {
            depth += 1;
            *open.get_mut(depth)? = Level { end: node.subtree_end(at), first: count, seen: 0 };
        }
    }
    Some(false)
}

/// The text between quotes; `None` if it has an escape.
pub(crate) fn inner(quoted: Span, escape: u8, text: &[u8]) -> Option<Span> {
    let span = Span::new(quoted.start + 1, quoted.end.checked_sub(1)?);
    let has_escape = text.get(span.start as usize..span.end as usize)?.contains(&escape);
    (!has_escape).then_some(span)
}

/// A bit for the length, the first and the last byte of a key.
#[inline]
pub(crate) fn bit(key: &[u8]) -> u64 {
    let ends = match key {
        [first, .., last] => u32::from(*first) | u32::from(*last) << 8,
        [only] => u32::from(*only),
        [] => 0,
    };
    let mixed = (ends | (key.len() as u32) << 16).wrapping_mul(0x9e37_79b1);
    1 << (mixed >> 26)
}

/// Whether a mapping has a key with this text already. Merge keys (`<<`), which may occur more than once, are left to an exact search.
fn is_among(key: &[u8], before: &[Span], text: &[u8]) -> bool {
    let is_same = |span: &Span| {
        span.len() as usize == key.len() && &text[span.start as usize..span.end as usize] == key
    };
    before.iter().any(is_same)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> bool {
        File::parse(text.to_owned()).unwrap().document(0).unwrap().may_have_duplicate_keys()
    }

    #[test]
    fn repeated_keys_of_any_spelling_are_found() {
        for text in [
            "a: 1\na: 2\n",
            "a: 1\n'a': 2\n",
            "\"a\": 1\n'a': 2\n",
            "a: 1\n\"\\x61\": 2\n",
            "x: {a: 1, b: {c: 1}, a: 2}\n",
            "- a:\n    b: 1\n  c: 1\n  a: 2\n",
            "x: &k a\ny:\n  *k : 1\n  a: 2\n",
            "? a\n  b\n: 1\na b: 2\n",
            "'': 1\n\"\": 2\n",
            "? |\n  a\n: 1\n? |\n  a\n: 2\n",
            "long-key-of-many-bytes: 1\nb: 1\nlong-key-of-many-bytes: 2\n",
            "a:\n  b: 1\n  c: {d: 1}\n  b: 1\n",
            "a: {b: {c: 1}}\nd: 1\na: 2\n",
        ] {
            assert!(found(text), "{text}");
        }
    }

    #[test]
    fn keys_of_other_mappings_are_not_found() {
        for text in [
            "a: 1\nb: {a: 2, c: [{a: 3}, {a: 4}]}\nc:\n  a: 1\nd:\n  a: 1\n",
            "- a: 1\n- a: 1\n",
            "x: &x {a: 1}\nz:\n  <<: *x\n",
            "a: 1\nab: 2\nabcd: 3\nabcde: 4\nabcdefgh: 5\nabcdefghi: 6\nabcdefgi: 7\nbbcdefghi: 8\n",
            "a: a\nb: a\n",
            "a scalar\n",
            "[a, a]\n",
        ] {
            assert!(!found(text), "{text}");
        }
    }

    #[test]
    fn large_and_deep_documents_are_left_to_an_exact_search() {
        let text: String = (0..MAX_KEYS).map(|at| format!("key-{at}: {at}\n")).collect();
        assert!(found(&format!("{text}key-7: 1\n")) && found(&format!("{text}key-127: 1\n")));
        let nested = |depth: usize| format!("{}1{}\n", "{a: ".repeat(depth), "}".repeat(depth));
        assert!(!found(&nested(MAX_DEPTH - 1)));
        // An anchor makes the complete parser read the document.
        let complete = |text: &str| found(&format!("anchor: &a 1\n{text}"));
        assert!(!complete("b: 1\nc: {b: 1}\n") && complete("b: 1\nc: 1\nb: 1\n"));
        assert!(complete(&text) && complete(&format!("b: {}", nested(MAX_DEPTH))));
    }

    /// All keys of every mapping, compared with each other.
    fn has_duplicates(file: &File) -> bool {
        let document = file.document(0).unwrap();
        (0..document.node_count() as u32).any(|at| {
            let mapping = document.node(at).as_mapping();
            let entries = mapping.into_iter().flat_map(|it| it.entries());
            let mut keys: Vec<String> = entries
                .filter_map(|it| it.key.as_scalar().map(|key| key.value().into_owned()))
                .collect();
            let count = keys.len();
            keys.sort();
            keys.dedup();
            keys.len() < count
        })
    }

    #[test]
    fn no_duplicate_of_generated_documents_is_missed() {
        let keys = ["a", "b", "ab", "'a'", "\"b\"", "\"\\x61\"", "aXb", "aYb", "name", "kind"];
        let mut state = 7_u64;
        let mut below = |limit: u64| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 33) % limit
        };
        let (mut unique, mut repeated) = (0, 0);
        for _ in 0..2000 {
            let mut text = String::new();
            let mut depth = 0;
            for _ in 0..1 + below(8) {
                let key = keys[below(10) as usize];
                let indent = "  ".repeat(depth);
                match below(5) {
                    0 => {
                        text += &format!("{indent}{key}:\n");
                        depth += 1;
                    }
                    1 => {
                        let other = keys[below(10) as usize];
                        text += &format!("{indent}{key}: {{a: 1, {other}: 2}}\n");
                    }
                    2 => {
                        text += &format!("{indent}{key}: 1\n");
                        depth = depth.saturating_sub(1);
                    }
                    _ => text += &format!("{indent}{key}: 1\n"),
                }
            }
            let file = File::parse(text.clone()).unwrap();
            let Some(document) = file.document(0).filter(|it| it.error().is_none()) else {
                continue;
            };
            match has_duplicates(&file) {
                true => {
                    assert!(document.may_have_duplicate_keys(), "{text}");
                    repeated += 1;
                }
                false => unique += usize::from(!document.may_have_duplicate_keys()),
            }
        }
        assert!(unique > 100 && repeated > 100, "{unique} unique, {repeated} repeated");
    }
}
