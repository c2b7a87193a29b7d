//! Conflicts as values: what both sides changed, and where.

use std::fmt;

use krm_yaml::{File, NodeRef, Value};

use super::options::Side;
use crate::merge::kinds::{MergeKind, Resolution};
use crate::print::json;
use crate::{Diagnostic, Location};

/// What both sides did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConflictKind {
    /// Both sides changed it.
    Changed,
    /// Both sides added it.
    Added,
    /// Local deleted it, upstream changed it.
    DeletedLocally,
    /// Upstream deleted it, local changed it.
    DeletedUpstream,
    /// It is null on one side, which clears the value of the other.
    Null,
    /// Both sides changed the comment.
    Comment,
    /// Both sides changed the order.
    Order,
    /// Both sides moved it to different files.
    Moved,
}

impl ConflictKind {
    /// The name in `-o json`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Changed => "changed",
            Self::Added => "added",
            Self::DeletedLocally => "deleted-locally",
            Self::DeletedUpstream => "deleted-upstream",
            Self::Null => "null",
            Self::Comment => "comment",
            Self::Order => "order",
            Self::Moved => "moved",
        }
    }
}

impl fmt::Display for ConflictKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Changed => "was changed on both sides",
            Self::Added => "was added on both sides",
            Self::DeletedLocally => "was deleted locally and changed upstream",
            Self::DeletedUpstream => "was changed locally and deleted upstream",
            Self::Null => "is null on one side and has a value on the other",
            Self::Comment => "has a comment that was changed on both sides",
            Self::Order => "was reordered on both sides",
            Self::Moved => "was moved to different files on both sides",
        })
    }
}

/// Where one side of a conflict is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConflictLocation {
    /// The display name of the file.
    pub file: String,
    /// Line and column, and the line itself.
    pub location: Location,
}

/// Both sides changed the same thing differently, or one deleted what the other changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conflict {
    /// A short id, which is the same in every merge that has this conflict.
    pub id: String,
    /// The resource, such as `Deployment shop/web`; empty where the document is none.
    pub resource: String,
    /// The path of the field in the document.
    pub path: String,
    /// What both sides did.
    pub kind: ConflictKind,
    /// The value of base as JSON, where it has one.
    pub base: Option<String>,
    /// The value of local as JSON, where it has one.
    pub local: Option<String>,
    /// The value of upstream as JSON, where it has one.
    pub upstream: Option<String>,
    /// Where local's value is, or the collection that would contain it.
    pub local_at: Option<ConflictLocation>,
    /// Where upstream's value is, or the collection that would contain it.
    pub upstream_at: Option<ConflictLocation>,
    /// Whose version was taken.
    pub taken: Side,
    /// Whether the other version is in a conflict marker.
    pub is_marked: bool,
    /// The path of the file in the package that it is a conflict of.
    pub file: String,
    /// Upstream's document as it is written, where local has none.
    pub text: Option<String>,
    /// Whether the values are of a Secret and must be masked.
    pub is_secret: bool,
}

/// Longer values are cut in messages.
const MAX_CHARS: usize = 60;

impl Conflict {
    /// The conflict as a warning at local's location, with both values as notes.
    pub fn to_diagnostic(&self, resolution: Resolution) -> Diagnostic {
        let [local, upstream] =
            [&self.local, &self.upstream].map(|value| self.display_value(value));
        let subject = match (&*self.path, &*self.resource) {
            ("", "") => "the document".to_owned(),
            ("", resource) => resource.to_owned(),
            (path, _) => format!("`{path}`"),
        };
        let kind = MergeKind::Conflict { subject, change: self.kind, resolution };
        let mut warning = Diagnostic::warning(kind).field(self.path.as_str());
        warning.resource = (!self.resource.is_empty()).then(|| self.resource.as_str().into());
        if let Some(at) = &self.local_at {
            warning = warning.in_file(at.file.as_str());
            // The source line of a Secret would show its value.
            warning.location = (!self.is_secret).then(|| Box::new(at.location.clone()));
        }
        let suffix = |at: &Option<ConflictLocation>| match at {
            Some(at) => format!(" ({}:{}:{})", at.file, at.location.line, at.location.column),
            None => String::new(),
        };
        let here = if self.is_secret { suffix(&self.local_at) } else { String::new() };
        let there = suffix(&self.upstream_at);
        warning.note(format!("local: {local}{here}")).note(format!("upstream: {upstream}{there}"))
    }

    /// What the merge did about the conflict.
    pub fn resolution(&self) -> Resolution {
        match (self.taken, self.is_marked) {
            (_, true) => Resolution::Marked,
            (Side::Local, _) => Resolution::KeptLocal,
            (Side::Upstream, _) => Resolution::TookUpstream,
        }
    }

    fn display_value(&self, value: &Option<String>) -> String {
        match value {
            None => "not set".to_owned(),
            Some(_) if self.is_secret => "***".to_owned(),
            Some(value) if value.chars().count() > MAX_CHARS => {
                format!("{}…", value.chars().take(MAX_CHARS).collect::<String>())
            }
            Some(value) => value.clone(),
        }
    }

    /// The conflict as one JSON object on one line.
    pub fn to_json(&self) -> String {
        let text = json::string;
        let mut entries = vec![("id", text(&self.id))];
        if !self.resource.is_empty() {
            entries.push(("resource", text(&self.resource)));
        }
        entries.push(("path", text(&self.path)));
        entries.push(("kind", text(self.kind.name())));
        let values = [("base", &self.base), ("local", &self.local), ("upstream", &self.upstream)];
        for (name, value) in values {
            let Some(value) = value else { continue };
            entries.push((name, if self.is_secret { text("***") } else { as_json(value) }));
        }
        for (name, at) in [("localAt", &self.local_at), ("upstreamAt", &self.upstream_at)] {
            entries.extend(at.as_ref().map(|at| (name, json::display(&location_value(at)))));
        }
        let taken = if self.taken == Side::Local { "local" } else { "upstream" };
        entries.push(("taken", text(taken)));
        let entries: Vec<String> =
            entries.iter().map(|(name, value)| format!("\"{name}\":{value}")).collect();
        format!("{{{}}}", entries.join(","))
    }
}

fn location_value(at: &ConflictLocation) -> Value<'_> {
    Value::Mapping(vec![
        (Value::from("file"), Value::string(at.file.as_str())),
        (Value::from("line"), Value::int(at.location.line.into())),
        (Value::from("column"), Value::int(at.location.column.into())),
    ])
}

/// The location of a node in a file.
pub(crate) fn location_of(node: NodeRef<'_>, file: &str) -> ConflictLocation {
    let location = Location::of(node.document().file(), node.full_span());
    ConflictLocation { file: file.to_owned(), location }
}

/// A value as JSON, or as a string if JSON does not have it.
fn as_json(value: &str) -> String {
    let file = File::parse(value.to_owned()).ok();
    let root = file.as_ref().and_then(|file| file.document(0)?.root());
    root.and_then(|root| json::write(&Value::Node(root)).ok())
        .unwrap_or_else(|| json::string(value))
}

/// The value of a node in flow style on one line.
pub(super) fn value_as_json(node: NodeRef<'_>) -> String {
    json::display(&Value::Node(node.resolve()))
}

/// A short id for a conflict: FNV-1a of the resource, the path and the kind. Written here instead of taken from a crate, because the ids
/// are in files of users, and no update of a dependency may change them.
pub(crate) fn conflict_id(resource: &str, path: &str, kind: ConflictKind) -> String {
    let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
    for part in [resource, path, kind.name()] {
        for byte in part.bytes().chain([0]) {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
    format!("{:08x}", (hash ^ (hash >> 32)) as u32)
}
