//! The bodies of the fuzz targets, which check the same properties as the property tests.
//!
//! For the targets about parsing, an input is a text. For the targets about edits, the first [`EDIT`] bytes choose the
//! edit, and the rest is a text or, depending on the first byte, the choices from which a document is generated.

#[allow(dead_code, reason = "the property tests use more of it")]
#[path = "../../crates/krm-yaml/tests/suite/properties/mod.rs"]
mod properties;
#[allow(dead_code, reason = "the property tests use more of it")]
#[path = "../../crates/krm-core/tests/suite/schemas.rs"]
mod schemas;

#[path = "../../crates/krm-core/tests/suite/reprint.rs"]
mod reprint;

#[path = "../../crates/krm-core/tests/suite/formatting.rs"]
mod formatting;

#[allow(dead_code, reason = "the property tests use more of it")]
#[path = "../../crates/krm-core/tests/suite/merging/mod.rs"]
mod merging;

use std::borrow::Cow;
use std::cell::RefCell;

use krm_core::PackageFile;
use krm_core::merge::{OnConflict, MergeOptions};
use krm_core::setters::{ParsedComment, Pattern, find_setter_fields, parse_reference};
use krm_testkit::KubernetesReader;
use krm_yaml::{File, Path, PathPattern, Place, Segment};
use properties::draw::Draw;
use properties::editing::{self, EditResult, Edited, Scope};
use properties::kubernetes::{self, Comparison};
use properties::{Verdict, common_lines, emit, reading};

/// The number of bytes that choose the edit.
pub const EDIT: usize = 16;

/// Longer inputs are slower and find nothing more.
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

/// A text that is parsed and written is the same bytes.
pub fn round_trip(data: &[u8]) {
    if let Some(text) = text_of(data) {
        holds(reading::round_trip(text));
    }
}

/// Parsing agrees with the underlying parser, and with the meaning of generated documents.
pub fn same_meaning(data: &[u8]) {
    if let Some(choices) = data.strip_prefix(&[0xff]) {
        return holds(reading::known_meaning(&emit::sample(&mut Draw::new(choices))));
    }
    if let Some(text) = text_of(data) {
        holds(reading::same_as_parser(text));
    }
}

/// The fast parser agrees with the complete parser.
pub fn quick_is_thorough(data: &[u8]) {
    if let Some(choices) = data.strip_prefix(&[0xff]) {
        return holds(reading::quick_is_thorough(&common_lines::lines(&mut Draw::new(choices))));
    }
    if let Some(text) = text_of(data) {
        holds(reading::quick_is_thorough(text));
        holds(reading::document_as_file_equals_its_parsed_text(text));
    }
}

/// The bytes that choose an edit, and the text to edit: generated from the rest, or the rest itself.
fn choices_and_text(data: &[u8]) -> Option<(&[u8], Cow<'_, str>)> {
    let (choices, rest) = data.split_at_checked(EDIT)?;
    let text = match choices[0] {
        0xff => emit::sample(&mut Draw::new(rest)).text.into(),
        _ => text_of(rest)?.into(),
    };
    Some((choices, text))
}

fn edited(data: &[u8], law: impl Fn(&Edited) -> Verdict) {
    let Some((choices, text)) = choices_and_text(data) else { return };
    let text = &*text;
    let scope = match choices[1] {
        0..=0xdf => Scope::One,
        0xe0..=0xef => Scope::Few,
        _ => Scope::Format,
    };
    if let EditResult::Edited(edited) = editing::edit(&mut Draw::new(&choices[2..]), text, scope, false) {
        holds(law(&edited));
    }
}

/// An edit changes no byte outside the named entry.
pub fn untouched_stays(data: &[u8]) {
    edited(data, Edited::untouched_stays);
}

/// After an edit the file has the requested meaning.
pub fn edit_is_read_back(data: &[u8]) {
    edited(data, Edited::edit_is_read_back);
}

/// An edit keeps the comments, tags, anchors and directives of other entries.
pub fn unknown_survives(data: &[u8]) {
    edited(data, Edited::unknown_survives);
}

thread_local! {
    /// The process with Kubernetes' reader, which `cargo xtask peers --only gopeer` builds.
    static READER: RefCell<KubernetesReader> = RefCell::new(
        KubernetesReader::start()
            .expect("run `cargo xtask peers --only gopeer` first")
            .expect("gopeer starts"),
    );
}

/// Kubernetes and krm read a text alike, and the result of an edit or of formatting, too. The first [`EDIT`] bytes choose the edit.
pub fn kubernetes_reader(data: &[u8]) {
    let Some((choices, text)) = choices_and_text(data) else { return };
    let text = &*text;
    // kubectl splits a stream at a marker with a comment directly behind it, wherever it is.
    if text.lines().any(|line| line.starts_with("---#")) {
        return;
    }
    READER.with_borrow_mut(|reader| match kubernetes::compare(text, reader) {
        Comparison::Different(why) => panic!("{why}\n{text}\n{text:?}"),
        Comparison::Same => {
            let scope = [Scope::One, Scope::Few, Scope::Swap, Scope::Format][usize::from(choices[1]) % 4];
            let mut draw = Draw::new(&choices[2..]);
            if let EditResult::Edited(edited) = editing::edit(&mut draw, text, scope, false) {
                holds(kubernetes::reads_edit(&edited, reader));
            }
            if let Some(new) = formatted(text) {
                holds(kubernetes::same_after(&new, reader));
            }
        }
        Comparison::Refused | Comparison::Known(_) => {}
    });
}

/// The text with its fields in order, if that changes it.
fn formatted(text: &str) -> Option<String> {
    let file = File::parse(text.to_owned()).ok()?;
    krm_core::format::format(&file, krm_core::format::FormatOptions::default()).ok()?.text
}

/// Formatting keeps the meaning and all comments, and formatting again changes nothing.
pub fn format(data: &[u8]) {
    let choice = match data.strip_prefix(&[0xff]) {
        Some(choices) => formatting::choose(&mut Draw::new(choices)),
        None => text_of(data).map(formatting::unmodified),
    };
    let Some(choice) = choice else { return };
    holds(choice.same_input_same_bytes());
    holds(choice.twice_is_once());
    holds(choice.same_meaning());
    holds(choice.unknown_survives());
}

/// A function that serializes a resource again changes no byte, and one that changes a field only the lines of that field. The
/// first [`EDIT`] bytes choose the function.
pub fn answer(data: &[u8]) {
    let Some((choices, rest)) = data.split_at_checked(EDIT) else { return };
    let text = match rest.strip_prefix(&[0xff]) {
        Some(choices) => reprint::resource(&emit::sample(&mut Draw::new(choices)).text),
        None => text_of(rest).and_then(reprint::resource),
    };
    let Some(text) = text else { return };
    holds(reprint::same_meaning_same_bytes(&text, &mut Draw::new(choices)));
    holds(reprint::one_field_one_place(&text, &mut Draw::new(choices)));
}

/// A document for patterns: anchors, merge keys, duplicate keys, nested sequences, and keys that look like notation.
const PATTERN_DOCUMENT: &str = "a: &a {b: 1, c: [x, {name: n, b: 2}, [y]]}\nb: {<<: *a, '*': {b: 3}, '**': 4}\nc: *a\n\"a.b\": [-1, {name: m}]\nd: 1\nd: {b: 5}\n";

/// A pattern round-trips through its text and its steps, and what it finds has the paths that it says.
fn pattern(text: &str) {
    let Ok(pattern) = text.parse::<PathPattern>() else {
        // Every path is a pattern.
        assert!(text.parse::<Path>().is_err(), "{text:?} is a path and not a pattern");
        return;
    };
    assert_eq!(pattern.to_string(), text, "not printed as it was parsed");
    let mut built = PathPattern::default();
    pattern.steps().iter().for_each(|step| built.push(step.clone()));
    let printed = built.to_string();
    let again = printed.parse::<PathPattern>();
    let again = again.unwrap_or_else(|error| panic!("{printed:?} of {text:?}: {error}"));
    assert_eq!(again.steps(), pattern.steps(), "{printed:?} of {text:?}");
    let file = File::parse(PATTERN_DOCUMENT.to_owned()).expect("it is YAML");
    let document = file.document(0).expect("a document");
    let root = document.root().expect("a root");
    assert_eq!(pattern.find(root).is_empty(), pattern.reach(root).is_some(), "{text:?}");
    let wild = pattern.as_path().is_none();
    for place in pattern.places(root) {
        let Place::Found { node, path } = place else { continue };
        assert!(!node.path().to_string().is_empty() || path.segments().is_empty(), "{text:?}");
        let found: PathPattern = path.to_string().parse().expect("a path is a pattern");
        // A path leads to the last one of duplicate keys, and a pattern to every one.
        let is_found = found.find(root).iter().any(|it| *it == node.resolve());
        assert!(is_found || wild && path.to_string().starts_with('d'), "{text:?} at {path}");
    }
}

/// A path round-trips through its text and through its segments.
pub fn path(data: &[u8]) {
    let Some(text) = text_of(data) else { return };
    pattern(text);
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

/// Any text, or a generated schema depending on the first byte, can be read as a schema, and all queries terminate.
pub fn schema(data: &[u8]) {
    if let Some(choices) = data.strip_prefix(&[0xff]) {
        return holds(schemas::can_be_read(&schemas::sample(&mut Draw::new(choices))));
    }
    if let Some(text) = text_of(data) {
        holds(schemas::can_be_read(text));
    }
}

/// The texts in an input, separated by zero bytes.
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

/// The result of a two-way merge is valid, and the same merge again changes nothing.
pub fn merge2(data: &[u8]) {
    let Some(texts) = texts(data, 2) else { return };
    // A null of a new element is written, and clears nothing before the second merge.
    let fits = |text: &&str| merging::checks::is_readable(text) && !merging::checks::has_null(text);
    if texts.iter().all(fits) {
        merges(merging::checks::two_way_is_stable(texts[0], texts[1], &MergeOptions::default()));
    }
}

/// Whether a list has two mappings with an equal field, which may be the key that its elements are paired by.
fn has_repeated_key(text: &str) -> bool {
    let Ok(file) = File::parse(text.to_owned()) else { return true };
    let nodes = file.documents().filter_map(|it| it.root()).flat_map(|root| root.descendants());
    nodes.filter_map(|node| node.as_sequence()).any(|list| {
        let mut seen = std::collections::HashSet::new();
        let mappings = list.items().filter_map(|item| item.resolve().as_mapping());
        let entries = mappings.flat_map(|mapping| mapping.entries().collect::<Vec<_>>());
        let mut fields = entries.map(|entry| (entry.key.text(), entry.value.resolve().text()));
        fields.any(|field| !seen.insert(field))
    })
}

/// A three-way merge of any texts or of generated resources has the properties of merges.
pub fn merge3(data: &[u8]) {
    if let Some(choices) = data.strip_prefix(&[0xff]) {
        let (style, content) = choices.split_at(choices.len() / 4);
        let [base, local, upstream] =
            merging::three_texts(&mut Draw::new(content), &mut Draw::new(style));
        return merges(merging::checks::all(&base, &local, &upstream));
    }
    let Some(texts) = texts(data, 3) else { return };
    let fits = |text: &&str| merging::checks::is_readable(text) && !merging::checks::has_null(text);
    // Null clears a field, and a missing field may be added again. Of elements with one key, a second merge pairs others than the first.
    if !texts.iter().all(fits) || texts.iter().any(|text| has_repeated_key(text)) {
        return;
    }
    let upstream = OnConflict::Upstream;
    merges(merging::checks::three_way_is_stable(texts[0], texts[1], texts[2], upstream));
    merges(merging::checks::merge_identity(texts[0], texts[1]));
}

/// A reference is parsed the same without the text around it, and a value is extracted from a pattern that it filled.
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
