//! The content of the embedded table, and its integrity.

use super::*;

/// The type at a path of fields; `[]` is the element of a list.
pub(super) fn at<'a>(schema: &'a Schema, kind: &str, path: &str) -> Type<'a> {
    let (api_version, kind) = kind.split_once(' ').unwrap();
    let root = schema.resource_type(api_version, kind).unwrap();
    path.split('.').filter(|step| !step.is_empty()).fold(root, |at, step| {
        let next = if step == "[]" { at.item() } else { at.field(step) };
        next.unwrap_or_else(|| panic!("no {step} of {path} in {kind}"))
    })
}

/// The merge strategy of a list: its name, or the merge keys.
pub(super) fn strategy(of: Type<'_>) -> String {
    match of.list_strategy() {
        None => "not a list".to_owned(),
        Some(ListStrategy::Associative(keys)) => keys.iter().collect::<Vec<_>>().join("+"),
        Some(other) => format!("{other:?}").to_lowercase(),
    }
}

#[test]
fn built_in_lists_have_the_merge_strategy_of_their_schema() {
    let schema = Schema::kubernetes();
    let attributes = [
        ("apps/v1 Deployment", "spec.template.spec.containers", "name"),
        ("apps/v1 Deployment", "spec.template.spec.initContainers", "name"),
        ("v1 Pod", "spec.ephemeralContainers", "name"),
        ("v1 Pod", "spec.ephemeralContainers.[].ports", "containerPort+protocol"),
        ("v1 Pod", "spec.containers.[].ports", "containerPort+protocol"),
        ("v1 Pod", "spec.containers.[].env", "name"),
        ("v1 Pod", "spec.containers.[].envFrom", "atomic"),
        ("v1 Pod", "spec.containers.[].args", "atomic"),
        ("v1 Pod", "spec.containers.[].volumeMounts", "mountPath"),
        ("v1 Pod", "spec.containers.[].volumeDevices", "devicePath"),
        ("v1 Pod", "spec.volumes", "name"),
        ("v1 Pod", "spec.hostAliases", "ip"),
        ("v1 Pod", "spec.imagePullSecrets", "name"),
        ("v1 Pod", "spec.tolerations", "atomic"),
        ("v1 Pod", "spec.topologySpreadConstraints", "topologyKey+whenUnsatisfiable"),
        ("v1 Pod", "metadata.finalizers", "set"),
        ("v1 Pod", "metadata.ownerReferences", "uid"),
        ("v1 Pod", "spec", "not a list"),
        ("v1 Service", "spec.ports", "port+protocol"),
        ("v1 Service", "spec.externalIPs", "atomic"),
        ("v1 Node", "spec.podCIDRs", "set"),
        ("v1 Node", "status.addresses", "type"),
        ("v1 PodList", "items.[].spec.containers", "name"),
        ("v1 PodList", "items", "unknown"),
        ("networking.k8s.io/v1 Ingress", "spec.rules", "atomic"),
        ("rbac.authorization.k8s.io/v1 ClusterRole", "rules", "atomic"),
        ("batch/v1 CronJob", "spec.jobTemplate.spec.template.spec.containers", "name"),
    ];
    for (kind, path, expected) in attributes {
        assert_eq!(strategy(at(&schema, kind, path)), expected, "{path} of {kind}");
    }
}

#[test]
fn built_in_mappings_have_the_merge_strategy_of_their_schema() {
    let schema = Schema::kubernetes();
    let attributes = [
        ("apps/v1 Deployment", "spec.strategy", MappingStrategy::RetainKeys),
        ("apps/v1 Deployment", "spec.template", MappingStrategy::Merge),
        ("apps/v1 Deployment", "spec.selector", MappingStrategy::Atomic),
        ("v1 Service", "spec.selector", MappingStrategy::Atomic),
        ("policy/v1 PodDisruptionBudget", "spec.selector", MappingStrategy::Replace),
        ("v1 Pod", "spec.volumes.[]", MappingStrategy::RetainKeys),
        ("v1 Pod", "spec.containers.[]", MappingStrategy::Merge),
        ("v1 Pod", "metadata.labels", MappingStrategy::Merge),
    ];
    for (kind, path, expected) in attributes {
        assert_eq!(at(&schema, kind, path).mapping_strategy(), expected, "{path} of {kind}");
    }
}

#[test]
fn merge_keys_have_the_defaults_of_their_fields() {
    let schema = Schema::kubernetes();
    let service = at(&schema, "v1 Service", "spec.ports");
    assert_eq!((service.key_default("protocol"), service.key_default("port")), (Some("TCP"), None));
    assert_eq!(
        at(&schema, "v1 Pod", "spec.containers.[].ports").key_default("protocol"),
        Some("TCP")
    );
    assert_eq!(at(&schema, "v1 Pod", "spec.volumes").key_default("name"), None);
}

#[test]
fn fields_have_types_formats_and_requirements() {
    let schema = Schema::kubernetes();
    let attributes = [
        ("v1 Pod", "spec.containers.[].image", ValueKind::String, None),
        ("apps/v1 Deployment", "spec.replicas", ValueKind::Integer, Some("int32")),
        ("v1 Service", "spec.ports.[].targetPort", ValueKind::IntOrString, None),
        ("v1 Pod", "spec.containers.[].resources.limits.cpu", ValueKind::NumberOrString, None),
        ("v1 Pod", "spec.hostNetwork", ValueKind::Boolean, None),
        ("v1 ConfigMap", "data", ValueKind::Object, None),
        ("v1 ConfigMap", "data.anything", ValueKind::String, None),
        ("v1 Secret", "data.anything", ValueKind::String, Some("byte")),
        ("v1 Pod", "metadata.creationTimestamp", ValueKind::String, Some("date-time")),
        ("v1 Pod", "metadata.labels", ValueKind::Object, None),
    ];
    for (kind, path, value_kind, format) in attributes {
        let found = at(&schema, kind, path);
        assert_eq!((found.value_kind(), found.format()), (value_kind, format), "{path} of {kind}");
    }
    let container = at(&schema, "v1 Pod", "spec.containers.[]");
    assert_eq!(container.required().collect::<Vec<_>>(), ["name"]);
    assert!(
        container.fields().any(|(name, it)| name == "env" && it.value_kind() == ValueKind::Array)
    );
    assert!(container.field("no-such-field").is_none());
}

#[test]
fn unknown_kinds_have_no_type() {
    let schema = Schema::kubernetes();
    for (api_version, kind) in
        [("v1", "Nothing"), ("example.com/v1", "Pod"), ("", ""), ("v1", "DeleteOptions")]
    {
        assert!(schema.resource_type(api_version, kind).is_none(), "{api_version} {kind}");
    }
    assert!(Schema::empty().resource_type("v1", "Pod").is_none());
}

#[test]
fn definitions_are_found_by_their_full_names() {
    let schema = Schema::kubernetes();
    assert!(schema.definition("io.k8s.api.core.v1.Container").unwrap().field("image").is_some());
    assert!(schema.definition("core.v1.Container").is_none());
    assert!(schema.definition("io.k8s.api.core.v1.Nothing").is_none());
}

#[test]
fn recursive_types_can_be_followed_to_any_depth() {
    let schema = Schema::kubernetes();
    let path = "spec.versions.[].schema.openAPIV3Schema.properties.a.properties.b.items";
    let found = at(&schema, "apiextensions.k8s.io/v1 CustomResourceDefinition", path);
    assert_eq!(found.value_kind(), ValueKind::Any);
    let deep = "spec.versions.[].schema.openAPIV3Schema".to_owned() + &".not".repeat(500) + ".type";
    let found = at(&schema, "apiextensions.k8s.io/v1 CustomResourceDefinition", &deep);
    assert_eq!(found.value_kind(), ValueKind::String);
}

#[test]
fn header_of_the_committed_table_matches_its_content() {
    let text = embedded::TEXT;
    let head = |name: &str| text.lines().find_map(|line| line.strip_prefix(name)).unwrap();
    let body = &text[text.find("package ").unwrap()..];
    assert_eq!(head("digest "), format!("{:016x}", table_writer::digest(body.as_bytes())));
    let count = |start: &str| body.lines().filter(|line| line.starts_with(start)).count();
    assert_eq!(head("types "), count("type ").to_string());
    assert_eq!(head("fields "), count(" ").to_string());
    assert_eq!(head("kinds "), body.matches(" kind=").count().to_string());
    assert!(kubernetes_version().starts_with("v1."), "{}", kubernetes_version());
}

#[test]
fn committed_table_round_trips() {
    let embedded = Embedded::get();
    let types = embedded.types.iter().map(|it| {
        let NodeHandle { nodes, id, .. } = it.handle();
        let api_versions = it.entry.api_versions().collect();
        (it.entry.name.to_owned(), table_writer::TypeEntry { nodes, id, api_versions })
    });
    let writer =
        table_writer::TableWriter { packages: embedded.packages.clone(), types: types.collect() };
    let again = writer.write(kubernetes_version()).unwrap();
    assert!(again == embedded::TEXT, "run `cargo xtask schema`");
}

#[test]
fn references_of_the_committed_table_are_defined() {
    let references = embedded::TEXT.split_whitespace().filter_map(|token| token.split_once('@'));
    for (_, name) in references {
        assert!(Embedded::get().definition(name).is_some(), "{name}");
    }
}

#[test]
fn package_files_have_types_with_merge_keys() {
    let schema = Schema::built_in();
    let attributes = [
        ("kpt.dev/v1 Kptfile", "pipeline.mutators", "functions"),
        ("kpt.dev/v1 Kptfile", "pipeline.validators", "functions"),
        ("kpt.dev/v1 Kptfile", "status.conditions", "type"),
        ("config.k8s.io/v1alpha1 Krmfile", "pipeline.mutators", "functions"),
        ("kustomize.config.k8s.io/v1beta1 Kustomization", "configMapGenerator", "name"),
        ("kustomize.config.k8s.io/v1beta1 Kustomization", "secretGenerator", "name"),
        ("kustomize.config.k8s.io/v1beta1 Kustomization", "images", "name"),
        ("kustomize.config.k8s.io/v1beta1 Kustomization", "resources", "unknown"),
        ("kustomize.config.k8s.io/v1alpha1 Component", "replicas", "name"),
    ];
    for (kind, path, expected) in attributes {
        assert_eq!(strategy(at(&schema, kind, path)), expected, "{path} of {kind}");
    }
    let labels = at(&schema, "kpt.dev/v1 Kptfile", "metadata.labels.a");
    assert_eq!(labels.value_kind(), ValueKind::String, "types of Kubernetes are found");
    assert!(Schema::kubernetes().resource_type("kpt.dev/v1", "Kptfile").is_none());
}

#[test]
fn table_of_package_files_is_sorted_and_complete() {
    let schema = Schema::built_in();
    let table = Embedded::package_files();
    let names: Vec<&str> = table.types.iter().map(|it| it.entry.name).collect();
    assert!(names.is_sorted(), "{names:?}");
    for definition in &table.types {
        let fields: Vec<&str> =
            Type::new(&schema, definition.handle()).fields().map(|(name, _)| name).collect();
        assert!(fields.is_sorted(), "{}: {fields:?}", definition.entry.name);
    }
    let references = embedded::PACKAGE_FILES.split_whitespace();
    for (_, name) in references.filter_map(|token| token.split_once('@')) {
        assert!(schema.lookup(true, name).is_some(), "{name}");
    }
}

#[test]
fn invalid_table_line_is_an_error() {
    let parse_error = |text| table::entries(text).find_map(|entry| entry.parse().err());
    let message = |text| parse_error(text).expect("invalid").to_string();
    assert_eq!(message("# x\ntype a\n b string\n c strin\n"), "a: cannot read `c strin`");
    assert_eq!(message("\ntype a bold\n"), "a: cannot read `bold`");
    assert_eq!(message("\ntype a\ntype b\n c\n"), "b: cannot read `c`");
    assert_eq!(parse_error("\ntype a\n b string\n"), None);
}

mod added;
mod hostile;
mod versions;
