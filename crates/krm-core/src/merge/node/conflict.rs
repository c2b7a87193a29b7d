//! Conflicts as values: what both sides made of the same thing, and where.

use krm_yaml::{NodeRef, Value};

use super::rules::Side;
use crate::print::json;
use crate::{Diagnostic, Location};

/// What kind of a conflict it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConflictKind {
    /// Both sides changed it.
    Changed,
    /// Both sides added it.
    Added,
    /// Local deleted what upstream changed.
    DeletedLocally,
    /// Upstream deleted what local changed.
    DeletedUpstream,
    /// Both sides changed the comment.
    Comment,
    /// Both sides changed the order.
    Order,
    /// Both sides moved it to different files.
    Moved,
}

impl ConflictKind {
    /// The word for it, as lists for other programs spell it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Changed => "changed",
            Self::Added => "added",
            Self::DeletedLocally => "deleted-locally",
            Self::DeletedUpstream => "deleted-upstream",
            Self::Comment => "comment",
            Self::Order => "order",
            Self::Moved => "moved",
        }
    }

    fn sentence(self) -> &'static str {
        match self {
            Self::Changed => "was changed on both sides",
            Self::Added => "was added on both sides",
            Self::DeletedLocally => "was deleted locally and changed upstream",
            Self::DeletedUpstream => "was changed locally and deleted upstream",
            Self::Comment => "has a comment that was changed on both sides",
            Self::Order => "was reordered on both sides",
            Self::Moved => "was moved to different files on both sides",
        }
    }
}

/// Where one side of a conflict stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConflictPlace {
    /// The file, as people know it.
    pub file: String,
    /// Line and column, and the line itself.
    pub location: Location,
}

/// A place where both sides changed the same thing differently, or one deleted what the other changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conflict {
    /// A short name that stays the same as long as the conflict does.
    pub id: String,
    /// The resource, where one is merged: `Deployment shop/web`.
    pub resource: String,
    /// Where in the document.
    pub path: String,
    /// What kind of a conflict it is.
    pub kind: ConflictKind,
    /// The base's value as JSON; none where it has none.
    pub base: Option<String>,
    /// Local's value as JSON; none where it has none.
    pub local: Option<String>,
    /// Upstream's value as JSON; none where it has none.
    pub upstream: Option<String>,
    /// Where local's stands; where it has none, what holds the place.
    pub local_at: Option<ConflictPlace>,
    /// Where upstream's stands; where it has none, what holds the place.
    pub upstream_at: Option<ConflictPlace>,
    /// Whose was taken.
    pub taken: Side,
    /// Whether the other one is kept in a comment.
    pub is_marked: bool,
    /// Whether the values are of a Secret, and not for people's eyes.
    pub is_secret: bool,
}

/// Longer values are cut in what people read.
const MOST_SHOWN: usize = 60;

impl Conflict {
    /// The conflict in words, at local's place.
    pub fn to_diagnostic(&self) -> Diagnostic {
        let local = self.shown(&self.local);
        let upstream = self.shown(&self.upstream);
        let taken = match (self.taken, self.is_marked) {
            (_, true) => "local's stands in a comment",
            (Side::Local, _) => "local's was kept",
            (Side::Upstream, _) => "upstream's was taken",
        };
        let path = match (&*self.path, &*self.resource) {
            ("", "") => "the document".to_owned(),
            ("", resource) => resource.to_owned(),
            (path, _) => format!("`{path}`"),
        };
        let message = format!("{path} {}; {taken}", self.kind.sentence());
        let mut warning = Diagnostic::untyped_warning(message).field(self.path.as_str());
        warning.resource = (!self.resource.is_empty()).then(|| self.resource.as_str().into());
        if let Some(at) = &self.local_at {
            warning = warning.in_file(at.file.as_str());
            // The line of a Secret would show its value.
            warning.location = (!self.is_secret).then(|| Box::new(at.location.clone()));
        }
        let place = |at: &Option<ConflictPlace>| match at {
            Some(at) => format!(" ({}:{}:{})", at.file, at.location.line, at.location.column),
            None => String::new(),
        };
        let here = if self.is_secret { place(&self.local_at) } else { String::new() };
        let there = place(&self.upstream_at);
        warning.hint(format!("local: {local}{here}")).hint(format!("upstream: {upstream}{there}"))
    }

    fn shown(&self, value: &Option<String>) -> String {
        match value {
            None => "nothing".to_owned(),
            Some(_) if self.is_secret => "***".to_owned(),
            Some(value) if value.chars().count() > MOST_SHOWN => {
                format!("{}…", value.chars().take(MOST_SHOWN).collect::<String>())
            }
            Some(value) => value.clone(),
        }
    }

    /// The conflict as one JSON object on one line.
    pub fn to_json(&self) -> String {
        let text = |text: &str| json::write(&Value::from(text));
        let mut entries = vec![("id", text(&self.id))];
        if !self.resource.is_empty() {
            entries.push(("resource", text(&self.resource)));
        }
        entries.push(("path", text(&self.path)));
        entries.push(("kind", text(self.kind.name())));
        let values = [("base", &self.base), ("local", &self.local), ("upstream", &self.upstream)];
        for (name, value) in values {
            let Some(value) = value else { continue };
            entries.push((name, if self.is_secret { text("***") } else { value.clone() }));
        }
        for (name, at) in [("localAt", &self.local_at), ("upstreamAt", &self.upstream_at)] {
            entries.extend(at.as_ref().map(|at| (name, json::write(&place(at)))));
        }
        let taken = if self.taken == Side::Local { "local" } else { "upstream" };
        entries.push(("taken", text(taken)));
        let entries: Vec<String> =
            entries.iter().map(|(name, value)| format!("\"{name}\":{value}")).collect();
        format!("{{{}}}", entries.join(","))
    }
}

fn place(at: &ConflictPlace) -> Value<'_> {
    Value::Mapping(vec![
        (Value::from("file"), Value::string(at.file.as_str())),
        (Value::from("line"), Value::int(at.location.line.into())),
        (Value::from("column"), Value::int(at.location.column.into())),
    ])
}

/// The place of a node in a file.
pub(crate) fn place_of(node: NodeRef<'_>, file: &str) -> ConflictPlace {
    let location = Location::of(node.document().file(), node.full_span());
    ConflictPlace { file: file.to_owned(), location }
}

/// A node's value for people and programs.
pub(super) fn value_of(node: NodeRef<'_>) -> String {
    json::write(&Value::Node(node.resolve()))
}

/// A short name for what is at odds: the same for the same resource, path and kind.
pub(crate) fn id_of(resource: &str, path: &str, kind: ConflictKind) -> String {
    let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
    for part in [resource, path, kind.name()] {
        for byte in part.bytes().chain([0]) {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
    format!("{:08x}", (hash ^ (hash >> 32)) as u32)
}
