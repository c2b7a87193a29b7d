//! The functionConfig that a person names: the one object of a file, or words of the command line.

use krm_core::Diagnostic;
use krm_core::functions::resource_list::Item;
use krm_core::print::source_text;
use krm_yaml::{Edit, File, NodeRef, Path, ReadOptions, Value};

use crate::disk;

/// What people call a functionConfig that stands in no file.
pub(super) const NO_FILE: &str = "functionConfig";

/// An error about the functionConfig, in its file; any other stays as it is.
pub(super) fn placed(told: Diagnostic, file: &str) -> Diagnostic {
    match (&told.location, &told.file) {
        (Some(_), None) => told.in_file(file),
        _ => told,
    }
}

/// The text of the one object in a file.
pub(crate) fn text(name: &str) -> Result<String, Diagnostic> {
    object(name, |object| {
        Ok(source_text::ensure_trailing_newline(source_text::texts(&[object]).concat()))
    })
}

/// The one object in a file.
fn object<T>(
    name: &str,
    read: impl Fn(NodeRef<'_>) -> Result<T, Diagnostic>,
) -> Result<T, Diagnostic> {
    let file = disk::parse(name, ReadOptions::default())?;
    if let Some(error) = file.errors().next() {
        return Err(Diagnostic::from_syntax(error, &file).in_file(disk::display_name(name)));
    }
    let roots = file.documents().filter_map(|document| document.root());
    let objects: Vec<NodeRef<'_>> = roots.filter(|root| root.as_mapping().is_some()).collect();
    match objects.as_slice() {
        [object] => read(*object).map_err(|told| told.in_file(disk::display_name(name))),
        other => {
            let words =
                format!("one object is wanted as functionConfig, and there are {}", other.len());
            Err(Diagnostic::untyped_error(words).in_file(disk::display_name(name)))
        }
    }
}

/// The object of a file as a functionConfig.
pub(super) fn of_file(name: &str) -> Result<Item, Diagnostic> {
    object(name, |object| {
        let item = Item::from_node(object)?;
        match item.resource().name().is_empty() {
            // Compat: the words are kpt's.
            true => {
                let words = "this functionConfig has no name: resource must have `metadata.name`";
                Err(Diagnostic::untyped_error(words).at(item.file(), item.root().span()))
            }
            false => Ok(item),
        }
    })
}

/// Words of the command line as a functionConfig: pairs are the data of a `ConfigMap`; a first word without `=` is another kind.
pub(super) fn of_words(words: &[String]) -> Result<Option<Item>, Diagnostic> {
    let Some(first) = words.first() else { return Ok(None) };
    let (kind, pairs) = match first.contains('=') {
        true => ("ConfigMap", words),
        false => (first.as_str(), &words[1..]),
    };
    let mut data: Vec<(Value<'_>, Value<'_>)> = Vec::new();
    for word in pairs {
        let Some((key, value)) = word.split_once('=').filter(|(key, _)| !key.is_empty()) else {
            return Err(Diagnostic::untyped_error(format!("`{word}` is no KEY=VALUE")));
        };
        data.push((Value::string(key), Value::string(value)));
    }
    let head = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: function-input\n";
    let file = File::parse(head.to_owned()).map_err(|error| Diagnostic::from(&error))?;
    let document =
        file.document(0).ok_or_else(|| Diagnostic::untyped_error("there is no document"))?;
    let mut edit = Edit::new(&file);
    let told = |error: krm_yaml::EditError| Diagnostic::from_edit(&error, &file);
    edit.set_at(document, &Path::default().join("kind"), kind).map_err(told)?;
    if !data.is_empty() {
        edit.set_at(document, &Path::default().join("data"), Value::Mapping(data)).map_err(told)?;
    }
    let text = edit.apply().map_err(|error| Diagnostic::from_edit(&error, &file))?;
    Item::parse(text).map(Some)
}
