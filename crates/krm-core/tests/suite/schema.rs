//! Property tests of schemas: arbitrary documents are read without a panic, and every query of their types terminates.

use crate::properties::draw::Draw;
use crate::properties::{emit, mutate};
use crate::runner::holds;
use crate::schemas::{can_be_read, sample};

#[test]
fn generated_schemas_are_read() {
    holds(|bytes| can_be_read(&sample(&mut Draw::new(bytes))));
}

#[test]
fn mutated_schemas_are_read() {
    holds(|bytes| {
        let (choices, rest) = bytes.split_at(bytes.len().min(64));
        can_be_read(&mutate::mutated(&mut Draw::new(choices), &sample(&mut Draw::new(rest))))
    });
}

#[test]
fn arbitrary_documents_are_read() {
    holds(|bytes| can_be_read(&emit::sample(&mut Draw::new(bytes)).text));
}

/// Checks that the generator produces valid schemas, too.
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
