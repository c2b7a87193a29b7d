//! A stream in which resources come again: what comes later is merged into what came first.

use std::collections::BTreeMap;

use krm_yaml::File;

use crate::model::resource::resources;

/// Takes a text apart: the first text has every resource once, the next one those that come a second time, and so on.
///
/// ```
/// use krm_core::merge::package::layers;
/// use krm_yaml::File;
///
/// let pod = "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\n";
/// let file = File::parse(format!("{pod}---\n{pod}spec: {{}}\n"))?;
/// assert_eq!(layers(&file), [pod.to_owned(), format!("---\n{pod}spec: {{}}\n")]);
/// # Ok::<(), krm_yaml::ReadError>(())
/// ```
pub fn layers(file: &File) -> Vec<String> {
    let mut counts = BTreeMap::new();
    let mut layers = vec![String::new()];
    for document in file.documents() {
        let whole = resources(document).into_iter().find(|resource| resource.item.is_none());
        let layer = match whole.and_then(|resource| resource.identity()) {
            Some(identity) => {
                let count = counts.entry(identity).or_insert(0_usize);
                *count += 1;
                *count - 1
            }
            None => 0,
        };
        if layers.len() == layer {
            layers.push(String::new());
        }
        let text = &mut layers[layer];
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        text.push_str(document.text());
    }
    layers
}
