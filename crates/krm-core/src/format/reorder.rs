//! Makes as many changes of order as can be made without harm.

use krm_yaml::{Edit, EditError, File};

use super::sort::{Reordering, SkippedNode};

/// How often a document is tried before the rest of it is left as it is: each try reads it back.
const MOST_TRIES: usize = 200;

/// All changes at once.
pub(super) fn all<'a>(
    file: &'a File,
    wishes: impl IntoIterator<Item = &'a Reordering<'a>>,
    json: bool,
) -> Result<String, EditError> {
    let mut edit = Edit::new(file).allow_shared(true).json(json);
    for wish in wishes {
        edit.reorder(wish.node, wish.order.clone())?;
    }
    edit.apply()
}

/// The text with the changes that can be made, and what is left as it is.
pub(super) fn most<'a>(
    file: &'a File,
    wishes: &'a [Reordering<'a>],
    json: bool,
) -> (String, Vec<SkippedNode<'a>>) {
    let mut work = Work { file, json, text: None, made: Vec::new(), left: Vec::new(), tries: 0 };
    work.halves(wishes);
    (work.text.unwrap_or_else(|| file.text().to_owned()), work.left)
}

struct Work<'a> {
    file: &'a File,
    json: bool,
    text: Option<String>,
    made: Vec<&'a Reordering<'a>>,
    left: Vec<SkippedNode<'a>>,
    tries: usize,
}

impl<'a> Work<'a> {
    /// Tries all of these; where that fails, one half after the other.
    fn halves(&mut self, wishes: &'a [Reordering<'a>]) {
        let mut waiting = vec![wishes];
        while self.tries < MOST_TRIES
            && let Some(wishes) = waiting.pop()
        {
            match (self.attempt(wishes), wishes) {
                (Ok(()), _) => {}
                (Err(error), [wish]) => {
                    self.left.push(SkippedNode { node: wish.node, why: error.to_string() });
                }
                (Err(_), _) => {
                    let (first, second) = wishes.split_at(wishes.len() / 2);
                    waiting.extend([second, first]);
                }
            }
        }
        for wish in waiting.into_iter().rev().flatten() {
            self.left.push(SkippedNode {
                node: wish.node,
                why: "too much else here was left".to_owned(),
            });
        }
    }

    fn attempt(&mut self, wishes: &'a [Reordering<'a>]) -> Result<(), EditError> {
        self.tries += 1;
        self.text = Some(all(self.file, self.made.iter().copied().chain(wishes), self.json)?);
        self.made.extend(wishes);
        Ok(())
    }
}
