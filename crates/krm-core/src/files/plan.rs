//! What is to be written: every change of a run, before the first byte reaches a disk.

/// What becomes of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// It gets new content, or is made.
    Write,
    /// It goes away.
    Delete,
    /// It stays as it is, to the byte and to its time.
    Keep,
}

/// One file, as it was and as it should be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The file, as people know it: the name they typed, or the path in its package.
    pub path: String,
    /// The content that was read; none for a file that was not there.
    pub old: Option<String>,
    /// The content to be written; none for a file that goes away.
    pub new: Option<String>,
}

impl Change {
    /// What becomes of the file.
    pub fn action(&self) -> Action {
        match (&self.old, &self.new) {
            (old, new) if old == new => Action::Keep,
            (_, Some(_)) => Action::Write,
            (_, None) => Action::Delete,
        }
    }
}

/// Every change of a run, in the order in which the files came.
///
/// ```
/// use krm_core::{Action, Plan};
///
/// let mut plan = Plan::default();
/// plan.write("a.yaml", "a: 1\n", "a: 2\n");
/// plan.write("b.yaml", "b: 1\n", "b: 1\n");
/// assert_eq!(plan.changes().map(|change| change.action()).collect::<Vec<_>>(), [Action::Write]);
/// assert_eq!(plan.files().count(), 2);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    files: Vec<Change>,
}

impl Plan {
    /// Plans new content for a file that was read.
    pub fn write(
        &mut self,
        path: impl Into<String>,
        old: impl Into<String>,
        new: impl Into<String>,
    ) {
        self.add(Change { path: path.into(), old: Some(old.into()), new: Some(new.into()) });
    }

    /// Adds a file, changed or not.
    pub fn add(&mut self, change: Change) {
        self.files.push(change);
    }

    /// Takes a file out of the plan.
    pub fn take(&mut self, path: &str) -> Option<Change> {
        let at = self.files.iter().position(|change| change.path == path)?;
        Some(self.files.remove(at))
    }

    /// Whether nothing is to be done.
    pub fn is_empty(&self) -> bool {
        self.changes().next().is_none()
    }

    /// The files that change, in order.
    pub fn changes(&self) -> impl Iterator<Item = &Change> {
        self.files.iter().filter(|change| change.action() != Action::Keep)
    }

    /// All files, those that stay as they are among them.
    pub fn files(&self) -> impl Iterator<Item = &Change> {
        self.files.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(old: Option<&str>, new: Option<&str>) -> Change {
        Change { path: "a".to_owned(), old: old.map(str::to_owned), new: new.map(str::to_owned) }
    }

    #[test]
    fn an_action_follows_from_the_contents() {
        assert_eq!(change(Some("a"), Some("b")).action(), Action::Write);
        assert_eq!(change(None, Some("")).action(), Action::Write);
        assert_eq!(change(Some(""), None).action(), Action::Delete);
        assert_eq!(change(Some("a"), Some("a")).action(), Action::Keep);
        assert_eq!(change(None, None).action(), Action::Keep);
    }

    #[test]
    fn a_plan_that_keeps_everything_is_empty() {
        let mut plan = Plan::default();
        plan.add(change(Some("a"), Some("a")));
        assert!(plan.is_empty());
        plan.add(change(Some("a"), None));
        assert!(!plan.is_empty());
        assert_eq!(plan.take("a"), Some(change(Some("a"), Some("a"))));
        assert_eq!(plan.take("b"), None);
    }
}
