//! Values serialized as documents, for resources whose source text cannot be used.

use krm_yaml::{Edit, EditError, EditErrorKind, File, NodeRef, Span, Value};

/// A value as a document in block style. Numbers keep their spelling: `0x1f` stays a number.
pub(crate) fn block_document(value: Value<'_>) -> Result<String, EditError> {
    let refused = |kind: EditErrorKind| EditError::new(Span::empty(0), kind);
    let stub = File::parse("x\n".to_owned()).map_err(|error| refused(error.into()))?;
    let root = stub.document(0).and_then(|document| document.root());
    let mut edit = Edit::new(&stub);
    edit.set(root.ok_or_else(|| refused(EditErrorKind::NoDocument))?, value)?;
    edit.apply()
}

/// A node as a document of its own, with its aliases expanded.
pub(crate) fn expanded(node: NodeRef<'_>) -> Result<String, EditError> {
    let value = node.to_value().map_err(|error| EditError::new(node.span(), error))?;
    block_document(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expanded_document_has_the_same_meaning() {
        let text = "a: &x [0x1F, .inf, 1e3, 'on', 017]\nb: *x\nc: {<<: {d: \"two\\nlines\\n\"}}\n";
        let file = File::parse(text.to_owned()).unwrap();
        let root = file.document(0).unwrap().root().unwrap();
        let again = File::parse(expanded(root).unwrap()).unwrap();
        assert!(crate::compare::equal_in_yaml_1_2(
            root,
            again.document(0).unwrap().root().unwrap()
        ));
    }
}
