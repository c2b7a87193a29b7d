//! The laws as properties: each holds for thousands of generated documents and edits.

use crate::laws::draw::Draw;
use crate::laws::emit::{self, Sample};
use crate::laws::{mutate, reading};
use crate::runner::holds;

fn sample(bytes: &[u8]) -> Sample {
    emit::sample(&mut Draw::new(bytes))
}

#[test]
fn round_trip() {
    holds(|bytes| {
        let mut draw = Draw::new(bytes);
        let text = emit::sample(&mut draw).text;
        reading::round_trip(&text)?;
        reading::round_trip(&mutate::mutated(&mut Draw::new(bytes), &text))?;
        reading::round_trip(&String::from_utf8_lossy(bytes))
    });
}

#[test]
fn same_meaning() {
    holds(|bytes| {
        let sample = sample(bytes);
        reading::known_meaning(&sample)?;
        reading::as_the_front_end(&sample.text)
    });
}

#[test]
fn same_meaning_of_broken_text() {
    holds(|bytes| {
        let sample = sample(bytes);
        let (tail, _) = bytes.split_at(bytes.len().min(64));
        reading::as_the_front_end(&mutate::mutated(&mut Draw::new(tail), &sample.text))
    });
}
