//! `CreateSubstitution`: defines a substitution and the setters that it needs, and adds references to its fields.

use krm_yaml::Path;

use super::add_references::AddReferences;
use super::create_setter::{CreateResult, check_name};
use super::definition::SetterValue;
use super::definitions::Definition;
use super::field_filter::{self, FieldFilter};
use super::kinds::SetterKind;
use super::new_definition::{self, Entries, NewSetter, NewSubstitution};
use super::pattern::{Pattern, PatternError};
use super::reference::ReferenceTarget;
use super::{ReferenceSyntax, Setters, existing_definition, resolve};
use crate::Diagnostic;

/// A new substitution. If it exists with the same pattern, references are added to fields that have none.
#[derive(Clone, Debug)]
pub struct CreateSubstitution {
    /// Its name.
    pub name: String,
    /// The value of its fields.
    pub field_value: String,
    /// The pattern, with `${name}` for setters and substitutions, or with markers.
    pub pattern: String,
    /// Markers of the pattern, and the names of their setters or substitutions.
    ///
    /// Without any, and without `${name}` in the pattern, its words in capital letters are markers: `IMAGE_TAG` for `image-tag`.
    pub markers: Vec<(String, String)>,
    /// The end of the path of its fields; without one, all fields that have the value.
    pub field: Option<Path>,
    /// The syntax of the references; none for that of the package.
    pub syntax: Option<ReferenceSyntax>,
}

/// A pattern, and what its markers stand for.
struct NamedPattern {
    /// The pattern with `${name}` for each marker.
    named: Pattern,
    /// Markers as they are written, and names.
    markers: Vec<(String, String)>,
}

impl CreateSubstitution {
    /// Whether a package has a field that would get a reference.
    pub fn matches(&self, setters: &Setters<'_>) -> bool {
        setters.resource_files().any(|file| !field_filter::find(file, &self.filter()).is_empty())
    }

    fn filter(&self) -> FieldFilter {
        let value = Some(SetterValue::Scalar(self.field_value.clone()));
        FieldFilter { path: self.field.clone(), value, lists: false }
    }

    /// Computes the changes in a package.
    pub fn compute<'a>(&self, setters: &Setters<'a>) -> Result<CreateResult<'a>, Vec<Diagnostic>> {
        setters.check()?;
        self.create(setters).map_err(|error| vec![error])
    }

    fn create<'a>(&self, setters: &Setters<'a>) -> Result<CreateResult<'a>, Diagnostic> {
        let pattern = self.parse_pattern()?;
        let existing = setters.definitions().substitution(&self.name);
        let syntax = match existing {
            Some(_) => self.syntax.unwrap_or(ReferenceSyntax::OpenApi),
            None => self.syntax.unwrap_or_else(|| setters.syntax_for(&self.name)),
        };
        let text = pattern.named.as_str();
        let add = AddReferences::substitution(&self.name, text, self.filter(), syntax);
        if let Some(existing) = existing {
            existing_definition::check_substitution(
                existing,
                &pattern.named,
                &self.field_value,
                setters,
            )?;
            return Ok(CreateResult { existed: true, ..add.compute(setters).into() });
        }
        check_name(&self.name, setters)?;
        let new = self.new_setters(&pattern.named, setters)?;
        let mut result = CreateResult::from(add.compute(setters));
        if syntax == ReferenceSyntax::Pattern {
            new_definition::define_in_function(setters, &new, &mut result.changes)?;
        } else {
            let setter = |(name, value): &(String, String)| {
                let (name, value) = (name.clone(), SetterValue::Scalar(value.clone()));
                NewSetter { name, value, ..NewSetter::default() }.definition()
            };
            let mut entries: Entries<'a> = new.iter().map(setter).collect();
            let NamedPattern { markers, .. } = pattern;
            let substitution =
                NewSubstitution { name: &self.name, pattern: &self.pattern, markers };
            entries.push(substitution.definition(setters.definitions()));
            let file = new_definition::definition_file(setters)?;
            new_definition::define(file, entries, &mut result.changes);
        }
        result.setters = new;
        Ok(result)
    }

    fn parse_pattern(&self) -> Result<NamedPattern, Diagnostic> {
        let invalid = |error: PatternError| {
            Diagnostic::error(error).context(format!("invalid pattern `{}`", self.pattern))
        };
        let names = Pattern::with_names(&self.pattern).map_err(invalid)?;
        let mut markers = self.markers.clone();
        markers.extend(names.markers().into_iter().map(|it| (format!("${{{it}}}"), it.to_owned())));
        let written: Vec<&str> = markers.iter().map(|(marker, _)| marker.as_str()).collect();
        let pattern = match written.is_empty() {
            true => Pattern::with_capitals(&self.pattern),
            false => Pattern::new(&self.pattern, &written),
        };
        let pattern = pattern.map_err(invalid)?;
        if markers.is_empty() {
            let name = |it: &str| (it.to_owned(), it.to_lowercase().replace('_', "-"));
            markers = pattern.markers().into_iter().map(name).collect();
        }
        let name = |marker: &str| {
            let found = markers.iter().find(|(other, _)| other == marker);
            found.map_or_else(|| marker.to_owned(), |(_, name)| name.clone())
        };
        let named = pattern.renamed(name);
        if named.markers().contains(&self.name.as_str()) {
            let cycle = format!("{0} → {0}", self.name);
            return Err(Diagnostic::error(SetterKind::SubstitutionCycle { cycle }));
        }
        Ok(NamedPattern { named, markers })
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
