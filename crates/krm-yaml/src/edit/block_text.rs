//! A new text in the place of a `|` or `>` text, line by line where it was.

use super::lower::Ground;
use super::splice::Splice;
use crate::scalar::BlockPlace;
use crate::view::NodeRef;

/// Where the lines of the block scalar stand that is there already.
pub(super) fn place(ground: &Ground<'_>, node: NodeRef<'_>, depth: u32) -> Option<BlockPlace> {
    let header = node.as_scalar()?.header()?.of(ground.text);
    let width = match node.indent().checked_sub(depth) {
        Some(width) if (1..10).contains(&width) => width,
        _ => ground.manners.indent(node.index),
    };
    Some(BlockPlace {
        column: depth + width,
        width,
        explicit: header.contains(|c: char| c.is_ascii_digit()),
        ends_file: node.end() as usize == ground.text.len(),
    })
}

/// Where only the line break at the end differs, only the header changes.
pub(super) fn rechomp(ground: &Ground<'_>, node: NodeRef<'_>, new: &str) -> Option<Splice> {
    let scalar = node.as_scalar()?;
    let (old, header) = (scalar.value(), scalar.header()?);
    let marks = header.of(ground.text);
    let ends_file = node.end() as usize == ground.text.len();
    let breaks = new.len() - new.trim_end_matches('\n').len();
    let same = old.trim_end_matches('\n') == new.trim_end_matches('\n');
    if !same || new.is_empty() || marks.contains('+') || breaks > 1 || ends_file {
        return None;
    }
    let mended = marks.replace('-', "") + if breaks == 0 { "-" } else { "" };
    Some(Splice::new(header, mended))
}
