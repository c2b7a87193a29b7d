//! The laws of formatting as properties: each holds for thousands of generated resources.

use crate::formatting::{self, Choice};
use crate::properties::draw::Draw;
use crate::runner::holds;

fn try_all(law: impl Fn(&Choice) -> crate::properties::Verdict) {
    holds(|bytes| match formatting::choose(&mut Draw::new(bytes)) {
        Some(choice) => law(&choice),
        None => Ok(()),
    });
}

#[test]
fn set_twice_is_set_once() {
    try_all(Choice::twice_is_once);
}

#[test]
fn same_input_same_bytes() {
    try_all(Choice::same_input_same_bytes);
}

#[test]
fn unknown_survives() {
    try_all(|choice| {
        choice.same_meaning()?;
        choice.unknown_survives()
    });
}
