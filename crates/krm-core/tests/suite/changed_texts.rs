//! Texts after a merge, a setter or formatting, for the comparison with Kubernetes' reader. Property tests, the fuzz target and
//! `cargo xtask differential --reader` share them.

use std::sync::Arc;

use krm_core::PackageFile;
use krm_core::format::{FormatOptions, format};
use krm_core::merge::{
    MergeOptions, MergedFile, NamedFile, OnConflict, merge_files, merge_files_three_way,
};
use krm_core::print::json;
use krm_core::setters::ApplySetters;
use krm_testkit::KubernetesReader;
use krm_yaml::{Edit, File, NodeRef};

use super::properties::Verdict;
use super::properties::draw::Draw;
use super::properties::editing::{self, EditResult, Scope};
use super::properties::kubernetes::{Comparison, compare, same_after};

/// Values of setters, most of which cannot be written plain everywhere.
const VALUES: &[&str] = &[
    "nginx:1.2",
    "yes",
    "012",
    "",
    "a: b",
    "two\nlines\n",
    "- x",
    "x #c",
    " x ",
    "é",
    "1e3",
    "null",
    "it's",
    "\"d\"",
    "[a, b]",
    "a, b}",
    "?x",
    "x:",
    "\tx",
    "*a",
    "%x",
    "---",
    "x\n\n  y",
    "\u{2028}",
];

/// The result of an operation, with the texts that it was given.
pub(crate) struct Changed {
    pub(crate) operation: &'static str,
    pub(crate) inputs: Vec<String>,
    pub(crate) new: String,
}

impl Changed {
    /// What Kubernetes reads like krm before an operation, it reads like krm after it.
    pub(crate) fn is_read(&self, reader: &mut KubernetesReader) -> Verdict {
        if self.inputs.iter().any(|text| !is_comparable(text, reader)) {
            return Ok(());
        }
        same_after(&self.new, reader).map_err(|why| {
            let inputs: Vec<String> =
                self.inputs.iter().map(|it| format!("{it}\n{it:?}")).collect();
            let (operation, inputs, new) = (self.operation, inputs.join("\n---- and\n"), &self.new);
            format!("{why}\n---- {operation} of\n{inputs}\n---- new\n{new}\n{new:?}")
        })
    }
}

/// Whether both readers read a text alike. JSON allows tabs anywhere between tokens; the result may be YAML.
fn is_comparable(text: &str, reader: &mut KubernetesReader) -> bool {
    let is_json_with_tabs = text.trim_start().starts_with(['{', '[']) && text.contains('\t');
    !is_json_with_tabs && compare(text, reader) == Comparison::Same
}

/// The results of all operations on a text, as far as they change it.
pub(crate) fn all(draw: &mut Draw<'_>, text: &str) -> Vec<Changed> {
    [merged(draw, text), set(draw, text), formatted(text)].into_iter().flatten().collect()
}

/// The text with its fields in order, if that changes it.
pub(crate) fn formatted(text: &str) -> Option<Changed> {
    let file = File::parse(text.to_owned()).ok()?;
    let new = format(&file, FormatOptions::default()).ok()?.text?;
    Some(Changed { operation: "format", inputs: vec![text.to_owned()], new })
}

/// A merge of versions of the text: with two of them, or of one into the other.
pub(crate) fn merged(draw: &mut Draw<'_>, text: &str) -> Option<Changed> {
    let is_three_way = draw.once_in(2);
    let on_conflict = draw.pick(&[OnConflict::Upstream, OnConflict::Local]);
    let mut version = || match editing::edit(draw, text, Scope::Few, false) {
        EditResult::Edited(edited) => Some(edited.new),
        _ => None,
    };
    let inputs = vec![text.to_owned(), version()?, version()?];
    let options = MergeOptions { on_conflict, ..MergeOptions::default() };
    let files = inputs.iter().map(|text| File::parse(text.clone()).map(Arc::new));
    let files: Vec<Arc<File>> = files.collect::<Result<_, _>>().ok()?;
    let named = |at: usize| NamedFile { name: "file", file: &files[at] };
    let merge: Result<MergedFile, _> = match is_three_way {
        true => merge_files_three_way(named(0), named(1), named(2), &options),
        false => merge_files(named(2), named(1), &options),
    };
    let operation = if is_three_way { "merge3" } else { "merge" };
    let new = merge.ok()?.text;
    Some(Changed { operation, inputs, new })
}

/// The text after setters got other values. Some scalars get comments that refer to them first.
pub(crate) fn set(draw: &mut Draw<'_>, text: &str) -> Option<Changed> {
    let file = File::parse(text.to_owned()).ok()?;
    let roots = file.documents().filter(|it| it.error().is_none()).filter_map(|it| it.root());
    let is_value = |node: &NodeRef<'_>| {
        let is_key =
            node.parent().is_some_and(|it| it.as_mapping().is_some()) && node.key().is_none();
        node.as_scalar().is_some() && !is_key && node.parent().is_some()
    };
    let values: Vec<NodeRef<'_>> = roots.flat_map(NodeRef::descendants).filter(is_value).collect();
    if values.is_empty() {
        return None;
    }
    let mut edit = Edit::new(&file);
    for at in 0..1 + draw.below(3) {
        let pattern = draw.pick(&["${v}", "${v}", "x-${v}", "${v}:${w}"]);
        let node = values[(draw.below(values.len()) + at) % values.len()];
        edit.set_line_comment(node, &format!("# kpt-set: {pattern}"));
    }
    let marked = edit.apply().ok()?;
    let value = |draw: &mut Draw<'_>| json::string(draw.pick(VALUES));
    let config = format!("data:\n  v: {}\n  w: {}\n", value(draw), value(draw));
    let config = PackageFile::from_text("config.yaml", config).ok()?;
    let apply = ApplySetters::new(&config, config.file()?.get("data")?).ok()?;
    let package_file = PackageFile::from_text("a.yaml", marked.clone()).ok()?;
    let applied = apply.compute(&package_file).ok()?;
    let new = applied.changes.text(&package_file).ok()??;
    Some(Changed { operation: "set", inputs: vec![marked], new })
}
