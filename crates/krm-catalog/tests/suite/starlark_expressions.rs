//! Expressions and scripts whose answers are those of the kpt function; see `tests/starlark/expressions.txt`.

use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use krm_catalog::starlark;
use krm_sdk::ResourceList;

/// The libraries and the names that they define.
const LIBRARIES: &[(&str, &str)] = &[
    ("encoding/base64.star", "base64"),
    ("encoding/csv.star", "csv"),
    ("encoding/json.star", "json"),
    ("encoding/yaml.star", "yaml"),
    ("hash.star", "hash"),
    ("math.star", "math"),
    ("re.star", "re"),
    ("time.star", "time"),
];

/// A script and its answer.
struct Entry {
    script: String,
    answer: String,
    /// Why the answer of krm differs.
    reason: Option<String>,
}

fn directory() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn file() -> PathBuf {
    directory().join("tests/starlark/expressions.txt")
}

/// The entries of the file. Comments and blank lines belong to the layout, which is kept.
fn entries(text: &str) -> Vec<Entry> {
    let mut found: Vec<Entry> = Vec::new();
    let mut script = String::new();
    for line in text.lines() {
        if let Some(answer) = line.strip_prefix("=> ") {
            let script = std::mem::take(&mut script).trim_end().to_owned();
            found.push(Entry { script, answer: answer.to_owned(), reason: None });
        } else if let Some(reason) = line.strip_prefix("! ") {
            found.last_mut().unwrap().reason = Some(reason.to_owned());
        } else if !(script.is_empty() && (line.is_empty() || line.starts_with('#'))) {
            script.push_str(line);
            script.push('\n');
        }
    }
    found
}

/// What is evaluated: an expression is printed.
fn program(entry: &Entry) -> String {
    let is_expression = !entry.script.contains('\n') && !entry.script.starts_with("print(");
    match is_expression {
        true => format!("print(repr({}))\n", entry.script),
        false => format!("{}\n", entry.script),
    }
}

/// The answer of krm, in one line.
fn answer(entry: &Entry) -> String {
    let mut text = String::new();
    for (library, name) in LIBRARIES {
        if entry.script.contains(&format!("{name}.")) {
            text.push_str(&format!("load('{library}', '{name}')\n"));
        }
    }
    text.push_str(&program(entry));
    let mut list = ResourceList::default();
    let ran = starlark::run_file("script.star", &text, &mut list);
    let mut lines = std::mem::take(&mut list.log);
    lines.extend(ran.err().map(|error| format!("error: {error}")));
    one_line(&lines.join("\n"))
}

fn one_line(text: &str) -> String {
    text.replace('\n', "\u{23ce}")
}

/// Whether two answers agree: errors need not have the same message.
fn is_same(ours: &str, theirs: &str) -> bool {
    let parts = |text: &str| match text.find("error: ") {
        Some(at) => (text[..at].to_owned(), true),
        None => (text.to_owned(), false),
    };
    parts(ours) == parts(theirs)
}

/// The answers of the original, which reads scripts and writes answers that end with a zero byte.
fn ask(oracle: &str, entries: &[Entry]) -> Vec<String> {
    let mut child = Command::new(oracle)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap_or_else(|error| panic!("{oracle}: {error}"));
    let scripts: String = entries.iter().map(|it| format!("{}\0", program(it))).collect();
    let mut stdin = child.stdin.take().unwrap();
    let writer = std::thread::spawn(move || stdin.write_all(scripts.as_bytes()));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.split_terminator('\0').map(one_line).collect()
}

/// Writes the answers of the original, and removes marks of answers that do not differ any more.
fn update(text: &str, answers: &[String], ours: &[String]) -> String {
    let mut at = 0;
    let mut out = String::new();
    for line in text.lines() {
        if line.starts_with("=> ") {
            out.push_str(&format!("=> {}\n", answers[at]));
            at += 1;
        } else if line.starts_with("! ") && is_same(&ours[at - 1], &answers[at - 1]) {
            continue;
        } else {
            out.push_str(line);
            out.push('\n');
        }
    }
    out
}

#[test]
fn starlark_expressions_have_the_answers_of_the_original() {
    let text = std::fs::read_to_string(file()).unwrap();
    let read = entries(&text);
    let ours: Vec<String> = read.iter().map(answer).collect();
    let oracle = std::env::var("KRM_STARLARK_ORACLE").ok();
    let theirs = match &oracle {
        Some(oracle) => ask(oracle, &read),
        None => read.iter().map(|it| it.answer.clone()).collect(),
    };
    assert_eq!(theirs.len(), read.len(), "the original answered some scripts only");
    if oracle.is_some() {
        std::fs::write(file(), update(&text, &theirs, &ours)).unwrap();
    }
    let page = std::fs::read_to_string(directory().join("doc/starlark.md")).unwrap();
    let mut wrong = Vec::new();
    for ((entry, ours), theirs) in read.iter().zip(&ours).zip(&theirs) {
        match (&entry.reason, is_same(ours, theirs)) {
            (None, true) => {}
            (Some(reason), false) => {
                assert!(
                    page.contains(reason.as_str()),
                    "the page does not have the reason `{reason}`"
                );
            }
            (None, false) => {
                wrong.push(format!("{}\n  krm: {ours}\n  original: {theirs}", entry.script));
            }
            (Some(_), true) if oracle.is_some() => {}
            (Some(_), true) => wrong.push(format!("{}\n  does not differ any more", entry.script)),
        }
    }
    assert!(wrong.is_empty(), "{} of {} answers:\n{}", wrong.len(), read.len(), wrong.join("\n"));
}
