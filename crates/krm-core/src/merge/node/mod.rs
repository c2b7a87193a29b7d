//! Merging: what one version of a node says becomes edits on the text of another, and where both sides changed is told.
//!
//! ```
//! use krm_core::merge::node::{Merger, Rules, Version};
//! use krm_yaml::{Edit, File};
//!
//! let source = File::parse("spec:\n  replicas: 5\n".to_owned())?;
//! let destination = File::parse("spec:\n  replicas: 3 # for now\n  paused: true\n".to_owned())?;
//! let root = |file| Version::new(File::document(file, 0).unwrap().root().unwrap(), "x.yaml");
//! let mut edit = Edit::new(&destination).allow_shared(true);
//! Merger::new(&Rules::default()).two_way(root(&source), root(&destination), &mut edit).unwrap();
//! assert_eq!(edit.apply()?, "spec:\n  replicas: 5 # for now\n  paused: true\n");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod anchors;
mod arrange;
pub(crate) mod conflict;
mod delta;
mod directives;
pub(crate) mod documents;
mod element;
mod fields;
mod fill;
mod ground;
mod learn;
mod lists;
mod marks;
mod ops;
mod remarks;
mod rules;
mod same;
mod shape;
mod three_lists;
mod three_mappings;
mod three_way;
mod two_lists;
mod two_mappings;
mod two_way;
mod work;

use std::borrow::Cow;

use krm_yaml::{Edit, NodeRef, OwnedNode};

pub use conflict::{Conflict, ConflictKind, ConflictPlace};
pub use documents::{MergedFile, NamedFile, three_way_files, two_way_files};
pub(crate) use element::{ElementId, Elements};
pub(crate) use fields::{Field, Fields, key_name};
pub use learn::{learn, learn_schema};
pub(crate) use lists::{KEYS, kind_of};
pub use marks::{Mark, MarkKind, find as find_marks, settle as settle_marks};
pub use rules::{ListKeys, NewItems, OnConflict, Restore, Rules, Side};
pub(crate) use same::own_tag;
pub use same::same_in_yaml_1_2;
pub(crate) use shape::{ListKind, Shape};

use crate::Diagnostic;
use ground::Grounds;
use work::Work;

/// One version of what is merged.
#[derive(Clone, Copy, Debug)]
pub struct Version<'a> {
    /// The node: the root of a document, or a resource in it.
    pub node: NodeRef<'a>,
    /// The name that people know its file by.
    pub file: &'a str,
}

impl<'a> Version<'a> {
    /// A node of a file.
    pub fn new(node: NodeRef<'a>, file: &'a str) -> Self {
        Self { node, file }
    }
}

/// What is to become of the destination as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It stays, with the edits that were made.
    Stays,
    /// It goes away.
    Goes,
    /// It is not there, and the other side's comes whole.
    Comes,
}

/// What comes of something that has no counterpart.
#[derive(Debug)]
pub(crate) enum Coming {
    /// It says that there should be nothing.
    Nothing,
    /// All of it.
    AsItIs,
    /// It without what is no value.
    Pruned(OwnedNode),
}

impl Coming {
    /// The text of the whole document.
    fn into_text(self, version: Version<'_>) -> Option<Cow<'_, str>> {
        match self {
            Self::Nothing => None,
            Self::AsItIs => Some(Cow::Borrowed(version.node.document().text())),
            Self::Pruned(graft) => Some(Cow::Owned(graft.node().document().text().to_owned())),
        }
    }
}

/// What came of a merge.
#[derive(Debug)]
pub struct Report {
    /// What is to become of the destination as a whole.
    pub outcome: Outcome,
    /// Where both sides changed the same thing.
    pub conflicts: Vec<Conflict>,
    /// What is good to know.
    pub warnings: Vec<Diagnostic>,
}

impl Report {
    fn new(outcome: Outcome) -> Self {
        Self { outcome, conflicts: Vec::new(), warnings: Vec::new() }
    }
}

/// Merges by rules. What it learns of a document is kept for the next merge in the same one.
#[derive(Debug)]
pub struct Merger<'a, 'r> {
    rules: &'r Rules<'r>,
    grounds: Grounds<'a>,
}

impl<'a, 'r> Merger<'a, 'r> {
    /// A merger by rules.
    pub fn new(rules: &'r Rules<'r>) -> Self {
        Self { rules, grounds: Grounds::default() }
    }

    /// Merges the source into the destination: collects the edits on the destination's file.
    ///
    /// The edit is of the destination's file and made with [`Edit::allow_shared`]: what aliases share is guarded here.
    pub fn two_way(
        &mut self,
        source: Version<'a>,
        destination: Version<'a>,
        edit: &mut Edit<'a>,
    ) -> Result<Report, Diagnostic> {
        let mut work = Work::new(self.rules, &self.grounds, destination, source, None);
        let outcome = two_way::root(&mut work, source.node, destination.node)?;
        if outcome == Outcome::Stays {
            work.perform(edit)?;
        }
        Ok(work.report(outcome))
    }

    /// The text of a source's document that has no counterpart, as it comes: without nulls and directives. None where it
    /// says that there should be nothing.
    pub fn coming(&mut self, source: Version<'a>) -> Result<Option<Cow<'a, str>>, Diagnostic> {
        Ok(self.come(source)?.into_text(source))
    }

    /// What comes of a source that has no counterpart.
    pub(crate) fn come(&mut self, version: Version<'a>) -> Result<Coming, Diagnostic> {
        let mut work = Work::new(self.rules, &self.grounds, version, version, None);
        let document = version.node.document();
        match fill::left_out(&mut work, version.node)? {
            None => Ok(Coming::Nothing),
            Some(without) if without.is_empty() => Ok(Coming::AsItIs),
            Some(without) => {
                let pruned = krm_yaml::DocumentCopy::new(document, &without, &[]);
                let told = |error| Diagnostic::from_edit(&error, document.file());
                let pruned = pruned.map_err(|error| told(error).in_file(version.file))?;
                Ok(Coming::Pruned(pruned.owned_node(version.node)))
            }
        }
    }

    /// Merges what changed between base and upstream into local: collects the edits on local's file.
    ///
    /// Each may be missing. Where local is missing nothing is edited, and the outcome says what is to be done; where
    /// local is there, the edit is of its file and made with [`Edit::allow_shared`].
    pub fn three_way(
        &mut self,
        base: Option<Version<'a>>,
        local: Option<Version<'a>>,
        upstream: Option<Version<'a>>,
        edit: &mut Edit<'a>,
    ) -> Result<Report, Diagnostic> {
        let (Some(ours), Some(theirs)) = (local.or(upstream), upstream.or(base).or(local)) else {
            return Ok(Report::new(Outcome::Stays));
        };
        // What came whole stays as it came, nulls and all, when the same merge is made again.
        let comes_whole = base.is_none_or(|base| base.node.kind() != theirs.node.kind());
        let is_on_both = local.is_some() && upstream.is_some();
        if comes_whole && is_on_both && is_alike(ours.node, theirs.node) {
            return Ok(Report::new(Outcome::Stays));
        }
        let mut work = Work::new(self.rules, &self.grounds, ours, theirs, base);
        let node = |version: Option<Version<'a>>| version.map(|version| version.node);
        let outcome = three_way::root(&mut work, node(base), node(local), node(upstream))?;
        if local.is_some() && outcome == Outcome::Stays {
            work.perform(edit)?;
        }
        Ok(work.report(outcome))
    }
}

/// Whether two are written alike, apart from what separates them from others in their files.
fn is_alike(one: NodeRef<'_>, other: NodeRef<'_>) -> bool {
    match (one.parent(), other.parent()) {
        (None, None) => {
            let [one, other] = [one, other].map(|node| node.document().text());
            let [one, other] = [one, other].map(|it| it.strip_prefix("---").unwrap_or(it).trim());
            one == other
        }
        _ => one.is_written_as(other),
    }
}
