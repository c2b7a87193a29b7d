//! The functionConfig that a person names: the one object of a file, or words of the command line.

use krm_core::wire::Item;
use krm_core::{Diagnostic, subtree};
use krm_yaml::{Edit, File, NodeRef, Path, ReadOptions, Value};

use crate::disk;

/// Where a functionConfig stands: errors about it have lines of its own text.
#[derive(Clone, Debug)]
pub(super) struct Place {
    /// What people call its file.
    pub(super) file: String,
    /// How many lines come before it there.
    pub(super) lines: u32,
}

impl Default for Place {
    /// It stands in no file.
    fn default() -> Self {
        Self { file: "functionConfig".to_owned(), lines: 0 }
    }
}

impl Place {
    /// An error about the functionConfig, in its file; any other stays as it is.
    pub(super) fn put(&self, mut told: Diagnostic) -> Diagnostic {
        let Some(location) = told.location.as_mut().filter(|_| told.file.is_none()) else {
            return told;
        };
        location.line += self.lines;
        told.in_file(&*self.file)
    }
}

/// The text of the one object in a file.
pub(crate) fn text(name: &str) -> Result<String, Diagnostic> {
    placed(name).map(|(text, _)| text)
}

/// The same, with the line of the file that the object begins on.
fn placed(name: &str) -> Result<(String, u32), Diagnostic> {
    let file = disk::parse(name, ReadOptions::default())?;
    if let Some(error) = file.errors().next() {
        return Err(Diagnostic::from_syntax(error, &file).in_file(disk::shown(name)));
    }
    let roots = file.documents().filter_map(|document| document.root());
    let objects: Vec<NodeRef<'_>> = roots.filter(|root| root.as_mapping().is_some()).collect();
    match objects.as_slice() {
        [object] => {
            let text = subtree::end_line(subtree::texts(&[*object]).concat());
            Ok((text, object.position().line))
        }
        other => {
            let words =
                format!("one object is wanted as functionConfig, and there are {}", other.len());
            Err(Diagnostic::error(words).in_file(disk::shown(name)))
        }
    }
}

/// The object of a file as a functionConfig.
pub(super) fn of_file(name: &str) -> Result<(Item, Place), Diagnostic> {
    let file = disk::shown(name).to_owned();
    let (text, line) = placed(name)?;
    let item = Item::parse(text).map_err(|told| told.in_file(&*file))?;
    let lines = line.saturating_sub(item.root().position().line);
    Ok((item, Place { file, lines }))
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
            return Err(Diagnostic::error(format!("`{word}` is no KEY=VALUE")));
        };
        data.push((Value::string(key), Value::string(value)));
    }
    let head = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: function-input\n";
    let file = File::parse(head.to_owned()).map_err(|error| Diagnostic::from(&error))?;
    let document = file.document(0).ok_or_else(|| Diagnostic::error("there is no document"))?;
    let mut edit = Edit::new(&file);
    let told = |error: krm_yaml::PathEditError| Diagnostic::from_path_edit(&error, &file);
    edit.set_at(document, &Path::default().join("kind"), kind).map_err(told)?;
    if !data.is_empty() {
        edit.set_at(document, &Path::default().join("data"), Value::Mapping(data)).map_err(told)?;
    }
    let text = edit.apply().map_err(|error| Diagnostic::from_edit(&error, &file))?;
    Item::parse(text).map(Some)
}
