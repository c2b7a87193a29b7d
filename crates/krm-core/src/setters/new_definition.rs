//! New definitions: what they look like, and where they go.

use krm_yaml::{NodeRef, Path, Segment, Value};

use super::changes::{Changes, Op};
use super::definition::{SetterSource, SetterValue};
use super::definitions::definitions_node;
use super::reference::{self, SETTER_PREFIX, SUBSTITUTION_PREFIX};
use super::{Setters, function_config};
use crate::model::resource::field;
use crate::{Diagnostic, PackageFile};

/// The function that a pipeline gets where it has none.
pub(super) const APPLY_SETTERS: &str = "ghcr.io/kptdev/krm-functions-catalog/apply-setters:v0.2";

/// Entries of a mapping that is to be written.
pub(super) type Entries<'a> = Vec<(Value<'a>, Value<'a>)>;

fn entry<'a>(key: &str, value: Value<'a>) -> (Value<'a>, Value<'a>) {
    (Value::string(key.to_owned()), value)
}

fn text<'a>(text: &str) -> Value<'a> {
    Value::string(text.to_owned())
}

/// What is known about a new setter.
#[derive(Clone, Debug, Default)]
pub(super) struct NewSetter<'a> {
    pub(super) name: String,
    pub(super) value: SetterValue,
    pub(super) set_by: Option<String>,
    pub(super) required: bool,
    /// Type, description and rules, beside the extension.
    pub(super) schema: Entries<'a>,
}

impl<'a> NewSetter<'a> {
    /// The definition with its key.
    pub(super) fn definition(&self) -> (Value<'a>, Value<'a>) {
        let mut setter = vec![entry("name", text(&self.name))];
        match &self.value {
            SetterValue::Unset => {}
            SetterValue::Text(value) => setter.push(entry("value", text(value))),
            SetterValue::List(items) => {
                let items = items.iter().map(|item| text(item)).collect();
                setter.push(entry("listValues", Value::Sequence(items)));
            }
        }
        setter.extend(self.set_by.as_deref().map(|who| entry("setBy", text(who))));
        setter.extend(self.required.then(|| entry("required", Value::Bool(true))));
        let extension = Value::Mapping(vec![entry("setter", Value::Mapping(setter))]);
        let mut definition = self.schema.clone();
        definition.push(entry("x-k8s-cli", extension));
        entry(&format!("{SETTER_PREFIX}{}", self.name), Value::Mapping(definition))
    }
}

/// The definition of a substitution, with its key. Values are markers with the keys of definitions.
pub(super) fn substitution<'a>(
    name: &str,
    pattern: &str,
    values: &[(String, String)],
) -> (Value<'a>, Value<'a>) {
    let value = |(marker, key): &(String, String)| {
        Value::Mapping(vec![
            entry("marker", text(marker)),
            entry("ref", text(&reference::pointer(key))),
        ])
    };
    let inside = vec![
        entry("name", text(name)),
        entry("pattern", text(pattern)),
        entry("values", Value::Sequence(values.iter().map(value).collect())),
    ];
    let extension = Value::Mapping(vec![entry("substitution", Value::Mapping(inside))]);
    let definition = Value::Mapping(vec![entry("x-k8s-cli", extension)]);
    entry(&format!("{SUBSTITUTION_PREFIX}{name}"), definition)
}

fn path(steps: &[&str]) -> Path {
    let mut path = Path::default();
    steps.iter().for_each(|step| path.push(Segment::Key((*step).to_owned())));
    path
}

/// The file that new definitions go to: one that has some, else the package's own. kpt refuses definitions in its Kptfile
/// since version 1, so a Krmfile is preferred.
pub(super) fn definition_file<'a>(setters: &Setters<'a>) -> Result<&'a PackageFile, Diagnostic> {
    let has_some = |file: &&&'a PackageFile| definitions_node(file).is_some();
    let definition_files = &setters.definition_files;
    let krmfile = || definition_files.iter().find(|file| file.path.name() == "Krmfile");
    let home = definition_files.iter().find(has_some).or_else(krmfile).or(definition_files.first());
    let Some(home) = home.copied() else {
        let words = "the package has no Krmfile or Kptfile to define setters in";
        return Err(Diagnostic::untyped_error(words).hint("make one with `krm cfg init`"));
    };
    let root = home.file().and_then(|text| text.document(0)?.root());
    if root.is_none_or(|root| root.as_mapping().is_none()) {
        let words = "this file holds no mapping that definitions could go to";
        let hint = "begin it with apiVersion and kind, as `krm cfg init` does";
        return Err(Diagnostic::untyped_error(words).hint(hint).in_file(&*home.display_path));
    }
    Ok(home)
}

/// Adds definitions to a file.
pub(super) fn define<'a>(file: &'a PackageFile, new: Entries<'a>, changes: &mut Changes<'a>) {
    if new.is_empty() {
        return;
    }
    let root = file.file().and_then(|text| text.document(0)?.root());
    let steps: &[&str] = match root.and_then(|root| field(root, "openAPI")) {
        _ if !file.path.is_package_file() => &["definitions"],
        Some(_) => &["openAPI", "definitions"],
        None => {
            let all = Value::Mapping(vec![entry("definitions", Value::Mapping(new))]);
            return changes.add(file, 0, Op::Make(path(&["openAPI"]), all));
        }
    };
    if definitions_node(file).is_none_or(|node| node.as_mapping().is_none()) {
        return changes.add(file, 0, Op::Make(path(steps), Value::Mapping(new)));
    }
    for (key, value) in new {
        let Value::String(key) = key else { continue };
        changes.add(file, 0, Op::Make(path(&[steps, &[&key]].concat()), value));
    }
}

/// Gives setters values in the functionConfig of apply-setters; the function is added where the pipeline has none.
pub(super) fn define_in_function<'a>(
    setters: &Setters<'a>,
    new: &[(String, SetterValue)],
    changes: &mut Changes<'a>,
) -> Result<(), Diagnostic> {
    if new.is_empty() {
        return Ok(());
    }
    let value = |value: &SetterValue| match value {
        SetterValue::List(items) => text(&function_config::list_text(items, "")),
        other => text(&other.shown()),
    };
    let entries: Entries<'a> = new.iter().map(|(name, it)| entry(name, value(it))).collect();
    if let Some((file, data)) = setters.functions.iter().find_map(|it| Some((it.file, it.data?))) {
        for (key, value) in entries {
            let Value::String(key) = key else { continue };
            let mut to = data.path();
            to.push(Segment::Key(key.into_owned()));
            changes.at(file, data, Op::Make(to, value));
        }
        return Ok(());
    }
    let config = Value::Mapping(entries);
    if let Some(function) = setters.functions.first() {
        let mut to = function.node.path();
        to.push(Segment::Key("configMap".to_owned()));
        changes.at(function.file, function.node, Op::Make(to, config));
        return Ok(());
    }
    let kptfile = setters.files().iter().find(|file| file.path.name() == "Kptfile");
    let Some(file) = kptfile else {
        let words = "the package has no Kptfile, whose pipeline would hold the values";
        return Err(
            Diagnostic::untyped_error(words).hint("kpt-set is the dialect of kpt's packages")
        );
    };
    let call =
        Value::Mapping(vec![entry("image", text(APPLY_SETTERS)), entry("configMap", config)]);
    changes.add(file, 0, first_mutator(file, call));
    Ok(())
}

/// apply-setters comes before all other functions, which see the values then.
fn first_mutator<'a>(file: &'a PackageFile, call: Value<'a>) -> Op<'a> {
    let root = file.file().and_then(|text| text.document(0)?.root());
    let pipeline = root.and_then(|root| field(root, "pipeline"));
    let mutators = pipeline.and_then(|it| field(it, "mutators"));
    let list = |call| Value::Sequence(vec![call]);
    match (pipeline, mutators.filter(|it| it.as_sequence().is_some())) {
        (_, Some(list)) => Op::First(list, call),
        (Some(_), None) => Op::Make(path(&["pipeline", "mutators"]), list(call)),
        (None, None) => {
            let pipeline = Value::Mapping(vec![entry("mutators", list(call))]);
            Op::Make(path(&["pipeline"]), pipeline)
        }
    }
}

/// The entry of a definition that is removed or renamed: its key, and the value that goes with it.
pub(super) fn definition_of<'a>(source: SetterSource<'a>) -> Option<NodeRef<'a>> {
    match source {
        SetterSource::OpenApi { definition, .. } => Some(definition),
        SetterSource::FunctionConfig { value } => Some(value),
        SetterSource::FieldsOnly => None,
    }
}
