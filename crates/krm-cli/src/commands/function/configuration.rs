//! The functionConfig that a person names: the one object of a file.

use krm_core::{Diagnostic, subtree};
use krm_yaml::{NodeRef, ReadOptions};

use crate::disk;

/// The text of the one object in a file.
pub(crate) fn text(name: &str) -> Result<String, Diagnostic> {
    let file = disk::parse(name, ReadOptions::default())?;
    if let Some(error) = file.errors().next() {
        return Err(Diagnostic::from_syntax(error, &file).in_file(disk::shown(name)));
    }
    let roots = file.documents().filter_map(|document| document.root());
    let objects: Vec<NodeRef<'_>> = roots.filter(|root| root.as_mapping().is_some()).collect();
    match objects.as_slice() {
        [object] => Ok(subtree::end_line(subtree::texts(&[*object]).concat())),
        other => {
            let words =
                format!("one object is wanted as functionConfig, and there are {}", other.len());
            Err(Diagnostic::error(words).in_file(disk::shown(name)))
        }
    }
}
