//! The functions that Kubernetes adds to CEL. Those that are missing here are unknown functions, which is an error.

use std::cmp::Ordering;

use cel::common::functions::Function;
use cel::common::types::{DYN_TYPE, INT_TYPE, LIST_TYPE, STRING_TYPE, Type};
use cel::common::value::{CowVal, Val};
use cel::{DeclarationError, Env, ExecutionError, Value, extensions};

use super::rewrite::go_pattern;
use super::{network, quantity};

/// The names of all functions.
pub(super) const FUNCTIONS: &[&str] = &[
    // Strings.
    "charAt",
    "indexOf",
    "join",
    "lastIndexOf",
    "lowerAscii",
    "replace",
    "reverse",
    "split",
    "strings.quote",
    "substring",
    "trim",
    "upperAscii",
    // Lists and sets.
    "distinct",
    "flatten",
    "isSorted",
    "lists.range",
    "max",
    "min",
    "sets.contains",
    "sets.equivalent",
    "sets.intersects",
    "slice",
    "sort",
    "sum",
    // Regular expressions.
    "find",
    "findAll",
    // Quantities.
    "add",
    "asApproximateFloat",
    "asInteger",
    "compareTo",
    "isGreaterThan",
    "isInteger",
    "isLessThan",
    "isQuantity",
    "quantity",
    "sign",
    "sub",
    // Addresses and networks.
    "cidr",
    "containsCIDR",
    "containsIP",
    "family",
    "ip",
    "isCIDR",
    "isGlobalUnicast",
    "isIP",
    "isLinkLocalMulticast",
    "isLinkLocalUnicast",
    "isLoopback",
    "isUnspecified",
    "masked",
    "prefixLength",
];

/// Adds the functions to an environment.
pub(super) fn extend(env: &mut Env) -> Result<(), DeclarationError> {
    env.add_extension(extensions::strings)?;
    env.add_extension(extensions::lists)?;
    let list = |env: &mut Env, name: &str, arguments: Vec<Type>, function: Function| {
        env.add_member_overload(name, &format!("list.{name}"), LIST_TYPE, arguments, function)
    };
    list(env, "isSorted", Vec::new(), |args| {
        call(&args, |args| is_sorted(items(args)?).map(Value::Bool))
    })?;
    list(env, "sum", Vec::new(), |args| call(&args, |args| sum(items(args)?)))?;
    list(env, "min", Vec::new(), |args| {
        call(&args, |args| extreme("min", items(args)?, Ordering::Less))
    })?;
    list(env, "max", Vec::new(), |args| {
        call(&args, |args| extreme("max", items(args)?, Ordering::Greater))
    })?;
    list(env, "indexOf", vec![DYN_TYPE], |args| {
        call(&args, |args| Ok(index(items(args)?.iter().position(|it| Some(it) == args.get(1)))))
    })?;
    list(env, "lastIndexOf", vec![DYN_TYPE], |args| {
        call(&args, |args| Ok(index(items(args)?.iter().rposition(|it| Some(it) == args.get(1)))))
    })?;
    for (name, function) in SETS {
        env.add_overload(name, name, vec![LIST_TYPE, LIST_TYPE], *function)?;
    }
    let string = |env: &mut Env, name: &str, id: &str, arguments: Vec<Type>, function: Function| {
        env.add_member_overload(name, id, STRING_TYPE, arguments, function)
    };
    string(env, "find", "string.find", vec![STRING_TYPE], |args| {
        call(&args, |args| {
            let (text, pattern) = texts(args)?;
            let found = go_pattern("find", pattern)?.find(text).map_or("", |it| it.as_str());
            Ok(found.into())
        })
    })?;
    string(env, "findAll", "string.findAll", vec![STRING_TYPE], |args| {
        call(&args, |args| find_all(args, None))
    })?;
    string(env, "findAll", "string.findAll(int)", vec![STRING_TYPE, INT_TYPE], |args| {
        call(&args, |args| match args.get(2) {
            Some(Value::Int(limit)) => find_all(args, usize::try_from(*limit).ok()),
            _ => Err(no_overload("findAll")),
        })
    })?;
    quantity::extend(env)?;
    network::extend(env)
}

/// Calls a function with values of its own, and returns a value.
pub(super) fn call<'b, 'v>(
    args: &[CowVal<'b, 'v>],
    function: impl FnOnce(&[Value]) -> Result<Value, ExecutionError>,
) -> Result<CowVal<'b, 'v>, ExecutionError> {
    let values = args.iter().map(|it| Value::try_from(&**it));
    let values: Vec<Value> = values.collect::<Result<_, _>>()?;
    let value: Box<dyn Val> = function(&values)?.try_into()?;
    Ok(CowVal::Owned(value))
}

/// The error for arguments of other types.
pub(super) fn no_overload(function: &str) -> ExecutionError {
    ExecutionError::no_such_overload(function, Vec::new())
}

fn items(args: &[Value]) -> Result<&[Value], ExecutionError> {
    match args.first() {
        Some(Value::List(items)) => Ok(items),
        _ => Err(no_overload("list")),
    }
}

fn texts(args: &[Value]) -> Result<(&str, &str), ExecutionError> {
    match args {
        [Value::String(text), Value::String(pattern), ..] => Ok((text, pattern)),
        _ => Err(no_overload("string")),
    }
}

fn index(found: Option<usize>) -> Value {
    Value::Int(found.and_then(|at| i64::try_from(at).ok()).unwrap_or(-1))
}

fn find_all(args: &[Value], limit: Option<usize>) -> Result<Value, ExecutionError> {
    let (text, pattern) = texts(args)?;
    let pattern = go_pattern("findAll", pattern)?;
    let found = pattern.find_iter(text).take(limit.unwrap_or(usize::MAX));
    Ok(found.map(|it| Value::from(it.as_str())).collect::<Vec<Value>>().into())
}

fn compare(a: &Value, b: &Value) -> Result<Ordering, ExecutionError> {
    a.partial_cmp(b).ok_or_else(|| ExecutionError::ValuesNotComparable(a.clone(), b.clone()))
}

fn is_sorted(items: &[Value]) -> Result<bool, ExecutionError> {
    for pair in items.windows(2) {
        if compare(&pair[0], &pair[1])? == Ordering::Greater {
            return Ok(false);
        }
    }
    Ok(true)
}

fn sum(items: &[Value]) -> Result<Value, ExecutionError> {
    let mut total = match items.first() {
        None | Some(Value::Int(_)) => Value::Int(0),
        Some(Value::UInt(_)) => Value::UInt(0),
        Some(Value::Float(_)) => Value::Float(0.0),
        Some(_) => return Err(no_overload("sum")),
    };
    for item in items {
        let next = match (&total, item) {
            (Value::Int(a), Value::Int(b)) => a.checked_add(*b).map(Value::Int),
            (Value::UInt(a), Value::UInt(b)) => a.checked_add(*b).map(Value::UInt),
            (Value::Float(a), Value::Float(b)) => Some(Value::Float(a + b)),
            _ => return Err(no_overload("sum")),
        };
        total = next.ok_or_else(|| ExecutionError::function_error("sum", "integer overflow"))?;
    }
    Ok(total)
}

fn extreme(name: &str, items: &[Value], wanted: Ordering) -> Result<Value, ExecutionError> {
    let (first, rest) = items.split_first().ok_or_else(|| {
        ExecutionError::function_error(name, format!("{name} called on empty list"))
    })?;
    let mut found = first;
    for item in rest {
        if compare(item, found)? == wanted {
            found = item;
        }
    }
    Ok(found.clone())
}

/// The functions of two sets, which are lists.
const SETS: &[(&str, Function)] = &[
    ("sets.contains", |args| call(&args, |args| pair(args).map(|(a, b)| contains(a, b).into()))),
    ("sets.equivalent", |args| {
        call(&args, |args| pair(args).map(|(a, b)| (contains(a, b) && contains(b, a)).into()))
    }),
    ("sets.intersects", |args| {
        call(&args, |args| pair(args).map(|(a, b)| a.iter().any(|it| b.contains(it)).into()))
    }),
];

fn pair(args: &[Value]) -> Result<(&[Value], &[Value]), ExecutionError> {
    match args {
        [Value::List(a), Value::List(b)] => Ok((a, b)),
        _ => Err(no_overload("sets")),
    }
}

fn contains(set: &[Value], subset: &[Value]) -> bool {
    subset.iter().all(|it| set.contains(it))
}
