//! `RenameSetter`: renames a setter in its definition and in every reference, which keeps its syntax.

use krm_yaml::Value;

use super::changes::{Changes, EditOp};
use super::create_setter::check_name;
use super::definition::{Setter, SetterSource};
use super::definitions::Definition;
use super::fields::SetterField;
use super::kinds::SetterKind;
use super::reference::{self, ReferenceTarget, SETTER_PREFIX};
use super::{NodeLocation, Setters};
use crate::Diagnostic;
use crate::model::resource::field;

/// Renames a setter.
#[derive(Clone, Debug)]
pub struct RenameSetter {
    /// The current name.
    pub from: String,
    /// The new name.
    pub to: String,
}

/// The result of [`RenameSetter`].
#[derive(Debug, Default)]
pub struct RenameResult<'a> {
    /// The edits.
    pub changes: Changes<'a>,
    /// The fields whose references change.
    pub fields: Vec<NodeLocation<'a>>,
}

impl RenameSetter {
    /// Computes the changes in a package.
    pub fn compute<'a>(&self, setters: &Setters<'a>) -> Result<RenameResult<'a>, Vec<Diagnostic>> {
        setters.check()?;
        let Some(setter) = setters.definitions().setter(&self.from) else {
            return Err(vec![super::set::not_settable(&self.from, setters)]);
        };
        check_name(&self.to, setters).map_err(|error| vec![error])?;
        self.check_references(setters)?;
        let mut renamed = RenameResult::default();
        self.rename_inner(setters, &mut renamed.changes)?;
        let changes = &mut renamed.changes;
        match (setter.source, setter.location) {
            (SetterSource::OpenApi { setter: node, .. }, Some(location)) => {
                let key = format!("{SETTER_PREFIX}{}", self.to);
                changes.add_at(location.file, node, EditOp::RenameKey(location.node, key));
                if let Some(name) = field(node, "name") {
                    changes.add_at(
                        location.file,
                        node,
                        EditOp::Set(name, Value::string(self.to.clone())),
                    );
                }
            }
            (_, Some(location)) => {
                changes.add_at(
                    location.file,
                    location.node,
                    EditOp::RenameKey(location.node, self.to.clone()),
                );
            }
            _ => {}
        }
        self.update_substitutions(setters, changes);
        for field in setters.reached_fields() {
            let text = field.comment.text;
            let is_setter = match setters.definitions().get(&field.reference.target) {
                Some(Definition::Setter(it)) => it.name == self.from,
                Some(Definition::Substitution(_)) => false,
                None => true,
            };
            let new = field.reference.renamed(text, &self.from, &self.to).filter(|_| is_setter);
            let Some(new) = new else { continue };
            let range = field.reference.range.clone();
            let comment = format!("{}{new}{}", &text[..range.start], &text[range.end..]);
            renamed.changes.add_at(
                field.file,
                field.node,
                EditOp::SetComment(field.comment, Some(comment)),
            );
            renamed.fields.push(field.location());
        }
        Ok(renamed)
    }

    /// Checks that no field refers to the new name, which would then mean another setter.
    fn check_references(&self, setters: &Setters<'_>) -> Result<(), Vec<Diagnostic>> {
        let names_new = |field: &&SetterField<'_>| match &field.reference.target {
            ReferenceTarget::Pattern(pattern) => pattern.markers().contains(&&*self.to),
            _ => false,
        };
        let Some(field) = setters.reached_fields().find(names_new) else { return Ok(()) };
        let target = format!("setter `{}`", self.to);
        Err(vec![field.location().error(SetterKind::AlreadyDefined { target })])
    }

    /// Renames the setter in subpackages that have a value for it, too: they share the references that change.
    fn rename_inner<'a>(
        &self,
        setters: &Setters<'a>,
        changes: &mut Changes<'a>,
    ) -> Result<(), Vec<Diagnostic>> {
        let is_openapi = |it: &Setter<'_>| matches!(it.source, SetterSource::OpenApi { .. });
        if setters.definitions().setter(&self.from).is_some_and(is_openapi) {
            return Ok(());
        }
        let mut errors = Vec::new();
        for call in &setters.inner_functions {
            let inner = call.setters();
            let find = |name: &str| inner.iter().find(|it| it.name == name)?.location;
            match (find(&self.from), find(&self.to)) {
                (Some(_), Some(location)) => {
                    let target = format!("setter `{}`", self.to);
                    errors.push(location.error(SetterKind::AlreadyDefined { target }));
                }
                (Some(location), None) => {
                    let rename = EditOp::RenameKey(location.node, self.to.clone());
                    changes.add_at(location.file, location.node, rename);
                }
                (None, _) => {}
            }
        }
        if errors.is_empty() { Ok(()) } else { Err(errors) }
    }

    /// Updates the `ref`s of substitutions. Their markers do not change: they are names inside the substitution.
    fn update_substitutions<'a>(&self, setters: &Setters<'a>, changes: &mut Changes<'a>) {
        for substitution in setters.definitions().substitutions() {
            for value in &substitution.values {
                let target = setters.definitions().get(&value.target);
                if matches!(target, Some(Definition::Setter(it)) if it.name == self.from) {
                    let new = reference::pointer(&format!("{SETTER_PREFIX}{}", self.to));
                    let file = substitution.location.file;
                    changes.add_at(file, value.node, EditOp::Set(value.node, Value::string(new)));
                }
            }
        }
    }
}
