//! What is equal, and to whom.

use super::*;
use krm_yaml::File;

fn are_equal(a: &str, b: &str, equality: Equality) -> bool {
    let [a, b] = [a, b].map(|text| File::parse(text.to_owned()).unwrap());
    let root = |file| File::document(file, 0).and_then(|document| document.root()).unwrap();
    is_equal(root(&a), root(&b), equality)
}

fn merge(a: &str, b: &str) -> bool {
    are_equal(a, b, Equality::Merge)
}

#[test]
fn merge_compares_types_and_not_spelling() {
    assert!(!merge("1", "'1'"));
    assert!(!merge("1", "1.0"));
    for text in ["yes", "on", "1_000", "0o7", "010", "1:30"] {
        assert!(merge(text, text) && !merge(text, &format!("'{text}'")), "{text}");
    }
    assert!(merge("{\"a\": \"yes\"}", "a: yes") && !merge("{a: \"yes\"}", "a: yes"));
    assert!(merge("0o7", "7") && merge("0x1F", "31"), "JSON has one spelling of a number");
    assert!(merge("~", "null"));
    assert!(merge("!!str 1", "'1'"));
    assert!(!merge("!mine 1", "1"));
    assert!(!merge("[a, b]", "[b, a]"));
    assert!(!merge("{a: 1}", "[a]"));
    assert!(merge("x: &a [1]\ny: *a\n", "{x: [1], y: [1]}"));
    assert!(!merge(&"9".repeat(50), &format!("{}8", "9".repeat(49))));
}

#[test]
fn levels_differ_in_how_strict_they_are() {
    assert!(are_equal("yes", "'yes'", Equality::Yaml12) && !merge("yes", "'yes'"));
    assert!(merge("0o7", "7") && !are_equal("0o7", "7", Equality::Diff));
    assert!(!are_equal("on", "true", Equality::Yaml12));
    assert!(are_equal("on", "true", Equality::FunctionOutput(ResourceLevel::Root)));
}

#[test]
fn alias_bombs_and_cycles_end() {
    let mut text = String::from("a0: &a0 [x]\n");
    for n in 1..40 {
        text.push_str(&format!("a{n}: &a{n} [*a{0}, *a{0}]\n", n - 1));
    }
    assert!(!merge(&text, &text.replace("[x]", "[y]")));
    assert!(merge(&text, &text.replace("[x]", "['x']")));
    assert!(merge("a: &a [*a, 1]\n", "a: &b [*b, 1]\n"));
    assert!(!merge("a: &a [*a, 1]\n", "a: &a [*a, 2]\n"));
}

fn returned(sent: &str, returned: &str) -> bool {
    are_equal(sent, returned, Equality::FunctionOutput(ResourceLevel::Root))
}

#[test]
fn function_output_may_differ_in_what_functions_cannot_keep() {
    for (sent, output) in [
        ("a: 1\nb: ~\n", "{a: 1}"),
        ("a: 1\n", "{\"a\": 1, \"metadata\": {\"creationTimestamp\": null, \"annotations\": {}}}"),
        (
            "metadata: {name: a}\n",
            "metadata: {name: a, annotations: {config.kubernetes.io/path: x}}",
        ),
        ("metadata: {annotations: {config.kubernetes.io/path: y}}\n", "metadata: {}\n"),
        ("metadata:\n", "metadata: {annotations: {config.kubernetes.io/path: x}}\n"),
        ("metadata:\n  name: a\n  annotations:\n", "metadata: {name: a, annotations: {}}\n"),
        ("a: &x {y: 1}\nb: *x\nc: {<<: *x, z: 2}\n", "{a: {y: 1}, b: {y: 1}, c: {y: 1, z: 2}}"),
        ("a: !mine 1\n", "a: 1\n"),
        ("a: [on, 1_000]\n", "a: [true, 1000]\n"),
        ("a: {on: 1, 0x1F: 2, ~: 3}\n", "{\"a\": {\"31\": 2, \"true\": 1, \"null\": 3}}"),
        ("on: {y: 1}\n", "true: {true: 1}\n"),
    ] {
        assert!(returned(sent, output), "{sent} {output}");
    }
}

#[test]
fn other_differences_of_function_output_are_changes() {
    for (sent, output) in [
        ("a: 1\nb: 2\n", "a: 1\n"),
        ("a: 1\n", "{a: 1, b: null}"),
        ("a: 1\n", "a: null\n"),
        ("a: [1, 2]\n", "a: [2, 1]\n"),
        ("a: {}\n", "b: 1\n"),
        ("metadata: {annotations: {}}\n", "metadata: {}\n"),
        ("metadata: {annotations: ~}\n", "metadata: {annotations: {a: b}}\n"),
        ("spec:\n", "spec: {}\n"),
        ("'on': 1\n", "true: 1\n"),
        ("{on: 1, true: 2}\n", "{true: 2}\n"),
        ("a: 1\n", "a: !mine 1\n"),
        ("a: {metadata: {annotations: {config.kubernetes.io/path: x}}}\n", "a: {}\n"),
    ] {
        assert!(!returned(sent, output), "{sent} {output}");
    }
}
