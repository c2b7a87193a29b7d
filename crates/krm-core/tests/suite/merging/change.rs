//! Random changes of models, as a user makes them on one side.

use super::model::{self, Model};
use crate::properties::draw::Draw;

/// Makes a few changes.
pub(crate) fn some(model: &Model, draw: &mut Draw<'_>, most: usize) -> Model {
    let mut changed = model.clone();
    for _ in 0..=draw.below(most) {
        one(&mut changed, draw, 0);
    }
    changed
}

/// Makes one change somewhere in a value, without changing the identity of the resource.
fn one(model: &mut Model, draw: &mut Draw<'_>, depth: usize) {
    match model {
        Model::Map(entries) if depth == 0 => {
            // The first three fields identify the resource.
            let at = 3 + draw.below(entries.len() - 3);
            one(&mut entries[at].value, draw, 1);
        }
        Model::Map(entries) => {
            let choice = draw.below(10);
            if entries.is_empty() || choice == 0 {
                let key = format!("new{}", draw.below(6));
                if entries.iter().all(|entry| entry.key != key) {
                    let at = draw.below(entries.len() + 1);
                    entries.insert(at, model::entry(draw, &key, 2));
                }
                return;
            }
            let at = draw.below(entries.len());
            if entries[at].key == "name" {
                return;
            }
            match choice {
                1 => drop(entries.remove(at)),
                2 => entries[at].beside = Some(format!("d{}", draw.below(9))),
                3 => entries[at].above = Some(format!("d{}", draw.below(9))),
                4 => entries[at].beside = None,
                5 => entries[at].value = model::value(draw, 2),
                _ => one(&mut entries[at].value, draw, depth + 1),
            }
        }
        Model::List(items) => {
            let is_keyed = matches!(items.first().map(|it| &it.value), Some(Model::Map(_)));
            let at = draw.below(items.len().max(1));
            match draw.below(6) {
                _ if !is_keyed => *model = model::scalars(draw),
                0 => drop(items.remove(at)),
                1 => {
                    let name = 10 + draw.below(5);
                    let is_free = !format!("{items:?}").contains(&format!("\"n{name}\""));
                    if is_free {
                        let place = draw.below(items.len() + 1);
                        items.insert(place, model::element(draw, name, 1));
                    }
                }
                2 => items.swap(at, 0),
                3 => items[at].above = Some(format!("d{}", draw.below(9))),
                _ => one(&mut items[at].value, draw, depth + 1),
            }
        }
        scalar => *scalar = model::scalar(draw),
    }
}
