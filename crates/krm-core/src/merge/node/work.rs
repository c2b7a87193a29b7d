//! The state of one merge: where it is, what it asks for, and what it has to tell.

use std::rc::Rc;

use krm_yaml::{CommentPosition, Edit, NodeRef, Path, Segment};

use super::conflict::{Conflict, ConflictKind, id_of, place_of, value_of};
use super::ground::{Ground, Grounds};
use super::marks;
use super::ops::{self, Op};
use super::rules::{OnConflict, Rules, Side};
use super::shape::Shape;
use super::{Outcome, Report, Version};
use crate::Diagnostic;
use crate::model::resource::{Resource, is_resource};

/// One merge.
pub(super) struct Work<'a, 'm> {
    pub(super) rules: &'m Rules<'m>,
    grounds: &'m Grounds<'a>,
    /// The destination, what is merged into it, and the base where there is one.
    versions: [Version<'a>; 3],
    resource: String,
    is_secret: bool,
    pub(super) shape: Shape<'m>,
    pub(super) trail: Vec<Segment>,
    ops: Vec<Op<'a>>,
    /// Comments that hold what was not taken, with the entries that they stand above.
    marks: Vec<(NodeRef<'a>, String)>,
    conflicts: Vec<Conflict>,
    warnings: Vec<Diagnostic>,
    /// The anchored node that changes are made below, where others share it.
    shared: Option<NodeRef<'a>>,
}

/// How far a merge had come.
pub(super) struct Checkpoint {
    ops: usize,
    marks: usize,
}

impl<'a, 'm> Work<'a, 'm> {
    pub(super) fn new(
        rules: &'m Rules<'m>,
        grounds: &'m Grounds<'a>,
        ours: Version<'a>,
        theirs: Version<'a>,
        base: Option<Version<'a>>,
    ) -> Self {
        let shape = Shape::of_resource(rules, ours.node).or_resource(rules, theirs.node);
        let resource = is_resource(ours.node).then_some(Resource { node: ours.node, item: None });
        Self {
            rules,
            grounds,
            versions: [ours, theirs, base.unwrap_or(theirs)],
            resource: resource.map(Resource::label).unwrap_or_default(),
            is_secret: resource.is_some_and(|resource| resource.kind() == "Secret"),
            shape,
            trail: Vec::new(),
            ops: Vec::new(),
            marks: Vec::new(),
            conflicts: Vec::new(),
            warnings: Vec::new(),
            shared: None,
        }
    }

    pub(super) fn ground(&self, node: NodeRef<'a>) -> Rc<Ground<'a>> {
        self.grounds.of(node)
    }

    /// The names of the destination's file and of the other one.
    pub(super) fn files(&self) -> [&'a str; 2] {
        [self.versions[0].file, self.versions[1].file]
    }

    /// The name of the file that a node is of.
    pub(super) fn file_of(&self, node: NodeRef<'a>) -> &'a str {
        let is_home =
            |it: &&Version<'a>| std::ptr::eq(it.node.document().file(), node.document().file());
        self.versions.iter().find(is_home).map_or(self.versions[0].file, |it| it.file)
    }

    pub(super) fn path(&self) -> Path {
        let mut path = Path::default();
        self.trail.iter().for_each(|segment| path.push(segment.clone()));
        path
    }

    /// The names of the fields on the way, for the rules of lists.
    pub(super) fn field_path(&self) -> String {
        let keys = self.trail.iter().filter_map(|segment| match segment {
            Segment::Key(key) => Some(key.as_str()),
            _ => None,
        });
        keys.collect::<Vec<_>>().join(".")
    }

    /// Does something one step further down.
    pub(super) fn below<T>(&mut self, step: Segment, act: impl FnOnce(&mut Self) -> T) -> T {
        self.trail.push(step);
        let done = act(self);
        self.trail.pop();
        done
    }

    /// Asks for a change of the destination.
    pub(super) fn ask(&mut self, op: Op<'a>) -> Result<(), Diagnostic> {
        let Some(shared) = self.shared else {
            self.ops.push(op);
            return Ok(());
        };
        let anchor = shared.anchor().unwrap_or_default();
        let message = format!(
            "this is shared: aliases name the anchor `&{anchor}`, and the source has no such anchor"
        );
        Err(self.error(shared, message).hint(
            "write the values out where the alias stands, or give the source the same anchor",
        ))
    }

    /// Looks below a node of the destination. What aliases share changes only where the source shares it, too.
    pub(super) fn guarded<T>(
        &mut self,
        destination: NodeRef<'a>,
        source: NodeRef<'a>,
        act: impl FnOnce(&mut Self) -> T,
    ) -> T {
        let before = self.shared;
        if self.ground(destination).is_shared(destination)
            && destination.anchor() != source.anchor()
        {
            self.shared = Some(destination);
        }
        let done = act(self);
        self.shared = before;
        done
    }

    pub(super) fn checkpoint(&self) -> Checkpoint {
        Checkpoint { ops: self.ops.len(), marks: self.marks.len() }
    }

    /// Forgets the changes since then: what they were made in goes away.
    pub(super) fn rewind(&mut self, checkpoint: &Checkpoint) {
        self.ops.truncate(checkpoint.ops);
        self.marks.truncate(checkpoint.marks);
    }

    /// Whether a node of the destination is replaced as a whole.
    pub(super) fn is_set(&self, node: NodeRef<'a>) -> bool {
        self.ops.iter().any(|op| matches!(op, Op::Set(other, _) if *other == node))
    }

    /// Whether nothing was asked for since then.
    pub(super) fn is_idle_since(&self, checkpoint: &Checkpoint) -> bool {
        self.ops.len() == checkpoint.ops
    }

    pub(super) fn error(&self, at: NodeRef<'a>, message: impl Into<String>) -> Diagnostic {
        self.told(Diagnostic::untyped_error(message), at)
    }

    pub(super) fn warn(&mut self, at: NodeRef<'a>, message: impl Into<String>) {
        let warning = self.told(Diagnostic::untyped_warning(message), at);
        self.warnings.push(warning);
    }

    pub(super) fn told(&self, diagnostic: Diagnostic, at: NodeRef<'a>) -> Diagnostic {
        let told = diagnostic.in_file(self.file_of(at)).at(at.document().file(), at.full_span());
        told.field(self.path().to_string())
    }

    /// Notes a conflict, and says whose is taken.
    pub(super) fn conflict(
        &mut self,
        kind: ConflictKind,
        values: [Option<String>; 3],
        at: [Option<NodeRef<'a>>; 2],
    ) -> Side {
        let taken = match self.rules.on_conflict {
            OnConflict::Local => Side::Local,
            OnConflict::Upstream | OnConflict::Fail | OnConflict::Mark => Side::Upstream,
        };
        let path = self.path().to_string();
        let [base, local, upstream] = values;
        let [here, there] = at;
        self.conflicts.push(Conflict {
            id: id_of(&self.resource, &path, kind),
            resource: self.resource.clone(),
            path,
            kind,
            base,
            local,
            upstream,
            local_at: here.map(|node| place_of(node, self.versions[0].file)),
            upstream_at: there.map(|node| place_of(node, self.versions[1].file)),
            taken,
            is_marked: false,
            is_secret: self.is_secret,
        });
        taken
    }

    /// A conflict of values.
    pub(super) fn clash(
        &mut self,
        kind: ConflictKind,
        nodes: [Option<NodeRef<'a>>; 3],
        holders: [Option<NodeRef<'a>>; 2],
    ) -> Side {
        let [_, local, upstream] = nodes;
        let places = [local.or(holders[0]), upstream.or(holders[1])];
        self.conflict(kind, nodes.map(|node| node.map(value_of)), places)
    }

    /// The last conflict is to be marked: its name, where marks are asked for.
    pub(super) fn mark_wanted(&self) -> Option<String> {
        let last = self.conflicts.last()?;
        (self.rules.on_conflict == OnConflict::Mark).then(|| last.id.clone())
    }

    /// Puts a mark above an entry of the destination; not where no comment can stand.
    pub(super) fn mark(&mut self, entry: NodeRef<'a>, mark: String) {
        if !self.takes_note(entry, CommentPosition::Head) {
            return;
        }
        self.marked();
        let there = self.ground(entry).marks(entry.key(), entry);
        if !there.is_some_and(|there| there.contains(&mark)) {
            self.marks.push((entry, mark));
        }
    }

    /// The last conflict is marked.
    pub(super) fn marked(&mut self) {
        if let Some(last) = self.conflicts.last_mut() {
            last.is_marked = true;
        }
    }

    pub(super) fn perform(&mut self, edit: &mut Edit<'a>) -> Result<(), Diagnostic> {
        let mut ops = std::mem::take(&mut self.ops);
        for (entry, mark) in std::mem::take(&mut self.marks) {
            let ground = self.ground(entry);
            let above = [ground.marks(entry.key(), entry), ground.above(entry.key(), entry)];
            let above = above.into_iter().flatten().reduce(|a, b| format!("{a}\n{b}"));
            marks::add(&mut ops, entry, above.as_ref(), &mark);
        }
        let file = self.versions[0].file;
        ops::perform(ops, edit).map_err(|error| Diagnostic::error(error.kind).in_file(file))
    }

    pub(super) fn report(self, outcome: Outcome) -> Report {
        Report { outcome, conflicts: self.conflicts, warnings: self.warnings }
    }
}
