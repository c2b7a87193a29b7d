//! Writing resources as documents: those that changed get their new text between the markers that were there.

use krm_yaml::Span;

use super::Stream;
use super::slot::{Manner, ended};
use super::write::Piece;

/// The output while it is written.
#[derive(Default)]
struct Output {
    text: String,
    /// Up to where the input is written, if nothing else was written since.
    at: Option<u32>,
}

impl Stream {
    /// Documents in the order of the pieces; those that are no resources stay between the same ones, or come last where
    /// the order changed.
    pub(super) fn write_documents(&self, pieces: &[Piece]) -> String {
        let is_sorted = pieces.iter().filter_map(Piece::origin).is_sorted();
        let mut out = Output { text: String::new(), at: Some(0) };
        let last = pieces.iter().rposition(|piece| piece.origin().is_some());
        let mut next = 0;
        for (at, piece) in pieces.iter().enumerate() {
            // What comes last is put behind everything that was there.
            if is_sorted && last.is_none_or(|last| at > last) {
                self.put_others(next..self.slots.len() + 1, &mut out);
                next = self.slots.len() + 1;
            }
            match piece.origin() {
                Some(origin) => {
                    if is_sorted {
                        self.put_others(next..origin + 1, &mut out);
                        next = origin + 1;
                    }
                    self.put_document(origin, piece, &mut out);
                }
                None => {
                    if let Piece::New(item) = piece {
                        out.put_new(&Manner::Document.write(item));
                    }
                }
            }
        }
        self.put_others(next..self.slots.len() + 1, &mut out);
        out.text
    }

    /// What stands before some of the documents, or after the last one, and is no resource.
    fn put_others(&self, documents: std::ops::Range<usize>, out: &mut Output) {
        for at in documents {
            let start = at.checked_sub(1).map_or(0, |before| self.slots[before].document.end);
            let end =
                self.slots.get(at).map_or(self.text().len() as u32, |slot| slot.document.start);
            out.put(self, Span::new(start, end.max(start)));
        }
    }

    fn put_document(&self, origin: usize, piece: &Piece, out: &mut Output) {
        let (document, slot) = (self.slots[origin].document, self.slots[origin].span);
        match piece {
            Piece::Changed(_, item) => {
                let head = Span::new(document.start, slot.start);
                out.separate(document.start, self.bytes(head), item.text());
                out.text.push_str(self.bytes(head));
                out.text.push_str(item.text());
                out.text.push_str(self.bytes(Span::new(slot.end, document.end)));
                out.at = Some(document.end);
            }
            _ => out.put(self, document),
        }
    }
}

impl Output {
    /// Bytes of the input.
    fn put(&mut self, stream: &Stream, span: Span) {
        if span.start < span.end {
            self.separate(span.start, "", stream.bytes(span));
            self.text.push_str(stream.bytes(span));
            self.at = Some(span.end);
        }
    }

    fn put_new(&mut self, text: &str) {
        self.at = None;
        self.separate(0, "", text);
        self.text.push_str(text);
    }

    /// A marker, where something stands before that did not stand there in the input, and the next one brings none.
    fn separate(&mut self, start: u32, head: &str, text: &str) {
        if self.at == Some(start) || self.text.is_empty() {
            return;
        }
        self.text = ended(std::mem::take(&mut self.text));
        let first = if head.is_empty() { text } else { head };
        if first.starts_with('%') {
            self.text.push_str("...\n");
        } else if !first.starts_with("---") {
            self.text.push_str("---\n");
        }
    }
}
