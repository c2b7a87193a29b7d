//! Cases: `-- NAME [CONFIG] --` is the diff of `input.yaml`, `-- results NAME [CONFIG] --` are the results.
//!
//! NAME may have a tag. CONFIG is another input of the case. Every function is run again on its output, which must change nothing: the invariant
//! `render_twice_is_once`. `-- once NAME [CONFIG] --` is for the few functions that are not idempotent.

use krm_sdk::Resource;
use krm_testkit::{Case, Section, diff_from_input, run_dir};

use crate::run::{Output, items, run};

const DIR: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cases");

#[test]
fn render_twice_is_once() {
    run_dir(DIR, act);
}

/// Functions that this build leaves out. Their sections are skipped, so that each feature can be tested alone.
const DISABLED: &[&str] = &[
    #[cfg(not(feature = "gatekeeper"))]
    "gatekeeper",
    #[cfg(not(feature = "starlark"))]
    "starlark",
];

fn act(case: &Case, section: &Section) -> String {
    let arguments: Vec<&str> = section.title.split(' ').collect();
    if arguments.iter().any(|it| DISABLED.contains(&it.split(':').next().unwrap_or_default())) {
        return section.body.clone();
    }
    match arguments[..] {
        ["results", ref call @ ..] => {
            match call_of(case, call, items(&case.input().input_text())) {
                Ok(output) => output.results.join("\n"),
                Err(error) => error,
            }
        }
        ["once", ref call @ ..] => change(case, call, false),
        ref call => change(case, call, true),
    }
}

fn change(case: &Case, call: &[&str], again: bool) -> String {
    let output = match call_of(case, call, items(&case.input().input_text())) {
        Ok(output) => output,
        Err(error) => return error,
    };
    if again {
        let second = call_of(case, call, output.items.clone());
        let second = second.unwrap_or_else(|error| panic!("the second run fails: {error}"));
        assert_eq!(second.text(), output.text(), "the second run changes something");
    }
    diff_from_input(case.input(), &output.text())
}

fn call_of(case: &Case, call: &[&str], input: Vec<Resource>) -> Result<Output, String> {
    let (name, config) = match *call {
        [name] => (name, None),
        [name, config] => (name, Some(config)),
        _ => panic!("expected NAME [CONFIG], found `{}`", call.join(" ")),
    };
    let config = config.map(|name| {
        let input = case.input_named(name);
        input.unwrap_or_else(|| panic!("the case has no input `{name}`")).input_text()
    });
    run(name, config.as_deref(), input)
}
