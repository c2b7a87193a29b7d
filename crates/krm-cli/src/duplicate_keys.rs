//! Warnings about duplicate keys in the files that a command reads.
//!
//! Files are read in two places: `disk::parse` reads what the user names, and `loader` reads packages. Both add the duplicate keys that they
//! find to one list, and the console reports it, so that no command can forget to. A file that is read twice is reported once.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use krm_core::Diagnostic;
use krm_core::query;
use krm_yaml::File;

use crate::commands::kinds::CommandKind;

/// How many keys of a file are reported. `krm yaml check` lists more.
const MAX_KEYS: usize = 20;

/// A key of a file: the number of its document, and its path.
type Key = (usize, String);

/// The warnings that are not reported yet, by the name of the file.
static FOUND: Mutex<BTreeMap<String, Vec<(Key, Diagnostic)>>> = Mutex::new(BTreeMap::new());

fn found() -> MutexGuard<'static, BTreeMap<String, Vec<(Key, Diagnostic)>>> {
    FOUND.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Adds the duplicate keys of a file that was read.
pub(crate) fn add(name: &str, file: &File) {
    let mut keys = BTreeSet::new();
    let mut warnings = Vec::new();
    for (index, document) in file.documents().enumerate() {
        for duplicate in query::duplicate_keys(document) {
            let key = (index, duplicate.path.to_string());
            if keys.insert(key.clone()) && keys.len() <= MAX_KEYS {
                warnings.push((key, duplicate.to_diagnostic(file).in_file(name)));
            }
        }
    }
    if keys.len() > MAX_KEYS {
        let kind = CommandKind::WarningsOmitted { count: keys.len() - MAX_KEYS };
        warnings.push(((usize::MAX, String::new()), Diagnostic::warning(kind).in_file(name)));
    }
    if !warnings.is_empty() {
        found().insert(name.to_owned(), warnings);
    }
}

/// Removes the warning about a key for which a command reports more.
pub(crate) fn replace_by(other: &Diagnostic) {
    let Some(name) = other.file.as_deref() else { return };
    let place = |it: &Diagnostic| it.location.as_ref().map(|at| (at.line, at.column));
    if let Some(warnings) = found().get_mut(name) {
        warnings.retain(|(_, it)| place(it) != place(other));
    }
}

/// Drops all warnings, for a command that reports duplicate keys itself.
pub(crate) fn discard() {
    found().clear();
}

/// What was reported, so that a key is not reported twice.
#[derive(Debug, Default)]
pub(crate) struct Reported(BTreeSet<(String, Key)>);

impl Reported {
    /// The warnings that are still to be reported. `display` returns a diagnostic with the name of the file as it is shown: of a package and
    /// its temporary copy only one is reported.
    pub(crate) fn take(
        &mut self,
        display: impl Fn(&Diagnostic) -> Option<String>,
    ) -> Vec<Diagnostic> {
        let found = std::mem::take(&mut *found());
        let mut new = Vec::new();
        for (key, warning) in found.into_values().flatten() {
            let name = display(&warning).unwrap_or_default();
            if self.0.insert((name, key)) {
                new.push(warning);
            }
        }
        new
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One test, because the list belongs to the process.
    #[test]
    fn each_key_is_reported_once() {
        let add = |name: &str, text: &str| super::add(name, &File::parse(text.to_owned()).unwrap());
        let mut reported = Reported::default();
        let mut take = || {
            let all = reported.take(|it| it.file.as_deref().map(|name| name.replace("copy/", "")));
            let own = |it: &Diagnostic| it.file.as_deref().is_some_and(|it| it.contains("-dup"));
            all.iter().filter(|it| own(it)).map(|it| it.message().to_owned()).collect::<Vec<_>>()
        };
        let message = |key: &str| format!("duplicate key `{key}`; the last one is used");
        add("a-dup.yaml", "a: 1\na: 2\na: 3\nb: 1\n");
        add("a-dup.yaml", "a: 1\na: 2\na: 3\nb: 1\n");
        add("copy/a-dup.yaml", "a: 1\na: 2\n");
        assert_eq!(take(), [message("a")]);
        add("a-dup.yaml", "a: 1\na: 2\n");
        assert_eq!(take(), [""; 0]);
        let many: String = (0..MAX_KEYS + 3).map(|at| format!("k{at}: 1\nk{at}: 2\n")).collect();
        add("many-dup.yaml", &many);
        let found = take();
        assert_eq!(found.len(), MAX_KEYS + 1);
        assert_eq!(found[MAX_KEYS], "3 more warnings are not shown");
    }
}
