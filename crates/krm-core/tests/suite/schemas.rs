//! Generated schemas, valid and invalid ones, and the properties of reading them, shared by the property tests and the fuzz target.

use std::collections::BTreeSet;

use krm_core::schema::{ListStrategy, Schema, Type, schema_from_comment};
use krm_yaml::File;

use crate::properties::draw::Draw;
use crate::properties::{Verdict, ensure};

/// The maximum number of types of a schema that are queried.
const MOST_ASKED: usize = 300;

const NAMES: &[&str] = &["a", "b", "name", "metadata", "<<", "apiVersion", "'~1'"];
const REFERENCES: &[&str] = &[
    "'#/definitions/a'",
    "'#/definitions/b'",
    "'#/components/schemas/b'",
    "'#/definitions/io.k8s.api.core.v1.PodSpec'",
    "other",
    "'#/definitions/'",
];
const TYPES: &[&str] =
    &["array", "object", "string", "integer", "number", "boolean", "any", "[string, 'null']", "7"];
const STRATEGIES: &[&str] = &["merge", "replace", "'merge,retainKeys'", "retainKeys", "''", "bag"];
const WORDS: &[&str] = &["atomic", "set", "map", "granular", "bag", "null", "{}"];
const SCALARS: &[&str] = &["1", "true", "x", "null", "''", "[1, {}]", "*s", "{a: 1}"];

/// A document with definitions, or a CustomResourceDefinition.
pub(crate) fn sample(draw: &mut Draw<'_>) -> String {
    let shared = schema(draw, 2);
    let (a, b) = (schema(draw, 5), schema(draw, 5));
    let kinds = "x-kubernetes-group-version-kind: [{group: g, version: v1, kind: A}]";
    match draw.below(4) {
        0 => format!(
            "s: &s {shared}\ndefinitions:\n  a: {{{kinds}, allOf: [{a}], <<: {b}}}\n  b: {b}\n"
        ),
        1 => format!("s: &s {shared}\nopenAPI:\n  definitions:\n    a: {a}\n    b: &b {b}\n"),
        2 => format!("s: &s {shared}\ncomponents:\n  schemas: {{a: {a}, b: {b}}}\n"),
        _ => format!(
            "s: &s {shared}\napiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nspec:\n  group: g\n  names: {{kind: A}}\n  versions:\n  - name: v1\n    schema:\n      openAPIV3Schema: {a}\n  - name: v2\n    schema: {{openAPIV3Schema: {b}}}\n"
        ),
    }
}

/// A schema in flow style; an empty one if no choices are left.
fn schema(draw: &mut Draw<'_>, depth: usize) -> String {
    if depth == 0 || draw.is_spent() {
        return draw.pick(&["{}", "{type: string}", "*s", "true", "5"]).to_owned();
    }
    if draw.once_in(3) {
        return list(draw, depth - 1);
    }
    let words: Vec<String> = (0..draw.below(6)).map(|_| keyword(draw, depth - 1)).collect();
    format!("{{{}}}", words.join(", "))
}

/// A list schema with a merge strategy.
fn list(draw: &mut Draw<'_>, depth: usize) -> String {
    let items = schema(draw, depth);
    let rule = match draw.below(3) {
        0 => "x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [name]",
        1 => "x-kubernetes-patch-strategy: merge, x-kubernetes-patch-merge-key: name",
        _ => "x-kubernetes-list-type: set",
    };
    format!("{{type: array, {rule}, items: {{properties: {{name: {items}}}}}}}")
}

fn keyword(draw: &mut Draw<'_>, depth: usize) -> String {
    match draw.below(14) {
        0 => format!("type: {}", draw.pick(TYPES)),
        1 | 2 => {
            let fields = (0..draw.below(4))
                .map(|_| format!("{}: {}", draw.pick(NAMES), schema(draw, depth)));
            format!("properties: {{{}}}", fields.collect::<Vec<_>>().join(", "))
        }
        3 => format!("items: {}", schema(draw, depth)),
        4 => format!("additionalProperties: {}", schema(draw, depth)),
        5 => format!("required: [{}, {}]", draw.pick(NAMES), draw.pick(SCALARS)),
        6 => format!("enum: {}", draw.pick(&["[a, 1, null]", "[[]]", "x", "*s"])),
        7 => format!("default: {}", draw.pick(SCALARS)),
        8 => format!("$ref: {}", draw.pick(REFERENCES)),
        9 => format!("{}: [{}]", draw.pick(&["allOf", "oneOf", "anyOf"]), schema(draw, depth)),
        10 => format!("x-kubernetes-list-type: {}", draw.pick(WORDS)),
        11 => {
            format!("x-kubernetes-list-map-keys: {}", draw.pick(&["[a]", "[name, b]", "a", "[]"]))
        }
        12 => format!("x-kubernetes-patch-strategy: {}", draw.pick(STRATEGIES)),
        _ => format!(
            "x-kubernetes-{}",
            draw.pick(&[
                "map-type: atomic",
                "int-or-string: true",
                "embedded-resource: true",
                "preserve-unknown-fields: true",
                "patch-merge-key: name",
            ])
        ),
    }
}

/// Reads a document as every source of schemas, and queries all of its types.
pub(crate) fn can_be_read(text: &str) -> Verdict {
    types(text, Schema::kubernetes())?;
    schema_from_comment(text).map_or(Ok(()), |schema| query(schema.get()).map(|_| ()))
}

/// Whether the schema has an associative list.
pub(crate) fn has_keys(text: &str) -> bool {
    types(text, Schema::empty()) == Ok(true)
}

/// Adds a document to a schema and queries its types. Returns whether there is an associative list.
fn types(text: &str, mut schema: Schema) -> Result<bool, String> {
    let Ok(file) = File::parse(text.to_owned()) else { return Ok(false) };
    for root in file.documents().filter_map(|document| document.root()) {
        for fault in schema.add_openapi(root).into_iter().chain(schema.add_crd(root)) {
            ensure!(fault.location.is_some(), "{fault:?} has no place");
        }
    }
    let kinds = ["g/v1", "g/v2"].iter().filter_map(|version| schema.resource_type(version, "A"));
    let definitions = ["a", "b"].iter().filter_map(|name| schema.definition(name));
    kinds.chain(definitions).try_fold(false, |keyed, it| Ok(query(it)? || keyed))
}

/// Queries a type and those below it. Returns whether one is an associative list.
fn query(of: Type<'_>) -> Result<bool, String> {
    let mut waiting = vec![of];
    let (mut asked, mut keyed) = (0, false);
    while let Some(of) = waiting.pop() {
        let _ = (of.mapping_strategy(), of.default(), of.format(), of.key_default("name"));
        let _ = (
            of.is_nullable(),
            of.preserves_unknown_fields(),
            of.enum_values().map(Iterator::count),
        );
        if let Some(ListStrategy::Associative(keys)) = of.list_strategy() {
            keyed = true;
            ensure!(keys.iter().len() > 0, "{of:?} is merged by no key");
        }
        let names: BTreeSet<&str> = of.fields().map(|(name, _)| name).collect();
        ensure!(of.required().all(|name| names.contains(name)), "{of:?} needs what it has not");
        ensure!(names.iter().all(|name| of.field(name).is_some()), "{of:?} hides a field");
        asked += 1;
        if asked < MOST_ASKED {
            waiting.extend(of.fields().map(|(_, it)| it).chain(of.item()).chain(of.values()));
            waiting.truncate(MOST_ASKED);
        }
    }
    Ok(keyed)
}
