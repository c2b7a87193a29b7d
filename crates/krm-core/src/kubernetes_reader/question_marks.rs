//! Plain scalars in flow collections that start with `?`. Kubernetes takes the `?` for the indicator of a key: `{?a: 1}` has the key `a`.

use krm_yaml::{DocumentRef, File, NodeRef, ScalarStyle};

use super::kinds::ReaderKind;
use crate::Diagnostic;

/// The errors for all such scalars of a file.
pub(super) fn find(file: &File) -> Vec<Diagnostic> {
    // Few files have one, and then the rest costs nothing.
    if !file.text().contains('?') {
        return Vec::new();
    }
    let nodes = file.documents().filter_map(DocumentRef::root).flat_map(NodeRef::descendants);
    nodes
        .filter(|node| is_misread(*node))
        .map(|node| Diagnostic::error(ReaderKind::QuestionMark).at(file, node.span()))
        .collect()
}

fn is_misread(node: NodeRef<'_>) -> bool {
    let is_plain = node.as_scalar().is_some_and(|scalar| scalar.style() == ScalarStyle::Plain);
    is_plain
        && node.text().starts_with('?')
        && node.parent().is_some_and(|parent| parent.is_collection() && !parent.is_block())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn question_mark_at_the_start_of_a_scalar_in_a_flow_collection_is_an_error() {
        for (text, count) in [
            ("{?hostNetwork: true}\n", 1),
            ("a: {b: 1, ?c: 2}\n", 1),
            ("a: [?b, ?c: 1]\n", 2),
            ("a: {b: ?c}\n", 1),
            ("?a: ?b\n", 0),
            ("- ?a\n", 0),
            ("{? a: 1}\n", 0),
            ("{'?a': \"?b\"}\n", 0),
            ("# why?\na: {b: 1}\n", 0),
        ] {
            let file = File::parse(text.to_owned()).unwrap();
            assert!(file.errors().next().is_none(), "{text:?}");
            assert_eq!(find(&file).len(), count, "{text:?}");
        }
    }
}
