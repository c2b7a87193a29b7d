//! Values of Secrets, hidden before a text is shown to people.

use std::collections::BTreeMap;

use krm_yaml::{DocumentRef, File, NodeRef, ScalarStyle, Span};

/// The fields of a Secret whose values nobody should see.
const FIELDS: [&str; 2] = ["data", "stringData"];

/// Both texts with the values of their Secrets hidden: `***`, and where a value changed, which side it is of.
///
/// ```
/// use krm_core::secrets;
/// use krm_yaml::File;
///
/// let old = File::parse("kind: Secret\ndata:\n  key: aGk=\n".to_owned())?;
/// let new = File::parse("kind: Secret\ndata:\n  key: aG8=\n".to_owned())?;
/// let (old, new) = secrets::mask(&old, &new);
/// assert_eq!(old, "kind: Secret\ndata:\n  key: *** (before)\n");
/// assert_eq!(new, "kind: Secret\ndata:\n  key: *** (after)\n");
/// # Ok::<(), krm_yaml::ReadError>(())
/// ```
pub fn mask(old: &File, new: &File) -> (String, String) {
    let (before, after) = (values(old), values(new));
    (hide(old, &before, &after, "*** (before)"), hide(new, &after, &before, "*** (after)"))
}

/// Whether a document is a Secret.
pub fn is_secret(document: DocumentRef<'_>) -> bool {
    let kind = document.root().and_then(|root| root.as_mapping()?.get("kind"));
    kind.is_some_and(|kind| kind.as_str().as_deref() == Some("Secret"))
}

/// Which value this is: of which document, field and key.
type Name = (usize, &'static str, String);

fn values(file: &File) -> BTreeMap<Name, NodeRef<'_>> {
    let mut found = BTreeMap::new();
    for document in file.documents().filter(|document| is_secret(*document)) {
        let Some(root) = document.root().and_then(NodeRef::as_mapping) else { continue };
        for field in FIELDS {
            let entries = root.get(field).map(NodeRef::resolve).and_then(NodeRef::as_mapping);
            for entry in
                entries.into_iter().flat_map(|mapping| mapping.entries().collect::<Vec<_>>())
            {
                let key = entry.key.resolve().as_scalar().map(|key| key.value().into_owned());
                found.insert((document.index(), field, key.unwrap_or_default()), entry.value);
            }
        }
    }
    found
}

fn hide(
    file: &File,
    own: &BTreeMap<Name, NodeRef<'_>>,
    other: &BTreeMap<Name, NodeRef<'_>>,
    changed: &str,
) -> String {
    let mut hidden: Vec<(Span, &str)> = own
        .iter()
        .map(|(name, value)| {
            let same = other.get(name).is_none_or(|other| other.text() == value.text());
            (content(*value), if same { "***" } else { changed })
        })
        .filter(|(span, _)| !span.is_empty())
        .collect();
    hidden.sort_by_key(|(span, _)| *span);
    let (mut out, mut at) = (String::new(), 0);
    for (span, mask) in hidden {
        out.push_str(&file.text()[at..span.start as usize]);
        out.push_str(mask);
        at = span.end as usize;
    }
    out.push_str(&file.text()[at..]);
    out
}

/// The bytes of a value, without the line breaks that end a block scalar.
fn content(value: NodeRef<'_>) -> Span {
    let span = value.span();
    let is_block = value
        .as_scalar()
        .is_some_and(|scalar| matches!(scalar.style(), ScalarStyle::Literal | ScalarStyle::Folded));
    let text = value.text();
    let kept = if is_block { text.len() - text.trim_end().len() } else { 0 };
    Span::new(span.start, span.end - kept as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn masked(old: &str, new: &str) -> (String, String) {
        mask(&File::parse(old.to_owned()).unwrap(), &File::parse(new.to_owned()).unwrap())
    }

    #[test]
    fn equal_values_look_equal_and_others_are_told_apart() {
        let old = "kind: Secret\nstringData:\n  a: |\n    one\n    two\n\n  b: 'x'\n";
        let (before, after) = masked(old, &old.replace("two", "three"));
        assert_eq!(before, "kind: Secret\nstringData:\n  a: *** (before)\n\n  b: ***\n");
        assert_eq!(after, "kind: Secret\nstringData:\n  a: *** (after)\n\n  b: ***\n");
    }

    #[test]
    fn what_is_no_secret_is_left_alone() {
        let text =
            "kind: ConfigMap\ndata: {a: b}\n---\nkind: Secret\ntype: Opaque\ndata:\n---\n[\n";
        assert_eq!(masked(text, text), (text.to_owned(), text.to_owned()));
    }
}
