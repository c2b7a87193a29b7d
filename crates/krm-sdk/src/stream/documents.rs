//! Writing documents: changed resources get their new text between the existing markers.

use krm_core::Diagnostic;
use krm_yaml::Span;

use super::Stream;
use super::layout::{Layout, ensure_trailing_newline};
use super::write::OutputItem;

/// The output while it is written.
#[derive(Default)]
struct Output {
    text: String,
    /// The end of the input bytes that were written last; none after other text.
    at: Option<u32>,
}

impl Stream {
    /// Writes the documents in the order of the items. Documents that are not resources keep their neighbours, or are written
    /// last if the order changed.
    pub(super) fn write_documents(&self, items: &[OutputItem]) -> Result<String, Diagnostic> {
        let is_sorted = items.iter().filter_map(OutputItem::origin).is_sorted();
        let mut out = Output { text: String::new(), at: Some(0) };
        let last = items.iter().rposition(|item| item.origin().is_some());
        let mut next = 0;
        for (at, item) in items.iter().enumerate() {
            // New resources at the end follow everything of the input.
            if is_sorted && last.is_none_or(|last| at > last) {
                self.copy_others(next..self.slots.len() + 1, &mut out);
                next = self.slots.len() + 1;
            }
            match item.origin() {
                Some(origin) => {
                    if is_sorted {
                        self.copy_others(next..origin + 1, &mut out);
                        next = origin + 1;
                    }
                    self.write_document(origin, item, &mut out);
                }
                None => {
                    if let OutputItem::New(new) = item {
                        out.push_new(&Layout::Document.write(new)?);
                    }
                }
            }
        }
        self.copy_others(next..self.slots.len() + 1, &mut out);
        Ok(out.text)
    }

    /// Copies what precedes the given documents and is not a resource; the index behind the last one stands for the end.
    fn copy_others(&self, documents: std::ops::Range<usize>, out: &mut Output) {
        for at in documents {
            let start = at.checked_sub(1).map_or(0, |before| self.slots[before].document.end);
            let end =
                self.slots.get(at).map_or(self.text().len() as u32, |slot| slot.document.start);
            out.copy(self, Span::new(start, end.max(start)));
        }
    }

    fn write_document(&self, origin: usize, item: &OutputItem, out: &mut Output) {
        let (document, slot) = (self.slots[origin].document, self.slots[origin].span);
        match item {
            OutputItem::Changed(_, changed) => {
                let head = Span::new(document.start, slot.start);
                out.separate(document.start, self.bytes(head), changed.text());
                out.text.push_str(self.bytes(head));
                out.text.push_str(changed.text());
                out.text.push_str(self.bytes(Span::new(slot.end, document.end)));
                out.at = Some(document.end);
            }
            _ => out.copy(self, document),
        }
    }
}

impl Output {
    /// Copies bytes of the input.
    fn copy(&mut self, stream: &Stream, span: Span) {
        if span.start < span.end {
            self.separate(span.start, "", stream.bytes(span));
            self.text.push_str(stream.bytes(span));
            self.at = Some(span.end);
        }
    }

    fn push_new(&mut self, text: &str) {
        self.at = None;
        self.separate(0, "", text);
        self.text.push_str(text);
    }

    /// Adds a document marker if the previous bytes are not those of the input, and what follows has no marker of its own.
    fn separate(&mut self, start: u32, head: &str, text: &str) {
        if self.at == Some(start) || self.text.is_empty() {
            return;
        }
        self.text = ensure_trailing_newline(std::mem::take(&mut self.text));
        let first = if head.is_empty() { text } else { head };
        if first.starts_with('%') {
            self.text.push_str("...\n");
        } else if !first.starts_with("---") {
            self.text.push_str("---\n");
        }
    }
}
