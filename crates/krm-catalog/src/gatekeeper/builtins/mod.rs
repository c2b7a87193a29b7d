//! Built-in functions of OPA that the interpreter lacks or that differ there.
//!
//! Compat: in OPA an error of a built-in function makes the expression undefined. Here it is undefined too, unless the reason is that
//! this implementation cannot do it: that is an error, because a policy that is not evaluated must not pass.

mod format;
mod globs;
mod json_patch;
mod network;

use std::collections::BTreeSet;
use std::sync::Arc;

use data_encoding::HEXLOWER;
use md5::{Digest, Md5};
use regorus::{Engine, Value};
use sha1::Sha1;
use sha2::Sha256;

use crate::go_regex;

/// The result of a built-in function; an error stops the policy.
type BuiltinResult = anyhow::Result<Value>;

/// A built-in function: its name, the number of its arguments, and its implementation.
type Builtin = (&'static str, u8, fn(&[Value]) -> BuiltinResult);

const BUILTINS: &[Builtin] = &[
    ("all", 1, |args| Ok(elements(&args[0]).map_or(Value::Undefined, |it| all(&it).into()))),
    ("any", 1, |args| Ok(elements(&args[0]).map_or(Value::Undefined, |it| any(&it).into()))),
    ("cast_array", 1, cast_array),
    ("cast_boolean", 1, |args| Ok(only_if(&args[0], matches!(args[0], Value::Bool(_))))),
    ("cast_null", 1, |args| Ok(only_if(&args[0], args[0] == Value::Null))),
    ("cast_object", 1, |args| Ok(only_if(&args[0], matches!(args[0], Value::Object(_))))),
    ("cast_set", 1, cast_set),
    ("cast_string", 1, |args| Ok(only_if(&args[0], matches!(args[0], Value::String(_))))),
    ("crypto.md5", 1, |args| Ok(digest(&args[0], |text| HEXLOWER.encode(&Md5::digest(text))))),
    ("crypto.sha1", 1, |args| Ok(digest(&args[0], |text| HEXLOWER.encode(&Sha1::digest(text))))),
    ("crypto.sha256", 1, |args| {
        Ok(digest(&args[0], |text| HEXLOWER.encode(&Sha256::digest(text))))
    }),
    ("json.patch", 2, |args| json_patch::apply(&args[0], &args[1])),
    ("net.cidr_intersects", 2, |args| Ok(network::intersects(args))),
    ("net.cidr_overlap", 2, |args| Ok(network::contains(args))),
    ("re_match", 2, |args| matches("re_match", args)),
    ("regex.find_all_string_submatch_n", 3, find_submatches),
    ("regex.find_n", 3, find_n),
    ("regex.globs_match", 2, |args| Ok(globs::globs_match(args))),
    ("regex.match", 2, |args| matches("regex.match", args)),
    ("regex.replace", 3, replace),
    ("regex.split", 2, split),
    ("set_diff", 2, set_diff),
    ("sprintf", 2, format::sprintf),
];

/// Adds the functions to an interpreter.
pub(super) fn register(engine: &mut Engine) -> anyhow::Result<()> {
    for (name, count, function) in BUILTINS {
        let extension = move |args: Vec<Value>| function(&args);
        engine.add_extension((*name).to_owned(), *count, Box::new(extension))?;
    }
    Ok(())
}

fn only_if(value: &Value, is_type: bool) -> Value {
    if is_type { value.clone() } else { Value::Undefined }
}

/// The elements of an array or a set.
fn elements(value: &Value) -> Option<Vec<Value>> {
    match value {
        Value::Array(items) => Some(items.to_vec()),
        Value::Set(items) => Some(items.iter().cloned().collect()),
        _ => None,
    }
}

fn all(items: &[Value]) -> bool {
    items.iter().all(|it| *it == Value::Bool(true))
}

fn any(items: &[Value]) -> bool {
    items.contains(&Value::Bool(true))
}

fn cast_array(args: &[Value]) -> BuiltinResult {
    Ok(elements(&args[0]).map_or(Value::Undefined, Value::from))
}

fn cast_set(args: &[Value]) -> BuiltinResult {
    let set = elements(&args[0]).map(|items| items.into_iter().collect::<BTreeSet<Value>>());
    Ok(set.map_or(Value::Undefined, Value::from))
}

fn digest(value: &Value, hash: impl Fn(&str) -> String) -> Value {
    text(value).map_or(Value::Undefined, |text| hash(&text).into())
}

fn text(value: &Value) -> Option<Arc<str>> {
    value.as_string().ok().cloned()
}

fn texts<const N: usize>(args: [&Value; N]) -> Option<[Arc<str>; N]> {
    let texts: Vec<Arc<str>> = args.into_iter().map(text).collect::<Option<_>>()?;
    texts.try_into().ok()
}

fn set_diff(args: &[Value]) -> BuiltinResult {
    Ok(match (&args[0], &args[1]) {
        (Value::Set(a), Value::Set(b)) => {
            let rest = a.iter().filter(|it| !b.contains(*it)).cloned();
            Value::from(rest.collect::<BTreeSet<Value>>())
        }
        _ => Value::Undefined,
    })
}

/// The pattern of a function. One that cannot be compiled is an error: Go might accept it.
fn pattern(function: &str, pattern: &str) -> anyhow::Result<regex::Regex> {
    go_regex::compile(pattern).map_err(|error| anyhow::anyhow!("{function}: {error}"))
}

fn matches(function: &str, args: &[Value]) -> BuiltinResult {
    let Some([regex, value]) = texts([&args[0], &args[1]]) else { return Ok(Value::Undefined) };
    Ok(pattern(function, &regex)?.is_match(&value).into())
}

/// The maximal number of matches; negative for all.
fn limit(value: &Value) -> Option<usize> {
    let limit = value.as_i64().ok()?;
    Some(usize::try_from(limit).unwrap_or(usize::MAX))
}

fn find_n(args: &[Value]) -> BuiltinResult {
    let (Some([regex, value]), Some(limit)) = (texts([&args[0], &args[1]]), limit(&args[2])) else {
        return Ok(Value::Undefined);
    };
    let regex = pattern("regex.find_n", &regex)?;
    let found = regex.find_iter(&value).take(limit).map(|it| Value::from(it.as_str()));
    Ok(found.collect::<Vec<Value>>().into())
}

fn find_submatches(args: &[Value]) -> BuiltinResult {
    let (Some([regex, value]), Some(limit)) = (texts([&args[0], &args[1]]), limit(&args[2])) else {
        return Ok(Value::Undefined);
    };
    let regex = pattern("regex.find_all_string_submatch_n", &regex)?;
    let groups = |found: regex::Captures<'_>| {
        let groups = found.iter().map(|it| Value::from(it.map_or("", |it| it.as_str())));
        Value::from(groups.collect::<Vec<Value>>())
    };
    Ok(regex.captures_iter(&value).take(limit).map(groups).collect::<Vec<Value>>().into())
}

fn replace(args: &[Value]) -> BuiltinResult {
    let Some([value, regex, with]) = texts([&args[0], &args[1], &args[2]]) else {
        return Ok(Value::Undefined);
    };
    let regex = pattern("regex.replace", &regex)?;
    Ok(Value::from(&*regex.replace_all(&value, &*with)))
}

fn split(args: &[Value]) -> BuiltinResult {
    let Some([regex, value]) = texts([&args[0], &args[1]]) else { return Ok(Value::Undefined) };
    let regex = pattern("regex.split", &regex)?;
    let parts = go_regex::split(&regex, &value, -1).into_iter().map(Value::from);
    Ok(parts.collect::<Vec<Value>>().into())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The value of an expression, as JSON; `-` if it is undefined.
    fn value(expression: &str) -> Result<String, String> {
        let mut engine = Engine::new();
        engine.set_strict_builtin_errors(false);
        register(&mut engine).unwrap();
        let policy = format!("package a\nimport rego.v1\nx := {expression}\n");
        engine.add_policy("a".to_owned(), policy).map_err(|error| error.to_string())?;
        let value = engine.eval_rule("data.a.x".to_owned()).map_err(|error| error.to_string())?;
        match value {
            Value::Undefined => Ok("-".to_owned()),
            value => Ok(value.to_string()),
        }
    }

    #[test]
    fn functions_have_the_values_of_opa() {
        for (expression, expected) in [
            ("any([false, true])", "true"),
            ("any([])", "false"),
            ("all({true})", "true"),
            ("all([])", "true"),
            ("all([true, 1])", "false"),
            ("any(1)", "-"),
            ("re_match(\"^a\\\\d$\", \"a1\")", "true"),
            ("cast_array({1})", "[1]"),
            ("cast_set([1, 1])", "[1]"),
            ("cast_string(\"a\")", "\"a\""),
            ("cast_boolean(1)", "-"),
            ("cast_null(null)", "null"),
            ("cast_object({\"a\": 1})", "{\"a\":1}"),
            ("set_diff({1, 2}, {2})", "[1]"),
            ("crypto.md5(\"hello\")", "\"5d41402abc4b2a76b9719d911017c592\""),
            ("crypto.sha1(\"hello\")", "\"aaf4c61ddcc5e8a2dabede0f3b482cd9aea9434d\""),
            (
                "crypto.sha256(\"hello\")",
                "\"2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824\"",
            ),
            ("net.cidr_overlap(\"10.0.0.0/8\", \"10.1.2.3\")", "true"),
            ("net.cidr_intersects(\"10.0.0.0/8\", \"10.1.0.0/16\")", "true"),
            ("net.cidr_intersects(\"10.0.0.0/8\", \"11.0.0.0/16\")", "false"),
            ("regex.globs_match(\"a.a.[0-9]+z\", \"b.b*\")", "false"),
            ("regex.globs_match(\"[a-z]+\", \"[p-z]+.*\")", "true"),
            ("regex.split(\",\", \"a,b\")", "[\"a\",\"b\"]"),
            ("regex.find_n(\"a.\", \"paranormal\", 1)", "[\"ar\"]"),
            (
                "regex.find_all_string_submatch_n(\"a(x*)b\", \"-axxb-ab-\", -1)",
                "[[\"axxb\",\"xx\"],[\"ab\",\"\"]]",
            ),
            ("regex.replace(\"-ab-axxb-\", \"a(x*)b\", \"${1}W\")", "\"-W-xxW-\""),
            ("graph.reachable({\"a\": [\"b\"], \"b\": []}, [\"a\"])", "[\"a\",\"b\"]"),
            ("{p | walk({\"a\": [1]}, [p, 1])}", "[[\"a\",0]]"),
            ("to_number(\"10Mi\")", "-"),
            ("to_number(\"1.5\")", "1.5"),
            ("1 / 0", "-"),
            (
                "json.patch({\"a\": 1}, [{\"op\": \"add\", \"path\": \"/b\", \"value\": 2}])",
                "{\"a\":1,\"b\":2}",
            ),
        ] {
            assert_eq!(value(expression).as_deref(), Ok(expected), "{expression}");
        }
    }

    #[test]
    fn unsupported_pattern_is_an_error() {
        let error = value("regex.match(\"(\", \"x\")").unwrap_err();
        assert!(error.contains("regex.match: invalid regular expression `(`"), "{error}");
    }
}
