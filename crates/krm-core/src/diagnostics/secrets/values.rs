//! Where the values of Secrets stand, however deep: in a document, in a list, in a resource that holds another one.

use krm_yaml::{Mapping, NodeRef, ScalarStyle, Span};

/// The fields of a Secret whose values nobody should see.
pub(super) const FIELDS: [&str; 2] = ["data", "stringData"];
/// Compat: kubectl keeps a copy of the whole resource here.
const COPY: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// One value of a Secret.
pub(super) struct SecretValue<'a> {
    /// The Secret.
    pub(super) secret: Mapping<'a>,
    /// The field and the key that it stands under.
    pub(super) name: (&'static str, String),
    /// The value.
    pub(super) value: NodeRef<'a>,
}

/// The values of Secrets at or below a node that have to do with these bytes. Depth is bounded by what the reader takes.
pub(super) fn find<'a>(node: NodeRef<'a>, within: Span, found: &mut Vec<SecretValue<'a>>) {
    if let Some(secret) = node.as_mapping().filter(|mapping| is_secret(*mapping)) {
        FIELDS.iter().for_each(|field| collect(secret, field, found));
        copy(secret, found);
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

/// A field that stands twice keeps two values, though only one counts.
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
            SecretValue { secret, name: (field, key.unwrap_or_default()), value: entry.value }
        })),
        // Not what a Secret should hold, and still not for everybody.
        None => found.push(SecretValue { secret, name: (field, String::new()), value }),
    }
}

fn copy<'a>(secret: Mapping<'a>, found: &mut Vec<SecretValue<'a>>) {
    let below = |node: NodeRef<'a>, name: &str| node.resolve().as_mapping()?.get(name);
    let copy = secret.get("metadata").and_then(|it| below(it, "annotations"));
    if let Some(value) = copy.and_then(|annotations| below(annotations, COPY)) {
        found.push(SecretValue { secret, name: (COPY, String::new()), value });
    }
}

/// The bytes of a value, without the line breaks that end a block scalar.
pub(super) fn content(value: NodeRef<'_>) -> Span {
    let span = value.span();
    let is_block = value
        .as_scalar()
        .is_some_and(|scalar| matches!(scalar.style(), ScalarStyle::Literal | ScalarStyle::Folded));
    let text = value.text();
    let kept = if is_block { text.len() - text.trim_end().len() } else { 0 };
    Span::new(span.start, span.end - kept as u32)
}
