//! Statistics of refused edits.

use std::cell::RefCell;
use std::collections::BTreeMap;

/// The number of refused edits by message.
#[derive(Default)]
pub(crate) struct Refusals {
    tries: RefCell<u32>,
    text: RefCell<BTreeMap<String, (u32, String)>>,
}

impl Refusals {
    /// Counts an edit, and its refusal if there is one.
    pub(crate) fn count(&self, refusal: Option<(&str, String)>) {
        *self.tries.borrow_mut() += 1;
        if let Some((why, case)) = refusal {
            let why: String = why.chars().filter(|c| !c.is_ascii_digit()).take(80).collect();
            let mut text = self.text.borrow_mut();
            let entry = text.entry(why).or_insert_with(|| (0, case.clone()));
            entry.0 += 1;
            if case.len() < entry.1.len() {
                entry.1 = case;
            }
        }
    }

    /// The refusals, and their share of all edits.
    pub(crate) fn report(&self) -> (String, f64) {
        let text = self.text.borrow();
        let refused: u32 = text.values().map(|(count, _)| count).sum();
        let share = f64::from(refused) / f64::from((*self.tries.borrow()).max(1));
        let lines: Vec<String> = text
            .iter()
            .map(|(why, (count, case))| format!("{count} times: {why}\n{case}"))
            .collect();
        (lines.join("\n"), share)
    }
}
