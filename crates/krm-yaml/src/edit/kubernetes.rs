//! Keeps an edited document readable for Kubernetes' own reader, which refuses or misreads some text that YAML 1.2 allows.
//!
//! An edit can turn harmless text into such a hazard: a quoted value before a blank line with a tab, an empty value directly before a
//! bracket, a value for a key of several lines. Hazards are looked for in the verified result, and removed if the document had none of that kind
//! before. A document that already had some is left alone: Kubernetes did not read it before, and nobody asked to change those bytes.

use super::splice::{Splice, apply};
use crate::document::DocumentRef;
use crate::node::{NodeKind, ScalarStyle};
use crate::node_ref::NodeRef;
use crate::span::{Span, is_break, line_end, line_start};
use crate::trivia::{Gap, Trivia};

/// Finds the hazards of one kind, as the splices that remove them.
type Hazards = fn(DocumentRef<'_>) -> Vec<Splice>;

/// The text of the new document without hazards that the old one did not have; `None` if there are none.
pub(super) fn without_hazards(old: DocumentRef<'_>, new: DocumentRef<'_>) -> Option<String> {
    // Most documents can have none of them.
    let has_flow_mapping = new.table().nodes.iter().any(|node| node.is_flow_mapping());
    let in_flow: &[Hazards] = &[colons_before_brackets, keys_of_several_lines];
    let in_lines: &[Hazards] = &[tabs_in_blank_lines];
    let has_tab = new.text().as_bytes().contains(&b'\t');
    let in_flow = in_flow.iter().filter(|_| has_flow_mapping);
    let mut splices = Vec::new();
    for kind in in_lines.iter().filter(|_| has_tab).chain(in_flow) {
        let found = kind(new);
        if !found.is_empty() && kind(old).is_empty() {
            splices.extend(found);
        }
    }
    if splices.is_empty() {
        return None;
    }
    apply(new.file.text(), new.span(), splices).ok()
}

/// Tabs in blank lines and before comments where Kubernetes expects a token. It accepts them only after a plain scalar, which could continue
/// below, and in flow collections.
fn tabs_in_blank_lines(document: DocumentRef<'_>) -> Vec<Splice> {
    let (text, span) = (document.file.text(), document.span());
    let mut found = Vec::new();
    let mut at = span.start;
    while let Some(tab) = text[at as usize..span.end as usize].find('\t') {
        let tab = at + tab as u32;
        let line = Span::new(line_start(text, tab).max(span.start), line_end(text, tab));
        at = line.end;
        let content = line.of(text).trim_start_matches([' ', '\t']);
        let has_token = !content.is_empty() && !content.starts_with('#');
        let indent = Span::new(line.start, line.end - content.len() as u32);
        if has_token || !indent.of(text).contains('\t') || is_accepted(document, line, tab) {
            continue;
        }
        found.push(match content.is_empty() {
            true => Splice::remove(line),
            false => Splice::new(indent, " ".repeat(indent.len() as usize)),
        });
    }
    found
}

/// Whether Kubernetes accepts a tab in a blank line.
fn is_accepted(document: DocumentRef<'_>, line: Span, tab: u32) -> bool {
    let text = document.file.text();
    let nodes = &document.table().nodes;
    let next = nodes.partition_point(|node| node.start < line.start) as u32;
    let Some(before) = next.checked_sub(1).map(|index| document.node(index)) else { return false };
    let is_scalar = !before.is_collection();
    if is_scalar && before.end() > line.start {
        return true;
    }
    let flow = [Some(before), before.parent()].into_iter().flatten();
    let is_in_flow = flow.filter(|node| node.is_collection() && !node.is_block());
    if is_in_flow.clone().any(|node| node.end() > line.start) {
        return true;
    }
    let block = before.parent().map_or(0, |parent| crate::span::column(text, parent.start()) + 1);
    let is_plain =
        before.kind() == NodeKind::Scalar(ScalarStyle::Plain) && !before.text().is_empty();
    let gap = Span::new(before.end(), line.start);
    is_plain
        && tab - line.start >= block
        && Gap::new(text, gap).all(|(trivia, _)| trivia == Trivia::Break)
}

/// Empty values directly before a comma or a bracket: Kubernetes reads the colon of `{key:}` as part of the key.
fn colons_before_brackets(document: DocumentRef<'_>) -> Vec<Splice> {
    let bytes = document.file.text().as_bytes();
    let is_hazard = |(key, value): &(NodeRef<'_>, NodeRef<'_>)| {
        let at = value.start() as usize;
        let is_glued = matches!(bytes.get(at), Some(b',' | b'}' | b']'));
        let key_is_plain = || key.kind() == NodeKind::Scalar(ScalarStyle::Plain);
        at > 0 && bytes[at - 1] == b':' && is_glued && key_is_plain()
    };
    let hazards = flow_entries(document).filter(is_hazard);
    hazards.map(|(_, value)| Splice::insert(value.start(), " ")).collect()
}

/// Keys of several lines with a value in a flow collection. Kubernetes accepts them only after a `?`.
fn keys_of_several_lines(document: DocumentRef<'_>) -> Vec<Splice> {
    let text = document.file.text();
    let is_hazard = |key: &NodeRef<'_>| {
        // Most keys are scalars, whose text needs no search for the end.
        let is_long = match key.as_scalar() {
            Some(scalar) => scalar.raw().bytes().any(is_break),
            None => key.span().of(text).bytes().any(is_break),
        };
        let colon = || Gap::from(text, key.end()).find(b":", b"").is_some();
        let has_mark = || text[..key.full_span().start as usize].trim_end().ends_with('?');
        is_long && !has_mark() && colon()
    };
    let keys = flow_entries(document).map(|(key, _)| key).filter(is_hazard);
    keys.map(|key| Splice::insert(key.full_span().start, "? ")).collect()
}

/// The keys and values of all mappings in flow collections.
fn flow_entries(document: DocumentRef<'_>) -> impl Iterator<Item = (NodeRef<'_>, NodeRef<'_>)> {
    let rows = document.table().nodes.iter().zip(0..);
    let mappings = rows.filter(|(row, _)| row.is_flow_mapping());
    mappings.flat_map(move |(_, index)| {
        let mapping = document.node(index).as_mapping();
        let entries = mapping.into_iter().flat_map(|mapping| mapping.entries());
        entries.map(|entry| (entry.key, entry.value))
    })
}

#[cfg(test)]
mod tests {
    use crate::{Edit, File};

    fn set(text: &str, path: &str, value: &str) -> String {
        let file = File::parse(text.to_owned()).unwrap();
        let mut edit = Edit::new(&file);
        edit.set_at(file.document(0).unwrap(), &path.parse().unwrap(), value).unwrap();
        edit.apply().unwrap()
    }

    #[test]
    fn blank_lines_with_tabs_after_a_quoted_value_lose_their_tabs() {
        assert_eq!(set("a: x\n \t \nb: 1\n", "a", "yes"), "a: \"yes\"\n\nb: 1\n");
        assert_eq!(set("a: x\n \t\n---\nb: 1\n", "a", "yes"), "a: \"yes\"\n\n---\nb: 1\n");
        assert_eq!(set("a: x\n \t# c\nb: 1\n", "a", "yes"), "a: \"yes\"\n  # c\nb: 1\n");
        assert_eq!(set("a: x\n \t \nb: 1\n", "a", "y z"), "a: y z\n \t \nb: 1\n");
        assert_eq!(set("a: x\n \t \nb: 1\n", "b", "yes"), "a: x\n \t \nb: \"yes\"\n");
    }

    #[test]
    fn a_document_that_had_hazards_keeps_them() {
        assert_eq!(
            set("a: 'x'\n\t\nb: x\n \t\nc: 1\n", "b", "yes"),
            "a: 'x'\n\t\nb: 'yes'\n \t\nc: 1\n"
        );
        assert_eq!(set("{a:, b: 1}\n", "c", "x"), "{a:, b: 1, c: x}\n");
    }

    #[test]
    fn empty_values_keep_a_space_before_brackets() {
        assert_eq!(set("{a: }\n", "b", "x"), "{a: , b: x }\n");
    }

    #[test]
    fn a_key_of_several_lines_gets_a_question_mark() {
        assert_eq!(set("{a\n b, c: 1}\n", "a b", "x"), "{? a\n b: x, c: 1}\n");
    }
}
