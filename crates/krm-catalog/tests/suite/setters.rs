//! create-setters and apply-setters together: apply-setters sets the fields that create-setters marked.

use krm_sdk::Resource;

use crate::run::{items, run};

const PIECES: [&str; 9] = ["web", "a", "a-b", "1", "10", "true", "x/y:2", "é", "$"];
const BETWEEN: [&str; 3] = ["", "-", ": "];

fn config(one: &str, two: &str) -> String {
    let quoted = |text: &str| format!("'{text}'");
    format!("kind: ConfigMap\ndata:\n  one: {}\n  two: {}\n", quoted(one), quoted(two))
}

/// The output for one resource; none if nothing matches.
fn changed(name: &str, config: &str, text: &str) -> Option<String> {
    let input: Vec<Resource> = items(text);
    match run(name, Some(config), input) {
        Ok(output) => Some(output.text()),
        Err(error) => {
            assert!(error.contains("no matches"), "{name} {config} {text}: {error}");
            None
        }
    }
}

#[test]
fn marked_fields_can_be_set_and_reset() {
    let mut marked_count = 0;
    for (one, two) in PIECES.iter().flat_map(|one| PIECES.map(|two| (*one, two))) {
        for (left, between) in PIECES.iter().flat_map(|left| BETWEEN.map(|it| (*left, it))) {
            let value = format!("{left}{between}{two}");
            let text =
                format!("apiVersion: v1\nkind: Pod\nspec:\n  field: \"{value}\" # comment\n");
            let Some(marked) = changed("create-setters", &config(one, two), &text) else {
                continue;
            };
            marked_count += 1;
            let same = changed("apply-setters", &config(one, two), &marked);
            assert_eq!(same.as_ref(), Some(&marked), "{one} {two}: {value}");
            let other = changed("apply-setters", &config("new 1", "new-2"), &marked).unwrap();
            assert!(other.contains("new"), "{one} {two}: {other}");
            let back = changed("apply-setters", &config(one, two), &other);
            assert_eq!(back.as_ref(), Some(&marked), "{one} {two}: {other}");
        }
    }
    assert!(marked_count > 1000, "{marked_count}");
}
