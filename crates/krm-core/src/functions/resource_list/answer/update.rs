//! What a function changed in a resource, as edits on the text of that resource.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Range;

use krm_yaml::{
    CollectionStyle, CommentPosition, Edit, EditError, NodeKind, NodeRef, Path, Segment, Value,
};

use super::content::{self, Known};
use super::keys;
use super::notation;
use super::pairs;
use super::remarks::{Remarks, Slot};
use super::same::{At, is_dropped, is_noise, is_retagged, is_same};
use super::scalars::{self, Fate};
use crate::merge::node::{Field, Fields};

/// Why there is no edit.
pub(super) enum Stop {
    /// It cannot be made.
    Edit(EditError),
    /// The field at this path is an integer that came back with fewer digits.
    LostDigits(Path, String),
}

impl From<EditError> for Stop {
    fn from(error: EditError) -> Self {
        Self::Edit(error)
    }
}

/// How an update is made.
#[derive(Clone, Debug, Default)]
pub(in crate::functions::resource_list) struct How {
    /// Whether comments are left as they are.
    pub(in crate::functions::resource_list) without_comments: bool,
    /// Whether comments that are missing go.
    pub(in crate::functions::resource_list) exact_comments: bool,
    /// Nodes that are replaced as they are, where anything in them changed.
    pub(in crate::functions::resource_list) whole: BTreeSet<usize>,
}

/// Something that comes, once it is known what goes.
enum Coming<'a> {
    Set(NodeRef<'a>, NodeRef<'a>, At),
    Entry {
        mapping: NodeRef<'a>,
        after: Option<usize>,
        sent: Option<Field<'a>>,
        field: Field<'a>,
        at: At,
    },
    Item {
        list: NodeRef<'a>,
        before: usize,
        item: NodeRef<'a>,
    },
}

/// An update of one resource.
pub(super) struct Update<'a, 'h> {
    how: &'h How,
    ours: &'h Remarks<'a>,
    theirs: &'h Remarks<'a>,
    edit: Edit<'a>,
    trail: Vec<Segment>,
    coming: Vec<Coming<'a>>,
    /// Nodes that go, keys among them.
    gone: Vec<Range<usize>>,
    /// What came back for nodes that have an anchor.
    anchored: HashMap<usize, NodeRef<'a>>,
    aliases: Vec<(NodeRef<'a>, NodeRef<'a>, At)>,
    /// Fields that come through `<<`, with what they are to be where they stand.
    inherited: Vec<(Field<'a>, Coming<'a>)>,
}

impl<'a, 'h> Update<'a, 'h> {
    pub(super) fn new(
        edit: Edit<'a>,
        how: &'h How,
        ours: &'h Remarks<'a>,
        theirs: &'h Remarks<'a>,
    ) -> Self {
        Self {
            how,
            ours,
            theirs,
            edit: edit.allow_shared(true),
            trail: Vec::new(),
            coming: Vec::new(),
            gone: Vec::new(),
            anchored: HashMap::new(),
            aliases: Vec::new(),
            inherited: Vec::new(),
        }
    }

    /// The edit that makes one node mean what another does.
    pub(super) fn run(
        mut self,
        sent: NodeRef<'a>,
        returned: NodeRef<'a>,
    ) -> Result<Edit<'a>, Stop> {
        self.value(sent, returned.resolve(), At::Root)?;
        self.head(sent, returned)?;
        for (alias, returned, at) in std::mem::take(&mut self.aliases) {
            let target = alias.target().and_then(|it| self.anchored.get(&it.index()));
            if !target.is_some_and(|it| is_same(*it, returned, at)) {
                self.coming.push(Coming::Set(alias, returned, at));
            }
        }
        for (inherited, entry) in std::mem::take(&mut self.inherited) {
            let Coming::Entry { field, at, .. } = &entry else { continue };
            if !is_same(self.becomes(inherited), field.value, *at) {
                self.coming.push(entry);
            }
        }
        self.bring()?;
        Ok(self.edit)
    }

    /// What a field that comes through `<<` will be: what came back for the mapping that it stands in.
    fn becomes(&self, inherited: Field<'a>) -> NodeRef<'a> {
        let parent = inherited.value.parent();
        let source = parent.and_then(|it| Some((it, *self.anchored.get(&it.index())?)));
        let fields = source.map(|(sent, returned)| keys::fields(sent, returned).1);
        let name = inherited.key.as_scalar().map(|key| key.value());
        let now = fields.zip(name).and_then(|(fields, name)| fields.get(&name));
        now.map_or(inherited.value, |field| field.value)
    }

    fn below<T>(&mut self, step: Segment, act: impl FnOnce(&mut Self) -> T) -> T {
        self.trail.push(step);
        let done = act(self);
        self.trail.pop();
        done
    }

    fn value(&mut self, sent: NodeRef<'a>, returned: NodeRef<'a>, at: At) -> Result<(), Stop> {
        let theirs = returned.resolve();
        if sent.kind() == NodeKind::Alias {
            self.aliases.push((sent, theirs, at));
            return Ok(());
        }
        if sent.anchor().is_some() {
            self.anchored.insert(sent.index(), theirs);
        }
        if self.how.whole.contains(&sent.index()) || is_retagged(sent, theirs) {
            return self.replaced(sent, theirs, at);
        }
        match (sent.kind(), theirs.kind()) {
            (NodeKind::Mapping, NodeKind::Mapping) => self.mapping(sent, theirs, at),
            (NodeKind::Sequence, NodeKind::Sequence) => self.list(sent, theirs),
            (NodeKind::Scalar(_), NodeKind::Scalar(_)) => self.scalar(sent, theirs),
            _ => self.replaced(sent, theirs, at),
        }
    }

    fn replaced(&mut self, sent: NodeRef<'a>, returned: NodeRef<'a>, at: At) -> Result<(), Stop> {
        if !is_same(sent, returned, at) {
            self.goes(sent.children());
            self.coming.push(Coming::Set(sent, returned, at));
        }
        Ok(())
    }

    fn scalar(&mut self, sent: NodeRef<'a>, returned: NodeRef<'a>) -> Result<(), Stop> {
        let (Some(was), Some(is)) = (sent.as_scalar(), returned.as_scalar()) else { return Ok(()) };
        match scalars::compare(was, is) {
            Fate::Same => Ok(()),
            Fate::Changed if is.style().is_block() && !was.style().is_block() => {
                Ok(self.edit.set(sent, Value::Node(returned))?)
            }
            Fate::Changed => Ok(self.edit.set(sent, content::scalar(is))?),
            Fate::LostDigits => {
                let mut path = Path::default();
                self.trail.iter().for_each(|segment| path.push(segment.clone()));
                Err(Stop::LostDigits(path, format!("{} came back as {}", was.value(), is.value())))
            }
        }
    }

    fn mapping(&mut self, sent: NodeRef<'a>, returned: NodeRef<'a>, at: At) -> Result<(), Stop> {
        let (ours, theirs) = keys::fields(sent, returned);
        let is_gone = |(name, field): &(&str, Field<'a>)| {
            theirs.get(name).is_none() && !is_dropped(name, *field, at)
        };
        // What comes through `<<` cannot be taken out here.
        if ours.iter().filter(is_gone).any(|(_, field)| field.own.is_none()) {
            return self.replaced(sent, returned, at);
        }
        let mut place = Placing::new(&ours, &theirs, at);
        for (name, field) in theirs.iter().filter(|(name, _)| at.counts(name)) {
            let step = Segment::Key(name.to_owned());
            match ours.get(name) {
                Some(own) if own.own.is_some() => {
                    place.pass(own.own);
                    self.below(step, |it| it.entry(own, field, at.step(name)))?;
                }
                None if is_noise(name, field, at) => {}
                found => {
                    let (mapping, after) = (sent, place.after);
                    let entry =
                        Coming::Entry { mapping, after, sent: found, field, at: at.step(name) };
                    match found {
                        Some(inherited) => self.inherited.push((inherited, entry)),
                        None => self.coming.push(entry),
                    }
                }
            }
        }
        for (name, _) in ours.iter().filter(is_gone) {
            for value in ours.all(name) {
                self.goes(value.key().into_iter().chain([value]));
                self.edit.remove(value, krm_yaml::EmptyParents::Keep)?;
            }
        }
        Ok(())
    }

    fn entry(&mut self, ours: Field<'a>, theirs: Field<'a>, at: At) -> Result<(), Stop> {
        self.value(ours.value, theirs.value, at)?;
        let slot = |field: Field<'a>| Slot { key: Some(field.key), value: field.value };
        self.comments(slot(ours), slot(theirs))
    }

    fn list(&mut self, sent: NodeRef<'a>, returned: NodeRef<'a>) -> Result<(), Stop> {
        let ours: Vec<NodeRef<'a>> = sent.children().collect();
        let theirs: Vec<NodeRef<'a>> = returned.children().collect();
        let to = pairs::pair(&ours, &theirs);
        for (at, item) in theirs.iter().enumerate() {
            let Some(old) = to[at].map(|old| ours[old]) else { continue };
            let slot = |value| Slot { key: None, value };
            self.below(Segment::Index(at), |it| {
                it.value(old, *item, At::Below)?;
                it.comments(slot(old), slot(*item))
            })?;
        }
        self.order(sent, &ours, &theirs, &to)
    }

    /// Puts the elements in the order in which they came back, with the new ones among them.
    fn order(
        &mut self,
        list: NodeRef<'a>,
        ours: &[NodeRef<'a>],
        theirs: &[NodeRef<'a>],
        to: &[Option<usize>],
    ) -> Result<(), Stop> {
        let olds: Vec<usize> = to.iter().flatten().copied().collect();
        let mut places = olds.clone();
        places.sort_unstable();
        let is_gone = |at: &usize| places.binary_search(at).is_err();
        let gone: Vec<usize> = (0..ours.len()).filter(is_gone).collect();
        if olds != places {
            self.edit.reorder(list, olds.iter().chain(&gone).copied().collect())?;
        }
        for at in gone {
            self.goes([ours[at]]);
            self.edit.remove(ours[at], krm_yaml::EmptyParents::Keep)?;
        }
        let mut passed = 0;
        for (at, old) in to.iter().enumerate() {
            match old {
                Some(_) => passed += 1,
                None => {
                    let before = places.get(passed).copied().unwrap_or(ours.len());
                    self.coming.push(Coming::Item { list, before, item: theirs[at] });
                }
            }
        }
        Ok(())
    }

    fn goes(&mut self, nodes: impl IntoIterator<Item = NodeRef<'a>>) {
        self.gone.extend(nodes.into_iter().map(NodeRef::subtree));
    }

    /// Brings what comes, without comments that stand here already.
    fn bring(&mut self) -> Result<(), Stop> {
        let comments = match self.how.exact_comments {
            true => BTreeMap::new(),
            false => self.ours.staying(&self.gone),
        };
        let known = Known { comments };
        for coming in std::mem::take(&mut self.coming) {
            match coming {
                Coming::Set(node, value, at) => {
                    let value = match notation::kept(node, value, at, &known)? {
                        Some(kept) => kept,
                        None => content::value(value, at, &known)?,
                    };
                    self.edit.set(node, value)?;
                }
                Coming::Entry { mapping, after, sent, field, at } => {
                    let slot = Slot { key: Some(field.key), value: field.value };
                    let kept = match sent {
                        Some(sent) => notation::kept(sent.value, field.value, at, &known)?,
                        None => None,
                    };
                    let value = match kept {
                        Some(kept) => kept,
                        None => content::entry(slot, at, self.theirs, &known)?,
                    };
                    let key = match sent {
                        Some(sent) => notation::key(sent.key, field.key),
                        None => content::key(field.key),
                    };
                    self.edit.insert_entry(mapping, after, key, value)?;
                }
                Coming::Item { list, before, item } => {
                    let slot = Slot { key: None, value: item };
                    let value = content::entry(slot, At::Below, self.theirs, &known)?;
                    self.edit.insert_element(list, before, value)?;
                }
            }
        }
        Ok(())
    }

    /// The comments of an entry: what the function added or changed.
    fn comments(&mut self, ours: Slot<'a>, theirs: Slot<'a>) -> Result<(), Stop> {
        if self.how.without_comments || self.theirs.is_empty() && !self.how.exact_comments {
            return Ok(());
        }
        for place in [CommentPosition::Head, CommentPosition::Line] {
            let of = |remarks: &Remarks<'a>, slot| match place {
                CommentPosition::Head => remarks.above(slot).to_vec(),
                _ => remarks.beside(slot).into_iter().collect(),
            };
            let (was, is) = (of(self.ours, ours), of(self.theirs, theirs));
            let wanted = match self.how.exact_comments {
                true => (was != is).then_some(is),
                false => self.ours.news(&was, &is),
            };
            let Some(lines) = wanted.filter(|_| has_room(ours.value)) else { continue };
            let text = (!lines.is_empty()).then(|| lines.join("\n"));
            self.edit.set_comment(ours.value, place, text.as_deref())?;
        }
        Ok(())
    }

    /// The comment above the whole resource.
    fn head(&mut self, sent: NodeRef<'a>, returned: NodeRef<'a>) -> Result<(), Stop> {
        if self.how.without_comments || self.theirs.is_empty() && !self.how.exact_comments {
            return Ok(());
        }
        let slot = |value| Slot { key: None, value };
        let theirs: Vec<&str> = match returned.parent() {
            Some(_) => self.theirs.above(slot(returned)).to_vec(),
            None => self.theirs.head.iter().map(|it| it.text.trim_end()).collect(),
        };
        if sent.parent().is_some() {
            let was = self.ours.above(slot(sent));
            if was != theirs && has_room(sent) {
                let text = (!theirs.is_empty()).then(|| theirs.join("\n"));
                self.edit.set_comment(sent, CommentPosition::Head, text.as_deref())?;
            }
            return Ok(());
        }
        let was: Vec<&str> = self.ours.head.iter().map(|it| it.text.trim_end()).collect();
        let Some(lines) = self.ours.news(&was, &theirs) else { return Ok(()) };
        let first = sent.as_mapping().and_then(|mapping| mapping.entries().next());
        match (self.ours.head.split_first(), first) {
            (Some((head, rest)), _) => {
                let document = sent.document().index();
                self.edit.replace_comment(document, head, Some(&lines.join("\n")));
                rest.iter().for_each(|it| self.edit.replace_comment(document, it, None));
            }
            (None, Some(entry)) if has_room(entry.value) => {
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

/// Whether a comment can stand at an entry: by lines there is room for sure.
fn has_room(value: NodeRef<'_>) -> bool {
    value.parent().is_some_and(|parent| parent.collection_style() == CollectionStyle::Block)
}

/// Where new keys go: behind the neighbour that they came back with, or last where the function sorted them.
struct Placing {
    after: Option<usize>,
    is_sorted: bool,
}

impl Placing {
    fn new(ours: &Fields<'_>, theirs: &Fields<'_>, at: At) -> Self {
        let common = theirs.iter().filter_map(|(name, _)| ours.get(name)?.own);
        let common: Vec<usize> = common.collect();
        let last = ours.count.checked_sub(1);
        match (common.is_sorted(), common.first()) {
            // What is sent has annotations before all else; people have them, and labels, behind the name.
            (true, Some(_)) if at == At::Metadata => Self { after: last, is_sorted: true },
            (true, Some(first)) => Self { after: first.checked_sub(1), is_sorted: true },
            _ => Self { after: last, is_sorted: false },
        }
    }

    fn pass(&mut self, own: Option<usize>) {
        if self.is_sorted {
            self.after = own;
        }
    }
}
