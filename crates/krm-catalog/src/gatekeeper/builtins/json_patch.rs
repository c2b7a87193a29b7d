//! `json.patch`: the operations of RFC 6902.

use anyhow::bail;
use regorus::Value;

use super::BuiltinResult;

/// Applies a list of operations; undefined if one of them is invalid or does not apply.
pub(super) fn apply(document: &Value, patches: &Value) -> BuiltinResult {
    let Ok(patches) = patches.as_array() else { return Ok(Value::Undefined) };
    let mut document = document.clone();
    for patch in patches {
        match apply_one(document, patch)? {
            Some(patched) => document = patched,
            None => return Ok(Value::Undefined),
        }
    }
    Ok(document)
}

fn apply_one(mut document: Value, patch: &Value) -> anyhow::Result<Option<Value>> {
    let path = |name: &str| path_of(&patch[name]);
    let (Value::String(operation), Some(to)) = (&patch["op"], path("path")) else {
        return Ok(None);
    };
    let value = match &patch["value"] {
        Value::Undefined => None,
        value => Some(value.clone()),
    };
    let is_done = match (&**operation, value) {
        ("add", Some(value)) => insert(&mut document, &to, value)?,
        ("remove", _) => remove(&mut document, &to)?.is_some(),
        ("replace", Some(value)) => match get(&mut document, &to)? {
            Some(target) => {
                *target = value;
                true
            }
            None => false,
        },
        ("test", Some(value)) => get(&mut document, &to)?.is_some_and(|it| *it == value),
        ("copy" | "move", _) => {
            let Some(from) = path("from") else { return Ok(None) };
            let value = match &**operation {
                "move" => remove(&mut document, &from)?,
                _ => get(&mut document, &from)?.cloned(),
            };
            match value {
                Some(value) => insert(&mut document, &to, value)?,
                None => false,
            }
        }
        _ => false,
    };
    Ok(is_done.then_some(document))
}

/// A path is a JSON pointer, with or without its first `/`, or an array of keys.
fn path_of(path: &Value) -> Option<Vec<Value>> {
    match path {
        Value::String(text) if text.is_empty() => Some(Vec::new()),
        Value::String(text) => {
            let parts = text.strip_prefix('/').unwrap_or(text).split('/');
            Some(parts.map(|it| Value::from(it.replace("~1", "/").replace("~0", "~"))).collect())
        }
        Value::Array(keys) => Some(keys.to_vec()),
        _ => None,
    }
}

/// An index of an array; its length is allowed where an element is inserted.
fn index(key: &Value, length: usize) -> Option<usize> {
    match key {
        Value::String(text) if **text == *"-" => Some(length),
        Value::String(text) if text.len() > 1 && text.starts_with('0') => None,
        Value::String(text) if text.starts_with('+') => None,
        Value::String(text) => text.parse().ok(),
        Value::Number(_) => usize::try_from(key.as_u64().ok()?).ok(),
        _ => None,
    }
}

fn reject_set(value: &Value) -> anyhow::Result<()> {
    if matches!(value, Value::Set(_)) {
        bail!("json.patch: a path into a set is not supported");
    }
    Ok(())
}

fn get<'v>(mut value: &'v mut Value, path: &[Value]) -> anyhow::Result<Option<&'v mut Value>> {
    for key in path {
        reject_set(value)?;
        let next = match value {
            Value::Object(_) => value.as_object_mut()?.get_mut(key),
            Value::Array(items) => {
                let at = index(key, items.len());
                at.and_then(|at| value.as_array_mut().ok()?.get_mut(at))
            }
            _ => None,
        };
        match next {
            Some(next) => value = next,
            None => return Ok(None),
        }
    }
    Ok(Some(value))
}

fn insert(document: &mut Value, path: &[Value], value: Value) -> anyhow::Result<bool> {
    let Some((last, parent)) = path.split_last() else {
        *document = value;
        return Ok(true);
    };
    let Some(parent) = get(document, parent)? else { return Ok(false) };
    reject_set(parent)?;
    Ok(match parent {
        Value::Object(_) => {
            parent.as_object_mut()?.insert(last.clone(), value);
            true
        }
        Value::Array(items) => match index(last, items.len()) {
            Some(at) if at <= items.len() => {
                parent.as_array_mut()?.insert(at, value);
                true
            }
            _ => false,
        },
        _ => false,
    })
}

fn remove(document: &mut Value, path: &[Value]) -> anyhow::Result<Option<Value>> {
    let Some((last, parent)) = path.split_last() else { return Ok(None) };
    let Some(parent) = get(document, parent)? else { return Ok(None) };
    reject_set(parent)?;
    Ok(match parent {
        Value::Object(_) => parent.as_object_mut()?.remove(last),
        Value::Array(items) => match index(last, items.len()) {
            Some(at) if at < items.len() => Some(parent.as_array_mut()?.remove(at)),
            _ => None,
        },
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn patched(document: &str, patches: &str) -> String {
        let value = |json: &str| Value::from_json_str(json).unwrap();
        match apply(&value(document), &value(patches)).unwrap() {
            Value::Undefined => "-".to_owned(),
            value => value.to_json_str().unwrap().split_whitespace().collect(),
        }
    }

    #[test]
    fn operations_are_those_of_the_rfc() {
        for (document, patches, expected) in [
            ("{\"a\":1}", r#"[{"op":"replace","path":"a","value":2}]"#, "{\"a\":2}"),
            ("{\"a\":1}", r#"[{"op":"replace","path":"/b","value":2}]"#, "-"),
            ("{\"a\":1}", r#"[{"op":"remove","path":["a"]}]"#, "{}"),
            (
                "[1,2]",
                r#"[{"op":"add","path":"/1","value":9},{"op":"add","path":"/-","value":3}]"#,
                "[1,9,2,3]",
            ),
            ("[1,2]", r#"[{"op":"add","path":"/3","value":9}]"#, "-"),
            ("{\"a\":[1]}", r#"[{"op":"move","from":"/a","path":"/b"}]"#, "{\"b\":[1]}"),
            ("{\"a\":[1]}", r#"[{"op":"copy","from":"/a/0","path":"/b"}]"#, "{\"a\":[1],\"b\":1}"),
            ("{\"a/b\":1}", r#"[{"op":"test","path":"/a~1b","value":1}]"#, "{\"a/b\":1}"),
            ("{\"a\":1}", r#"[{"op":"test","path":"/a","value":2}]"#, "-"),
            ("{\"a\":1}", r#"[{"op":"add","path":"/x/y","value":2}]"#, "-"),
            ("1", r#"[{"op":"add","path":"","value":2}]"#, "2"),
        ] {
            assert_eq!(patched(document, patches), expected, "{patches}");
        }
    }
}
