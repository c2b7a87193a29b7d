//! Reverses the fields of resources, as input for formatting.

use std::fs;
use std::path::PathBuf;

use krm_yaml::{Edit, File, NodeKind, NodeRef};

use crate::TaskResult;

/// Reverses the fields of every mapping in these files.
pub(crate) fn shuffle(files: &[PathBuf]) -> TaskResult {
    for path in files {
        fs::write(path, shuffled(fs::read_to_string(path)?)?)?;
    }
    Ok(())
}

fn shuffled(text: String) -> TaskResult<String> {
    let file = File::parse(text)?;
    let mut edit = Edit::new(&file);
    let mut pending: Vec<NodeRef<'_>> =
        file.documents().filter_map(|document| document.root()).collect();
    while let Some(node) = pending.pop() {
        if node.kind() == NodeKind::Mapping {
            edit.reorder(node, (0..node.children().count() / 2).rev().collect())?;
        }
        pending.extend(node.children().filter(|child| child.is_collection()));
    }
    Ok(edit.apply()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shuffled_documents_start_with_another_field_and_lose_nothing() {
        let text = super::super::documents(0..200, true);
        let reversed = shuffled(text.clone()).expect("the corpus can be shuffled");
        let file = File::parse(reversed.clone()).expect("it is YAML");
        let first =
            |node: NodeRef<'_>| node.children().next()?.as_str().map(|key| key.into_owned());
        let firsts = file.documents().filter_map(|document| document.root().and_then(first));
        assert_eq!(firsts.filter(|key| key != "apiVersion").count(), 200);
        // The fields after a dash and in flow mappings change their order, so whole lines cannot be compared.
        let tokens = |text: &str| {
            let mut tokens: Vec<String> = text
                .split(|c: char| c.is_whitespace() || "{},".contains(c))
                .map(str::to_owned)
                .collect();
            tokens.retain(|token| !token.is_empty());
            tokens.sort_unstable();
            tokens
        };
        assert_eq!(tokens(&reversed), tokens(&text));
    }
}
