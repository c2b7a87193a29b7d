//! `Apply`: the values of a functionConfig go into the fields of a file that name them with `kpt-set`.

use krm_yaml::{CommentPosition, NodeKind, NodeRef, Value};

use super::changes::{Changes, Op};
use super::definition::{SetterValue, warning_at};
use super::definitions::Definitions;
use super::fields::{self, SetterField};
use super::pattern::Pattern;
use super::reference::ReferenceTarget;
use super::resolve::{FieldResolver, Values};
use super::{function_config, set};
use crate::model::resource::is_null;
use crate::{Diagnostic, PackageFile};

/// Applies the values of a functionConfig.
///
/// A name that has no value keeps what stands in the field, where that can be told in one way only.
///
/// ```
/// use krm_core::PackageFile;
/// use krm_core::setters::Apply;
///
/// let config = PackageFile::from_text("setters.yaml", "data:\n  image: ubuntu\n")?;
/// let data = config.file().and_then(|file| file.document(0)?.find(&"data".parse().ok()?)).expect("it is there");
/// let file = PackageFile::from_text("pod.yaml", "image: nginx:1.7.9 # kpt-set: ${image}:${tag}\n")?;
/// let apply = ApplySetters::new(&config, data).expect("these are values");
/// let applied = apply.compute(&file).expect("it can be set");
/// assert_eq!(applied.fields[0].value, "ubuntu:1.7.9");
/// let text = applied.changes.text(&file).expect("the file can be edited");
/// assert_eq!(text.as_deref(), Some("image: ubuntu:1.7.9 # kpt-set: ${image}:${tag}\n"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct ApplySetters<'a> {
    definitions: Definitions<'a>,
}

/// What applying comes to in a file.
#[derive(Debug, Default)]
pub struct ApplyResult<'a> {
    /// What changes.
    pub changes: Changes<'a>,
    /// The fields that follow a value, also those that hold it already.
    pub fields: Vec<AppliedField<'a>>,
    /// Comments that look like references and are none, and fields that cannot follow one.
    pub warnings: Vec<Diagnostic>,
}

/// A field and its new value.
#[derive(Clone, Debug)]
pub struct AppliedField<'a> {
    /// The field.
    pub field: SetterField<'a>,
    /// What it is set to; a list as the functionConfig writes it.
    pub value: String,
}

impl<'a> ApplySetters<'a> {
    /// The values in the `data` of a functionConfig.
    pub fn new(config: &'a PackageFile, data: NodeRef<'a>) -> Result<Self, Vec<Diagnostic>> {
        let mut definitions = Definitions::default();
        let mut errors = Vec::new();
        for mut setter in function_config::of_data(config, data) {
            let value = setter.function_config_value().map(NodeRef::resolve);
            if value.is_some_and(is_null) {
                setter.value = SetterValue::Text(String::new());
            }
            if value.is_some_and(|it| it.kind() == NodeKind::Mapping) {
                let words = format!("the value of `{}` is a mapping", setter.name);
                let hint = "a setter holds a text, or a list written as text";
                errors.extend(setter.location.map(|location| location.error(words).hint(hint)));
            }
            definitions.add(setter);
        }
        errors.append(&mut definitions.errors);
        if errors.is_empty() { Ok(Self { definitions }) } else { Err(errors) }
    }

    /// What it comes to in a file; nothing where a field stands in the way.
    pub fn compute<'b>(
        &'b self,
        file: &'b PackageFile,
    ) -> Result<ApplyResult<'b>, Vec<Diagnostic>> {
        let found = fields::find(file);
        let mut applied = ApplyResult { warnings: found.warnings, ..ApplyResult::default() };
        let mut errors = Vec::new();
        let values = Values::new();
        let definitions: &'b Definitions<'b> = &self.definitions;
        let mut filler = FieldResolver::new(definitions, &values);
        for field in found.fields {
            // Compat: the comment beside the value counts, and none on a line of its own.
            let ReferenceTarget::Pattern(pattern) = &field.reference.target else { continue };
            let is_given = |name: &&str| self.definitions.setter(name).is_some();
            if field.comment.position != CommentPosition::Line
                || !pattern.markers().iter().any(is_given)
            {
                continue;
            }
            if field.node.kind() == NodeKind::Mapping {
                let words = format!("`{pattern}` cannot be set here: this is a mapping");
                applied.warnings.push(warning_at(file, field.comment.span, words));
                continue;
            }
            match self.change(&field, pattern, &mut filler) {
                Ok((op, value)) => {
                    applied.warnings.extend(set::retyped(&field, &op));
                    applied.changes.at(file, field.node, op);
                    applied.fields.push(AppliedField { field, value });
                }
                Err(error) => errors.push(error),
            }
        }
        if errors.is_empty() { Ok(applied) } else { Err(errors) }
    }

    /// What becomes of a field, and how that is told.
    fn change<'b>(
        &'b self,
        field: &SetterField<'b>,
        pattern: &Pattern,
        filler: &mut FieldResolver<'_, 'b>,
    ) -> Result<(Op<'b>, String), Diagnostic> {
        let is_list = field.node.kind() == NodeKind::Sequence;
        let only = pattern.only_marker().and_then(|name| self.definitions.setter(name));
        let Some(setter) = only.filter(|_| is_list || is_null(field.node)) else {
            if is_list {
                let words = format!("invalid setter pattern for array node: \"{pattern}\"");
                let hint = "a list follows one setter alone: ${name}";
                return Err(field.location().error(words).hint(hint));
            }
            let op = filler.fill(field)?;
            let value = told(&op);
            return Ok((op, value));
        };
        let (raw, items) = match &setter.value {
            SetterValue::List(texts) => {
                let node = setter.function_config_value().map(NodeRef::resolve);
                (format!("[{}]", texts.join(", ")), node.and_then(items))
            }
            SetterValue::Text(text) => (text.clone(), function_config::items(text)),
            SetterValue::Unset => (String::new(), Some(Vec::new())),
        };
        match items {
            // An empty field becomes a list only by what is one.
            Some(items) if is_list || !items.is_empty() => Ok((list(field.node, items), raw)),
            // Nothing stays nothing.
            _ if !is_list && raw.is_empty() => Ok((Op::Set(field.node, Value::Null), raw)),
            _ if !is_list => filler.fill(field).map(|op| (op, raw)),
            _ => {
                let words = format!(
                    "input to array setter must be an array of values, but found {}",
                    crate::print::json::write(&Value::string(raw))
                );
                let hint = format!("give `{}` a list: [a, b]", setter.name);
                Err(field.location().error(words).hint(hint))
            }
        }
    }
}

/// The items of a list that is written as one.
fn items(node: NodeRef<'_>) -> Option<Vec<Value<'static>>> {
    let items = node.as_sequence()?.items().map(|item| item.to_value()?.into_owned());
    items.collect::<Result<_, _>>().ok()
}

/// Items that stay are not touched, where all are plain values.
fn list<'b>(node: NodeRef<'b>, items: Vec<Value<'static>>) -> Op<'b> {
    let is_plain = |value: &Value<'_>| !matches!(value, Value::Sequence(_) | Value::Mapping(_));
    if items.iter().all(is_plain) && fields::is_settable(node) && !is_null(node) {
        Op::List(node, items)
    } else {
        Op::Set(node, Value::Sequence(items))
    }
}

fn told(op: &Op<'_>) -> String {
    match op {
        Op::Set(_, Value::String(text) | Value::Number(text)) => text.to_string(),
        Op::Set(_, Value::Bool(value)) => value.to_string(),
        _ => String::new(),
    }
}
