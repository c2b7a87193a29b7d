//! Revises the text of an item: edits where they can be made, and larger parts where they cannot, until it means what it should.

use krm_yaml::{Edit, EditError, NodeRef, Span};

use super::content::{self, Known};
use super::fresh;
use super::remarks::Remarks;
use super::same::{At, is_same};
use super::update::{How, Stop, Update};
use crate::wire::Item;
use crate::{Diagnostic, PackagePath};

/// How often an edit is tried with larger parts.
const MOST_TRIES: usize = 8;

/// How many edits one after the other make an item what it should be.
const MOST_PASSES: usize = 3;

/// The item with what a function made of it; the same text where that means the same.
pub(super) fn revise(
    item: &Item,
    returned: NodeRef<'_>,
    theirs: &Remarks<'_>,
) -> Result<Item, Diagnostic> {
    revise_in(item, returned, theirs, MOST_PASSES)
}

fn revise_in(
    item: &Item,
    returned: NodeRef<'_>,
    theirs: &Remarks<'_>,
    passes: usize,
) -> Result<Item, Diagnostic> {
    let root = item.root();
    if theirs.is_empty() && is_same(root, returned, At::Root) {
        return Ok(item.clone());
    }
    let ours = if theirs.is_empty() { Remarks::default() } else { Remarks::of(root.document()) };
    let is_json = item.path.as_ref().is_some_and(PackagePath::is_json);
    let mut how = How::default();
    for _ in 0..MOST_TRIES {
        let edit = Edit::new(item.file()).json(is_json);
        let made = Update::new(edit, &how, &ours, theirs).run(root, returned);
        let span = match made {
            Ok((edit, false)) if edit.is_empty() => return Ok(item.clone()),
            Ok((edit, is_partial)) => match edit.apply() {
                Ok(text) if text == item.text() && !is_partial => return Ok(item.clone()),
                Ok(text) => {
                    let new = item.with_text(text)?;
                    if is_partial && passes > 0 {
                        return revise_in(&new, returned, theirs, passes - 1);
                    }
                    if is_same(new.root(), returned, At::Root) {
                        return Ok(new);
                    }
                    root.span()
                }
                Err(error) => error.span,
            },
            Err(Stop::Edit(error)) => error.span,
            Err(Stop::LostDigits(path, words)) => return Err(lost_digits(item, &path, &words)),
        };
        if !how.widen(root, span) {
            break;
        }
    }
    item.with_text(fresh::text(returned, is_json)?)
}

fn lost_digits(item: &Item, path: &krm_yaml::Path, words: &str) -> Diagnostic {
    let label = item.resource().label();
    let message = format!("the function lost digits of `{path}` in {label}: {words}");
    let mut told = Diagnostic::error(message).field(path.to_string());
    if let Some(node) = item.root().document().find(path) {
        told = told.at(item.file(), node.span());
    }
    if let Some(path) = &item.path {
        told = told.in_file(path.as_str());
    }
    told.hint("write the number in quotes, if whoever reads it takes a text, or let the function read integers")
}

impl How {
    /// Takes a larger part as a whole: first no comments, then the node that stands in the way and those around it, and at
    /// last every field of the resource that changed. False where nothing is left to try.
    fn widen(&mut self, root: NodeRef<'_>, span: Span) -> bool {
        if !self.without_comments && !self.exact_comments {
            self.without_comments = true;
            return true;
        }
        let covers = |node: &NodeRef<'_>| node.full_span().contains(span) && node.key().is_some();
        let known = |node: &NodeRef<'_>| self.whole.contains(&node.index());
        let inside: Vec<NodeRef<'_>> = root.descendants().skip(1).filter(covers).collect();
        let free = inside.into_iter().take_while(|node| !known(node)).last();
        match free {
            Some(node) => self.whole.insert(node.index()),
            None => {
                let values = root.as_mapping().into_iter().flat_map(|it| it.entries());
                let before = self.whole.len();
                self.whole.extend(values.map(|entry| entry.value.index()));
                self.whole.len() > before
            }
        }
    }
}

/// Collects the edits that make an element of a list in a file what an item is now, comments and all.
pub(crate) fn revise_element<'a>(
    edit: Edit<'a>,
    element: NodeRef<'a>,
    item: &'a Item,
) -> Result<Edit<'a>, EditError> {
    let ours = Remarks::of(element.document());
    let theirs = Remarks::of(item.root().document());
    let how = How { exact_comments: true, ..How::default() };
    match Update::new(edit, &how, &ours, &theirs).run(element, item.root()) {
        Ok((edit, false)) => Ok(edit),
        Ok((_, true)) => {
            let message = "elements of a list change places while others come".to_owned();
            Err(EditError { message, span: element.span() })
        }
        Err(Stop::Edit(error)) => Err(error),
        Err(Stop::LostDigits(path, words)) => {
            let message = format!("`{path}` lost digits: {words}");
            Err(EditError { message, span: element.span() })
        }
    }
}

/// Puts an item in the place of an element as it is written.
pub(crate) fn replace_element<'a>(
    edit: &mut Edit<'a>,
    element: NodeRef<'a>,
    item: &'a Item,
) -> Result<(), EditError> {
    edit.set(element, content::value(item.root(), At::Below, &Known::default())?)
}
