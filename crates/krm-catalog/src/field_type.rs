//! The type of a field by the Kubernetes schema.

use krm_core::schema::{Schema, ValueKind};
use krm_sdk::Resource;
use krm_sdk::yaml::{Path, Segment};

/// The type of a field; none if the schema does not have it. Names, labels and annotations of any kind are strings.
pub(crate) fn of(item: &Resource, path: &Path) -> Option<ValueKind> {
    let (first, rest) = path.segments().split_first()?;
    if is_key(first, &["metadata"])
        && let [field] | [field, Segment::Key(_)] = rest
    {
        let names: &[&str] =
            if rest.len() == 1 { &["name", "namespace"] } else { &["labels", "annotations"] };
        if is_key(field, names) {
            return Some(ValueKind::String);
        }
    }
    let schema = Schema::kubernetes();
    let mut at = schema.resource_type(&item.api_version(), &item.kind())?;
    for segment in path.segments() {
        at = match segment {
            Segment::Key(key) => at.field(key)?,
            Segment::Index(_) | Segment::Match { .. } | Segment::End => at.item()?,
        };
    }
    Some(at.value_kind())
}

fn is_key(segment: &Segment, names: &[&str]) -> bool {
    matches!(segment, Segment::Key(key) if names.contains(&key.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn field_type_comes_from_the_schema() {
        let deployment = Resource::parse("apiVersion: apps/v1\nkind: Deployment\n").unwrap();
        let own = Resource::parse("apiVersion: example.com/v1\nkind: Own\n").unwrap();
        let of = |item: &Resource, path: &str| super::of(item, &path.parse().unwrap());
        assert_eq!(of(&deployment, "spec.replicas"), Some(ValueKind::Integer));
        assert_eq!(
            of(&deployment, "spec.template.spec.containers[name=a].env[0].value"),
            Some(ValueKind::String)
        );
        assert_eq!(of(&own, "metadata.labels.\"a.b\""), Some(ValueKind::String));
        assert_eq!(of(&own, "metadata.name"), Some(ValueKind::String));
        assert_eq!((of(&own, "spec.a"), of(&deployment, "spec.none")), (None, None));
    }
}
