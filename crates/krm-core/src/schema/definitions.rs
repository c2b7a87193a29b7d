//! The types of Kubernetes as OpenAPI definitions, for scripts that look fields up.

use krm_yaml::Value;

use super::Schema;
use super::embedded::Embedded;
use super::merge_strategy::ListStrategy;
use super::node::ValueKind;
use super::type_ref::Type;

/// The keywords of a schema.
type OpenApiEntries = Vec<(&'static str, Value<'static>)>;

/// The `definitions` of an OpenAPI document with the built-in kinds of Kubernetes. The embedded table has no descriptions.
pub fn kubernetes_definitions() -> Value<'static> {
    let (table, schema) = (Embedded::get(), Schema::kubernetes());
    let definition = |name: &'static str, kind: &'static str, versions: Vec<&'static str>| {
        let full = full_name(table, name);
        let handle = schema.lookup(true, name)?;
        let mut entries = type_entries(table, Type::new(&schema, handle));
        if !versions.is_empty() {
            let kinds = versions.into_iter().map(|version| group_version_kind(version, kind));
            entries.push(("x-kubernetes-group-version-kind", Value::Sequence(kinds.collect())));
        }
        Some((Value::string(full), mapping(entries)))
    };
    let definitions = table.types.iter().filter_map(|it| {
        definition(it.entry.name, it.entry.kind(), it.entry.api_versions().collect())
    });
    Value::Mapping(definitions.collect())
}

/// The full name of a definition: `io.k8s.api.core.v1.Pod` for `core.v1.Pod`.
fn full_name(table: &Embedded, name: &str) -> String {
    let (package, kind) = name.rsplit_once('.').unwrap_or(("", name));
    let full = table.packages.iter().find(|(_, short)| **short == package);
    full.map_or_else(|| name.to_owned(), |(full, _)| format!("{full}.{kind}"))
}

fn group_version_kind(api_version: &str, kind: &str) -> Value<'static> {
    let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
    let parts = [("group", group), ("kind", kind), ("version", version)];
    mapping(parts.map(|(name, text)| (name, Value::string(text.to_owned()))).into())
}

fn type_value(table: &Embedded, used: Type<'_>) -> Value<'static> {
    match used.reference() {
        Some(name) => {
            let target = format!("#/definitions/{}", full_name(table, name));
            mapping(vec![("$ref", Value::string(target))])
        }
        None => mapping(type_entries(table, used)),
    }
}

fn type_entries(table: &Embedded, of: Type<'_>) -> OpenApiEntries {
    let string = |text: &str| Value::string(text.to_owned());
    let mut entries: OpenApiEntries = Vec::new();
    match of.value_kind() {
        ValueKind::Any => {}
        ValueKind::IntOrString | ValueKind::NumberOrString => {
            entries.push(("type", string("string")));
        }
        kind => entries.push(("type", string(kind.name()))),
    }
    entries.extend(of.format().map(|format| ("format", string(format))));
    let fields: Vec<_> =
        of.fields().map(|(name, field)| (string(name), type_value(table, field))).collect();
    if !fields.is_empty() {
        entries.push(("properties", Value::Mapping(fields)));
    } else if let Some(values) = of.values() {
        entries.push(("additionalProperties", type_value(table, values)));
    }
    let required: Vec<_> = of.required().map(string).collect();
    if !required.is_empty() {
        entries.push(("required", Value::Sequence(required)));
    }
    entries.extend(of.item().map(|item| ("items", type_value(table, item))));
    if let Some(ListStrategy::Associative(keys)) = of.list_strategy() {
        entries.push(("x-kubernetes-list-type", string("map")));
        let keys = keys.iter().map(string).collect();
        entries.push(("x-kubernetes-list-map-keys", Value::Sequence(keys)));
    }
    entries
}

fn mapping(entries: OpenApiEntries) -> Value<'static> {
    let entry = |(name, value): (&str, Value<'static>)| (Value::string(name.to_owned()), value);
    Value::Mapping(entries.into_iter().map(entry).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn definitions_have_kinds_fields_and_references() {
        let json = crate::print::json::display(&kubernetes_definitions());
        for part in [
            r#""io.k8s.api.core.v1.Pod":{"type":"object","properties":{"#,
            r##""spec":{"$ref":"#/definitions/io.k8s.api.core.v1.PodSpec"}"##,
            r#""x-kubernetes-group-version-kind":[{"group":"apps","kind":"Deployment","version":"v1"}]"#,
            r#""x-kubernetes-list-map-keys":["name"]"#,
        ] {
            assert!(json.contains(part), "{part}");
        }
        assert!(!json.contains("#/definitions/core.v1"));
    }
}
