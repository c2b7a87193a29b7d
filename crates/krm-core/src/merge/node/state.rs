//! The state of one merge: the current path, the queued edits, and the conflicts and warnings so far.

use std::cell::Cell;
use std::rc::Rc;

use krm_yaml::{CommentPosition, DiagnosticKind, Edit, NodeRef, Path, Segment};

use super::conflict::{Conflict, ConflictKind, conflict_id, location_of, value_as_json};
use super::document_info::{DocumentInfo, DocumentInfos};
use super::markers;
use super::ops::{self, Op};
use super::options::{MergeOptions, Nulls, OnConflict, Side};
use super::{MergeAction, MergeReport, Version, entry_of, is_null};
use crate::compare::{CommentedEntry, Field, FieldSchema};
use crate::merge::kinds::MergeKind;
use crate::model::resource::{Resource, is_resource};
use crate::{Diagnostic, Severity};

pub(super) struct MergeState<'a, 'm> {
    pub(super) options: &'m MergeOptions<'m>,
    documents: &'m DocumentInfos<'a>,
    /// The destination, the version that is merged into it, and the base.
    versions: [Version<'a>; 3],
    resource: String,
    is_secret: bool,
    /// The schema of the resource.
    pub(super) schema: FieldSchema<'m>,
    path: Vec<Segment>,
    ops: Vec<Op<'a>>,
    /// Conflict markers, with the entries above which they are written.
    markers: Vec<(NodeRef<'a>, String)>,
    conflicts: Vec<Conflict>,
    warnings: Vec<Diagnostic>,
    /// The anchored node above the current one that must not change, because only the destination shares it.
    shared: Option<NodeRef<'a>>,
    /// Whether null is a value at the current path, whatever the options say.
    has_null_values: bool,
    /// The bytes of values whose aliases were expanded.
    pub(super) expanded: Cell<usize>,
}

/// A point to which queued edits can be discarded.
pub(super) struct Checkpoint {
    ops: usize,
    markers: usize,
}

impl<'a, 'm> MergeState<'a, 'm> {
    pub(super) fn new(
        options: &'m MergeOptions<'m>,
        documents: &'m DocumentInfos<'a>,
        ours: Version<'a>,
        theirs: Version<'a>,
        base: Option<Version<'a>>,
    ) -> Self {
        let lists = &options.lists;
        let schema = FieldSchema::of_resource(lists, ours.node).or_resource(lists, theirs.node);
        let resource = is_resource(ours.node).then_some(Resource { node: ours.node, item: None });
        Self {
            options,
            documents,
            versions: [ours, theirs, base.unwrap_or(theirs)],
            resource: resource.map(Resource::label).unwrap_or_default(),
            is_secret: resource.is_some_and(|resource| resource.kind() == "Secret"),
            schema,
            path: Vec::new(),
            ops: Vec::new(),
            markers: Vec::new(),
            conflicts: Vec::new(),
            warnings: Vec::new(),
            shared: None,
            has_null_values: false,
            expanded: Cell::default(),
        }
    }

    pub(super) fn info(&self, node: NodeRef<'a>) -> Rc<DocumentInfo<'a>> {
        self.documents.of(node)
    }

    /// The names of the files of the destination and of the other version.
    pub(super) fn files(&self) -> [&'a str; 2] {
        [self.versions[0].file, self.versions[1].file]
    }

    /// The name of the file of a node.
    pub(super) fn file_of(&self, node: NodeRef<'a>) -> &'a str {
        let file = node.document().file();
        let is_home = |it: &&Version<'a>| std::ptr::eq(it.node.document().file(), file);
        self.versions.iter().find(is_home).map_or(self.versions[0].file, |it| it.file)
    }

    /// Whether a node is a null that clears its field. A document without content is not a null that anyone wrote.
    pub(super) fn clears(&self, node: NodeRef<'a>) -> bool {
        self.options.nulls == Nulls::Clear
            && !self.has_null_values
            && is_null(node)
            && !(node.parent().is_none() && node.full_span().is_empty())
    }

    /// Runs a function below an element without merge key, where null is a value as it is in the whole sequence.
    pub(super) fn with_null_values<T>(&mut self, act: impl FnOnce(&mut Self) -> T) -> T {
        let outer = std::mem::replace(&mut self.has_null_values, true);
        let result = act(self);
        self.has_null_values = outer;
        result
    }

    fn path(&self) -> Path {
        let mut path = Path::default();
        self.path.iter().for_each(|segment| path.push(segment.clone()));
        path
    }

    /// The names of the fields on the path, by which options name a list.
    pub(super) fn field_path(&self) -> String {
        let keys = self.path.iter().filter_map(|segment| match segment {
            Segment::Key(key) => Some(key.as_str()),
            _ => None,
        });
        keys.collect::<Vec<_>>().join(".")
    }

    /// Runs a function with the path extended by a segment.
    pub(super) fn descend<T>(&mut self, segment: Segment, act: impl FnOnce(&mut Self) -> T) -> T {
        self.path.push(segment);
        let result = act(self);
        self.path.pop();
        result
    }

    /// Goes to a field below the root, and returns its schema.
    ///
    /// Edits below a node that aliases share are refused, because one of its parents has an anchor.
    pub(super) fn enter(&mut self, node: NodeRef<'a>, path: &Path) -> FieldSchema<'m> {
        let mut parents = std::iter::successors(node.parent(), |node| node.parent());
        self.shared = parents.find(|node| self.info(*node).is_shared(*node));
        self.path.extend(path.segments().iter().cloned());
        path.segments().iter().fold(self.schema.clone(), |schema, segment| match segment {
            Segment::Key(key) => schema.field(key),
            Segment::Index(_) | Segment::Match { .. } | Segment::End => schema.item(),
        })
    }

    /// Goes back to the root, without edits that were queued below the field and not applied.
    pub(super) fn leave(&mut self) {
        self.path.clear();
        self.shared = None;
        self.ops.clear();
        self.markers.clear();
    }

    /// A schema, overridden by the comments of the versions of a field.
    pub(super) fn schema_with_comments<'s>(
        &self,
        schema: FieldSchema<'s>,
        fields: &[Field<'a>],
    ) -> FieldSchema<'s> {
        let collections = fields.iter().filter(|field| field.value.resolve().is_collection());
        schema.with_comments(collections.flat_map(|field| {
            let info = self.info(field.value);
            let entry = CommentedEntry { key: Some(field.key), value: field.value };
            let beside = info.beside(entry).map(str::to_owned);
            beside.into_iter().chain(info.above(entry))
        }))
    }

    /// Queues an edit of the destination.
    pub(super) fn push_op(&mut self, op: Op<'a>) -> Result<(), Diagnostic> {
        let Some(shared) = self.shared else {
            self.ops.push(op);
            return Ok(());
        };
        let anchor = shared.anchor().unwrap_or_default().to_owned();
        Err(self.error(shared, MergeKind::SharedAnchor { anchor }))
    }

    /// Runs a function that edits below a node of the destination. Where aliases share the node, an edit is an error unless the
    /// source has the same anchor: otherwise it would change fields that the source does not mention.
    pub(super) fn with_alias_guard<T>(
        &mut self,
        destination: NodeRef<'a>,
        source: NodeRef<'a>,
        act: impl FnOnce(&mut Self) -> T,
    ) -> T {
        let outer = self.shared;
        if self.info(destination).is_shared(destination) && destination.anchor() != source.anchor()
        {
            self.shared = Some(destination);
        }
        let result = act(self);
        self.shared = outer;
        result
    }

    pub(super) fn checkpoint(&self) -> Checkpoint {
        Checkpoint { ops: self.ops.len(), markers: self.markers.len() }
    }

    /// Discards the edits since a checkpoint, because the node that contains them is removed. Conflicts remain: they must be reported.
    pub(super) fn rewind(&mut self, checkpoint: &Checkpoint) {
        self.ops.truncate(checkpoint.ops);
        self.markers.truncate(checkpoint.markers);
    }

    /// Whether a node of the destination is replaced as a whole.
    pub(super) fn is_replaced(&self, node: NodeRef<'a>) -> bool {
        self.ops
            .iter()
            .any(|op| matches!(op, Op::Set(other, _) | Op::Replace(other, _) if *other == node))
    }

    /// Whether no edit was queued since a checkpoint.
    pub(super) fn is_unchanged_since(&self, checkpoint: &Checkpoint) -> bool {
        self.ops.len() == checkpoint.ops
    }

    pub(super) fn error(&self, at: NodeRef<'a>, kind: impl DiagnosticKind) -> Diagnostic {
        self.locate(Diagnostic::error(kind), at)
    }

    pub(super) fn warn(&mut self, at: NodeRef<'a>, kind: MergeKind) {
        let warning = self.locate(Diagnostic::warning(kind), at);
        self.warnings.push(warning);
    }

    /// Reports something that is printed with `--verbose`.
    pub(super) fn inform(&mut self, at: NodeRef<'a>, kind: MergeKind) {
        let info = self.locate(Diagnostic::new(Severity::Info, kind), at);
        self.warnings.push(info);
    }

    fn locate(&self, diagnostic: Diagnostic, at: NodeRef<'a>) -> Diagnostic {
        let diagnostic = diagnostic.in_file(self.file_of(at));
        diagnostic.at(at.document().file(), at.full_span()).field(self.path().to_string())
    }

    /// Records a conflict of values and returns whose version is taken.
    pub(super) fn record_conflict(
        &mut self,
        kind: ConflictKind,
        nodes: [Option<NodeRef<'a>>; 3],
        parents: [Option<NodeRef<'a>>; 2],
    ) -> Side {
        let [_, local, upstream] = nodes;
        let at = [local.or(parents[0]), upstream.or(parents[1])];
        self.push_conflict(kind, nodes.map(|node| node.map(value_as_json)), at)
    }

    /// Records a conflict with the JSON values of base, local and upstream, and returns whose version is taken.
    pub(super) fn push_conflict(
        &mut self,
        kind: ConflictKind,
        [base, local, upstream]: [Option<String>; 3],
        [local_node, upstream_node]: [Option<NodeRef<'a>>; 2],
    ) -> Side {
        let taken = self.options.on_conflict.taken();
        let path = self.path().to_string();
        self.conflicts.push(Conflict {
            id: conflict_id(&self.resource, &path, kind),
            resource: self.resource.clone(),
            path,
            kind,
            base,
            local,
            upstream,
            local_at: local_node.map(|node| location_of(node, self.versions[0].file)),
            upstream_at: upstream_node.map(|node| location_of(node, self.versions[1].file)),
            taken,
            is_marked: false,
            file: String::new(),
            text: None,
            is_secret: self.is_secret,
        });
        taken
    }

    /// The id of the last conflict, where conflicts are to be marked.
    pub(super) fn pending_marker_id(&self) -> Option<String> {
        let last = self.conflicts.last()?;
        (self.options.on_conflict == OnConflict::Mark).then(|| last.id.clone())
    }

    /// Writes a marker for the last conflict above an entry of the destination, where a comment can be written.
    pub(super) fn add_marker(&mut self, entry: NodeRef<'a>, marker: String) {
        if !self.can_hold_comment(entry, CommentPosition::Head) {
            return;
        }
        self.set_marked();
        let existing = self.info(entry).markers(entry_of(entry));
        if !existing.is_some_and(|existing| existing.contains(&marker)) {
            self.markers.push((entry, marker));
        }
    }

    /// Sets whose version the last conflict took, where the rules leave no choice.
    pub(super) fn set_taken(&mut self, side: Side) {
        if let Some(last) = self.conflicts.last_mut() {
            last.taken = side;
        }
    }

    /// Records that the last conflict is marked.
    pub(super) fn set_marked(&mut self) {
        if let Some(last) = self.conflicts.last_mut() {
            last.is_marked = true;
        }
    }

    /// Adds the queued edits to an edit of the destination.
    pub(super) fn apply(&mut self, edit: &mut Edit<'a>) -> Result<(), Diagnostic> {
        let mut ops = std::mem::take(&mut self.ops);
        for (node, marker) in std::mem::take(&mut self.markers) {
            let info = self.info(node);
            let above = [info.markers(entry_of(node)), info.above(entry_of(node))];
            let above = above.into_iter().flatten().reduce(|a, b| format!("{a}\n{b}"));
            markers::add_to_comment(&mut ops, node, above.as_ref(), &marker);
        }
        ops::apply_ops(ops, edit)
            .map_err(|error| Diagnostic::error(error.kind).in_file(self.versions[0].file))
    }

    pub(super) fn report(self, action: MergeAction) -> MergeReport {
        MergeReport { action, conflicts: self.conflicts, warnings: self.warnings }
    }
}
