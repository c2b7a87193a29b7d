//! `DeleteDefinition`: removes a definition and the references to it. Other text in the comments is kept.

use krm_yaml::NodeRef;

use super::changes::{Changes, EditOp};
use super::definitions::Definition;
use super::fields::SetterField;
use super::function_config::ApplySettersCall;
use super::kinds::SetterKind;
use super::reference::{self, ReferenceTarget};
use super::{NodeLocation, Setters, new_definition};
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
/// let deleted = DeleteDefinition::setter("replicas").compute(&Setters::read(&package)).expect("nothing uses it");
/// let texts = deleted.changes.texts().expect("the files can be edited");
/// assert_eq!((texts[0].1.as_str(), texts[1].1.as_str()), ("kind: Krmfile\n", "replicas: 4 # for now\n"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct DeleteDefinition {
    name: String,
    kind: DefinitionKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DefinitionKind {
    Setter,
    Substitution,
}

/// The result of [`DeleteDefinition`].
#[derive(Debug, Default)]
pub struct DeleteResult<'a> {
    /// The edits.
    pub changes: Changes<'a>,
    /// The fields whose reference is removed.
    pub fields: Vec<NodeLocation<'a>>,
}

impl DeleteDefinition {
    /// Deletes a setter. A setter that a substitution uses cannot be deleted.
    pub fn setter(name: impl Into<String>) -> Self {
        Self { name: name.into(), kind: DefinitionKind::Setter }
    }

    /// Deletes a substitution, but not its setters.
    pub fn substitution(name: impl Into<String>) -> Self {
        Self { name: name.into(), kind: DefinitionKind::Substitution }
    }

    /// Computes the changes in a package.
    pub fn compute<'a>(&self, setters: &Setters<'a>) -> Result<DeleteResult<'a>, Vec<Diagnostic>> {
        let definitions = setters.definitions();
        let mut result = DeleteResult::default();
        let setter = definitions.setter(&self.name).filter(|_| self.kind == DefinitionKind::Setter);
        let entry: Option<(NodeLocation<'a>, NodeRef<'a>)> = match self.kind {
            DefinitionKind::Setter => setter
                .and_then(|it| Some((it.location?, new_definition::definition_node(it.source)?))),
            DefinitionKind::Substitution => {
                definitions.substitution(&self.name).map(|it| (it.location, it.location.node))
            }
        };
        match entry {
            Some((location, node)) => {
                result.changes.add_at(location.file, node, EditOp::Remove(node));
            }
            // A setter that only fields name has no definition.
            None if setter.is_some() => {}
            None => return Err(vec![self.not_defined(setters)]),
        }
        let users = self.users(setters);
        if !users.is_empty() {
            return Err(users);
        }
        for field in setters.reached_fields().filter(|field| self.is_named_by(field, setters)) {
            let rest = reference::remove(field.comment.text, &field.reference.range);
            result.changes.add_at(field.file, field.node, EditOp::SetComment(field.comment, rest));
            result.fields.push(field.location());
        }
        Ok(result)
    }

    fn is(&self, definition: Definition<'_, '_>) -> bool {
        match definition {
            Definition::Setter(it) => self.kind == DefinitionKind::Setter && it.name == self.name,
            Definition::Substitution(it) => {
                self.kind == DefinitionKind::Substitution && it.name == self.name
            }
        }
    }

    /// Whether a field's reference is removed with the definition.
    fn is_named_by(&self, field: &SetterField<'_>, setters: &Setters<'_>) -> bool {
        let target = &field.reference.target;
        match (setters.definitions().get(target), target) {
            (Some(definition), _) => self.is(definition),
            (None, ReferenceTarget::Pattern(pattern)) => {
                self.kind == DefinitionKind::Setter
                    && pattern.only_marker() == Some(&self.name)
                    && !self.has_inner_value(field, setters)
            }
            _ => false,
        }
    }

    /// Whether a subpackage around the field has a value of its own for the setter, so that the reference is still used.
    fn has_inner_value(&self, field: &SetterField<'_>, setters: &Setters<'_>) -> bool {
        let is_inside = |call: &&ApplySettersCall<'_>| {
            field.file.path.relative_to(call.kptfile.path.directory()).is_some()
        };
        let calls = setters.inner_functions.iter().filter(is_inside);
        calls.flat_map(ApplySettersCall::setters).any(|it| it.name == self.name)
    }

    /// Errors for what still needs the definition: substitutions, and patterns with other markers.
    fn users(&self, setters: &Setters<'_>) -> Vec<Diagnostic> {
        let in_use = |user: String| SetterKind::InUse { name: self.name.clone(), user };
        let mut errors = Vec::new();
        let definitions = setters.definitions();
        for substitution in definitions.substitutions() {
            let uses = substitution
                .values
                .iter()
                .find(|value| definitions.get(&value.target).is_some_and(|it| self.is(it)));
            if let Some(value) = uses {
                let location = NodeLocation { node: value.node, ..substitution.location };
                let kind = in_use(format!("substitution `{}`", substitution.name));
                errors.push(location.error(kind).hint("delete the substitution first"));
            }
        }
        for field in setters.reached_fields().filter(|_| self.kind == DefinitionKind::Setter) {
            let ReferenceTarget::Pattern(pattern) = &field.reference.target else { continue };
            let is_marker = pattern.markers().contains(&self.name.as_str())
                && !self.has_inner_value(field, setters);
            if is_marker && pattern.only_marker().is_none() {
                let error = field.location().error(in_use(format!("pattern `{pattern}`")));
                errors.push(error.hint("change the reference first"));
            }
        }
        errors
    }

    fn not_defined(&self, setters: &Setters<'_>) -> Diagnostic {
        let (name, definitions) = (&self.name, setters.definitions());
        let (kind, other) = match self.kind {
            DefinitionKind::Setter => {
                ("setter", definitions.substitution(name).map(|_| "delete-subst"))
            }
            DefinitionKind::Substitution => {
                ("substitution", definitions.setter(name).map(|_| "delete-setter"))
            }
        };
        let target = format!("{kind} `{name}`");
        let error = Diagnostic::error(SetterKind::NotDefined { target });
        match other {
            Some(command) => error.hint(format!("use `krm cfg {command}` to delete `{name}`")),
            None => error.hint("list all names with `krm cfg list-setters --include-subst`"),
        }
    }
}
