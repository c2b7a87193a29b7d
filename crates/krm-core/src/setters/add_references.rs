//! `AddReferences`: adds references to fields, after the text of their line comments.

use std::collections::BTreeMap;

use krm_yaml::{Comment, CommentPosition, DocumentRef, NodeRef};

use super::changes::{Changes, EditOp};
use super::definition::{NodeLocation, warning_at};
use super::field_filter::{self, FieldFilter};
use super::fields::field_of;
use super::kinds::SetterKind;
use super::reference::{self, Reference, ReferenceTarget, SETTER_PREFIX, SUBSTITUTION_PREFIX};
use super::{ReferenceSyntax, Setters};
use crate::{Diagnostic, PackageFile};

/// Adds references to the fields that a filter selects.
#[derive(Clone, Debug)]
pub(super) struct AddReferences {
    key: String,
    name: String,
    pattern: String,
    filter: FieldFilter,
    syntax: ReferenceSyntax,
}

/// The result of [`AddReferences`].
#[derive(Debug, Default)]
pub(super) struct AddReferencesResult<'a> {
    pub(super) changes: Changes<'a>,
    /// The fields that get a reference.
    pub(super) fields: Vec<NodeLocation<'a>>,
    /// Fields that cannot get one.
    pub(super) warnings: Vec<Diagnostic>,
}

impl AddReferences {
    /// References to a setter.
    pub(super) fn setter(name: &str, filter: FieldFilter, syntax: ReferenceSyntax) -> Self {
        let (key, pattern) = (format!("{SETTER_PREFIX}{name}"), format!("${{{name}}}"));
        Self { key, name: name.to_owned(), pattern, filter, syntax }
    }

    /// References to a substitution, or to its pattern in the syntax that has no definitions.
    pub(super) fn substitution(
        name: &str,
        pattern: &str,
        filter: FieldFilter,
        syntax: ReferenceSyntax,
    ) -> Self {
        let key = format!("{SUBSTITUTION_PREFIX}{name}");
        Self { key, name: name.to_owned(), pattern: pattern.to_owned(), filter, syntax }
    }

    /// Computes the changes in a package. Fields that already have this reference are skipped.
    pub(super) fn compute<'a>(&self, setters: &Setters<'a>) -> AddReferencesResult<'a> {
        let mut result = AddReferencesResult::default();
        let referencing = referencing_fields(setters);
        for file in setters.resource_files() {
            let mut comments: Option<(usize, LineComments<'a>)> = None;
            for node in field_filter::find(file, &self.filter) {
                let problem = match referencing.get(&field_id(file, node)) {
                    Some(reference) if self.is_named_by(reference) => continue,
                    Some(_) => Some(SetterKind::ReferenceExists),
                    None if file.path.is_json() || !can_have_line_comment(node) => {
                        Some(SetterKind::NoLineComment)
                    }
                    None => None,
                };
                if let Some(kind) = problem {
                    result.warnings.push(warning_at(file, node.full_span(), kind));
                    continue;
                }
                let document = node.document();
                if comments.as_ref().is_none_or(|(at, _)| *at != document.index()) {
                    comments = Some((document.index(), line_comments(document)));
                }
                let comment = comments.as_ref().and_then(|(_, all)| all.get(&node.start()));
                result.warnings.extend(comment.and_then(|it| self.unread_by_kpt(file, it)));
                result.changes.add_at(file, node, self.op(node, comment));
                result.fields.push(NodeLocation { file, node });
            }
        }
        result
    }

    /// Whether a reference is, or contains, the one that would be added.
    fn is_named_by(&self, reference: &Reference) -> bool {
        match &reference.target {
            ReferenceTarget::Pattern(pattern) => {
                pattern.as_str() == self.pattern || pattern.markers().contains(&&*self.name)
            }
            ReferenceTarget::Setter(name) => self.key == format!("{SETTER_PREFIX}{name}"),
            ReferenceTarget::Substitution(name) => {
                self.key == format!("{SUBSTITUTION_PREFIX}{name}")
            }
            ReferenceTarget::Named(name) => *name == self.name,
            ReferenceTarget::Foreign(_) => false,
        }
    }

    /// A warning for a comment with text, after which kpt does not find the reference.
    fn unread_by_kpt(&self, file: &PackageFile, comment: &Comment<'_>) -> Option<Diagnostic> {
        let text = comment.text.trim_start_matches('#').trim();
        if self.syntax != ReferenceSyntax::Pattern || text.is_empty() {
            return None;
        }
        let kind = SetterKind::ReferenceAfterText { text: comment.text.into() };
        Some(warning_at(file, comment.span, kind))
    }

    fn op<'a>(&self, node: NodeRef<'a>, comment: Option<&Comment<'a>>) -> EditOp<'a> {
        let reference = reference::write(self.syntax, &self.key, &self.name, &self.pattern);
        match comment {
            Some(comment) => {
                let text = reference::append(Some(comment.text), &reference);
                EditOp::SetComment(*comment, Some(text))
            }
            None => EditOp::AddComment(node, reference::append(None, &reference)),
        }
    }
}

/// The line comments of a document, by the start of the value that they follow.
pub(super) type LineComments<'a> = BTreeMap<u32, Comment<'a>>;

pub(super) fn line_comments(document: DocumentRef<'_>) -> LineComments<'_> {
    let comments = document.comments().into_iter();
    let own = comments.filter(|comment| comment.position == CommentPosition::Line);
    own.filter_map(|comment| Some((field_of(&comment)?.start(), comment))).collect()
}

/// Identifies a field by file, document and offset, because nodes cannot be compared across files.
type FieldId = (String, usize, u32);

fn field_id(file: &PackageFile, node: NodeRef<'_>) -> FieldId {
    (file.display_path.clone(), node.document().index(), node.start())
}

/// The fields that already have a reference of their own.
fn referencing_fields<'s>(setters: &'s Setters<'_>) -> BTreeMap<FieldId, &'s Reference> {
    let own =
        |it: &&super::SetterField<'_>| !matches!(it.reference.target, ReferenceTarget::Foreign(_));
    let fields = setters.fields().iter().filter(own);
    fields.map(|it| (field_id(it.file, it.node), &it.reference)).collect()
}

/// Whether a line comment can follow a value: only a comma or a comment may come after it on its line.
pub(super) fn can_have_line_comment(node: NodeRef<'_>) -> bool {
    let is_block = node.is_block() || node.as_scalar().is_some_and(|it| it.style().is_block());
    if is_block {
        return true;
    }
    let source = node.document().file().text();
    let rest = source[node.end() as usize..].lines().next().unwrap_or_default().trim_start();
    let rest =
        if in_flow(node) { rest.strip_prefix(',').unwrap_or(rest).trim_start() } else { rest };
    rest.is_empty() || rest.starts_with('#')
}

/// Whether a value can get a line comment, if what comes after it on its line may go to the next one: it is not part of a key.
pub fn can_get_line_comment(node: NodeRef<'_>) -> bool {
    let mut ancestors = std::iter::successors(node.parent(), |it| it.parent());
    can_have_line_comment(node) || in_flow(node) && ancestors.all(|it| it.value_of_key().is_none())
}

fn in_flow(node: NodeRef<'_>) -> bool {
    node.parent().is_some_and(|parent| parent.is_collection() && !parent.is_block())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Package;
    use crate::setters::SetterValue;

    #[test]
    fn reference_is_added_to_fields_with_the_value() {
        let text = "apiVersion: apps/v1\nkind: Deployment\nspec:\n  replicas: 4\n  other: 4\n";
        let package = Package::new(vec![PackageFile::from_text("deployment.yaml", text).unwrap()]);
        let path = Some("replicas".parse().unwrap());
        let filter =
            FieldFilter { path, value: Some(SetterValue::Scalar("4".to_owned())), lists: false };
        let add = AddReferences::setter("replicas", filter, ReferenceSyntax::Ref);
        let texts = add.compute(&Setters::read(&package)).changes.texts().unwrap();
        let comment = "# {\"$ref\":\"#/definitions/io.k8s.cli.setters.replicas\"}";
        assert_eq!(texts[0].1, text.replace("replicas: 4", &format!("replicas: 4 {comment}")));
    }
}
