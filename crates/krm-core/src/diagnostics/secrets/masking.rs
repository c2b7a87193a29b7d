//! Lines of a source that are shown with an error, and what of them belongs to a Secret.

use std::ops::Range;

use krm_yaml::{DocumentRef, File, Span};

use super::values::{content, find};

/// What stands in the place of a value.
pub(super) const MASK: &str = "***";

/// The bytes of a line that nobody should see.
pub(crate) fn hidden_spans(file: &File, line: Span) -> Vec<Span> {
    let Some(document) = document_at(file, line.start) else { return Vec::new() };
    if !document.text().contains("Secret") {
        return Vec::new();
    }
    let Some(root) = document.root() else { return hidden_in_broken(document, line) };
    let mut found = Vec::new();
    find(root, line, &mut found);
    let mut spans: Vec<Span> =
        found.iter().filter_map(|kept| clip(file, content(kept.value), line)).collect();
    spans.sort();
    spans.dedup();
    spans
}

/// The part of a value that stands on a line, without its indentation.
fn clip(file: &File, value: Span, line: Span) -> Option<Span> {
    let (start, end) = (value.start.max(line.start), value.end.min(line.end));
    let text = Span::new(start.min(end), end).of(file.text());
    let lead = (text.len() - text.trim_start().len()) as u32;
    (start + lead < end).then(|| Span::new(start + lead, end))
}

/// The document that holds a byte; the spans of documents tile the file.
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

/// Of a document that cannot be read nobody knows what is a value: all that follows a colon may be one, and a line
/// without a colon altogether.
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

/// Whether `kind: Secret` is written somewhere, in YAML or JSON.
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

/// A text and a range of it, with bytes of the text hidden; what is inside of them becomes the mask.
pub(crate) fn mask_line(
    text: &str,
    marked: &Range<usize>,
    hidden: &[Range<usize>],
) -> (String, Range<usize>) {
    let (mut out, mut at) = (String::new(), 0);
    let (mut start, mut end) = (None, None);
    for span in hidden {
        out.push_str(&text[at..span.start]);
        // Both ends move with the text before them, and to the edges of the mask inside of it.
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
    let behind = |place: usize| (place as isize + shift) as usize;
    out.push_str(&text[at..]);
    let start = start.unwrap_or_else(|| behind(marked.start));
    (out, start..end.unwrap_or_else(|| behind(marked.end)).max(start))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str, line: u32) -> String {
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
    fn values_of_secrets_are_hidden_wherever_they_stand() {
        let secret = "kind: Secret\nmetadata: {name: a}\ndata: {x: aGk=, y: aG8=}\nstringData:\n  pem: |\n    one\n    two\n";
        assert_eq!(shown(secret, 2), "metadata: {name: a}");
        assert_eq!(shown(secret, 3), "data: {x: ***, y: ***}");
        assert_eq!(shown(secret, 6), "    ***");
        let list = "kind: List\nitems:\n- kind: Secret\n  stringData:\n    pin: 017\n- kind: ConfigMap\n  data: {a: b}\n";
        assert_eq!(shown(list, 5), "    pin: ***");
        assert_eq!(shown(list, 7), "  data: {a: b}");
    }

    #[test]
    fn of_a_secret_that_cannot_be_read_every_value_is_hidden() {
        let broken = "a: [\n---\nkind: Secret\nstringData:\n  pin: \"017\n  word hunter2\n---\nkind: A\nb: [\n";
        assert_eq!(shown(broken, 1), "a: [");
        assert_eq!(shown(broken, 3), "kind: Secret");
        assert_eq!(shown(broken, 5), "  pin: ***");
        assert_eq!(shown(broken, 6), "  ***");
        assert_eq!(shown(broken, 9), "b: [");
        assert!(looks_like_secret("{\"kind\": \"Secret\", "));
        assert!(!looks_like_secret("kind: SecretStore\nname: Secret\n"));
    }

    #[test]
    fn a_mark_moves_with_the_text() {
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
