//! What a functionConfig says, as variables of the environment and as flags.

use krm_yaml::{NodeRef, Value};

use crate::model::resource::{field, scalar_text};
use crate::print::json;
use crate::print::source_text;

/// The parts of a functionConfig that are told; later ones count more.
const PARTS: [&str; 3] = ["metadata", "spec", "data"];
/// Compat: the whole of it, as kustomize called it.
const WHOLE: &str = "KUST_FUNCTION_CONFIG";

/// The fields of `metadata`, `spec` and `data` as variables: `replicas: 3` is `REPLICAS=3`. Lists and mappings are JSON.
///
/// What decides which programs run stays as it is: no field becomes PATH, HOME or a variable of the loader.
///
/// ```
/// let text = "metadata: {name: web}\nspec:\n  replicas: 3\n  path: /evil\n  ports: [80]\ndata: {my-key.x: a}\n";
/// let file = krm_yaml::File::parse(text.to_owned())?;
/// let config = file.document(0).and_then(|it| it.root()).expect("it is there");
/// let told = krm_core::functions::adapter::environment(config);
/// let names: Vec<String> = told[1..].iter().map(|(name, value)| format!("{name}={value}")).collect();
/// assert_eq!(names, ["NAME=web", "REPLICAS=3", "PORTS=[80]", "MY_KEY_X=a"]);
/// # Ok::<(), krm_yaml::ReadError>(())
/// ```
pub fn environment(config: NodeRef<'_>) -> Vec<(String, String)> {
    let mut all =
        vec![(WHOLE.to_owned(), source_text::ensure_trailing_newline(source_text::text(config)))];
    for (key, value) in fields(config) {
        let name = variable(&key);
        if name.is_empty() || is_guarded(&name) {
            continue;
        }
        all.retain(|(other, _)| *other != name);
        all.push((name, value));
    }
    // The system takes no such byte in a variable.
    all.retain(|(_, value)| !value.contains('\0'));
    all
}

/// The same as flags, `--replicas=3`, and the items of the functionConfig as words.
pub fn arguments(config: NodeRef<'_>) -> Vec<String> {
    let mut flags: Vec<String> =
        fields(config).into_iter().map(|(key, value)| format!("--{key}={value}")).collect();
    let items = field(config, "items").and_then(NodeRef::as_sequence);
    flags.extend(items.into_iter().flat_map(|items| items.items()).map(text));
    flags
}

fn fields(config: NodeRef<'_>) -> Vec<(String, String)> {
    let parts = PARTS.iter().filter_map(|name| field(config, name)?.as_mapping());
    let entries = parts.flat_map(|part| part.entries());
    entries.filter_map(|it| Some((scalar_text(it.key)?.into_owned(), text(it.value)))).collect()
}

/// A scalar as it reads, and JSON for what holds others.
fn text(node: NodeRef<'_>) -> String {
    match node.resolve().as_scalar() {
        Some(scalar) => scalar_text(node).map_or(String::new(), |_| scalar.value().into_owned()),
        None => json::write(&Value::Node(node.resolve())),
    }
}

/// Upper case, and only what a shell takes in a name.
fn variable(key: &str) -> String {
    let plain =
        key.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' });
    let name: String = plain.collect();
    if name.starts_with(|c: char| c.is_ascii_digit()) { format!("_{name}") } else { name }
}

fn is_guarded(name: &str) -> bool {
    let guarded = ["PATH", "HOME", "IFS", "BASH_ENV", "SHELLOPTS", "BASHOPTS", WHOLE];
    guarded.contains(&name) || name.starts_with("LD_") || name.starts_with("DYLD_")
}

#[cfg(test)]
mod tests {
    use super::*;
    use krm_yaml::File;

    #[test]
    fn what_decides_which_programs_run_stays() {
        for key in ["path", "Home", "ld_preload", "LD-LIBRARY-PATH", "dyld_insert_libraries", "ifs"]
        {
            let file = File::parse(format!("spec: {{{key}: evil}}\n")).unwrap();
            let root = file.document(0).unwrap().root().unwrap();
            assert_eq!(environment(root).len(), 1, "{key}");
        }
    }

    #[test]
    fn flags_keep_values_as_they_are() {
        let file = File::parse(
            "metadata: {name: a b}\nspec: {n: null, m: {x: 'y'}}\nitems: [one, 2]\n".to_owned(),
        )
        .unwrap();
        let root = file.document(0).unwrap().root().unwrap();
        assert_eq!(arguments(root), ["--name=a b", "--n=", "--m={\"x\":\"y\"}", "one", "2"]);
    }
}
