//! Fields with references: found by their comments, file by file.

use krm_yaml::{Comment, CommentPosition, DocumentRef, NodeKind, NodeRef};

use super::definition::{NodeLocation, warning_at};
use super::reference::{self, ParsedComment, Reference};
use crate::{Diagnostic, PackageFile};

/// A field that follows a setter or a substitution.
#[derive(Clone, Debug)]
pub struct SetterField<'a> {
    /// The file.
    pub file: &'a PackageFile,
    /// The value: a scalar, a list, or (which cannot be set) a mapping.
    pub node: NodeRef<'a>,
    /// The comment with the reference.
    pub comment: Comment<'a>,
    /// The reference.
    pub reference: Reference,
}

impl<'a> SetterField<'a> {
    /// Where it stands.
    pub fn location(&self) -> NodeLocation<'a> {
        NodeLocation { file: self.file, node: self.node }
    }
}

/// What the comments of a file hold.
#[derive(Clone, Debug, Default)]
pub struct FieldScan<'a> {
    /// The fields with references, in order.
    pub fields: Vec<SetterField<'a>>,
    /// Comments that look like references and are none, and references without a field.
    pub warnings: Vec<Diagnostic>,
}

/// Finds the fields of a file that have references.
pub fn find(file: &PackageFile) -> FieldScan<'_> {
    let mut found = FieldScan::default();
    let Some(text) = file.file().filter(|text| reference::may_hold(text.text())) else {
        return found;
    };
    for document in text.documents().filter(|it| reference::may_hold(it.text())) {
        find_in(file, document, &mut found);
    }
    found
}

fn find_in<'a>(file: &'a PackageFile, document: DocumentRef<'a>, found: &mut FieldScan<'a>) {
    let first = found.fields.len();
    for comment in document.comments() {
        let reference = match reference::parse(comment.text) {
            ParsedComment::None => continue,
            ParsedComment::Reference(reference) => reference,
            ParsedComment::Invalid(reason) => {
                found.warnings.push(warning_at(file, comment.span, reason));
                continue;
            }
        };
        if is_left_out(&comment, &reference) {
            continue;
        }
        let Some(node) = field_of(&comment) else {
            let words = "this reference belongs to no field";
            let warning = warning_at(file, comment.span, words);
            found.warnings.push(warning.hint("put it beside the value that it means"));
            continue;
        };
        let field = SetterField { file, node, comment, reference };
        // Comments of one field follow one another.
        match found.fields[first..].last_mut().filter(|other| other.node == node) {
            None => found.fields.push(field),
            Some(other) => {
                // The one beside counts, as it did in kustomize.
                let words = "the field has a second reference, which does not count";
                let (kept, left) = match comment.position {
                    CommentPosition::Line => (field, other.comment.span),
                    _ => (other.clone(), comment.span),
                };
                *other = kept;
                found.warnings.push(warning_at(file, left, words));
            }
        }
    }
}

/// Whether a line that somebody made a comment of holds the reference: `# image: web # kpt-set: ${image}` is about nothing.
fn is_left_out(comment: &Comment<'_>, reference: &Reference) -> bool {
    let before = comment.text.get(1..reference.range.start).unwrap_or_default();
    comment.position != CommentPosition::Line && before.contains('#')
}

/// The value that a comment is about.
pub(super) fn field_of<'a>(comment: &Comment<'a>) -> Option<NodeRef<'a>> {
    let owner = comment.owner?;
    if !matches!(comment.position, CommentPosition::Head | CommentPosition::Line) {
        return None;
    }
    Some(owner.value_of_key().unwrap_or(owner))
}

/// Whether a value can be set: a scalar, or a list of scalars.
pub(super) fn is_settable(node: NodeRef<'_>) -> bool {
    match node.kind() {
        NodeKind::Scalar(_) => true,
        NodeKind::Sequence => {
            node.children().all(|item| matches!(item.kind(), NodeKind::Scalar(_)))
        }
        NodeKind::Mapping | NodeKind::Alias => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_that_is_left_out_keeps_its_reference_to_itself() {
        let text = "# image: old # kpt-set: ${image}\nname: a\n# kpt-set: ${port}\nport: 80\n# kind: b # {\"$openapi\":\"x\"}\n";
        let file = PackageFile::from_text("a.yaml", text).unwrap();
        let found = find(&file);
        let texts: Vec<&str> = found.fields.iter().map(|field| field.node.text()).collect();
        assert_eq!(texts, ["80"]);
        assert!(found.warnings.is_empty());
    }
}
