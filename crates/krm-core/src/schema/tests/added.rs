//! Schemas from custom resources, OpenAPI documents and comments.

use krm_yaml::File;

use super::super::*;
use super::{at, strategy};
use crate::Diagnostic;

fn add(
    schema: &mut Schema,
    text: &str,
    how: fn(&mut Schema, krm_yaml::NodeRef<'_>) -> Vec<Diagnostic>,
) -> Vec<String> {
    let file = File::parse(text.to_owned()).unwrap();
    let diagnostics = how(schema, file.document(0).unwrap().root().unwrap());
    let line = |it: Diagnostic| {
        let at = it.location.as_ref().unwrap();
        format!("{}:{}: {}: {}", at.line, at.column, it.severity.name(), it.message())
    };
    diagnostics.into_iter().map(line).collect()
}

/// A custom resource whose root has these properties.
fn crd(properties: &str) -> String {
    let properties = properties.replace('\n', "\n          ");
    format!(
        "apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
spec:
  group: example.com
  names: {{kind: Fleet}}
  versions:
  - name: v1
    schema:
      openAPIV3Schema:
        type: object
        properties:
          {properties}
"
    )
}

fn warnings_of(properties: &str) -> Vec<String> {
    add(&mut Schema::kubernetes(), &crd(properties), Schema::add_crd)
}

const FLEET: &str = "\
metadata: {type: object, properties: {name: {type: string, maxLength: 20}}}
spec:
  type: object
  required: [ships]
  properties:
    ships:
      type: array
      x-kubernetes-list-type: map
      x-kubernetes-list-map-keys: [name, port]
      items:
        type: object
        required: [name, port]
        properties:
          name: {type: string}
          port: {type: integer, format: int32, default: 80}
          flag: {type: string, enum: [red, blue]}
    tags: {type: array, x-kubernetes-list-type: set, items: {type: string}}
    crew: {type: array, x-kubernetes-list-type: atomic, items: {type: string}}
    cargo: {type: array, items: {type: object}}
    size: {x-kubernetes-int-or-string: true, anyOf: [{type: integer}, {type: string}]}
    captain: {type: object, nullable: true, x-kubernetes-map-type: atomic, additionalProperties: {type: boolean}}
    extra: {type: object, x-kubernetes-preserve-unknown-fields: true}
    template: {type: object, x-kubernetes-embedded-resource: true, x-kubernetes-preserve-unknown-fields: true}";

#[test]
fn custom_resources_have_merge_strategies() {
    let mut schema = Schema::kubernetes();
    assert_eq!(add(&mut schema, &crd(FLEET), Schema::add_crd), [""; 0]);
    let attributes = [
        ("spec.ships", "name+port"),
        ("spec.tags", "set"),
        ("spec.crew", "atomic"),
        ("spec.cargo", "unknown"),
        ("spec.size", "not a list"),
        ("metadata.ownerReferences", "uid"),
        ("spec.template.metadata.finalizers", "set"),
    ];
    for (path, expected) in attributes {
        assert_eq!(strategy(at(&schema, "example.com/v1 Fleet", path)), expected, "{path}");
    }
    let ships = at(&schema, "example.com/v1 FleetList", "items.[].spec.ships");
    assert_eq!((ships.key_default("port"), ships.key_default("name")), (Some("80"), None));
    let flags = ships.item().unwrap().field("flag").unwrap().enum_values().unwrap();
    assert_eq!(flags.collect::<Vec<_>>(), ["red", "blue"]);
    assert!(schema.resource_type("example.com/v2", "Fleet").is_none());
}

#[test]
fn custom_resources_have_field_types() {
    let mut schema = Schema::kubernetes();
    add(&mut schema, &crd(FLEET), Schema::add_crd);
    let of = |path| at(&schema, "example.com/v1 Fleet", path);
    assert_eq!(of("").required().count(), 0);
    assert_eq!(of("spec").required().collect::<Vec<_>>(), ["ships"]);
    assert_eq!(of("spec.size").value_kind(), ValueKind::IntOrString);
    assert_eq!(of("spec.captain").mapping_strategy(), MappingStrategy::Atomic);
    assert_eq!(of("spec.captain.able").value_kind(), ValueKind::Boolean);
    assert_eq!(of("kind").value_kind(), ValueKind::String);
    assert!(of("spec.captain").is_nullable() && of("spec.extra").preserves_unknown_fields());
    assert!(of("").is_resource() && of("spec.template").is_resource() && !of("spec").is_resource());
    assert!(of("spec").field("no-such-field").is_none());
}

#[test]
fn v1beta1_definition_has_one_schema_for_all_versions() {
    let text = |versions: &str| {
        format!(
            "apiVersion: apiextensions.k8s.io/v1beta1
kind: CustomResourceDefinition
spec:
  group: example.com
  {versions}
  names: {{kind: Fleet, listKind: Armada}}
  validation:
    openAPIV3Schema:
      properties:
        ships: {{type: array, x-kubernetes-list-type: set, items: {{type: string}}}}
"
        )
    };
    let both = "version: v1\n  versions: [{name: v1}]";
    for versions in ["version: v1", "versions: [{name: v1}, {name: v2}]", both] {
        let mut schema = Schema::empty();
        assert_eq!(add(&mut schema, &text(versions), Schema::add_crd), [""; 0]);
        assert_eq!(strategy(at(&schema, "example.com/v1 Fleet", "ships")), "set");
        assert_eq!(strategy(at(&schema, "example.com/v1 Armada", "items.[].ships")), "set");
    }
}

#[test]
fn alternatives_are_one_type_or_any() {
    let value_kinds = [
        ("{type: [string, null]}", ValueKind::String, true),
        ("{type: ['null', integer]}", ValueKind::Integer, true),
        ("{type: [string, integer]}", ValueKind::IntOrString, false),
        ("{oneOf: [{type: string}, {type: number}]}", ValueKind::NumberOrString, false),
        ("{anyOf: [{type: boolean}]}", ValueKind::Boolean, false),
        ("{oneOf: [{type: string}, {type: boolean}]}", ValueKind::Any, false),
        ("{format: int-or-string, type: string}", ValueKind::IntOrString, false),
        ("{enum: [a, null], type: string}", ValueKind::String, true),
        ("{items: {}}", ValueKind::Array, false),
        ("{properties: {a: {}}}", ValueKind::Object, false),
        ("{}", ValueKind::Any, false),
    ];
    for (text, value_kind, nullable) in value_kinds {
        let mut schema = Schema::empty();
        let text = format!("definitions: {{a: {text}}}");
        assert_eq!(add(&mut schema, &text, Schema::add_openapi), [""; 0], "{text}");
        let found = schema.definition("a").unwrap();
        assert_eq!((found.value_kind(), found.is_nullable()), (value_kind, nullable), "{text}");
    }
}

#[test]
fn invalid_keywords_are_reported_with_their_location() {
    let expectations = [
        ("a: 5", "12:14: warning: expected a schema, found an integer"),
        (
            "a: {type: strin}",
            "12:21: warning: invalid value `strin`: expected array, boolean, integer, number, object or string",
        ),
        (
            "a: {type: array, x-kubernetes-list-type: map, items: {type: object}}",
            "12:52: warning: missing field `x-kubernetes-list-map-keys` in a list of type map",
        ),
        (
            "a: {type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: id, items: {}}",
            "12:85: warning: expected a sequence of strings for `x-kubernetes-list-map-keys`, found a string",
        ),
        (
            "a: {type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [id], items: {properties: {name: {}}}}",
            "12:52: warning: list map key `id` is not a field of the elements",
        ),
        (
            "a: {type: string, x-kubernetes-list-type: set}",
            "12:53: warning: keyword for lists, but the type is string",
        ),
        (
            "a: {type: array, x-kubernetes-list-type: bag}",
            "12:52: warning: invalid value `bag`: expected atomic, map or set",
        ),
        (
            "a: {x-kubernetes-map-type: bag}",
            "12:38: warning: invalid value `bag`: expected atomic or granular",
        ),
        (
            "a: {x-kubernetes-patch-strategy: bag}",
            "12:44: warning: invalid value `bag`: expected merge, replace or retainKeys, separated by commas",
        ),
        (
            "a: {properties: [b]}",
            "12:27: warning: expected a mapping of names to schemas for `properties`, found a sequence",
        ),
        (
            "a: {enum: b}",
            "12:21: warning: expected a sequence of values for `enum`, found a string",
        ),
        (
            "a: {required: {b: 1}}",
            "12:25: warning: expected a sequence of strings for `required`, found a mapping",
        ),
        ("a: {$ref: other.yaml}", "12:21: warning: unsupported reference `other.yaml`"),
    ];
    for (properties, expected) in expectations {
        assert_eq!(warnings_of(properties)[0], expected, "{properties}");
    }
    assert_eq!(warnings_of("a: 5\nb: 6\nc: {type: string}").len(), 2, "the rest is added");
}

#[test]
fn incomplete_crd_is_reported_with_its_location() {
    let expectations = [
        (
            "names: {kind: A}\n  versions: []",
            "2:3: warning: missing field `spec.group` in the CustomResourceDefinition",
        ),
        (
            "group: a\n  versions: []",
            "2:3: warning: missing field `spec.names.kind` in the CustomResourceDefinition",
        ),
        (
            "group: a\n  names: {plural: as}\n  versions: []",
            "3:10: warning: missing field `spec.names.kind` in the CustomResourceDefinition",
        ),
        (
            "group: a\n  names: {kind: A}\n  validation: {}",
            "2:3: warning: missing field `spec.versions` in the CustomResourceDefinition",
        ),
        (
            "group: a\n  names: {kind: A}\n  versions: v1",
            "4:13: warning: missing field `spec.versions` in the CustomResourceDefinition",
        ),
        (
            "group: a\n  names: {kind: A}\n  versions: [{schema: {}}]",
            "4:14: warning: missing field `spec.versions[].name` in the CustomResourceDefinition",
        ),
    ];
    for (spec, expected) in expectations {
        let text = format!("spec:\n  {spec}\n");
        assert_eq!(add(&mut Schema::empty(), &text, Schema::add_crd), [expected], "{text}");
    }
}

#[test]
fn patch_of_a_crd_is_ignored() {
    let texts = [
        "metadata: {name: a}",
        "spec: {conversion: {strategy: Webhook}}",
        "spec: {group: a}",
        "spec: {versions: [{name: v1, served: false}]}",
        "[]",
    ];
    for text in texts {
        assert_eq!(add(&mut Schema::empty(), text, Schema::add_crd), [""; 0], "{text}");
    }
}

#[test]
fn schemas_of_a_package_are_added() {
    let krmfile = "apiVersion: config.k8s.io/v1alpha1\nkind: Krmfile\nopenAPI:\n  definitions:\n    io.k8s.cli.setters.replicas:\n      x-k8s-cli: {setter: {name: replicas, value: 3}}\n    com.example.Box:\n      x-kubernetes-group-version-kind: [{group: example.com, version: v1, kind: Box}]\n      properties:\n        lids: {type: array, items: {type: string}, x-kubernetes-patch-strategy: merge}\n        key: {type: iron}\n";
    let broken = crd("a: 5");
    let package = crate::model::package::tests::package(&[
        ("Krmfile", krmfile),
        ("crds/fleet.yaml", &broken),
    ]);
    let mut schema = Schema::kubernetes();
    let warnings = schema.add_package(&package);
    let names: Vec<_> = warnings.iter().map(|it| it.file.as_deref().unwrap()).collect();
    assert_eq!(names, ["Krmfile", "crds/fleet.yaml"]);
    assert!(warnings.iter().all(|it| !it.is_error()));
    assert_eq!(strategy(at(&schema, "example.com/v1 Box", "lids")), "set");
    assert!(schema.resource_type("example.com/v1", "Fleet").is_some());
    assert!(schema.definition("io.k8s.cli.setters.replicas").is_none());
}

#[test]
fn openapi_v2_and_v3_take_precedence_over_built_in_types() {
    let v2 = r##"{"definitions":{"com.example.Box":{"x-kubernetes-group-version-kind":[{"group":"","version":"v1","kind":"Pod"}],
        "properties":{"lids":{"type":"array","x-kubernetes-patch-merge-key":"size","x-kubernetes-patch-strategy":"merge,retainKeys",
        "items":{"$ref":"#/definitions/com.example.Lid"}},"meta":{"$ref":"#/definitions/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"}}},
        "com.example.Lid":{"properties":{"size":{"type":"integer"}}}}}"##;
    let v3 = v2
        .replace("{\"definitions\":", "{\"components\":{\"schemas\":")
        .replace("#/definitions/", "#/components/schemas/")
        + "}";
    for text in [v2, &v3] {
        let mut schema = Schema::kubernetes();
        assert_eq!(add(&mut schema, text, Schema::add_openapi), [""; 0]);
        let lids = at(&schema, "v1 Pod", "lids");
        assert_eq!(strategy(lids), "size");
        assert_eq!(lids.item().unwrap().mapping_strategy(), MappingStrategy::RetainKeys);
        assert_eq!(lids.item().unwrap().field("size").unwrap().value_kind(), ValueKind::Integer);
        assert_eq!(strategy(at(&schema, "v1 Pod", "meta.ownerReferences")), "uid");
        assert_eq!(strategy(at(&schema, "v1 PodList", "items.[].spec.containers")), "name");
    }
}

#[test]
fn document_without_definitions_is_an_error() {
    let expectations = [
        ("a: 1\n", "1:1: error: no `definitions` or `components.schemas` found"),
        (
            "definitions: [a]\n",
            "1:14: error: expected a mapping of names to schemas for `definitions`, found a sequence",
        ),
        (
            "definitions: {a: {x-kubernetes-group-version-kind: [{kind: A}]}}\n",
            "1:53: error: missing field `version` in `x-kubernetes-group-version-kind`",
        ),
    ];
    for (text, expected) in expectations {
        assert_eq!(add(&mut Schema::empty(), text, Schema::add_openapi), [expected], "{text}");
    }
}

#[test]
fn later_definition_replaces_an_earlier_one() {
    let mut schema = Schema::empty();
    let old = "definitions: {a.A: {x-kubernetes-group-version-kind: [{group: a, version: v1, kind: A}], properties: {old: {}}}}";
    let new = "definitions: {a.A: {properties: {new: {}}}}";
    add(&mut schema, old, Schema::add_openapi);
    add(&mut schema, new, Schema::add_openapi);
    let found = schema.resource_type("a/v1", "A").unwrap();
    assert!(found.field("new").is_some() && found.field("old").is_none());
}

#[test]
fn yaml_merge_keys_and_aliases_are_expanded() {
    let text = "base: &base {type: array, items: {type: string}}\ndefinitions:\n  a:\n    properties:\n      b: {<<: *base, x-kubernetes-list-type: set}\n      c: *base\n";
    let mut schema = Schema::empty();
    assert_eq!(add(&mut schema, text, Schema::add_openapi), [""; 0]);
    let a = schema.definition("a").unwrap();
    assert_eq!(strategy(a.field("b").unwrap()), "set");
    assert_eq!(strategy(a.field("c").unwrap()), "unknown");
}

#[test]
fn schema_is_read_from_a_comment() {
    let texts = [
        (
            r#"# {"type":"array","x-kubernetes-patch-strategy":"merge","x-kubernetes-patch-merge-key":"id"}"#,
            "id",
        ),
        (r#"{"x-kubernetes-patch-strategy":"merge","x-kubernetes-patch-merge-key":"id"}"#, "id"),
        (r#"# {"type":"array","x-kubernetes-list-type":"atomic"}"#, "atomic"),
        (
            r#"# {"type":"array","items":{"type":"string"},"x-kubernetes-patch-strategy":"merge"}"#,
            "set",
        ),
        (r#"# {"x-kubernetes-patch-strategy":"merge"}"#, "union"),
        (r#"# {"items":{"type":"string"}}"#, "unknown"),
        (r#"# {"type":"integer"}"#, "not a list"),
    ];
    for (text, expected) in texts {
        assert_eq!(strategy(schema_from_comment(text).expect(text).get()), expected, "{text}");
    }
}

#[test]
fn comments_without_a_schema_are_ignored() {
    let texts = [
        "",
        "# for now",
        r#"# {"$openapi":"replicas"}"#,
        r#"# {"$kpt-set":"replicas"}"#,
        r##"# {"$ref":"#/definitions/io.k8s.cli.setters.replicas"}"##,
        r#"# {"type":"setter","x-k8s-cli":{"setter":{"name":"a"}}}"#,
        r#"# {"note":"x"}"#,
        "# {}",
        "# {broken",
        "# {a: [}",
        "# kpt-set: ${replicas}",
    ];
    for text in texts {
        assert!(schema_from_comment(text).is_none(), "{text}");
    }
}
