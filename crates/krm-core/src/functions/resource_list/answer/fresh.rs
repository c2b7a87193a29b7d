//! The text of a resource that a function made: without the annotations of the wire, and by lines where it is YAML.

use krm_yaml::{Edit, EditError, EmptyParents, File, NodeRef, Value};

use super::content::{self, Known};
use super::notation;
use super::same::At;
use crate::Diagnostic;
use crate::functions::resource_list::serialize;
use crate::merge::node::Fields;
use crate::print::json;
use crate::print::source_text;

/// A resource of an answer as a document of its own.
pub(super) fn text(node: NodeRef<'_>, is_json: bool) -> Result<String, Diagnostic> {
    let file = node.document().file();
    let told = |error: EditError| Diagnostic::from_edit(&error, file);
    if node.is_block() && !is_json {
        let text = source_text::own_texts(&[node]).concat();
        if let Some(text) = File::parse(text).ok().as_ref().and_then(stripped) {
            return Ok(text);
        }
    }
    if is_json {
        return self::json(node);
    }
    let value = content::value(node, At::Root, &Known::default()).map_err(told)?;
    serialize::block_document(value).map_err(told)
}

/// The text of a resource that is written anew, with keys and values as they were sent where the function read them otherwise.
pub(super) fn again<'a>(
    sent: NodeRef<'a>,
    returned: NodeRef<'a>,
    is_json: bool,
) -> Result<String, Diagnostic> {
    let told = |error: EditError| Diagnostic::from_edit(&error, returned.document().file());
    let kept = match is_json {
        true => None,
        false => notation::kept(sent, returned, At::Root, &Known::default()).map_err(told)?,
    };
    match kept {
        Some(value) => serialize::block_document(value).map_err(told),
        None => text(returned, is_json),
    }
}

/// A resource of an answer as JSON. What JSON cannot say is an error: nothing is written as another type.
pub(super) fn json(node: NodeRef<'_>) -> Result<String, Diagnostic> {
    let file = node.document().file();
    let told = |error: EditError| Diagnostic::from_edit(&error, file);
    let value = content::value(node, At::Root, &Known::default()).map_err(told)?;
    let text = json::exact(&value).ok_or_else(|| {
        let odd = |it: &NodeRef<'_>| json::exact(&Value::Node(*it)).is_none();
        let it = node.descendants().filter(|it| !it.is_collection()).find(odd).unwrap_or(node);
        let message = format!("`{}` cannot be written into a JSON file", it.text());
        let told = Diagnostic::untyped_error(message).at(file, it.span());
        told.hint("write the file as YAML, or the value in quotes")
    })?;
    Ok(text + "\n")
}

/// The text without the annotations of the wire, and without what holds nothing else; none where they cannot be taken out.
fn stripped(file: &File) -> Option<String> {
    let root = file.document(0)?.root()?;
    let mut edit = Edit::new(file);
    let metadata = root.as_mapping()?.get("metadata");
    let annotations = metadata.and_then(|it| it.as_mapping()?.get("annotations"));
    match (metadata, annotations) {
        (Some(it), _) if At::Metadata.is_nothing(it) && it.children().next().is_some() => {
            edit.remove(it, EmptyParents::Keep).ok()?;
        }
        (_, Some(it)) if At::Annotations.is_nothing(it) && it.children().next().is_some() => {
            edit.remove(it, EmptyParents::Keep).ok()?;
        }
        (_, Some(it)) => {
            let fields = Fields::of(it, true);
            for (name, _) in fields.iter().filter(|(name, _)| !At::Annotations.counts(name)) {
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
        text(item, is_json).unwrap()
    }

    #[test]
    fn what_is_by_lines_stays_as_it_is() {
        let text = "# head\n- apiVersion: v1\n  kind: A # a\n  metadata:\n    name: x\n    annotations:\n      config.kubernetes.io/path: a.yaml\n      # k\n      k: v\n";
        let wanted = "# head\napiVersion: v1\nkind: A # a\nmetadata:\n  name: x\n  annotations:\n    # k\n    k: v\n";
        assert_eq!(
            of(&format!("- x\n{text}").replacen("- x\n", "", 1), false),
            wanted.replacen("# head\n", "", 1)
        );
        let only = "- apiVersion: v1\n  kind: A\n  metadata:\n    annotations: {config.kubernetes.io/path: a.yaml}\n";
        assert_eq!(of(only, false), "apiVersion: v1\nkind: A\n");
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
