//! Compares `krm_core::kubernetes_reader` with what Kubernetes' Go reader returns, recorded in `tests/kubernetes_reader.tsv`.
//!
//! Each line has a document as a JSON string, and the JSON that Kubernetes reads, or `error`. To record the table again:
//! `cargo xtask peers --only gopeer && UPDATE_CASES=1 cargo test -p krm-core --test suite -- kubernetes_reader`

use std::cell::RefCell;
use std::path::Path;

use krm_core::kubernetes_reader;
use krm_core::print::json;
use krm_testkit::KubernetesReader;
use krm_yaml::{File, Value};

use crate::properties::draw::Draw;
use crate::properties::emit;
use crate::{changed_texts, runner};

fn table() -> (std::path::PathBuf, Vec<(String, String)>) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/kubernetes_reader.tsv");
    let text = std::fs::read_to_string(&path).unwrap();
    let rows = text.lines().map(|line| line.split_once('\t').expect("two columns"));
    (path, rows.map(|(document, read)| (document.to_owned(), read.to_owned())).collect())
}

fn value(text: &str) -> Value<'static> {
    // JSON may have this character, but YAML may not.
    let file = File::parse(text.replace('\u{7f}', "\\u007f")).unwrap();
    let root = file.document(0).and_then(|it| it.root());
    root.map_or(Value::Null, |root| root.to_value().unwrap().into_owned().unwrap())
}

fn document(quoted: &str) -> String {
    match value(quoted) {
        Value::String(text) => text.into_owned(),
        other => panic!("expected a string, found {other:?}"),
    }
}

/// JSON with sorted keys.
fn normalized(json: &str) -> String {
    fn sorted(value: Value<'_>) -> Value<'_> {
        match value {
            Value::Sequence(items) => Value::Sequence(items.into_iter().map(sorted).collect()),
            Value::Mapping(entries) => {
                let mut entries: Vec<_> =
                    entries.into_iter().map(|(key, value)| (key, sorted(value))).collect();
                entries.sort_by_key(|(key, _)| json::display(key));
                Value::Mapping(entries)
            }
            other => other,
        }
    }
    json::display(&sorted(value(json)))
}

fn krm(document: &str) -> String {
    let file = File::parse(document.to_owned()).unwrap();
    if !kubernetes_reader::hidden_text(&file).is_empty() {
        return "error".to_owned();
    }
    match file.document(0).and_then(|it| it.root()).map(kubernetes_reader::read) {
        Some(Ok(json)) => normalized(&json),
        Some(Err(_)) | None => "error".to_owned(),
    }
}

fn go(reader: &mut KubernetesReader, document: &str) -> String {
    let reading = reader.read(document).expect("gopeer answers");
    match (reading.error, reading.documents.first()) {
        (None, Some(json)) => normalized(json),
        (None, None) => "null".to_owned(),
        (Some(_), _) => "error".to_owned(),
    }
}

/// Documents that krm refuses to hand over although Kubernetes reads them, because their value is not certain.
const REFUSED: [&str; 3] = ["!!binary", "%TAG", "!!timestamp"];

/// Documents that only one of the two readers accepts. No value is hidden, because one of them reports an error.
const ACCEPTED_BY_ONE: [&str; 7] = [
    "a: 1\n\u{feff}b: 2\n",
    "a: \u{feff}x\n",
    "a: 'x\ry'\n",
    "\ta: 1\n",
    "- \ta\n",
    "a: \"\\/\"\n",
    "a: \"\\ud83d\\ude00\"\n",
];

/// Characters that are line breaks for Kubernetes.
const BREAKS: [char; 3] = ['\u{85}', '\u{2028}', '\u{2029}'];

#[test]
fn documents_are_read_as_kubernetes_reads_them() {
    let (_, rows) = table();
    let mut wrong = Vec::new();
    for (quoted, expected) in &rows {
        let text = document(quoted);
        let found = krm(&text);
        let is_refused = found == "error"
            && (REFUSED.iter().any(|it| text.contains(it)) || text.contains(BREAKS));
        let is_rejected =
            (found == "error" || *expected == "error") && ACCEPTED_BY_ONE.contains(&text.as_str());
        if found != *expected && !is_refused && !is_rejected {
            wrong.push(format!("{quoted}: expected {expected}, found {found}"));
        }
    }
    assert!(rows.len() > 400, "the table has only {} rows", rows.len());
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn table_is_what_the_go_reader_returns() {
    let (path, rows) = table();
    let Some(reader) = KubernetesReader::start() else {
        return eprintln!("skipped: run `cargo xtask peers --only gopeer` first");
    };
    let mut reader = reader.expect("gopeer starts");
    let recorded: Vec<(String, String)> = rows
        .iter()
        .map(|(quoted, _)| (quoted.clone(), go(&mut reader, &document(quoted))))
        .collect();
    if std::env::var_os("UPDATE_CASES").is_some() {
        let lines = recorded.iter().map(|(document, read)| format!("{document}\t{read}\n"));
        return std::fs::write(path, lines.collect::<String>()).unwrap();
    }
    assert_eq!(rows, recorded);
}

/// A scalar is judged as written only if that is what Kubernetes reads.
#[test]
fn what_is_read_as_written_has_the_same_json() {
    for (quoted, expected) in table().1 {
        let file = File::parse(document(&quoted)).unwrap();
        let Some(root) = file.document(0).and_then(|it| it.root()) else { continue };
        if expected == "error" || !kubernetes_reader::hidden_text(&file).is_empty() {
            continue;
        }
        if kubernetes_reader::is_read_as_written(root) {
            let written = json::write(&Value::Node(root)).unwrap();
            let numbers = |text: &str| value(text).to_string_without_spelling();
            assert_eq!(numbers(&written), numbers(&expected), "{quoted}");
        }
    }
}

/// Values with numbers by their value: `1.0` is `1` for Kubernetes.
trait Spelling {
    fn to_string_without_spelling(&self) -> String;
}

impl Spelling for Value<'_> {
    fn to_string_without_spelling(&self) -> String {
        match self {
            Value::Number(text) => format!("{:?}", text.parse::<f64>().unwrap() + 0.0),
            Value::Sequence(items) => {
                let items: Vec<_> = items.iter().map(Self::to_string_without_spelling).collect();
                format!("[{}]", items.join(","))
            }
            Value::Mapping(entries) => {
                let mut entries: Vec<_> = entries
                    .iter()
                    .map(|(key, value)| {
                        format!("{}:{}", json::display(key), value.to_string_without_spelling())
                    })
                    .collect();
                entries.sort();
                format!("{{{}}}", entries.join(","))
            }
            other => json::display(other),
        }
    }
}

/// After a merge, a setter or formatting, Kubernetes reads what it read before.
#[test]
fn kubernetes_reads_changed_texts() {
    let Some(reader) = KubernetesReader::start() else {
        return eprintln!("skipped: run `cargo xtask peers --only gopeer` first");
    };
    let reader = RefCell::new(reader.expect("gopeer starts"));
    runner::holds(|bytes| {
        let (choices, document) = bytes.split_at(bytes.len().min(80));
        let text = emit::sample(&mut Draw::new(document)).text;
        let changed = changed_texts::all(&mut Draw::new(choices), &text);
        changed.iter().try_for_each(|it| it.is_read(&mut reader.borrow_mut()))
    });
}
