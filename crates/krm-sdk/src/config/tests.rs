//! What a functionConfig is read as, and how mistakes in it are told.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::*;

#[derive(Debug, Deserialize, PartialEq)]
#[serde(rename_all = "camelCase")]
struct Config {
    #[serde(default)]
    labels: BTreeMap<String, String>,
    #[serde(default)]
    replicas: Option<u8>,
    #[serde(default)]
    dry_run: bool,
    #[serde(default)]
    size: Option<Size>,
    #[serde(default)]
    selectors: Vec<Selector>,
}

#[derive(Debug, Deserialize, PartialEq)]
#[serde(rename_all = "camelCase")]
struct Selector {
    kind: String,
    #[serde(default)]
    name: Option<String>,
}

#[derive(Debug, Deserialize, PartialEq)]
#[serde(rename_all = "lowercase")]
enum Size {
    Small,
    Large,
}

fn read<T: DeserializeOwned>(text: &str) -> Result<T, Error> {
    Resource::parse(text).unwrap().read_config()
}

fn custom(fields: &str) -> String {
    format!("apiVersion: fn.example.com/v1\nkind: SetLabels\nmetadata:\n  name: x\n{fields}")
}

fn told(fields: &str) -> String {
    let error = read::<Config>(&custom(fields)).unwrap_err();
    let all = error.diagnostics.iter().map(|it| {
        let place = it
            .location
            .as_ref()
            .map_or_else(String::new, |it| format!("{}:{}", it.line, it.column));
        let field = it.field.as_deref().unwrap_or_default();
        format!("{place} {field}: {} ({})", it.message(), it.hints.join("; "))
    });
    all.collect::<Vec<_>>().join("\n")
}

#[test]
fn fields_stand_beside_the_kind_or_in_spec() {
    let own: Config = read(&custom("labels: {a: b}\nreplicas: 3\nsize: large\n")).unwrap();
    let spec: Config =
        read(&custom("spec:\n  labels: {a: b}\n  replicas: 3\n  size: large\n")).unwrap();
    assert_eq!(own, spec);
    assert_eq!((own.replicas, own.size), (Some(3), Some(Size::Large)));
}

#[test]
fn a_type_may_ask_for_spec_and_metadata_itself() {
    #[derive(Deserialize)]
    struct Whole {
        metadata: Metadata,
        spec: BTreeMap<String, u32>,
    }
    #[derive(Deserialize)]
    struct Metadata {
        name: String,
    }
    let whole: Whole = read(&custom("spec: {replicas: 5}\n")).unwrap();
    assert_eq!((whole.metadata.name.as_str(), whole.spec["replicas"]), ("x", 5));
}

#[test]
fn a_config_map_holds_texts_that_are_read_as_the_type_wants() {
    let text = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\ndata:\n  replicas: \"3\"\n  dryRun: 'true'\n  size: small\n  labels: |\n    a: 1\n  selectors: |\n    - kind: Pod\n";
    let config: Config = read(text).unwrap();
    assert_eq!((config.replicas, config.dry_run), (Some(3), true));
    assert_eq!((config.labels["a"].as_str(), config.selectors[0].kind.as_str()), ("1", "Pod"));
    let data: BTreeMap<String, String> =
        read("apiVersion: v1\nkind: ConfigMap\ndata:\n  a: 1.20\n  b: yes\n  c:\n").unwrap();
    assert_eq!(data.into_values().collect::<Vec<_>>(), ["1.20", "yes", ""]);
    let none: Config = read("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\n").unwrap();
    assert_eq!(none.replicas, None);
}

#[test]
fn null_is_missing_and_aliases_are_what_they_stand_for() {
    let config: Config = read(&custom("labels:\nreplicas: ~\ndryRun: yes\n")).unwrap();
    assert!(config.labels.is_empty() && config.replicas.is_none() && config.dry_run);
    let text = custom("labels: &l {a: b}\nselectors:\n- &s {kind: Pod}\n- {<<: *s, name: x}\n");
    let config: Config = read(&text).unwrap();
    assert_eq!(
        (config.selectors[1].kind.as_str(), config.selectors[1].name.as_deref()),
        ("Pod", Some("x"))
    );
}

#[test]
fn every_unknown_field_is_told_with_the_one_that_was_meant() {
    assert_eq!(
        told("lables: {}\nselectors:\n- kind: Pod\n  nmae: x\nfoo: 1\n"),
        "5:1 lables: `lables` is no field of the functionConfig (did you mean `labels`?)
9:1 foo: `foo` is no field of the functionConfig (known are `labels`, `replicas`, `dryRun`, `size` and `selectors`)
8:3 selectors[0].nmae: `nmae` is no field of the functionConfig (did you mean `name`?)"
    );
}

#[test]
fn wrong_values_say_what_is_wanted_and_what_is_there() {
    for (fields, expected) in [
        (
            "replicas: many\n",
            "5:11 replicas: a whole number from 0 to 255 is wanted, and `many` is a string ()",
        ),
        (
            "replicas: 300\n",
            "5:11 replicas: `300` will not do: a whole number from 0 to 255 is wanted ()",
        ),
        ("labels: [a]\n", "5:9 labels: a mapping is wanted, and this is a list ()"),
        (
            "labels: {a: 1.20}\n",
            "5:13 labels.a: a string is wanted, and `1.20` is a number (write `\"1.20\"` to have it as text)",
        ),
        ("dryRun: 5\n", "5:9 dryRun: true or false is wanted, and `5` is an integer ()"),
        (
            "size: larg\n",
            "5:7 size: `larg` is none of the values that are known (did you mean `large`?)",
        ),
        ("selectors:\n- name: x\n", "6:3 selectors[0].kind: `kind` is missing ()"),
        ("selectors: {}\n", "5:12 selectors: a list is wanted, and this is a mapping ()"),
    ] {
        assert_eq!(told(fields), expected, "{fields}");
    }
}

#[test]
fn mistakes_inside_a_text_are_told_at_the_text() {
    let text = "apiVersion: v1\nkind: ConfigMap\ndata:\n  selectors: |\n    - knd: Pod\n";
    let error = read::<Config>(text).unwrap_err();
    assert_eq!(error.to_string(), "`knd` is no field of the functionConfig; `kind` is missing");
    let first = &error.diagnostics[0];
    assert_eq!(first.location.as_ref().map(|it| it.line), Some(4));
    assert_eq!(first.field.as_deref(), Some("data.selectors[0].knd"));
}

#[test]
fn a_kind_that_the_function_does_not_know_is_refused() {
    #[derive(Debug, Deserialize)]
    enum Kinds {
        #[serde(alias = "LabelTransformer")]
        SetLabels(Config),
    }
    let Kinds::SetLabels(config) = read(&custom("replicas: 1\n")).unwrap();
    assert_eq!(config.replicas, Some(1));
    let text = "apiVersion: a/v1\nkind: SetLabel\n";
    let error = read::<Kinds>(text).unwrap_err();
    assert_eq!(
        error.to_string(),
        "`SetLabel` is no kind of functionConfig that this function knows"
    );
    assert_eq!(error.diagnostics[0].hints, ["did you mean `SetLabels`?"]);
    let text = "apiVersion: a/v1\nkind: LabelTransformer\nrepicas: 1\n";
    assert_eq!(read::<Kinds>(text).unwrap_err().diagnostics[0].hints, ["did you mean `replicas`?"]);
}

#[test]
fn a_functionconfig_without_end_ends() {
    let error = read::<Any>(&custom("a: &a\n  b: *a\n")).map(|_| ());
    assert!(error.is_err(), "{error:?}");
    let mut bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
    for level in 1..9 {
        let before = format!("*a{}", level - 1);
        bomb += &format!("a{level}: &a{level} [{}]\n", [before.as_str(); 10].join(", "));
    }
    assert!(read::<Any>(&custom(&bomb)).is_err());
}

#[test]
fn any_value_keeps_its_digits() {
    let huge = "9".repeat(60);
    let Any(value) = read(&custom(&format!("a: 1.20\nb: {huge}\nc: '1'\n1: [~]\n"))).unwrap();
    let expected = format!(r#"{{"a":1.20,"b":{huge},"c":"1","1":[null]}}"#);
    assert_eq!(krm_core::print::json::write(&value), expected);
}

#[test]
fn no_functionconfig_is_an_error_or_the_default() {
    let list = ResourceList::default();
    let message = list.config::<Config>().unwrap_err().to_string();
    assert_eq!(message, "this function needs a functionConfig");
    assert!(list.config_or_default::<BTreeMap<String, String>>().unwrap().is_empty());
}
