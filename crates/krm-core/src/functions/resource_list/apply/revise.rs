//! Edits the text of an item until it has the value that was returned. Where an edit is not possible, a larger part is replaced.

use krm_yaml::{Edit, EditError, File, NodeKind, NodeRef, Path, ScalarType, Span};

use super::content::{ExistingComments, node_value};
use super::digits;
use super::kinds::OutputKind;
use super::new_document;
use super::update::{Update, UpdateError, UpdateOptions};
use crate::compare::{CommentIndex, Equality, ResourceLevel, is_equal};
use crate::functions::resource_list::Item;
use crate::print::json;
use crate::{Diagnostic, PackagePath};

/// How often an edit is tried with larger parts replaced.
const MAX_ATTEMPTS: usize = 8;

const ROOT: Equality = Equality::FunctionOutput(ResourceLevel::Root);

/// The item with the returned value. Its text does not change where the value is equal.
pub(super) fn revise(
    item: &Item,
    returned: NodeRef<'_>,
    theirs: &CommentIndex<'_>,
) -> Result<Item, Diagnostic> {
    let root = item.root();
    if theirs.is_empty() && is_equal(root, returned, ROOT) {
        return Ok(item.clone());
    }
    if let Some((node, returned)) = digits::find_lost_digits(root, returned) {
        let sent = node.as_scalar().map(|it| it.value().into_owned()).unwrap_or_default();
        return Err(lost_digits(item, &node.path(), [sent, returned]));
    }
    match item.path.as_ref().is_some_and(PackagePath::is_json) {
        true => revise_json(item, returned, theirs),
        false => revise_as(item, returned, theirs, false),
    }
}

/// Revises an item of a JSON file: numbers are written as JSON spells them, and a value that JSON does not have is an error. The returned
/// resource is converted only where it is not JSON already.
fn revise_json(
    item: &Item,
    returned: NodeRef<'_>,
    theirs: &CommentIndex<'_>,
) -> Result<Item, Diagnostic> {
    if returned.descendants().all(is_json_node) {
        return revise_as(item, returned, theirs, true);
    }
    let file = File::parse(new_document::json_text(returned)?)
        .map_err(|error| Diagnostic::from(&error))?;
    let is_spelled = |node: NodeRef<'_>| match node.as_scalar().map(|it| (it, it.resolve())) {
        Some((scalar, ScalarType::Int(_) | ScalarType::Float(_))) => {
            json::is_number(&scalar.value())
        }
        _ => true,
    };
    match file.document(0).and_then(|it| it.root()) {
        Some(root) if !returned.descendants().all(is_spelled) => {
            revise_as(item, root, &CommentIndex::default(), true)
        }
        _ => revise_as(item, returned, theirs, true),
    }
}

/// Whether a node has a value that JSON has, whatever its style.
fn is_json_node(node: NodeRef<'_>) -> bool {
    let is_key = node.key().is_none() && node.parent().is_some_and(|it| it.as_mapping().is_some());
    let is_plain_node = node.tag().is_none() && node.kind() != NodeKind::Alias;
    is_plain_node
        && match node.as_scalar().map(|it| (it, it.resolve())) {
            Some((it, ScalarType::Int(_) | ScalarType::Float(_))) => json::is_number(&it.value()),
            Some(_) => true,
            None => !is_key,
        }
}

fn revise_as(
    item: &Item,
    returned: NodeRef<'_>,
    theirs: &CommentIndex<'_>,
    is_json: bool,
) -> Result<Item, Diagnostic> {
    let root = item.root();
    let ours =
        if theirs.is_empty() { CommentIndex::default() } else { CommentIndex::of(root.document()) };
    let mut options = UpdateOptions::default();
    for _ in 0..MAX_ATTEMPTS {
        let edit = Edit::new(item.file()).json(is_json);
        let result = Update::new(edit, &options, &ours, theirs).run(root, returned);
        let span = match result {
            Ok(edit) if edit.is_empty() => return Ok(item.clone()),
            Ok(edit) => match edit.apply() {
                Ok(text) if text == item.text() => return Ok(item.clone()),
                Ok(text) => {
                    let new = item.with_text(text)?;
                    if is_equal(new.root(), returned, ROOT) {
                        return Ok(new);
                    }
                    root.span()
                }
                Err(error) => error.span,
            },
            Err(UpdateError::Edit(error)) => error.span,
            Err(UpdateError::LostDigits { path, texts }) => {
                return Err(lost_digits(item, &path, texts));
            }
        };
        if !options.widen(root, span) {
            break;
        }
    }
    item.with_text(new_document::rewritten_text(root, returned, is_json)?)
}

fn lost_digits(item: &Item, path: &Path, [sent, returned]: [String; 2]) -> Diagnostic {
    let kind = OutputKind::LostDigits {
        path: path.to_string(),
        resource: item.resource().label(),
        sent: sent.into(),
        returned: returned.into(),
    };
    let mut error = Diagnostic::error(kind).field(path.to_string());
    if let Some(node) = item.root().document().find(path) {
        error = error.at(item.file(), node.span());
    }
    match &item.path {
        Some(path) => error.in_file(path.as_str()),
        None => error,
    }
}

impl UpdateOptions {
    /// Replaces a larger part as a whole after an edit failed at `span`: first comments are left alone, then the node at `span` and the ones
    /// around it are replaced, and at last every field of the resource that changed. False where nothing is left to try.
    fn widen(&mut self, root: NodeRef<'_>, span: Span) -> bool {
        if !self.without_comments && !self.exact_comments {
            self.without_comments = true;
            return true;
        }
        let covers = |node: &NodeRef<'_>| node.full_span().contains(span) && node.key().is_some();
        let is_replaced = |node: &NodeRef<'_>| self.replaced.contains(&node.index());
        let inside: Vec<NodeRef<'_>> = root.descendants().skip(1).filter(covers).collect();
        let next = inside.into_iter().take_while(|node| !is_replaced(node)).last();
        match next {
            Some(node) => self.replaced.insert(node.index()),
            None => {
                let values = root.as_mapping().into_iter().flat_map(|it| it.entries());
                let before = self.replaced.len();
                self.replaced.extend(values.map(|entry| entry.value.index()));
                self.replaced.len() > before
            }
        }
    }
}

/// Collects the edits that turn an element of a list in a file into an item, with its comments; `None` where an edit is refused or a
/// number was rounded.
pub(crate) fn revise_element<'a>(
    edit: Edit<'a>,
    element: NodeRef<'a>,
    item: &'a Item,
) -> Option<Edit<'a>> {
    let ours = CommentIndex::of(element.document());
    let theirs = CommentIndex::of(item.root().document());
    let options = UpdateOptions { exact_comments: true, ..UpdateOptions::default() };
    Update::new(edit, &options, &ours, &theirs).run(element, item.root()).ok()
}

/// Replaces an element by an item as it is written.
pub(crate) fn replace_element<'a>(
    edit: &mut Edit<'a>,
    element: NodeRef<'a>,
    item: &'a Item,
) -> Result<(), EditError> {
    edit.set(element, node_value(item.root(), ResourceLevel::Other, &ExistingComments::default())?)
}
