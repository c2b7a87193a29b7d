//! Substitutions: read from an `ApplyTimeMutation`, written to the annotation.

use krm_core::diagnostics::CommonKind;
use krm_sdk::{Diagnostic, Error, Resource};
use krm_yaml::{Edit, File, Value};
use serde::Deserialize;

use crate::changes::in_resource;

/// A reference to a resource, by group or API version.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Reference {
    pub(super) api_version: String,
    pub(super) group: String,
    pub(super) kind: String,
    pub(super) name: String,
    pub(super) namespace: String,
}

/// One field that gets its value from another.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Substitution {
    pub(super) source_path: String,
    pub(super) source_ref: Reference,
    pub(super) target_path: String,
    pub(super) token: String,
}

/// The spec of an `ApplyTimeMutation`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Mutation {
    target_ref: Reference,
    #[serde(default)]
    pub(super) substitutions: Vec<Substitution>,
    /// The index of the resource.
    #[serde(skip)]
    pub(super) item: usize,
}

impl Mutation {
    pub(super) fn read(resource: &Resource, item: usize) -> Result<Self, Error> {
        let target = Self { item, ..resource.read_config()? };
        if target.substitutions.is_empty() {
            let node = resource.get_in(["spec"]).unwrap_or_else(|| resource.root());
            let (field, owner) = ("substitutions".to_owned(), "the ApplyTimeMutation".to_owned());
            let error = Diagnostic::error(CommonKind::MissingField { field, owner });
            return Err(in_resource(resource, error.at(resource.item().file(), node.span())));
        }
        Ok(target)
    }

    /// Whether a resource is the target.
    pub(super) fn targets(&self, resource: &Resource) -> bool {
        let Reference { api_version, group, kind, name, namespace } = &self.target_ref;
        let is_version = match api_version.is_empty() {
            true => *group == resource.view().group(),
            false => group.is_empty() && *api_version == resource.api_version(),
        };
        is_version
            && *kind == resource.kind()
            && *name == resource.name()
            && *namespace == resource.namespace()
    }
}

/// The text of the annotation: a sequence with sorted keys, without empty fields.
pub(super) fn text(substitutions: &[Substitution]) -> Result<String, Error> {
    let file = File::parse("[]\n".to_owned()).map_err(|error| Error::new(error.to_string()))?;
    let Some(root) = file.document(0).and_then(|document| document.root()) else {
        return Err(Error::new("cannot write the annotation"));
    };
    let mut edit = Edit::new(&file);
    let items = substitutions.iter().map(Substitution::to_value).collect();
    let refused = |error: krm_yaml::EditError| Error::new(error.to_string());
    edit.set(root, Value::Sequence(items)).map_err(refused)?;
    edit.apply().map_err(refused)
}

impl Substitution {
    fn to_value(&self) -> Value<'_> {
        let mut entries = vec![
            ("sourcePath", Value::from(self.source_path.as_str())),
            ("sourceRef", self.source_ref.to_value()),
            ("targetPath", Value::from(self.target_path.as_str())),
        ];
        if !self.token.is_empty() {
            entries.push(("token", Value::from(self.token.as_str())));
        }
        mapping(entries)
    }
}

impl Reference {
    fn to_value(&self) -> Value<'_> {
        let fields = [
            ("apiVersion", &self.api_version),
            ("group", &self.group),
            ("kind", &self.kind),
            ("name", &self.name),
            ("namespace", &self.namespace),
        ];
        let said = fields.into_iter().filter(|(_, text)| !text.is_empty());
        mapping(said.map(|(name, text)| (name, Value::from(text.as_str()))).collect())
    }
}

fn mapping<'a>(entries: Vec<(&'static str, Value<'a>)>) -> Value<'a> {
    Value::Mapping(entries.into_iter().map(|(name, value)| (Value::from(name), value)).collect())
}
