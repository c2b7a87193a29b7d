//! Replaces the text of a block scalar, keeping its indentation.

use super::lower::EditContext;
use super::splice::Splice;
use crate::node_ref::NodeRef;
use crate::scalar::BlockScalarIndent;

/// The indentation of the existing block scalar.
pub(super) fn place(
    context: &EditContext<'_>,
    node: NodeRef<'_>,
    depth: u32,
) -> Option<BlockScalarIndent> {
    let header = node.as_scalar()?.header()?.of(context.text);
    let width = match node.indent().checked_sub(depth) {
        Some(width) if (1..10).contains(&width) => width,
        _ => context.style.indent(node.index),
    };
    Some(BlockScalarIndent {
        column: depth + width,
        width,
        explicit: header.contains(|c: char| c.is_ascii_digit()),
        ends_file: node.end() as usize == context.text.len(),
    })
}

/// Changes only the chomping indicator, if the new text differs from the old one only in the final line break.
pub(super) fn change_chomping(
    context: &EditContext<'_>,
    node: NodeRef<'_>,
    new: &str,
) -> Option<Splice> {
    let scalar = node.as_scalar()?;
    let (old, header) = (scalar.value(), scalar.header()?);
    let marks = header.of(context.text);
    let ends_file = node.end() as usize == context.text.len();
    let breaks = new.len() - new.trim_end_matches('\n').len();
    let same = old.trim_end_matches('\n') == new.trim_end_matches('\n');
    let is_foreign = crate::span::foreign_breaks(new) > 0;
    if !same || is_foreign || new.is_empty() || marks.contains('+') || breaks > 1 || ends_file {
        return None;
    }
    let mended = marks.replace('-', "") + if breaks == 0 { "-" } else { "" };
    Some(Splice::new(header, mended))
}
