//! Schemas that nobody would write are read, and asking them anything ends.

use crate::properties::draw::Draw;
use crate::properties::{emit, mutate};
use crate::runner::holds;
use crate::schemas::{sample, survives};

#[test]
fn generated_schemas_are_survived() {
    holds(|bytes| survives(&sample(&mut Draw::new(bytes))));
}

#[test]
fn broken_schemas_are_survived() {
    holds(|bytes| {
        let (choices, rest) = bytes.split_at(bytes.len().min(64));
        survives(&mutate::mutated(&mut Draw::new(choices), &sample(&mut Draw::new(rest))))
    });
}

#[test]
fn documents_that_are_no_schemas_are_survived() {
    holds(|bytes| survives(&emit::sample(&mut Draw::new(bytes)).text));
}

/// The generator would prove nothing if it made nothing that is understood.
#[test]
fn generated_schemas_have_types() {
    let mut keyed = 0;
    for seed in 0..=255_u8 {
        let choices: Vec<u8> = (0..600_u32)
            .map(|at| (((at + 7) * (u32::from(seed) * 2 + 1) * 31) >> 3) as u8)
            .collect();
        keyed += usize::from(crate::schemas::has_keys(&sample(&mut Draw::new(&choices))));
    }
    assert!(keyed > 5, "only {keyed} of 256 have a list with keys");
}
