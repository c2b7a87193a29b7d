//! What templates print, and how they fail.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;
use crate::{Any, value};

fn render(template: &str, data: Value<'static>) -> Result<String, Error> {
    Templates::new([("t.yaml", template)])?.render("t.yaml", Any(data))
}

fn rendered(template: &str, data: Value<'static>) -> String {
    render(template, data).unwrap()
}

#[test]
fn string_stays_the_same_string_in_every_scalar() {
    for text in [
        "web",
        "",
        " ",
        "on",
        "0777",
        "1.10",
        "1e3",
        "null",
        "~",
        "- a",
        "a: b",
        "x # y",
        "#",
        "*a",
        "&a",
        "!t",
        "{a}",
        "[",
        "'",
        "\"",
        "a\nb",
        "a\nb\n",
        "\n",
        "\tx",
        "%",
        "@",
        "`",
        "a\\b",
        "---",
        "...",
        "é\u{85}\u{2028}",
        "{{ x }}",
        "<<",
        "=",
        "yes\n\n",
    ] {
        for (template, expected) in [
            ("a: {{ v }}\n", text.to_owned()),
            ("a: {{ v }} # c\n", text.to_owned()),
            ("a: x{{ v }}y\n", format!("x{text}y")),
            ("a: \"{{ v }}\"\n", text.to_owned()),
            ("a: '{{ v }}z'\n", format!("{text}z")),
            ("a: |-\n  x{{ v }}y\n", format!("x{text}y")),
            ("a: |\n  {{ v }}\n  z\n", format!("{text}\nz\n")),
            ("{b: 1, a: {{ v }} }\n", text.to_owned()),
            ("b:\n- 1\na:\n  {{ v }}\n", text.to_owned()),
            ("{{ v }}{{ v }}a: {{ v }}\nb: 2\n", text.to_owned()),
        ] {
            let out = rendered(template, value!({ "v": text.to_owned() }));
            let file = File::parse(out.clone()).unwrap();
            assert_eq!(file.errors().count(), 0, "{template}{text:?}\n{out}");
            let root = file.documents().next().unwrap().root().unwrap();
            let mapping = root.as_mapping().unwrap();
            if let Some(node) = mapping.get("a") {
                let scalar = node.as_scalar().unwrap();
                assert_eq!(scalar.value(), expected, "{template}{text:?}\n{out}");
                assert_eq!(scalar.resolve_1_1(), krm_yaml::ScalarType::String, "{out}");
            } else {
                assert!(
                    mapping.get(&format!("{text}{text}a")).is_some(),
                    "{template}{text:?}\n{out}"
                );
            }
        }
    }
}

#[test]
fn other_values_keep_their_types() {
    let data = value!({ "n": 3, "f": 1.5, "b": true, "none": null, "list": ["a", 1], "map": { "x": "on", "z": [] }, "empty": {} });
    for (template, expected) in [
        ("a: {{ n }} # c\n", "a: 3 # c\n"),
        ("a: {{ f }}\n", "a: 1.5\n"),
        ("a: {{ b }}\n", "a: true\n"),
        ("a: {{ none }}\n", "a: null\n"),
        ("a: \"{{ n }}\"\n", "a: \"3\"\n"),
        ("a: {{ n }}{{ n }}\n", "a: \"33\"\n"),
        ("a: {{ n }}Gi\n", "a: 3Gi\n"),
        ("a: {{ n + 1 }}\n", "a: 4\n"),
        ("a: {{ list }}\n", "a:\n- a\n- 1\n"),
        ("- {{ map }}\n- b\n", "- x: \"on\"\n  z: []\n- b\n"),
        ("a:\n  b: {{ map }}\n  c: d\n", "a:\n  b:\n    x: \"on\"\n    z: []\n  c: d\n"),
        ("a: {{ empty }}\n", "a: {}\n"),
        ("a: [{{ map }}, {{ n }}]\n", "a: [{x: \"on\", z: []}, 3]\n"),
        ("{{ n }}: {{ n }}\n", "\"3\": 3\n"),
        ("{{ map }}\n", "x: \"on\"\nz: []\n"),
        ("# {{ map }} {{ none }}\na: 1\n", "# {\"x\":\"on\",\"z\":[]} null\na: 1\n"),
        ("a: {{ map | to_json }}\n", "a: \"{\\\"x\\\":\\\"on\\\",\\\"z\\\":[]}\"\n"),
        ("a: |\n  {{ map | to_yaml }}\nb: 1\n", "a: |\n  x: \"on\"\n  z: []\nb: 1\n"),
        ("a:\n  {{ map | to_yaml | indent(2) | safe }}\n", "a:\n  x: \"on\"\n  z: []\n"),
        ("a: {{ '[1, 2]' | safe }}\n", "a: [1, 2]\n"),
        ("{% for it in list %}\n- {{ it }}\n{% endfor %}\n", "- a\n- 1\n"),
        (
            "a: {% if n %}1{% endif %}\n{% if n %}\nb: {% if n %}2{% endif %}\n{% endif %}\n",
            "a: 1\nb: 2\n",
        ),
        ("a: {{ 'x' if n > 5 }}\nb: 1\n", "a: \nb: 1\n"),
        ("{% autoescape false %}a: {{ 'on' }}\n{% endautoescape %}", "a: on\n"),
    ] {
        assert_eq!(rendered(template, data.clone()), expected, "{template}");
    }
}

#[test]
fn values_in_macros_blocks_and_includes_are_quoted_once() {
    let all = [
        ("base.yaml", "a: {{ v }}\n{% block more %}{% endblock %}"),
        ("child.yaml", "{% extends 'base.yaml' %}{% block more %}b: {{ v }}\n{% endblock %}"),
        ("include.yaml", "{% include 'base.yaml' %}\n---\n{% include 'base.yaml' %}"),
        ("macro.yaml", "{% macro name(x) %}{{ x }}-{{ v }}{% endmacro %}a: {{ name(v) }}\n"),
        (
            "set.yaml",
            "{% set x %}{{ v }}!{% endset %}a: {{ x }}\nb: {{ x | upper }}\nc: [{{ [x, v] | join('+') }}]\n",
        ),
        ("filter.yaml", "a: {% filter upper %}{{ v }}{% endfilter %}\n"),
    ];
    let templates = Templates::new(all).unwrap();
    for (name, expected) in [
        ("child.yaml", "a: \"on\"\nb: \"on\"\n"),
        ("include.yaml", "a: \"on\"\n---\na: \"on\"\n"),
        ("macro.yaml", "a: on-on\n"),
        ("set.yaml", "a: on!\nb: on!\nc: [on!+on]\n"),
        ("filter.yaml", "a: \"on\"\n"),
    ] {
        let data: BTreeMap<&str, &str> = [("v", "on")].into();
        assert_eq!(templates.render(name, data).unwrap(), expected, "{name}");
    }
}

#[test]
fn value_cannot_change_the_structure() {
    let evil = "x\nkind: Secret # \"'}]\n---\na: b";
    let template = "kind: Pod\nmetadata: {name: {{ v }}, labels: [{{ v }}]}\n# {{ v }}\nspec: \"{{ v }}\" # {{ v }}\n";
    let out = rendered(template, value!({ "v": evil.to_owned() }));
    let file = File::parse(out.clone()).unwrap();
    let kinds: Vec<_> =
        file.documents().filter_map(|it| it.root()?.as_mapping()?.get("kind")).collect();
    assert_eq!(kinds.len(), 1, "{out}");
    assert_eq!(kinds[0].text(), "Pod");
}

#[test]
fn value_that_looks_like_a_marker_is_text() {
    let forged = "\u{e000}\u{e011}\u{e000}\u{e010}\u{e001}";
    let out = rendered("a: {{ v }}\nb: {{ w }}\n", value!({ "v": forged.to_owned(), "w": "x" }));
    assert!(out.contains(forged), "{out:?}");
}

#[test]
fn errors_have_the_template_the_line_and_the_column() {
    let location = |error: &Error| {
        let location = error.diagnostics[0].location.as_ref().unwrap();
        (location.line, location.column, location.text.clone())
    };
    let error = Templates::new([("t.yaml", "a: 1\nb: {{ x }\n")]).unwrap_err();
    assert_eq!(error.diagnostics[0].id(), "template-failed");
    assert!(error.to_string().starts_with("template `t.yaml`: syntax error: "), "{error}");
    assert_eq!(location(&error).0, 2);
    let error = render("a: 1\n  # é\nb: é{{ missing.x }}\n", value!({})).unwrap_err();
    assert_eq!(error.to_string(), "template `t.yaml`: undefined value: `missing` is undefined");
    assert_eq!(location(&error), (3, 8, "b: é{{ missing.x }}".to_owned()));
    let templates = Templates::new([
        ("a.yaml", "a:\n{% include 'b.yaml' %}"),
        ("b.yaml", "\n\n b: {{ 1 / 0 + none }}\n"),
    ])
    .unwrap();
    let error = templates.render("a.yaml", ()).unwrap_err();
    assert!(error.to_string().starts_with("template `b.yaml`: "), "{error}");
    assert_eq!(location(&error).0, 3);
    let error = render("a: {{ v }}\nb: [{{ v }}, c\n", value!({ "v": "x" })).unwrap_err();
    assert_eq!(error.diagnostics[0].id(), "template-invalid-yaml");
    assert_eq!(location(&error), (2, 4, "b: [{{ }}, c".to_owned()), "{error}");
    let error = templates.render("c.yaml", ()).unwrap_err();
    assert_eq!(error.to_string(), "template `c.yaml` does not exist");
}

#[test]
fn impossible_values_are_errors() {
    let data = value!({ "map": { "a": "x" }, "list": [], "none": null, "v": "x" });
    for (template, id) in [
        ("a: x-{{ map }}\n", "template-value-not-a-scalar"),
        ("a: \"{{ list }}\"\n", "template-value-not-a-scalar"),
        ("a: {{ none }}-web\n", "template-value-not-a-scalar"),
        ("{{ map }}: a\n", "template-value-not-a-scalar"),
        ("a: &{{ v }} b\n", "template-value-misplaced"),
        ("{{ v }}: 1\nx: 2\n", "template-duplicate-key"),
        ("{{ v }}: 1\n{{ v }}: 2\n", "template-duplicate-key"),
        ("a: {{ v }\n", "template-failed"),
        ("a: {{ undefined }}\n", "template-failed"),
        ("{% if undefined %}{% endif %}", "template-failed"),
    ] {
        let error = render(template, data.clone()).unwrap_err();
        assert_eq!(error.diagnostics[0].id(), id, "{template}{error}");
        assert!(error.to_string().contains("template `t.yaml`"), "{error}");
    }
}

#[test]
fn broken_yaml_around_values_is_an_error() {
    for template in [
        "a: \"{{ v }}",
        "a: [{{ v }}",
        "{{ v }}: {{ v }}: {{ v }}\n",
        "a: {{ v }}\n b: {{ v }}\n",
        "- {{ v }}\na: {{ v }}",
        "a: !{{ v }} b",
        "a: *{{ v }}",
        "&{{ v }}: *{{ v }}",
        "a: |{{ v }}\n x\n",
        "%{{ v }}\n---\na: b\n",
        "a: '{{ v }}' {{ v }}\n",
        "{{ v }}\n{{ v }}: b\n",
        "a: {\n{{ v }}]",
        "a: \"\\{{ v }}\"\n",
    ] {
        let error = render(template, value!({ "v": "x\ny" })).unwrap_err();
        assert!(error.diagnostics[0].id().starts_with("template-"), "{template}\n{error:?}");
    }
}

#[test]
fn resources_are_documents_or_items_without_a_position() {
    let template = "{% for name in names %}\n---\napiVersion: v1\nkind: Pod\nmetadata:\n  name: {{ name }}\n{% endfor %}\n";
    let templates = Templates::new([
        ("t.yaml", template),
        ("l.yaml", "apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: Pod\n"),
        ("s.yaml", "text\n"),
        ("two.yaml", "a: 1\n---\nb: 2\n"),
    ])
    .unwrap();
    let all = templates.resources("t.yaml", Any(value!({ "names": ["a", "0"] }))).unwrap();
    let texts: Vec<&str> = all.iter().map(Resource::text).collect();
    assert_eq!(
        texts,
        [
            "apiVersion: v1\nkind: Pod\nmetadata:\n  name: a\n",
            "apiVersion: v1\nkind: Pod\nmetadata:\n  name: \"0\"\n"
        ]
    );
    assert!(all.iter().all(|it| it.item().origin.is_none() && it.item().index.is_none()));
    assert_eq!(templates.resources("l.yaml", ()).unwrap()[0].text(), "apiVersion: v1\nkind: Pod\n");
    let error = templates.resources("s.yaml", ()).unwrap_err();
    assert!(
        error.to_string().starts_with("template `s.yaml`: expected a list of resources"),
        "{error}"
    );
    let error = templates.value("two.yaml", ()).unwrap_err();
    assert_eq!(error.to_string(), "expected one document from template `two.yaml`, found 2");
}

#[test]
fn resource_and_function_config_are_data() {
    let pod = Resource::parse(
        "apiVersion: v1\nkind: Pod\nmetadata:\n  name: '07' # c\nspec: {a: &x 5, b: *x}\n",
    )
    .unwrap();
    let templates =
        Templates::new([("t.yaml", "name: {{ metadata.name }}\nspec: {{ spec }}\n")]).unwrap();
    assert_eq!(templates.render("t.yaml", &pod).unwrap(), "name: \"07\"\nspec:\n  a: 5\n  b: 5\n");
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(256) })]

    #[test]
    fn edit_is_read_back(text in "[ -~\\n\\t:#'\"&*!|>%@`{}\\[\\],é\u{feff}\u{1f600}-]{0,12}", context in 0..6_usize) {
        let (template, expected) = [
            ("x:\n  a: {{ v }}\n", text.clone()),
            ("a: 'q{{ v }}'\n", format!("q{text}")),
            ("a: {{ v }}:{{ v }}\n", format!("{text}:{text}")),
            ("- a: |+\n    {{ v }}.\n", format!("{text}.\n")),
            ("- - {a: {{ v }}}\n", text.clone()),
            ("a: >-\n  {{ v }}\n", text.clone()),
        ][context].clone();
        let out = render(template, value!({ "v": text })).unwrap();
        let file = File::parse(out.clone()).unwrap();
        let root = file.documents().next().unwrap().root().unwrap();
        let found = std::iter::once(root).chain(root.descendants()).find_map(|node| node.as_mapping()?.get("a"));
        prop_assert_eq!(found.unwrap().as_scalar().unwrap().value(), expected, "{}", out);
    }
}
