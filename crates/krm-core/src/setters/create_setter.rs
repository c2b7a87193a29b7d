//! `CreateSetter`: defines a setter and adds references to the fields that have its value.

use krm_yaml::{NodeRef, Path, Value};

use super::add_references::{AddReferences, AddReferencesResult};
use super::definition::{NodeLocation, Setter, SetterSource, SetterValue, openapi_type};
use super::field_filter::{self, FieldFilter};
use super::function_config::config_string;
use super::kinds::SetterKind;
use super::migrate::Dialect;
use super::new_definition::{self, Entries, NewSetter, entry, string};
use super::{Changes, ReferenceSyntax, Setters, existing_definition, root, schema_file, validate};
use crate::{Diagnostic, PackageFile};

/// A new setter. If it exists and agrees, references are added to fields that have none.
#[derive(Clone, Debug)]
pub struct CreateSetter<'a> {
    /// Its name.
    pub name: String,
    /// Its value; without one, the value of the fields.
    pub value: Option<String>,
    /// The end of the path of its fields; without one, all fields that have the value.
    pub field: Option<Path>,
    /// Who set it.
    pub set_by: Option<String>,
    /// What it is for.
    pub description: Option<String>,
    /// The type of its values; `array` for a list.
    pub schema_type: Option<String>,
    /// An OpenAPI schema with further rules for its values.
    pub schema: Option<&'a PackageFile>,
    /// Whether it must be set before the package is used.
    pub required: bool,
    /// The syntax of the references; none for that of the package.
    pub syntax: Option<ReferenceSyntax>,
}

/// The result of [`CreateSetter`] or [`CreateSubstitution`](super::CreateSubstitution).
#[derive(Debug, Default)]
pub struct CreateResult<'a> {
    /// The edits.
    pub changes: Changes<'a>,
    /// The fields that get a reference.
    pub fields: Vec<NodeLocation<'a>>,
    /// Setters that were created together with a substitution, and their values.
    pub setters: Vec<(String, String)>,
    /// Whether the definition existed before, so that only references are added.
    pub existed: bool,
    /// Fields that cannot get a reference, and what kpt-set cannot represent.
    pub warnings: Vec<Diagnostic>,
}

impl<'a> From<AddReferencesResult<'a>> for CreateResult<'a> {
    fn from(added: AddReferencesResult<'a>) -> Self {
        let AddReferencesResult { changes, fields, warnings } = added;
        Self { changes, fields, warnings, ..Self::default() }
    }
}

/// Checks that a name is not defined yet, and that every reference syntax can contain it.
pub(super) fn check_name(name: &str, setters: &Setters<'_>) -> Result<(), Diagnostic> {
    let definitions = setters.definitions();
    let setter = definitions.setter(name).and_then(|it| it.location).map(|at| ("setter", at));
    let substitution = || definitions.substitution(name).map(|it| ("substitution", it.location));
    if let Some((kind, location)) = setter.or_else(substitution) {
        let target = format!("{kind} `{name}`");
        return Err(location.error(SetterKind::AlreadyDefined { target }));
    }
    let is_special = |c: char| c.is_whitespace() || c.is_control() || "\"'\\{}$#,".contains(c);
    if name.is_empty() || name.contains(is_special) {
        return Err(Diagnostic::error(SetterKind::InvalidName { name: name.to_owned() }));
    }
    Ok(())
}

impl<'a> CreateSetter<'a> {
    /// Whether a package has a field that would get a reference.
    pub fn matches(&self, setters: &Setters<'a>) -> bool {
        let Ok(schema) = self.schema() else { return true };
        let filter = self.filter(is_array(&schema), self.value.clone());
        setters.resource_files().any(|file| !field_filter::find(file, &filter).is_empty())
    }

    fn filter(&self, lists: bool, value: Option<String>) -> FieldFilter {
        let value = value.filter(|_| !lists).map(SetterValue::Scalar);
        FieldFilter { path: self.field.clone(), value, lists }
    }

    /// Computes the changes in a package.
    pub fn compute(&self, setters: &Setters<'a>) -> Result<CreateResult<'a>, Vec<Diagnostic>> {
        setters.check()?;
        let one = |error: Diagnostic| vec![error];
        let schema = self.schema()?;
        let syntax = self.syntax.unwrap_or_else(|| setters.syntax_for(&self.name));
        let existing = setters.definitions().setter(&self.name);
        if let Some(existing) = existing.filter(|it| it.location.is_some()) {
            existing_definition::check_setter(self, existing, &schema).map_err(one)?;
            return Ok(self.add_references(existing, setters, syntax));
        }
        check_name(&self.name, setters).map_err(one)?;
        let is_list = is_array(&schema);
        let value = self.value(setters, is_list).map_err(one)?;
        self.validate(&value)?;
        let filter = self.filter(is_list, self.value.clone());
        let add = AddReferences::setter(&self.name, filter, syntax);
        let mut result = CreateResult::from(add.compute(setters));
        if syntax == ReferenceSyntax::Pattern {
            let fields: Vec<NodeRef<'a>> = result.fields.iter().map(|it| it.node).collect();
            let new = [(self.name.clone(), config_string(&value, fields))];
            new_definition::define_in_function(setters, &new, &mut result.changes).map_err(one)?;
            result.warnings.extend(self.losses(&schema));
            return Ok(result);
        }
        let new = NewSetter {
            name: self.name.clone(),
            value,
            set_by: self.set_by.clone(),
            required: self.required,
            schema,
        };
        let file = new_definition::definition_file(setters).map_err(one)?;
        new_definition::define(file, vec![new.definition()], &mut result.changes);
        Ok(result)
    }

    /// Adds references to the fields that have the value of an existing setter, and no reference.
    ///
    /// Spec: "Add will write a JSON OpenAPI string as a comment to any fields matching the specified FieldName and FieldValue."
    fn add_references(
        &self,
        existing: &Setter<'a>,
        setters: &Setters<'a>,
        syntax: ReferenceSyntax,
    ) -> CreateResult<'a> {
        let (path, lists) = (self.field.clone(), existing.is_list());
        let filter =
            FieldFilter { path, value: Some(existing.expand_enum(&existing.value)), lists };
        let add = AddReferences::setter(&self.name, filter, syntax);
        CreateResult { existed: true, ..CreateResult::from(add.compute(setters)) }
    }

    /// What was given and the functionConfig of apply-setters has no place for.
    fn losses(&self, schema: &Entries<'a>) -> Vec<Diagnostic> {
        let rules = schema.iter().filter_map(|(key, value)| match key {
            Value::String(key) if !(key == "type" && is_string(value, "array")) => Some(&**key),
            _ => None,
        });
        let set_by = self.set_by.as_ref().map(|_| "setBy");
        let required = self.required.then_some("required");
        let all = rules.chain(set_by).chain(required);
        let loss = |key: &str| Dialect::KptSet.loss(format!("`{key}` of setter `{}`", self.name));
        all.map(|key| Diagnostic::warning(loss(key))).collect()
    }

    /// The type, the description, and the rules of the schema file.
    fn schema(&self) -> Result<Entries<'a>, Vec<Diagnostic>> {
        let one = |error: Diagnostic| vec![error];
        let flag = self.schema_type.as_deref().map(parse_type).transpose().map_err(one)?;
        let file = self.schema.and_then(|file| Some((file, root(file)?)));
        let in_file = file.and_then(|(_, root)| schema_file::type_of(root));
        let mut schema: Entries<'a> = Vec::new();
        schema.extend(flag.filter(|_| in_file.is_none()).map(|it| entry("type", string(it))));
        schema.extend(self.description.as_deref().map(|it| entry("description", string(it))));
        let Some((file, root)) = file else { return Ok(schema) };
        schema_file::read(file, root, &mut schema)?;
        if let (Some(flag), Some(in_file)) = (flag, &in_file)
            && openapi_type(in_file) != Some(flag)
        {
            let schema = in_file.to_string().into();
            let kind = SetterKind::TypeConflict { flag, schema };
            return Err(vec![Diagnostic::error(kind).in_file(&*file.display_path)]);
        }
        Ok(schema)
    }

    /// The given value, or the one that all selected fields have.
    fn value(&self, setters: &Setters<'a>, lists: bool) -> Result<SetterValue, Diagnostic> {
        if let (Some(value), false) = (&self.value, lists) {
            return Ok(SetterValue::Scalar(value.clone()));
        }
        if self.field.is_none() {
            return Err(Diagnostic::error(SetterKind::NoSelection));
        }
        match common_value(setters, &self.filter(lists, None))? {
            Some(value) => Ok(value),
            None if lists => Ok(SetterValue::List(self.value.clone().into_iter().collect())),
            None => Err(Diagnostic::error(SetterKind::NoMatchingField)),
        }
    }

    /// Validates the value against the schema file and the type.
    fn validate(&self, value: &SetterValue) -> Result<(), Vec<Diagnostic>> {
        let flag = self.schema_type.as_deref().and_then(openapi_type);
        let flag = flag.map(|schema_type| format!("type: {schema_type}\n"));
        let flag = flag.and_then(|text| PackageFile::from_text("schema", text).ok());
        for (file, is_flag) in [(self.schema, false), (flag.as_ref(), true)] {
            let (Some(file), Some(node)) = (file, file.and_then(root)) else { continue };
            let source = SetterSource::OpenApi { definition: node, setter: node };
            let mut setter = Setter::new(self.name.clone(), source);
            setter.location = Some(NodeLocation { file, node });
            let mut errors = validate::check(&setter, value).errors;
            if is_flag {
                // The rule is a flag of the command line and has no location.
                errors.iter_mut().for_each(|it| (it.file, it.location) = (None, None));
            }
            if !errors.is_empty() {
                return Err(errors);
            }
        }
        Ok(())
    }
}

/// The value that all selected fields have; none if no field is selected.
fn common_value(
    setters: &Setters<'_>,
    filter: &FieldFilter,
) -> Result<Option<SetterValue>, Diagnostic> {
    let mut first: Option<(NodeLocation<'_>, SetterValue)> = None;
    for file in setters.resource_files() {
        for node in field_filter::find(file, filter) {
            let value = SetterValue::of_node(node);
            match &first {
                None => first = Some((NodeLocation { file, node }, value)),
                Some((_, other)) if *other == value => {}
                Some((location, other)) => {
                    let values = format!("`{value}` here, `{other}`").into();
                    let location = location.to_string();
                    let kind = SetterKind::DifferentValues { values, location };
                    return Err(NodeLocation { file, node }.error(kind));
                }
            }
        }
    }
    Ok(first.map(|(_, value)| value))
}

fn parse_type(name: &str) -> Result<&'static str, Diagnostic> {
    let unknown = || Diagnostic::error(SetterKind::UnknownType { found: name.into() });
    openapi_type(name).ok_or_else(unknown)
}

/// Whether a schema is that of a list.
fn is_array(schema: &Entries<'_>) -> bool {
    schema.iter().any(|(key, value)| is_string(key, "type") && is_string(value, "array"))
}

fn is_string(value: &Value<'_>, expected: &str) -> bool {
    matches!(value, Value::String(text) if text == expected)
}
