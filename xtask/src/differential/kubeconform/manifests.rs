//! Manifests to be validated: valid ones, and ones with one mistake.

use super::json::Json;
use super::schemas::Definitions;
use crate::TaskResult;
use crate::corpus::{self, random::Random};

/// How deep generated values are nested.
const DEPTH: usize = 6;

/// The mistakes, by name.
pub(super) const MUTATIONS: [&str; 9] = [
    "none",
    "none",
    "wrong type",
    "unknown field",
    "missing required",
    "bad enum",
    "bad format",
    "null",
    "wrong version",
];

/// A custom kind with every keyword that both tools know.
pub(super) const DEFINITION: &str = r#"{
  "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": "boxes.example.com"},
  "spec": {"group": "example.com", "names": {"kind": "Box", "plural": "boxes"}, "scope": "Namespaced", "versions": [
    {"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {"type": "object", "required": ["spec"], "properties": {
      "apiVersion": {"type": "string"}, "kind": {"type": "string"}, "metadata": {"type": "object"},
      "spec": {"type": "object", "required": ["size"], "properties": {
        "size": {"type": "string", "enum": ["small", "large"]},
        "count": {"type": "integer", "minimum": 1, "maximum": 9},
        "half": {"type": "number", "multipleOf": 0.5},
        "name": {"type": "string", "pattern": "^[a-z]+$", "minLength": 2, "maxLength": 8},
        "since": {"type": "string", "format": "date-time"},
        "every": {"type": "string", "format": "duration"},
        "host": {"type": "string", "format": "hostname"},
        "mail": {"type": "string", "format": "email"},
        "address": {"type": "string", "format": "ipv4"},
        "address6": {"type": "string", "format": "ipv6"},
        "link": {"type": "string", "format": "uri"},
        "id": {"type": "string", "format": "uuid"},
        "day": {"type": "string", "format": "date"},
        "port": {"anyOf": [{"type": "integer"}, {"type": "string"}], "x-kubernetes-int-or-string": true},
        "tags": {"type": "array", "items": {"type": "string"}, "minItems": 1, "maxItems": 3, "uniqueItems": true},
        "labels": {"type": "object", "additionalProperties": {"type": "string"}, "maxProperties": 2},
        "nested": {"type": "object", "properties": {"on": {"type": "boolean"}}},
        "either": {"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "string"}}, "oneOf": [{"required": ["a"]}, {"required": ["b"]}]}
      }}}}}}]}}"#;

/// A resource of the kind, with values that are valid and invalid for each field.
const FIELDS: &[(&str, &[&str], &[&str])] = &[
    ("size", &["\"small\""], &["\"medium\"", "1"]),
    ("count", &["1", "9"], &["0", "10", "1.5", "\"1\""]),
    ("half", &["1.5", "2"], &["0.3", "\"x\""]),
    ("name", &["\"abc\""], &["\"A\"", "\"abcdefghi\"", "\"a1\""]),
    (
        "since",
        &["\"2024-02-29T00:00:00Z\"", "\"2024-01-01T00:00:00.123+02:00\""],
        &["\"2023-02-29T00:00:00Z\"", "\"now\"", "\"2024-01-01\""],
    ),
    ("every", &["\"1h30m\"", "\"P1DT2H\"", "\"90s\""], &["\"soon\"", "\"P\""]),
    ("host", &["\"a.example.com\""], &["\"a_b\"", "\"-a\""]),
    ("mail", &["\"a@example.com\""], &["\"a\"", "\".a@b\""]),
    ("address", &["\"10.0.0.1\""], &["\"10.0.0\"", "\"010.0.0.1\"", "\"::1\""]),
    ("address6", &["\"fe80::1\""], &["\"10.0.0.1\"", "\"fe80::1%eth0\""]),
    (
        "link",
        &["\"https://example.com/a?b=c#d\"", "\"urn:a:b\""],
        &["\"/a\"", "\"http://[::1\"", "\"http://a/%zz\""],
    ),
    ("id", &["\"123e4567-e89b-12d3-a456-426614174000\""], &["\"123e4567\""]),
    ("day", &["\"2024-12-31\""], &["\"2024-12-32\""]),
    ("port", &["80", "\"http\""], &["true", "[1]"]),
    ("tags", &["[\"a\", \"b\"]"], &["[]", "[\"a\", \"a\"]", "[\"a\", \"b\", \"c\", \"d\"]", "[1]"]),
    ("labels", &["{\"a\": \"b\"}"], &["{\"a\": 1}", "{\"a\": \"\", \"b\": \"\", \"c\": \"\"}"]),
    ("nested", &["{\"on\": true}"], &["{\"on\": \"yes\"}", "{\"off\": true}", "null"]),
    ("either", &["{\"a\": \"x\"}"], &["{\"a\": \"x\", \"b\": \"y\"}", "{}"]),
];

/// The manifest with this number, and the name of its mistake.
pub(super) fn manifest(
    number: usize,
    definitions: &Definitions,
) -> TaskResult<(Json, &'static str)> {
    let mut random = Random::new("kubeconform", number);
    if number % 5 == 4 {
        return custom(&mut random);
    }
    let mut manifest = match number % 5 {
        0 | 1 => Json::parse(&corpus::document(number))?,
        _ => {
            let kinds = definitions.kinds();
            let (api_version, kind, definition) = &kinds[choose(&mut random, kinds.len())];
            let mut generator = Generator { definitions, random: &mut random };
            let mut object = generator.object(definition, DEPTH);
            object.set("apiVersion", Json::string(api_version));
            object.set("kind", Json::string(kind));
            object
        }
    };
    let name = MUTATIONS[choose(&mut random, MUTATIONS.len())];
    mutate(&mut manifest, name, &mut random);
    Ok((manifest, name))
}

fn choose(random: &mut Random, count: usize) -> usize {
    usize::try_from(random.next_u64() % count.max(1) as u64).unwrap_or(0)
}

/// A resource of the custom kind, with at most one invalid value.
fn custom(random: &mut Random) -> TaskResult<(Json, &'static str)> {
    let mut spec = Json::Object(Vec::new());
    let wrong = choose(random, FIELDS.len() * 2);
    for (at, (field, valid, invalid)) in FIELDS.iter().enumerate() {
        let values = if at == wrong { invalid } else { valid };
        if at == wrong || *field == "size" || random.chance(50) {
            spec.set(field, Json::parse(values[choose(random, values.len())])?);
        }
    }
    let mut manifest = Json::parse(
        r#"{"apiVersion": "example.com/v1", "kind": "Box", "metadata": {"name": "a"}}"#,
    )?;
    let name = match choose(random, 8) {
        0 => "missing required",
        1 => {
            spec.set("undeclared", Json::Bool(true));
            "unknown field"
        }
        _ => "custom resource",
    };
    if name != "missing required" {
        manifest.set("spec", spec);
    }
    Ok((manifest, name))
}

/// Generates values that match a schema.
struct Generator<'a> {
    definitions: &'a Definitions,
    random: &'a mut Random,
}

impl Generator<'_> {
    fn object(&mut self, definition: &Json, depth: usize) -> Json {
        let mut object = Json::Object(Vec::new());
        let required = definition.get("required").map_or(&[][..], Json::items);
        let fields = definition.get("properties").map_or(&[][..], Json::entries);
        for (field, inner) in fields {
            let is_required = required.iter().any(|it| it.text() == Some(field));
            let share = if fields.len() > 8 { 15 } else { 50 };
            if is_required || depth > 0 && field != "status" && self.random.chance(share) {
                let value = self.value(inner, depth.saturating_sub(1));
                object.set(field, value);
            }
        }
        object
    }

    fn value(&mut self, of: &Json, depth: usize) -> Json {
        let (name, of) = self.definitions.resolve(of);
        let text = |key| of.get(key).and_then(Json::text).unwrap_or_default();
        match (text("type"), text("format")) {
            (_, "int-or-string") if self.random.chance(50) => Json::Number("8080".to_owned()),
            (_, "date-time") => Json::string("2024-05-06T07:08:09Z"),
            _ if name.ends_with(".resource.Quantity") && self.random.chance(50) => {
                Json::Number("1.5".to_owned())
            }
            ("string", _) => Json::string(self.random.pick(&["a", "web", "1", "", "10Mi"])),
            ("integer", _) => Json::Number(self.random.between(0, 9000).to_string()),
            ("number", _) => Json::Number("0.5".to_owned()),
            ("boolean", _) => Json::Bool(self.random.chance(50)),
            ("array", _) => {
                let count = if depth == 0 { 0 } else { self.random.between(0, 2) };
                let item = of.get("items").unwrap_or(&Json::Null);
                Json::Array((0..count).map(|_| self.value(item, depth - 1)).collect())
            }
            ("object", _) if of.get("properties").is_some() => self.object(of, depth),
            ("object", _) => match of.get("additionalProperties") {
                Some(values) if depth > 0 => {
                    let value = self.value(values, depth - 1);
                    Json::Object(vec![("key.example.com/a".to_owned(), value)])
                }
                _ => Json::Object(Vec::new()),
            },
            _ if of.get("properties").is_some() => self.object(of, depth),
            _ => Json::string("anything"),
        }
    }
}

/// Makes one mistake.
fn mutate(manifest: &mut Json, name: &str, random: &mut Random) {
    match name {
        "none" => {}
        "wrong version" => {
            let versions = ["v2", "apps/v1beta1", "example.com/v1", "extensions/v1beta1"];
            manifest.set("apiVersion", Json::string(random.pick(&versions)));
        }
        "bad enum" => {
            let kind = manifest.get("kind").and_then(Json::text).unwrap_or_default();
            let api_version = manifest.get("apiVersion").and_then(Json::text).unwrap_or_default();
            let (lower, other) = (kind.to_lowercase(), api_version.replace('/', ".example.com/"));
            match random.chance(50) && api_version.contains('/') && !api_version.contains('.') {
                true => manifest.set("apiVersion", Json::string(&other)),
                false => manifest.set("kind", Json::string(&lower)),
            }
        }
        "bad format" => {
            let metadata = manifest.get("metadata").cloned();
            let mut metadata = metadata.unwrap_or(Json::Object(Vec::new()));
            let times = ["yesterday", "2024-02-30T00:00:00Z", "2024-01-01", "2024-01-01T00:00:00Z"];
            metadata.set("creationTimestamp", Json::string(random.pick(&times)));
            manifest.set("metadata", metadata);
        }
        _ => {
            let mut count = 0;
            visit(manifest, 0, &mut |_| count += 1);
            let target = choose(random, count);
            let (mut at, choice) = (0, random.next_u64());
            visit(manifest, 0, &mut |entries| {
                if at == target {
                    break_entry(entries, name, choice);
                }
                at += 1;
            });
        }
    }
}

/// Visits every mapping below the root.
fn visit(value: &mut Json, depth: usize, found: &mut impl FnMut(&mut Vec<(String, Json)>)) {
    match value {
        Json::Object(entries) => {
            if depth > 0 && !entries.is_empty() {
                found(entries);
            }
            entries.iter_mut().for_each(|(_, value)| visit(value, depth + 1, found));
        }
        Json::Array(items) => items.iter_mut().for_each(|item| visit(item, depth + 1, found)),
        _ => {}
    }
}

fn break_entry(entries: &mut Vec<(String, Json)>, name: &str, choice: u64) {
    let at = usize::try_from(choice % entries.len() as u64).unwrap_or(0);
    match name {
        "wrong type" => {
            let value = &mut entries[at].1;
            *value = match value {
                Json::String(_) if choice & 64 == 0 => Json::Number("7".to_owned()),
                Json::String(_) => Json::Bool(true),
                Json::Number(_) => Json::string("seven"),
                Json::Bool(_) => Json::string("true"),
                Json::Array(_) => Json::Object(Vec::new()),
                Json::Object(_) | Json::Null => Json::Array(vec![Json::string("x")]),
            };
        }
        "unknown field" => entries.push(("undeclared".to_owned(), Json::string("x"))),
        "missing required" => drop(entries.remove(at)),
        _ => entries[at].1 = Json::Null,
    }
}
