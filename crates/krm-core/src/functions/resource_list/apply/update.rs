//! The changes of a function to a resource, as edits of the text of that resource.

use std::collections::{BTreeSet, HashMap};
use std::ops::Range;

use krm_yaml::{
    CollectionStyle, CommentPosition, Edit, EditError, NodeKind, NodeRef, Path, Segment, Value,
};

use super::content::{self, ExistingComments};
use super::notation;
use crate::compare::sequences::pair_returned;
use crate::compare::{
    CommentIndex, CommentedEntry, Equality, Field, Fields, ResourceLevel, ScalarComparison,
    compare_returned, fields_as_sent, has_new_tag, is_equal, is_ignorable_addition,
    is_ignorable_removal,
};

/// Why a resource cannot be updated.
pub(super) enum UpdateError {
    /// An edit is refused.
    Edit(EditError),
    /// An integer was rounded: its path, and the texts that were sent and returned.
    LostDigits { path: Path, texts: [String; 2] },
}

impl From<EditError> for UpdateError {
    fn from(error: EditError) -> Self {
        Self::Edit(error)
    }
}

/// Options of an update.
#[derive(Clone, Debug, Default)]
pub(super) struct UpdateOptions {
    /// Leave all comments as they are.
    pub(super) without_comments: bool,
    /// Remove comments that were not returned. Functions drop comments, so by default a missing comment is not a change.
    pub(super) exact_comments: bool,
    /// Indexes of nodes that are replaced as a whole where anything in them changed.
    pub(super) replaced: BTreeSet<usize>,
}

/// An insertion. It is made after all removals are known, because a comment that is removed may be inserted elsewhere.
enum Insertion<'a> {
    Set(NodeRef<'a>, NodeRef<'a>, ResourceLevel),
    Entry {
        mapping: NodeRef<'a>,
        after: Option<usize>,
        sent: Option<Field<'a>>,
        field: Field<'a>,
        level: ResourceLevel,
    },
    Element {
        list: NodeRef<'a>,
        before: usize,
        item: NodeRef<'a>,
    },
}

/// An update of one resource.
pub(super) struct Update<'a, 'h> {
    options: &'h UpdateOptions,
    ours: &'h CommentIndex<'a>,
    theirs: &'h CommentIndex<'a>,
    edit: Edit<'a>,
    path: Vec<Segment>,
    insertions: Vec<Insertion<'a>>,
    /// Nodes that are removed, with their keys.
    removed: Vec<Range<usize>>,
    /// What was returned for nodes that have an anchor.
    anchored: HashMap<usize, NodeRef<'a>>,
    /// Aliases, with what was returned for them. They are compared after all anchors are known.
    aliases: Vec<(NodeRef<'a>, NodeRef<'a>, ResourceLevel)>,
    /// Fields that `<<` merges in, with the entry that would override them.
    inherited: Vec<(Field<'a>, Insertion<'a>)>,
}

impl<'a, 'h> Update<'a, 'h> {
    pub(super) fn new(
        edit: Edit<'a>,
        options: &'h UpdateOptions,
        ours: &'h CommentIndex<'a>,
        theirs: &'h CommentIndex<'a>,
    ) -> Self {
        Self {
            options,
            ours,
            theirs,
            edit: edit.allow_shared(true),
            path: Vec::new(),
            insertions: Vec::new(),
            removed: Vec::new(),
            anchored: HashMap::new(),
            aliases: Vec::new(),
            inherited: Vec::new(),
        }
    }

    /// The edit that gives one node the value of another.
    pub(super) fn run(
        mut self,
        sent: NodeRef<'a>,
        returned: NodeRef<'a>,
    ) -> Result<Edit<'a>, UpdateError> {
        self.value(sent, returned.resolve(), ResourceLevel::Root)?;
        self.head_comment(sent, returned)?;
        for (alias, returned, level) in std::mem::take(&mut self.aliases) {
            let target = alias.target().and_then(|it| self.anchored.get(&it.index()));
            if !target.is_some_and(|it| is_returned_equal(*it, returned, level)) {
                self.insertions.push(Insertion::Set(alias, returned, level));
            }
        }
        for (inherited, entry) in std::mem::take(&mut self.inherited) {
            let Insertion::Entry { field, level, .. } = &entry else { continue };
            if !is_returned_equal(self.inherited_value(inherited), field.value, *level) {
                self.insertions.push(entry);
            }
        }
        self.insert()?;
        Ok(self.edit)
    }

    /// The value that a field which `<<` merges in will have: what was returned for the mapping that contains it.
    fn inherited_value(&self, inherited: Field<'a>) -> NodeRef<'a> {
        let parent = inherited.value.parent();
        let source = parent.and_then(|it| Some((it, *self.anchored.get(&it.index())?)));
        let fields = source.map(|(sent, returned)| fields_as_sent(sent, returned).1);
        let name = inherited.key.as_scalar().map(|key| key.value());
        let now = fields.zip(name).and_then(|(fields, name)| fields.get(&name));
        now.map_or(inherited.value, |field| field.value)
    }

    fn descend<T>(&mut self, segment: Segment, act: impl FnOnce(&mut Self) -> T) -> T {
        self.path.push(segment);
        let result = act(self);
        self.path.pop();
        result
    }

    fn value(
        &mut self,
        sent: NodeRef<'a>,
        returned: NodeRef<'a>,
        level: ResourceLevel,
    ) -> Result<(), UpdateError> {
        let theirs = returned.resolve();
        if sent.kind() == NodeKind::Alias {
            self.aliases.push((sent, theirs, level));
            return Ok(());
        }
        if sent.anchor().is_some() {
            self.anchored.insert(sent.index(), theirs);
        }
        if self.options.replaced.contains(&sent.index()) || has_new_tag(sent, theirs) {
            return self.replace(sent, theirs, level);
        }
        match (sent.kind(), theirs.kind()) {
            (NodeKind::Mapping, NodeKind::Mapping) => self.mapping(sent, theirs, level),
            (NodeKind::Sequence, NodeKind::Sequence) => self.sequence(sent, theirs),
            (NodeKind::Scalar(_), NodeKind::Scalar(_)) => self.scalar(sent, theirs),
            _ => self.replace(sent, theirs, level),
        }
    }

    fn replace(
        &mut self,
        sent: NodeRef<'a>,
        returned: NodeRef<'a>,
        level: ResourceLevel,
    ) -> Result<(), UpdateError> {
        if !is_returned_equal(sent, returned, level) {
            self.mark_removed(sent.children());
            self.insertions.push(Insertion::Set(sent, returned, level));
        }
        Ok(())
    }

    fn scalar(&mut self, sent: NodeRef<'a>, returned: NodeRef<'a>) -> Result<(), UpdateError> {
        let (Some(was), Some(is)) = (sent.as_scalar(), returned.as_scalar()) else { return Ok(()) };
        match compare_returned(was, is) {
            ScalarComparison::Equal => Ok(()),
            ScalarComparison::Different if is.style().is_block() && !was.style().is_block() => {
                Ok(self.edit.set(sent, Value::Node(returned))?)
            }
            ScalarComparison::Different => Ok(self.edit.set(sent, content::scalar_value(is))?),
            ScalarComparison::LostDigits => {
                let mut path = Path::default();
                self.path.iter().for_each(|segment| path.push(segment.clone()));
                let texts = [was, is].map(|it| it.value().into_owned());
                Err(UpdateError::LostDigits { path, texts })
            }
        }
    }

    fn mapping(
        &mut self,
        sent: NodeRef<'a>,
        returned: NodeRef<'a>,
        level: ResourceLevel,
    ) -> Result<(), UpdateError> {
        let (ours, theirs) = fields_as_sent(sent, returned);
        let is_removed = |(name, field): &(&str, Field<'a>)| {
            theirs.get(name).is_none() && !is_ignorable_removal(name, *field, level)
        };
        // A field that `<<` merges in cannot be removed from this mapping alone.
        if ours.iter().filter(is_removed).any(|(_, field)| field.own.is_none()) {
            return self.replace(sent, returned, level);
        }
        let mut position = InsertPosition::new(&ours, &theirs, level);
        for (name, field) in theirs.iter().filter(|(name, _)| level.is_own_field(name)) {
            let segment = Segment::Key(name.to_owned());
            match ours.get(name) {
                Some(own) if own.own.is_some() => {
                    position.advance(own.own);
                    self.descend(segment, |it| it.entry(own, field, level.child(name)))?;
                }
                None if is_ignorable_addition(name, field, level) => {}
                found => {
                    let (mapping, after) = (sent, position.after);
                    let level = level.child(name);
                    let entry = Insertion::Entry { mapping, after, sent: found, field, level };
                    match found {
                        Some(inherited) => self.inherited.push((inherited, entry)),
                        None => self.insertions.push(entry),
                    }
                }
            }
        }
        for (name, _) in ours.iter().filter(is_removed) {
            for value in ours.all(name) {
                self.mark_removed(value.key().into_iter().chain([value]));
                self.edit.remove(value, krm_yaml::EmptyParents::Keep)?;
            }
        }
        Ok(())
    }

    fn entry(
        &mut self,
        ours: Field<'a>,
        theirs: Field<'a>,
        level: ResourceLevel,
    ) -> Result<(), UpdateError> {
        self.value(ours.value, theirs.value, level)?;
        let entry = |field: Field<'a>| CommentedEntry { key: Some(field.key), value: field.value };
        self.comments(entry(ours), entry(theirs))
    }

    fn sequence(&mut self, sent: NodeRef<'a>, returned: NodeRef<'a>) -> Result<(), UpdateError> {
        let ours: Vec<NodeRef<'a>> = sent.children().collect();
        let theirs: Vec<NodeRef<'a>> = returned.children().collect();
        let to = pair_returned(&ours, &theirs);
        for (at, item) in theirs.iter().enumerate() {
            let Some(old) = to[at].map(|old| ours[old]) else { continue };
            let [ours, theirs] = [old, *item].map(CommentedEntry::element);
            self.descend(Segment::Index(at), |it| {
                it.value(old, *item, ResourceLevel::Other)?;
                it.comments(ours, theirs)
            })?;
        }
        self.order(sent, &ours, &theirs, &to)
    }

    /// Gives the elements the order in which they were returned, and inserts new ones.
    fn order(
        &mut self,
        list: NodeRef<'a>,
        ours: &[NodeRef<'a>],
        theirs: &[NodeRef<'a>],
        to: &[Option<usize>],
    ) -> Result<(), UpdateError> {
        let kept: Vec<usize> = to.iter().flatten().copied().collect();
        let mut positions = kept.clone();
        positions.sort_unstable();
        let is_removed = |at: &usize| positions.binary_search(at).is_err();
        let removed: Vec<usize> = (0..ours.len()).filter(is_removed).collect();
        if kept != positions {
            self.edit.reorder(list, kept.iter().chain(&removed).copied().collect())?;
        }
        for at in removed {
            self.mark_removed([ours[at]]);
            self.edit.remove(ours[at], krm_yaml::EmptyParents::Keep)?;
        }
        let mut passed = 0;
        for (at, old) in to.iter().enumerate() {
            match old {
                Some(_) => passed += 1,
                None => {
                    let before = positions.get(passed).copied().unwrap_or(ours.len());
                    self.insertions.push(Insertion::Element { list, before, item: theirs[at] });
                }
            }
        }
        Ok(())
    }

    fn mark_removed(&mut self, nodes: impl IntoIterator<Item = NodeRef<'a>>) {
        self.removed.extend(nodes.into_iter().map(NodeRef::subtree));
    }

    /// Makes the insertions, without comments that remain in the item.
    fn insert(&mut self) -> Result<(), UpdateError> {
        let existing = match self.options.exact_comments {
            true => ExistingComments::new(),
            false => self.ours.remaining(&self.removed).collect(),
        };
        for insertion in std::mem::take(&mut self.insertions) {
            match insertion {
                Insertion::Set(node, value, level) => {
                    let value = match notation::keep_notation(node, value, level, &existing)? {
                        Some(kept) => kept,
                        None => content::node_value(value, level, &existing)?,
                    };
                    self.edit.set(node, value)?;
                }
                Insertion::Entry { mapping, after, sent, field, level } => {
                    let entry = CommentedEntry { key: Some(field.key), value: field.value };
                    let kept = match sent {
                        Some(sent) => {
                            notation::keep_notation(sent.value, field.value, level, &existing)?
                        }
                        None => None,
                    };
                    let value = match kept {
                        Some(kept) => kept,
                        None => content::entry_value(entry, level, self.theirs, &existing)?,
                    };
                    let key = match sent {
                        Some(sent) => notation::kept_key(sent.key, field.key),
                        None => content::key_value(field.key),
                    };
                    self.edit.insert_entry(mapping, after, key, value)?;
                }
                Insertion::Element { list, before, item } => {
                    let entry = CommentedEntry::element(item);
                    let other = ResourceLevel::Other;
                    let value = content::entry_value(entry, other, self.theirs, &existing)?;
                    self.edit.insert_element(list, before, value)?;
                }
            }
        }
        Ok(())
    }

    /// Sets the comments of an entry that the function added or changed.
    fn comments(
        &mut self,
        ours: CommentedEntry<'a>,
        theirs: CommentedEntry<'a>,
    ) -> Result<(), UpdateError> {
        if self.options.without_comments || self.theirs.is_empty() && !self.options.exact_comments {
            return Ok(());
        }
        for place in [CommentPosition::Head, CommentPosition::Line] {
            let of = |index: &CommentIndex<'a>, entry| -> Vec<&'a str> {
                match place {
                    CommentPosition::Head => index.above(entry).collect(),
                    _ => index.beside(entry).into_iter().collect(),
                }
            };
            let (was, is) = (of(self.ours, ours), of(self.theirs, theirs));
            let changed = match self.options.exact_comments {
                true => (was != is).then_some(is),
                false => changed_comment(self.ours, &was, &is),
            };
            let Some(lines) = changed.filter(|_| can_hold_comment(ours.value)) else { continue };
            let text = (!lines.is_empty()).then(|| lines.join("\n"));
            self.edit.set_comment(ours.value, place, text.as_deref())?;
        }
        Ok(())
    }

    /// Sets the comment above the resource where the function changed it.
    fn head_comment(
        &mut self,
        sent: NodeRef<'a>,
        returned: NodeRef<'a>,
    ) -> Result<(), UpdateError> {
        if self.options.without_comments || self.theirs.is_empty() && !self.options.exact_comments {
            return Ok(());
        }
        let element = CommentedEntry::element;
        let theirs: Vec<&str> = match returned.parent() {
            Some(_) => self.theirs.above(element(returned)).collect(),
            None => self.theirs.head_lines().collect(),
        };
        if sent.parent().is_some() {
            let was: Vec<&str> = self.ours.above(element(sent)).collect();
            if was != theirs && can_hold_comment(sent) {
                let text = (!theirs.is_empty()).then(|| theirs.join("\n"));
                self.edit.set_comment(sent, CommentPosition::Head, text.as_deref())?;
            }
            return Ok(());
        }
        let was: Vec<&str> = self.ours.head_lines().collect();
        let Some(lines) = changed_comment(self.ours, &was, &theirs) else { return Ok(()) };
        let first = sent.as_mapping().and_then(|mapping| mapping.entries().next());
        match (self.ours.head.split_first(), first) {
            (Some((head, rest)), _) => {
                let document = sent.document().index();
                self.edit.replace_comment(document, head, Some(&lines.join("\n")));
                rest.iter().for_each(|it| self.edit.replace_comment(document, it, None));
            }
            (None, Some(entry)) if can_hold_comment(entry.value) => {
                self.edit.set_comment(
                    entry.value,
                    CommentPosition::Head,
                    Some(&lines.join("\n")),
                )?;
            }
            _ => {}
        }
        Ok(())
    }
}

/// The new lines of a comment, if the function added any: lines that were returned and are new or were here before. A line that the item
/// has elsewhere is not repeated, because functions that keep comments may attach them to another node.
fn changed_comment<'a>(
    item: &CommentIndex<'a>,
    old: &[&'a str],
    returned: &[&'a str],
) -> Option<Vec<&'a str>> {
    let is_new = |line: &&'a str| !item.contains(line);
    if !returned.iter().any(is_new) {
        return None;
    }
    let is_kept = |line: &&&'a str| old.contains(line) || is_new(line);
    Some(returned.iter().filter(is_kept).copied().collect())
}

fn is_returned_equal(sent: NodeRef<'_>, returned: NodeRef<'_>, level: ResourceLevel) -> bool {
    is_equal(sent, returned, Equality::FunctionOutput(level))
}

/// Whether a comment can be written at an entry: in block style it always can.
fn can_hold_comment(value: NodeRef<'_>) -> bool {
    value.parent().is_some_and(|parent| parent.collection_style() == CollectionStyle::Block)
}

/// Where new keys are inserted: after the key that they were returned after, or at the end where the function sorted the keys.
struct InsertPosition {
    after: Option<usize>,
    /// Whether the returned keys have the order of the item. Otherwise the function sorted them, and neighbours mean nothing.
    keeps_order: bool,
}

impl InsertPosition {
    fn new(ours: &Fields<'_>, theirs: &Fields<'_>, level: ResourceLevel) -> Self {
        let common = theirs.iter().filter_map(|(name, _)| ours.get(name)?.own);
        let common: Vec<usize> = common.collect();
        let last = ours.count.checked_sub(1);
        match (common.is_sorted(), common.first()) {
            // The annotations of the orchestrator were sent first, so new annotations and labels would be inserted before the name.
            (true, Some(_)) if level == ResourceLevel::Metadata => {
                Self { after: last, keeps_order: true }
            }
            (true, Some(first)) => Self { after: first.checked_sub(1), keeps_order: true },
            _ => Self { after: last, keeps_order: false },
        }
    }

    fn advance(&mut self, own: Option<usize>) {
        if self.keeps_order {
            self.after = own;
        }
    }
}
