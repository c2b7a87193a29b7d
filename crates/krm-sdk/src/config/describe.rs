//! Types and values of a functionConfig in messages.

use krm_yaml::{NodeKind, NodeRef, ScalarType};

/// What fields belong to, in messages.
pub(super) const OWNER: &str = "the functionConfig";

/// An expected string, which quotes make of any scalar.
const STRING: &str = "a string";

/// The expectation of a serde visitor in terms of YAML. Serde reports it only as text, in terms of Rust.
pub(super) fn expected(serde: &str) -> String {
    let integer = |bits: u32, signed: bool| {
        let (low, high) = match signed {
            true => (-(1_i128 << (bits - 1)), (1_i128 << (bits - 1)) - 1),
            false => (0, (1_i128 << bits) - 1),
        };
        format!("an integer from {low} to {high}")
    };
    match serde {
        "i8" => integer(8, true),
        "i16" => integer(16, true),
        "i32" => integer(32, true),
        "u8" => integer(8, false),
        "u16" => integer(16, false),
        "u32" => integer(32, false),
        "u64" | "u128" | "usize" => "a non-negative integer".to_owned(),
        "i64" | "i128" | "isize" => "an integer".to_owned(),
        "f32" | "f64" => "a number".to_owned(),
        "a map" => "a mapping".to_owned(),
        "unit" => "null".to_owned(),
        it if it.starts_with("struct ") => "a mapping".to_owned(),
        it if it.starts_with("enum ") || it.contains("variant") => {
            "one of the allowed values".to_owned()
        }
        it if it.starts_with("tuple ") || it.starts_with("a tuple") => "a sequence".to_owned(),
        it => it.to_owned(),
    }
}

/// The type of a node, and the value of a scalar: "a sequence", "integer `5`".
pub(super) fn found(node: NodeRef<'_>) -> String {
    let node = node.resolve();
    let Some(scalar) = node.as_scalar() else {
        return match node.kind() {
            NodeKind::Sequence => "a sequence".to_owned(),
            _ => "a mapping".to_owned(),
        };
    };
    let name = match scalar.resolve() {
        ScalarType::Null => return "null".to_owned(),
        ScalarType::Bool(_) => "boolean",
        ScalarType::Int(_) => "integer",
        ScalarType::Float(_) => "number",
        ScalarType::String => "string",
    };
    format!("{name} `{}`", excerpt(node))
}

/// A hint for a scalar that reads as another type where a string is expected.
pub(super) fn quote_hint(expected: &str, node: NodeRef<'_>) -> Option<String> {
    let scalar = node.resolve().as_scalar().filter(|_| expected == STRING)?;
    let is_other = !matches!(scalar.resolve(), ScalarType::Null | ScalarType::String);
    is_other.then(|| "quote the value to make it a string".to_owned())
}

/// The beginning of a value, short enough for a message.
pub(super) fn excerpt(node: NodeRef<'_>) -> String {
    const MAX_CHARS: usize = 40;
    let text = match node.resolve().as_scalar() {
        Some(scalar) => scalar.value().into_owned(),
        None => node.text().to_owned(),
    };
    let line = text.lines().next().unwrap_or_default();
    match line.char_indices().nth(MAX_CHARS) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None if line.len() < text.trim_end().len() => format!("{line}…"),
        None => line.to_owned(),
    }
}

/// The allowed names: "`a`", "one of `a`, `b`".
pub(super) fn one_of(names: &[&str]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    match &quoted[..] {
        [only] => only.clone(),
        _ => format!("one of {}", quoted.join(", ")),
    }
}
