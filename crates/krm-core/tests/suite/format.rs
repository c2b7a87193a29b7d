//! Property tests of formatting on generated resources.

use crate::formatting::{self, Choice};
use crate::properties::draw::Draw;
use crate::runner::holds;

fn check_all(property: impl Fn(&Choice) -> crate::properties::Verdict) {
    holds(|bytes| match formatting::choose(&mut Draw::new(bytes)) {
        Some(choice) => property(&choice),
        None => Ok(()),
    });
}

#[test]
fn set_twice_is_set_once() {
    check_all(Choice::twice_is_once);
}

#[test]
fn same_input_same_bytes() {
    check_all(Choice::same_input_same_bytes);
}

#[test]
fn unknown_survives() {
    check_all(|choice| {
        choice.same_meaning()?;
        choice.unknown_survives()
    });
}

/// Comments around a comma that is on a later line than the entry before it.
#[test]
fn comments_beside_and_before_commas_keep_their_owner() {
    for comments in [
        "kind: Pod\n# one\n, # two\n",
        "kind: Pod # zero\n# one\n, # two\n",
        "kind: Pod # zero\n, # one\n# two\n",
        "kind: Pod\n# one\n# two\n, # three\n\n# four\n",
        "kind: [Pod\n# one\n] # two\n, # three\n",
    ] {
        let choice = formatting::unmodified(&format!("{{{comments}apiVersion: v1 # last\n}}\n"));
        for verdict in [choice.twice_is_once(), choice.same_meaning(), choice.unknown_survives()] {
            assert_eq!(verdict, Ok(()));
        }
    }
}
