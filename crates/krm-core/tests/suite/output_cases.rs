//! Cases of function output: how the text of a resource changes when a function returns it.

use krm_core::functions::resource_list::{InputList, InputOptions, Item};
use krm_core::print::json;
use krm_testkit::{Case, Section, diff_from_input, run_dir};
use krm_yaml::{File, Value};

#[test]
fn output_cases() {
    run_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cases/output"), act);
}

fn act(case: &Case, section: &Section) -> String {
    let name = section.title.strip_prefix("apply ").expect("an action is `apply FILE`");
    let returned = case.input_named(name).expect("the output is an input").input_text();
    let items = [Item::parse(case.input().input_text()).expect("the resource is valid")];
    let sending = InputList::of(&items, &InputOptions::default()).expect("the list can be built");
    match sending.apply_output(list(&returned)) {
        Ok(applied) => diff_from_input(case.input(), applied.items[0].text()),
        Err(refused) => format!("error: {}\n", refused.error.message()),
    }
}

/// A ResourceList of one resource, with the id by which it is paired.
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
    let text = json::display(&Value::Node(root));
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
