//! The edit of a file that resolves a finding: the value that a function proposes, written as `krm fix` writes it.

use krm_core::Package;
use krm_core::functions::resource_list::FunctionResult;
use krm_core::functions::results::{Fixes, PackageResult, ResultLocator};
use krm_yaml::Position;

/// Text that replaces a part of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fix {
    pub(crate) start: Position,
    pub(crate) end: Position,
    pub(crate) text: String,
}

/// The fix of a result that proposes one value. `directory` is the package whose function reported it. Values of Secrets are not
/// written into reports.
pub(super) fn of(
    package: &Package,
    locator: &ResultLocator<'_>,
    directory: &str,
    result: &FunctionResult,
) -> Option<Fix> {
    if result.field.as_ref()?.proposed.len() != 1 {
        return None;
    }
    let located = locator.locate(directory, result)?;
    if located.resource.resource.kind() == "Secret" {
        return None;
    }
    let fixes = Fixes::apply(package, &[PackageResult { directory, result }], |_, _| None);
    let (path, new) = fixes.texts.into_iter().next()?;
    let file = package.file(&path)?.file()?;
    let old = file.text();
    let value = located.field.filter(|it| it.exists()).map(|it| it.node.span());
    let value = value.map(|span| (span.start as usize, span.end as usize));
    let (start, end) = replaced(old, &new, value);
    let text = new.get(start..new.len().checked_sub(old.len() - end)?)?.to_owned();
    let position = |at: usize| file.position(u32::try_from(at).unwrap_or(u32::MAX));
    Some(Fix { start: position(start), end: position(end), text })
}

/// The bytes of `old` that are replaced: the whole value if nothing else changes, and otherwise what is between the common ends.
fn replaced(old: &str, new: &str, value: Option<(usize, usize)>) -> (usize, usize) {
    let same = |(a, b): &(u8, u8)| a == b;
    let mut start = old.bytes().zip(new.bytes()).take_while(same).count();
    while !old.is_char_boundary(start) || !new.is_char_boundary(start) {
        start -= 1;
    }
    let (old_rest, new_rest) = (&old[start..], &new[start..]);
    let mut tail = old_rest.bytes().rev().zip(new_rest.bytes().rev()).take_while(same).count();
    while !old_rest.is_char_boundary(old_rest.len() - tail)
        || !new_rest.is_char_boundary(new_rest.len() - tail)
    {
        tail -= 1;
    }
    let end = old.len() - tail;
    value.filter(|value| value.0 <= start && end <= value.1).unwrap_or((start, end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn value_is_replaced_as_a_whole() {
        let old = "a: \"x\"\nb: 1\n";
        assert_eq!(replaced(old, "a: \"xy\"\nb: 1\n", Some((3, 6))), (3, 6));
        assert_eq!(replaced(old, "a: \"x\"\nb: 1\nc: 2\n", Some((3, 6))), (12, 12));
        assert_eq!(replaced("a: ä\n", "a: ö\n", None), (3, 5));
    }
}
