//! The functionConfig of a command line: the object in a file, or KEY=VALUE arguments.

use krm_core::Diagnostic;
use krm_core::functions::resource_list::Item;
use krm_core::print::source_text;
use krm_yaml::{Edit, File, NodeRef, Path, ReadOptions, Value};

use super::kinds::FnCommandKind;
use crate::disk;

/// The file name for messages about a functionConfig that is not in a file.
pub(super) const NO_FILE: &str = "functionConfig";

/// Names the file of a diagnostic with a location but without a file, which is about the functionConfig.
pub(super) fn with_file(diagnostic: Diagnostic, file: &str) -> Diagnostic {
    match (&diagnostic.location, &diagnostic.file) {
        (Some(_), None) => diagnostic.in_file(file),
        _ => diagnostic,
    }
}

/// The text of the only object in a file.
pub(crate) fn text(name: &str) -> Result<String, Diagnostic> {
    object(name, |object| {
        Ok(source_text::ensure_trailing_newline(source_text::texts(&[object]).concat()))
    })
}

/// Reads the only object in a file.
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
        [object] => read(*object).map_err(|error| error.in_file(disk::display_name(name))),
        other => {
            let kind = FnCommandKind::FunctionConfigCount { found: other.len() };
            Err(Diagnostic::error(kind).in_file(disk::display_name(name)))
        }
    }
}

/// The only object in a file as functionConfig.
pub(super) fn from_file(name: &str) -> Result<Item, Diagnostic> {
    object(name, |object| {
        let item = Item::from_node(object)?;
        match item.resource().name().is_empty() {
            true => {
                let error = Diagnostic::error(FnCommandKind::FunctionConfigWithoutName);
                Err(error.at(item.file(), item.root().span()))
            }
            false => Ok(item),
        }
    })
}

/// Arguments as functionConfig: pairs are the data of a `ConfigMap`; a first argument without `=` is another kind.
pub(super) fn from_args(args: &[String]) -> Result<Option<Item>, Diagnostic> {
    let Some(first) = args.first() else { return Ok(None) };
    let (kind, pairs) = match first.contains('=') {
        true => ("ConfigMap", args),
        false => (first.as_str(), &args[1..]),
    };
    let mut data: Vec<(Value<'_>, Value<'_>)> = Vec::new();
    for pair in pairs {
        let Some((key, value)) = pair.split_once('=').filter(|(key, _)| !key.is_empty()) else {
            let text = pair.as_str().into();
            return Err(Diagnostic::error(FnCommandKind::InvalidPair { text }));
        };
        data.push((Value::string(key), Value::string(value)));
    }
    let head = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: function-input\n";
    let file = File::parse(head.to_owned()).map_err(|error| Diagnostic::from(&error))?;
    let empty = || Diagnostic::error(FnCommandKind::EmptyDocument { what: "the functionConfig" });
    let document = file.document(0).ok_or_else(empty)?;
    let mut edit = Edit::new(&file);
    let refused = |error: krm_yaml::EditError| Diagnostic::from_edit(&error, &file);
    edit.set_at(document, &Path::default().join("kind"), kind).map_err(refused)?;
    if !data.is_empty() {
        edit.set_at(document, &Path::default().join("data"), Value::Mapping(data))
            .map_err(refused)?;
    }
    let text = edit.apply().map_err(|error| Diagnostic::from_edit(&error, &file))?;
    Item::parse(text).map(Some)
}
