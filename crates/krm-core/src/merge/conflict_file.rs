//! The file `.krm-conflicts.yaml`: conflicts that no comment in the file itself can mark, until a user resolves them.
//!
//! There is no line to mark where one side deleted a resource, where both moved it, in JSON, in flow style on one line, and in files that
//! are not YAML.

use krm_yaml::{File, NodeRef, Value};

use super::kinds::MergeKind;
use super::node::{Conflict, ConflictKind, Side};
use crate::model::resource::{field, scalar_text};
use crate::print::json;
use crate::{Diagnostic, PackagePath};

/// The name of the file, beside the files whose conflicts it records.
pub const CONFLICT_FILE: &str = ".krm-conflicts.yaml";

const HEADER: &str = "\
# Conflicts of a merge that cannot be marked in the files themselves.
# Resolve them with `krm cfg merge3 --to DIR --resolve local|upstream` or `krm yaml merge3 --resolve local|upstream FILE`.
conflicts:
";

/// The recorded conflicts of the files of one directory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ConflictFile {
    pub(super) records: Vec<ConflictRecord>,
}

/// One recorded conflict. Values are JSON.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ConflictRecord {
    pub(super) id: String,
    /// The name of the file, in the directory of the record.
    pub(super) file: String,
    /// The label of the resource; empty for a document that is none.
    pub(super) resource: String,
    /// The path of the field; empty for the whole resource.
    pub(super) path: String,
    pub(super) kind: String,
    pub(super) taken: Side,
    pub(super) local: Option<String>,
    pub(super) upstream: Option<String>,
    /// Upstream's document as it is written, where local has none.
    pub(super) text: Option<String>,
}

impl ConflictRecord {
    fn new(conflict: &Conflict, file: &str) -> Self {
        Self {
            id: conflict.id.clone(),
            file: file.to_owned(),
            resource: conflict.resource.clone(),
            path: conflict.path.clone(),
            kind: conflict.kind.name().to_owned(),
            taken: taken_when_recorded(conflict),
            local: conflict.local.clone(),
            upstream: conflict.upstream.clone(),
            text: conflict.text.clone(),
        }
    }

    /// Whether the file is not YAML and merged as a whole.
    pub(super) fn is_whole_file(&self) -> bool {
        self.resource.is_empty() && !PackagePath::is_manifest_name(&self.file)
    }

    pub(super) fn is_move(&self) -> bool {
        self.kind == ConflictKind::Moved.name()
    }

    /// Whether the values are not those of the field: the order of a list, or a comment.
    pub(super) fn is_about_layout(&self) -> bool {
        [ConflictKind::Order, ConflictKind::Comment].iter().any(|kind| kind.name() == self.kind)
    }

    /// The value of a side, as JSON.
    pub(super) fn value(&self, side: Side) -> Option<&str> {
        match side {
            Side::Local => self.local.as_deref(),
            Side::Upstream => self.upstream.as_deref(),
        }
    }

    /// What the conflict is about, for messages.
    pub(super) fn subject(&self) -> String {
        let name = match (&*self.path, &*self.resource) {
            ("", "") => "the document",
            ("", resource) => resource,
            (path, _) => path,
        };
        format!("`{name}` in {}", self.file)
    }

    fn write(&self) -> String {
        let quoted = json::string;
        let taken = if self.taken == Side::Local { "local" } else { "upstream" };
        let mut lines = vec![
            format!("- id: {}", quoted(&self.id)),
            format!("  file: {}", quoted(&self.file)),
            format!("  resource: {}", quoted(&self.resource)),
            format!("  path: {}", quoted(&self.path)),
            format!("  kind: {}", self.kind),
            format!("  taken: {taken}"),
        ];
        let values = [("local", &self.local), ("upstream", &self.upstream)];
        let values = values.into_iter().filter_map(|(name, value)| Some((name, value.as_ref()?)));
        lines.extend(values.map(|(name, value)| format!("  {name}: {value}")));
        lines.extend(self.text.as_ref().map(|text| format!("  text: {}", quoted(text))));
        lines.into_iter().map(|line| line + "\n").collect()
    }

    fn parse(node: NodeRef<'_>) -> Self {
        let string = |name| field(node, name).and_then(scalar_text).map(|it| it.into_owned());
        let value = |name| field(node, name).map(|node| json::display(&Value::Node(node)));
        let taken = match string("taken").as_deref() {
            Some("local") => Side::Local,
            _ => Side::Upstream,
        };
        Self {
            id: string("id").unwrap_or_default(),
            file: string("file").unwrap_or_default(),
            resource: string("resource").unwrap_or_default(),
            path: string("path").unwrap_or_default(),
            kind: string("kind").unwrap_or_default(),
            taken,
            local: value("local"),
            upstream: value("upstream"),
            text: string("text"),
        }
    }
}

impl ConflictFile {
    /// The records of a file.
    pub fn parse(file: &File) -> Self {
        let records = nodes(file).into_iter().map(ConflictRecord::parse).collect();
        Self { records }
    }

    /// Records a conflict of a file in the same directory.
    pub fn add(&mut self, conflict: &Conflict, file: &str) {
        let record = ConflictRecord::new(conflict, file);
        self.records.retain(|old| (&old.id, &old.file) != (&record.id, &record.file));
        self.records.push(record);
    }

    /// The names of the files that have conflicts.
    pub fn files(&self) -> impl Iterator<Item = &str> {
        self.records.iter().map(|record| record.file.as_str())
    }

    /// Splits off the records of one file.
    #[must_use]
    pub fn split_off(&mut self, file: &str) -> Self {
        let (records, rest) = self.records.drain(..).partition(|record| record.file == file);
        self.records = rest;
        Self { records }
    }

    /// Whether there is no record.
    pub fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    /// The text of the file; `None` where nothing is left to record.
    pub fn to_text(&self) -> Option<String> {
        let records: String = self.records.iter().map(ConflictRecord::write).collect();
        (!self.is_empty()).then(|| format!("{HEADER}{records}"))
    }

    /// An error for each record in a file with this name; with `only`, for the records of that file.
    pub fn unresolved(file: &File, name: &str, only: Option<&str>) -> Vec<Diagnostic> {
        let records = nodes(file).into_iter().map(|node| (node, ConflictRecord::parse(node)));
        let records = records.filter(|(_, record)| only.is_none_or(|only| only == record.file));
        let error = |(node, record): (NodeRef<'_>, ConflictRecord)| {
            let kind = MergeKind::UnresolvedConflict { subject: record.subject() };
            Diagnostic::error(kind).in_file(name).at(file, node.full_span())
        };
        records.map(error).collect()
    }
}

/// Whose version the file has. What upstream deleted or cleared is kept where conflicts are marked, until the user decides.
fn taken_when_recorded(conflict: &Conflict) -> Side {
    match conflict.kind.name() {
        "deleted-upstream" | "null" => Side::Local,
        _ => conflict.taken,
    }
}

fn nodes(file: &File) -> Vec<NodeRef<'_>> {
    let root = file.document(0).and_then(|document| document.root());
    let list = root.and_then(|root| field(root, "conflicts"));
    list.and_then(NodeRef::as_sequence).map(|list| list.items().collect()).unwrap_or_default()
}
