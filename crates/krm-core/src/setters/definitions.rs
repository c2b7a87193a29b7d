//! All definitions of a package: looked up by name, checked against each other.

use std::collections::{BTreeMap, BTreeSet};

use krm_yaml::NodeRef;

use super::definition::{NodeLocation, Setter, SetterSource, SetterValue, Substitution, error_at};
use super::kinds::SetterKind;
use super::parse_definition::{self, DefinitionEntry};
use super::reference::{Reference, ReferenceTarget};
use super::{function_config, mapping_entries, root};
use crate::model::resource::field;
use crate::{Diagnostic, PackageFile};

/// The setters and substitutions of a package.
#[derive(Clone, Debug, Default)]
pub struct Definitions<'a> {
    setters: BTreeMap<String, Setter<'a>>,
    substitutions: BTreeMap<String, Substitution<'a>>,
    /// What is wrong with them.
    pub(super) errors: Vec<Diagnostic>,
}

/// What a reference resolves to.
#[derive(Clone, Copy, Debug)]
pub(super) enum Definition<'d, 'a> {
    Setter(&'d Setter<'a>),
    Substitution(&'d Substitution<'a>),
}

impl<'a> Definitions<'a> {
    /// Adds what an OpenAPI document, a Krmfile or a Kptfile defines.
    pub(super) fn read(&mut self, file: &'a PackageFile) {
        for entry in definitions_node(file).into_iter().flat_map(mapping_entries) {
            match parse_definition::parse(file, entry) {
                Ok(DefinitionEntry::Setter(setter)) => self.add(*setter),
                Ok(DefinitionEntry::Substitution(new)) => self.add_substitution(new),
                Ok(DefinitionEntry::Other) => {}
                Err(error) => self.errors.push(error),
            }
        }
    }

    /// Adds a setter; two of one name are an error.
    pub(super) fn add(&mut self, setter: Setter<'a>) {
        let Some(first) = self.setters.get(&setter.name) else {
            self.setters.insert(setter.name.clone(), setter);
            return;
        };
        if let (Some(first), Some(second)) = (first.location, setter.location) {
            self.errors.push(defined_twice("setter", &setter.name, first, second));
        }
        // Functions of a pipeline run in order, so the value of the last one remains.
        if matches!(
            (first.source, setter.source),
            (SetterSource::FunctionConfig { .. }, SetterSource::FunctionConfig { .. })
        ) {
            self.setters.insert(setter.name.clone(), setter);
        }
    }

    fn add_substitution(&mut self, new: Substitution<'a>) {
        match self.substitutions.get(&new.name) {
            Some(first) => {
                let (first, second) = (first.location, new.location);
                self.errors.push(defined_twice("substitution", &new.name, first, second));
            }
            None => {
                self.substitutions.insert(new.name.clone(), new);
            }
        }
    }

    /// Adds a setter that only a `kpt-set` comment names, unless it is defined.
    pub(super) fn add_from_field(&mut self, name: &str) {
        let new = || Setter::new(name.to_owned(), SetterSource::FieldsOnly);
        self.setters.entry(name.to_owned()).or_insert_with(new);
    }

    /// Gives a setter without a value the one that was derived from its fields.
    pub(super) fn set_derived_value(&mut self, name: &str, value: SetterValue) {
        if let Some(setter) = self.setters.get_mut(name)
            && setter.value == SetterValue::Unset
        {
            setter.value = value;
        }
    }

    /// Reads the string value of a setter as a list, because a sequence follows it.
    ///
    /// Compat: a ConfigMap holds strings only, so kpt writes a list as a string of YAML.
    pub(super) fn treat_as_list(&mut self, name: &str) {
        if let Some(setter) = self.setters.get_mut(name)
            && let (SetterSource::FunctionConfig { .. }, SetterValue::Scalar(text)) =
                (setter.source, &setter.value)
            && let Some(items) = function_config::parse_scalar_list(text)
        {
            setter.value = SetterValue::List(items);
        }
    }

    /// The setters, sorted by name.
    pub fn setters(&self) -> impl Iterator<Item = &Setter<'a>> {
        self.setters.values()
    }

    /// The substitutions, sorted by name.
    pub(super) fn substitutions(&self) -> impl Iterator<Item = &Substitution<'a>> {
        self.substitutions.values()
    }

    /// The setter of this name.
    pub fn setter(&self, name: &str) -> Option<&Setter<'a>> {
        self.setters.get(name)
    }

    /// The substitution of this name.
    pub fn substitution(&self, name: &str) -> Option<&Substitution<'a>> {
        self.substitutions.get(name)
    }

    /// What a target names, if it is defined.
    pub(super) fn get(&self, target: &ReferenceTarget) -> Option<Definition<'_, 'a>> {
        let setter = |name: &str| self.setter(name).map(Definition::Setter);
        let substitution = |name: &str| self.substitution(name).map(Definition::Substitution);
        match target {
            ReferenceTarget::Setter(name) => setter(name),
            ReferenceTarget::Substitution(name) => substitution(name),
            ReferenceTarget::Named(name) => setter(name).or_else(|| substitution(name)),
            ReferenceTarget::Pattern(_) | ReferenceTarget::Foreign(_) => None,
        }
    }

    /// The names of all setters that determine the value of a field with this reference.
    pub(super) fn setters_of(&self, reference: &Reference) -> BTreeSet<String> {
        match &reference.target {
            ReferenceTarget::Pattern(pattern) => {
                pattern.markers().into_iter().map(str::to_owned).collect()
            }
            target => self.setters_of_target(target),
        }
    }

    pub(super) fn setters_of_target(&self, target: &ReferenceTarget) -> BTreeSet<String> {
        let mut names = BTreeSet::new();
        // Each substitution is visited once: they can share parts, and a cycle must end.
        let mut seen = BTreeSet::new();
        let mut waiting = vec![target];
        while let Some(target) = waiting.pop() {
            match self.get(target) {
                Some(Definition::Setter(setter)) => {
                    names.insert(setter.name.clone());
                }
                Some(Definition::Substitution(substitution)) if seen.insert(&substitution.name) => {
                    waiting.extend(substitution.values.iter().map(|value| &value.target));
                }
                _ => {}
            }
        }
        names
    }

    /// Reports references of substitutions that are not defined, and cycles.
    pub(super) fn check(&mut self) {
        let mut errors = Vec::new();
        for substitution in self.substitutions.values() {
            for value in &substitution.values {
                if self.get(&value.target).is_none() {
                    let kind = SetterKind::NotDefined { target: value.target.to_string() };
                    let (marker, name) = (&value.marker, &substitution.name);
                    let error = error_at(substitution.location.file, value.node.full_span(), kind);
                    errors
                        .push(error.context(format!("marker `{marker}` of substitution `{name}`")));
                }
            }
        }
        errors.extend(self.cycle());
        self.errors.extend(errors);
    }

    /// The first cycle among substitutions.
    ///
    /// A depth-first search with a stack of its own: definitions may refer to each other deeper than the call stack.
    fn cycle(&self) -> Option<Diagnostic> {
        let mut done: BTreeSet<&str> = BTreeSet::new();
        for start in self.substitutions.values() {
            // Each substitution on the path, with the index of its next value.
            let mut path: Vec<(&Substitution<'a>, usize)> = vec![(start, 0)];
            while let Some((at, next)) = path.last_mut() {
                let Some(value) = at.values.get(*next) else {
                    done.insert(&at.name);
                    path.pop();
                    continue;
                };
                *next += 1;
                let Some(Definition::Substitution(to)) = self.get(&value.target) else { continue };
                if let Some(from) = path.iter().position(|(step, _)| step.name == to.name) {
                    let names = path[from..].iter().map(|(step, _)| step.name.as_str());
                    let names: Vec<&str> = names.chain([to.name.as_str()]).collect();
                    let kind = SetterKind::SubstitutionCycle { cycle: names.join(" → ") };
                    return Some(to.location.error(kind));
                }
                if !done.contains(to.name.as_str()) {
                    path.push((to, 0));
                }
            }
        }
        None
    }
}

fn defined_twice(
    kind: &str,
    name: &str,
    first: NodeLocation<'_>,
    second: NodeLocation<'_>,
) -> Diagnostic {
    let target = format!("{kind} `{name}`");
    second.error(SetterKind::DefinedTwice { target, first: first.to_string() })
}

/// `openAPI.definitions` of a package file, or `definitions` of an OpenAPI document.
pub(super) fn definitions_node(file: &PackageFile) -> Option<NodeRef<'_>> {
    let root = root(file)?;
    let inside = field(root, "openAPI").and_then(|it| field(it, "definitions"));
    inside.or_else(|| field(root, "definitions").filter(|_| !file.path.is_package_file()))
}
