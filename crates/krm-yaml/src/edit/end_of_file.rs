//! Block scalars at the end of a file without a final line break.
//!
//! Spec: YAML 1.2 §8.1.1.2. A block scalar keeps its final line break only if the file has one there; the same header means a
//! different string at the end of such a file. So an entry that is added after it changes the header to `|-`, and a block scalar that
//! becomes the last one gets a final line break.

use super::lower::EditContext;
use super::splice::{FILE, Splice};
use crate::document::DocumentRef;
use crate::file::File;
use crate::node_ref::NodeRef;
use crate::span::Span;

/// Whether a block scalar that ends at `at` needs a line break after it.
pub(crate) fn needs_break(document: DocumentRef<'_>, at: u32) -> bool {
    let nodes = &document.table().nodes;
    let index = nodes.partition_point(|node| node.start < at);
    let Some(index) = index.checked_sub(1) else { return false };
    let node = document.node(index as u32);
    node.end() == at && is_open_block_scalar(node)
}

/// Whether a node is a block scalar whose header keeps the final line break.
fn is_open_block_scalar(node: NodeRef<'_>) -> bool {
    let header = node.as_scalar().and_then(|scalar| scalar.header());
    header.is_some_and(|header| !header.of(node.source()).contains('-'))
}

/// Corrects block scalar headers and the end of the file, if the splices change what the file ends with.
pub(crate) fn mend(context: &mut EditContext<'_>) {
    let end = context.text.len() as u32;
    let document = context.document;
    if document.span().end != end || context.text.ends_with(['\n', '\r']) {
        return;
    }
    let moved_last = context
        .splices
        .iter()
        .find_map(|splice| splice.moved_from().filter(|_| splice.span.end == end));
    if moved_last.is_some_and(|from| needs_break(document, from.end)) {
        context.splices.push(Splice::insert(end, context.style.line_break).of(FILE));
    }
    let Some(last) = document.table().nodes.len().checked_sub(1) else { return };
    let last = document.node(last as u32);
    if last.end() != end
        || !is_open_block_scalar(last)
        || last.as_scalar().is_some_and(|s| s.value().ends_with('\n'))
    {
        return;
    }
    let covers = |span: Span| !span.is_empty() && span.contains(last.span());
    let gone =
        context.splices.iter().any(|splice| covers(splice.span) && splice.moved_from().is_none());
    let followed = context.splices.iter().any(|splice| {
        let moves = splice.moved_from().is_some_and(|from| covers(from) && splice.span != from);
        moves || splice.span.start == end
    });
    if followed && !gone {
        strip(context, last);
    }
}

/// Changes the header to `-`: no final line break.
fn strip(context: &mut EditContext<'_>, node: NodeRef<'_>) {
    let Some(header) = node.as_scalar().and_then(|scalar| scalar.header()) else { return };
    context.splices.push(Splice::new(header, stripping(header.of(context.text))));
}

/// The header of a block scalar with `-`.
fn stripping(header: &str) -> String {
    header.replace('+', "") + "-"
}

/// The text of a file with a line break at its end; see [`File::closed_text`].
pub(crate) fn closed(file: &File) -> String {
    let mut text = file.text().to_owned();
    if text.is_empty() || text.ends_with('\n') {
        return text;
    }
    let line_break = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let last = file.documents().last().and_then(DocumentRef::last_node);
    let open = last.filter(|last| {
        let is_last = last.end() as usize == text.len() && is_open_block_scalar(*last);
        is_last && last.as_scalar().is_some_and(|scalar| !scalar.value().ends_with('\n'))
    });
    if let Some(header) = open.and_then(|last| last.as_scalar()?.header()) {
        let stripping = stripping(header.of(&text));
        text.replace_range(header.start as usize..header.end as usize, &stripping);
    }
    text + line_break
}
