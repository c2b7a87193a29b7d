//! What functions do, as cases: `-- NAME [CONFIG] --` changes `input.yaml`, `-- results NAME [CONFIG] --` is what it says.
//!
//! CONFIG is another input of the case. Every function is run again on what it made, which changes nothing: the law
//! `render_twice_is_once`. `-- once NAME [CONFIG] --` is for the few that are not so.

use krm_sdk::Resource;
use krm_testkit::{Case, Section, diff_from_input, run_dir};

use crate::trial::{Trial, items, run};

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
    if arguments.iter().any(|name| DISABLED.contains(name)) {
        return section.body.clone();
    }
    match arguments[..] {
        ["results", ref call @ ..] => {
            match call_of(case, call, items(&case.input().input_text())) {
                Ok(trial) => trial.results.join("\n"),
                Err(told) => told,
            }
        }
        ["once", ref call @ ..] => change(case, call, false),
        ref call => change(case, call, true),
    }
}

fn change(case: &Case, call: &[&str], again: bool) -> String {
    let trial = match call_of(case, call, items(&case.input().input_text())) {
        Ok(trial) => trial,
        Err(told) => return told,
    };
    if again {
        let second = call_of(case, call, trial.items.clone());
        let second = second.unwrap_or_else(|told| panic!("the same again fails: {told}"));
        assert_eq!(second.text(), trial.text(), "the same again changes something");
    }
    diff_from_input(case.input(), &trial.text())
}

fn call_of(case: &Case, call: &[&str], input: Vec<Resource>) -> Result<Trial, String> {
    let (name, config) = match *call {
        [name] => (name, None),
        [name, config] => (name, Some(config)),
        _ => panic!("`{}` is no call: NAME [CONFIG]", call.join(" ")),
    };
    let config = config.map(|name| {
        let input = case.input_named(name);
        input.unwrap_or_else(|| panic!("the case has no input `{name}`")).input_text()
    });
    run(name, config.as_deref(), input)
}
