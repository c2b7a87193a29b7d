//! New definitions: their YAML, and the file that they are added to.

use krm_yaml::{NodeRef, Path, Segment, Value};

use super::changes::{Changes, EditOp};
use super::definition::{SetterSource, SetterValue};
use super::definitions::{Definition, Definitions, definitions_node};
use super::kinds::SetterKind;
use super::reference::{self, ReferenceTarget, SETTER_PREFIX, SUBSTITUTION_PREFIX};
use super::{Setters, root};
use crate::model::resource::{field, scalar_text};
use crate::{Diagnostic, PackageFile};

/// The function that is added to a pipeline without apply-setters.
pub(super) const APPLY_SETTERS: &str = "ghcr.io/kptdev/krm-functions-catalog/apply-setters:v0.2";

/// The version of Kptfiles that have a pipeline.
pub(super) const KPT_V1: &str = "kpt.dev/v1";

/// The version of Kptfiles that have definitions instead of a pipeline.
pub(super) const KPT_V1ALPHA1: &str = "kpt.dev/v1alpha1";

/// Entries of a new mapping.
pub(super) type Entries<'a> = Vec<(Value<'a>, Value<'a>)>;

pub(super) fn entry<'a>(key: &str, value: Value<'a>) -> (Value<'a>, Value<'a>) {
    (string(key), value)
}

pub(super) fn string<'a>(text: &str) -> Value<'a> {
    Value::string(text.to_owned())
}

/// A setter to be defined in OpenAPI.
#[derive(Clone, Debug, Default)]
pub(super) struct NewSetter<'a> {
    pub(super) name: String,
    pub(super) value: SetterValue,
    pub(super) set_by: Option<String>,
    pub(super) required: bool,
    /// Type, description and validation rules: the entries beside `x-k8s-cli`.
    pub(super) schema: Entries<'a>,
}

impl<'a> NewSetter<'a> {
    /// The definition with its key.
    pub(super) fn definition(&self) -> (Value<'a>, Value<'a>) {
        let mut setter = vec![entry("name", string(&self.name))];
        match &self.value {
            SetterValue::Unset => {}
            SetterValue::Scalar(value) => setter.push(entry("value", string(value))),
            SetterValue::List(items) => {
                let items = items.iter().map(|item| string(item)).collect();
                setter.push(entry("listValues", Value::Sequence(items)));
            }
        }
        setter.extend(self.set_by.as_deref().map(|who| entry("setBy", string(who))));
        setter.extend(self.required.then(|| entry("required", Value::Bool(true))));
        let extension = Value::Mapping(vec![entry("setter", Value::Mapping(setter))]);
        let mut definition = self.schema.clone();
        definition.push(entry("x-k8s-cli", extension));
        entry(&format!("{SETTER_PREFIX}{}", self.name), Value::Mapping(definition))
    }
}

/// A substitution to be defined in OpenAPI: its pattern, and the setter or substitution of each marker.
pub(super) struct NewSubstitution<'n> {
    pub(super) name: &'n str,
    pub(super) pattern: &'n str,
    /// Markers and names.
    pub(super) markers: Vec<(String, String)>,
}

impl NewSubstitution<'_> {
    /// The definition with its key.
    pub(super) fn definition<'a>(&self, definitions: &Definitions<'_>) -> (Value<'a>, Value<'a>) {
        let value = |(marker, name): &(String, String)| {
            let prefix = match definitions.get(&ReferenceTarget::Named(name.clone())) {
                Some(Definition::Substitution(_)) => SUBSTITUTION_PREFIX,
                _ => SETTER_PREFIX,
            };
            Value::Mapping(vec![
                entry("marker", string(marker)),
                entry("ref", string(&reference::pointer(&format!("{prefix}{name}")))),
            ])
        };
        let substitution = vec![
            entry("name", string(self.name)),
            entry("pattern", string(self.pattern)),
            entry("values", Value::Sequence(self.markers.iter().map(value).collect())),
        ];
        let extension = Value::Mapping(vec![entry("substitution", Value::Mapping(substitution))]);
        let definition = Value::Mapping(vec![entry("x-k8s-cli", extension)]);
        entry(&format!("{SUBSTITUTION_PREFIX}{}", self.name), definition)
    }
}

fn path(keys: &[&str]) -> Path {
    let mut path = Path::default();
    keys.iter().for_each(|key| path.push(Segment::Key((*key).to_owned())));
    path
}

/// The file that new definitions are added to: one that already has definitions, or else the package file.
///
/// Compat: kpt cannot read a Kptfile of version 1 with definitions, so another file is required there.
pub(super) fn definition_file<'a>(setters: &Setters<'a>) -> Result<&'a PackageFile, Diagnostic> {
    let files = &setters.definition_files;
    let has_definitions = |file: &&&'a PackageFile| definitions_node(file).is_some();
    let krmfile = || files.iter().find(|file| file.path.name() == "Krmfile");
    let other = || files.iter().find(|file| !is_kpt_v1(file));
    let Some(file) = files.iter().find(has_definitions).or_else(krmfile).or_else(other).copied()
    else {
        return Err(match files.first() {
            Some(kptfile) => {
                Diagnostic::error(SetterKind::KptfileVersion).in_file(&*kptfile.display_path)
            }
            None => Diagnostic::error(SetterKind::NoPackageFile),
        });
    };
    if root(file).is_none_or(|root| root.as_mapping().is_none()) {
        return Err(Diagnostic::error(SetterKind::InvalidPackageFile).in_file(&*file.display_path));
    }
    Ok(file)
}

/// Whether a file is a Kptfile of a version that has a pipeline and no definitions.
pub(super) fn is_kpt_v1(file: &PackageFile) -> bool {
    let version = root(file).and_then(|root| field(root, "apiVersion")).and_then(scalar_text);
    file.path.name() == "Kptfile"
        && version.is_some_and(|it| it.starts_with("kpt.dev/v1") && it != KPT_V1ALPHA1)
}

/// Adds definitions to a file.
pub(super) fn define<'a>(file: &'a PackageFile, new: Entries<'a>, changes: &mut Changes<'a>) {
    if new.is_empty() {
        return;
    }
    let keys: &[&str] = match root(file).and_then(|root| field(root, "openAPI")) {
        _ if !file.path.is_package_file() => &["definitions"],
        Some(_) => &["openAPI", "definitions"],
        None => {
            let all = Value::Mapping(vec![entry("definitions", Value::Mapping(new))]);
            return changes.add(file, 0, EditOp::SetPath(path(&["openAPI"]), all));
        }
    };
    if definitions_node(file).is_none_or(|node| node.as_mapping().is_none()) {
        return changes.add(file, 0, EditOp::SetPath(path(keys), Value::Mapping(new)));
    }
    for (key, value) in new {
        let Value::String(key) = key else { continue };
        changes.add(file, 0, EditOp::SetPath(path(&[keys, &[&key]].concat()), value));
    }
}

/// Adds values to the functionConfig of apply-setters, and the function to the pipeline if it is missing.
pub(super) fn define_in_function<'a>(
    setters: &Setters<'a>,
    new: &[(String, String)],
    changes: &mut Changes<'a>,
) -> Result<(), Diagnostic> {
    if new.is_empty() {
        return Ok(());
    }
    let entries: Entries<'a> = new.iter().map(|(name, it)| entry(name, string(it))).collect();
    let with_data = setters.functions.iter().find_map(|it| Some((it.file, it.data?)));
    if let Some((file, data)) = with_data {
        for (key, value) in entries {
            let Value::String(key) = key else { continue };
            let mut to = data.path();
            to.push(Segment::Key(key.into_owned()));
            changes.add_at(file, data, EditOp::SetPath(to, value));
        }
        return Ok(());
    }
    let config = Value::Mapping(entries);
    if let Some(function) = setters.functions.first() {
        let mut to = function.node.path();
        to.push(Segment::Key("configMap".to_owned()));
        changes.add_at(function.file, function.node, EditOp::SetPath(to, config));
        return Ok(());
    }
    let kptfile = setters.files().iter().find(|file| file.path.name() == "Kptfile");
    let Some(file) = kptfile else { return Err(Diagnostic::error(SetterKind::NoKptfile)) };
    let call =
        Value::Mapping(vec![entry("image", string(APPLY_SETTERS)), entry("configMap", config)]);
    changes.add(file, 0, first_mutator(file, call));
    Ok(())
}

/// Adds a function before all others, so that they see the values that it sets.
fn first_mutator<'a>(file: &'a PackageFile, call: Value<'a>) -> EditOp<'a> {
    let pipeline = root(file).and_then(|root| field(root, "pipeline"));
    let mutators = pipeline.and_then(|it| field(it, "mutators"));
    let list = |call| Value::Sequence(vec![call]);
    match (pipeline, mutators.filter(|it| it.as_sequence().is_some())) {
        (_, Some(list)) => EditOp::Prepend(list, call),
        (Some(_), None) => EditOp::SetPath(path(&["pipeline", "mutators"]), list(call)),
        (None, None) => {
            let pipeline = Value::Mapping(vec![entry("mutators", list(call))]);
            EditOp::SetPath(path(&["pipeline"]), pipeline)
        }
    }
}

/// The node of a definition, to be removed or renamed.
pub(super) fn definition_node<'a>(source: SetterSource<'a>) -> Option<NodeRef<'a>> {
    match source {
        SetterSource::OpenApi { definition, .. } => Some(definition),
        SetterSource::FunctionConfig { value } => Some(value),
        SetterSource::FieldsOnly => None,
    }
}
