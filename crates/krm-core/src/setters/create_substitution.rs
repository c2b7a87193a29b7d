//! `CreateSubstitution`: defines a substitution and the setters that it needs, and adds references to its fields.

use krm_yaml::Path;

use super::add_references::AddReferences;
use super::create_setter::{CreateResult, check_name};
use super::definition::SetterValue;
use super::definitions::Definition;
use super::field_filter::{self, FieldFilter};
use super::kinds::SetterKind;
use super::new_definition::{self, Entries, NewSetter};
use super::pattern::{Pattern, PatternError};
use super::reference::ReferenceTarget;
use super::{ReferenceSyntax, Setters, resolve};
use crate::Diagnostic;

/// A new substitution.
#[derive(Clone, Debug)]
pub struct CreateSubstitution {
    /// Its name.
    pub name: String,
    /// The value of its fields.
    pub field_value: String,
    /// The pattern, with `${name}` for setters and substitutions.
    pub pattern: String,
    /// The end of the path of its fields; without one, all fields that have the value.
    pub field: Option<Path>,
    /// The syntax of the references.
    pub syntax: ReferenceSyntax,
}

impl CreateSubstitution {
    /// Whether a package has a field that would get a reference.
    pub fn matches(&self, setters: &Setters<'_>) -> bool {
        setters.files().iter().any(|file| !field_filter::find(file, &self.filter()).is_empty())
    }

    fn filter(&self) -> FieldFilter {
        let (path, value) = (self.field.clone(), Some(self.field_value.clone()));
        FieldFilter { path, value, lists: false }
    }

    /// Computes the changes in a package.
    pub fn compute<'a>(&self, setters: &Setters<'a>) -> Result<CreateResult<'a>, Vec<Diagnostic>> {
        setters.check()?;
        self.create(setters).map_err(|error| vec![error])
    }

    fn create<'a>(&self, setters: &Setters<'a>) -> Result<CreateResult<'a>, Diagnostic> {
        check_name(&self.name, setters)?;
        let pattern = self.parse_pattern()?;
        let new = self.new_setters(&pattern, setters)?;
        let filter = self.filter();
        let add = AddReferences::substitution(&self.name, &self.pattern, filter, self.syntax);
        let mut result = CreateResult::from(add.compute(setters));
        let values = new.iter().map(|(name, it)| (name.clone(), SetterValue::Scalar(it.clone())));
        if self.syntax == ReferenceSyntax::Pattern {
            let values: Vec<(String, SetterValue)> = values.collect();
            new_definition::define_in_function(setters, &values, &mut result.changes)?;
        } else {
            let setter = |(name, value)| NewSetter { name, value, ..NewSetter::default() };
            let mut entries: Entries<'a> = values.map(|it| setter(it).definition()).collect();
            let (markers, definitions) = (pattern.markers(), setters.definitions());
            entries.push(new_definition::substitution(
                &self.name,
                &self.pattern,
                &markers,
                definitions,
            ));
            let file = new_definition::definition_file(setters)?;
            new_definition::define(file, entries, &mut result.changes);
        }
        result.setters = new;
        Ok(result)
    }

    fn parse_pattern(&self) -> Result<Pattern, Diagnostic> {
        let invalid = |error: PatternError| {
            Diagnostic::error(error).context(format!("invalid pattern `{}`", self.pattern))
        };
        let pattern = Pattern::with_names(&self.pattern).map_err(invalid)?;
        if pattern.markers().is_empty() {
            return Err(invalid(PatternError::NoMarker));
        }
        if pattern.markers().contains(&self.name.as_str()) {
            let cycle = format!("{0} → {0}", self.name);
            return Err(Diagnostic::error(SetterKind::SubstitutionCycle { cycle }));
        }
        Ok(pattern)
    }

    /// The markers that are not defined yet, with the values that follow from the value of the fields.
    fn new_setters(
        &self,
        pattern: &Pattern,
        setters: &Setters<'_>,
    ) -> Result<Vec<(String, String)>, Diagnostic> {
        let definitions = setters.definitions();
        let get = |name: &str| definitions.get(&ReferenceTarget::Named(name.to_owned()));
        let known = |name: &str| match get(name)? {
            Definition::Setter(setter) => match setter.expand_enum(&setter.value) {
                SetterValue::Scalar(value) => Some(value),
                _ => None,
            },
            Definition::Substitution(it) => resolve::substitution_value(definitions, &it.name),
        };
        let is_new = |name: &&str| match get(name) {
            Some(Definition::Substitution(_)) => false,
            Some(Definition::Setter(setter)) => setter.location.is_none(),
            None => true,
        };
        let values = pattern.derive(&self.field_value, known).map_err(|problem| {
            Diagnostic::error(problem)
                .context(format!("cannot derive setters from `{}`", self.field_value))
                .hint("create setters for all markers first, and then the substitution")
        })?;
        let mut new = Vec::new();
        for name in pattern.markers().into_iter().filter(is_new) {
            if definitions.setter(name).is_none() {
                check_name(name, setters)?;
            }
            new.push((name.to_owned(), values.get(name).cloned().unwrap_or_default()));
        }
        Ok(new)
    }
}
