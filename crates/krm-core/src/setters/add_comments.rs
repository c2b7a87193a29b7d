//! `AddSetterComments`: adds `kpt-set` comments to fields that have the values of setters, as create-setters does.

use std::collections::BTreeMap;

use krm_yaml::{File, NodeKind, NodeRef, OwnedNode, Value};

use super::add_references::{LineComments, can_get_line_comment, line_comments};
use super::apply::mapping_error;
use super::changes::{Changes, EditOp};
use super::definition::{SetterValue, scalar_elements, warning_at};
use super::fields::is_settable;
use super::function_config;
use super::kinds::SetterKind;
use super::pattern::{DeriveError, Pattern};
use super::reference::{self, ParsedComment, ReferenceSyntax, ReferenceTarget};
use crate::diagnostics::Kind;
use crate::{Diagnostic, PackageFile};

/// Adds `kpt-set` comments to the fields that have the values of setters.
///
/// ```
/// use krm_core::PackageFile;
/// use krm_core::setters::AddSetterComments;
///
/// let config = PackageFile::from_text("setters.yaml", "data:\n  image: nginx\n  tag: 1.7.9\n")?;
/// let data = config.file().and_then(|file| file.document(0)?.find(&"data".parse().ok()?)).expect("data exists");
/// let file = PackageFile::from_text("pod.yaml", "spec:\n  image: nginx:1.7.9\n")?;
/// let result = AddSetterComments::new(&config, data).expect("valid values").compute(&file);
/// let text = result.changes.text(&file).expect("the file can be edited");
/// assert_eq!(text.as_deref(), Some("spec:\n  image: nginx:1.7.9 # kpt-set: ${image}:${tag}\n"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct AddSetterComments {
    /// Names and values, the longest value first.
    scalars: Vec<(String, String)>,
    /// Names and the sorted items of lists.
    lists: Vec<(String, Vec<String>)>,
}

/// The result of [`AddSetterComments`] for a file.
#[derive(Debug, Default)]
pub struct AddSetterCommentsResult<'a> {
    /// The edits.
    pub changes: Changes<'a>,
    /// The fields that have a value of a setter, including those that already have the comment.
    pub fields: Vec<CommentedField<'a>>,
    /// Fields that cannot get a comment.
    pub warnings: Vec<Diagnostic>,
}

/// A field and its reference.
#[derive(Clone, Debug)]
pub struct CommentedField<'a> {
    /// The field.
    pub node: NodeRef<'a>,
    /// `kpt-set: ${name}`
    pub reference: String,
    /// The value of the field.
    pub value: SetterValue,
}

impl AddSetterComments {
    /// Reads the setters from the `data` of a functionConfig.
    pub fn new(config: &PackageFile, data: NodeRef<'_>) -> Result<Self, Vec<Diagnostic>> {
        let (mut new, mut errors) = (Self::default(), Vec::new());
        for setter in function_config::setters_of_data(config, data) {
            if let Some(error) = mapping_error(&setter) {
                errors.push(error);
                continue;
            }
            let name = setter.name.clone();
            match setter.value {
                SetterValue::List(items) => new.lists.push((name, sorted(items))),
                SetterValue::Scalar(text) if !text.trim().is_empty() => {
                    match function_config::parse_scalar_list(&text) {
                        Some(items) => new.lists.push((name, sorted(items))),
                        None => {
                            let text = text.trim_end_matches(['\n', '\r']).to_owned();
                            new.scalars.push((name, text));
                        }
                    }
                }
                _ => {
                    let error = setter.location.map(|it| it.error(SetterKind::NoValue { name }));
                    errors.extend(error.map(|it| it.hint("write an empty list as []")));
                }
            }
        }
        // Of two values that match, the longer one is more specific; names break ties.
        new.scalars.sort_by(|a, b| b.1.len().cmp(&a.1.len()).then_with(|| a.0.cmp(&b.0)));
        if errors.is_empty() { Ok(new) } else { Err(errors) }
    }

    /// Computes the changes in a file.
    pub fn compute<'a>(&self, file: &'a PackageFile) -> AddSetterCommentsResult<'a> {
        let (comments, result) = (LineComments::new(), AddSetterCommentsResult::default());
        let mut visitor = Visitor { setters: self, file, comments, result };
        // JSON has no comments.
        let text = file.file().filter(|_| !file.path.is_json());
        for document in text.into_iter().flat_map(File::documents) {
            visitor.comments = line_comments(document);
            if let Some(root) = document.root() {
                visitor.mapping(root, true, false);
            }
        }
        visitor.result
    }

    /// Replaces values by markers.
    fn insert_markers(&self, text: &str) -> String {
        let (mut out, mut rest) = (String::new(), text);
        while let Some(c) = rest.chars().next() {
            match self.scalars.iter().find(|(_, value)| rest.starts_with(value.as_str())) {
                Some((name, value)) => {
                    out.push_str(&format!("${{{name}}}"));
                    rest = &rest[value.len()..];
                }
                None => {
                    out.push(c);
                    rest = &rest[c.len_utf8()..];
                }
            }
        }
        out
    }

    /// The pattern of a string that contains a value; none if it would not produce the string again.
    fn pattern(&self, text: &str) -> Option<Pattern> {
        let pattern = Pattern::with_names(&self.insert_markers(text)).ok()?;
        let values: BTreeMap<&str, &str> =
            self.scalars.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        let again = pattern.fill(|name| values.get(name).map(|value| (*value).to_owned())).ok()?;
        (again == text && !pattern.markers().is_empty() && text.trim() == text).then_some(pattern)
    }

    /// Whether a pattern has a marker of one of the setters.
    fn is_in(&self, pattern: &str) -> bool {
        let scalars = self.scalars.iter().map(|(name, _)| name);
        let mut names = scalars.chain(self.lists.iter().map(|(name, _)| name));
        names.any(|name| pattern.contains(&format!("${{{name}}}")))
    }
}

/// Whether a flow sequence can be rewritten in block style without losing comments or anchors.
fn can_become_block(list: NodeRef<'_>) -> bool {
    let is_in_block = list.parent().is_some_and(NodeRef::is_block);
    is_in_block && is_settable(list) && !list.text().contains(['#', '\n', '&', '*'])
}

fn sorted(mut items: Vec<String>) -> Vec<String> {
    items.sort();
    items
}

struct Visitor<'m, 'a> {
    setters: &'m AddSetterComments,
    file: &'a PackageFile,
    comments: LineComments<'a>,
    result: AddSetterCommentsResult<'a>,
}

impl<'a> Visitor<'_, 'a> {
    /// Recursion is bounded: the parser limits how deep a document can nest.
    fn node(&mut self, node: NodeRef<'a>) {
        match node.kind() {
            NodeKind::Mapping => self.mapping(node, false, false),
            NodeKind::Sequence => node.children().for_each(|item| self.node(item)),
            NodeKind::Scalar(_) => {
                if let Some(comment) = self.scalar(node) {
                    self.set_comment(node, comment);
                }
            }
            NodeKind::Alias => {}
        }
    }

    fn mapping(&mut self, node: NodeRef<'a>, is_root: bool, is_annotations: bool) {
        let Some(mapping) = node.as_mapping() else { return };
        for entry in mapping.entries() {
            let name = entry.key.as_scalar().map(|key| key.value()).unwrap_or_default();
            // The resource type and the annotations of tools are never set.
            let is_type = is_root && (name == "apiVersion" || name == "kind");
            let tools = ["config.kubernetes.io/", "internal.config.kubernetes.io/"];
            if is_type || is_annotations && tools.iter().any(|it| name.starts_with(it)) {
                continue;
            }
            match entry.value.kind() {
                NodeKind::Sequence => self.sequence(entry.value),
                NodeKind::Mapping => self.mapping(entry.value, false, name == "annotations"),
                _ => self.node(entry.value),
            }
        }
    }

    fn sequence(&mut self, list: NodeRef<'a>) {
        let before = self.result.fields.len();
        let items = is_settable(list).then(|| sorted(scalar_elements(list)));
        let found = self.setters.lists.iter().find(|(_, other)| items.as_ref() == Some(other));
        let own = found.and_then(|(name, _)| {
            let pattern = Pattern::with_names(&format!("${{{name}}}")).ok()?;
            self.comment(list, &pattern, SetterValue::List(items.unwrap_or_default()))
        });
        if list.is_block() || !can_become_block(list) {
            list.children().for_each(|item| self.node(item));
        } else if let Some(block) = self.as_block_style(list) {
            let rewrite = EditOp::Rewrite(list, Value::OwnedNode(block));
            self.result.changes.add_at(self.file, list, rewrite);
            if let Some(comment) = own {
                let add = EditOp::AddComment(list, comment);
                self.result.changes.add_at(self.file, list, add);
            }
            return;
        }
        match own {
            Some(comment) if can_get_line_comment(list) => self.set_comment(list, comment),
            Some(_) => {
                self.result.fields.truncate(before);
                self.warn(list, SetterKind::NoLineComment);
            }
            None => {}
        }
    }

    /// A flow sequence in block style, if one of its elements gets a comment, as the original writes it.
    fn as_block_style(&mut self, list: NodeRef<'a>) -> Option<OwnedNode> {
        let count = self.result.fields.len();
        let item = |item: NodeRef<'a>| match self.scalar(item) {
            Some(comment) => format!("- {} {comment}\n", item.text()),
            None => format!("- {}\n", item.text()),
        };
        let text: String = list.children().map(item).collect();
        if self.result.fields.len() == count {
            return None;
        }
        OwnedNode::root(File::parse(text).ok()?)
    }

    /// The comment of a scalar that contains the value of a setter.
    fn scalar(&mut self, node: NodeRef<'a>) -> Option<String> {
        let value = node.as_scalar()?.value();
        let pattern = self.setters.pattern(&value).filter(|_| !value.contains('\n'))?;
        self.comment(node, &pattern, SetterValue::Scalar(value.into_owned()))
    }

    /// The whole comment with the reference. An existing pattern is kept, with markers in place of further values.
    fn comment(&mut self, node: NodeRef<'a>, new: &Pattern, value: SetterValue) -> Option<String> {
        let text = self.comments.get(&node.start()).map(|comment| comment.text);
        let (text, pattern) = match text.map(reference::parse) {
            None | Some(ParsedComment::None) => (text, new.to_string()),
            Some(ParsedComment::Reference(found)) => {
                let ReferenceTarget::Pattern(old) = found.target else {
                    self.warn(node, SetterKind::ReferenceExists);
                    return None;
                };
                let pattern = self.extend_pattern(&old, &value);
                let before = text.map(|text| &text[..found.range.start]);
                (before, pattern.unwrap_or_else(|| new.to_string()))
            }
            Some(ParsedComment::Invalid(kind)) => {
                self.warn(node, kind);
                return None;
            }
        };
        if !self.setters.is_in(&pattern) {
            self.warn(node, SetterKind::ReferenceExists);
            return None;
        }
        let reference = reference::write(ReferenceSyntax::Pattern, "", "", &pattern);
        let comment = reference::append(text, &reference);
        self.result.fields.push(CommentedField { node, reference, value });
        Some(comment)
    }

    /// An existing pattern that matches the value, with markers in place of values in the rest of it.
    ///
    /// A pattern that contradicts the given values is not kept: with them it would change the field.
    fn extend_pattern(&self, old: &Pattern, value: &SetterValue) -> Option<String> {
        let SetterValue::Scalar(text) = value else {
            let is_given = |name: &&str| self.setters.lists.iter().any(|(list, _)| list == name);
            return (!old.markers().iter().any(is_given)).then(|| old.to_string());
        };
        let given = |name: &str| {
            let found = self.setters.scalars.iter().find(|(given, _)| given == name);
            found.map(|(_, value)| value.clone())
        };
        match old.derive(text, given) {
            Err(DeriveError::NoMatch | DeriveError::TooManyCandidates) => None,
            _ => Some(old.map_literals(|part| self.setters.insert_markers(part))),
        }
    }

    fn set_comment(&mut self, node: NodeRef<'a>, comment: String) {
        if !can_get_line_comment(node) {
            self.result.fields.pop();
            return self.warn(node, SetterKind::NoLineComment);
        }
        let op = match self.comments.get(&node.start()) {
            Some(old) => EditOp::SetComment(*old, Some(comment)),
            None => EditOp::AddLineComment(node, comment),
        };
        self.result.changes.add_at(self.file, node, op);
    }

    fn warn(&mut self, node: NodeRef<'a>, kind: impl Into<Kind>) {
        self.result.warnings.push(warning_at(self.file, node.full_span(), kind));
    }
}
