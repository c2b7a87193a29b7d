//! Schemas made to do harm: they are read in bounded time, and asking them anything ends.
use std::collections::BTreeSet;

use krm_yaml::File;

use super::super::*;

/// Reads a document in every way that a schema can come, and asks what was read everything. Gives back how many faults it has.
fn survive(text: &str) -> usize {
    let Ok(file) = File::parse(text.to_owned()) else { return 0 };
    let mut schema = Schema::kubernetes();
    let mut faults = 0;
    for root in file.documents().filter_map(|document| document.root()) {
        faults += schema.add_openapi(root).len() + schema.add_crd(root).len();
    }
    for name in schema.own.definitions.keys() {
        ask(schema.definition(name).expect("it was added"));
    }
    for (api_version, kinds) in &schema.own.kinds {
        for kind in kinds.keys() {
            ask(schema.resource_type(api_version, kind).expect("it was added"));
        }
    }
    schema_from_comment(text);
    faults
}

/// Asks a type and those below it, to some depth and breadth.
fn ask(of: Type<'_>) {
    let mut waiting = vec![(of, 0)];
    let mut asked = 0;
    while let Some((of, depth)) = waiting.pop() {
        asked += 1;
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
        if depth < 40 && asked < 2000 {
            let below = of.fields().map(|(_, it)| it).chain(of.item()).chain(of.values());
            waiting.extend(below.chain(of.field("metadata")).map(|it| (it, depth + 1)));
        }
    }
}

#[test]
fn definitions_that_name_themselves_end() {
    let text = "definitions:\n  a: {$ref: '#/definitions/a'}\n  b: {allOf: [{$ref: '#/definitions/c'}]}\n  c: {$ref: '#/definitions/b'}\n  d: {properties: {d: {$ref: '#/definitions/d'}}, additionalProperties: {$ref: '#/definitions/d'}}\n  e: {$ref: '#/definitions/nowhere'}\n";
    assert_eq!(survive(text), 0);
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
fn deep_schemas_end() {
    let deep = |depth: usize| {
        let (open, close) = ("{\"properties\":{\"a\":".repeat(depth), "}}".repeat(depth));
        format!("{{\"definitions\":{{\"a\":{open}{{}}{close}}}}}")
    };
    survive(&deep(100));
    survive(&deep(100_000));
}

#[test]
fn a_schema_that_holds_itself_by_an_alias_ends() {
    survive(
        "definitions:\n  a: &a\n    properties:\n      b: *a\n      c: {<<: *a}\n      d: {<<: [*a, *a]}\n",
    );
    survive("&a {definitions: *a}\n");
    survive("definitions: &a {<<: *a, b: {enum: &e [*e], required: &r [*r], type: &t [*t]}}\n");
}

#[test]
fn aliases_that_expand_without_end_are_told() {
    let mut text = "x0: &x0 {properties: {a: {type: string}}}\n".to_owned();
    for level in 1..40 {
        let below = level - 1;
        text += &format!(
            "x{level}: &x{level} {{properties: {{a: *x{below}, b: *x{below}, c: *x{below}}}}}\n"
        );
    }
    text += "definitions: {a: *x39}\n";
    let file = File::parse(text).unwrap();
    let faults = Schema::empty().add_openapi(file.document(0).unwrap().root().unwrap());
    assert_eq!(
        faults[0].message(),
        "the aliases of this document expand to too much to be a schema"
    );
}

#[test]
fn aliases_of_what_costs_nothing_are_paid_for() {
    let nulls = "null, ".repeat(2_000);
    let many = |word: &str| (0..2_000).map(|it| format!("  a{it}: {word}\n")).collect::<String>();
    let list = format!("e: &e [{nulls}]\ndefinitions:\n");
    for word in ["{enum: *e}", "{allOf: *e}", "{oneOf: *e}", "{<<: *e}", "{required: *e}"] {
        assert!(survive(&(list.clone() + &many(word))) > 0, "{word}");
    }
    let wide = format!("e: &e {{{nulls}x: 1}}\ndefinitions:\n");
    assert!(survive(&(wide + &many("*e"))) > 0);
}

#[test]
fn a_thousand_faults_are_told_by_a_few() {
    let text = "definitions:\n".to_owned()
        + &(0..1000).map(|it| format!("  a{it}: 5\n")).collect::<String>();
    assert!(survive(&text) < 50);
}

#[test]
fn a_wide_schema_is_read_in_one_go() {
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
