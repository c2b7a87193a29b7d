//! Property tests: each property holds for thousands of generated documents and edits.

use std::cell::Cell;

use crate::properties::change::What;
use crate::properties::draw::Draw;
use crate::properties::editing::{self, EditResult, Edited, Scope};
use crate::properties::emit::{self, Sample};
use crate::properties::{Verdict, common_lines, indentation, lenient_text, mutate, reading};
use crate::refusals::Refusals;
use crate::runner::{holds, is_survey};

/// The number of choices for the edit; the others make the document.
const EDIT_CHOICES: usize = 40;

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
fn document_as_file_equals_its_parsed_text() {
    holds(|bytes| {
        let text = sample(bytes).text;
        let again = mutate::mutated(&mut Draw::new(bytes), &text);
        reading::document_as_file_equals_its_parsed_text(&format!("{text}\n---\n{again}"))?;
        reading::document_as_file_equals_its_parsed_text(&common_lines::lines(&mut Draw::new(
            bytes,
        )))
    });
}

#[test]
fn same_meaning() {
    holds(|bytes| {
        let sample = sample(bytes);
        reading::known_meaning(&sample)?;
        reading::same_as_parser(&sample.text)
    });
}

#[test]
fn same_meaning_of_damaged_text() {
    holds(|bytes| {
        let sample = sample(bytes);
        let (tail, _) = bytes.split_at(bytes.len().min(64));
        reading::same_as_parser(&mutate::mutated(&mut Draw::new(tail), &sample.text))
    });
}

#[expect(clippy::print_stdout, reason = "a test says how much was refused")]
/// Edits a generated document and checks the result.
fn edits(scope: Scope, check: impl Fn(&Edited, &Sample) -> Verdict) {
    let refusals = Refusals::default();
    holds(|bytes| {
        let (choices, document) = bytes.split_at(bytes.len().min(EDIT_CHOICES));
        let sample = sample(document);
        match editing::edit(&mut Draw::new(choices), &sample.text, scope, sample.json) {
            EditResult::Nothing => Ok(()),
            EditResult::Edited(edited) => {
                refusals.count(None);
                check(&edited, &sample)
            }
            EditResult::Refused { changes, brief, why } => {
                // Aliases share their values, and some positions cannot have a comment.
                let has_comment =
                    changes.iter().any(|change| matches!(change.what, What::Comment { .. }));
                if sample.has_anchors || has_comment {
                    return Ok(());
                }
                let report = format!(
                    "refused to {brief}: {why}\n{changes:?}\n{}\n{:?}",
                    sample.text, sample.text
                );
                if is_survey() {
                    return Err(report);
                }
                refusals.count(Some((&why, report)));
                Ok(())
            }
        }
    });
    let (report, share) = refusals.report();
    println!("{:.2} % refused\n{report}", share * 100.0);
    assert!(share < 0.02, "too many edits were refused: {:.2} %\n{report}", share * 100.0);
}

#[test]
fn untouched_stays() {
    edits(Scope::One, |edited, _| edited.untouched_stays());
}

#[test]
fn edit_is_read_back() {
    edits(Scope::One, |edited, _| edited.edit_is_read_back());
}

#[test]
fn unknown_survives() {
    edits(Scope::One, |edited, sample| {
        edited.unknown_survives()?;
        edited.comments_move_with_their_owner(&sample.comments)
    });
}

#[test]
fn several_changes_keep_all_properties() {
    edits(Scope::Few, |edited, _| {
        edited.edit_is_read_back()?;
        edited.untouched_stays()?;
        edited.unknown_survives()
    });
}

/// A text that only Kubernetes accepts is edited like any other.
#[test]
fn edits_of_lenient_texts_keep_all_properties() {
    let tried = Cell::new(0_u32);
    for scope in [Scope::One, Scope::Few, Scope::Swap, Scope::Format] {
        holds(|bytes| {
            let (choices, document) = bytes.split_at(bytes.len().min(EDIT_CHOICES));
            let valid = sample(document).text;
            let Some(text) = lenient_text::lenient(&mut Draw::new(document), &valid) else {
                return Ok(());
            };
            match editing::edit(&mut Draw::new(choices), &text, scope, false) {
                EditResult::Edited(edited) => {
                    tried.set(tried.get() + 1);
                    edited.edit_is_read_back()?;
                    edited.untouched_stays()?;
                    edited.unknown_survives()
                }
                EditResult::Refused { brief, why, .. } if is_survey() => {
                    Err(format!("refused to {brief}: {why}\n{text}\n{text:?}"))
                }
                _ => Ok(()),
            }
        });
    }
    assert!(tried.get() > 100, "{} edits were made", tried.get());
}

/// YAML values that are inserted into JSON keep their meaning and are spelled as in JSON.
#[test]
fn values_in_json_are_spelled_as_json() {
    let tried = Cell::new(0_u32);
    holds(|bytes| {
        let (choices, document) = bytes.split_at(bytes.len().min(EDIT_CHOICES));
        let sample = emit::json(&mut Draw::new(document));
        match editing::edit(&mut Draw::new(choices), &sample.text, Scope::Few, false) {
            EditResult::Edited(edited) => {
                tried.set(tried.get() + 1);
                edited.edit_is_read_back()?;
                edited.has_only_json_scalars()
            }
            _ => Ok(()),
        }
    });
    assert!(tried.get() > 100, "{} edits were made", tried.get());
}

#[test]
fn unverified_edits_would_verify() {
    let (certain, all) = (Cell::new(0_u32), Cell::new(0_u32));
    edits(Scope::Swap, |edited, _| {
        all.set(all.get() + 1);
        certain.set(certain.get() + u32::from(edited.is_certain));
        edited.edit_is_read_back()?;
        edited.untouched_stays()?;
        edited.unknown_survives()
    });
    let (certain, all) = (certain.get(), all.get());
    println!("{certain} of {all} were certain");
    // Both kinds of edits are tested.
    assert!(certain > all / 10 && certain < all / 10 * 9, "{certain} of {all} were certain");
}

#[test]
fn all_mappings_can_be_reordered() {
    edits(Scope::Format, |edited, _| {
        edited.edit_is_read_back()?;
        edited.untouched_stays()?;
        edited.unknown_survives()
    });
}

#[test]
fn reindenting_keeps_meaning_and_comments() {
    let refusals = Refusals::default();
    holds(|bytes| {
        let (choices, document) = bytes.split_at(bytes.len().min(EDIT_CHOICES));
        let sample = sample(document);
        match indentation::change(&mut Draw::new(choices), &sample.text)? {
            None => refusals.count(None),
            Some(why) if is_survey() => return Err(why),
            Some(why) => refusals.count(Some((&why, why.clone()))),
        }
        Ok(())
    });
    let (report, share) = refusals.report();
    println!("{:.2} % refused\n{report}", share * 100.0);
    assert!(share < 0.02, "too many documents were refused: {:.2} %\n{report}", share * 100.0);
}
