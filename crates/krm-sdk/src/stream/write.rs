//! Writing the output: the input text with the changed resources and the results.

use krm_core::Diagnostic;
use krm_core::functions::resource_list::{FunctionResult, Item};
use krm_yaml::{Edit, File, KeyPosition, Value};

use super::{InputFormat, Stream, is_null};
use crate::{Error, Resource, ResourceList, wire_annotations};

/// A resource of the output. Numbers are indexes of the input.
pub(super) enum OutputItem {
    Unchanged(usize),
    Changed(usize, Item),
    New(Item),
}

impl Stream {
    /// The output, in the format of the input.
    pub fn write(&self, list: &ResourceList) -> Result<String, Error> {
        let text = match self.format {
            InputFormat::Documents => self.write_documents(&self.output_items(list)?)?,
            _ => self.write_list(&self.output_items(list)?)?,
        };
        self.with_results(text, &list.results)
    }

    /// The output of a failed function: the input with results.
    pub fn write_failed(&self, results: &[FunctionResult]) -> Result<String, Error> {
        self.with_results(self.text().to_owned(), results)
    }

    fn output_items(&self, list: &ResourceList) -> Result<Vec<OutputItem>, Error> {
        let updates = self.updates(&list.items);
        let items = list.items.iter().enumerate().map(|(at, resource)| {
            let item = resource.item();
            let origin = item.origin.filter(|origin| updates.get(*origin) == Some(&Some(at)));
            let Some(origin) = origin else { return Self::new_item(item) };
            let received = &self.received[origin];
            let is_in_place =
                (&received.item.path, received.item.index) == (&item.path, item.index);
            if is_in_place && item.shares_text(&received.item) {
                return Ok(OutputItem::Unchanged(origin));
            }
            Ok(OutputItem::Changed(
                origin,
                wire_annotations::restore(item, &received.removed, true)?,
            ))
        });
        items.collect()
    }

    fn new_item(item: &Item) -> Result<OutputItem, Error> {
        Ok(OutputItem::New(wire_annotations::restore(item, &[], false)?))
    }

    /// For each received resource the index of its update. Of several copies it is the one that kept the identity.
    fn updates(&self, items: &[Resource]) -> Vec<Option<usize>> {
        let mut updates: Vec<Option<usize>> = vec![None; self.received.len()];
        for (at, resource) in items.iter().enumerate() {
            let Some(origin) = resource.item().origin.filter(|it| *it < updates.len()) else {
                continue;
            };
            let is_same = |at: usize| {
                items[at].view().identity() == self.received[origin].item.resource().identity()
            };
            match updates[origin] {
                Some(other) if is_same(other) || !is_same(at) => {}
                _ => updates[origin] = Some(at),
            }
        }
        updates
    }

    fn with_results(&self, text: String, results: &[FunctionResult]) -> Result<String, Error> {
        let InputFormat::ResourceList(version) = self.format else { return Ok(text) };
        if results.is_empty() {
            return Ok(text);
        }
        let file = File::parse(text).map_err(|error| Diagnostic::from(&error))?;
        let diagnostic = |error| Diagnostic::from_edit(&error, &file);
        let root = file.documents().filter_map(|it| it.root()).find(|root| !is_null(*root));
        let Some(root) = root else { return Ok(file.into_text()) };
        let values = results.iter().map(|result| result.to_value(version));
        let mut edit = Edit::new(&file);
        match root.as_mapping().and_then(|mapping| mapping.get("results")) {
            Some(existing) if existing.as_sequence().is_some() => {
                for value in values {
                    edit.append(existing, value).map_err(diagnostic)?;
                }
            }
            Some(existing) => {
                edit.set(existing, Value::Sequence(values.collect())).map_err(diagnostic)?;
            }
            None => {
                let values = Value::Sequence(values.collect());
                edit.insert_key(root, "results", values, KeyPosition::Last).map_err(diagnostic)?;
            }
        }
        Ok(edit.apply().map_err(diagnostic)?)
    }
}

impl OutputItem {
    /// The index in the input; none for a new resource.
    pub(super) fn origin(&self) -> Option<usize> {
        match self {
            Self::Unchanged(origin) | Self::Changed(origin, _) => Some(*origin),
            Self::New(_) => None,
        }
    }
}
