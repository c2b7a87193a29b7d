//! Replacements of one simple scalar by another that need no verification.
//!
//! Parsing the result again dominates the cost of setting one field in a large file, so it is skipped where the result can be proved
//! correct. Builds with debug assertions verify such edits all the same, so every test checks the proof.
//!
//! Conditions:
//!
//! 1. The edit only sets values, and each value became one splice, which replaces exactly the bytes of the old scalar (the comment beside
//!    it may be carried along, unchanged).
//! 2. The old scalar is an element or a value of a *block* collection, without anchor and tag. So it is not a key, not the root, and not in
//!    a flow collection, because these cannot contain block collections.
//! 3. Old and new text have the same style and are simple: plain, or quoted without escapes, on one line ([`simple`]).
//! 4. The new text, decoded and resolved, is the requested value.
//!
//! Proof. All bytes before the scalar are unchanged, so a parser reaches the new scalar in the same state as the old one. It sees a scalar
//! of the same style start: a letter or a digit starts a plain scalar in every state that allows one, and is no `---`, `...` or other
//! indicator. It does not stop early: no character of a simple text ends the scalar (a simple plain scalar contains no space, hence
//! neither ` #` nor `: `). It does not read further: the following bytes are unchanged, and whether they continue a scalar depends on them, on the
//! style and on the indentation of the surrounding collection, but not on the text of the scalar. So the parser continues in the same
//! state, except for the column and the length of the scalar. Neither matters in block style: only a comment can follow on the line,
//! and the length limit of implicit keys applies only before a colon, which would have made the old scalar a key. The rest is parsed
//! as before, and the scalar itself has the value of condition 4.

use super::DocumentEdit;
use super::splice::{Part, Splice};
use crate::document::DocumentRef;
use crate::node::{CollectionStyle, ScalarStyle};
use crate::node_ref::NodeRef;
use crate::scalar::{ScalarType, resolve};
use crate::span::Span;
use crate::value::Value;

/// Whether all splices of a document fulfil the conditions.
pub(crate) fn is_certain(
    document: DocumentRef<'_>,
    edit: &DocumentEdit<'_>,
    splices: &[Splice],
) -> bool {
    let sets_only = edit.collections.is_empty() && edit.keys.is_empty() && edit.comments.is_empty();
    sets_only
        && edit.values.len() == splices.len()
        && edit
            .values
            .iter()
            .zip(splices)
            .all(|((index, value), splice)| is_swap(document.node(index), value, splice))
}

fn is_swap(node: NodeRef<'_>, value: &Value<'_>, splice: &Splice) -> bool {
    let is_in_block =
        node.parent().is_some_and(|parent| parent.collection_style() == CollectionStyle::Block);
    if !is_in_block || node.node().is_key() || node.node().has_properties() {
        return false;
    }
    let (Some(old), Some(new)) = (node.as_scalar(), new_text(node.span(), splice)) else {
        return false;
    };
    let is_same_style = simple(old.raw(), old.style()).is_some();
    is_same_style
        && simple(new, old.style()).is_some_and(|content| {
            let resolved = match old.style() {
                ScalarStyle::Plain => resolve(content),
                _ => ScalarType::String,
            };
            value.is_meant_by_text(content, resolved)
        })
}

/// The text that replaces the bytes of `old`, if the splice changes no others.
fn new_text(old: Span, splice: &Splice) -> Option<&str> {
    let behind = Span::new(old.end, splice.span.end.max(old.end));
    match splice.parts.as_slice() {
        [Part::New(text)] if splice.span == old => Some(text),
        [Part::New(text), Part::Keep(kept)]
            if splice.span.start == old.start && *kept == behind =>
        {
            Some(text)
        }
        _ => None,
    }
}

/// The content of a scalar that is written exactly as it reads, on one line; `None` in case of doubt.
fn simple(raw: &str, style: ScalarStyle) -> Option<&str> {
    let within = |quote: char| {
        let content = raw.strip_prefix(quote)?.strip_suffix(quote)?;
        let as_it_reads = |b: u8| matches!(b, b' '..=b'~') && !matches!(b, b'"' | b'\'' | b'\\');
        content.bytes().all(as_it_reads).then_some(content)
    };
    match style {
        ScalarStyle::Plain => is_simple_plain(raw).then_some(raw),
        ScalarStyle::SingleQuoted => within('\''),
        ScalarStyle::DoubleQuoted => within('"'),
        ScalarStyle::Literal | ScalarStyle::Folded => None,
    }
}

/// Letters and digits, and between them characters without a meaning in block style.
fn is_simple_plain(text: &str) -> bool {
    let bytes = text.as_bytes();
    let is_edge = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphanumeric);
    let is_inner = |byte: &u8| byte.is_ascii_alphanumeric() || b"._/-:".contains(byte);
    is_edge(bytes.first()) && is_edge(bytes.last()) && bytes.iter().all(is_inner)
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use proptest::prelude::*;
    use proptest::test_runner::{Config, RngSeed, TestRunner};

    use super::*;
    use crate::edit::{splice, verify};
    use crate::file::File;

    /// Scalars in many positions; any of them is replaced.
    const TEXTS: &[&str] = &[
        "a: old\nb: 1\n",
        "a: old",
        "a: old # c\n # d\nb: c#d \t\n",
        "a:\n  old\nb:\n    'old'\n\n  # c\nc: 1\n",
        "- old\n- - 'x'\n  - \"y\"\n-\n  z\n",
        "a:\n- old\n- b: c\n  d: \"e\" # f\n",
        "? old\n: x\n? - k\n  - l: m\n: - y\n",
        "%YAML 1.2\n---\na: old\n...\n",
        "--- old\n",
        "--- 'old'\n# c\n",
        "a: [old, 'x', {y: z}, p: q]\nb: {c, d: e, \"f\":g}\n",
        "[a, b]: c\n{d: e}: f\n",
        "a: &x old\nb: *x\nc: !!str 1\nd: ! y\n",
        "a: |\n  old\nb: >-\n  x\n\nc: y\n",
        "a: x\n  y\nb: 'x\n  y'\nc: \"x\\\n  y\"\n",
        "a: old\r\nb: x\r\n",
        "a: \"\"\nb: ''\nc:\nd: ~\n",
        "\"a\": \"old\"\n'b': 'x'\n",
        "<<: old\na: x\na: y\n",
        "{\"a\": \"old\", \"b\": [1, true]}\n",
        "a:\told\n-b: x\n?c: y\n",
    ];

    /// Characters with and without a meaning in YAML.
    const PIECES: &[&str] = &[
        "a", "Z", "0", "7", ".", "_", "/", "-", ":", "x1", "true", "null", "1.5", " ", "\t", "\n",
        "\r", ",", "[", "]", "{", "}", "#", "&", "*", "!", "|", ">", "'", "\"", "%", "@", "`",
        "\\", "~", "?", "=", "é", "---", "...", ": ", " #", "- ", "''", "\\n", "<<",
    ];

    /// The value of a text in this style, if no character in it had a special meaning.
    fn meant(raw: &str, style: ScalarStyle) -> Value<'_> {
        if style != ScalarStyle::Plain {
            return Value::from(raw.get(1..raw.len().saturating_sub(1)).unwrap_or_default());
        }
        match resolve(raw) {
            ScalarType::Null => Value::Null,
            ScalarType::Bool(value) => Value::Bool(value),
            ScalarType::Int(_) | ScalarType::Float(_) => Value::Number(raw.into()),
            ScalarType::String => Value::from(raw),
        }
    }

    /// Replaces any scalar by any text, without the care of a real writer. Returns whether the result was considered certain; if so, it
    /// must verify.
    fn swapped(file: &File, at: usize, content: &str) -> Result<bool, TestCaseError> {
        let document = file.document(0).expect("there is one");
        let node = document.node((at % document.node_count()) as u32);
        let Some(scalar) = node.as_scalar() else { return Ok(false) };
        let raw = match scalar.style() {
            ScalarStyle::SingleQuoted => format!("'{content}'"),
            ScalarStyle::DoubleQuoted => format!("\"{content}\""),
            _ => content.to_owned(),
        };
        let values = [(node.index, meant(&raw, scalar.style()))].into_iter().collect();
        let edit = DocumentEdit { values, ..DocumentEdit::default() };
        let splices = vec![Splice::new(node.span(), raw.clone())];
        let is_certain = is_certain(document, &edit, &splices);
        if is_certain {
            let new = splice::apply(file.text(), document.span(), splices).expect("it is one");
            let changes = crate::edit::SmallMap::default();
            let expected = verify::Expected::new(&edit, &changes, false);
            let read = verify::read_back(document, &expected, new.clone(), None);
            prop_assert!(read.is_ok(), "{raw:?} in {:?}: {new:?} {read:?}", file.text());
        }
        Ok(is_certain)
    }

    #[test]
    fn certain_replacements_verify() {
        let files: Vec<File> =
            TEXTS.iter().map(|text| File::parse((*text).to_owned()).expect("small")).collect();
        let pieces = proptest::collection::vec(proptest::sample::select(PIECES), 0..5);
        let rng_seed = RngSeed::Fixed(0x6b72_6d00);
        let config =
            Config { cases: 500_000, failure_persistence: None, rng_seed, ..Config::default() };
        let certain = Cell::new(0);
        let tried = TestRunner::new(config).run(
            &(0..files.len(), 0..64_usize, pieces),
            |(file, at, pieces)| {
                let is_certain = swapped(&files[file], at, &pieces.concat())?;
                certain.set(certain.get() + u32::from(is_certain));
                Ok(())
            },
        );
        assert_eq!(tried, Ok(()));
        assert!(certain.get() > 20_000, "only {} were certain", certain.get());
    }
}
