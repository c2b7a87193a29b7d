//! A stream in which a resource occurs several times: later ones are merged into the first.

use std::collections::BTreeMap;

use krm_yaml::File;

use crate::model::resource::resources;
use crate::print::source_text;

/// Splits a stream: the first text has the first occurrence of every resource, the second text the second occurrences, and so on.
///
/// ```
/// use krm_core::merge::split_repeated_resources;
/// use krm_yaml::File;
///
/// let pod = "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\n";
/// let file = File::parse(format!("{pod}---\n{pod}spec: {{}}\n"))?;
/// assert_eq!(split_repeated_resources(&file), [pod.to_owned(), format!("---\n{pod}spec: {{}}\n")]);
/// # Ok::<(), krm_yaml::ReadError>(())
/// ```
pub fn split_repeated_resources(file: &File) -> Vec<String> {
    let mut counts = BTreeMap::new();
    let mut texts = vec![String::new()];
    for document in file.documents() {
        let whole = resources(document).into_iter().find(|resource| resource.item.is_none());
        let at = match whole.and_then(|resource| resource.identity()) {
            Some(identity) => {
                let count = counts.entry(identity).or_insert(0_usize);
                *count += 1;
                *count - 1
            }
            None => 0,
        };
        if texts.len() == at {
            texts.push(String::new());
        }
        let text = &mut texts[at];
        *text = source_text::closed(std::mem::take(text));
        text.push_str(document.text());
    }
    texts
}
