//! The fields of a functionConfig as environment variables and as command-line flags.

use krm_yaml::NodeRef;

use crate::Diagnostic;
use crate::model::resource::{field, scalar_text};
use crate::print::json;
use crate::print::source_text;

/// The fields of a functionConfig whose entries are passed on; later ones win.
const SECTIONS: [&str; 3] = ["metadata", "spec", "data"];
/// The variable with the whole functionConfig. Compat: kustomize's name.
const WHOLE_CONFIG: &str = "KUST_FUNCTION_CONFIG";

/// The fields of `metadata`, `spec` and `data` as environment variables: `replicas: 3` is `REPLICAS=3`. Sequences and mappings are JSON.
///
/// A functionConfig is data of a package, so it cannot set variables that decide which programs run: PATH, HOME, and those of the shell
/// and the dynamic loader are skipped.
///
/// ```
/// let text = "metadata: {name: web}\nspec:\n  replicas: 3\n  path: /evil\n  ports: [80]\ndata: {my-key.x: a}\n";
/// let file = krm_yaml::File::parse(text.to_owned())?;
/// let config = file.document(0).and_then(|it| it.root()).expect("the document has a root");
/// let variables = krm_core::functions::adapter::environment(config).map_err(|error| error.message().to_owned())?;
/// let names: Vec<String> = variables[1..].iter().map(|(name, value)| format!("{name}={value}")).collect();
/// assert_eq!(names, ["NAME=web", "REPLICAS=3", "PORTS=[80]", "MY_KEY_X=a"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// A collection has no JSON form.
pub fn environment(config: NodeRef<'_>) -> Result<Vec<(String, String)>, Diagnostic> {
    let mut all =
        vec![(WHOLE_CONFIG.to_owned(), source_text::end_line(source_text::text(config), config))];
    for (key, value) in fields(config)? {
        let name = variable_name(&key);
        if name.is_empty() || is_protected(&name) {
            continue;
        }
        all.retain(|(other, _)| *other != name);
        all.push((name, value));
    }
    // A NUL byte ends a variable.
    all.retain(|(_, value)| !value.contains('\0'));
    Ok(all)
}

/// The same fields as flags, `--replicas=3`, followed by the `items` of the functionConfig as arguments.
///
/// # Errors
/// A collection has no JSON form.
pub fn arguments(config: NodeRef<'_>) -> Result<Vec<String>, Diagnostic> {
    let mut flags: Vec<String> =
        fields(config)?.into_iter().map(|(key, value)| format!("--{key}={value}")).collect();
    let items = field(config, "items").and_then(NodeRef::as_sequence);
    for item in items.into_iter().flat_map(|items| items.items()) {
        flags.push(value_text(item)?);
    }
    Ok(flags)
}

fn fields(config: NodeRef<'_>) -> Result<Vec<(String, String)>, Diagnostic> {
    let parts = SECTIONS.iter().filter_map(|name| field(config, name)?.as_mapping());
    let entries = parts.flat_map(|part| part.entries());
    entries
        .filter_map(|it| Some((scalar_text(it.key)?.into_owned(), it.value)))
        .map(|(key, value)| Ok((key, value_text(value)?)))
        .collect()
}

/// A scalar as a string, and a collection as JSON.
fn value_text(node: NodeRef<'_>) -> Result<String, Diagnostic> {
    match node.resolve().as_scalar() {
        Some(scalar) => {
            Ok(scalar_text(node).map_or(String::new(), |_| scalar.value().into_owned()))
        }
        None => json::of_node(node.resolve()),
    }
}

/// The name of a variable: in upper case, with only the characters that shells allow.
fn variable_name(key: &str) -> String {
    let plain =
        key.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' });
    let name: String = plain.collect();
    if name.starts_with(|c: char| c.is_ascii_digit()) { format!("_{name}") } else { name }
}

fn is_protected(name: &str) -> bool {
    let protected = ["PATH", "HOME", "IFS", "BASH_ENV", "SHELLOPTS", "BASHOPTS", WHOLE_CONFIG];
    protected.contains(&name) || name.starts_with("LD_") || name.starts_with("DYLD_")
}

#[cfg(test)]
mod tests {
    use super::*;
    use krm_yaml::File;

    #[test]
    fn variables_that_select_programs_are_protected() {
        for key in ["path", "Home", "ld_preload", "LD-LIBRARY-PATH", "dyld_insert_libraries", "ifs"]
        {
            let file = File::parse(format!("spec: {{{key}: evil}}\n")).unwrap();
            let root = file.document(0).unwrap().root().unwrap();
            assert_eq!(environment(root).unwrap().len(), 1, "{key}");
        }
    }

    #[test]
    fn arguments_keep_values_unchanged() {
        let file = File::parse(
            "metadata: {name: a b}\nspec: {n: null, m: {x: 'y'}}\nitems: [one, 2]\n".to_owned(),
        )
        .unwrap();
        let root = file.document(0).unwrap().root().unwrap();
        assert_eq!(
            arguments(root).unwrap(),
            ["--name=a b", "--n=", "--m={\"x\":\"y\"}", "one", "2"]
        );
    }
}
