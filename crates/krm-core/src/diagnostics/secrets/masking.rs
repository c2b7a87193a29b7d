//! Masks the values of Secrets in source lines and in the parameters of messages.

use std::ops::Range;

use krm_yaml::{DocumentRef, File, NodeRef, Span};

use super::values::{SecretValue, content, find};

/// The text that replaces a secret value.
pub(super) const MASK: &str = "***";

/// The spans of a line that belong to values of Secrets.
pub(crate) fn hidden_spans(file: &File, line: Span) -> Vec<Span> {
    let Some(document) = document_at(file, line.start) else { return Vec::new() };
    if !document.text().contains("Secret") {
        return Vec::new();
    }
    let Some(root) = document.root() else { return hidden_in_broken(document, line) };
    let mut found = Vec::new();
    find(root, line, &mut found);
    let mut spans: Vec<Span> =
        found.iter().filter_map(|secret| clip(file, content(secret.value), line)).collect();
    spans.sort();
    spans.dedup();
    spans
}

/// The texts that a message about a span must not quote: every secret value whose entry overlaps the lines of the span.
///
/// The parameter of a message is what a value means, which is not what the marked line shows: a block scalar has several lines, a quoted
/// string is unescaped, and an error at a key may quote the value below it. So this has the source text and the meaning of the value,
/// as a whole and by line.
pub(crate) fn hidden_texts(file: &File, span: Span) -> Vec<String> {
    let line = file.line_at(span.start);
    let within = Span::new(line.start, span.end.max(line.end));
    let Some(document) = document_at(file, line.start) else { return Vec::new() };
    if !document.text().contains("Secret") {
        return Vec::new();
    }
    let Some(root) = document.root() else {
        let broken = hidden_in_broken(document, line);
        return broken.iter().map(|span| span.of(file.text()).to_owned()).collect();
    };
    let mut found = Vec::new();
    find(root, within, &mut found);
    let is_near =
        |it: &SecretValue<'_>| it.entry.start <= within.end && within.start <= it.entry.end;
    let mut texts: Vec<String> = Vec::new();
    for value in found.iter().filter(|it| is_near(it)).map(|it| it.value) {
        texts.push(content(value).of(file.text()).to_owned());
        let target = value.resolve();
        for scalar in
            std::iter::once(target).chain(target.descendants()).filter_map(NodeRef::as_scalar)
        {
            let meaning = scalar.value();
            texts.extend(meaning.lines().map(|line| line.trim().to_owned()));
            texts.push(meaning.trim().to_owned());
        }
    }
    texts.retain(|text| !text.is_empty());
    texts.sort();
    texts.dedup();
    texts
}

/// The part of a value that is on a line, without its indentation.
fn clip(file: &File, value: Span, line: Span) -> Option<Span> {
    let (start, end) = (value.start.max(line.start), value.end.min(line.end));
    let text = Span::new(start.min(end), end).of(file.text());
    let lead = (text.len() - text.trim_start().len()) as u32;
    (start + lead < end).then(|| Span::new(start + lead, end))
}

/// The document at a byte offset. The spans of documents cover the file without gaps.
fn document_at(file: &File, at: u32) -> Option<DocumentRef<'_>> {
    let (mut low, mut high) = (0, file.documents().len());
    while low < high {
        let middle = low + (high - low) / 2;
        match file.document(middle).is_some_and(|document| document.span().end <= at) {
            true => low = middle + 1,
            false => high = middle,
        }
    }
    file.document(low.min(file.documents().len().checked_sub(1)?))
}

/// The secret parts of a line in a document with syntax errors. What is a value is not known there, so everything after a colon is
/// masked, and a line without a colon as a whole.
fn hidden_in_broken(document: DocumentRef<'_>, line: Span) -> Vec<Span> {
    let text = line.of(document.file().text());
    if !looks_like_secret(document.text()) || looks_like_secret(text) {
        return Vec::new();
    }
    let from = text.find(": ").map_or(0, |colon| colon + 1);
    let is_key_alone = from == 0 && text.trim_end().ends_with(':');
    let start = from + text[from..].len() - text[from..].trim_start().len();
    let span = Span::new(line.start + start as u32, line.start + text.trim_end().len() as u32);
    let is_comment = text[start..].starts_with('#');
    if is_key_alone || is_comment || span.start >= span.end { Vec::new() } else { vec![span] }
}

/// Whether a text contains `kind: Secret`, in YAML or JSON.
fn looks_like_secret(text: &str) -> bool {
    let quotes = |c: char| c == '"' || c == '\'' || c == ' ';
    text.match_indices("Secret").any(|(at, word)| {
        let before = text[..at].trim_end_matches(quotes).strip_suffix(':');
        let is_kind =
            before.is_some_and(|before| before.trim_end_matches(quotes).ends_with("kind"));
        let after = text[at + word.len()..].chars().next();
        is_kind && after.is_none_or(|c| !c.is_alphanumeric())
    })
}

/// Replaces the hidden ranges of a text with the mask, and moves the marked range along. An end inside a hidden range moves to the edge
/// of the mask.
pub(crate) fn mask_line(
    text: &str,
    marked: &Range<usize>,
    hidden: &[Range<usize>],
) -> (String, Range<usize>) {
    let (mut out, mut at) = (String::new(), 0);
    let (mut start, mut end) = (None, None);
    for span in hidden {
        out.push_str(&text[at..span.start]);
        let shift = out.len() as isize - span.start as isize;
        let moved = |place: usize, inside: usize| match place {
            place if place <= span.start => Some((place as isize + shift) as usize),
            place if place < span.end => Some(inside),
            _ => None,
        };
        start = start.or_else(|| moved(marked.start, out.len()));
        end = end.or_else(|| moved(marked.end, out.len() + MASK.len()));
        out.push_str(MASK);
        at = span.end;
    }
    let shift = out.len() as isize - at as isize;
    let after_last = |place: usize| (place as isize + shift) as usize;
    out.push_str(&text[at..]);
    let start = start.unwrap_or_else(|| after_last(marked.start));
    (out, start..end.unwrap_or_else(|| after_last(marked.end)).max(start))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn masked_line(text: &str, line: u32) -> String {
        let file = File::parse(text.to_owned()).unwrap();
        let start: usize = text.split_inclusive('\n').take(line as usize - 1).map(str::len).sum();
        let line = file.line_at(start as u32);
        let spans = hidden_spans(&file, line);
        let ranges: Vec<Range<usize>> = spans
            .iter()
            .map(|span| (span.start - line.start) as usize..(span.end - line.start) as usize)
            .collect();
        mask_line(line.of(text), &(0..0), &ranges).0
    }

    #[test]
    fn values_of_secrets_are_masked_at_any_depth() {
        let secret = "kind: Secret\nmetadata: {name: a}\ndata: {x: aGk=, y: aG8=}\nstringData:\n  pem: |\n    one\n    two\n";
        assert_eq!(masked_line(secret, 2), "metadata: {name: a}");
        assert_eq!(masked_line(secret, 3), "data: {x: ***, y: ***}");
        assert_eq!(masked_line(secret, 6), "    ***");
        let list = "kind: List\nitems:\n- kind: Secret\n  stringData:\n    pin: 017\n- kind: ConfigMap\n  data: {a: b}\n";
        assert_eq!(masked_line(list, 5), "    pin: ***");
        assert_eq!(masked_line(list, 7), "  data: {a: b}");
    }

    #[test]
    fn every_value_of_an_invalid_secret_is_masked() {
        let broken = "a: [\n---\nkind: Secret\nstringData:\n  pin: \"017\n  pass hunter2\n---\nkind: A\nb: [\n";
        assert_eq!(masked_line(broken, 1), "a: [");
        assert_eq!(masked_line(broken, 3), "kind: Secret");
        assert_eq!(masked_line(broken, 5), "  pin: ***");
        assert_eq!(masked_line(broken, 6), "  ***");
        assert_eq!(masked_line(broken, 9), "b: [");
        assert!(looks_like_secret("{\"kind\": \"Secret\", "));
        assert!(!looks_like_secret("kind: SecretStore\nname: Secret\n"));
    }

    fn hidden_texts_at(text: &str, marked: &str) -> Vec<String> {
        let file = File::parse(text.to_owned()).unwrap();
        let start = text.find(marked).unwrap() as u32;
        hidden_texts(&file, Span::new(start, start + marked.len() as u32))
    }

    #[test]
    fn hidden_texts_are_whole_values_not_marked_lines() {
        let secret = "kind: Secret\nstringData:\n  pem: |\n    one\n    two\n  key: \"a\\tb\"\n";
        for marked in ["pem", "|\n    one", "one\n    two", "two"] {
            let texts = hidden_texts_at(secret, marked);
            for hidden in ["one\ntwo", "one", "two"] {
                assert!(texts.iter().any(|text| text == hidden), "{marked:?}: {texts:?}");
            }
        }
        let escaped = hidden_texts_at(secret, "key");
        assert!(escaped.iter().any(|text| text == "a\tb"), "the unescaped value: {escaped:?}");
        assert!(hidden_texts_at(secret, "kind").is_empty());
    }

    #[test]
    fn marked_range_moves_with_the_text() {
        let of = |marked: Range<usize>| {
            let (text, marked) = mask_line("k: value # c", &marked, std::slice::from_ref(&(3..8)));
            text[marked].to_owned()
        };
        assert_eq!(of(0..1), "k");
        assert_eq!(of(3..8), "***");
        assert_eq!(of(5..6), "***");
        assert_eq!(of(9..12), "# c");
        assert_eq!(of(0..12), "k: *** # c");
    }
}
