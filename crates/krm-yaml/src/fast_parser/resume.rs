//! Parses an edited document again by reading only the lines that changed.
//!
//! The fast parser reads line by line. What it does at a line depends on the rest of the text from there and on its state: the open block
//! collections with their columns, and whether a value is missing. The state at the start of any line follows from the table of the old
//! document. So the nodes before a change are those of the old table, the changed lines are parsed in the state at their start, and if the
//! state after them is the same as in the old document, then so are the nodes of the unchanged lines that follow, moved by a number of rows
//! and bytes.
//!
//! As everywhere in this parser, `None` means "not certain"; then the whole text is parsed. Builds with debug assertions compare the result
//! with a parse of the whole text, so every test of an edit checks this module.

use super::bytes::Bytes;
use super::{FastParser, Level};
use crate::document::{Document, DocumentRef, ParsedBy};
use crate::node::{CollectionStyle, Indent, Node};
use crate::parser::ReadOptions;
use crate::span::{Span, is_same_text, line_start, next_line};

/// A range of the old text, and the length of what replaces it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ChangedRange {
    pub(crate) old: Span,
    pub(crate) new_length: u32,
}

/// Whole lines that change: where they are in the old and in the new text.
#[derive(Clone, Copy)]
struct Region {
    old: Span,
    new: Span,
}

/// The state of the parser at the start of a line of the old text.
struct State {
    /// The number of nodes that it has added.
    rows: u32,
    /// The open collections, with their indices in the old table.
    open: Vec<Level>,
    /// The offset after a colon or a dash whose value has not been seen yet.
    missing: Option<u32>,
}

/// The table of a document after changes in these ranges, which are sorted. The document must be the only one of its file.
pub(crate) fn parse_changed(
    old: DocumentRef<'_>,
    text: &str,
    changes: &[ChangedRange],
) -> Option<Document> {
    let table = old.table();
    let old_text = old.file.text();
    let is_eligible = matches!(table.parsed_by, ParsedBy::Fast { .. })
        && table.span == Span::new(0, old_text.len() as u32)
        && table.properties.is_empty()
        && table.aliases.is_empty()
        && table.nodes.len() < MAX_NODES
        && table.nodes.first().is_some_and(|root| is_block(*root));
    if !is_eligible {
        return None;
    }
    let regions = regions(old_text, text, changes)?;
    let mut parser = FastParser::new("", ReadOptions::default());
    parser.bytes = Bytes::new(text);
    // Most edits add a few nodes.
    parser.nodes.reserve(table.nodes.len() + 16);
    // The nodes of the open collections in the old table.
    let mut open: Vec<u32> = Vec::new();
    let (mut rows, mut moved) = (0, 0);
    let starts = regions[1.min(regions.len())..].iter().map(|it| it.old.start);
    let limits: Vec<u32> = starts.chain([table.span.end]).collect();
    for (mut region, limit) in regions.into_iter().zip(limits) {
        let before = state_at(old, region.old.start)?;
        parser.copy_rows(table, rows..before.rows, moved, &mut open, &before.open)?;
        parser.missing = before.missing.map(|at| at.wrapping_add(moved) as usize);
        parser.at = region.new.start as usize;
        let mut extensions = 0;
        let after = loop {
            parser.lines_up_to(region.new.end as usize)?;
            if region.old.end == table.span.end {
                while !parser.open.is_empty() {
                    parser.close();
                }
                return Some(parser.into_table(table, text));
            }
            match state_at(old, region.old.end).filter(|after| parser.is_in_step(after)) {
                Some(after) => break after,
                None if extensions == MAX_EXTENSIONS => return None,
                None => {}
            }
            // The state may be the same after the next line, which has the value of a key.
            let next = next_line(old_text, region.old.end);
            if next > limit {
                return None;
            }
            region.new.end += next - region.old.end;
            region.old.end = next;
            extensions += 1;
        };
        open.clear();
        open.extend(after.open.iter().map(|level| level.node));
        rows = after.rows;
        moved = region.new.end.wrapping_sub(region.old.end);
    }
    parser.copy_rows(table, rows..table.nodes.len() as u32, moved, &mut open, &[])?;
    Some(parser.into_table(table, text))
}

/// How many unchanged lines are parsed after a change to reach the same state. After a new mapping at the end of another one, these are the
/// keys that follow, each below the other, and comments between them.
const MAX_EXTENSIONS: usize = 8;

/// Larger tables are parsed: their nodes may not have room for the index of their parent.
const MAX_NODES: usize = 1 << 24;

fn is_block(node: Node) -> bool {
    node.is_collection() && node.collection_style() == CollectionStyle::Block
}

/// The lines that contain changes. `None` if anything else differs, or changes overlap.
fn regions(old: &str, new: &str, changes: &[ChangedRange]) -> Option<Vec<Region>> {
    let mut regions: Vec<Region> = Vec::with_capacity(changes.len());
    let (mut at, mut moved) = (0, 0_u32);
    for change in changes {
        if change.old.start < at || change.old.end as usize > old.len() {
            return None;
        }
        at = change.old.end;
        let first = line_start(old, change.old.start);
        let start = first.wrapping_add(moved);
        moved = moved.wrapping_add(change.new_length).wrapping_sub(change.old.len());
        let starts_line = |text: &str, at: u32| {
            at.checked_sub(1).is_some_and(|it| text.as_bytes().get(it as usize) == Some(&b'\n'))
        };
        let is_aligned = starts_line(old, at) && starts_line(new, at.wrapping_add(moved));
        let lines = Span::new(first, if is_aligned { at } else { next_line(old, at) });
        let end = lines.end.wrapping_add(moved);
        match regions.last_mut() {
            Some(last) if lines.start <= last.old.end => {
                last.old.end = last.old.end.max(lines.end);
                last.new.end = last.old.end.wrapping_add(moved);
            }
            _ => regions.push(Region { old: lines, new: Span::new(start, end) }),
        }
    }
    // The other lines are compared here, because the code that made the text could be wrong.
    let (old_bytes, new_bytes) = (old.as_bytes(), new.as_bytes());
    let (mut old_at, mut new_at) = (0, 0);
    let end = Region { old: Span::empty(old.len() as u32), new: Span::empty(new.len() as u32) };
    for region in regions.iter().chain([&end]) {
        let same = old_bytes.get(old_at..region.old.start as usize)?;
        if !is_same_text(new_bytes.get(new_at..region.new.start as usize)?, same) {
            return None;
        }
        (old_at, new_at) = (region.old.end as usize, region.new.end as usize);
    }
    Some(regions)
}

/// The state of the parser at the start of a line. `None` if the line is inside a scalar or a flow collection, or could continue a block
/// scalar.
fn state_at(old: DocumentRef<'_>, at: u32) -> Option<State> {
    let (nodes, text) = (&*old.table().nodes, old.file.text());
    let mut rows = nodes.partition_point(|node| node.start < at) as u32;
    let last = rows.checked_sub(1)?;
    let node = nodes[last as usize];
    // The outermost flow collection that the node is in.
    let mut outermost = last;
    let mut parent = crate::node::parent(nodes, outermost);
    while !is_block(nodes[parent as usize]) {
        outermost = parent;
        parent = crate::node::parent(nodes, outermost);
    }
    let end = old.node(outermost).end();
    // A block collection is the last node only if the value of its first dash is on another line.
    let is_doubtful = is_block(node) || node.is_block_text() || end > at;
    if is_doubtful || has_dash_line(&text[end as usize..at as usize]) {
        return None;
    }
    let mut missing = None;
    if node.is_key() && outermost == last {
        let spaces = text[end as usize..].bytes().take_while(|byte| *byte == b' ').count() as u32;
        let colon = end + spaces;
        missing = (text.as_bytes().get(colon as usize) == Some(&b':')).then_some(colon + 1);
        missing?;
    } else if outermost == last && !node.is_collection() && node.leaf_span().is_empty() {
        // The parser adds an empty value when it reads what follows it.
        missing = Some(node.start);
        rows = last;
    }
    let mut open = Vec::new();
    loop {
        let start = nodes[parent as usize].start;
        let is_mapping = nodes[parent as usize].kind() == crate::NodeKind::Mapping;
        let column = (start - line_start(text, start)) as usize;
        open.push(Level { column, node: parent, is_mapping, seen_keys: 0 });
        if parent == 0 {
            break;
        }
        parent = crate::node::parent(nodes, parent);
        if !is_block(nodes[parent as usize]) {
            return None;
        }
    }
    open.reverse();
    Some(State { rows, open, missing })
}

/// Whether a line after the first one starts with a dash. Its value is on another line, because no node is there.
fn has_dash_line(gap: &str) -> bool {
    gap.split('\n').skip(1).any(|line| line.trim_start().starts_with('-'))
}

impl FastParser<'_> {
    /// Whether the state is that of the old document, and no value is missing.
    fn is_in_step(&self, old: &State) -> bool {
        let is_same = |(one, other): (&Level, &Level)| {
            one.column == other.column && one.is_mapping == other.is_mapping
        };
        self.missing.is_none()
            && old.missing.is_none()
            && self.open.len() == old.open.len()
            && self.open.iter().zip(&old.open).all(is_same)
    }

    /// Parses lines up to an offset, which must be the start of a line or the end of the text.
    fn lines_up_to(&mut self, limit: usize) -> Option<()> {
        while self.at < limit {
            let start = self.at;
            let first = self.bytes.past_spaces(start);
            match self.bytes.at(first) {
                b'\n' => self.at = first + 1,
                b'\r' => self.at = self.bytes.past_break(first)?,
                b'#' => self.at = self.bytes.past_comment(first)?,
                b'-' | b'.' if first == start && self.bytes.is_marker(first) => return None,
                0 if self.bytes.is_end(first) => self.at = first,
                0 => return None,
                _ => self.line(start, first)?,
            }
        }
        (self.at == limit).then_some(())
    }

    /// Copies rows of the old table, `moved` bytes further. `open` are the old nodes of the collections that are open before, `after` those
    /// that are open behind the rows.
    fn copy_rows(
        &mut self,
        old: &Document,
        rows: std::ops::Range<u32>,
        moved: u32,
        open: &mut Vec<u32>,
        after: &[Level],
    ) -> Option<()> {
        let source = old.nodes.get(rows.start as usize..rows.end as usize)?;
        let down = (self.nodes.len() as u32).wrapping_sub(rows.start);
        self.nodes.reserve(source.len());
        // The last open collection that was looked up, in the old table and in the new one: siblings follow each other.
        let mut last = (u32::MAX, 0);
        for node in source {
            let old_parent = node.parent()?;
            let parent = if old_parent >= rows.start {
                old_parent.wrapping_add(down)
            } else {
                if old_parent != last.0 {
                    let level = open.iter().rposition(|it| *it == old_parent)?;
                    last = (old_parent, self.open.get(level)?.node);
                }
                last.1
            };
            self.nodes.push(node.relocated(moved, down, parent));
        }
        let first = old.indents.partition_point(|it| it.node < rows.start);
        let indents = old.indents[first..].iter().take_while(|it| it.node < rows.end);
        self.indents.extend(indents.map(|it| Indent { node: it.node.wrapping_add(down), ..*it }));
        // Collections that are no longer open end in the rows.
        let kept = open.iter().zip(after).take_while(|(one, other)| **one == other.node).count();
        for (level, node) in self.open.drain(kept..).zip(&open[kept..]) {
            let end = old.nodes[*node as usize].subtree_end(*node);
            self.nodes[level.node as usize].close(end.wrapping_add(down));
        }
        open.truncate(kept);
        for level in &after[kept..] {
            if level.node < rows.start {
                return None;
            }
            open.push(level.node);
            self.open.push(Level { node: level.node.wrapping_add(down), ..*level });
        }
        Some(())
    }

    fn into_table(self, old: &Document, text: &str) -> Document {
        Document {
            index: 0,
            nodes: self.nodes.into_boxed_slice(),
            properties: Box::default(),
            aliases: Box::default(),
            indents: self.indents.into_boxed_slice(),
            span: Span::new(0, text.len() as u32),
            start_marker: old.start_marker,
            end_marker: None,
            error: None,
            // Nobody asks for the keys of an edited document, so they are not compared.
            parsed_by: ParsedBy::Fast { has_unique_keys: false },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::File;

    /// Replaces the first `from` and parses again; none if the whole text had to be parsed.
    fn changed(text: &str, from: &str, to: &str) -> Option<bool> {
        let old = File::parse(text.to_owned()).unwrap();
        let at = text.find(from).unwrap();
        let new = text.replacen(from, to, 1);
        let change = ChangedRange {
            old: Span::new(at as u32, (at + from.len()) as u32),
            new_length: to.len() as u32,
        };
        let table = parse_changed(old.document(0).unwrap(), &new, &[change])?;
        let whole = File::parse(new.clone()).unwrap();
        Some(File::of_table(new.into(), table) == whole)
    }

    const POD: &str = "# head\napiVersion: v1\nkind: Pod\nmetadata:\n  name: web # it\n  labels:\n    a: b\n\n    c: d\nspec:\n  x:\n  containers:\n  - name: one\n    args: [a, {b: c}]\n    script: |\n      text\n  -\n    name: two\n  - name: three\n  nodes: {}\n";

    #[test]
    fn changed_lines_are_parsed_and_others_copied() {
        for (from, to) in [
            ("c: d\n", "c: d\n    e: f\n"),
            ("c: d\n", ""),
            ("c: d\nspec", "c: d\n    e:\n      f: [1]\nspec"),
            ("name: web", "name: \"other\""),
            ("  labels:\n", "  annotations:\n    n: |\n      x\n  labels:\n"),
            ("x:\n", "x:\n    y: z\n"),
            ("x:\n", "x: 1\n"),
            ("[a, {b: c}]", "[a, {b: c, d: e}]"),
            ("one", "ones"),
            ("three\n", "three\n    image: x\n"),
            ("nodes: {}\n", "nodes: {}\n  last: 1"),
            ("nodes: {}\n", "nodes: {}"),
            ("nodes: {}\n", "nodes:\n  - a\n"),
            ("metadata", "meta"),
        ] {
            assert!(matches!(changed(POD, from, to), Some(true)), "{from:?} -> {to:?}");
        }
    }

    #[test]
    fn doubtful_changes_are_left_to_a_whole_parse() {
        for (text, from, to) in [
            ("a: 1\nb: 2\n", "a", "c"),
            ("a: 1\nb: &x 2\nc: 3\n", "3", "4"),
            ("a: 1\nb: x\n  y\nc: 3\n", "3", "4"),
            ("a: 1\nb: |\n  x\nc: 3\n", "c: 3", " c: 3"),
            ("a: 1\nb:\n  c: 3\nd: 4\n", "b:\n", "b: 1\n"),
            ("a: 1\nb: 2\nc: 3\n", "b: 2", "---"),
            ("a: 1\nb: |\n  x\nc: 3\n", "  x\n", "  x\n  y\n"),
            ("a: 1\nb:\n-\n-\n  c: 1\n  d: 2\ne: 4\n", "  c: 1", "  c: 2"),
        ] {
            assert_ne!(changed(text, from, to), Some(false), "{text:?}");
            assert_eq!(changed(text, from, to), None, "{text:?}");
        }
    }
}
