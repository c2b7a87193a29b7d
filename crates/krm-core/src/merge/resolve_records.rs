//! Resolves conflicts that are recorded in a `.krm-conflicts.yaml`: the other side's version is put into the file.

use std::collections::BTreeMap;

use krm_yaml::{Edit, EmptyParents, File, NodeRef, OwnedNode, Path, Value};

use super::conflict_file::{ConflictFile, ConflictRecord};
use super::kinds::MergeKind;
use super::node::Side;
use crate::files::arrangement::{Addition, Arrangement, InsertPosition, ResourcePosition};
use crate::model::resource::{Resource, resources};
use crate::print::source_text::lines;
use crate::{Diagnostic, PackagePath};

/// The texts of files by name, relative to the directory of the records, or to the package with a leading slash. `None` for a file that
/// does not exist.
pub type ResolvedFiles = BTreeMap<String, Option<String>>;

impl ConflictFile {
    /// Resolves all records for one side. `read` returns the text of a file, which may be missing.
    pub fn resolve(
        &self,
        side: Side,
        mut read: impl FnMut(&str) -> Result<Option<String>, Diagnostic>,
    ) -> Result<ResolvedFiles, Diagnostic> {
        let mut files = ResolvedFiles::new();
        for record in self.records.iter().filter(|record| record.taken != side) {
            if record.is_whole_file() {
                // Not read: it may be a binary file.
                files.insert(record.file.clone(), whole_file(record, side)?);
                continue;
            }
            // A resource moves to a path of the package, which is not relative to the records.
            let target = record.is_move().then(|| string_value(record, side)).flatten();
            let target = target.map(|target| format!("/{target}"));
            for name in [Some(&record.file), target.as_ref()].into_iter().flatten() {
                if !files.contains_key(name) {
                    files.insert(name.clone(), read(name)?);
                }
            }
            match target {
                Some(target) => move_resource(record, &target, &mut files)?,
                None => {
                    let text = files.remove(&record.file).flatten();
                    files.insert(record.file.clone(), resolve(record, side, text)?);
                }
            }
        }
        Ok(files)
    }
}

/// The new text of a file that is merged as a whole. That of a binary file is not recorded.
fn whole_file(record: &ConflictRecord, side: Side) -> Result<Option<String>, Diagnostic> {
    match (record.value(side), &record.text) {
        (None, _) => Ok(None),
        (Some(_), Some(text)) => Ok(Some(text.clone())),
        (Some(_), None) => Err(stale(record)),
    }
}

/// The new text of the file of a record.
fn resolve(
    record: &ConflictRecord,
    side: Side,
    text: Option<String>,
) -> Result<Option<String>, Diagnostic> {
    if record.is_about_layout() {
        return Err(stale(record));
    }
    let is_json = PackagePath::is_json_name(&record.file);
    let file = parse(text.unwrap_or_default())?;
    let found = find(&file, record);
    match (&*record.path, record.value(side), found) {
        ("", Some(_), Some(_)) | ("", None, None) => Ok(Some(file.into_text())),
        ("", Some(_), None) => {
            let new = parse(record.text.clone().unwrap_or_default())?;
            let node = new.document(0).and_then(|document| document.root());
            let Some(node) = node else { return Err(stale(record)) };
            let added = vec![Addition { node, position: InsertPosition::AtEnd }];
            arrange(&file, &Arrangement { added, ..Arrangement::default() }, is_json)
        }
        ("", None, Some(resource)) => arrange(&file, &removal(resource), is_json),
        (path, value, Some(resource)) => {
            let path: Path = path.parse().map_err(|_| stale(record))?;
            let mut segments = path.segments().iter();
            let node = segments.try_fold(resource.node, |node, segment| node.step(segment));
            let node = node.ok_or_else(|| stale(record))?;
            set(&file, node, value, is_json).map(Some)
        }
        (_, _, None) => Err(stale(record)),
    }
}

/// Sets a field to a JSON value, or removes it.
fn set(
    file: &File,
    node: NodeRef<'_>,
    value: Option<&str>,
    is_json: bool,
) -> Result<String, Diagnostic> {
    let refused = |error: krm_yaml::EditError| Diagnostic::from_edit(&error, file);
    let mut edit = Edit::new(file).allow_shared(true).json(is_json);
    match value {
        Some(value) => {
            let value = OwnedNode::root(parse(format!("{value}\n"))?);
            edit.set(node, value.map_or(Value::Null, Value::OwnedNode)).map_err(refused)?;
        }
        None => edit.remove(node, EmptyParents::Keep).map_err(refused)?,
    }
    edit.apply().map_err(refused)
}

/// Moves a resource to another file.
fn move_resource(
    record: &ConflictRecord,
    target: &str,
    files: &mut ResolvedFiles,
) -> Result<(), Diagnostic> {
    let text = |files: &ResolvedFiles, name: &str| files.get(name).cloned().flatten();
    let file = parse(text(files, &record.file).unwrap_or_default())?;
    let resource = find(&file, record).ok_or_else(|| stale(record))?;
    let moved = lines(resource.node);
    let [source, new] = [&*record.file, target].map(PackagePath::is_json_name);
    let rest = arrange(&file, &removal(resource), source)?;
    let other = parse(text(files, target).unwrap_or_default())?;
    let moved = parse(moved)?;
    let node = moved.document(0).and_then(|document| document.root());
    let node = node.ok_or_else(|| stale(record))?;
    let added = vec![Addition { node, position: InsertPosition::AtEnd }];
    let other = arrange(&other, &Arrangement { added, ..Arrangement::default() }, new)?;
    files.insert(record.file.clone(), rest);
    files.insert(target.to_owned(), other);
    Ok(())
}

fn removal(resource: Resource<'_>) -> Arrangement<'static> {
    let removed = [ResourcePosition::of(resource.node, resource.item)].into();
    Arrangement { removed, ..Arrangement::default() }
}

fn arrange(
    file: &File,
    arrangement: &Arrangement<'_>,
    is_json: bool,
) -> Result<Option<String>, Diagnostic> {
    arrangement.apply(file, is_json).map_err(|error| Diagnostic::from_edit(&error, file))
}

/// The resource of a record; for a document that is none, the first one that is not a resource.
fn find<'a>(file: &'a File, record: &ConflictRecord) -> Option<Resource<'a>> {
    if record.resource.is_empty() {
        let roots = file.documents().filter_map(|document| document.root());
        let mut plain = roots.filter(|root| resources(root.document()).is_empty());
        return plain.next().map(|node| Resource { node, item: None });
    }
    file.documents().flat_map(resources).find(|resource| resource.label() == record.resource)
}

/// The value of a side as a string.
fn string_value(record: &ConflictRecord, side: Side) -> Option<String> {
    let value = parse(format!("{}\n", record.value(side)?)).ok()?;
    let root = value.document(0)?.root()?;
    root.as_str().map(|text| text.into_owned())
}

fn parse(text: String) -> Result<File, Diagnostic> {
    File::parse(text).map_err(|error| Diagnostic::from(&error))
}

fn stale(record: &ConflictRecord) -> Diagnostic {
    Diagnostic::error(MergeKind::StaleRecord { subject: record.subject() })
}
