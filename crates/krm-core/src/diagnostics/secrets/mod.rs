//! Masking of the values of Secrets in diffs and diagnostics.

mod masking;
mod values;

use std::collections::BTreeMap;

use krm_yaml::{DocumentRef, File, NodeRef, Span};

use self::values::{SecretValue, content, find};
use crate::Resource;
use crate::model::resource::resources;
pub(crate) use masking::{hidden_spans, hidden_texts, mask_line};

/// Both versions of a file with the values of Secrets masked: `***`, with the side if the value changed, so that a diff shows it.
///
/// ```
/// use krm_core::diagnostics::mask_secrets;
/// use krm_yaml::File;
///
/// let old = File::parse("kind: Secret\ndata:\n  key: aGk=\n".to_owned())?;
/// let new = File::parse("kind: Secret\ndata:\n  key: aG8=\n".to_owned())?;
/// let (old, new) = mask_secrets(&old, &new);
/// assert_eq!(old, "kind: Secret\ndata:\n  key: *** (before)\n");
/// assert_eq!(new, "kind: Secret\ndata:\n  key: *** (after)\n");
/// # Ok::<(), krm_yaml::ReadError>(())
/// ```
pub fn mask_secrets(old: &File, new: &File) -> (String, String) {
    let (before, after) = (values(old), values(new));
    (hide(old, &before, &after, "*** (before)"), hide(new, &after, &before, "*** (after)"))
}

/// Whether a document is a Secret, or a list that contains one.
pub fn contains_secret(document: DocumentRef<'_>) -> bool {
    resources(document).iter().any(|resource| resource.kind() == "Secret")
}

/// Whether a path that starts with this key leads to secret values; none stands for any key.
pub(crate) fn is_secret_field(resource: Resource<'_>, first_key: Option<&str>) -> bool {
    resource.kind() == "Secret" && first_key.is_none_or(|key| self::values::FIELDS.contains(&key))
}

/// The identity of a value: its Secret, field and key, and a counter for duplicates.
type ValueId = (String, &'static str, String, usize);

fn values(file: &File) -> BTreeMap<ValueId, NodeRef<'_>> {
    let (mut found, mut count) = (BTreeMap::new(), BTreeMap::new());
    for document in file.documents() {
        let mut all = Vec::new();
        if let Some(root) = document.root() {
            find(root, document.span(), &mut all);
        }
        for SecretValue { secret, name: (field, key), value, .. } in all {
            let secret = Resource { node: secret.node(), item: None };
            let name = format!("{} {}/{}", document.index(), secret.namespace(), secret.name());
            let nth = *count
                .entry((name.clone(), field, key.clone()))
                .and_modify(|n| *n += 1)
                .or_insert(0);
            found.insert((name, field, key, nth), value);
        }
    }
    found
}

fn hide(
    file: &File,
    own: &BTreeMap<ValueId, NodeRef<'_>>,
    other: &BTreeMap<ValueId, NodeRef<'_>>,
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

#[cfg(test)]
mod tests {
    use super::*;

    fn masked(old: &str, new: &str) -> (String, String) {
        mask_secrets(&File::parse(old.to_owned()).unwrap(), &File::parse(new.to_owned()).unwrap())
    }

    #[test]
    fn unchanged_values_have_the_same_mask_on_both_sides() {
        let old = "kind: Secret\nstringData:\n  a: |\n    one\n    two\n\n  b: 'x'\n";
        let (before, after) = masked(old, &old.replace("two", "three"));
        assert_eq!(before, "kind: Secret\nstringData:\n  a: *** (before)\n\n  b: ***\n");
        assert_eq!(after, "kind: Secret\nstringData:\n  a: *** (after)\n\n  b: ***\n");
    }

    #[test]
    fn other_resources_are_not_masked() {
        let text =
            "kind: ConfigMap\ndata: {a: b}\n---\nkind: Secret\ntype: Opaque\ndata:\n---\n[\n";
        assert_eq!(masked(text, text), (text.to_owned(), text.to_owned()));
    }

    #[test]
    fn secrets_in_lists_are_identified_by_name() {
        let list = |first: &str, value: &str| {
            format!(
                "kind: List\nitems:\n{first}- kind: Secret\n  metadata: {{name: b}}\n  data: {{x: {value}}}\n"
            )
        };
        let first = "- kind: Secret\n  metadata: {name: a}\n  data: {x: one}\n";
        let (before, after) = masked(&list(first, "two"), &list("", "two"));
        assert_eq!(before, list(&first.replace("one", "***"), "***"));
        assert_eq!(after, list("", "***"));
        let (before, after) = masked(&list("", "two"), &list("", "three"));
        assert_eq!((before, after), (list("", "*** (before)"), list("", "*** (after)")));
    }

    #[test]
    fn last_applied_configuration_is_masked() {
        let text = "kind: Secret\nmetadata:\n  annotations:\n    kubectl.kubernetes.io/last-applied-configuration: |\n      {\"data\":{\"x\":\"aGk=\"}}\ndata: {x: oops}\ndata: oops\n";
        let (before, _) = masked(text, text);
        assert!(!before.contains("aGk=") && !before.contains("oops"), "{before}");
    }
}
