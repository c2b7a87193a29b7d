//! Property `quick_is_thorough`: the fast parser handles common documents, with the same result as the complete parser.

use std::cell::Cell;
use std::fs;
use std::path::{Path, PathBuf};

use krm_testkit::Case;
use krm_yaml::parse_fast;

use crate::properties::draw::Draw;
use crate::properties::{Verdict, common_lines, emit, mutate, reading};
use crate::runner::holds;

#[expect(clippy::print_stdout, reason = "a test says how much was read by the fast parser")]
/// Checks the property for generated texts. `floor` is the percentage of documents that the fast parser must handle, because the property
/// says nothing about the others.
fn holds_for(floor: usize, made: impl Fn(&[u8]) -> String) {
    let (quick, all) = (Cell::new(0), Cell::new(0));
    holds(|bytes| {
        let text = made(bytes);
        let (some, of) = parse_fast(&text);
        quick.set(quick.get() + some);
        all.set(all.get() + of);
        reading::quick_is_thorough(&text)
    });
    let (quick, all) = (quick.get(), all.get());
    println!("{quick} of {all} documents were read by the fast parser");
    assert!(quick * 100 >= all * floor, "only {quick} of {all} documents");
}

/// The text after a few random mutations.
fn damaged(bytes: &[u8], text: &str) -> String {
    mutate::mutated(&mut Draw::new(&bytes[..bytes.len().min(64)]), text)
}

#[test]
fn quick_is_thorough() {
    holds_for(20, |bytes| emit::sample(&mut Draw::new(bytes)).text);
}

#[test]
fn quick_is_thorough_for_damaged_text() {
    holds_for(1, |bytes| damaged(bytes, &emit::sample(&mut Draw::new(bytes)).text));
}

#[test]
fn quick_is_thorough_for_common_lines() {
    holds_for(1, |bytes| common_lines::lines(&mut Draw::new(bytes)));
}

/// Common documents: the valid cases of this crate.
fn documents() -> Vec<String> {
    let directory = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cases");
    let cases = files(Path::new(directory)).into_iter().filter(|path| is_named(path, &["case"]));
    let texts = cases.map(|path| Case::load(path).expect("it is a case").input().input_text());
    texts.filter(|text| parse_fast(text).0 > 0).collect()
}

#[test]
fn quick_is_thorough_for_damaged_cases() {
    let documents = documents();
    assert!(documents.len() > 50, "only {} cases are ordinary", documents.len());
    holds_for(20, |bytes| {
        let (choices, rest) = bytes.split_at(bytes.len().min(2));
        let text = &documents[Draw::new(choices).below(documents.len())];
        damaged(rest, text)
    });
}

#[test]
fn quick_is_thorough_for_all_cases() {
    let directory = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cases");
    for path in files(Path::new(directory)).iter().filter(|path| is_named(path, &["case"])) {
        let case = Case::load(path).expect("it is a case");
        let mut inputs = case.sections().iter().filter(|section| section.is_input());
        agree(path, inputs.try_for_each(|input| reading::quick_is_thorough(&input.input_text())));
    }
}

#[test]
fn quick_is_thorough_for_the_suite() {
    let Some(directory) = std::env::var_os("KRM_YAML_TEST_SUITE") else {
        println!("skipped: KRM_YAML_TEST_SUITE does not name the yaml-test-suite's directory");
        return;
    };
    for path in files(Path::new(&directory)).iter().filter(|path| is_named(path, &["yaml"])) {
        agree(path, reading::quick_is_thorough(&read(path)));
    }
}

#[test]
fn fast_parser_handles_packages() {
    let Some(directory) = std::env::var_os("KRM_CORPORA") else {
        println!("skipped: KRM_CORPORA does not name a directory of packages");
        return;
    };
    let (mut quick, mut all) = (0, 0);
    for path in &files(Path::new(&directory)) {
        let is_suite = path.iter().any(|part| part == "yaml-test-suite");
        if is_suite || !is_named(path, &["yaml", "yml", "json"]) {
            continue;
        }
        let text = read(path);
        agree(path, reading::quick_is_thorough(&text));
        let (some, of) = parse_fast(&text);
        quick += some;
        all += of;
    }
    println!("{quick} of {all} documents were read by the fast parser");
    assert!(quick * 100 >= all * 97, "only {quick} of {all} documents");
}

/// Documents that the fast parser handles, and documents that it gives up on.
#[test]
fn fast_parser_handles_common_documents_only() {
    let certain = [
        "a: 1\n",
        "a:\n- b\n- c: d\n  e: f\ng:\n    - h\n",
        "- - a\n  - b\n-\n- c:\n",
        "# head\n---\na: 'it''s' # beside\n\"b\" : \"\\n\\u00e9\"\n",
        "a: |\n  text\n\n   more\nb: >+2\n    text\n\nc: |-\n  # text\n # comment\n",
        "a: [b, \"c\", {d: e}, [], ] # beside\nf: {\n  \"g\":1,\n  h: i # beside\n}\n",
        "a: b\r\nc:\r\n  - |\r\n    text\r\n",
        "---\n",
        "{\"a\": [1, 2.5, null, \"x\"], \"b\": {}}\n",
        "a:\n  b\nc: d#e\n",
    ];
    for text in certain {
        assert_eq!(parse_fast(text), (1, 1), "{text:?}");
    }
    let odd = [
        "a: &b c\n",
        "a: !b c\n",
        "? a\n: b\n",
        "%YAML 1.2\n---\na: b\n",
        "a: b\n  c\n",
        "a: \"b\n  c\"\n",
        "a:\tb\n",
        "\u{feff}a: b\n",
        "a: b\n...\n",
        "text\n",
        "a: |\n",
        "[a: b]\n",
        "a: b: c\n",
        "a\n",
        "a: \"\\q\"\n",
        "a: [b\n",
        "a: b\n c: d\n",
    ];
    for text in odd {
        assert_eq!(parse_fast(text).0, 0, "{text:?}");
    }
}

#[test]
fn fast_parser_handles_documents_around_an_uncommon_one() {
    let odd = "a: 1\n---\nb: &x 2\nc: *x\n---\nd: 3\n---\n--- text\n--- # e\nf: 4\n";
    assert_eq!(parse_fast(odd), (4, 6));
    reading::quick_is_thorough(odd).expect("both parsers agree");
    // Anything may follow `...`; the complete parser continues at the next bare `---`.
    let ended = "a: 1\n...\n%YAML 1.2\n---\nb: 2\n---\nc: 3\n";
    assert_eq!(parse_fast(ended), (1, 3));
    reading::quick_is_thorough(ended).expect("both parsers agree");
    // The complete parser handles errors and what follows them.
    let broken = "a: 1\n---\nb: [\n---\nc: 3\n";
    assert_eq!(parse_fast(broken), (0, 3));
    reading::quick_is_thorough(broken).expect("both parsers agree");
}

fn agree(path: &Path, verdict: Verdict) {
    if let Err(why) = verdict {
        panic!("{}: {why}", path.display());
    }
}

fn read(path: &Path) -> String {
    let bytes = fs::read(path).expect("the file can be read");
    String::from_utf8_lossy(&bytes).into_owned()
}

fn is_named(path: &Path, extensions: &[&str]) -> bool {
    path.extension().is_some_and(|found| extensions.iter().any(|extension| found == *extension))
}

/// All files below a directory, sorted.
fn files(directory: &Path) -> Vec<PathBuf> {
    let (mut found, mut open) = (Vec::new(), vec![directory.to_owned()]);
    while let Some(directory) = open.pop() {
        for entry in fs::read_dir(&directory).expect("the directory can be read") {
            let path = entry.expect("the directory can be read").path();
            match (path.is_symlink(), path.is_dir()) {
                (true, _) => {}
                (_, true) => open.push(path),
                _ => found.push(path),
            }
        }
    }
    found.sort();
    found
}
