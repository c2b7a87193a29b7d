//! Writing: the text that was read with the resources as they are now, and what the function has to say.

use krm_core::Diagnostic;
use krm_core::functions::resource_list::{FunctionResult, Item};
use krm_yaml::{Edit, File, KeyPosition, Value};

use super::{Form, Stream, is_null};
use crate::{Error, Resource, ResourceList, place};

/// A resource of the output: the one that was read at a place, as it is, or with another text.
pub(super) enum Piece {
    Same(usize),
    Changed(usize, Item),
    New(Item),
}

impl Stream {
    /// The output, in the form of the input.
    pub fn write(&self, list: &ResourceList) -> Result<String, Error> {
        let text = match self.form {
            Form::Documents => self.write_documents(&self.pieces(list)?),
            _ => self.write_list(&self.pieces(list)?)?,
        };
        self.with_results(text, &list.results)
    }

    /// The input as it was read, with results: what a function says that failed.
    pub fn write_failed(&self, results: &[FunctionResult]) -> Result<String, Error> {
        self.with_results(self.text().to_owned(), results)
    }

    fn pieces(&self, list: &ResourceList) -> Result<Vec<Piece>, Error> {
        let chosen = self.chosen(&list.items);
        let pieces = list.items.iter().enumerate().map(|(at, resource)| {
            let item = resource.item();
            let origin = item.origin.filter(|origin| chosen.get(*origin) == Some(&Some(at)));
            let Some(origin) = origin else { return self.new_piece(item) };
            let sent = &self.before[origin];
            let is_there = (&sent.item.path, sent.item.index) == (&item.path, item.index);
            if is_there && item.shares_text(&sent.item) {
                return Ok(Piece::Same(origin));
            }
            Ok(Piece::Changed(origin, place::dress(item, &sent.taken, true)?))
        });
        pieces.collect()
    }

    fn new_piece(&self, item: &Item) -> Result<Piece, Error> {
        let mut new = item.clone();
        // A copy does not stand where its original does.
        if item.origin.is_some_and(|origin| {
            self.before.get(origin).is_some_and(|it| it.item.path == item.path)
        }) {
            new.index = None;
        }
        Ok(Piece::New(place::dress(&new, &[], false)?))
    }

    /// Which of the resources is the one that was read, for each: of copies the one that kept its identity.
    fn chosen(&self, items: &[Resource]) -> Vec<Option<usize>> {
        let mut chosen: Vec<Option<usize>> = vec![None; self.before.len()];
        for (at, resource) in items.iter().enumerate() {
            let Some(origin) = resource.item().origin.filter(|it| *it < chosen.len()) else {
                continue;
            };
            let kept = |at: usize| {
                items[at].view().identity() == self.before[origin].item.resource().identity()
            };
            match chosen[origin] {
                Some(other) if kept(other) || !kept(at) => {}
                _ => chosen[origin] = Some(at),
            }
        }
        chosen
    }

    fn with_results(&self, text: String, results: &[FunctionResult]) -> Result<String, Error> {
        let Form::ResourceList(version) = self.form else { return Ok(text) };
        if results.is_empty() {
            return Ok(text);
        }
        let file = File::parse(text).map_err(|error| Diagnostic::from(&error))?;
        let told = |error| Diagnostic::from_edit(&error, &file);
        let root = file.documents().filter_map(|it| it.root()).find(|root| !is_null(*root));
        let Some(root) = root else { return Ok(file.into_text()) };
        let values = results.iter().map(|result| result.to_value(version));
        let mut edit = Edit::new(&file);
        match root.as_mapping().and_then(|mapping| mapping.get("results")) {
            Some(there) if there.as_sequence().is_some() => {
                for value in values {
                    edit.append(there, value).map_err(told)?;
                }
            }
            Some(there) => edit.set(there, Value::Sequence(values.collect())).map_err(told)?,
            None => {
                let values = Value::Sequence(values.collect());
                edit.insert_key(root, "results", values, KeyPosition::Last).map_err(told)?;
            }
        }
        Ok(edit.apply().map_err(told)?)
    }
}

impl Piece {
    /// Which of the resources that were read it is; none for a new one.
    pub(super) fn origin(&self) -> Option<usize> {
        match self {
            Self::Same(origin) | Self::Changed(origin, _) => Some(*origin),
            Self::New(_) => None,
        }
    }
}
