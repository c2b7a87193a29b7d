//! Writing a list: changed items are replaced in place, in the layout of the list.

use std::borrow::Cow;

use krm_core::Diagnostic;
use krm_core::print::json;
use krm_yaml::{Edit, File, KeyPosition, NodeRef, Span, Value};

use super::layout::{Layout, ensure_trailing_newline};
use super::write::OutputItem;
use super::{ItemSlot, Stream, field, is_null};
use crate::Error;
use crate::kinds::StreamKind;

/// The placeholder for new items.
const PLACEHOLDER: &str = "krm-sdk-items";

impl Stream {
    pub(super) fn write_list(&self, output: &[OutputItem]) -> Result<String, Error> {
        if output.len() == self.slots.len()
            && output
                .iter()
                .enumerate()
                .all(|(at, it)| matches!(it, OutputItem::Unchanged(same) if *same == at))
        {
            return Ok(self.text().to_owned());
        }
        let text = match (self.items(), &self.slots[..]) {
            (Some(items), [first, .., last]) => self.splice(items, *first, *last, output)?,
            (Some(items), [only]) => self.splice(items, *only, *only, output)?,
            _ => self.insert_first_items(output)?,
        };
        self.check(&text, output)?;
        Ok(text)
    }

    /// Replaces the bytes from the first to the last item.
    fn splice(
        &self,
        items: NodeRef<'_>,
        first: ItemSlot,
        last: ItemSlot,
        output: &[OutputItem],
    ) -> Result<String, Diagnostic> {
        let mut out = self.bytes(Span::new(0, first.span.start)).to_owned();
        if output.is_empty() {
            return Ok(self.without_items(items, last));
        }
        let is_block = items.is_block();
        let mut before: Option<usize> = None;
        for (at, item) in output.iter().enumerate() {
            if at > 0 {
                out.push_str(&self.separator(before, item.origin(), is_block, first));
            }
            if is_block {
                out = ensure_trailing_newline(out);
            }
            out.push_str(&self.item_text(item, first)?);
            before = item.origin();
        }
        let rest = Span::new(last.span.end, self.text().len() as u32);
        if is_block && !self.bytes(rest).is_empty() {
            out = ensure_trailing_newline(out);
        }
        Ok(out + self.bytes(rest))
    }

    fn item_text(&self, item: &OutputItem, first: ItemSlot) -> Result<String, Diagnostic> {
        match item {
            OutputItem::Unchanged(origin) => Ok(self.bytes(self.slots[*origin].span).to_owned()),
            OutputItem::Changed(origin, changed) => self.slots[*origin].layout.write(changed),
            OutputItem::New(new) => first.layout.for_new_item().write(new),
        }
    }

    /// The bytes between two items: those of the input if they were neighbours, otherwise the usual ones of the list.
    fn separator(
        &self,
        left: Option<usize>,
        right: Option<usize>,
        is_block: bool,
        first: ItemSlot,
    ) -> Cow<'_, str> {
        let gap = |at: usize| {
            self.bytes(Span::new(self.slots[at].span.end, self.slots[at + 1].span.start))
        };
        match (left, right) {
            (Some(left), Some(right)) if left + 1 == right => Cow::Borrowed(gap(left)),
            _ if is_block => Cow::Borrowed(""),
            _ if self.slots.len() > 1 => Cow::Borrowed(gap(0)),
            _ => {
                let lead = self.text()[..first.span.start as usize].rsplit('[').next();
                let lead = lead.unwrap_or_default();
                Cow::Owned(format!(",{}", if lead.is_empty() { " " } else { lead }))
            }
        }
    }

    /// The list with `[]` in place of its items.
    fn without_items(&self, items: NodeRef<'_>, last: ItemSlot) -> String {
        let start = items.as_sequence().and_then(|it| it.items().next()).map(|node| node.start());
        let text = self.text();
        if !items.is_block() {
            let open = Span::new(0, items.start() + 1);
            return format!("{}{}", self.bytes(open), &text[items.end() as usize - 1..]);
        }
        let head = start.map_or(0, |_| self.slots[0].span.start) as usize;
        let head = text[..head].trim_end_matches(['\n', '\r', ' ']);
        let lead = if head.is_empty() { "" } else { " " };
        format!("{head}{lead}[]\n{}", &text[last.span.end as usize..])
    }

    /// Adds items to an empty list, or to one without `items`.
    fn insert_first_items(&self, output: &[OutputItem]) -> Result<String, Error> {
        let diagnostic = |error| Diagnostic::from_edit(&error, &self.file);
        let Some(root) = self.root() else { return Ok(self.text().to_owned()) };
        let is_json = !root.is_block();
        let rendered = |item: &OutputItem| match item {
            OutputItem::New(item) | OutputItem::Changed(_, item) if is_json => {
                json::of_node(item.root())
            }
            OutputItem::New(item) => Layout::Block(0, 2, None).write(item),
            _ => Ok(String::new()),
        };
        let list: Vec<String> = output.iter().map(rendered).collect::<Result<_, _>>()?;
        // The edit inserts a placeholder element, so that it decides on indentation and separators while the items keep their
        // own text, comments included.
        let mut edit = Edit::new(&self.file);
        let placeholder = Value::Sequence(vec![Value::string(PLACEHOLDER)]);
        match field(root, "items") {
            Some(items) => edit.set(items, placeholder).map_err(diagnostic)?,
            None => edit
                .insert_key(root, "items", placeholder, KeyPosition::After("kind"))
                .map_err(diagnostic)?,
        }
        let text = edit.apply().map_err(diagnostic)?;
        let Some(at) = text.find(PLACEHOLDER) else { return Ok(text) };
        if is_json {
            let start = text[..at].rfind('[').map_or(at, |at| at + 1);
            let end = text[at..].find(']').map_or(text.len(), |end| at + end);
            return Ok(format!("{}{}{}", &text[..start], list.join(", "), &text[end..]));
        }
        let start = text[..at].rfind('\n').map_or(0, |at| at + 1);
        let end = text[at..].find('\n').map_or(text.len(), |end| at + end + 1);
        Ok(format!("{}{}{}", &text[..start], list.concat(), &text[end..]))
    }

    /// Checks that every resource means the same in the list as alone.
    fn check(&self, text: &str, output: &[OutputItem]) -> Result<(), Error> {
        let unwritable = || Error::from(Diagnostic::error(StreamKind::UnwritableList));
        let file = File::parse(text.to_owned()).map_err(|_| unwritable())?;
        let root = file.documents().filter_map(|it| it.root()).find(|root| !is_null(*root));
        let root = root.ok_or_else(unwritable)?;
        let items = if root.as_sequence().is_some() { Some(root) } else { field(root, "items") };
        let nodes: Vec<NodeRef<'_>> = items.into_iter().flat_map(NodeRef::children).collect();
        let meaning = |node: NodeRef<'_>| json::display(&Value::Node(node));
        let old: Vec<NodeRef<'_>> = self.items().into_iter().flat_map(NodeRef::children).collect();
        let is_same = nodes.len() == output.len()
            && nodes.iter().zip(output).all(|(node, item)| {
                let expected = match item {
                    OutputItem::Unchanged(origin) => old.get(*origin).map(|node| meaning(*node)),
                    OutputItem::Changed(_, item) | OutputItem::New(item) => {
                        Some(meaning(item.root()))
                    }
                };
                Some(meaning(*node)) == expected
            });
        if is_same { Ok(()) } else { Err(unwritable()) }
    }
}
