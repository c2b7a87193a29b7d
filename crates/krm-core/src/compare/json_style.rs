//! Whether YAML is written the way JSON is. A file name may not say so: JSON is valid YAML.

use krm_yaml::{NodeKind, NodeRef, Scalar, ScalarStyle};

/// Whether a document is written as JSON: in flow style, with at least one string, and every string in double quotes.
///
/// `[1, 2]` has no string and could be either, so it counts as YAML.
pub(crate) fn is_json_document(root: NodeRef<'_>) -> bool {
    let strings = || root.descendants().filter(|node| node.as_str().is_some());
    root.is_collection()
        && !root.is_block()
        && strings().next().is_some()
        && strings().all(is_double_quoted)
}

/// Whether a string is part of JSON: it and the keys of a mapping around it are in double quotes, and nothing around it is in
/// block style. Looks only at the ancestors, because it is asked for single scalars of large documents.
pub(super) fn is_json_string(scalar: Scalar<'_>) -> bool {
    let node = scalar.node();
    let ancestors = || std::iter::successors(node.parent(), |node| node.parent());
    // A number as a key is left as it is where YAML is converted to JSON, so only strings tell.
    let is_json_key = |key: NodeRef<'_>| is_double_quoted(key) || key.as_str().is_none();
    let mut mappings = ancestors().filter_map(NodeRef::as_mapping).peekable();
    let has_no_mapping = mappings.peek().is_none();
    is_double_quoted(node)
        && ancestors().all(|it| !it.is_block())
        && (has_no_mapping || mappings.any(|it| it.entries().all(|entry| is_json_key(entry.key))))
}

fn is_double_quoted(node: NodeRef<'_>) -> bool {
    node.kind() == NodeKind::Scalar(ScalarStyle::DoubleQuoted)
}
