//! What the fuzz targets do with their bytes: the laws are the property tests' own.
//!
//! An input is text for the targets of reading. For those of editing its first
//! [`EDIT`] bytes choose the edit, and the rest is the text, or, should the first
//! of them say so, the choices that a generated document is made from.

#[allow(dead_code, reason = "the property tests use more of it")]
#[path = "../../crates/krm-yaml/tests/suite/properties/mod.rs"]
mod properties;
#[allow(dead_code, reason = "the property tests use more of it")]
#[path = "../../crates/krm-core/tests/suite/schemas.rs"]
mod schemas;

#[path = "../../crates/krm-core/tests/suite/answering.rs"]
mod answering;

#[path = "../../crates/krm-core/tests/suite/formatting.rs"]
mod formatting;

#[allow(dead_code, reason = "the property tests use more of it")]
#[path = "../../crates/krm-core/tests/suite/merging/mod.rs"]
mod merging;

use krm_core::PackageFile;
use krm_core::merge::{OnConflict, MergeOptions};
use krm_core::setters::{ParsedComment, Pattern, find_setter_fields, parse_reference};
use krm_yaml::{Path, Segment};
use properties::draw::Draw;
use properties::editing::{self, EditResult, Edited, Scope};
use properties::{Verdict, emit, common_lines, reading};

/// How many bytes choose the edit.
pub const EDIT: usize = 16;

/// Beyond this a run says nothing that a shorter one does not say faster.
const LONGEST: usize = 4096;

#[track_caller]
fn holds(verdict: Verdict) {
    if let Err(why) = verdict {
        panic!("{why}");
    }
}

fn text_of(data: &[u8]) -> Option<&str> {
    std::str::from_utf8(data).ok().filter(|text| text.len() <= LONGEST)
}

/// Any text comes back to the byte.
pub fn round_trip(data: &[u8]) {
    if let Some(text) = text_of(data) {
        holds(reading::round_trip(text));
    }
}

/// Any text is read as the front end reads it; a generated one as it was meant.
pub fn same_meaning(data: &[u8]) {
    if let Some(choices) = data.strip_prefix(&[0xff]) {
        return holds(reading::known_meaning(&emit::sample(&mut Draw::new(choices))));
    }
    if let Some(text) = text_of(data) {
        holds(reading::same_as_parser(text));
    }
}

/// What is read without the front end is what the front end says.
pub fn quick_is_thorough(data: &[u8]) {
    if let Some(choices) = data.strip_prefix(&[0xff]) {
        return holds(reading::quick_is_thorough(&common_lines::lines(&mut Draw::new(choices))));
    }
    if let Some(text) = text_of(data) {
        holds(reading::quick_is_thorough(text));
        holds(reading::document_as_file_equals_its_parsed_text(text));
    }
}

fn edited(data: &[u8], law: impl Fn(&Edited) -> Verdict) {
    let Some((choices, rest)) = data.split_at_checked(EDIT) else { return };
    let generated;
    let text = if choices[0] == 0xff {
        generated = emit::sample(&mut Draw::new(rest)).text;
        &generated
    } else {
        let Some(text) = text_of(rest) else { return };
        text
    };
    let scope = match choices[1] {
        0..=0xdf => Scope::One,
        0xe0..=0xef => Scope::Few,
        _ => Scope::Format,
    };
    if let EditResult::Edited(edited) = editing::edit(&mut Draw::new(&choices[2..]), text, scope, false) {
        holds(law(&edited));
    }
}

/// No byte changes outside the entry that an edit names.
pub fn untouched_stays(data: &[u8]) {
    edited(data, Edited::untouched_stays);
}

/// After an edit the file means what was asked for.
pub fn edit_is_read_back(data: &[u8]) {
    edited(data, Edited::edit_is_read_back);
}

/// After an edit the comments, tags, anchors and directives of others are there.
pub fn unknown_survives(data: &[u8]) {
    edited(data, Edited::unknown_survives);
}

/// A formatted file means the same, has all its comments, and is formatted.
pub fn format(data: &[u8]) {
    let choice = match data.strip_prefix(&[0xff]) {
        Some(choices) => formatting::choose(&mut Draw::new(choices)),
        None => text_of(data).map(formatting::as_it_is),
    };
    let Some(choice) = choice else { return };
    holds(choice.same_input_same_bytes());
    holds(choice.twice_is_once());
    holds(choice.same_meaning());
    holds(choice.unknown_survives());
}

/// A resource that a function prints anew keeps its bytes; where one field changed, only its lines do. The first [`EDIT`] bytes
/// choose the function.
pub fn answer(data: &[u8]) {
    let Some((choices, rest)) = data.split_at_checked(EDIT) else { return };
    let text = match rest.strip_prefix(&[0xff]) {
        Some(choices) => answering::resource(&emit::sample(&mut Draw::new(choices)).text),
        None => text_of(rest).and_then(answering::resource),
    };
    let Some(text) = text else { return };
    holds(answering::same_meaning_same_bytes(&text, &mut Draw::new(choices)));
    holds(answering::one_field_one_place(&text, &mut Draw::new(choices)));
}

/// A path is printed as it was parsed, and one that is built from its steps parses to the same steps.
pub fn path(data: &[u8]) {
    let Some(text) = text_of(data) else { return };
    let Ok(path) = text.parse::<Path>() else { return };
    assert_eq!(path.to_string(), text, "not printed as it was parsed");
    let mut built = Path::default();
    for segment in path.segments() {
        built.push(segment.clone());
    }
    let printed = built.to_string();
    let again =
        printed.parse::<Path>().unwrap_or_else(|error| panic!("{printed:?} of {text:?}: {error}"));
    assert_eq!(again.segments(), path.segments(), "{printed:?} of {text:?}");
    if let Some((parent, last)) = path.split_last() {
        let whole: Vec<Segment> = parent.segments().iter().chain([last]).cloned().collect();
        assert_eq!(whole, path.segments());
    }
}

/// Any text, or a generated schema where the first byte says so, is read as a schema, and asking it anything ends.
pub fn schema(data: &[u8]) {
    if let Some(choices) = data.strip_prefix(&[0xff]) {
        return holds(schemas::survives(&schemas::sample(&mut Draw::new(choices))));
    }
    if let Some(text) = text_of(data) {
        holds(schemas::survives(text));
    }
}

/// The texts that an input holds, one behind the other with a zero between them.
fn texts(data: &[u8], count: usize) -> Option<Vec<&str>> {
    let texts: Vec<&str> = data.split(|byte| *byte == 0).map(text_of).collect::<Option<_>>()?;
    (texts.len() == count).then_some(texts)
}

#[track_caller]
fn merges(checked: merging::checks::Checked) {
    if let Err(why) = checked {
        panic!("{why}");
    }
}

/// A two-way merge of any texts can be read, and the same merge again changes nothing.
pub fn merge2(data: &[u8]) {
    let Some(texts) = texts(data, 2) else { return };
    if texts.iter().all(|text| merging::checks::is_readable(text)) {
        merges(merging::checks::two_way_is_stable(texts[0], texts[1], &MergeOptions::default()));
    }
}

/// A three-way merge of any texts, or of made-up resources, keeps its laws.
pub fn merge3(data: &[u8]) {
    if let Some(choices) = data.strip_prefix(&[0xff]) {
        let (style, content) = choices.split_at(choices.len() / 4);
        let [base, local, upstream] =
            merging::three_texts(&mut Draw::new(content), &mut Draw::new(style));
        return merges(merging::checks::all(&base, &local, &upstream));
    }
    let Some(texts) = texts(data, 3) else { return };
    let fits = |text: &&str| merging::checks::is_readable(text) && !merging::checks::has_null(text);
    // Null clears what is there, and what is not there may come again.
    if !texts.iter().all(fits) {
        return;
    }
    let upstream = OnConflict::Upstream;
    merges(merging::checks::three_way_is_stable(texts[0], texts[1], texts[2], upstream));
    merges(merging::checks::merge_identity(texts[0], texts[1]));
}

/// A reference reads the same without the words around it; a value that a pattern was filled with is read back from it.
pub fn reference(data: &[u8]) {
    let Some(text) = text_of(data) else { return };
    if let ParsedComment::Reference(found) = parse_reference(text) {
        let alone = &text[found.range.clone()];
        let ParsedComment::Reference(again) = parse_reference(alone) else {
            panic!("{alone:?} of {text:?}")
        };
        assert_eq!((again.syntax, again.target), (found.syntax, found.target), "{text:?}");
    }
    if let Ok(file) = PackageFile::from_text("a.yaml", text) {
        for field in find_setter_fields(&file).fields {
            assert!(field.comment.text.get(field.reference.range.clone()).is_some(), "{text:?}");
        }
    }
    if let Ok(pattern) = Pattern::with_names(text) {
        let value = |name: &str| Some(name.chars().rev().collect::<String>());
        let filled = pattern.fill(value).expect("every marker has a value");
        if let Ok(read) = pattern.derive(&filled, |_| None) {
            let wrong = read.iter().find(|(name, read)| value(name).as_ref() != Some(*read));
            assert_eq!(wrong, None, "{text:?}");
        }
    }
}
