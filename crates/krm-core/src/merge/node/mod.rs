//! Merges nodes, resources, documents and files: changes of one version become edits on the text of another.

mod anchors;
mod comments;
mod conflict;
mod delta;
mod diff3;
mod directives;
mod document_info;
mod documents;
mod footers;
mod incoming;
mod left_out_comments;
mod list_order;
mod load_schema;
mod lost_comments;
mod markers;
mod ops;
mod options;
mod sequence_plan;
mod state;
mod three_way;
mod three_way_deletions;
mod three_way_lists;
mod three_way_mappings;
mod three_way_nulls;
mod two_way;
mod two_way_lists;
mod two_way_mappings;

use std::borrow::Cow;

use krm_yaml::{Edit, NodeRef, OwnedNode, Path, Segment, Value};

pub use conflict::{Conflict, ConflictKind, ConflictLocation};
pub(super) use conflict::{conflict_id, location_of};
pub(super) use documents::delete_unnamed;
pub use documents::{MergedFile, NamedFile, merge_files, merge_files_three_way};
pub(super) use footers::{FooterChange, footer_change, write_footers};
pub(super) use left_out_comments::left_out_comments;
pub use load_schema::{load_schema, load_schema_file};
pub use markers::{
    ConflictMarker, MarkerContent, find_conflict_markers, resolve_conflicts, unresolved_conflicts,
};
pub use options::{MergeOptions, NewItems, Nulls, OnConflict, Restore, Sequences, Side};

use crate::Diagnostic;
use crate::compare::{CommentedEntry, Equality, is_equal, is_equal_option};
use crate::model::resource;
use document_info::DocumentInfos;
use state::MergeState;

/// One version of what is merged.
#[derive(Clone, Copy, Debug)]
pub struct Version<'a> {
    /// The root of a document, or a resource in it.
    pub node: NodeRef<'a>,
    /// The display name of its file.
    pub file: &'a str,
}

impl<'a> Version<'a> {
    /// A node of a file.
    pub fn new(node: NodeRef<'a>, file: &'a str) -> Self {
        Self { node, file }
    }
}

/// What the caller has to do with the destination as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MergeAction {
    /// Keep it, with the edits that were collected.
    Keep,
    /// Remove it.
    Remove,
    /// Insert the other version, because there is no destination.
    Insert,
}

/// A document of the source that the destination does not have.
#[derive(Debug)]
pub(super) enum NewDocument {
    /// It deletes itself (`$patch: delete`).
    Deleted,
    /// It is inserted as it is.
    Unchanged,
    /// It is inserted without directives and nulls.
    Pruned(OwnedNode),
}

impl NewDocument {
    /// The text of the whole document.
    fn into_text(self, version: Version<'_>) -> Option<Cow<'_, str>> {
        match self {
            Self::Deleted => None,
            Self::Unchanged => Some(Cow::Borrowed(version.node.document().text())),
            Self::Pruned(graft) => Some(Cow::Owned(graft.node().document().text().to_owned())),
        }
    }
}

/// The result of a merge.
#[derive(Debug)]
pub struct MergeReport {
    /// What to do with the destination as a whole.
    pub action: MergeAction,
    /// Where both sides changed the same thing.
    pub conflicts: Vec<Conflict>,
    /// Warnings.
    pub warnings: Vec<Diagnostic>,
}

impl MergeReport {
    fn new(action: MergeAction) -> Self {
        Self { action, conflicts: Vec::new(), warnings: Vec::new() }
    }
}

/// Merges nodes. Keep it for several nodes of the same documents: it caches what it knows about them.
///
/// ```
/// use krm_core::merge::{MergeOptions, Merger, Version};
/// use krm_yaml::{Edit, File};
///
/// let source = File::parse("spec:\n  replicas: 5\n".to_owned())?;
/// let destination = File::parse("spec:\n  replicas: 3 # for now\n  paused: true\n".to_owned())?;
/// let root = |file| Version::new(File::document(file, 0).unwrap().root().unwrap(), "x.yaml");
/// let mut edit = Edit::new(&destination).allow_shared(true);
/// Merger::new(&MergeOptions::default()).two_way(root(&source), root(&destination), &mut edit).unwrap();
/// assert_eq!(edit.apply()?, "spec:\n  replicas: 5 # for now\n  paused: true\n");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Merger<'a, 'r> {
    options: &'r MergeOptions<'r>,
    documents: DocumentInfos<'a>,
}

impl<'a, 'r> Merger<'a, 'r> {
    /// A merger with options.
    pub fn new(options: &'r MergeOptions<'r>) -> Self {
        Self { options, documents: DocumentInfos::default() }
    }

    /// Merges the source into the destination and collects the edits of the destination's file.
    ///
    /// The edit is made with [`Edit::allow_shared`], because shared anchors are checked here.
    pub fn two_way(
        &mut self,
        source: Version<'a>,
        destination: Version<'a>,
        edit: &mut Edit<'a>,
    ) -> Result<MergeReport, Diagnostic> {
        let mut state = MergeState::new(self.options, &self.documents, destination, source, None);
        let action = two_way::merge_root(&mut state, source.node, destination.node)?;
        if action == MergeAction::Keep {
            state.apply(edit)?;
        }
        Ok(state.report(action))
    }

    /// Merges the source into nodes inside of a document or resource, each with its path below `root`. The schema of `root` defines the
    /// merge keys of lists. Returns what becomes of each node.
    ///
    /// The edit is made with [`Edit::allow_shared`], because shared anchors are checked here.
    pub fn two_way_at(
        &mut self,
        source: Version<'a>,
        root: Version<'a>,
        destinations: &[(NodeRef<'a>, &Path)],
        edit: &mut Edit<'a>,
    ) -> Result<(Vec<MergeAction>, MergeReport), Diagnostic> {
        let mut state = MergeState::new(self.options, &self.documents, root, source, None);
        let mut actions = Vec::with_capacity(destinations.len());
        for (destination, path) in destinations {
            let schema = state.enter(*destination, path);
            let action = two_way::merge_below(&mut state, source.node, *destination, &schema)?;
            if action == MergeAction::Keep {
                state.apply(edit)?;
            }
            state.leave();
            actions.push(action);
        }
        Ok((actions, state.report(MergeAction::Keep)))
    }

    /// A value that the destination does not have, without nulls and directives; `None` where it deletes itself.
    pub fn new_value(&mut self, source: Version<'a>) -> Result<Option<Value<'a>>, Diagnostic> {
        Ok(match self.new_document(source)? {
            NewDocument::Deleted => None,
            NewDocument::Unchanged => Some(Value::Node(source.node)),
            NewDocument::Pruned(node) => Some(Value::OwnedNode(node)),
        })
    }

    /// The text of a source's document that the destination does not have, without nulls and directives; `None` where it deletes
    /// itself.
    pub fn new_document_text(
        &mut self,
        source: Version<'a>,
    ) -> Result<Option<Cow<'a, str>>, Diagnostic> {
        Ok(self.new_document(source)?.into_text(source))
    }

    pub(super) fn new_document(&mut self, version: Version<'a>) -> Result<NewDocument, Diagnostic> {
        let mut state = MergeState::new(self.options, &self.documents, version, version, None);
        let document = version.node.document();
        match incoming::omitted_nodes(&mut state, version.node)? {
            None => Ok(NewDocument::Deleted),
            Some(omitted) if omitted.is_empty() => Ok(NewDocument::Unchanged),
            Some(omitted) => {
                let pruned =
                    krm_yaml::DocumentCopy::new(document, &omitted, &[]).map_err(|error| {
                        Diagnostic::from_edit(&error, document.file()).in_file(version.file)
                    })?;
                Ok(NewDocument::Pruned(pruned.owned_node(version.node)))
            }
        }
    }

    /// Merges the changes between base and upstream into local and collects the edits of local's file.
    ///
    /// Each version may be missing. Without local nothing is edited, and the action tells what to do. The edit is made with
    /// [`Edit::allow_shared`], because shared anchors are checked here.
    pub fn three_way(
        &mut self,
        base: Option<Version<'a>>,
        local: Option<Version<'a>>,
        upstream: Option<Version<'a>>,
        edit: &mut Edit<'a>,
    ) -> Result<MergeReport, Diagnostic> {
        let (Some(ours), Some(theirs)) = (local.or(upstream), upstream.or(base).or(local)) else {
            return Ok(MergeReport::new(MergeAction::Keep));
        };
        let mut state = MergeState::new(self.options, &self.documents, ours, theirs, base);
        let node = |version: Option<Version<'a>>| version.map(|version| version.node);
        let action = three_way::merge_root(&mut state, node(base), node(local), node(upstream))?;
        if local.is_some() && action == MergeAction::Keep {
            state.apply(edit)?;
        }
        Ok(state.report(action))
    }
}

fn equal(a: NodeRef<'_>, b: NodeRef<'_>) -> bool {
    is_equal(a, b, Equality::Merge)
}

fn equal_option(a: Option<NodeRef<'_>>, b: Option<NodeRef<'_>>) -> bool {
    is_equal_option(a, b, Equality::Merge)
}

/// Whether a node is null, directly or through an alias.
fn is_null(node: NodeRef<'_>) -> bool {
    resource::is_null(node.resolve())
}

/// The path segment of a field.
fn key_segment(name: &str) -> Segment {
    Segment::Key(name.to_owned())
}

/// The entry of a value or element.
fn entry_of(node: NodeRef<'_>) -> CommentedEntry<'_> {
    CommentedEntry { key: node.key(), value: node }
}
