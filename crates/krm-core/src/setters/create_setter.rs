//! New setters: a definition, and references in the fields that hold the value already.

use krm_yaml::{NodeRef, Path, Value};

use super::add_references::{AddReferences, AddReferencesResult};
use super::definition::{NodeLocation, Setter, SetterSource, SetterValue, known_type, texts};
use super::field_filter::{self, FieldFilter};
use super::new_definition::{self, Entries, NewSetter};
use super::{Changes, ReferenceSyntax, Setters, validate};
use crate::model::resource::{field, scalar_text};
use crate::{Diagnostic, PackageFile};

/// A setter to be made.
#[derive(Clone, Debug)]
pub struct CreateSetter<'a> {
    /// Its name.
    pub name: String,
    /// Its value; without one, what stands in the fields.
    pub value: Option<String>,
    /// Which fields; all that hold the value where there is none.
    pub field: Option<Path>,
    /// Who set it.
    pub set_by: Option<String>,
    /// What it is for.
    pub description: Option<String>,
    /// The type of its values; `array` for a list.
    pub schema_type: Option<String>,
    /// More rules for its values: an OpenAPI schema.
    pub schema: Option<&'a PackageFile>,
    /// Whether somebody must set it.
    pub required: bool,
    /// How references are written.
    pub form: ReferenceSyntax,
}

/// What creating comes to.
#[derive(Debug, Default)]
pub struct CreateResult<'a> {
    /// What changes.
    pub changes: Changes<'a>,
    /// The fields that follow it.
    pub fields: Vec<NodeLocation<'a>>,
    /// Setters that were made along with a substitution, and their values.
    pub setters: Vec<(String, String)>,
    /// Fields that cannot follow it.
    pub warnings: Vec<Diagnostic>,
}

impl<'a> CreateResult<'a> {
    pub(super) fn of(added: AddReferencesResult<'a>) -> Self {
        let AddReferencesResult { changes, fields, warnings } = added;
        Self { changes, fields, setters: Vec::new(), warnings }
    }
}

/// A name that is free, and that every form of reference can hold.
pub(super) fn check_name(name: &str, setters: &Setters<'_>) -> Result<(), Diagnostic> {
    let definitions = setters.definitions();
    let there =
        definitions.setter(name).and_then(|it| it.location).map(|location| ("setter", location));
    let other = || definitions.substitution(name).map(|it| ("substitution", it.location));
    if let Some((what, location)) = there.or_else(other) {
        return Err(location.error(format!("a {what} `{name}` exists already")));
    }
    let odd = |c: char| c.is_whitespace() || c.is_control() || "\"'\\{}$#,".contains(c);
    if name.is_empty() || name.contains(odd) {
        let words = format!("`{name}` cannot be a name");
        return Err(Diagnostic::untyped_error(words).hint("letters, digits and -, _, . will do"));
    }
    Ok(())
}

impl<'a> CreateSetter<'a> {
    /// Whether a package has a field that would follow it.
    pub fn matches(&self, setters: &Setters<'a>) -> bool {
        let Ok(schema) = self.schema() else { return true };
        let wanted = self.wanted(is_array(&schema), self.value.clone());
        setters.files().iter().any(|file| !field_filter::find(file, &wanted).is_empty())
    }

    fn wanted(&self, lists: bool, value: Option<String>) -> FieldFilter {
        FieldFilter { field: self.field.clone(), value: value.filter(|_| !lists), lists }
    }

    /// What it comes to in a package.
    pub fn compute(&self, setters: &Setters<'a>) -> Result<CreateResult<'a>, Vec<Diagnostic>> {
        let one = |error: Diagnostic| vec![error];
        if !setters.errors().is_empty() {
            return Err(setters.errors().to_vec());
        }
        check_name(&self.name, setters).map_err(one)?;
        let schema = self.schema().map_err(one)?;
        let is_list = is_array(&schema);
        let value = self.value(setters, is_list).map_err(one)?;
        let wanted = self.wanted(is_list, self.value.clone());
        self.check(&value)?;
        let added = AddReferences::setter(&self.name, wanted).form(self.form).compute(setters);
        let mut created = CreateResult::of(added);
        if self.form == ReferenceSyntax::Pattern {
            let new = [(self.name.clone(), value)];
            new_definition::define_in_function(setters, &new, &mut created.changes).map_err(one)?;
            return Ok(created);
        }
        let new = NewSetter {
            name: self.name.clone(),
            value,
            set_by: self.set_by.clone(),
            required: self.required,
            schema,
        };
        let home = new_definition::definition_file(setters).map_err(one)?;
        new_definition::define(home, vec![new.definition()], &mut created.changes);
        Ok(created)
    }

    /// The type, the description, and the rules of the schema.
    fn schema(&self) -> Result<Entries<'a>, Diagnostic> {
        let kind = self.schema_type.as_deref().map(known).transpose()?;
        let root = self.schema.and_then(|file| file.file()?.document(0)?.root());
        let there = root.and_then(|root| scalar_text(field(root, "type")?));
        if let (Some(kind), Some(there), Some(file)) = (kind, &there, self.schema)
            && known_type(there) != Some(kind)
        {
            let words = format!("--type says {kind}, and the schema says {there}");
            return Err(Diagnostic::untyped_error(words).in_file(&*file.display_path));
        }
        let entry = |key: &str, value: &str| {
            (Value::string(key.to_owned()), Value::string(value.to_owned()))
        };
        let mut schema: Entries<'a> = Vec::new();
        schema.extend(kind.filter(|_| there.is_none()).map(|kind| entry("type", kind)));
        schema.extend(self.description.as_deref().map(|words| entry("description", words)));
        let rules = root.and_then(|root| root.as_mapping());
        for rule in rules.into_iter().flat_map(|it| it.entries().collect::<Vec<_>>()) {
            let value = rule
                .value
                .to_value()
                .map_err(|error| Diagnostic::untyped_error(error.to_string()))?;
            let key = scalar_text(rule.key).unwrap_or_default().into_owned();
            if !schema.iter().any(|(other, _)| is_text(other, &key)) {
                schema.push((Value::string(key), value));
            }
        }
        Ok(schema)
    }

    /// The value that was given, or the one that all fields hold.
    fn value(&self, setters: &Setters<'a>, lists: bool) -> Result<SetterValue, Diagnostic> {
        if let (Some(value), false) = (&self.value, lists) {
            return Ok(SetterValue::Text(value.clone()));
        }
        if self.field.is_none() {
            let words = "a value or a field is wanted, to know which fields are meant";
            return Err(Diagnostic::untyped_error(words).hint("add VALUE, or --field"));
        }
        let wanted = FieldFilter { field: self.field.clone(), value: None, lists };
        let mut first: Option<(NodeLocation<'a>, SetterValue)> = None;
        for file in setters.files() {
            for node in field_filter::find(file, &wanted) {
                let value = value_of(node);
                match &first {
                    None => first = Some((NodeLocation { file, node }, value)),
                    Some((_, other)) if *other == value => {}
                    Some((location, other)) => {
                        let words = format!(
                            "the fields hold different values: `{}` here, and `{}` in {}",
                            value.shown(),
                            other.shown(),
                            location
                        );
                        return Err(NodeLocation { file, node }
                            .error(words)
                            .hint("narrow --field, or give VALUE"));
                    }
                }
            }
        }
        match first {
            Some((_, value)) => Ok(value),
            None if lists => Ok(SetterValue::List(self.value.clone().into_iter().collect())),
            None => Err(Diagnostic::untyped_error(
                "no field matches, so that there is no value to begin with",
            )
            .hint("give VALUE, or another --field")),
        }
    }

    /// Holds the value against the rules that it brings along.
    fn check(&self, value: &SetterValue) -> Result<(), Vec<Diagnostic>> {
        let text =
            self.schema_type.as_deref().and_then(known_type).map(|kind| format!("type: {kind}\n"));
        let made = text.and_then(|text| PackageFile::from_text("schema", text).ok());
        for (file, is_made) in [(self.schema, false), (made.as_ref(), true)] {
            let root = file.and_then(|file| file.file()?.document(0)?.root());
            let (Some(file), Some(node)) = (file, root) else { continue };
            let mut setter = Setter::new(
                self.name.clone(),
                SetterSource::OpenApi { definition: node, setter: node },
            );
            setter.location = Some(NodeLocation { file, node });
            let mut errors = validate::check(&setter, value).errors;
            if is_made {
                // The rule stands on the command line.
                errors.iter_mut().for_each(|it| (it.file, it.location) = (None, None));
            }
            if !errors.is_empty() {
                return Err(errors);
            }
        }
        Ok(())
    }
}

fn known(text: &str) -> Result<&'static str, Diagnostic> {
    known_type(text).ok_or_else(|| {
        Diagnostic::untyped_error(format!("the type `{text}` is not known"))
            .hint("string, integer, number, boolean or array")
    })
}

/// Whether a schema is that of a list.
fn is_array(schema: &Entries<'_>) -> bool {
    schema.iter().any(|(key, value)| is_text(key, "type") && is_text(value, "array"))
}

fn is_text(value: &Value<'_>, wanted: &str) -> bool {
    matches!(value, Value::String(text) if text == wanted)
}

fn value_of(node: NodeRef<'_>) -> SetterValue {
    match node.as_scalar() {
        Some(scalar) => SetterValue::Text(scalar.value().into_owned()),
        None => SetterValue::List(texts(node)),
    }
}
