//! Properties of edits: every change is there, and nothing else changed.

use std::borrow::Cow;
use std::collections::BTreeMap;

use krm_yaml::{DocumentRef, Edit, File, ScalarType};

use super::allowed_ranges::{self, AllowedRange};
use super::change::{Change, ChangeOptions, What, at_path};
use super::draw::Draw;
use super::emit::{Written, WrittenComment};
use super::expected::expected;
use super::json_scalars::{spelled_as_json, yaml_only_scalar};
use super::model::{Shape, Tree};
use super::{Verdict, ensure, reading};

/// A text, changes, and the resulting text.
pub(crate) struct Edited {
    pub(crate) old: File,
    pub(crate) document: usize,
    pub(crate) changes: Vec<Change>,
    pub(crate) new: String,
    /// Whether the result needed no verification.
    pub(crate) is_certain: bool,
}

/// The result of an edit.
pub(crate) enum EditResult {
    Edited(Box<Edited>),
    Refused {
        changes: Vec<Change>,
        brief: String,
        why: String,
    },
    /// The text cannot be edited, or the choices do not fit it.
    Nothing,
}

/// The number and kind of changes in one edit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Scope {
    /// One change.
    One,
    /// A few that do not conflict.
    Few,
    /// New values for a few scalars.
    Swap,
    /// A new order for all mappings, and a few changes inside them.
    Format,
}

/// Applies random changes. `json`: with values that JSON can represent.
pub(crate) fn edit(draw: &mut Draw<'_>, text: &str, scope: Scope, json: bool) -> EditResult {
    let Ok(old) = File::parse(text.to_owned()) else { return EditResult::Nothing };
    let count = old.documents().len();
    // Without a marker it is undefined which document the comments after an error belong to.
    let runs_on = old
        .documents()
        .skip(1)
        .any(|document| document.error().is_some() && document.start_marker().is_none());
    if count == 0 || runs_on {
        return EditResult::Nothing;
    }
    let index = draw.below(count);
    let Some(document) = old.document(index).filter(|document| document.error().is_none()) else {
        return EditResult::Nothing;
    };
    let Some(root) = document.root() else { return EditResult::Nothing };
    let tree = Tree::read(root);
    let mut changes =
        if scope == Scope::Format { Change::sort_all(draw, &tree) } else { Vec::new() };
    let (first, most) = match scope {
        Scope::One => (0, 1),
        Scope::Swap => (0, 2),
        Scope::Few => (0, 5),
        Scope::Format => (1, 4),
    };
    for number in first..most {
        let chosen = match scope {
            Scope::Swap => Change::swap(draw, &tree, json),
            _ => Change::choose(draw, &tree, ChangeOptions { number, json }),
        };
        let Some(change) = chosen else { continue };
        if !changes.iter().any(|other| other.covers(&change) || change.covers(other)) {
            changes.push(change);
        }
    }
    let applied = {
        let mut edit = Edit::new(&old);
        let asked = changes.iter().try_for_each(|change| change.request(document, &mut edit));
        let is_certain = edit.is_certain();
        asked.and_then(|()| edit.apply()).map(|new| (new, is_certain))
    };
    match applied {
        _ if changes.is_empty() => EditResult::Nothing,
        Ok((new, is_certain)) => {
            EditResult::Edited(Box::new(Edited { document: index, changes, new, is_certain, old }))
        }
        Err(error) => {
            let brief =
                changes.iter().map(|change| change.brief(&tree)).collect::<Vec<_>>().join(", ");
            EditResult::Refused { changes, brief, why: error.to_string() }
        }
    }
}

impl Edited {
    fn document(&self) -> DocumentRef<'_> {
        self.old.document(self.document).expect("it was there to be edited")
    }

    fn tree(&self) -> Tree {
        Tree::read(self.document().root().expect("it was there to be edited"))
    }

    /// The case in text, for a verdict.
    pub(crate) fn report(&self) -> String {
        let changes: Vec<String> =
            self.changes.iter().map(|change| format!("{change:?}")).collect();
        format!(
            "\n--- old\n{}\n--- changes of document {}\n{}\n--- new\n{}\n---\nold {:?}\nnew {:?}",
            self.old.text(),
            self.document,
            changes.join("\n"),
            self.new,
            self.old.text(),
            self.new
        )
    }

    fn allowed_ranges(&self) -> Vec<AllowedRange> {
        let document = self.document();
        self.changes.iter().map(|change| allowed_ranges::of(document, change)).collect()
    }

    /// Property `untouched_stays`: no byte changes outside the changed entries and the gaps that belong to them.
    pub(crate) fn untouched_stays(&self) -> Verdict {
        let text = self.old.text();
        let mut allowed_ranges = self.allowed_ranges();
        allowed_ranges.sort_by_key(|range| range.range.start);
        let mut merged: Vec<AllowedRange> = Vec::new();
        for range in allowed_ranges {
            match merged.last_mut() {
                Some(last) if range.range.start <= last.range.end => {
                    last.range.end = last.range.end.max(range.range.end);
                    last.may_go |= range.may_go;
                }
                _ => merged.push(range),
            }
        }
        let mut at = 0;
        let mut rest = self.new.as_str();
        for (number, range) in merged.iter().enumerate() {
            let kept = &text[at..range.range.start];
            let found = match number {
                0 => rest.starts_with(kept).then_some(kept.len()),
                _ => with_or_without_tabs(kept)
                    .iter()
                    .find_map(|kept| Some(rest.find(&**kept)? + kept.len())),
            };
            let Some(found) = found else {
                return Err(format!("changed before the range {:?}{}", range.range, self.report()));
            };
            rest = &rest[found..];
            at = range.range.end;
        }
        let kept = with_or_without_tabs(&text[at..]);
        let kept = kept.iter().find(|kept| rest.ends_with(&***kept));
        ensure!(
            kept.is_some(),
            "changed behind the range {:?}{}",
            merged.last().map(|g| g.range.clone()),
            self.report()
        );
        let kept = kept.map_or(0, |kept| kept.len());
        if let [range] = merged.as_slice()
            && !range.may_go
        {
            let inner = &rest[..rest.len() - kept];
            let old = &text[range.range.clone()];
            ensure!(
                is_subsequence(old, inner),
                "bytes went from the range {:?} of an insertion{}",
                range.range,
                self.report()
            );
        }
        self.reordering_keeps_lines()
    }

    /// Reordering moves lines without changing them, except for brackets, commas, dashes and spaces.
    fn reordering_keeps_lines(&self) -> Verdict {
        let [change] = self.changes.as_slice() else { return Ok(()) };
        if !matches!(change.what, What::Move { .. } | What::Reorder(_)) {
            return Ok(());
        }
        let bare = |text: &str| {
            let mut chars: Vec<char> =
                text.chars().filter(|c| !c.is_whitespace() && *c != ',').collect();
            chars.sort_unstable();
            chars
        };
        ensure!(
            bare(self.old.text()) == bare(&self.new),
            "a new order changed more than places{}",
            self.report()
        );
        Ok(())
    }

    /// Property `edit_is_read_back`: the document means what the model says, and the other documents are unchanged.
    pub(crate) fn edit_is_read_back(&self) -> Verdict {
        let file = File::parse(self.new.clone())
            .map_err(|error| format!("not read: {error}{}", self.report()))?;
        let error = file.document(self.document).and_then(|document| document.error());
        ensure!(
            error.is_none(),
            "the result is broken: {}{}",
            error.map(ToString::to_string).unwrap_or_default(),
            self.report()
        );
        let (old, new) = (self.old.documents().len(), file.documents().len());
        ensure!(old == new, "{old} documents became {new}{}", self.report());
        for (before, after) in self.old.documents().zip(file.documents()) {
            if before.index() != self.document {
                ensure!(
                    before.text() == after.text(),
                    "document {} changed{}",
                    before.index(),
                    self.report()
                );
                continue;
            }
            let Some(root) = after.root() else { return Err(format!("no root{}", self.report())) };
            let (old, found) = (self.tree(), Tree::read(root));
            let wanted = expected(&old, &self.changes);
            let difference = wanted.difference(&found).filter(|_| {
                !old.is_json() || spelled_as_json(&wanted).difference(&found).is_some()
            });
            ensure!(difference.is_none(), "{}{}", difference.unwrap_or_default(), self.report());
        }
        self.strings_are_strings_in_yaml_1_1(&file)?;
        if self.old.errors().next().is_none() {
            reading::same_as_parser(&self.new).map_err(|why| format!("{why}{}", self.report()))?;
        }
        reading::round_trip(&self.new)
    }

    /// An edited JSON text contains no scalar that is not JSON, unless JSON cannot represent the value.
    pub(crate) fn has_only_json_scalars(&self) -> Verdict {
        let file = File::parse(self.new.clone()).map_err(|error| error.to_string())?;
        let found = file.document(self.document).and_then(|document| document.root());
        // Without a quoted string, the text is not recognized as JSON.
        let tells = self.tree().is_json() && self.old.text().contains('"') && {
            self.document().root().is_some_and(|root| root.is_collection())
        };
        let odd = found.filter(|_| tells).and_then(|root| yaml_only_scalar(&Tree::read(root)));
        ensure!(odd.is_none(), "`{}` in JSON{}", odd.unwrap_or_default(), self.report());
        Ok(())
    }

    /// A new string is a string in YAML 1.1, too, unless it was one before.
    fn strings_are_strings_in_yaml_1_1(&self, file: &File) -> Verdict {
        let mut old = Vec::new();
        each_scalar(self.document(), &mut old);
        let mut new = Vec::new();
        each_scalar(file.document(self.document).expect("the documents were counted"), &mut new);
        for (value, as_text, for_all) in &new {
            let was_there = old.iter().any(|(other, _, for_all)| other == value && !for_all);
            ensure!(
                !as_text || *for_all || was_there,
                "YAML 1.1 reads the new {value:?} as something else{}",
                self.report()
            );
        }
        Ok(())
    }

    /// Property `unknown_survives`: comments and directives outside the changed entries are kept, and none is added.
    pub(crate) fn unknown_survives(&self) -> Verdict {
        let Ok(file) = File::parse(self.new.clone()) else { return Err("not read".to_owned()) };
        let (Some(new), old) = (file.document(self.document), self.document()) else {
            return Err(format!("the document is gone{}", self.report()));
        };
        ensure!(old.directives() == new.directives(), "directives changed{}", self.report());
        let allowed_ranges = self.allowed_ranges();
        let may_go = |at: usize| allowed_ranges.iter().any(|range| range.lost.contains(&at));
        let mut there: BTreeMap<&str, i32> = BTreeMap::new();
        for comment in new.comments() {
            *there.entry(comment.text).or_default() += 1;
        }
        for comment in old.comments() {
            let count = there.entry(comment.text).or_default();
            *count -= 1;
            let is_lost = *count < 0;
            if is_lost && may_go(comment.span.start as usize) {
                *count += 1;
            } else {
                ensure!(!is_lost, "lost the comment {:?}{}", comment.text, self.report());
            }
        }
        let asked: Vec<&str> = self
            .changes
            .iter()
            .filter_map(|change| match &change.what {
                What::Comment { text, .. } => Some(text.as_str()),
                _ => None,
            })
            .collect();
        for (text, count) in there {
            let wanted = asked.iter().any(|asked| text.ends_with(asked));
            ensure!(
                count <= 0 || wanted,
                "the comment {text:?} came from nowhere{}",
                self.report()
            );
        }
        for text in asked {
            ensure!(
                new.comments().iter().any(|comment| comment.text.ends_with(text)),
                "no comment {text:?}{}",
                self.report()
            );
        }
        Ok(())
    }

    /// The rules of ownership: a removed entry takes its own comments with it, and no others.
    pub(crate) fn comments_move_with_their_owner(&self, comments: &[WrittenComment]) -> Verdict {
        let [Change { path, what: What::Remove { prune } }] = self.changes.as_slice() else {
            return Ok(());
        };
        let mut gone = as_value(&self.tree(), path);
        while *prune && gone.len() > 1 && is_only(&self.tree(), &gone) {
            gone.pop();
            gone = as_value(&self.tree(), &gone);
        }
        let Ok(file) = File::parse(self.new.clone()) else { return Err("not read".to_owned()) };
        let there: Vec<&str> = file
            .documents()
            .flat_map(|document| document.comments())
            .map(|comment| comment.text)
            .collect();
        // The comment at the head of a document belongs to the document, even directly above the first entry.
        let first = |owner: &[usize]| owner.len() == 1 && owner[0] < 2;
        for remark in comments.iter().filter(|remark| remark.document == self.document) {
            let owner = match remark.place {
                Written::Free => &remark.owner[..remark.owner.len().saturating_sub(1)],
                _ => &remark.owner[..],
            };
            let goes = owner.starts_with(&gone);
            let is_there = there.contains(&remark.text.as_str());
            if remark.place == Written::Loose
                || goes && remark.place == Written::Above && first(owner)
            {
                continue;
            }
            ensure!(
                goes != is_there,
                "{} the {:?} comment {:?}{}",
                if goes { "kept" } else { "lost" },
                remark.place,
                remark.text,
                self.report()
            );
        }
        Ok(())
    }
}

/// The text behind a change: as it is, and with spaces for the tabs that indent comments and blank lines before the next token.
///
/// Compat: Kubernetes accepts such tabs behind a plain scalar, which could continue there, and refuses them behind a collection and a quoted
/// scalar. So an edit that replaces the former by the latter has to remove them, and blank lines become empty. That belongs to no entry, but
/// to the gap behind the change; bytes other than this whitespace never change.
fn with_or_without_tabs(text: &str) -> Vec<Cow<'_, str>> {
    let mut all = vec![Cow::Borrowed(text)];
    let mut without = String::new();
    let mut at = 0;
    for line in text.split_inclusive(['\n', '\r']) {
        let content = line.trim_start_matches([' ', '\t']);
        let is_blank = content.trim_matches(['\n', '\r']).is_empty();
        if !is_blank && !content.starts_with('#') {
            break;
        }
        let indent = &line[..line.len() - content.len()];
        if indent.contains('\t') && !is_blank {
            without.push_str(&" ".repeat(indent.len()));
        } else if !indent.contains('\t') {
            without.push_str(indent);
        }
        without.push_str(content);
        at += line.len();
    }
    if without != text[..at] {
        all.push(format!("{without}{}", &text[at..]).into());
    }
    all
}

fn each_scalar(document: DocumentRef<'_>, out: &mut Vec<(String, bool, bool)>) {
    let mut open: Vec<krm_yaml::NodeRef<'_>> = document.root().into_iter().collect();
    while let Some(node) = open.pop() {
        if let Some(scalar) = node.as_scalar() {
            let is_text = scalar.resolve() == ScalarType::String;
            out.push((
                scalar.value().into_owned(),
                is_text,
                scalar.resolve_1_1() == ScalarType::String,
            ));
        }
        open.extend(node.children());
    }
}

/// The path of the value of a key.
fn as_value(tree: &Tree, path: &[usize]) -> Vec<usize> {
    let mut path = path.to_vec();
    let Some(last) = path.pop() else { return path };
    let is_mapping = matches!(at_path(tree, &path).shape, Shape::Mapping { .. });
    path.push(if is_mapping { last | 1 } else { last });
    path
}

fn is_only(tree: &Tree, path: &[usize]) -> bool {
    match &at_path(tree, &path[..path.len() - 1]).shape {
        Shape::Mapping { entries, .. } => entries.len() == 1,
        Shape::Sequence { items, .. } => items.len() == 1,
        _ => false,
    }
}

/// Whether all bytes of `old` occur in `new` in their order.
fn is_subsequence(old: &str, new: &str) -> bool {
    let mut rest = new.bytes();
    old.bytes().all(|byte| rest.any(|other| other == byte))
}
