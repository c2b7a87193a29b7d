//! Applies the output of a function: each returned resource is paired with the item that was sent, and the changes are edited into the
//! text of the item.
//!
//! An item keeps its formatting, key order, quotes, anchors and comments, whatever the function did to them: most functions parse and
//! print a resource and lose all of that. A comment is taken where the function added or changed it. Afterwards the item has the value
//! that was returned; [`crate::compare::Equality::FunctionOutput`] defines what counts as equal.

mod content;
mod digits;
mod kinds;
mod new_document;
mod notation;
mod revise;
mod update;

use krm_yaml::{File, NodeRef};

use super::input::{InputItem, InputList};
use super::output::{self, OutputItem};
use super::pairing::{self, ItemPairs};
use super::results;
use super::{FunctionResult, Item};
use crate::compare::CommentIndex;
use crate::{Diagnostic, PackagePath};
pub use kinds::OutputKind;
pub(crate) use new_document::to_json;
pub(crate) use revise::{replace_element, revise_element};

/// The items after the output of a function was applied.
#[derive(Clone, Debug, Default)]
pub struct AppliedOutput {
    /// The items in the order in which they were returned. One that did not change shares its text with the one that was sent.
    pub items: Vec<Item>,
    /// For each item the position of the one that was sent; `None` for a new one.
    pub sources: Vec<Option<usize>>,
    /// The positions of items that were sent and not returned.
    pub removed: Vec<usize>,
    /// The results of the function.
    pub results: Vec<FunctionResult>,
    /// Warnings about the results.
    pub warnings: Vec<Diagnostic>,
}

/// Why the output of a function cannot be applied.
#[derive(Clone, Debug)]
pub struct OutputError {
    /// The error.
    pub error: Diagnostic,
    /// The results of the function, which are valid all the same.
    pub results: Vec<FunctionResult>,
    /// Warnings about the results.
    pub warnings: Vec<Diagnostic>,
}

impl InputList<'_> {
    /// Applies the output of a function.
    pub fn apply_output(&self, output: String) -> Result<AppliedOutput, Box<OutputError>> {
        if output == self.text() {
            return Ok(self.unchanged());
        }
        let refused =
            |error| Box::new(OutputError { error, results: Vec::new(), warnings: Vec::new() });
        if self.is_truncated_input(&output) {
            let kind =
                OutputKind::Truncated { consequence: "is the beginning of a line that was sent" };
            return Err(refused(Diagnostic::error(kind)));
        }
        let file = File::parse(output).map_err(|error| refused(Diagnostic::from(&error)))?;
        let parsed = output::parse_results(&file);
        let refused = |error| {
            let results::ParsedResults { results, warnings } = parsed.clone();
            Box::new(OutputError { error, results, warnings })
        };
        let returned = match output::parse(&file).map_err(refused)? {
            Some(items) => items,
            None if self.is_empty() => Vec::new(),
            None => return Err(refused(Diagnostic::error(OutputKind::MissingItems))),
        };
        let pairs = pairing::pair_items(&self.sent, &returned).map_err(refused)?;
        if !pairs.gone.is_empty() && has_incomplete_line(&file) {
            let kind =
                OutputKind::Truncated { consequence: "is incomplete, and resources are missing" };
            return Err(refused(Diagnostic::error(kind)));
        }
        let mut applied = self.apply_items(&file, &returned, &pairs).map_err(refused)?;
        let absolute = returned.iter().filter_map(|it| it.absolute.clone());
        (applied.results, applied.warnings) =
            (parsed.results, absolute.chain(parsed.warnings).collect());
        Ok(applied)
    }

    /// Whether the output is the beginning of the input, up to the middle of a line of an item. No function returns that on purpose:
    /// a process such as `cat` was killed.
    fn is_truncated_input(&self, output: &str) -> bool {
        let rest = self.text().strip_prefix(output).unwrap_or_default();
        let is_inside = |sent: &InputItem<'_>| sent.lines.contains(&output.len());
        !rest.is_empty()
            && !rest.starts_with(['\n', '\r'])
            && !output.ends_with('\n')
            && self.sent.iter().any(is_inside)
    }

    /// All items as they were sent: what [`InputList::apply_output`] returns for an output that is the input.
    pub fn unchanged(&self) -> AppliedOutput {
        let items: Vec<Item> = self.sent.iter().map(|sent| (*sent.item).clone()).collect();
        let sources = (0..items.len()).map(Some).collect();
        AppliedOutput { sources, items, ..AppliedOutput::default() }
    }

    fn apply_items(
        &self,
        output: &File,
        returned: &[OutputItem<'_>],
        pairs: &ItemPairs,
    ) -> Result<AppliedOutput, Diagnostic> {
        let mut sources = vec![None; returned.len()];
        pairs.kept.iter().for_each(|(sent, at)| sources[*at] = Some(*sent));
        let nodes: Vec<NodeRef<'_>> = returned.iter().map(|it| it.resource.node).collect();
        let lines = ItemLines::of(output, &nodes);
        let mut comments = None;
        let mut items = Vec::with_capacity(returned.len());
        for (at, returned) in returned.iter().enumerate() {
            let sent = sources[at].map(|sent| &*self.sent[sent].item);
            output::check_name(returned.resource, sent)?;
            let Some(sent) = sources[at] else {
                items.push(self.new_item(returned)?);
                continue;
            };
            let sent = &self.sent[sent];
            let mut item = match lines.text(at) == &self.text()[sent.lines.clone()] {
                true => (*sent.item).clone(),
                // Most output has no comments. Indexing them takes a pass over the whole document.
                false if !lines.text(at).contains('#') => {
                    let theirs = CommentIndex::default();
                    sent.changed(|item| revise::revise(item, nodes[at], &theirs))?
                }
                false => {
                    let document = nodes[at].document();
                    let theirs = comments.get_or_insert_with(|| CommentIndex::of(document));
                    sent.changed(|item| revise::revise(item, nodes[at], theirs))?
                }
            };
            self.set_location(&mut item, sent, returned)?;
            items.push(item);
        }
        let removed = pairs.gone.clone();
        Ok(AppliedOutput { items, sources, removed, ..AppliedOutput::default() })
    }

    fn new_item(&self, returned: &OutputItem<'_>) -> Result<Item, Diagnostic> {
        // A copy of another resource carries the annotations of the original.
        let original = returned.id.as_deref().and_then(|id| self.of_id(id));
        let sent = original.map_or((None, None), |it| (it.path.as_ref(), it.item.index));
        let (path, index) = returned.target(sent)?;
        let mut item = Item::parse(new_document::document_text(returned.resource.node, false)?)?;
        item.path = path.map(|path| self.path_from_root(&path));
        item.index = index.filter(|_| item.path.is_some());
        Ok(item)
    }

    /// Sets the path and the index that were returned. Without an index, a resource keeps its position, or is the last one of another file.
    fn set_location(
        &self,
        item: &mut Item,
        sent: &InputItem<'_>,
        returned: &OutputItem<'_>,
    ) -> Result<(), Diagnostic> {
        let (path, index) = returned.target((sent.path.as_ref(), sent.item.index))?;
        match path {
            Some(path) if sent.path.as_ref() != Some(&path) => {
                item.path = Some(self.path_from_root(&path));
                item.index = index;
            }
            _ => item.index = index.or(item.index),
        }
        Ok(())
    }

    fn of_id(&self, id: &str) -> Option<&InputItem<'_>> {
        id.parse::<usize>().ok().and_then(|at| self.sent.get(at))
    }

    /// A path relative to the root package.
    fn path_from_root(&self, path: &PackagePath) -> PackagePath {
        path.in_directory(&self.directory)
    }
}

/// Whether an output in block style ends without a line break.
fn has_incomplete_line(output: &File) -> bool {
    let root = output.documents().find_map(|it| it.root());
    root.is_some_and(|it| it.is_block()) && !output.text().ends_with('\n')
}

/// The lines of each item in the output, with the comments above it. An item with the same lines as the input is not compared any
/// further.
struct ItemLines<'a> {
    text: &'a str,
    ends: Vec<usize>,
    start: usize,
}

impl<'a> ItemLines<'a> {
    fn of(output: &'a File, items: &[NodeRef<'_>]) -> Self {
        let text = output.text();
        let end_of_line = |at: u32| {
            let rest = &text[at as usize..];
            at as usize + rest.find('\n').map_or(rest.len(), |end| end + 1)
        };
        let list = items.first().and_then(|item| item.parent()).and_then(NodeRef::key);
        let start = list.map_or(0, |key| end_of_line(key.end()));
        let end = |item: &NodeRef<'_>| match text[..item.end() as usize].ends_with('\n') {
            true => item.end() as usize,
            false => end_of_line(item.end()),
        };
        Self { text, ends: items.iter().map(end).collect(), start }
    }

    fn text(&self, at: usize) -> &'a str {
        let start = at.checked_sub(1).map_or(self.start, |before| self.ends[before]);
        let lines = self.text.get(start..self.ends[at]).unwrap_or_default();
        lines.trim_start_matches(['\n', '\r'])
    }
}
