//! Malicious schemas are read in bounded time, and every query of their types terminates.

use std::collections::BTreeSet;

use krm_yaml::File;

use super::super::*;

/// Reads a document as every source of schemas, and queries all of its types. Returns the number of diagnostics.
fn exercise(text: &str) -> usize {
    let Ok(file) = File::parse(text.to_owned()) else { return 0 };
    let mut schema = Schema::kubernetes();
    let mut count = 0;
    for root in file.documents().filter_map(|document| document.root()) {
        count += schema.add_openapi(root).len() + schema.add_crd(root).len();
    }
    for name in schema.own.definitions.keys() {
        query(schema.definition(name).expect("it was added"));
    }
    for (api_version, kinds) in &schema.own.kinds {
        for kind in kinds.keys() {
            query(schema.resource_type(api_version, kind).expect("it was added"));
        }
    }
    schema_from_comment(text);
    count
}

/// Queries a type and those below it, to a limited depth and breadth.
fn query(of: Type<'_>) {
    let mut waiting = vec![(of, 0)];
    let mut count = 0;
    while let Some((of, depth)) = waiting.pop() {
        count += 1;
        let _ = (
            of.list_strategy(),
            of.mapping_strategy(),
            of.default(),
            of.format(),
            of.key_default("name"),
        );
        let _ = (
            of.is_nullable(),
            of.preserves_unknown_fields(),
            of.enum_values().map(Iterator::count),
        );
        let names: BTreeSet<&str> = of.fields().map(|(name, _)| name).collect();
        assert!(of.required().all(|name| names.contains(name)));
        if depth < 40 && count < 2000 {
            let below = of.fields().map(|(_, it)| it).chain(of.item()).chain(of.values());
            waiting.extend(below.chain(of.field("metadata")).map(|it| (it, depth + 1)));
        }
    }
}

#[test]
fn recursive_definitions_terminate() {
    let text = "definitions:\n  a: {$ref: '#/definitions/a'}\n  b: {allOf: [{$ref: '#/definitions/c'}]}\n  c: {$ref: '#/definitions/b'}\n  d: {properties: {d: {$ref: '#/definitions/d'}}, additionalProperties: {$ref: '#/definitions/d'}}\n  e: {$ref: '#/definitions/nowhere'}\n";
    assert_eq!(exercise(text), 0);
    let file = File::parse(text.to_owned()).unwrap();
    let mut schema = Schema::empty();
    schema.add_openapi(file.document(0).unwrap().root().unwrap());
    for name in ["a", "b", "e"] {
        assert_eq!(schema.definition(name).unwrap().value_kind(), ValueKind::Any);
    }
    let d = (0..100).fold(schema.definition("d").unwrap(), |at, _| at.field("d").unwrap());
    assert_eq!(d.value_kind(), ValueKind::Object);
}

#[test]
fn deep_schemas_terminate() {
    let deep = |depth: usize| {
        let (open, close) = ("{\"properties\":{\"a\":".repeat(depth), "}}".repeat(depth));
        format!("{{\"definitions\":{{\"a\":{open}{{}}{close}}}}}")
    };
    exercise(&deep(100));
    exercise(&deep(100_000));
}

#[test]
fn schema_that_contains_itself_through_an_alias_terminates() {
    exercise(
        "definitions:\n  a: &a\n    properties:\n      b: *a\n      c: {<<: *a}\n      d: {<<: [*a, *a]}\n",
    );
    exercise("&a {definitions: *a}\n");
    exercise("definitions: &a {<<: *a, b: {enum: &e [*e], required: &r [*r], type: &t [*t]}}\n");
}

#[test]
fn exponential_aliases_are_an_error() {
    let mut text = "x0: &x0 {properties: {a: {type: string}}}\n".to_owned();
    for level in 1..40 {
        let below = level - 1;
        text += &format!(
            "x{level}: &x{level} {{properties: {{a: *x{below}, b: *x{below}, c: *x{below}}}}}\n"
        );
    }
    text += "definitions: {a: *x39}\n";
    let file = File::parse(text).unwrap();
    let diagnostics = Schema::empty().add_openapi(file.document(0).unwrap().root().unwrap());
    assert_eq!(diagnostics[0].id(), "schema-too-large");
}

#[test]
fn aliases_of_empty_values_use_the_budget() {
    let nulls = "null, ".repeat(2_000);
    let many =
        |schema: &str| (0..2_000).map(|it| format!("  a{it}: {schema}\n")).collect::<String>();
    let list = format!("e: &e [{nulls}]\ndefinitions:\n");
    for schema in ["{enum: *e}", "{allOf: *e}", "{oneOf: *e}", "{<<: *e}", "{required: *e}"] {
        assert!(exercise(&(list.clone() + &many(schema))) > 0, "{schema}");
    }
    let wide = format!("e: &e {{{nulls}x: 1}}\ndefinitions:\n");
    assert!(exercise(&(wide + &many("*e"))) > 0);
}

#[test]
fn number_of_diagnostics_is_limited() {
    let text = "definitions:\n".to_owned()
        + &(0..1000).map(|it| format!("  a{it}: 5\n")).collect::<String>();
    assert!(exercise(&text) < 50);
}

#[test]
fn schema_with_many_fields_is_read() {
    let fields: String =
        (0..100_000).map(|it| format!("\"f{it}\":{{\"type\":\"string\"}},")).collect();
    let text = format!("{{\"definitions\":{{\"a\":{{\"properties\":{{{fields}\"z\":{{}}}}}}}}}}");
    let file = File::parse(text).unwrap();
    let mut schema = Schema::empty();
    assert!(schema.add_openapi(file.document(0).unwrap().root().unwrap()).is_empty());
    assert_eq!(
        schema.definition("a").unwrap().field("f99999").unwrap().value_kind(),
        ValueKind::String
    );
}
