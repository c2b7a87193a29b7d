//! The text of a resource that a function added: without the annotations of the orchestrator, and in block style unless the file is
//! JSON.

use krm_yaml::{Edit, EditError, EmptyParents, File, NodeKind, NodeRef, ScalarStyle};

use super::content::{ExistingComments, node_value};
use super::kinds::OutputKind;
use super::notation;
use crate::Diagnostic;
use crate::compare::{Fields, ResourceLevel};
use crate::functions::resource_list::{Item, serialize};
use crate::print::json;
use crate::print::source_text;

/// A returned resource as a document.
pub(super) fn document_text(node: NodeRef<'_>, is_json: bool) -> Result<String, Diagnostic> {
    let file = node.document().file();
    let refused = |error: EditError| Diagnostic::from_edit(&error, file);
    if node.is_block() && !is_json {
        let text = source_text::document_texts(&[node]).concat();
        if let Some(text) = File::parse(text).ok().as_ref().and_then(without_wire_annotations) {
            return Ok(text);
        }
    }
    if is_json {
        return json_text(node);
    }
    let value =
        node_value(node, ResourceLevel::Root, &ExistingComments::default()).map_err(refused)?;
    serialize::block_document(value).map_err(refused)
}

/// A returned resource as a document, with keys and values in the notation that was sent where the function read them as something else.
pub(super) fn rewritten_text<'a>(
    sent: NodeRef<'a>,
    returned: NodeRef<'a>,
    is_json: bool,
) -> Result<String, Diagnostic> {
    let refused = |error: EditError| Diagnostic::from_edit(&error, returned.document().file());
    let kept = match is_json {
        true => None,
        false => notation::keep_notation(
            sent,
            returned,
            ResourceLevel::Root,
            &ExistingComments::default(),
        )
        .map_err(refused)?,
    };
    match kept {
        Some(value) => serialize::block_document(value).map_err(refused),
        None => document_text(returned, is_json),
    }
}

/// The item as JSON, for a JSON file, and the number of comments that it loses; none if it is JSON already.
pub(crate) fn to_json(item: &Item) -> Result<Option<(Item, usize)>, Diagnostic> {
    let comments = item.root().document().comments().len();
    if comments == 0 && item.root().descendants().all(is_json_text) {
        return Ok(None);
    }
    let mut json = Item::parse(json_text(item.root())?)?;
    (json.path, json.index, json.origin) = (item.path.clone(), item.index, item.origin);
    Ok(Some((json, comments)))
}

/// Whether a node is written as JSON.
fn is_json_text(node: NodeRef<'_>) -> bool {
    let is_plain =
        || matches!(node.text(), "true" | "false" | "null") || json::is_number(node.text());
    let is_key = node.key().is_none() && node.parent().is_some_and(|it| it.as_mapping().is_some());
    node.kind() != NodeKind::Alias
        && node.anchor().is_none()
        && node.tag().is_none()
        && match node.as_scalar().map(|it| it.style()) {
            None => !node.is_block(),
            Some(ScalarStyle::DoubleQuoted) => true,
            Some(ScalarStyle::Plain) => !is_key && is_plain(),
            Some(_) => false,
        }
}

/// A returned resource as JSON. A value that JSON does not have is an error, because any other would be of another type.
pub(super) fn json_text(node: NodeRef<'_>) -> Result<String, Diagnostic> {
    let file = node.document().file();
    let refused = |error: EditError| Diagnostic::from_edit(&error, file);
    let value =
        node_value(node, ResourceLevel::Root, &ExistingComments::default()).map_err(refused)?;
    let text = json::write(&value).map_err(|_| {
        let scalar = json::unrepresentable_number(node).unwrap_or(node);
        let kind = OutputKind::NotJson { value: scalar.text().into() };
        Diagnostic::error(kind).at(file, scalar.span())
    })?;
    Ok(text + "\n")
}

/// The text without the annotations of the orchestrator, and without mappings that hold nothing else; `None` where they cannot be
/// removed.
fn without_wire_annotations(file: &File) -> Option<String> {
    let root = file.document(0)?.root()?;
    let mut edit = Edit::new(file);
    let metadata = root.as_mapping()?.get("metadata");
    let annotations = metadata.and_then(|it| it.as_mapping()?.get("annotations"));
    match (metadata, annotations) {
        (Some(it), _)
            if ResourceLevel::Metadata.has_no_own_fields(it) && it.children().next().is_some() =>
        {
            edit.remove(it, EmptyParents::Keep).ok()?;
        }
        (_, Some(it))
            if ResourceLevel::Annotations.has_no_own_fields(it)
                && it.children().next().is_some() =>
        {
            edit.remove(it, EmptyParents::Keep).ok()?;
        }
        (_, Some(it)) => {
            let fields = Fields::of(it, true);
            for (name, _) in
                fields.iter().filter(|(name, _)| !ResourceLevel::Annotations.is_own_field(name))
            {
                fields
                    .all(name)
                    .into_iter()
                    .try_for_each(|it| edit.remove(it, EmptyParents::Keep))
                    .ok()?;
            }
        }
        _ => {}
    }
    edit.apply().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(item: &str, is_json: bool) -> String {
        let file = File::parse(item.to_owned()).unwrap();
        let item = file.document(0).unwrap().root().unwrap().children().next().unwrap();
        document_text(item, is_json).unwrap()
    }

    #[test]
    fn block_style_is_kept_as_written() {
        let text = "# head\n- apiVersion: v1\n  kind: A # a\n  metadata:\n    name: x\n    annotations:\n      config.kubernetes.io/path: a.yaml\n      # k\n      k: v\n";
        let expected = "# head\napiVersion: v1\nkind: A # a\nmetadata:\n  name: x\n  annotations:\n    # k\n    k: v\n";
        assert_eq!(
            of(&format!("- x\n{text}").replacen("- x\n", "", 1), false),
            expected.replacen("# head\n", "", 1)
        );
        let only = "- apiVersion: v1\n  kind: A\n  metadata:\n    annotations: {config.kubernetes.io/path: a.yaml}\n";
        assert_eq!(of(only, false), "apiVersion: v1\nkind: A\n");
    }

    #[test]
    fn yaml_becomes_json_for_a_json_file() {
        let json = |text: &str| {
            let json = to_json(&Item::parse(text.to_owned()).unwrap()).unwrap();
            json.map(|(item, comments)| (item.text().to_owned(), comments))
        };
        let written = r#"{"kind": "A",
 "x": [1.50, true, null, "y"]}"#;
        assert_eq!(json(written), None);
        let expected = r#"{"kind":"A","x":[1.50,true,null,"y"]}"#.to_owned() + "\n";
        let yaml = "# head\nkind: A\nx: [1.50, true, ~, 'y'] # why\n";
        assert_eq!(json(yaml), Some((expected, 2)));
        assert_eq!(json("{kind: \"A\"}"), Some(("{\"kind\":\"A\"}\n".to_owned(), 0)));
    }

    #[test]
    fn json_becomes_yaml_unless_the_file_is_json() {
        let text = r#"[{"apiVersion": "v1", "kind": "A", "metadata": {"name": "x", "annotations": {"internal.config.kubernetes.io/index": "0"}}, "spec": [{"a": "on"}, []]}]"#;
        assert_eq!(
            of(text, false),
            "apiVersion: v1\nkind: A\nmetadata:\n  name: x\nspec:\n- a: \"on\"\n- []\n"
        );
        assert_eq!(
            of(text, true),
            "{\"apiVersion\":\"v1\",\"kind\":\"A\",\"metadata\":{\"name\":\"x\"},\"spec\":[{\"a\":\"on\"},[]]}\n"
        );
    }
}
