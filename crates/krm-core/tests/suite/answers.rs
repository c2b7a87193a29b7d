//! The cases of answers: what becomes of the text of a resource when a function gives it back.

use krm_core::functions::resource_list::{InputList, InputOptions, Item};
use krm_core::print::json;
use krm_testkit::{Case, Section, diff_from_input, run_dir};
use krm_yaml::{File, Value};

#[test]
fn answers() {
    run_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cases/answer"), act);
}

fn act(case: &Case, section: &Section) -> String {
    let name = section.title.strip_prefix("answer ").expect("an action is `answer FILE`");
    let returned = case.input_named(name).expect("the answer is an input").input_text();
    let items = [Item::parse(case.input().input_text()).expect("it can be read")];
    let sending = InputList::of(&items, &InputOptions::default()).expect("it can be sent");
    match sending.apply_output(list(&returned)) {
        Ok(answer) => diff_from_input(case.input(), answer.items[0].text()),
        Err(refused) => format!("error: {}\n", refused.error.message()),
    }
}

/// A list of one resource. It is known again because no other is there, by its names or as JSON by its id.
fn list(item: &str) -> String {
    let lines: String = item.lines().map(|line| format!("  {line}\n")).collect();
    let text = format!("kind: ResourceList\nitems:\n-\n{lines}");
    let file = File::parse(text.clone()).expect("cases are small");
    let id = "\"internal.config.kubernetes.io/krm-id\":\"0\"";
    let is_json = item.starts_with('{');
    if !is_json {
        let metadata = format!("  metadata:\n    annotations:\n      {}\n", id.replace(':', ": "));
        return match text.contains("\n  metadata:\n") {
            true => text.replacen("\n  metadata:\n", &format!("\n{metadata}"), 1),
            false => text + &metadata,
        };
    }
    let root = file.document(0).and_then(|it| it.root()).expect("there is a list");
    let text = json::write(&Value::Node(root));
    let own = format!("\"annotations\":{{{id}}}");
    match text.contains("\"metadata\":{") {
        true => text.replacen("\"metadata\":{", &format!("\"metadata\":{{{own},"), 1),
        false => text.replacen(
            "\"kind\":\"Thing\"",
            &format!("\"kind\":\"Thing\",\"metadata\":{{{own}}}"),
            1,
        ),
    }
}
