//! Comments of entries: a two-way merge copies those of the source, a three-way merge merges them as it merges values.

use krm_yaml::{CollectionStyle, CommentPosition, NodeRef};

use super::conflict::ConflictKind;
use super::document_info::DocumentInfo;
use super::markers;
use super::ops::Op;
use super::options::Side;
use super::state::MergeState;
use crate::compare::CommentedEntry;
use crate::merge::kinds::MergeKind;
use crate::print::json;
use crate::{Diagnostic, PackagePath};

/// How upstream's version of an entry was used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum UpstreamUse {
    /// Its value, or changes inside it, were merged.
    Merged,
    /// It replaced local's value as it is written, with the comment on its line.
    Replaced,
    /// It was taken although local had changed the value as well. `replaced` as above.
    Overrode { replaced: bool },
    /// Local's version was kept, although upstream had changed the value as well.
    Rejected,
}

impl UpstreamUse {
    /// Whether upstream's value is written with the comment on its line.
    fn is_replaced(self) -> bool {
        matches!(self, Self::Replaced | Self::Overrode { replaced: true })
    }

    /// Whether both sides changed the value.
    fn is_conflict(self) -> bool {
        matches!(self, Self::Overrode { .. } | Self::Rejected)
    }
}

const PLACES: [CommentPosition; 2] = [CommentPosition::Head, CommentPosition::Line];

impl<'a> MergeState<'a, '_> {
    fn comment(&self, entry: CommentedEntry<'a>, place: CommentPosition) -> Option<String> {
        let info = self.info(entry.value);
        match place {
            CommentPosition::Head => info.above(entry),
            _ => info.beside(entry).map(str::to_owned),
        }
    }

    /// Whether a comment can be written at an entry.
    pub(super) fn can_hold_comment(&self, entry: NodeRef<'a>, place: CommentPosition) -> bool {
        if !self.info(entry).allows_comments {
            return false;
        }
        let Some(parent) = entry.parent() else { return false };
        if parent.collection_style() == CollectionStyle::Block {
            // A marker that begins behind a dash belongs to the element. A comment above the first entry would replace its other lines, and
            // with them local's value.
            let has_marker = |it: CommentedEntry<'a>| self.info(it.value).has_marker_beside(it);
            let element = element_of_first_entry(super::entry_of(entry));
            return place != CommentPosition::Head || !element.is_some_and(has_marker);
        }
        // In flow style a comment ends the line, so the entry must be the first or the last on its line.
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

    /// Whether an entry in flow style has the lines of a comment in any place. All comments on a line of flow style are attributed to one
    /// entry, so a comment that was merged before may be found above instead of beside.
    fn flow_entry_has_comment(&self, entry: CommentedEntry<'a>, theirs: &str) -> bool {
        let is_in_flow =
            entry.value.parent().is_some_and(|it| it.collection_style() != CollectionStyle::Block);
        let ours = PLACES.map(|place| self.comment(entry, place).unwrap_or_default());
        let has = |line: &str| ours.iter().any(|ours| ours.lines().any(|it| it == line));
        is_in_flow && theirs.lines().all(has)
    }

    /// Whether the document has a comment at its head instead of above its first entry. The first comment above the first entry belongs to
    /// the document, so one that a two-way merge wrote there is found at the head. Heads themselves are only merged with three versions.
    fn is_head_comment(&self, entry: CommentedEntry<'a>, theirs: &str) -> bool {
        let first = entry.key.unwrap_or(entry.value);
        let is_first = first.parent().is_some_and(|parent| {
            parent.parent().is_none() && parent.children().next() == Some(first)
        });
        is_first && self.info(entry.value).head().as_deref() == Some(theirs)
    }

    /// Whether a comment is behind the dash of an element instead of above its first entry, where a merge writes it. There it belongs to the
    /// element.
    fn is_behind_dash(&self, entry: CommentedEntry<'a>, theirs: &str) -> bool {
        let element = element_of_first_entry(entry);
        element.is_some_and(|it| self.info(it.value).beside(it) == Some(theirs))
    }

    /// Sets a comment of the destination, below its conflict markers.
    fn set_comment(
        &mut self,
        entry: CommentedEntry<'a>,
        place: CommentPosition,
        text: Option<String>,
    ) -> Result<(), Diagnostic> {
        let is_long = text.as_ref().is_some_and(|text| text.contains('\n'));
        if place == CommentPosition::Line && is_long || !self.can_hold_comment(entry.value, place) {
            self.warn(
                entry.value,
                MergeKind::CommentOmitted { owner: "a comment of the other side" },
            );
            return Ok(());
        }
        let markers = self.info(entry.value).markers(entry);
        let text = match (place, markers) {
            (CommentPosition::Head, Some(markers)) => {
                Some(text.map_or(markers.clone(), |text| format!("{markers}\n{text}")))
            }
            _ => text,
        };
        self.push_op(Op::Comment(entry.value, place, text))
    }

    /// Two-way merge: sets the comments that the source has. A comment that only the destination has is kept.
    pub(super) fn copy_comments(
        &mut self,
        source: CommentedEntry<'a>,
        destination: CommentedEntry<'a>,
        replaced: bool,
    ) -> Result<(), Diagnostic> {
        for place in PLACES {
            // The comment on the line of a replaced value was copied with it.
            if replaced && place == CommentPosition::Line {
                continue;
            }
            let Some(new) = self.comment(source, place) else { continue };
            let is_present =
                self.is_head_comment(destination, &new) || self.is_behind_dash(destination, &new);
            if place == CommentPosition::Head && is_present {
                continue;
            }
            let old = self.comment(destination, place);
            if old.as_ref() != Some(&new) && !self.flow_entry_has_comment(destination, &new) {
                self.set_comment(destination, place, Some(new))?;
            }
        }
        Ok(())
    }

    /// Three-way merge: merges the comments of an entry that local and upstream have.
    ///
    /// Compat: a comment that both sides changed stays local's, as in kyaml. The exception is the comment beside a scalar that both sides
    /// changed: it describes the value and shares its fate.
    pub(super) fn merge_comments(
        &mut self,
        base: Option<CommentedEntry<'a>>,
        local: CommentedEntry<'a>,
        upstream: CommentedEntry<'a>,
        upstream_use: UpstreamUse,
    ) -> Result<(), Diagnostic> {
        for place in PLACES {
            let old = base.and_then(|base| self.comment(base, place));
            let ours = self.comment(local, place);
            let theirs = self.comment(upstream, place);
            let is_present = theirs.as_ref().is_some_and(|theirs| {
                self.flow_entry_has_comment(local, theirs)
                    || place == CommentPosition::Head && self.is_behind_dash(local, theirs)
            });
            if theirs == old || theirs == ours || is_present {
                continue;
            }
            if ours != old && theirs.is_none() && base.is_none() {
                continue;
            }
            // Then upstream's comment was copied with its value.
            let is_copied =
                upstream_use.is_replaced() && place == CommentPosition::Line && theirs.is_some();
            if ours != old {
                let describes_value = place == CommentPosition::Line
                    && upstream_use.is_conflict()
                    && local.value.as_scalar().is_some();
                if !describes_value || theirs.is_none() {
                    self.report_kept_comment(local.value, ours.as_deref(), theirs.as_deref());
                    if is_copied {
                        self.set_comment(local, place, ours)?;
                    }
                    continue;
                }
                let side = self.record_comment_conflict([&old, &ours, &theirs], local, upstream);
                if side == Side::Local {
                    continue;
                }
                if let Some(id) = self.pending_marker_id() {
                    let ours = ours.unwrap_or_default();
                    self.add_marker(local.value, markers::for_comment(&id, place, &ours));
                }
            }
            if !is_copied && upstream_use != UpstreamUse::Rejected {
                self.set_comment(local, place, theirs)?;
            }
        }
        Ok(())
    }

    /// Reports that a comment was changed on both sides and local's was kept.
    fn report_kept_comment(&mut self, at: NodeRef<'a>, ours: Option<&str>, theirs: Option<&str>) {
        let [local, upstream] =
            [ours, theirs].map(|text| text.unwrap_or_default().replace('\n', " ").into());
        self.inform(at, MergeKind::CommentKept { local, upstream });
    }

    fn record_comment_conflict(
        &mut self,
        texts: [&Option<String>; 3],
        local: CommentedEntry<'a>,
        upstream: CommentedEntry<'a>,
    ) -> Side {
        let quoted = |text: &Option<String>| text.as_ref().map(|text| json::string(text.as_str()));
        let nodes = [Some(local.value), Some(upstream.value)];
        self.push_conflict(ConflictKind::Comment, texts.map(quoted), nodes)
    }

    /// Merges the comments at the head of the documents.
    pub(super) fn merge_head_comments(
        &mut self,
        base: Option<NodeRef<'a>>,
        local: NodeRef<'a>,
        upstream: NodeRef<'a>,
    ) -> Result<(), Diagnostic> {
        if local.parent().is_some() || upstream.parent().is_some() {
            return Ok(());
        }
        let base = base.filter(|base| base.parent().is_none());
        let old = base.and_then(|base| self.info(base).head());
        let info = self.info(local);
        let (ours, theirs) = (info.head(), self.info(upstream).head());
        self.remove_line_comment(base, local, upstream)?;
        if theirs == old || theirs == ours || base.is_none() && theirs.is_none() {
            return Ok(());
        }
        if ours != old {
            self.report_kept_comment(local, ours.as_deref(), theirs.as_deref());
            return Ok(());
        }
        self.set_head_comment(local, upstream, &info, theirs)
    }

    /// Removes the comment on the line of a root that a block collection replaces. It would become a comment of the document.
    fn remove_line_comment(
        &mut self,
        base: Option<NodeRef<'a>>,
        local: NodeRef<'a>,
        upstream: NodeRef<'a>,
    ) -> Result<(), Diagnostic> {
        let beside = self.info(local).beside(CommentedEntry::element(local));
        let Some(comment) = beside.filter(|_| self.is_replaced(local) && upstream.is_block())
        else {
            return Ok(());
        };
        let old = base.and_then(|base| self.info(base).beside(CommentedEntry::element(base)));
        if old != Some(comment) {
            self.warn(local, MergeKind::CommentRemoved { comment: comment.into() });
        }
        self.push_op(Op::Comment(local, CommentPosition::Line, None))
    }

    /// Whether a comment can be written at the head of local, or of the value that replaces it.
    fn can_hold_head_comment(&self, local: NodeRef<'a>, upstream: NodeRef<'a>) -> bool {
        let is_json = PackagePath::is_json_name(self.files()[0]);
        let text = local.document().file().text();
        let start = local.full_span().start as usize;
        let line = text[..start].rfind(['\n', '\r']).map_or(0, |at| at + 1);
        let root = if self.is_replaced(local) { upstream } else { local };
        !is_json
            && !local.full_span().is_empty()
            && text[line..start].trim_matches([' ', '\u{feff}']).is_empty()
            && (root.is_block() || root.as_scalar().is_some())
    }

    fn set_head_comment(
        &mut self,
        local: NodeRef<'a>,
        upstream: NodeRef<'a>,
        info: &DocumentInfo<'a>,
        text: Option<String>,
    ) -> Result<(), Diagnostic> {
        let document = local.document().index();
        let mut lines = info.comments.head.iter();
        match (lines.next(), text) {
            (Some(first), text) => {
                self.push_op(Op::ReplaceComment(*first, document, text))?;
                for line in lines {
                    self.push_op(Op::ReplaceComment(*line, document, None))?;
                }
                Ok(())
            }
            (None, Some(_)) if !self.can_hold_head_comment(local, upstream) => {
                if self.is_replaced(local) && upstream.is_block() {
                    // The value goes to a new line, where the same merge again could write the comment: the merge would not be stable.
                    return Err(self.error(local, MergeKind::CommentAfterMarker));
                }
                self.warn(
                    local,
                    MergeKind::CommentOmitted { owner: "the head comment of upstream" },
                );
                Ok(())
            }
            (None, Some(text)) => {
                let first = local.as_mapping().filter(|_| !self.is_replaced(local));
                let first = first.and_then(|mapping| mapping.entries().next());
                let above = first.map_or(local, |first| first.value);
                self.push_op(Op::Comment(above, CommentPosition::Head, Some(text)))
            }
            (None, None) => Ok(()),
        }
    }
}

/// The element of a list that begins with an entry of its mapping.
fn element_of_first_entry(entry: CommentedEntry<'_>) -> Option<CommentedEntry<'_>> {
    let first = entry.key.unwrap_or(entry.value);
    let mapping = first.parent().filter(|it| it.is_block() && it.children().next() == Some(first));
    let element = mapping.filter(|it| it.parent().is_some_and(|list| list.as_sequence().is_some()));
    element.map(CommentedEntry::element)
}
