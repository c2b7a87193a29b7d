//! New substitutions: a pattern, the setters that it names, and references in the fields that hold the value.

use krm_yaml::Path;

use super::add_references::AddReferences;
use super::create_setter::{CreateResult, check_name};
use super::definition::SetterValue;
use super::definitions::Definition;
use super::field_filter::{self, FieldFilter};
use super::new_definition::{self, Entries, NewSetter};
use super::pattern::Pattern;
use super::reference::{ReferenceTarget, SETTER_PREFIX, SUBSTITUTION_PREFIX};
use super::{ReferenceSyntax, Setters};
use crate::Diagnostic;

/// A substitution to be made.
#[derive(Clone, Debug)]
pub struct CreateSubstitution {
    /// Its name.
    pub name: String,
    /// The value of the fields that follow it.
    pub field_value: String,
    /// The pattern, with `${name}` for setters and substitutions.
    pub pattern: String,
    /// Which fields; all that hold the value where there is none.
    pub field: Option<Path>,
    /// How references are written.
    pub form: ReferenceSyntax,
}

impl CreateSubstitution {
    /// Whether a package has a field that would follow it.
    pub fn matches(&self, setters: &Setters<'_>) -> bool {
        setters.files().iter().any(|file| !field_filter::find(file, &self.wanted()).is_empty())
    }

    fn wanted(&self) -> FieldFilter {
        FieldFilter {
            field: self.field.clone(),
            value: Some(self.field_value.clone()),
            lists: false,
        }
    }

    /// What it comes to in a package.
    pub fn compute<'a>(&self, setters: &Setters<'a>) -> Result<CreateResult<'a>, Vec<Diagnostic>> {
        if !setters.errors().is_empty() {
            return Err(setters.errors().to_vec());
        }
        self.make(setters).map_err(|error| vec![error])
    }

    fn make<'a>(&self, setters: &Setters<'a>) -> Result<CreateResult<'a>, Diagnostic> {
        check_name(&self.name, setters)?;
        let pattern = Pattern::with_names(&self.pattern).map_err(|error| {
            Diagnostic::untyped_error(format!("the pattern `{}`: {error}", self.pattern))
        })?;
        if pattern.markers().is_empty() {
            let words = format!("the pattern `{}` has no marker", self.pattern);
            return Err(Diagnostic::untyped_error(words)
                .hint("write ${name} where the value of a setter goes"));
        }
        if pattern.markers().contains(&self.name.as_str()) {
            let words = format!("substitutions go round in a circle: {0} → {0}", self.name);
            return Err(Diagnostic::untyped_error(words));
        }
        let new = self.new_setters(&pattern, setters)?;
        let add =
            AddReferences::substitution(&self.name, &self.pattern, self.wanted()).form(self.form);
        let mut created = CreateResult::of(add.compute(setters));
        if self.form == ReferenceSyntax::Pattern {
            let values: Vec<_> = new
                .iter()
                .map(|(name, value)| (name.clone(), SetterValue::Text(value.clone())))
                .collect();
            new_definition::define_in_function(setters, &values, &mut created.changes)?;
        } else {
            let mut entries: Entries<'a> = Vec::new();
            for (name, value) in &new {
                let value = SetterValue::Text(value.clone());
                entries.push(
                    NewSetter { name: name.clone(), value, ..NewSetter::default() }.definition(),
                );
            }
            let markers: Vec<(String, String)> =
                pattern.markers().into_iter().map(|name| key_of(name, setters)).collect();
            entries.push(new_definition::substitution(&self.name, &self.pattern, &markers));
            new_definition::define(
                new_definition::definition_file(setters)?,
                entries,
                &mut created.changes,
            );
        }
        created.setters = new;
        Ok(created)
    }

    /// Setters that the pattern names and nobody defined, with the values that the fields tell.
    fn new_setters(
        &self,
        pattern: &Pattern,
        setters: &Setters<'_>,
    ) -> Result<Vec<(String, String)>, Diagnostic> {
        let definitions = setters.definitions();
        let known = |name: &str| match definitions.get(&ReferenceTarget::Named(name.to_owned())) {
            Some(Definition::Setter(setter)) => match &setter.value {
                SetterValue::Text(text) => Some(setter.meaning(text).to_owned()),
                _ => None,
            },
            Some(Definition::Substitution(it)) => {
                super::resolve::value_of_substitution(definitions, &it.name)
            }
            None => None,
        };
        let is_new = |name: &str| {
            let there = definitions.get(&ReferenceTarget::Named(name.to_owned()));
            !matches!(there, Some(Definition::Substitution(_)))
                && !matches!(there, Some(Definition::Setter(it)) if it.location.is_some())
        };
        let reading = pattern.derive(&self.field_value, known).map_err(|problem| {
            let words =
                format!("the value `{}` and the pattern `{pattern}`: {problem}", self.field_value);
            Diagnostic::untyped_error(words)
                .hint("create setters for all markers first, and then the substitution")
        })?;
        let mut new = Vec::new();
        for name in pattern.markers().into_iter().filter(|name| is_new(name)) {
            if definitions.setter(name).is_none() {
                check_name(name, setters)?;
            }
            new.push((name.to_owned(), reading.get(name).cloned().unwrap_or_default()));
        }
        Ok(new)
    }
}

/// The marker of a name, and the key of what it stands for.
fn key_of(name: &str, setters: &Setters<'_>) -> (String, String) {
    let is_substitution = matches!(
        setters.definitions().get(&ReferenceTarget::Named(name.to_owned())),
        Some(Definition::Substitution(_))
    );
    let prefix = if is_substitution { SUBSTITUTION_PREFIX } else { SETTER_PREFIX };
    (format!("${{{name}}}"), format!("{prefix}{name}"))
}
