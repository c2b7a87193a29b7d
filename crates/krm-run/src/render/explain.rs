//! What a function did, field by field, as people read it.

use krm_core::difference::{packages, text};
use krm_core::wire::Item;
use krm_core::{PackageFile, PackagePath};

use super::Changed;

/// A line for each resource that changed, and one for each of its fields and comments.
pub fn explain(changes: &[Changed], show_secrets: bool) -> Vec<String> {
    let mut lines = Vec::new();
    for changed in changes {
        let [before, after] = [&changed.before, &changed.after].map(|it| it.as_ref().map(file));
        let change = packages::of_one(before.as_ref(), after.as_ref());
        lines.push(text::heading(&change));
        let inner = text::fields(&change, show_secrets).into_iter();
        lines.extend(inner.chain(text::apart(&change, show_secrets)).map(|it| format!("  {it}")));
    }
    lines
}

/// The resource as a file of its own.
fn file(item: &Item) -> PackageFile {
    let path = item.path.clone().or_else(|| PackagePath::new("new").ok());
    let path = path.expect("a word is a path");
    let content = krm_yaml::File::parse(item.text().to_owned());
    let content = content.map(std::sync::Arc::new).map_err(|error| (&error).into());
    PackageFile { shown: path.as_str().to_owned(), path, is_outside: false, content }
}
