//! The examples of the functions' pages are run: what a page shows is what the function does.
//!
//! An example is a row of fenced blocks, each with its title behind the language: `yaml functionConfig` (left out where
//! there is none), `yaml input`, and what comes of it: `yaml output`, `text results`, `text error`, as many of them as the page
//! wants to show. A block with any other title, or none, is not looked at.

use krm_catalog::{BUILTINS, Builtin};

use crate::trial::{items, run};

#[derive(Default)]
struct Example {
    config: Option<String>,
    input: Option<String>,
    expected: Vec<(String, String)>,
}

#[test]
fn the_examples_of_every_page_work() {
    for builtin in BUILTINS {
        let examples = examples(builtin.doc);
        examples.iter().for_each(|example| check(builtin, example));
        let is_bare = matches!(builtin.name, "no-op");
        assert!(is_bare || !examples.is_empty(), "the page of {} has no example", builtin.name);
        let title = format!("# {}\n", builtin.name);
        assert!(builtin.doc.starts_with(&title), "{}: first line", builtin.name);
    }
}

fn check(builtin: &Builtin, example: &Example) {
    let input = example.input.as_deref().unwrap_or_else(|| panic!("{}: no input", builtin.name));
    let trial = run(builtin.name, example.config.as_deref(), items(input));
    for (title, expected) in &example.expected {
        let actual = match (title.as_str(), &trial) {
            ("yaml output", Ok(trial)) => trial.text(),
            ("text results", Ok(trial)) => {
                trial.results.iter().map(|it| format!("{it}\n")).collect()
            }
            ("text error", Err(told)) => told.clone(),
            (_, Ok(_)) => panic!("{}: it does not fail", builtin.name),
            (_, Err(told)) => panic!("{}: {told}", builtin.name),
        };
        assert_eq!(&actual, expected, "`{title}` of an example of {}", builtin.name);
    }
}

/// The examples of a page. The first outcome ends what goes in, and the next input begins another example.
fn examples(page: &str) -> Vec<Example> {
    let mut examples = Vec::new();
    let mut example = Example::default();
    for (title, body) in blocks(page) {
        let goes_in = matches!(title.as_str(), "yaml functionConfig" | "yaml input");
        if goes_in && !example.expected.is_empty() {
            examples.push(std::mem::take(&mut example));
        }
        match title.as_str() {
            "yaml functionConfig" => example.config = Some(body),
            "yaml input" => example.input = Some(body),
            "yaml output" | "text results" | "text error" => example.expected.push((title, body)),
            _ => {}
        }
    }
    examples.extend((!example.expected.is_empty()).then_some(example));
    examples
}

fn blocks(page: &str) -> Vec<(String, String)> {
    let mut blocks = Vec::new();
    let mut open: Option<(String, String)> = None;
    for line in page.split_inclusive('\n') {
        match (&mut open, line.trim_end().strip_prefix("```")) {
            (None, Some(title)) => open = Some((title.to_owned(), String::new())),
            (Some(_), Some(_)) => blocks.extend(open.take()),
            (Some((_, body)), None) => body.push_str(line),
            (None, None) => {}
        }
    }
    assert!(open.is_none(), "a block is never closed");
    blocks
}
