//! The type of a field by the schema of its resource.

use krm_core::schema::{Schema, ValueKind};
use krm_sdk::Resource;
use krm_sdk::yaml::Path;

/// The type of a field; none if it is not known.
pub(crate) fn of(item: &Resource, path: &Path) -> Option<ValueKind> {
    Schema::built_in().type_at(item.root(), path)
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
