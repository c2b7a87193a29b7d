//! Comments of entries: those of the source come along, and those of three versions are merged as values are.

use krm_yaml::{CollectionStyle, CommentPosition, NodeRef, Segment};

use super::conflict::ConflictKind;
use super::ops::Op;
use super::rules::Side;
use super::work::Work;
use crate::Diagnostic;
use crate::merge::node::marks;
use crate::print::json;

/// An entry: a value with its key, or an item.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slot<'a> {
    pub(super) key: Option<NodeRef<'a>>,
    pub(super) value: NodeRef<'a>,
}

impl<'a> Slot<'a> {
    pub(super) fn item(value: NodeRef<'a>) -> Self {
        Self { key: None, value }
    }
}

/// What was taken of upstream's entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Taken {
    /// Its value, or what changed in it.
    Value,
    /// All of it as it stands, with the comment beside it.
    OwnedNode,
    /// Nothing: local's was kept.
    Nothing,
}

const PLACES: [CommentPosition; 2] = [CommentPosition::Head, CommentPosition::Line];

impl<'a> Work<'a, '_> {
    fn comment(&self, slot: Slot<'a>, place: CommentPosition) -> Option<String> {
        let ground = self.ground(slot.value);
        match place {
            CommentPosition::Head => ground.above(slot.key, slot.value),
            _ => ground.beside(slot.key, slot.value).map(str::to_owned),
        }
    }

    /// Whether a comment can be written at an entry.
    pub(super) fn takes_note(&self, entry: NodeRef<'a>, place: CommentPosition) -> bool {
        if !self.ground(entry).takes_comments {
            return false;
        }
        let Some(parent) = entry.parent() else { return false };
        if parent.collection_style() == CollectionStyle::Block {
            return true;
        }
        // In brackets there is room where the entry has its line to itself.
        let text = entry.document().file().text();
        let head = entry.key().unwrap_or(entry).full_span().start as usize;
        let before = text[..head].trim_end_matches([' ', '\t']);
        let is_first = before.is_empty() || before.ends_with(['\n', '\r']);
        let after = text[entry.end() as usize..].trim_start_matches([' ', '\t']);
        let after = after.strip_prefix(',').unwrap_or(after).trim_start_matches([' ', '\t']);
        let is_last = after.is_empty() || after.starts_with(['\n', '\r', '#']);
        match place {
            CommentPosition::Head => is_first,
            _ => is_last,
        }
    }

    /// Whether an entry in brackets has a comment among others: in one line they all stand above.
    fn is_held(&self, slot: Slot<'a>, theirs: &str) -> bool {
        let in_brackets =
            slot.value.parent().is_some_and(|it| it.collection_style() != CollectionStyle::Block);
        let ours = PLACES.map(|place| self.comment(slot, place).unwrap_or_default());
        let has = |line: &str| ours.iter().any(|ours| ours.lines().any(|it| it == line));
        in_brackets && theirs.lines().all(has)
    }

    fn note(
        &mut self,
        slot: Slot<'a>,
        place: CommentPosition,
        text: Option<String>,
    ) -> Result<(), Diagnostic> {
        let is_long = text.as_ref().is_some_and(|text| text.contains('\n'));
        if place == CommentPosition::Line && is_long || !self.takes_note(slot.value, place) {
            self.warn(slot.value, "a comment of the other side has no room here and is left out");
            return Ok(());
        }
        let marks = self.ground(slot.value).marks(slot.key, slot.value);
        let text = match (place, marks) {
            (CommentPosition::Head, Some(marks)) => {
                Some(text.map_or(marks.clone(), |text| format!("{marks}\n{text}")))
            }
            _ => text,
        };
        self.ask(Op::Note(slot.value, place, text))
    }

    /// Two-way: the source's comments come along where it has any.
    pub(super) fn bring_comments(
        &mut self,
        source: Slot<'a>,
        destination: Slot<'a>,
        is_grafted: bool,
    ) -> Result<(), Diagnostic> {
        for place in PLACES {
            // A graft brings the comment beside it by itself.
            if is_grafted && place == CommentPosition::Line {
                continue;
            }
            let Some(new) = self.comment(source, place) else { continue };
            let old = self.comment(destination, place);
            if old.as_ref() != Some(&new) && !self.is_held(destination, &new) {
                self.note(destination, place, Some(new))?;
            }
        }
        Ok(())
    }

    /// Three-way: the comments of an entry that local and upstream have.
    pub(super) fn merge_comments(
        &mut self,
        base: Option<Slot<'a>>,
        local: Slot<'a>,
        upstream: Slot<'a>,
        taken: Taken,
    ) -> Result<(), Diagnostic> {
        for place in PLACES {
            let old = base.and_then(|base| self.comment(base, place));
            let ours = self.comment(local, place);
            let theirs = self.comment(upstream, place);
            let is_held = theirs.as_ref().is_some_and(|theirs| self.is_held(local, theirs));
            if theirs == old || theirs == ours || is_held {
                continue;
            }
            if ours != old && theirs.is_none() && base.is_none() {
                continue;
            }
            let is_here =
                taken == Taken::OwnedNode && place == CommentPosition::Line && theirs.is_some();
            if ours != old {
                let side = self.comment_clash([&old, &ours, &theirs], local, upstream);
                if side == Side::Local {
                    if is_here {
                        self.note(local, place, ours)?;
                    }
                    continue;
                }
                if let Some(id) = self.mark_wanted() {
                    let ours = ours.unwrap_or_default();
                    self.mark(local.value, marks::of_comment(&id, place, &ours));
                }
            }
            if !is_here && taken != Taken::Nothing {
                self.note(local, place, theirs)?;
            }
        }
        Ok(())
    }

    fn comment_clash(
        &mut self,
        texts: [&Option<String>; 3],
        local: Slot<'a>,
        upstream: Slot<'a>,
    ) -> Side {
        let quoted = |text: &Option<String>| {
            text.as_ref().map(|text| json::write(&krm_yaml::Value::from(text.as_str())))
        };
        let places = [Some(local.value), Some(upstream.value)];
        self.conflict(ConflictKind::Comment, texts.map(quoted), places)
    }

    /// The comments at the head of the documents.
    pub(super) fn merge_heads(
        &mut self,
        base: Option<NodeRef<'a>>,
        local: NodeRef<'a>,
        upstream: NodeRef<'a>,
    ) -> Result<(), Diagnostic> {
        if local.parent().is_some() || upstream.parent().is_some() {
            return Ok(());
        }
        let base = base.filter(|base| base.parent().is_none());
        let old = base.and_then(|base| self.ground(base).head_text());
        let ground = self.ground(local);
        let (ours, theirs) = (ground.head_text(), self.ground(upstream).head_text());
        self.drop_beside(base, local, upstream)?;
        if theirs == old || theirs == ours || base.is_none() && theirs.is_none() {
            return Ok(());
        }
        let mut text = theirs;
        if ours != old {
            let slots = [local, upstream].map(Slot::item);
            let side = self.comment_clash([&old, &ours, &text], slots[0], slots[1]);
            if side == Side::Local {
                return Ok(());
            }
            if let Some(id) = self.mark_wanted().filter(|_| self.takes_head(local, upstream)) {
                let mark = marks::of_head(&id, ours.as_deref().unwrap_or_default());
                self.marked();
                text = Some(text.map_or(mark.clone(), |text| format!("{mark}\n{text}")));
            }
        }
        self.replace_head(local, upstream, &ground, text)
    }

    /// The comment beside a value that lines come for goes with it: above them it would be the document's.
    fn drop_beside(
        &mut self,
        base: Option<NodeRef<'a>>,
        local: NodeRef<'a>,
        upstream: NodeRef<'a>,
    ) -> Result<(), Diagnostic> {
        let beside = self.ground(local).beside(None, local);
        let Some(beside) = beside.filter(|_| self.is_set(local) && upstream.is_block()) else {
            return Ok(());
        };
        if base.and_then(|base| self.ground(base).beside(None, base)) != Some(beside) {
            self.warn(
                local,
                format!("the comment `{beside}` goes with the value that it is about"),
            );
        }
        self.ask(Op::Note(local, CommentPosition::Line, None))
    }

    /// Whether a comment can stand at the head of local, or of what it becomes.
    fn takes_head(&self, local: NodeRef<'a>, upstream: NodeRef<'a>) -> bool {
        let is_json = crate::PackagePath::is_json_name(self.files()[0]);
        let text = local.document().file().text();
        let start = local.full_span().start as usize;
        let line = text[..start].rfind(['\n', '\r']).map_or(0, |at| at + 1);
        let root = if self.is_set(local) { upstream } else { local };
        !is_json
            && !local.full_span().is_empty()
            && text[line..start].trim_matches([' ', '\u{feff}']).is_empty()
            && (root.is_block() || root.as_scalar().is_some())
    }

    fn replace_head(
        &mut self,
        local: NodeRef<'a>,
        upstream: NodeRef<'a>,
        ground: &super::ground::Ground<'a>,
        text: Option<String>,
    ) -> Result<(), Diagnostic> {
        let document = local.document().index();
        let mut lines = ground.head.iter();
        match (lines.next(), text) {
            (Some(first), text) => {
                self.ask(Op::Replace(*first, document, text))?;
                for line in lines {
                    self.ask(Op::Replace(*line, document, None))?;
                }
                Ok(())
            }
            (None, Some(_)) if !self.takes_head(local, upstream) => {
                if self.is_set(local) && upstream.is_block() {
                    // The same merge again would find room.
                    let message = "the comment at the head of upstream has no room beside `---`";
                    let hint = "put a line break behind `---`";
                    return Err(self.error(local, message).hint(hint));
                }
                self.warn(local, "the comment at the head of upstream has no room here");
                Ok(())
            }
            (None, Some(text)) => {
                let first = local.as_mapping().filter(|_| !self.is_set(local));
                let first = first.and_then(|mapping| mapping.entries().next());
                let above = first.map_or(local, |first| first.value);
                self.ask(Op::Note(above, CommentPosition::Head, Some(text)))
            }
            (None, None) => Ok(()),
        }
    }
}

/// The step to a field.
pub(super) fn key_step(name: &str) -> Segment {
    Segment::Key(name.to_owned())
}
