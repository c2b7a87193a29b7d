//! Finding the fields of a file whose comments refer to setters.

use krm_yaml::{Comment, CommentPosition, DocumentRef, NodeKind, NodeRef};

use super::definition::{NodeLocation, warning_at};
use super::kinds::SetterKind;
use super::reference::{self, ParsedComment, Reference};
use crate::{Diagnostic, PackageFile, Resource};

/// A field that follows a setter or a substitution.
#[derive(Clone, Debug)]
pub struct SetterField<'a> {
    /// The file.
    pub file: &'a PackageFile,
    /// The value. A mapping can have a reference, too, although it cannot be set.
    pub node: NodeRef<'a>,
    /// The comment with the reference.
    pub comment: Comment<'a>,
    /// The reference.
    pub reference: Reference,
}

impl<'a> SetterField<'a> {
    /// The resource that contains the field.
    pub(super) fn resource(&self) -> Option<Resource<'a>> {
        let (document, at) = (self.node.document().index(), self.node.start());
        self.file.resources().find(|resource| {
            let node = resource.node;
            node.document().index() == document && (node.start()..=node.end()).contains(&at)
        })
    }

    /// The location of the value.
    pub fn location(&self) -> NodeLocation<'a> {
        NodeLocation { file: self.file, node: self.node }
    }
}

/// The references in the comments of a file.
#[derive(Clone, Debug, Default)]
pub struct FieldScan<'a> {
    /// The fields with references, in document order.
    pub fields: Vec<SetterField<'a>>,
    /// Invalid references, and references without a field.
    pub warnings: Vec<Diagnostic>,
}

/// Finds the fields of a file that have references.
pub fn find(file: &PackageFile) -> FieldScan<'_> {
    let mut scan = FieldScan::default();
    let Some(text) = file.file().filter(|text| reference::may_contain(text.text())) else {
        return scan;
    };
    for document in text.documents().filter(|it| reference::may_contain(it.text())) {
        scan_document(file, document, &mut scan);
    }
    scan
}

fn scan_document<'a>(file: &'a PackageFile, document: DocumentRef<'a>, scan: &mut FieldScan<'a>) {
    let first = scan.fields.len();
    for comment in document.comments_near(reference::may_contain) {
        let reference = match reference::parse(comment.text) {
            ParsedComment::None => continue,
            ParsedComment::Reference(reference) => reference,
            ParsedComment::Invalid(kind) => {
                scan.warnings.push(warning_at(file, comment.span, kind));
                continue;
            }
        };
        if is_commented_out(&comment, &reference) {
            continue;
        }
        let Some(node) = field_of(&comment) else {
            let warning = warning_at(file, comment.span, SetterKind::ReferenceWithoutField);
            scan.warnings.push(warning);
            continue;
        };
        let field = SetterField { file, node, comment, reference };
        // The comments of one field are adjacent, so only the last field can be the same one.
        match scan.fields[first..].last_mut().filter(|other| other.node == node) {
            None => scan.fields.push(field),
            Some(other) => {
                // Compat: kustomize uses the line comment.
                let (kept, ignored) = match comment.position {
                    CommentPosition::Line => (field, other.comment.span),
                    _ => (other.clone(), comment.span),
                };
                *other = kept;
                scan.warnings.push(warning_at(file, ignored, SetterKind::ReferenceIgnored));
            }
        }
    }
}

/// Whether the reference belongs to a field that is commented out: `# image: web # kpt-set: ${image}`.
fn is_commented_out(comment: &Comment<'_>, reference: &Reference) -> bool {
    let before = comment.text.get(1..reference.range.start).unwrap_or_default();
    comment.position != CommentPosition::Line && before.contains('#')
}

/// The value that a comment belongs to.
pub(super) fn field_of<'a>(comment: &Comment<'a>) -> Option<NodeRef<'a>> {
    let owner = comment.owner?;
    if !matches!(comment.position, CommentPosition::Head | CommentPosition::Line) {
        return None;
    }
    Some(owner.value_of_key().unwrap_or(owner))
}

/// Whether a value can be set: a scalar, or a sequence of scalars.
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
    fn references_of_commented_out_fields_are_ignored() {
        let text = "# image: old # kpt-set: ${image}\nname: a\n# kpt-set: ${port}\nport: 80\n# kind: b # {\"$openapi\":\"x\"}\n";
        let file = PackageFile::from_text("a.yaml", text).unwrap();
        let scan = find(&file);
        let values: Vec<&str> = scan.fields.iter().map(|field| field.node.text()).collect();
        assert_eq!(values, ["80"]);
        assert!(scan.warnings.is_empty());
    }
}
