//! Schemas of all kinds of types.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::*;
use crate::Any;

fn schema<T: DeserializeOwned>() -> String {
    krm_core::print::json::display(&of::<T>())
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
#[expect(dead_code, reason = "only the type is used")]
struct Config {
    labels: BTreeMap<String, String>,
    #[serde(default, alias = "selector")]
    selectors: Vec<Selector>,
    size: Option<Size>,
    #[serde(default)]
    dry_run: bool,
    ratio: f64,
    port: std::num::NonZeroU16,
    address: std::net::Ipv4Addr,
    any: Option<Any>,
}

#[derive(Deserialize)]
#[expect(dead_code, reason = "only the type is used")]
struct Selector {
    kind: String,
    #[serde(default)]
    inner: Vec<Selector>,
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
#[expect(dead_code, reason = "only the type is used")]
enum Size {
    Small,
    Large,
    Custom { cpu: u8, memory: Option<String> },
}

#[test]
fn schema_describes_every_field() {
    let schema = schema::<Config>();
    for part in [
        r#""labels":{"type":"object","additionalProperties":{"type":"string"}}"#,
        r#""selector":{"type":"array","items":{"type":"object","properties":{"kind":{"type":"string"},"inner":{"type":"array""#,
        r#""selectors":{}"#,
        r#""size":{"oneOf":[{"type":"string","enum":["small","large"]},{"type":"object","properties":{"custom":{"type":"object","properties":{"cpu":{"type":"integer","minimum":0,"maximum":255},"memory":{"type":["string","null"]}},"required":["cpu"],"additionalProperties":false}},"required":["custom"],"additionalProperties":false},{"type":"null"}]}"#,
        r#""dryRun":{"type":"boolean"}"#,
        r#""ratio":{"type":"number"}"#,
        r#""port":{"type":"integer","minimum":0,"maximum":65535}"#,
        r#""any":{}"#,
        r#""apiVersion":{"type":"string"},"kind":{"type":"string","not":{"const":"ConfigMap"}},"metadata":{"type":"object"}"#,
        r#""metadata":{"type":"object"},"spec":{"type":"object","properties":{"labels":"#,
        r#""kind":{"const":"ConfigMap"},"metadata":{"type":"object"},"data":{"type":"object","properties":{"labels":{"anyOf":[{"type":"object""#,
    ] {
        assert!(schema.contains(part), "{part}\nis not in\n{schema}");
    }
    assert!(schema.contains(r#""required":["apiVersion","kind","labels","ratio","port","address"],"additionalProperties":false}"#), "{schema}");
}

#[test]
fn optional_fields_may_be_null_as_for_the_reader() {
    #[derive(Deserialize)]
    #[serde(rename_all = "lowercase")]
    enum Level {
        Low,
        High,
    }
    #[derive(Deserialize)]
    #[expect(dead_code, reason = "only the type is used")]
    struct Optional {
        level: Option<Level>,
        names: Option<Vec<String>>,
        #[serde(default)]
        count: u8,
    }
    let schema = schema::<Optional>();
    for part in [
        r#""level":{"type":["string","null"],"enum":["low","high",null]}"#,
        r#""names":{"type":["array","null"],"items":{"type":"string"}}"#,
        r#""count":{"type":"integer","minimum":0,"maximum":255}"#,
        // Without quotes in a ConfigMap, and not for names of a list.
        r#""names":{"anyOf":[{"type":["array","null"],"items":{"type":"string"}},{"type":"string"}]}"#,
    ] {
        assert!(schema.contains(part), "{part}\nis not in\n{schema}");
    }
    let config = |level: &str| {
        let text = format!("apiVersion: a/v1\nkind: A\nlevel: {level}\n");
        crate::Resource::parse(&text).unwrap().read_config::<Optional>().is_ok()
    };
    assert!(config("null") && config("low") && !config("other"));
}

#[test]
fn enum_variants_are_kinds_and_maps_allow_any_field() {
    #[derive(Deserialize)]
    #[expect(dead_code, reason = "only the type is used")]
    enum Kinds {
        SetName { name: String },
        ConfigMap(BTreeMap<String, u8>),
    }
    let schema = schema::<Kinds>();
    assert!(schema.contains(r#""kind":{"const":"SetName"}"#), "{schema}");
    assert!(schema.contains(r#""required":["apiVersion","kind","name"]"#), "{schema}");
    assert!(schema.contains(r#""kind":{"const":"ConfigMap"}"#), "{schema}");
    assert!(schema.contains(r#""data":{"type":"object","properties":{},"additionalProperties":{"anyOf":[{"type":"integer","minimum":0,"maximum":255},{"type":"string"}]}}"#), "{schema}");
}

#[test]
fn function_schema_is_that_of_the_config_type() {
    let schema = of_function(|list| {
        let _ = list.config_or_default::<BTreeMap<String, bool>>();
    });
    assert!(krm_core::print::json::display(&schema.unwrap()).contains(r#"{"type":"boolean"}"#));
    assert!(of_function(|_| {}).is_none());
    assert!(ResourceList::default().config_or_default::<Vec<u8>>().is_ok());
}
