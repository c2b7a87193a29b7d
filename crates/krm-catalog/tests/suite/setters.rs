//! create-setters and apply-setters belong together: what one marks, the other sets, and sets back.

use krm_sdk::Resource;

use crate::trial::{items, run};

const PIECES: [&str; 9] = ["web", "a", "a-b", "1", "10", "true", "x/y:2", "é", "$"];
const BETWEEN: [&str; 3] = ["", "-", ": "];

fn config(one: &str, two: &str) -> String {
    let quoted = |text: &str| format!("'{text}'");
    format!("kind: ConfigMap\ndata:\n  one: {}\n  two: {}\n", quoted(one), quoted(two))
}

/// The text that a function makes of one resource; none where it finds nothing to do.
fn made(name: &str, config: &str, text: &str) -> Option<String> {
    let input: Vec<Resource> = items(text);
    match run(name, Some(config), input) {
        Ok(trial) => Some(trial.text()),
        Err(told) => {
            assert!(told.contains("no matches"), "{name} {config} {text}: {told}");
            None
        }
    }
}

#[test]
fn what_is_marked_is_set_and_set_back() {
    let mut marked_count = 0;
    for (one, two) in PIECES.iter().flat_map(|one| PIECES.map(|two| (*one, two))) {
        for (left, between) in PIECES.iter().flat_map(|left| BETWEEN.map(|it| (*left, it))) {
            let value = format!("{left}{between}{two}");
            let text = format!("apiVersion: v1\nkind: Pod\nspec:\n  field: \"{value}\" # words\n");
            let Some(marked) = made("create-setters", &config(one, two), &text) else { continue };
            marked_count += 1;
            let same = made("apply-setters", &config(one, two), &marked);
            assert_eq!(same.as_ref(), Some(&marked), "{one} {two}: {value}");
            let other = made("apply-setters", &config("new 1", "new-2"), &marked).unwrap();
            assert!(other.contains("new"), "{one} {two}: {other}");
            let back = made("apply-setters", &config(one, two), &other);
            assert_eq!(back.as_ref(), Some(&marked), "{one} {two}: {other}");
        }
    }
    assert!(marked_count > 1000, "{marked_count}");
}
