//! `Rename`: a setter gets another name, in its definition and in every reference, each in its own form.

use krm_yaml::Value;

use super::changes::{Changes, Op};
use super::create_setter::check_name;
use super::definition::SetterSource;
use super::definitions::Definition;
use super::reference::{self, SETTER_PREFIX};
use super::{NodeLocation, Setters};
use crate::Diagnostic;
use crate::model::resource::field;

/// Renames a setter.
#[derive(Clone, Debug)]
pub struct RenameSetter {
    /// The name that it has.
    pub from: String,
    /// The name that it gets.
    pub to: String,
}

/// What renaming comes to.
#[derive(Debug, Default)]
pub struct RenameResult<'a> {
    /// What changes.
    pub changes: Changes<'a>,
    /// The fields whose references change.
    pub fields: Vec<NodeLocation<'a>>,
}

impl RenameSetter {
    /// What it comes to in a package.
    pub fn compute<'a>(&self, setters: &Setters<'a>) -> Result<RenameResult<'a>, Vec<Diagnostic>> {
        if !setters.errors().is_empty() {
            return Err(setters.errors().to_vec());
        }
        let Some(setter) = setters.definitions().setter(&self.from) else {
            return Err(vec![super::set::unknown(&self.from, setters)]);
        };
        check_name(&self.to, setters).map_err(|error| vec![error])?;
        let mut renamed = RenameResult::default();
        let changes = &mut renamed.changes;
        match (setter.source, setter.location) {
            (SetterSource::OpenApi { setter: node, .. }, Some(location)) => {
                let key = format!("{SETTER_PREFIX}{}", self.to);
                changes.at(location.file, node, Op::Rename(location.node, key));
                if let Some(name) = field(node, "name") {
                    changes.at(location.file, node, Op::Set(name, Value::string(self.to.clone())));
                }
            }
            (_, Some(location)) => {
                changes.at(
                    location.file,
                    location.node,
                    Op::Rename(location.node, self.to.clone()),
                );
            }
            _ => {}
        }
        self.in_substitutions(setters, changes);
        for field in setters.fields() {
            let text = field.comment.text;
            let is_meant = match setters.definitions().get(&field.reference.target) {
                Some(Definition::Setter(it)) => it.name == self.from,
                Some(Definition::Substitution(_)) => false,
                None => true,
            };
            let new = field.reference.renamed(text, &self.from, &self.to).filter(|_| is_meant);
            let Some(new) = new else { continue };
            let range = field.reference.range.clone();
            let comment = format!("{}{new}{}", &text[..range.start], &text[range.end..]);
            renamed.changes.at(field.file, field.node, Op::Comment(field.comment, Some(comment)));
            renamed.fields.push(field.location());
        }
        Ok(renamed)
    }

    /// Markers are the substitution's own and stay; what they refer to has a new name.
    fn in_substitutions<'a>(&self, setters: &Setters<'a>, changes: &mut Changes<'a>) {
        for substitution in setters.definitions().substitutions() {
            for value in &substitution.values {
                let target = setters.definitions().get(&value.target);
                if matches!(target, Some(Definition::Setter(it)) if it.name == self.from) {
                    let new = reference::pointer(&format!("{SETTER_PREFIX}{}", self.to));
                    let file = substitution.location.file;
                    changes.at(file, value.node, Op::Set(value.node, Value::string(new)));
                }
            }
        }
    }
}
