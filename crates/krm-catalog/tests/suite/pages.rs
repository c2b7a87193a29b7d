//! The examples in the documentation of the functions.
//!
//! An example is a sequence of fenced blocks with a title after the language: `yaml functionConfig` (optional), `yaml input`, and any of
//! `yaml output`, `text results` and `text error`. Blocks with another title, or none, are ignored.

use krm_catalog::{BUILTINS, Builtin};

use crate::run::{items, run};

#[derive(Default)]
struct Example {
    config: Option<String>,
    input: Option<String>,
    expected: Vec<(String, String)>,
}

#[test]
fn documentation_examples_are_correct() {
    for builtin in BUILTINS {
        let examples = examples(builtin.doc);
        examples.iter().for_each(|example| check(builtin, example));
        let needs_none = matches!(builtin.name, "no-op");
        assert!(
            needs_none || !examples.is_empty(),
            "the documentation of {} has no example",
            builtin.name
        );
        let title = format!("# {}\n", builtin.name);
        assert!(builtin.doc.starts_with(&title), "{}: first line", builtin.name);
    }
}

fn check(builtin: &Builtin, example: &Example) {
    let input = example.input.as_deref().unwrap_or_else(|| panic!("{}: no input", builtin.name));
    let output = run(builtin.name, example.config.as_deref(), items(input));
    for (title, expected) in &example.expected {
        let actual = match (title.as_str(), &output) {
            ("yaml output", Ok(output)) => output.text(),
            ("text results", Ok(output)) => {
                output.results.iter().map(|it| format!("{it}\n")).collect()
            }
            ("text error", Err(error)) => error.clone(),
            (_, Ok(_)) => panic!("{}: the function does not fail", builtin.name),
            (_, Err(error)) => panic!("{}: {error}", builtin.name),
        };
        assert_eq!(&actual, expected, "`{title}` of an example of {}", builtin.name);
    }
}

/// The examples of a page. An input after an output begins the next example.
fn examples(page: &str) -> Vec<Example> {
    let mut examples = Vec::new();
    let mut example = Example::default();
    for (title, body) in blocks(page) {
        let is_input = matches!(title.as_str(), "yaml functionConfig" | "yaml input");
        if is_input && !example.expected.is_empty() {
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
    assert!(open.is_none(), "unclosed block");
    blocks
}
