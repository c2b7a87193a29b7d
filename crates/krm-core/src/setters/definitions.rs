//! All definitions of a package: looked up by name, checked against each other.

use std::collections::{BTreeMap, BTreeSet};

use krm_yaml::NodeRef;

use super::definition::{
    self, DefinitionEntry, NodeLocation, Setter, SetterSource, SetterValue, Substitution,
};
use super::reference::{Reference, ReferenceTarget};
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

/// What a reference leads to.
#[derive(Clone, Copy, Debug)]
pub enum Definition<'d, 'a> {
    /// A setter.
    Setter(&'d Setter<'a>),
    /// A substitution.
    Substitution(&'d Substitution<'a>),
}

impl<'a> Definitions<'a> {
    /// Adds what an OpenAPI document, a Krmfile or a Kptfile defines.
    pub(super) fn read(&mut self, file: &'a PackageFile) {
        let Some(definitions) = definitions_node(file) else { return };
        let entries =
            definitions.as_mapping().into_iter().flat_map(|it| it.entries().collect::<Vec<_>>());
        for entry in entries {
            match definition::read(file, entry) {
                Ok(DefinitionEntry::Setter(setter)) => self.add(*setter),
                Ok(DefinitionEntry::Substitution(substitution)) => {
                    self.add_substitution(substitution);
                }
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
            self.errors.push(twice("setter", &setter.name, first, second));
        }
        // Functions of a pipeline run one after the other, and the last one counts.
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
                self.errors.push(twice("substitution", &new.name, first.location, new.location));
            }
            None => {
                self.substitutions.insert(new.name.clone(), new);
            }
        }
    }

    /// Adds a setter that stands in fields only, unless it is known.
    pub(super) fn mention(&mut self, name: &str) {
        let new = || Setter::new(name.to_owned(), SetterSource::FieldsOnly);
        self.setters.entry(name.to_owned()).or_insert_with(new);
    }

    /// Gives a setter without a value the one that its fields tell.
    pub(super) fn learn(&mut self, name: &str, value: SetterValue) {
        if let Some(setter) = self.setters.get_mut(name)
            && setter.value == SetterValue::Unset
        {
            setter.value = value;
        }
    }

    /// A value of kpt that lists follow is a list, though it is written as a text.
    pub(super) fn is_followed_by_list(&mut self, name: &str) {
        if let Some(setter) = self.setters.get_mut(name)
            && let (SetterSource::FunctionConfig { .. }, SetterValue::Text(text)) =
                (setter.source, &setter.value)
            && let Some(items) = super::function_config::list(text)
        {
            setter.value = SetterValue::List(items);
        }
    }

    /// The setters in the order of their names.
    pub fn setters(&self) -> impl Iterator<Item = &Setter<'a>> {
        self.setters.values()
    }

    /// The substitutions in the order of their names.
    pub fn substitutions(&self) -> impl Iterator<Item = &Substitution<'a>> {
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

    /// What a target names; none where nothing of this name is defined.
    pub fn get(&self, target: &ReferenceTarget) -> Option<Definition<'_, 'a>> {
        let setter = |name: &str| self.setter(name).map(Definition::Setter);
        let substitution = |name: &str| self.substitution(name).map(Definition::Substitution);
        match target {
            ReferenceTarget::Setter(name) => setter(name),
            ReferenceTarget::Substitution(name) => substitution(name),
            ReferenceTarget::Named(name) => setter(name).or_else(|| substitution(name)),
            ReferenceTarget::Pattern(_) | ReferenceTarget::Foreign(_) => None,
        }
    }

    /// The names of the setters that a field with this reference follows.
    pub fn followed(&self, reference: &Reference) -> BTreeSet<String> {
        let mut names = BTreeSet::new();
        if let ReferenceTarget::Pattern(pattern) = &reference.target {
            names.extend(pattern.markers().into_iter().map(str::to_owned));
        }
        // Each substitution is entered once, however many ways lead to it.
        let mut seen = BTreeSet::new();
        let mut waiting = vec![&reference.target];
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

    /// Adds what is wrong among substitutions: references to nothing, and cycles.
    pub(super) fn check(&mut self) {
        let mut errors = Vec::new();
        for substitution in self.substitutions.values() {
            for value in &substitution.values {
                if self.get(&value.target).is_none() {
                    let words = format!(
                        "the marker `{}` of the substitution `{}` refers to {}, which is not defined",
                        value.marker,
                        substitution.name,
                        target_words(&value.target)
                    );
                    let span = value.node.full_span();
                    errors.push(definition::error_at(substitution.location.file, span, words));
                }
            }
        }
        errors.extend(self.cycle());
        self.errors.extend(errors);
    }

    /// The first cycle among substitutions, with all of it in the message.
    fn cycle(&self) -> Option<Diagnostic> {
        let mut done: BTreeSet<&str> = BTreeSet::new();
        for start in self.substitutions.values() {
            // Depth first without recursion: each step of the way with the values not yet looked at.
            let mut way: Vec<(&Substitution<'a>, usize)> = vec![(start, 0)];
            while let Some((at, next)) = way.last_mut() {
                let Some(value) = at.values.get(*next) else {
                    done.insert(&at.name);
                    way.pop();
                    continue;
                };
                *next += 1;
                let Some(Definition::Substitution(to)) = self.get(&value.target) else { continue };
                if let Some(from) = way.iter().position(|(step, _)| step.name == to.name) {
                    let names = way[from..].iter().map(|(step, _)| step.name.as_str());
                    let names: Vec<&str> = names.chain([to.name.as_str()]).collect();
                    let words =
                        format!("substitutions go round in a circle: {}", names.join(" → "));
                    return Some(to.location.error(words));
                }
                if !done.contains(to.name.as_str()) {
                    way.push((to, 0));
                }
            }
        }
        None
    }
}

/// `the setter x`
pub(super) fn target_words(target: &ReferenceTarget) -> String {
    match target {
        ReferenceTarget::Setter(name) => format!("the setter `{name}`"),
        ReferenceTarget::Substitution(name) => format!("the substitution `{name}`"),
        ReferenceTarget::Named(name) | ReferenceTarget::Foreign(name) => format!("`{name}`"),
        ReferenceTarget::Pattern(pattern) => format!("`{pattern}`"),
    }
}

fn twice(what: &str, name: &str, first: NodeLocation<'_>, second: NodeLocation<'_>) -> Diagnostic {
    let words = format!("the {what} `{name}` is defined twice, first in {first}");
    second.error(words).hint("remove one of the two")
}

/// `openAPI.definitions` of a package file, or `definitions` of an OpenAPI document.
pub(super) fn definitions_node(file: &PackageFile) -> Option<NodeRef<'_>> {
    let root = file.file()?.document(0)?.root()?;
    let inside = field(root, "openAPI").and_then(|it| field(it, "definitions"));
    inside.or_else(|| field(root, "definitions").filter(|_| !file.path.is_package_file()))
}
