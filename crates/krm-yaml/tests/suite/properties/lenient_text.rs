//! Texts that Kubernetes reads although YAML 1.2 forbids them: valid texts with some bytes replaced, in every way that the library accepts.

use std::ops::Range;

use krm_yaml::{CollectionStyle, File, NodeKind, NodeRef, ReadOptions, ScalarStyle};

use super::draw::Draw;

/// A place of a text that can be written in another way.
type Place = (Range<usize>, &'static str);

/// The text with some places written as only Kubernetes accepts them; `None` if it has no such place.
pub(crate) fn lenient(draw: &mut Draw<'_>, text: &str) -> Option<String> {
    let file = File::parse(text.to_owned()).ok().filter(|file| file.errors().next().is_none())?;
    let mut places = comments(&file);
    for root in file.documents().filter_map(|document| document.root()) {
        for node in root.descendants() {
            scalar(draw, node, &mut places);
            flow_collection(draw, node, &mut places);
        }
    }
    places.retain(|_| !draw.once_in(3));
    places.sort_by_key(|(range, _)| (range.start, range.end));
    let mut new = String::new();
    let mut at = 0;
    for (range, replacement) in places {
        if range.start >= at {
            new.push_str(&text[at..range.start]);
            new.push_str(replacement);
            at = range.end;
        }
    }
    new.push_str(&text[at..]);
    is_lenient(&new).then_some(new)
}

/// Whether a text is read by default, and refused by the strict parser.
pub(crate) fn is_lenient(text: &str) -> bool {
    let has_error = |strict| {
        let options = ReadOptions { strict, ..ReadOptions::default() };
        let file = File::parse_with(text.to_owned(), options);
        file.is_ok_and(|file| file.errors().next().is_some())
    };
    has_error(true) && !has_error(false)
}

/// Comments lose the space before them after a quote, a bracket, the header of a block scalar and a marker.
fn comments(file: &File) -> Vec<Place> {
    let text = file.text();
    let comments = file.documents().flat_map(|document| document.comments());
    let places = comments.filter_map(|comment| {
        let end = comment.span.start as usize;
        let before = text[..end].trim_end_matches([' ', '\t']);
        let word = before.rsplit([' ', '\t', '\n', '\r']).next().unwrap_or_default();
        let is_separate = before.ends_with(['"', '\'', ']', '}'])
            || word.starts_with(['|', '>'])
            || (word == "---" && before.len() < end);
        is_separate.then_some((before.len()..end, ""))
    });
    places.collect()
}

/// Continuation lines of a quoted scalar lose their indentation or get a tab, and a double-quoted scalar gets an escaped quote.
fn scalar(draw: &mut Draw<'_>, node: NodeRef<'_>, places: &mut Vec<Place>) {
    let NodeKind::Scalar(style) = node.kind() else { return };
    let start = node.span().start as usize;
    let raw = node.text();
    if style == ScalarStyle::DoubleQuoted && draw.once_in(4) {
        places.push((start + 1..start + 1, "\\'"));
    }
    if matches!(style, ScalarStyle::DoubleQuoted | ScalarStyle::SingleQuoted) {
        continuation_lines(draw, raw, start, places);
    }
}

/// Lines inside a flow collection get a tab, and a flow sequence an element `-`.
fn flow_collection(draw: &mut Draw<'_>, node: NodeRef<'_>, places: &mut Vec<Place>) {
    if !node.is_collection() || node.collection_style() != CollectionStyle::Flow {
        return;
    }
    let start = node.start() as usize;
    if node.kind() == NodeKind::Sequence && node.children().next().is_some() && draw.once_in(3) {
        places.push((start + 1..start + 1, "-, "));
    }
    let text = node.document().file().text();
    let mut at = start;
    let leaves = node.descendants().filter(|leaf| !leaf.is_collection());
    let ends = leaves.map(|leaf| (leaf.start() as usize, leaf.end() as usize));
    for (from, to) in ends.chain([(node.end() as usize, node.end() as usize)]) {
        if let Some(gap) = text.get(at..from) {
            continuation_lines(draw, gap, at, places);
        }
        at = at.max(to);
    }
}

/// Replaces the indentation of the lines of a part that starts at `start`.
fn continuation_lines(draw: &mut Draw<'_>, part: &str, start: usize, places: &mut Vec<Place>) {
    for (line, _) in part.match_indices('\n') {
        let rest = &part[line + 1..];
        let content = rest.trim_start_matches([' ', '\t']);
        if !content.is_empty() && !content.starts_with(['\n', '\r', '#']) {
            let from = start + line + 1;
            places.push((from..from + rest.len() - content.len(), draw.pick(&["", "\t", " "])));
        }
    }
}
