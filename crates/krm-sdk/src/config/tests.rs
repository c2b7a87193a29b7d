//! Reading functionConfigs, and the errors in them.

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

fn errors(fields: &str) -> String {
    let error = read::<Config>(&custom(fields)).unwrap_err();
    let all = error.diagnostics.iter().map(|it| {
        let location = it
            .location
            .as_ref()
            .map_or_else(String::new, |it| format!("{}:{}", it.line, it.column));
        let field = it.field.as_deref().unwrap_or_default();
        format!("{location} {field}: {} ({})", it.message(), it.hints.join("; "))
    });
    all.collect::<Vec<_>>().join("\n")
}

#[test]
fn fields_are_read_from_the_root_or_from_spec() {
    let own: Config = read(&custom("labels: {a: b}\nreplicas: 3\nsize: large\n")).unwrap();
    let spec: Config =
        read(&custom("spec:\n  labels: {a: b}\n  replicas: 3\n  size: large\n")).unwrap();
    assert_eq!(own, spec);
    assert_eq!((own.replicas, own.size), (Some(3), Some(Size::Large)));
}

#[test]
fn type_can_have_spec_and_metadata_fields() {
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
fn config_map_strings_are_read_as_the_type_of_the_field() {
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
fn null_counts_as_missing_and_aliases_are_resolved() {
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
fn every_unknown_field_is_reported_with_a_suggestion() {
    assert_eq!(
        errors("lables: {}\nselectors:\n- kind: Pod\n  nmae: x\nfoo: 1\n"),
        "5:1 lables: unknown field `lables` in the functionConfig (did you mean `labels`?)
9:1 foo: unknown field `foo` in the functionConfig (use one of `labels`, `replicas`, `dryRun`, `size`, `selectors`)
8:3 selectors[0].nmae: unknown field `nmae` in the functionConfig (did you mean `name`?)"
    );
}

#[test]
fn errors_name_what_was_expected_and_found() {
    for (fields, expected) in [
        (
            "replicas: many\n",
            "5:11 replicas: expected an integer from 0 to 255, found string `many` ()",
        ),
        (
            "replicas: 300\n",
            "5:11 replicas: invalid value `300`: expected an integer from 0 to 255 ()",
        ),
        ("labels: [a]\n", "5:9 labels: expected a mapping, found a sequence ()"),
        (
            "labels: {a: 1.20}\n",
            "5:13 labels.a: expected a string, found number `1.20` (quote the value to make it a string)",
        ),
        ("dryRun: 5\n", "5:9 dryRun: expected a boolean, found integer `5` ()"),
        (
            "size: larg\n",
            "5:7 size: invalid value `larg`: expected one of `small`, `large` (did you mean `large`?)",
        ),
        (
            "selectors:\n- name: x\n",
            "6:3 selectors[0].kind: missing field `kind` in the functionConfig ()",
        ),
        ("selectors: {}\n", "5:12 selectors: expected a sequence, found a mapping ()"),
    ] {
        assert_eq!(errors(fields), expected, "{fields}");
    }
}

#[test]
fn errors_inside_a_string_are_located_at_the_string() {
    let text = "apiVersion: v1\nkind: ConfigMap\ndata:\n  selectors: |\n    - knd: Pod\n";
    let error = read::<Config>(text).unwrap_err();
    assert_eq!(
        error.to_string(),
        "unknown field `knd` in the functionConfig; missing field `kind` in the functionConfig"
    );
    let first = &error.diagnostics[0];
    assert_eq!(first.location.as_ref().map(|it| it.line), Some(4));
    assert_eq!(first.field.as_deref(), Some("data.selectors[0].knd"));
}

#[test]
fn unknown_kind_is_an_error() {
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
        "unknown functionConfig kind `SetLabel`: expected one of `LabelTransformer`, `SetLabels`"
    );
    assert_eq!(error.diagnostics[0].hints, ["did you mean `SetLabels`?"]);
    let text = "apiVersion: a/v1\nkind: LabelTransformer\nrepicas: 1\n";
    assert_eq!(read::<Kinds>(text).unwrap_err().diagnostics[0].hints, ["did you mean `replicas`?"]);
}

#[test]
fn endless_aliases_are_an_error() {
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
fn any_keeps_all_digits_of_numbers() {
    let huge = "9".repeat(60);
    let Any(value) = read(&custom(&format!("a: 1.20\nb: {huge}\nc: '1'\n1: [~]\n"))).unwrap();
    let expected = format!(r#"{{"a":1.20,"b":{huge},"c":"1","1":[null]}}"#);
    assert_eq!(krm_core::print::json::display(&value), expected);
}

#[test]
fn missing_function_config_is_an_error_or_the_default() {
    let list = ResourceList::default();
    let message = list.config::<Config>().unwrap_err().to_string();
    assert_eq!(message, "this function needs a functionConfig");
    assert!(list.config_or_default::<BTreeMap<String, String>>().unwrap().is_empty());
}
