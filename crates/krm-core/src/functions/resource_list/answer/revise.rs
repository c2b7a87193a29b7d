//! Revises the text of an item: edits where they can be made, and larger parts where they cannot, until it means what it should.

use krm_yaml::{Edit, EditError, File, NodeKind, NodeRef, ScalarType, Span};

use super::content::{self, Known};
use super::digits;
use super::fresh;
use super::remarks::Remarks;
use super::same::{At, is_same};
use super::update::{How, Stop, Update};
use crate::functions::resource_list::Item;
use crate::print::json;
use crate::{Diagnostic, PackagePath};

/// How often an edit is tried with larger parts.
const MOST_TRIES: usize = 8;

/// The item with what a function made of it; the same text where that means the same.
pub(super) fn revise(
    item: &Item,
    returned: NodeRef<'_>,
    theirs: &Remarks<'_>,
) -> Result<Item, Diagnostic> {
    let root = item.root();
    if theirs.is_empty() && is_same(root, returned, At::Root) {
        return Ok(item.clone());
    }
    if let Some((node, words)) = digits::lost(root, returned) {
        return Err(lost_digits(item, &node.path(), &words));
    }
    match item.path.as_ref().is_some_and(PackagePath::is_json) {
        true => in_json(item, returned, theirs),
        false => revise_as(item, returned, theirs, false),
    }
}

/// A file of JSON has numbers as JSON spells them. What it cannot say is found where it is all written as JSON, which is needed
/// only where something is not as JSON has it already.
fn in_json(item: &Item, returned: NodeRef<'_>, theirs: &Remarks<'_>) -> Result<Item, Diagnostic> {
    if returned.descendants().all(is_of_json) {
        return revise_as(item, returned, theirs, true);
    }
    let file = File::parse(fresh::json(returned)?).map_err(|error| Diagnostic::from(&error))?;
    let is_spelled = |node: NodeRef<'_>| match node.as_scalar().map(|it| (it, it.resolve())) {
        Some((scalar, ScalarType::Int(_) | ScalarType::Float(_))) => {
            json::is_number(&scalar.value())
        }
        _ => true,
    };
    match file.document(0).and_then(|it| it.root()) {
        Some(root) if !returned.descendants().all(is_spelled) => {
            revise_as(item, root, &Remarks::default(), true)
        }
        _ => revise_as(item, returned, theirs, true),
    }
}

/// Whether JSON has a node as it is, but for how it is written.
fn is_of_json(node: NodeRef<'_>) -> bool {
    let is_key = node.key().is_none() && node.parent().is_some_and(|it| it.as_mapping().is_some());
    let is_bare = node.tag().is_none() && node.kind() != NodeKind::Alias;
    is_bare
        && match node.as_scalar().map(|it| (it, it.resolve())) {
            Some((it, ScalarType::Int(_) | ScalarType::Float(_))) => json::is_number(&it.value()),
            Some(_) => true,
            None => !is_key,
        }
}

fn revise_as(
    item: &Item,
    returned: NodeRef<'_>,
    theirs: &Remarks<'_>,
    is_json: bool,
) -> Result<Item, Diagnostic> {
    let root = item.root();
    let ours = if theirs.is_empty() { Remarks::default() } else { Remarks::of(root.document()) };
    let mut how = How::default();
    for _ in 0..MOST_TRIES {
        let edit = Edit::new(item.file()).json(is_json);
        let made = Update::new(edit, &how, &ours, theirs).run(root, returned);
        let span = match made {
            Ok(edit) if edit.is_empty() => return Ok(item.clone()),
            Ok(edit) => match edit.apply() {
                Ok(text) if text == item.text() => return Ok(item.clone()),
                Ok(text) => {
                    let new = item.with_text(text)?;
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
    item.with_text(fresh::again(root, returned, is_json)?)
}

fn lost_digits(item: &Item, path: &krm_yaml::Path, words: &str) -> Diagnostic {
    let label = item.resource().label();
    let message = format!("the function lost digits of `{path}` in {label}: {words}");
    let mut told = Diagnostic::untyped_error(message).field(path.to_string());
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

/// Collects the edits that make an element of a list in a file what an item is now, comments and all. `None` where that
/// is not possible, because an edit is refused or a number lost digits.
pub(crate) fn revise_element<'a>(
    edit: Edit<'a>,
    element: NodeRef<'a>,
    item: &'a Item,
) -> Option<Edit<'a>> {
    let ours = Remarks::of(element.document());
    let theirs = Remarks::of(item.root().document());
    let how = How { exact_comments: true, ..How::default() };
    Update::new(edit, &how, &ours, &theirs).run(element, item.root()).ok()
}

/// Puts an item in the place of an element as it is written.
pub(crate) fn replace_element<'a>(
    edit: &mut Edit<'a>,
    element: NodeRef<'a>,
    item: &'a Item,
) -> Result<(), EditError> {
    edit.set(element, content::value(item.root(), At::Below, &Known::default())?)
}
