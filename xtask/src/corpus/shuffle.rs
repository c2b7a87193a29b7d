//! The same resources with their fields out of order, for what puts them in order.

use std::fs;
use std::path::PathBuf;

use krm_yaml::{Edit, File, NodeKind, NodeRef};

use crate::Outcome;

/// Turns the fields of every mapping in these files around.
pub(crate) fn shuffle(files: &[PathBuf]) -> Outcome {
    for path in files {
        fs::write(path, shuffled(fs::read_to_string(path)?)?)?;
    }
    Ok(())
}

fn shuffled(text: String) -> Outcome<String> {
    let file = File::parse(text)?;
    let mut edit = Edit::new(&file);
    let mut waiting: Vec<NodeRef<'_>> =
        file.documents().filter_map(|document| document.root()).collect();
    while let Some(node) = waiting.pop() {
        if node.kind() == NodeKind::Mapping {
            edit.reorder(node, (0..node.children().count() / 2).rev().collect())?;
        }
        waiting.extend(node.children().filter(|child| child.is_collection()));
    }
    Ok(edit.apply()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_document_begins_with_its_first_field_and_no_line_is_lost() {
        let text = super::super::documents(0..200, true);
        let turned = shuffled(text.clone()).expect("the corpus can be turned around");
        let file = File::parse(turned.clone()).expect("it is YAML");
        let first =
            |node: NodeRef<'_>| node.children().next()?.as_str().map(|key| key.into_owned());
        let firsts = file.documents().filter_map(|document| document.root().and_then(first));
        assert_eq!(firsts.filter(|key| key != "apiVersion").count(), 200);
        // What stands behind a dash changes, and the order in brackets.
        let words = |text: &str| {
            let mut words: Vec<String> = text
                .split(|c: char| c.is_whitespace() || "{},".contains(c))
                .map(str::to_owned)
                .collect();
            words.retain(|word| !word.is_empty());
            words.sort_unstable();
            words
        };
        assert_eq!(words(&turned), words(&text));
    }
}
