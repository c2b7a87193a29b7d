//! Writing resources as documents: those that changed get their new text between the markers that were there.

use krm_yaml::Span;

use super::Stream;
use super::slot::{Manner, ended};
use super::write::Piece;

impl Stream {
    pub(super) fn write_documents(&self, pieces: &[Piece]) -> String {
        let order: Vec<usize> = pieces.iter().filter_map(Piece::origin).collect();
        let mut out = String::new();
        if order.is_sorted() {
            let mut at = 0;
            let mut kept: Vec<Option<&Piece>> = vec![None; self.slots.len()];
            for piece in pieces {
                if let Some(origin) = piece.origin() {
                    kept[origin] = Some(piece);
                }
            }
            for (origin, kept) in kept.iter().enumerate() {
                let document = self.slots[origin].document;
                out.push_str(self.bytes(Span::new(at, document.start)));
                at = document.end;
                if let Some(piece) = kept {
                    self.put_document(origin, piece, &mut out);
                }
            }
            out.push_str(self.bytes(Span::new(at, self.text().len() as u32)));
        } else {
            for piece in pieces {
                if let Some(origin) = piece.origin() {
                    mark(&mut out, self.bytes(self.slots[origin].document).starts_with("---"));
                    self.put_document(origin, piece, &mut out);
                    out = ended(out);
                }
            }
        }
        for piece in pieces {
            if let Piece::New(item) = piece {
                out = ended(out);
                mark(&mut out, item.text().starts_with("---"));
                out.push_str(&Manner::Document.write(item));
            }
        }
        out
    }

    fn put_document(&self, origin: usize, piece: &Piece, out: &mut String) {
        let (document, slot) = (self.slots[origin].document, self.slots[origin].span);
        match piece {
            Piece::Changed(_, item) => {
                out.push_str(self.bytes(Span::new(document.start, slot.start)));
                out.push_str(item.text());
                out.push_str(self.bytes(Span::new(slot.end, document.end)));
            }
            _ => out.push_str(self.bytes(document)),
        }
    }
}

/// A marker between documents, where something stands before and the next one brings none.
fn mark(out: &mut String, brings_one: bool) {
    if !out.is_empty() && !brings_one {
        out.push_str("---\n");
    }
}
