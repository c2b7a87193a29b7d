//! `format % values`: Go's implementation, which has `%c`, `%i` and `%(name)s` in addition to that of the interpreter.

use anyhow::bail;
use num_bigint::BigInt;
use starlark::values::dict::DictRef;
use starlark::values::float::UnpackFloat;
use starlark::values::tuple::TupleRef;
use starlark::values::{Heap, UnpackValue, Value};

use super::display;
use crate::go_float;

/// Replaces the conversions of a format by values.
pub(super) fn interpolate<'v>(
    format: &str,
    values: Value<'v>,
    heap: Heap<'v>,
) -> anyhow::Result<String> {
    let tuple = TupleRef::from_value(values);
    let dict = DictRef::from_value(values);
    let count = tuple.map_or(1, |it| it.content().len());
    let (mut out, mut next, mut rest) = (String::new(), 0, format);
    while let Some((literal, conversion)) = rest.split_once('%') {
        out.push_str(literal);
        rest = conversion;
        if let Some(after) = rest.strip_prefix('%') {
            out.push('%');
            rest = after;
            continue;
        }
        let value = match rest.strip_prefix('(') {
            Some(named) => {
                let Some((key, after)) = named.split_once(')') else {
                    bail!("incomplete format key")
                };
                rest = after;
                let Some(dict) = &dict else { bail!("format requires a mapping") };
                dict.get_str(key).ok_or_else(|| anyhow::anyhow!("key not found: {key}"))?
            }
            None if next >= count => bail!("not enough arguments for format string"),
            None => tuple.map_or(values, |it| it.content()[next]),
        };
        let Some(verb) = rest.chars().next() else { bail!("incomplete format") };
        push(verb, value, heap, &mut out)?;
        rest = &rest[verb.len_utf8()..];
        next += 1;
    }
    out.push_str(rest);
    if next < count && dict.is_none() {
        bail!("too many arguments for format string");
    }
    Ok(out)
}

fn push<'v>(verb: char, value: Value<'v>, heap: Heap<'v>, out: &mut String) -> anyhow::Result<()> {
    match verb {
        's' => out.push_str(&display::str(value, heap)?),
        'r' => out.push_str(&display::repr(value, heap)?),
        'd' | 'i' => out.push_str(&integer(verb, value)?.to_str_radix(10)),
        'o' => out.push_str(&integer(verb, value)?.to_str_radix(8)),
        'x' => out.push_str(&integer(verb, value)?.to_str_radix(16)),
        'X' => out.push_str(&integer(verb, value)?.to_str_radix(16).to_uppercase()),
        'e' | 'f' | 'g' | 'E' | 'F' | 'G' => out.push_str(&float(verb, value)?),
        'c' => out.push(character(value)?),
        other => bail!("unknown conversion %{other}"),
    }
    Ok(())
}

/// An integer; a float is cut off.
fn integer(verb: char, value: Value<'_>) -> anyhow::Result<BigInt> {
    let text = match (value.get_type(), display::unpack_float(value)) {
        ("int", _) => value.to_str(),
        (_, Some(number)) if number.is_finite() => format!("{:.0}", number.trunc()),
        (_, Some(number)) => {
            bail!(
                "%{verb} format requires integer: cannot convert float {} to integer",
                display::non_finite(number)
            )
        }
        (other, None) => bail!("%{verb} format requires integer: cannot convert {other} to int"),
    };
    text.parse().map_err(|_| anyhow::anyhow!("%{verb} format requires integer"))
}

fn float(verb: char, value: Value<'_>) -> anyhow::Result<String> {
    let number = match value.get_type() {
        "int" | "float" => UnpackFloat::unpack_value_opt(value).map(|it| it.0),
        _ => None,
    };
    let Some(number) = number else {
        bail!("%{verb} format requires float, not {}", value.get_type());
    };
    if !number.is_finite() {
        return Ok(display::non_finite(number).to_owned());
    }
    let text = match verb.to_ascii_lowercase() {
        'e' => go_float::scientific(number, Some(6)),
        'f' => go_float::decimal(number, 6),
        _ => display::float(number),
    };
    Ok(if verb.is_uppercase() { text.to_uppercase() } else { text })
}

fn character(value: Value<'_>) -> anyhow::Result<char> {
    if let Some(text) = value.unpack_str() {
        let mut chars = text.chars();
        return match (chars.next(), chars.next()) {
            (Some(c), None) => Ok(c),
            _ => bail!("%c format requires a single-character string"),
        };
    }
    if value.get_type() != "int" {
        bail!("%c format requires int or single-character string, not {}", value.get_type());
    }
    let c = value.unpack_i32().and_then(|it| char::from_u32(u32::try_from(it).ok()?));
    c.ok_or_else(|| {
        anyhow::anyhow!("%c format requires a valid Unicode code point, got {}", value.to_str())
    })
}
