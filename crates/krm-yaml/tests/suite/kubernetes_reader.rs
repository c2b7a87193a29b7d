//! Property tests with Kubernetes' own reader as the reference. They are skipped if it is not built.

use std::cell::RefCell;

use krm_testkit::KubernetesReader;

use crate::properties::draw::Draw;
use crate::properties::editing::{self, EditResult, Scope};
use crate::properties::kubernetes::{Comparison, compare, reads_edit};
use crate::properties::{Verdict, common_lines, emit, mutate};
use crate::runner::holds;

/// The number of choices for the edit; the others make the document.
const EDIT_CHOICES: usize = 40;

#[expect(clippy::print_stdout, reason = "a test says why it is skipped")]
fn with_reader(check: impl Fn(&[u8], &mut KubernetesReader) -> Verdict) {
    let Some(reader) = KubernetesReader::start() else {
        return println!("skipped: run `cargo xtask peers --only gopeer` first");
    };
    let reader = RefCell::new(reader.expect("gopeer starts"));
    holds(|bytes| check(bytes, &mut reader.borrow_mut()));
}

fn same(text: &str, reader: &mut KubernetesReader) -> Verdict {
    match compare(text, reader) {
        Comparison::Different(why) => Err(format!("{why}\n{text}\n{text:?}")),
        _ => Ok(()),
    }
}

#[test]
fn kubernetes_and_krm_read_the_same() {
    with_reader(|bytes, reader| {
        let text = emit::sample(&mut Draw::new(bytes)).text;
        same(&text, reader)?;
        same(&common_lines::lines(&mut Draw::new(bytes)), reader)
    });
}

#[test]
fn kubernetes_and_krm_read_damaged_text_alike() {
    with_reader(|bytes, reader| {
        let (choices, document) = bytes.split_at(bytes.len().min(EDIT_CHOICES));
        let text = emit::sample(&mut Draw::new(document)).text;
        same(&mutate::mutated(&mut Draw::new(choices), &text), reader)
    });
}

#[test]
fn kubernetes_reads_edits() {
    with_reader(|bytes, reader| {
        let (choices, document) = bytes.split_at(bytes.len().min(EDIT_CHOICES));
        let mut text = emit::sample(&mut Draw::new(document)).text;
        if bytes.len() % 2 == 1 {
            text = mutate::mutated(&mut Draw::new(choices), &text);
        }
        let scope = [Scope::One, Scope::Few, Scope::Swap, Scope::Format][bytes.len() / 2 % 4];
        match editing::edit(&mut Draw::new(choices), &text, scope, false) {
            EditResult::Edited(edited) => reads_edit(&edited, reader),
            _ => Ok(()),
        }
    });
}
