//! `Delete`: a definition goes, and the references to it; the words around them stay.

use krm_yaml::NodeRef;

use super::changes::{Changes, Op};
use super::definitions::Definition;
use super::fields::SetterField;
use super::new_definition;
use super::reference::{self, ReferenceTarget};
use super::{NodeLocation, Setters};
use crate::Diagnostic;

/// Deletes a setter or a substitution.
///
/// ```
/// use krm_core::setters::{DeleteDefinition, Setters};
/// use krm_core::{Package, PackageFile};
///
/// let package = Package::new(vec![
///     PackageFile::from_text("Krmfile",
///       "kind: Krmfile\nopenAPI:\n  definitions:\n    io.k8s.cli.setters.replicas: {x-k8s-cli: {setter: {name: replicas, value: '4'}}}\n")?,
///     PackageFile::from_text("a.yaml", "replicas: 4 # for now {\"$openapi\":\"replicas\"}\n")?,
/// ]);
/// let deleted = DeleteDefinition::setter("replicas").compute(&Setters::read(&package)).expect("it can be deleted");
/// let texts = deleted.changes.texts().expect("the files can be edited");
/// assert_eq!((texts[0].1.as_str(), texts[1].1.as_str()), ("kind: Krmfile\n", "replicas: 4 # for now\n"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct DeleteDefinition {
    name: String,
    what: What,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum What {
    Setter,
    Substitution,
}

/// What deleting comes to.
#[derive(Debug, Default)]
pub struct DeleteResult<'a> {
    /// What changes.
    pub changes: Changes<'a>,
    /// The fields that lose their reference.
    pub fields: Vec<NodeLocation<'a>>,
}

impl DeleteDefinition {
    /// Deletes a setter. One that a substitution needs is not deleted.
    pub fn setter(name: impl Into<String>) -> Self {
        Self { name: name.into(), what: What::Setter }
    }

    /// Deletes a substitution; its setters stay.
    pub fn substitution(name: impl Into<String>) -> Self {
        Self { name: name.into(), what: What::Substitution }
    }

    /// What it comes to in a package.
    pub fn compute<'a>(&self, setters: &Setters<'a>) -> Result<DeleteResult<'a>, Vec<Diagnostic>> {
        let definitions = setters.definitions();
        let mut deleted = DeleteResult::default();
        let entry: Option<(NodeLocation<'a>, NodeRef<'a>)> = match self.what {
            What::Setter => definitions
                .setter(&self.name)
                .and_then(|it| Some((it.location?, new_definition::definition_of(it.source)?))),
            What::Substitution => {
                definitions.substitution(&self.name).map(|it| (it.location, it.location.node))
            }
        };
        let in_fields = definitions.setter(&self.name).filter(|_| self.what == What::Setter);
        match entry {
            Some((location, node)) => deleted.changes.at(location.file, node, Op::Remove(node)),
            None if in_fields.is_some() => {}
            None => return Err(vec![self.missing(setters)]),
        }
        let users = self.users(setters);
        if !users.is_empty() {
            return Err(users);
        }
        for field in setters.fields().iter().filter(|field| self.is_named_by(field, setters)) {
            let words = reference::without(field.comment.text, &field.reference.range);
            deleted.changes.at(field.file, field.node, Op::Comment(field.comment, words));
            deleted.fields.push(field.location());
        }
        Ok(deleted)
    }

    /// Whether a field's reference goes with the definition.
    fn is_named_by(&self, field: &SetterField<'_>, setters: &Setters<'_>) -> bool {
        let target = &field.reference.target;
        match (setters.definitions().get(target), target) {
            (Some(Definition::Setter(it)), _) => self.what == What::Setter && it.name == self.name,
            (Some(Definition::Substitution(it)), _) => {
                self.what == What::Substitution && it.name == self.name
            }
            (None, ReferenceTarget::Pattern(pattern)) => {
                self.what == What::Setter && pattern.only_marker() == Some(&self.name)
            }
            _ => false,
        }
    }

    /// What cannot do without it: substitutions, and patterns that name others beside it.
    fn users(&self, setters: &Setters<'_>) -> Vec<Diagnostic> {
        let mut errors = Vec::new();
        let (name, definitions) = (&self.name, setters.definitions());
        for substitution in definitions.substitutions() {
            let uses =
                substitution.values.iter().find(|value| match definitions.get(&value.target) {
                    Some(Definition::Setter(it)) => self.what == What::Setter && it.name == *name,
                    Some(Definition::Substitution(it)) => {
                        self.what == What::Substitution && it.name == *name
                    }
                    None => false,
                });
            if let Some(value) = uses {
                let words = format!("`{name}` is used in the substitution `{}`", substitution.name);
                let location = NodeLocation { file: substitution.location.file, node: value.node };
                errors.push(location.error(words).hint("delete that substitution first"));
            }
        }
        for field in setters.fields() {
            let ReferenceTarget::Pattern(pattern) = &field.reference.target else { continue };
            let among =
                pattern.markers().contains(&name.as_str()) && pattern.only_marker().is_none();
            if among && self.what == What::Setter {
                let words = format!("`{name}` is used in the pattern `{pattern}`");
                errors.push(field.location().error(words).hint("change that reference first"));
            }
        }
        errors
    }

    fn missing(&self, setters: &Setters<'_>) -> Diagnostic {
        let (name, definitions) = (&self.name, setters.definitions());
        let (what, other) = match self.what {
            What::Setter => ("setter", definitions.substitution(name).map(|_| "delete-subst")),
            What::Substitution => {
                ("substitution", definitions.setter(name).map(|_| "delete-setter"))
            }
        };
        let error = Diagnostic::untyped_error(format!("the {what} `{name}` does not exist"));
        match other {
            Some(command) => error.hint(format!("`krm cfg {command}` deletes what has this name")),
            None => error.hint("`krm cfg list-setters --include-subst` shows which there are"),
        }
    }
}
