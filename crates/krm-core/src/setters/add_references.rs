//! `Add`: fields get references, beside the words that stand there.

use std::collections::{BTreeMap, BTreeSet};

use krm_yaml::{Comment, CommentPosition, DocumentRef, NodeRef};

use super::changes::{Changes, Op};
use super::definition::{NodeLocation, warning_at};
use super::field_filter::{self, FieldFilter};
use super::fields::field_of;
use super::reference::{self, ReferenceTarget, SETTER_PREFIX, SUBSTITUTION_PREFIX};
use super::{ReferenceSyntax, Setters};
use crate::{Diagnostic, PackageFile};

/// Adds references to fields, by the end of their path and by their value.
///
/// ```
/// use krm_core::setters::{AddReferences, ReferenceSyntax, Setters, FieldFilter};
/// use krm_core::{Package, PackageFile};
///
/// let package = Package::new(vec![PackageFile::from_text("deployment.yaml", "apiVersion: apps/v1
/// kind: Deployment
/// metadata:
///   name: nginx-deployment
/// spec:
///   replicas: 4
/// ")?]);
/// let wanted = FieldFilter { field: Some("replicas".parse()?), value: Some("4".to_owned()), lists: false };
/// let added = AddReferences::setter("replicas", wanted).form(ReferenceSyntax::Ref).compute(&Setters::read(&package));
/// let texts = added.changes.texts().expect("the file can be edited");
/// assert!(texts[0].1.ends_with("  replicas: 4 # {\"$ref\":\"#/definitions/io.k8s.cli.setters.replicas\"}\n"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct AddReferences {
    key: String,
    name: String,
    pattern: String,
    wanted: FieldFilter,
    form: ReferenceSyntax,
}

/// What adding comes to.
#[derive(Debug, Default)]
pub struct AddReferencesResult<'a> {
    /// What changes.
    pub changes: Changes<'a>,
    /// The fields that get a reference.
    pub fields: Vec<NodeLocation<'a>>,
    /// Fields that cannot have one.
    pub warnings: Vec<Diagnostic>,
}

impl AddReferences {
    /// References to a setter.
    pub fn setter(name: &str, wanted: FieldFilter) -> Self {
        Self {
            key: format!("{SETTER_PREFIX}{name}"),
            name: name.to_owned(),
            pattern: format!("${{{name}}}"),
            wanted,
            form: ReferenceSyntax::OpenApi,
        }
    }

    /// References to a substitution, with the pattern that the form without definitions writes.
    pub fn substitution(name: &str, pattern: &str, wanted: FieldFilter) -> Self {
        Self {
            key: format!("{SUBSTITUTION_PREFIX}{name}"),
            name: name.to_owned(),
            pattern: pattern.to_owned(),
            wanted,
            form: ReferenceSyntax::OpenApi,
        }
    }

    /// How they are written.
    #[must_use]
    pub fn form(mut self, form: ReferenceSyntax) -> Self {
        self.form = form;
        self
    }

    /// What it comes to in a package.
    pub fn compute<'a>(&self, setters: &Setters<'a>) -> AddReferencesResult<'a> {
        let mut added = AddReferencesResult::default();
        let taken = taken(setters);
        for file in setters.files() {
            let mut comments: Option<(usize, Beside<'a>)> = None;
            for node in field_filter::find(file, &self.wanted) {
                if taken.contains(&identity(file, node)) {
                    let words = "this field has a reference already, and keeps it";
                    added.warnings.push(warning_at(file, node.full_span(), words));
                    continue;
                }
                if file.path.is_json() || !can_have_line_comment(node) {
                    let words = "no comment can stand beside this field, so it gets no reference";
                    added.warnings.push(warning_at(file, node.full_span(), words));
                    continue;
                }
                let document = node.document();
                if comments.as_ref().is_none_or(|(at, _)| *at != document.index()) {
                    comments = Some((document.index(), beside(document)));
                }
                let own = comments.as_ref().and_then(|(_, all)| all.get(&node.start()));
                added.changes.at(file, node, self.op(node, own));
                added.fields.push(NodeLocation { file, node });
            }
        }
        added
    }

    /// The reference joins the comment that is there.
    fn op<'a>(&self, node: NodeRef<'a>, beside: Option<&Comment<'a>>) -> Op<'a> {
        let reference = reference::write(self.form, &self.key, &self.name, &self.pattern);
        match beside {
            Some(comment) => {
                Op::Comment(*comment, Some(reference::join(Some(comment.text), &reference)))
            }
            None => Op::Beside(node, reference::join(None, &reference)),
        }
    }
}

/// The comments beside fields, by where the fields begin.
pub(super) type Beside<'a> = BTreeMap<u32, Comment<'a>>;

pub(super) fn beside(document: DocumentRef<'_>) -> Beside<'_> {
    let comments = document.comments().into_iter();
    let own = comments.filter(|comment| comment.position == CommentPosition::Line);
    own.filter_map(|comment| Some((field_of(&comment)?.start(), comment))).collect()
}

/// Which field of which file: nodes are views and have no name of their own.
type Identity = (String, usize, u32);

fn identity(file: &PackageFile, node: NodeRef<'_>) -> Identity {
    (file.display_path.clone(), node.document().index(), node.start())
}

/// The fields that follow something already.
fn taken(setters: &Setters<'_>) -> BTreeSet<Identity> {
    let own =
        |it: &&super::SetterField<'_>| !matches!(it.reference.target, ReferenceTarget::Foreign(_));
    setters.fields().iter().filter(own).map(|it| identity(it.file, it.node)).collect()
}

/// Whether a comment can stand beside a value: only a comma, or a comment, may follow on its line.
pub fn can_have_line_comment(node: NodeRef<'_>) -> bool {
    let is_lines = node.is_block() || node.as_scalar().is_some_and(|it| it.style().is_block());
    if is_lines {
        return true;
    }
    let source = node.document().file().text();
    let rest = source[node.end() as usize..].lines().next().unwrap_or_default().trim_start();
    let in_flow = node.parent().is_some_and(|parent| parent.is_collection() && !parent.is_block());
    let rest = if in_flow { rest.strip_prefix(',').unwrap_or(rest).trim_start() } else { rest };
    rest.is_empty() || rest.starts_with('#')
}
