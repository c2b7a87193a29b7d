//! The values of Secrets in a document, however deep: Secrets can be items of lists and parts of other resources.

use krm_yaml::{Mapping, NodeRef, ScalarStyle, Span};

/// The fields of a Secret that have secret values.
pub(super) const FIELDS: [&str; 2] = ["data", "stringData"];
/// The annotation in which `kubectl apply` keeps a copy of the whole resource.
const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// One value of a Secret.
pub(super) struct SecretValue<'a> {
    /// The Secret.
    pub(super) secret: Mapping<'a>,
    /// The field and the key of the value.
    pub(super) name: (&'static str, String),
    /// The span from the key to the end of the value.
    pub(super) entry: Span,
    /// The value.
    pub(super) value: NodeRef<'a>,
}

/// Collects the values of Secrets at or below a node, descending only into nodes that overlap `within`. The parser bounds the depth.
pub(super) fn find<'a>(node: NodeRef<'a>, within: Span, found: &mut Vec<SecretValue<'a>>) {
    if let Some(secret) = node.as_mapping().filter(|mapping| is_secret(*mapping)) {
        FIELDS.iter().for_each(|field| collect(secret, field, found));
        last_applied(secret, found);
    }
    for child in node.children().filter(|child| child.is_collection()) {
        if child.start() <= within.end && within.start <= child.end() {
            find(child, within, found);
        }
    }
}

fn is_secret(mapping: Mapping<'_>) -> bool {
    mapping.get("kind").is_some_and(|kind| kind.resolve().as_str().as_deref() == Some("Secret"))
}

/// Collects the values of a field. A duplicate field has secret values, too, although only one of them counts.
fn collect<'a>(secret: Mapping<'a>, field: &'static str, found: &mut Vec<SecretValue<'a>>) {
    let is_field = |key: NodeRef<'a>| key.resolve().as_scalar().is_some_and(|key| key.is(field));
    for entry in secret.entries().filter(|entry| is_field(entry.key)) {
        collect_below(secret, field, entry.value, found);
    }
}

fn collect_below<'a>(
    secret: Mapping<'a>,
    field: &'static str,
    value: NodeRef<'a>,
    found: &mut Vec<SecretValue<'a>>,
) {
    match value.resolve().as_mapping() {
        Some(entries) => found.extend(entries.entries().map(|entry| {
            let key = entry.key.resolve().as_scalar().map(|key| key.value().into_owned());
            let span = Span::new(entry.key.start(), entry.value.end());
            let name = (field, key.unwrap_or_default());
            SecretValue { secret, name, entry: span, value: entry.value }
        })),
        // Invalid in a Secret, but probably still secret.
        None => {
            let name = (field, String::new());
            found.push(SecretValue { secret, name, entry: value.span(), value });
        }
    }
}

fn last_applied<'a>(secret: Mapping<'a>, found: &mut Vec<SecretValue<'a>>) {
    let below = |node: NodeRef<'a>, name: &str| node.resolve().as_mapping()?.get(name);
    let annotations = secret.get("metadata").and_then(|it| below(it, "annotations"));
    if let Some(value) = annotations.and_then(|annotations| below(annotations, LAST_APPLIED)) {
        let name = (LAST_APPLIED, String::new());
        found.push(SecretValue { secret, name, entry: value.span(), value });
    }
}

/// The bytes of a value, without the line breaks that end a block scalar.
pub(super) fn content(value: NodeRef<'_>) -> Span {
    let span = value.span();
    let is_block = value
        .as_scalar()
        .is_some_and(|scalar| matches!(scalar.style(), ScalarStyle::Literal | ScalarStyle::Folded));
    let text = value.text();
    let trailing = if is_block { text.len() - text.trim_end().len() } else { 0 };
    Span::new(span.start, span.end - trailing as u32)
}
