//! Applying as many reorderings as possible.

use krm_yaml::{Edit, EditError, File};

use super::sort::{Reordering, SkippedNode};

/// The maximum number of attempts per document. Each one parses the result to verify it.
const MAX_ATTEMPTS: usize = 200;

/// Applies all reorderings at once.
pub(super) fn apply_all<'a>(
    file: &'a File,
    reorderings: impl IntoIterator<Item = &'a Reordering<'a>>,
    json: bool,
) -> Result<String, EditError> {
    let mut edit = Edit::new(file).allow_shared(true).json(json);
    for reordering in reorderings {
        edit.reorder(reordering.node, reordering.order.clone())?;
    }
    edit.apply()
}

/// Applies the reorderings that are possible. Returns the text, and the nodes that were skipped.
pub(super) fn apply_possible<'a>(
    file: &'a File,
    reorderings: &'a [Reordering<'a>],
    json: bool,
) -> (String, Vec<SkippedNode<'a>>) {
    let (applied, skipped) = (Vec::new(), Vec::new());
    let mut search = Bisection { file, json, text: None, applied, skipped, attempts: 0 };
    search.run(reorderings);
    (search.text.unwrap_or_else(|| file.text().to_owned()), search.skipped)
}

struct Bisection<'a> {
    file: &'a File,
    json: bool,
    text: Option<String>,
    applied: Vec<&'a Reordering<'a>>,
    skipped: Vec<SkippedNode<'a>>,
    attempts: usize,
}

impl<'a> Bisection<'a> {
    /// Tries all reorderings together; if that fails, one half after the other.
    fn run(&mut self, reorderings: &'a [Reordering<'a>]) {
        let mut waiting = vec![reorderings];
        while self.attempts < MAX_ATTEMPTS
            && let Some(reorderings) = waiting.pop()
        {
            match (self.attempt(reorderings), reorderings) {
                (Ok(()), _) => {}
                (Err(error), [one]) => {
                    self.skipped.push(SkippedNode { node: one.node, reason: error.to_string() });
                }
                (Err(_), _) => {
                    let (first, second) = reorderings.split_at(reorderings.len() / 2);
                    waiting.extend([second, first]);
                }
            }
        }
        for skipped in waiting.into_iter().rev().flatten() {
            let reason = "too many other fields of the document cannot be sorted".to_owned();
            self.skipped.push(SkippedNode { node: skipped.node, reason });
        }
    }

    fn attempt(&mut self, reorderings: &'a [Reordering<'a>]) -> Result<(), EditError> {
        self.attempts += 1;
        let all = self.applied.iter().copied().chain(reorderings);
        self.text = Some(apply_all(self.file, all, self.json)?);
        self.applied.extend(reorderings);
        Ok(())
    }
}
