//! Reading the values of many setters from a file: a mapping from names to values, or lines `NAME=VALUE`.

use krm_yaml::{File, NodeRef};

use super::definition::scalar_elements;
use super::kinds::SetterKind;
use super::mapping_entries;
use crate::Diagnostic;
use crate::diagnostics::CommonKind;
use crate::model::resource::{field, scalar_text};

/// Names and values, in the order of the file.
pub type NamedValues = Vec<(String, Vec<String>)>;

/// Reads values from YAML or JSON (a mapping, or the `data` of a ConfigMap), or from lines of environment variables.
///
/// ```
/// use krm_core::setters::read_values;
/// use krm_yaml::File;
///
/// let yaml = File::parse("replicas: 5\nargs: [a, b]\n".to_owned())?;
/// let read = read_values(&yaml, false).expect("a mapping");
/// assert_eq!(read, [("replicas".to_owned(), vec!["5".to_owned()]), ("args".to_owned(), vec!["a".to_owned(), "b".to_owned()])]);
///
/// let env = File::parse("# release\nreplicas=5\nexport tag='1.0'\n".to_owned())?;
/// assert_eq!(read_values(&env, false).expect("lines NAME=VALUE")[1].1, ["1.0"]);
/// # Ok::<(), krm_yaml::ReadError>(())
/// ```
pub fn read_values(file: &File, is_env: bool) -> Result<NamedValues, Diagnostic> {
    let root = file.document(0).and_then(|document| document.root());
    let mapping = root.filter(|root| root.as_mapping().is_some() && !is_env);
    match mapping {
        Some(root) => from_mapping(file, root),
        None => from_lines(file.text()).ok_or_else(|| match file.errors().next() {
            Some(error) if !is_env => Diagnostic::from_syntax(error, file),
            _ => Diagnostic::error(SetterKind::ValuesFileFormat),
        }),
    }
}

fn from_mapping(file: &File, root: NodeRef<'_>) -> Result<NamedValues, Diagnostic> {
    let is_map = field(root, "kind").and_then(scalar_text).is_some_and(|kind| kind == "ConfigMap");
    let data = if is_map { field(root, "data").unwrap_or(root) } else { root };
    let mut values = Vec::new();
    for entry in mapping_entries(data) {
        let name = scalar_text(entry.key).unwrap_or_default().into_owned();
        let value = entry.value.resolve();
        let is_flat = value.children().all(|item| item.resolve().as_scalar().is_some());
        values.push((
            name.clone(),
            match (value.as_scalar(), value.as_sequence()) {
                (Some(scalar), _) => vec![scalar.value().into_owned()],
                (None, Some(list)) if is_flat => scalar_elements(list.node()),
                _ => {
                    let expected = format!("a scalar or a sequence of scalars for `{name}`");
                    let kind = CommonKind::wrong_type(expected, value);
                    return Err(Diagnostic::error(kind).at(file, entry.value.full_span()));
                }
            },
        ));
    }
    Ok(values)
}

/// Lines `NAME=VALUE`. Comments and empty lines are skipped, and quotes around a value are removed.
fn from_lines(text: &str) -> Option<NamedValues> {
    let mut values = Vec::new();
    for line in
        text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'))
    {
        let line = line.strip_prefix("export ").unwrap_or(line);
        let (name, value) = line.split_once('=')?;
        if name.trim().is_empty() || name.trim().contains(char::is_whitespace) {
            return None;
        }
        values.push((name.trim().to_owned(), vec![unquoted(value.trim()).to_owned()]));
    }
    Some(values)
}

fn unquoted(value: &str) -> &str {
    let quoted = |quote: char| value.strip_prefix(quote)?.strip_suffix(quote);
    quoted('"').or_else(|| quoted('\'')).unwrap_or(value)
}
