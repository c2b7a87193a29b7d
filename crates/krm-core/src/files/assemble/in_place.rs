//! Replaces documents in the text of a file without parsing it again.
//!
//! This is what most functions need, and it is certain to be right. An item that shares the text of its file is a whole document of it:
//! the bytes between the start of the file or `---` and the end of the file or the next marker, apart from blank lines. The new item has
//! been parsed as one document without markers, directives, tags and anchors. So a parser reaches its first byte in the same state as at
//! the start of a file, reads the same nodes, and is again at the end of a document after it. The exception is `---#`, which is a document
//! marker only in files that are not YAML 1.2 but that Kubernetes accepts. Builds with debug assertions compare the result with a parse.

use krm_yaml::{File, NodeKind, SharedText, Span};

use super::contents::Changed;
use super::{FileAssembly, ResourceAction};
use crate::files::FileText;
use crate::functions::resource_list::Item;
use crate::model::resource::resources;

impl FileAssembly<'_, '_> {
    /// The new text of the file, if all changes are replacements of whole documents by others that fit there. It shares the texts of the items.
    pub(super) fn in_place(&mut self) -> Option<FileText> {
        let file = self.old?.file()?;
        let replaced = self.replacements(file)?;
        if let [(_, _, span)] = replaced[..]
            && span == Span::new(0, file.text().len() as u32)
        {
            return self.take_whole();
        }
        let source = file.text();
        let fits = |(_, after, span): &(&Item, &Item, Span)| fits(after, source, *span);
        if !replaced.iter().all(fits) {
            return None;
        }
        // Items are whole lines, so the new text has `---#` only if one of these has it.
        let has_marker = |text: &str| text.contains("---#");
        if has_marker(source) || replaced.iter().any(|(_, after, _)| has_marker(after.text())) {
            return None;
        }
        let part = |(_, after, span): &(&Item, &Item, Span)| -> (Span, SharedText) {
            (*span, after.file().shared_text().clone())
        };
        let new =
            FileText::replacing(file.shared_text().clone(), replaced.iter().map(part).collect());
        debug_assert!(self.is_expected(&new.text()), "{new:?}");
        Some(new)
    }

    /// The items that change, before and after, with their spans in the file. None if anything else changes.
    fn replacements(&self, file: &File) -> Option<Vec<(&Item, &Item, Span)>> {
        if !self.incoming.is_empty() {
            return None;
        }
        let mut all = Vec::new();
        for (index, action) in self.actions.iter() {
            let ResourceAction::Keep { before, after, .. } = action else { return None };
            if after.index.is_some_and(|it| it != index) {
                return None;
            }
            if !after.shares_text(before) {
                let span = before.file().shared_text().span_in(file.shared_text())?;
                all.push((*before, after, span));
            }
        }
        Some(all)
    }

    /// The text of an item that is the whole of its file, markers included.
    fn take_whole(&mut self) -> Option<FileText> {
        match self.actions.take_only()? {
            ResourceAction::Keep { after, .. } => Some(after.file().shared_text().clone().into()),
            ResourceAction::Remove => None,
        }
    }

    /// Whether the text has all resources of the file, and the changed ones as they were returned.
    fn is_expected(&mut self, text: &str) -> bool {
        self.positions = super::contents::positions(self.old);
        let changed = self.actions.iter().filter_map(|(index, action)| match action {
            ResourceAction::Keep { before, after, .. } if !after.shares_text(before) => {
                Some((index, *before, after))
            }
            _ => None,
        });
        let changed: Vec<Changed<'_>> = changed.collect();
        self.holds(text, &changed)
    }
}

/// Whether the text of an item can replace a document of a file.
fn fits(item: &Item, source: &str, span: Span) -> bool {
    let (text, rest) = (item.text(), &source[span.end as usize..]);
    let mut documents = item.file().documents();
    let (Some(document), None) = (documents.next(), documents.next()) else { return false };
    let has_markers = document.start_marker().is_some() || document.end_marker().is_some();
    let Some(root) = document.root().filter(|_| !has_markers && document.error().is_none()) else {
        return false;
    };
    let is_one_resource = matches!(resources(document)[..], [it] if it.item.is_none());
    // A block scalar at the end may include the blank lines that follow.
    let last = document.last_node();
    let ends_open = last.and_then(|it| it.as_scalar()).is_some_and(|it| it.style().is_block());
    let is_closed = !ends_open || rest.is_empty() || rest.starts_with("---");
    root.kind() == NodeKind::Mapping
        && is_one_resource
        && !document.has_properties()
        && is_closed
        && (text.ends_with('\n') || rest.is_empty())
        && !text.starts_with(['\u{feff}', '\n', '\r'])
}
