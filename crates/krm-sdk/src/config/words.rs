//! Types and values of a functionConfig as people call them.

use krm_yaml::{NodeKind, NodeRef, ScalarType};

/// What serde calls `wanted`, in words.
pub(super) fn wanted(serde: &str) -> String {
    let integer = |bits: u32, signed: bool| {
        let (low, high) = match signed {
            true => (-(1_i128 << (bits - 1)), (1_i128 << (bits - 1)) - 1),
            false => (0, (1_i128 << bits) - 1),
        };
        format!("a whole number from {low} to {high}")
    };
    match serde {
        "i8" => integer(8, true),
        "i16" => integer(16, true),
        "i32" => integer(32, true),
        "u8" => integer(8, false),
        "u16" => integer(16, false),
        "u32" => integer(32, false),
        "u64" | "u128" | "usize" => "a whole number from 0".to_owned(),
        "i64" | "i128" | "isize" => "a whole number".to_owned(),
        "f32" | "f64" => "a number".to_owned(),
        "a boolean" => "true or false".to_owned(),
        "a map" => "a mapping".to_owned(),
        "a sequence" => "a list".to_owned(),
        "unit" => "nothing".to_owned(),
        it if it.starts_with("struct ") => "a mapping".to_owned(),
        it if it.starts_with("enum ") || it.contains("variant") => {
            "one of the known values".to_owned()
        }
        it if it.starts_with("tuple ") || it.starts_with("a tuple") => "a list".to_owned(),
        it => it.to_owned(),
    }
}

/// What a node is: "`5` is an integer", "this is a list".
pub(super) fn there(node: NodeRef<'_>) -> String {
    let node = node.resolve();
    let Some(scalar) = node.as_scalar() else {
        return match node.kind() {
            NodeKind::Sequence => "this is a list".to_owned(),
            _ => "this is a mapping".to_owned(),
        };
    };
    let what = match scalar.resolve() {
        ScalarType::Null => return "nothing is there".to_owned(),
        ScalarType::Bool(_) => "a boolean",
        ScalarType::Int(_) => "an integer",
        ScalarType::Float(_) => "a number",
        ScalarType::String => "a string",
    };
    format!("`{}` is {what}", shown(node))
}

/// A value that reads as something else becomes text with quotes.
pub(super) fn quote_hint(wanted: &str, node: NodeRef<'_>) -> Option<String> {
    let scalar = node.resolve().as_scalar().filter(|_| wanted == "a string")?;
    let resolved = scalar.resolve();
    let is_other = !matches!(resolved, ScalarType::Null | ScalarType::String);
    is_other.then(|| format!("write `\"{}\"` to have it as text", scalar.value()))
}

/// A value as it is shown: the first words of a long one.
pub(super) fn shown(node: NodeRef<'_>) -> String {
    const MOST: usize = 40;
    let text = match node.resolve().as_scalar() {
        Some(scalar) => scalar.value().into_owned(),
        None => node.text().to_owned(),
    };
    let line = text.lines().next().unwrap_or_default();
    match line.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None if line.len() < text.trim_end().len() => format!("{line}…"),
        None => line.to_owned(),
    }
}

/// Names in a sentence.
pub(super) fn list(names: &[&str]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    match quoted.split_last() {
        Some((last, before)) if !before.is_empty() => format!("{} and {last}", before.join(", ")),
        _ => quoted.join(""),
    }
}
