//! Comments that define a mutation: `# apply-time-mutation: prefix-${group/namespaces/ns/Kind/name:$.path}`.

use krm_sdk::{Diagnostic, Error, FunctionResult, Resource, Severity};
use krm_yaml::{CommentPosition, NodeRef, Segment};

use super::{Reference, Substitution};
use crate::changes::in_resource;
use crate::kinds::CatalogKind;

const MARKER: &str = "# apply-time-mutation: ";

/// A field with a mutation comment.
pub(super) struct MarkedField {
    /// The index of the node in the document.
    node: usize,
    /// The comment as it is written.
    pub(super) comment: String,
    /// The new value with tokens; none if the comment is a single reference.
    pub(super) value: Option<String>,
    pub(super) substitutions: Vec<Substitution>,
    path: String,
}

impl MarkedField {
    /// The field in its resource.
    pub(super) fn find<'a>(&self, resource: &'a Resource) -> Option<NodeRef<'a>> {
        resource.root().descendants().find(|it| it.index() == self.node)
    }

    /// A result about the field.
    pub(super) fn result(&self, resource: &Resource, message: String) -> FunctionResult {
        let result = resource.result(Severity::Info, message);
        let mut result: FunctionResult = match self.find(resource) {
            Some(node) => result.at(node).into(),
            None => result.into(),
        };
        // Compat: the path is a JSONPath here.
        if let Some(field) = &mut result.field {
            field.path.clone_from(&self.path);
        }
        result
    }
}

/// The fields of a resource with mutation comments, in order.
pub(super) fn marked_fields(resource: &Resource) -> Result<Vec<MarkedField>, Error> {
    if !resource.text().contains(MARKER) {
        return Ok(Vec::new());
    }
    let mut next = 0;
    let mut fields = Vec::new();
    for comment in resource.root().document().comments() {
        let owner = comment.owner.filter(|_| comment.position == CommentPosition::Line);
        let pattern = comment.text.strip_prefix(MARKER).map(str::trim);
        let (Some(node), Some(pattern)) = (owner, pattern) else { continue };
        if node.as_scalar().is_none() || node.value_of_key().is_some() {
            continue;
        }
        let path = json_path(node);
        let Some((value, substitutions)) = parse(pattern, &path, &mut next) else {
            let message = "apply mutation comment found with no valid reference to source path";
            let kind = CatalogKind::Failed { message: message.into() };
            let error = Diagnostic::error(kind).at(resource.item().file(), comment.span);
            let hint =
                "write a reference as `${group/namespaces/namespace/kind/name:$.path.of.field}`";
            return Err(in_resource(resource, error.hint(hint)));
        };
        let comment = comment.text.to_owned();
        fields.push(MarkedField { node: node.index(), comment, value, substitutions, path });
    }
    Ok(fields)
}

/// The new value of the field and its substitutions. Each reference gets a token, unless the comment is a single reference.
fn parse(
    pattern: &str,
    path: &str,
    next: &mut usize,
) -> Option<(Option<String>, Vec<Substitution>)> {
    let mut value = String::new();
    let mut substitutions = Vec::new();
    let mut rest = pattern;
    while let Some(start) = rest.find("${") {
        let Some((source_ref, source_path, length)) = reference(&rest[start..]) else {
            value.push_str(&rest[..start + 2]);
            rest = &rest[start + 2..];
            continue;
        };
        let is_single = rest.len() == pattern.len() && start == 0 && length == pattern.len();
        let token = if is_single { String::new() } else { format!("${{ref{next}}}") };
        *next += 1;
        value.push_str(&rest[..start]);
        value.push_str(&token);
        let target_path = path.to_owned();
        substitutions.push(Substitution { source_path, source_ref, target_path, token });
        rest = &rest[start + length..];
    }
    value.push_str(rest);
    let is_tokenized = !substitutions.first()?.token.is_empty();
    Some((is_tokenized.then_some(value), substitutions))
}

/// Parses a reference at the beginning of the text: the resource, the path, and the length of the reference.
fn reference(text: &str) -> Option<(Reference, String, usize)> {
    let body = text.strip_prefix("${")?;
    let end = body.find('}')?;
    let (names, path) = body[..end].split_once(':')?;
    let (api_version, group, rest) = match names.split('/').collect::<Vec<_>>()[..] {
        [group, "namespaces", ref rest @ ..] => (String::new(), group.to_owned(), rest.to_vec()),
        [group, version, "namespaces", ref rest @ ..] => {
            (format!("{group}/{version}"), String::new(), rest.to_vec())
        }
        _ => return None,
    };
    let [namespace, kind, name] = rest[..] else { return None };
    if names.split('/').any(str::is_empty) || path.is_empty() {
        return None;
    }
    let [namespace, kind, name] = [namespace, kind, name].map(str::to_owned);
    let reference = Reference { api_version, group, kind, name, namespace };
    Some((reference, path.to_owned(), end + 3))
}

/// The path of a node as JSONPath: `$.spec.list[0]["a.b"]`.
fn json_path(node: NodeRef<'_>) -> String {
    node.path().segments().iter().fold("$".to_owned(), |path, segment| match segment {
        Segment::Key(key) if is_simple(key) => format!("{path}.{key}"),
        Segment::Key(key) => format!("{path}[{key:?}]"),
        Segment::Index(index) => format!("{path}[{index}]"),
        other => format!("{path}[{other:?}]"),
    })
}

fn is_simple(key: &str) -> bool {
    let is_inner = |it: char| it.is_ascii_alphanumeric() || it == '_' || it == '-';
    key.starts_with(|it: char| it.is_ascii_alphabetic())
        && key.ends_with(|it: char| it.is_ascii_alphanumeric())
        && key.chars().all(is_inner)
}
