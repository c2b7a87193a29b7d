//! Kubernetes quantities: `100Mi`, `1.5`, `250m`.

use std::sync::Arc;

use cel::common::functions::Function;
use cel::common::types::{INT_TYPE, STRING_TYPE, Type};
use cel::objects::Opaque;
use cel::{DeclarationError, Env, ExecutionError, Value};

use super::kubernetes::{call, no_overload};

const NAME: &str = "kubernetes.Quantity";
/// The smallest unit is 1e-9; smaller digits are rounded up, as in Kubernetes.
const UNIT: i128 = 1_000_000_000;

/// A quantity in units of 1e-9.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Quantity(i128);

impl Opaque for Quantity {
    fn runtime_type_name(&self) -> &str {
        NAME
    }
}

impl Quantity {
    /// None if the text is not a quantity, or out of range.
    fn parse(text: &str) -> Option<Self> {
        let (is_negative, unsigned) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text.strip_prefix('+').unwrap_or(text)),
        };
        let end =
            unsigned.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(unsigned.len());
        let (number, suffix) = unsigned.split_at(end);
        let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
        if (whole.is_empty() && fraction.is_empty()) || fraction.contains('.') {
            return None;
        }
        let (base, exponent) = suffix_of(suffix)?;
        // The digits as an integer, with the decimal exponent of its last digit.
        let digits = format!("{whole}{fraction}");
        let digits: i128 = match digits.trim_start_matches('0') {
            "" => 0,
            digits => digits.parse().ok()?,
        };
        let mut value = digits.checked_mul(UNIT)?;
        if base == 2 {
            value = value.checked_mul(1_i128.checked_shl(exponent.unsigned_abs())?)?;
        }
        let decimal = if base == 10 { exponent } else { 0 };
        let places = decimal.checked_sub(i32::try_from(fraction.len()).ok()?)?;
        let power = 10_i128.checked_pow(places.unsigned_abs());
        value = match (places >= 0, power) {
            (true, Some(power)) => value.checked_mul(power)?,
            (true, None) if value == 0 => 0,
            (true, None) => return None,
            (false, Some(power)) => value.checked_add(power - 1)?.div_euclid(power),
            (false, None) => i128::from(value > 0),
        };
        Some(Self(if is_negative { -value } else { value }))
    }

    fn integer(self) -> Option<i64> {
        (self.0 % UNIT == 0).then(|| i64::try_from(self.0 / UNIT).ok())?
    }

    #[allow(clippy::cast_precision_loss, reason = "the function is called asApproximateFloat")]
    fn float(self) -> f64 {
        self.0 as f64 / UNIT as f64
    }
}

/// The base and the exponent of a suffix.
fn suffix_of(suffix: &str) -> Option<(u32, i32)> {
    Some(match suffix {
        "" => (10, 0),
        "n" => (10, -9),
        "u" => (10, -6),
        "m" => (10, -3),
        "k" => (10, 3),
        "M" => (10, 6),
        "G" => (10, 9),
        "T" => (10, 12),
        "P" => (10, 15),
        "E" => (10, 18),
        "Ki" => (2, 10),
        "Mi" => (2, 20),
        "Gi" => (2, 30),
        "Ti" => (2, 40),
        "Pi" => (2, 50),
        "Ei" => (2, 60),
        other => (10, other.strip_prefix(['e', 'E'])?.parse().ok()?),
    })
}

fn of(value: &Value) -> Option<Quantity> {
    match value {
        Value::Opaque(opaque) => opaque.downcast_ref::<Quantity>().copied(),
        Value::Int(number) => Some(Quantity(i128::from(*number) * UNIT)),
        _ => None,
    }
}

fn value(quantity: Quantity) -> Value {
    Value::Opaque(Arc::new(quantity))
}

fn one(name: &str, args: &[Value]) -> Result<Quantity, ExecutionError> {
    args.first().and_then(of).ok_or_else(|| no_overload(name))
}

fn two(name: &str, args: &[Value]) -> Result<(Quantity, Quantity), ExecutionError> {
    let other = args.get(1).and_then(of);
    Ok((one(name, args)?, other.ok_or_else(|| no_overload(name))?))
}

fn text(args: &[Value]) -> Result<&str, ExecutionError> {
    match args {
        [Value::String(text)] => Ok(text),
        _ => Err(no_overload(NAME)),
    }
}

fn arithmetic(
    name: &str,
    args: &[Value],
    operation: fn(i128, i128) -> Option<i128>,
) -> Result<Value, ExecutionError> {
    let (a, b) = two(name, args)?;
    let result =
        operation(a.0, b.0).ok_or_else(|| ExecutionError::function_error(name, "overflow"))?;
    Ok(value(Quantity(result)))
}

pub(super) fn extend(env: &mut Env) -> Result<(), DeclarationError> {
    let quantity = || Type::new_opaque_type(NAME);
    env.add_overload("isQuantity", "isQuantity", vec![STRING_TYPE], |args| {
        call(&args, |args| Ok(Quantity::parse(text(args)?).is_some().into()))
    })?;
    env.add_overload("quantity", "quantity", vec![STRING_TYPE], |args| {
        call(&args, |args| {
            let invalid = || ExecutionError::function_error("quantity", "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'");
            Ok(value(Quantity::parse(text(args)?).ok_or_else(invalid)?))
        })
    })?;
    let unary: &[(&str, Function)] = &[
        ("isInteger", |args| {
            call(&args, |args| Ok(one("isInteger", args)?.integer().is_some().into()))
        }),
        ("asInteger", |args| {
            call(&args, |args| {
                let integer = one("asInteger", args)?.integer();
                let error = || {
                    ExecutionError::function_error("asInteger", "cannot convert value to integer")
                };
                Ok(Value::Int(integer.ok_or_else(error)?))
            })
        }),
        ("asApproximateFloat", |args| {
            call(&args, |args| Ok(Value::Float(one("asApproximateFloat", args)?.float())))
        }),
        ("sign", |args| {
            call(&args, |args| Ok(Value::Int(i64::from(one("sign", args)?.0.signum() as i8))))
        }),
    ];
    for (name, function) in unary {
        env.add_member_overload(name, name, quantity(), Vec::new(), *function)?;
    }
    let binary: &[(&str, Function)] = &[
        ("isGreaterThan", |args| {
            call(&args, |args| two("isGreaterThan", args).map(|(a, b)| (a.0 > b.0).into()))
        }),
        ("isLessThan", |args| {
            call(&args, |args| two("isLessThan", args).map(|(a, b)| (a.0 < b.0).into()))
        }),
        ("compareTo", |args| {
            call(&args, |args| {
                two("compareTo", args).map(|(a, b)| Value::Int(a.0.cmp(&b.0) as i64))
            })
        }),
    ];
    for (name, function) in binary {
        env.add_member_overload(name, name, quantity(), vec![quantity()], *function)?;
    }
    let sums: &[(&str, Function)] = &[
        ("add", |args| call(&args, |args| arithmetic("add", args, i128::checked_add))),
        ("sub", |args| call(&args, |args| arithmetic("sub", args, i128::checked_sub))),
    ];
    for (name, function) in sums {
        env.add_member_overload(name, name, quantity(), vec![quantity()], *function)?;
        env.add_member_overload(
            name,
            &format!("{name}(int)"),
            quantity(),
            vec![INT_TYPE],
            *function,
        )?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_are_exact() {
        for (text, expected) in [
            ("1", Some(UNIT)),
            ("1.5", Some(UNIT * 3 / 2)),
            (".5", Some(UNIT / 2)),
            ("5.", Some(UNIT * 5)),
            ("250m", Some(UNIT / 4)),
            ("1Ki", Some(1024 * UNIT)),
            ("1.5Gi", Some((3 * UNIT) << 29)),
            ("1e3", Some(1000 * UNIT)),
            ("1E", Some(UNIT * 1_000_000_000_000_000_000)),
            ("12E-1", Some(UNIT * 12 / 10)),
            ("-1n", Some(-1)),
            ("0.1n", Some(1)),
            ("", None),
            ("Mi", None),
            ("1 Mi", None),
            ("1.2.3", None),
            ("1KI", None),
            ("1e", None),
            ("1e999", None),
            ("0e999", Some(0)),
        ] {
            assert_eq!(Quantity::parse(text), expected.map(Quantity), "{text}");
        }
    }
}
