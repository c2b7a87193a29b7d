//! The field order of `krm cfg fmt` and kustomize's `cfg fmt`, on resources with shuffled fields.

use std::fs;
use std::path::{Path, PathBuf};

use krm_core::format::{FormatOptions, format};
use krm_yaml::{File, Value};

use super::is_equal;
use crate::{TaskResult, shell};

/// Compares the field order file by file and prints the files that differ.
pub(super) fn run(kustomize: &Path, files: &[PathBuf]) -> TaskResult {
    let shuffled = shell::target().join("differential-fmt.yaml");
    let (mut same, mut rejected, mut count) = (0, 0, 0);
    for path in files {
        let Ok(text) = fs::read_to_string(path) else { continue };
        let Some(text) = shuffled_json(&File::parse(text)?, count as u64) else { continue };
        fs::write(&shuffled, &text)?;
        count += 1;
        let mut command = shell::program(kustomize);
        command.args(["cfg", "fmt"]).stdin(fs::File::open(&shuffled)?);
        let Ok(theirs) = shell::output(&mut command) else {
            rejected += 1;
            continue;
        };
        let file = File::parse(text.clone())?;
        let formatted = format(&file, FormatOptions::default())
            .map_err(|diagnostics| diagnostics[0].message().to_owned())?;
        match is_same(&formatted.text.unwrap_or(text), &theirs)? {
            true => same += 1,
            false => println!("  differs: {}", path.display()),
        }
    }
    println!(
        "formatting: {same} of {count} files have the same fields in the same order, kustomize rejects {rejected}"
    );
    Ok(())
}

/// The documents of a file as JSON, one per line, with the fields of every mapping shuffled; `None` for a file that cannot
/// be read or contains no resources.
fn shuffled_json(file: &File, seed: u64) -> Option<String> {
    let mut random = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut text = String::new();
    for document in file.documents() {
        let mut value = document.root()?.to_value().ok()?;
        // kustomize unwraps lists that it reads from stdin.
        let is_resource = |value: &Value<'_>| matches!(value, Value::Mapping(entries) if entries.iter().any(|(key, _)| is(key, "kind")));
        if !is_resource(&value) || value_at(&value, "items").is_some() {
            return None;
        }
        shuffle(&mut value, &mut random);
        text.push_str(&format!("---\n{}\n", krm_core::print::json::display(&value)));
    }
    (!text.is_empty()).then_some(text)
}

fn is(key: &Value<'_>, name: &str) -> bool {
    matches!(key, Value::String(text) if text == name)
}

fn value_at<'v>(value: &'v Value<'v>, name: &str) -> Option<&'v Value<'v>> {
    let Value::Mapping(entries) = value else { return None };
    entries.iter().find(|(key, _)| is(key, name)).map(|(_, value)| value)
}

/// Shuffles the fields of all mappings, deterministically.
fn shuffle(value: &mut Value<'_>, random: &mut u64) {
    match value {
        Value::Mapping(entries) => {
            for at in (1..entries.len()).rev() {
                *random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                entries.swap(at, (*random >> 33) as usize % (at + 1));
            }
            entries.iter_mut().for_each(|(_, value)| shuffle(value, random));
        }
        Value::Sequence(items) => items.iter_mut().for_each(|item| shuffle(item, random)),
        _ => {}
    }
}

/// Whether two texts contain the same documents with their fields in the same order.
fn is_same(ours: &str, theirs: &str) -> TaskResult<bool> {
    let (ours, theirs) = (File::parse(ours.to_owned())?, File::parse(theirs.to_owned())?);
    if ours.documents().len() != theirs.documents().len() {
        return Ok(false);
    }
    Ok(ours.documents().zip(theirs.documents()).all(|(ours, theirs)| {
        let (Some(ours), Some(theirs)) = (ours.root(), theirs.root()) else { return false };
        match (ours.to_value(), theirs.to_value()) {
            (Ok(ours), Ok(theirs)) => is_equal(&ours, &theirs),
            _ => false,
        }
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn field_order_matters() {
        assert!(is_same("{a: 1, b: 2}", "a: 1\nb: 2\n").unwrap());
        assert!(!is_same("{b: 2, a: 1}", "a: 1\nb: 2\n").unwrap());
    }

    #[test]
    fn shuffling_is_deterministic() {
        let text = "kind: A\na: 1\nb: 2\nc: {d: 1, e: 2, f: 3}\n";
        let file = File::parse(text.to_owned()).unwrap();
        let [first, second] = [shuffled_json(&file, 1), shuffled_json(&file, 1)];
        assert_eq!(first, second);
        assert_ne!(first, shuffled_json(&file, 2));
    }
}
