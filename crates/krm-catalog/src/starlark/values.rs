//! Converting between YAML and Starlark values, without guessing types or losing digits of integers.

use std::borrow::Cow;

use krm_yaml::{ScalarType, Value};
use num_bigint::BigInt;
use starlark::values::dict::{AllocDict, DictRef};
use starlark::values::float::StarlarkFloat;
use starlark::values::list::AllocList;
use starlark::values::{Heap, UnpackValue, Value as StarlarkValue};

/// The maximal nesting of a Starlark value: a list can contain itself.
const MAX_DEPTH: usize = 1000;

/// A Starlark value with mutable dicts and lists.
pub(super) fn to_starlark<'v>(value: &Value<'_>, heap: Heap<'v>) -> StarlarkValue<'v> {
    match value {
        Value::Null => StarlarkValue::new_none(),
        Value::Bool(value) => StarlarkValue::new_bool(*value),
        Value::Number(text) => number(text, heap),
        Value::String(text) => heap.alloc(&**text),
        Value::Sequence(items) => {
            heap.alloc(AllocList(items.iter().map(|item| to_starlark(item, heap))))
        }
        Value::Mapping(entries) => {
            let entry = |(name, value): &(Value<'_>, Value<'_>)| {
                (key(name, heap), to_starlark(value, heap))
            };
            heap.alloc(AllocDict(entries.iter().map(entry)))
        }
        node @ (Value::Node(_) | Value::OwnedNode(_)) => match node.clone().into_owned() {
            Ok(value) => to_starlark(&value, heap),
            Err(_) => StarlarkValue::new_none(),
        },
    }
}

/// A key. Collections, which are not hashable in Starlark, become JSON strings.
fn key<'v>(key: &Value<'_>, heap: Heap<'v>) -> StarlarkValue<'v> {
    match key {
        Value::Sequence(_) | Value::Mapping(_) => heap.alloc(krm_core::print::json::display(key)),
        scalar => to_starlark(scalar, heap),
    }
}

fn number<'v>(text: &str, heap: Heap<'v>) -> StarlarkValue<'v> {
    match ScalarType::of_plain(text) {
        ScalarType::Int(Some(value)) => match i64::try_from(value) {
            Ok(value) => heap.alloc(value),
            Err(_) => heap.alloc(BigInt::from(value)),
        },
        ScalarType::Float(value) => heap.alloc(value),
        _ => match text.parse::<BigInt>() {
            Ok(value) => heap.alloc(value),
            Err(_) => heap.alloc(text),
        },
    }
}

/// A YAML value.
///
/// # Errors
/// The value has no representation in YAML: a function, or a value that contains itself.
pub(super) fn from_starlark<'v>(
    value: StarlarkValue<'v>,
    heap: Heap<'v>,
) -> Result<Value<'static>, String> {
    read(value, heap, MAX_DEPTH)
}

fn read<'v>(
    value: StarlarkValue<'v>,
    heap: Heap<'v>,
    depth: usize,
) -> Result<Value<'static>, String> {
    let Some(depth) = depth.checked_sub(1) else {
        return Err(format!("a value contains itself, or has more than {MAX_DEPTH} levels"));
    };
    if value.is_none() {
        return Ok(Value::Null);
    }
    if let Some(value) = value.unpack_bool() {
        return Ok(Value::Bool(value));
    }
    if let Some(text) = value.unpack_str() {
        return Ok(Value::String(Cow::Owned(text.to_owned())));
    }
    let list = match value.get_type() {
        "list" | "tuple" | "set" => value.iterate(heap).ok(),
        _ => None,
    };
    if let Some(items) = list {
        let items = items.map(|item| read(item, heap, depth));
        return Ok(Value::Sequence(items.collect::<Result<_, _>>()?));
    }
    if let Some(dict) = DictRef::from_value(value) {
        let entry = |(name, value)| Ok((read(name, heap, depth)?, read(value, heap, depth)?));
        return Ok(Value::Mapping(dict.iter().map(entry).collect::<Result<_, String>>()?));
    }
    match value.get_type() {
        "int" => Ok(Value::Number(Cow::Owned(value.to_str()))),
        "float" => Ok(float(value)),
        other => Err(format!("cannot write a {other} to a resource")),
    }
}

/// A float in YAML syntax.
fn float(value: StarlarkValue<'_>) -> Value<'static> {
    let text = match StarlarkFloat::unpack_value_opt(value).map(|it| it.0) {
        Some(number) if number.is_nan() => ".nan".to_owned(),
        Some(f64::INFINITY) => ".inf".to_owned(),
        Some(f64::NEG_INFINITY) => "-.inf".to_owned(),
        _ => value.to_str(),
    };
    Value::Number(Cow::Owned(text))
}
