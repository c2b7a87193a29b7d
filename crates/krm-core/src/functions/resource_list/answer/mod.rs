//! The answer of a function: every resource that came back is matched, and what changed is edited into the item's text.
//!
//! An item keeps its formatting, the order of its keys, its quotes, anchors and comments, whatever the function did to
//! them. Comments are taken where the function added or changed them. What the item means afterwards is what the function
//! returned; see `same` and `scalars` for what counts as equal.

mod content;
mod digits;
mod fresh;
mod keys;
mod notation;
mod pairs;
mod remarks;
mod revise;
mod same;
mod scalars;
mod timestamp;
mod update;

use krm_yaml::{File, NodeRef};

use super::input::{InputItem, InputList};
use super::output::{self, OutputItem};
use super::pairing::{self, ItemPairs};
use super::results;
use super::{FunctionResult, Item};
use crate::{Diagnostic, PackagePath};
use remarks::Remarks;
pub(crate) use revise::{replace_element, revise_element};

/// What a function answered.
#[derive(Clone, Debug, Default)]
pub struct Answer {
    /// The resources in the order in which they came back. One that did not change shares its text with the one that was sent.
    pub items: Vec<Item>,
    /// For each of them, which of those that were sent it is; none for a new one.
    pub from: Vec<Option<usize>>,
    /// Which of those that were sent did not come back.
    pub gone: Vec<usize>,
    /// What the function has to say.
    pub results: Vec<FunctionResult>,
    /// What was odd.
    pub warnings: Vec<Diagnostic>,
}

/// An answer that cannot be taken.
#[derive(Clone, Debug)]
pub struct Refused {
    /// Why.
    pub error: Diagnostic,
    /// What the function has to say all the same.
    pub results: Vec<FunctionResult>,
    /// What was odd.
    pub warnings: Vec<Diagnostic>,
}

impl InputList<'_> {
    /// Takes a function's output.
    pub fn answer(&self, output: String) -> Result<Answer, Box<Refused>> {
        if output == self.text() {
            return Ok(self.unchanged());
        }
        let refused =
            |error| Box::new(Refused { error, results: Vec::new(), warnings: Vec::new() });
        if self.ends_within(&output) {
            return Err(refused(cut_off("in the middle of a line that is as it was sent")));
        }
        let file = File::parse(output).map_err(|error| refused(Diagnostic::from(&error)))?;
        let said = output::parse_results(&file);
        let refused = |error| {
            let results::ParsedResults { results, warnings } = said.clone();
            Box::new(Refused { error, results, warnings })
        };
        let returned = match output::parse(&file).map_err(refused)? {
            Some(items) => items,
            None if self.is_empty() => Vec::new(),
            None => {
                let words = "the output has no `items`, and resources were sent";
                let told = Diagnostic::untyped_error(words);
                return Err(refused(
                    told.hint("a function that deletes all of them says `items: []`"),
                ));
            }
        };
        let matches = pairing::pair_items(&self.sent, &returned).map_err(refused)?;
        if !matches.gone.is_empty() && ends_within_line(&file) {
            let words = "in the middle of a line, and not all resources came back";
            let hint = "a function that deletes resources ends its output with a line break";
            return Err(refused(cut_off(words).hint(hint)));
        }
        let mut answer = self.take(&file, &returned, &matches).map_err(refused)?;
        (answer.results, answer.warnings) = (said.results, said.warnings);
        Ok(answer)
    }

    /// Whether this is the beginning of what was sent, up to the middle of a line of an item: no function wants that.
    fn ends_within(&self, output: &str) -> bool {
        let rest = self.text().strip_prefix(output).unwrap_or_default();
        let is_inside = |sent: &InputItem<'_>| sent.lines.contains(&output.len());
        !rest.is_empty()
            && !rest.starts_with(['\n', '\r'])
            && !output.ends_with('\n')
            && self.sent.iter().any(is_inside)
    }

    /// Every item as it was sent.
    fn unchanged(&self) -> Answer {
        let items: Vec<Item> = self.sent.iter().map(|sent| sent.item.clone()).collect();
        Answer { from: (0..items.len()).map(Some).collect(), items, ..Answer::default() }
    }

    fn take(
        &self,
        output: &File,
        returned: &[OutputItem<'_>],
        matches: &ItemPairs,
    ) -> Result<Answer, Diagnostic> {
        let mut from = vec![None; returned.len()];
        matches.kept.iter().for_each(|(sent, at)| from[*at] = Some(*sent));
        let nodes: Vec<NodeRef<'_>> = returned.iter().map(|it| it.resource.node).collect();
        let lines = Lines::of(output, &nodes);
        let mut remarks = None;
        let mut items = Vec::with_capacity(returned.len());
        for (at, returned) in returned.iter().enumerate() {
            let Some(sent) = from[at] else {
                items.push(self.new_item(returned)?);
                continue;
            };
            let sent = &self.sent[sent];
            let mut item = match lines.text(at) == &self.text()[sent.lines.clone()] {
                true => sent.item.clone(),
                // Most answers have no comments, and then nobody needs to look for them.
                false if !lines.text(at).contains('#') => {
                    revise::revise(sent.item, nodes[at], &Remarks::default())?
                }
                false => {
                    let document = nodes[at].document();
                    let theirs = remarks.get_or_insert_with(|| Remarks::of(document));
                    revise::revise(sent.item, nodes[at], theirs)?
                }
            };
            self.place(&mut item, sent, returned)?;
            items.push(item);
        }
        Ok(Answer { items, from, gone: matches.gone.clone(), ..Answer::default() })
    }

    fn new_item(&self, returned: &OutputItem<'_>) -> Result<Item, Diagnostic> {
        // A copy of another resource has that one's place until somebody gives it its own.
        let original = returned.id.as_deref().and_then(|id| self.of_id(id));
        let sent = original.map_or((None, None), |it| (it.path.as_ref(), it.item.index));
        let (path, index) = returned.place(sent)?;
        let is_json = path.as_ref().is_some_and(PackagePath::is_json);
        let mut item = Item::parse(fresh::text(returned.resource.node, is_json)?)?;
        let is_copied = original.is_some() && sent == (path.as_ref(), index);
        item.path = path.map(|path| self.outside(&path)).transpose()?;
        item.index = index.filter(|_| item.path.is_some() && !is_copied);
        Ok(item)
    }

    /// Where an item belongs that came back. An index that was left as it was says nothing in another file.
    fn place(
        &self,
        item: &mut Item,
        sent: &InputItem<'_>,
        returned: &OutputItem<'_>,
    ) -> Result<(), Diagnostic> {
        let (path, index) = returned.place((sent.path.as_ref(), sent.item.index))?;
        match path {
            Some(path) if sent.path.as_ref() != Some(&path) => {
                item.path = Some(self.outside(&path)?);
                item.index = index.filter(|index| Some(*index) != sent.item.index);
            }
            _ => item.index = index.or(item.index),
        }
        Ok(())
    }

    fn of_id(&self, id: &str) -> Option<&InputItem<'_>> {
        id.parse::<usize>().ok().and_then(|at| self.sent.get(at))
    }

    /// A path as the root knows it.
    fn outside(&self, path: &PackagePath) -> Result<PackagePath, Diagnostic> {
        let joined = match &*self.folder {
            "" => return Ok(path.clone()),
            folder => format!("{folder}/{path}"),
        };
        PackagePath::new(&joined).map_err(|error| Diagnostic::untyped_error(error.to_string()))
    }
}

/// Whether an output by lines ends without a line break.
fn ends_within_line(output: &File) -> bool {
    let root = output.documents().find_map(|it| it.root());
    root.is_some_and(|it| it.is_block()) && !output.text().ends_with('\n')
}

fn cut_off(how: &str) -> Diagnostic {
    Diagnostic::untyped_error(format!("the output is cut off: it ends {how}"))
}

/// The lines of each item in the output, with the comments above it.
struct Lines<'a> {
    text: &'a str,
    ends: Vec<usize>,
    start: usize,
}

impl<'a> Lines<'a> {
    fn of(output: &'a File, items: &[NodeRef<'_>]) -> Self {
        let text = output.text();
        let behind_line = |at: u32| {
            let rest = &text[at as usize..];
            at as usize + rest.find('\n').map_or(rest.len(), |end| end + 1)
        };
        let list = items.first().and_then(|item| item.parent()).and_then(NodeRef::key);
        let start = list.map_or(0, |key| behind_line(key.end()));
        let end = |item: &NodeRef<'_>| match text[..item.end() as usize].ends_with('\n') {
            true => item.end() as usize,
            false => behind_line(item.end()),
        };
        Self { text, ends: items.iter().map(end).collect(), start }
    }

    fn text(&self, at: usize) -> &'a str {
        let start = at.checked_sub(1).map_or(self.start, |before| self.ends[before]);
        let lines = self.text.get(start..self.ends[at]).unwrap_or_default();
        lines.trim_start_matches(['\n', '\r'])
    }
}
