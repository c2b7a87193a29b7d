//! Writing resources into a list: each item that changed in its own place, in the manner of the list.

use std::borrow::Cow;

use krm_core::Diagnostic;
use krm_core::print::json;
use krm_yaml::{Edit, File, KeyPosition, NodeRef, Span, Value};

use super::slot::{Manner, ended};
use super::write::Piece;
use super::{Slot, Stream, field, is_null};
use crate::Error;

/// What holds the place of items for a moment.
const MARK: &str = "krm-sdk-items";

impl Stream {
    pub(super) fn write_list(&self, pieces: &[Piece]) -> Result<String, Error> {
        if pieces.len() == self.slots.len()
            && pieces
                .iter()
                .enumerate()
                .all(|(at, it)| matches!(it, Piece::Same(same) if *same == at))
        {
            return Ok(self.text().to_owned());
        }
        let text = match (self.items(), &self.slots[..]) {
            (Some(items), [first, .., last]) => self.splice(items, *first, *last, pieces),
            (Some(items), [only]) => self.splice(items, *only, *only, pieces),
            _ => self.fill(pieces)?,
        };
        self.check(&text, pieces)?;
        Ok(text)
    }

    /// The list with its items as they are now, each in the manner of the list.
    fn splice(&self, items: NodeRef<'_>, first: Slot, last: Slot, pieces: &[Piece]) -> String {
        let mut out = self.bytes(Span::new(0, first.span.start)).to_owned();
        if pieces.is_empty() {
            return self.emptied(items, last);
        }
        let is_block = items.is_block();
        let mut before: Option<usize> = None;
        for (at, piece) in pieces.iter().enumerate() {
            if at > 0 {
                out.push_str(&self.between(before, piece.origin(), is_block, first));
            }
            if is_block {
                out = ended(out);
            }
            out.push_str(&self.piece(piece, first));
            before = piece.origin();
        }
        let rest = Span::new(last.span.end, self.text().len() as u32);
        if is_block && !self.bytes(rest).is_empty() {
            out = ended(out);
        }
        out + self.bytes(rest)
    }

    fn piece(&self, piece: &Piece, first: Slot) -> String {
        match piece {
            Piece::Same(origin) => self.bytes(self.slots[*origin].span).to_owned(),
            Piece::Changed(origin, item) => self.slots[*origin].manner.write(item),
            Piece::New(item) => first.manner.write(item),
        }
    }

    /// What stands between two items: what stood there, or what stands between others.
    fn between(
        &self,
        left: Option<usize>,
        right: Option<usize>,
        is_block: bool,
        first: Slot,
    ) -> Cow<'_, str> {
        let gap = |at: usize| {
            self.bytes(Span::new(self.slots[at].span.end, self.slots[at + 1].span.start))
        };
        match (left, right) {
            (Some(left), Some(right)) if left + 1 == right => Cow::Borrowed(gap(left)),
            _ if is_block => Cow::Borrowed(""),
            _ if self.slots.len() > 1 => Cow::Borrowed(gap(0)),
            _ => {
                let lead = self.text()[..first.span.start as usize].rsplit('[').next();
                let lead = lead.unwrap_or_default();
                Cow::Owned(format!(",{}", if lead.is_empty() { " " } else { lead }))
            }
        }
    }

    /// The list without any items.
    fn emptied(&self, items: NodeRef<'_>, last: Slot) -> String {
        let start = items.as_sequence().and_then(|it| it.items().next()).map(|node| node.start());
        let text = self.text();
        if !items.is_block() {
            let open = Span::new(0, items.start() + 1);
            return format!("{}{}", self.bytes(open), &text[items.end() as usize - 1..]);
        }
        let head = start.map_or(0, |_| self.slots[0].span.start) as usize;
        let head = text[..head].trim_end_matches(['\n', '\r', ' ']);
        let lead = if head.is_empty() { "" } else { " " };
        format!("{head}{lead}[]\n{}", &text[last.span.end as usize..])
    }

    /// A list that has none yet gets its first items.
    fn fill(&self, pieces: &[Piece]) -> Result<String, Error> {
        let told = |error| Diagnostic::from_edit(&error, &self.file);
        let Some(root) = self.root() else { return Ok(self.text().to_owned()) };
        let is_json = !root.is_block();
        let rendered = |piece: &Piece| match piece {
            Piece::New(item) | Piece::Changed(_, item) if is_json => {
                json::write(&Value::Node(item.root()))
            }
            Piece::New(item) => Manner::Dash(0, 2).write(item),
            _ => String::new(),
        };
        let list: Vec<String> = pieces.iter().map(rendered).collect();
        // One item of nothing marks the place, so that the text around it is the edit's work and the items stay as they are.
        let mut edit = Edit::new(&self.file);
        let mark = Value::Sequence(vec![Value::string(MARK)]);
        match field(root, "items") {
            Some(items) => edit.set(items, mark).map_err(told)?,
            None => {
                edit.insert_key(root, "items", mark, KeyPosition::After("kind")).map_err(told)?
            }
        }
        let text = edit.apply().map_err(told)?;
        let Some(at) = text.find(MARK) else { return Ok(text) };
        if is_json {
            let start = text[..at].rfind('[').map_or(at, |at| at + 1);
            let end = text[at..].find(']').map_or(text.len(), |end| at + end);
            return Ok(format!("{}{}{}", &text[..start], list.join(", "), &text[end..]));
        }
        let start = text[..at].rfind('\n').map_or(0, |at| at + 1);
        let end = text[at..].find('\n').map_or(text.len(), |end| at + end + 1);
        Ok(format!("{}{}{}", &text[..start], list.concat(), &text[end..]))
    }

    /// Every resource reads in the list as it does alone, or there is no list.
    fn check(&self, text: &str, pieces: &[Piece]) -> Result<(), Error> {
        let wrong = || Error::new("these resources cannot be put into one list");
        let file = File::parse(text.to_owned()).map_err(|_| wrong())?;
        let form_root = file.documents().filter_map(|it| it.root()).find(|root| !is_null(*root));
        let root = form_root.ok_or_else(wrong)?;
        let items = if root.as_sequence().is_some() { Some(root) } else { field(root, "items") };
        let nodes: Vec<NodeRef<'_>> = items.into_iter().flat_map(NodeRef::children).collect();
        let meaning = |node: NodeRef<'_>| json::flow(&Value::Node(node));
        let old: Vec<NodeRef<'_>> = self.items().into_iter().flat_map(NodeRef::children).collect();
        let is_same = nodes.len() == pieces.len()
            && nodes.iter().zip(pieces).all(|(node, piece)| {
                let wanted = match piece {
                    Piece::Same(origin) => old.get(*origin).map(|node| meaning(*node)),
                    Piece::Changed(_, item) | Piece::New(item) => Some(meaning(item.root())),
                };
                Some(meaning(*node)) == wanted
            });
        if is_same { Ok(()) } else { Err(wrong()) }
    }
}
