//! Schemas in the comments of fields: `# {"type":"array","x-kubernetes-patch-strategy":"merge",…}`, `# {"$ref":"#/definitions/…"}`.

use krm_yaml::File;

use super::json_schema::Reader;
use super::{Schema, Type};
use crate::Severity;

/// The name of the one definition.
const NAME: &str = "comment";

/// The prefix of definitions of setters and substitutions, which say nothing about the structure of a field.
const SETTERS: &str = "io.k8s.cli.";

/// A schema that was read from a comment.
#[derive(Clone, Debug)]
pub struct CommentSchema(Schema);

impl CommentSchema {
    /// The type of the field that has the comment. References are not resolved, because a comment has no definitions.
    pub fn get(&self) -> Type<'_> {
        let id = self.0.own.definitions[NAME];
        Type::new(&self.0, self.0.own_handle(id))
    }

    /// The full name of the definition that the comment refers to.
    pub fn reference(&self) -> Option<&str> {
        self.get().reference()
    }

    /// The full name of the definition that the elements of the list refer to.
    pub fn item_reference(&self) -> Option<&str> {
        self.get().item()?.reference()
    }
}

/// Reads the schema in a comment, with or without its `#`.
///
/// Returns none for references to setters (`{"$openapi":"replicas"}`, `{"$ref":"#/definitions/io.k8s.cli.setters.replicas"}`)
/// and for schemas without keywords about structure.
pub fn schema_from_comment(text: &str) -> Option<CommentSchema> {
    let text = text.trim_start_matches('#').trim();
    if !(text.starts_with('{') && text.ends_with('}')) {
        return None;
    }
    let file = File::parse(text.to_owned()).ok()?;
    let root = file
        .document(0)
        .filter(|it| it.error().is_none() && file.documents().len() == 1)?
        .root()?;
    let mut schema = Schema::empty();
    let mut reader = Reader::new(&mut schema.own, root, Severity::Warning);
    let keywords = reader.entries(root);
    let is_structure = |keyword: &str| {
        matches!(keyword, "type" | "items" | "properties" | "$ref")
            || keyword.starts_with("x-kubernetes-")
    };
    if keywords.iter().any(|(keyword, _)| keyword.starts_with('$') && keyword != "$ref")
        || !keywords.iter().any(|(keyword, _)| is_structure(keyword))
    {
        return None;
    }
    let id = reader.read(root);
    if !reader.into_diagnostics().is_empty() {
        return None;
    }
    schema.own.definitions.insert(NAME.into(), id);
    let found = CommentSchema(schema);
    let is_setter = found.reference().is_some_and(|name| name.starts_with(SETTERS));
    (!is_setter).then_some(found)
}
