//! `cat`: the resources of a package as they are written, optionally annotated, formatted or without comments.

use krm_yaml::{Edit, EditError, File, NodeRef};

use crate::annotate::add;
use crate::format;
use crate::model::resource::{Resource, is_null, resources};
use crate::print::source_text;
use crate::{Diagnostic, PackageFile};

/// Spec: the annotation groups for the origin of a resource. Older tools read the first one.
const ORIGIN: [&str; 2] = ["config.kubernetes.io", "internal.config.kubernetes.io"];

/// A resource, or a document without resources.
#[derive(Clone, Copy, Debug)]
pub struct Entry<'a> {
    /// The node that is printed.
    pub node: NodeRef<'a>,
    /// The resource and its index in the file.
    pub resource: Option<(Resource<'a>, usize)>,
}

/// How entries are printed.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// Add annotations with the path of the file and the index in it.
    pub annotated: bool,
    /// Sort fields by the Kubernetes convention.
    pub formatted: bool,
    /// Remove comments.
    pub without_comments: bool,
}

/// The resources of a file, and its documents without resources, in order. Documents with only comments are skipped.
pub fn entries(file: &PackageFile) -> Vec<Entry<'_>> {
    let (mut entries, mut count) = (Vec::new(), 0);
    for document in file.file().into_iter().flat_map(File::documents) {
        let found = resources(document);
        let root = document.root().filter(|root| found.is_empty() && !is_null(*root));
        entries.extend(root.map(|node| Entry { node, resource: None }));
        for resource in found {
            entries.push(Entry { node: resource.node, resource: Some((resource, count)) });
            count += 1;
        }
    }
    entries
}

/// The entries as they are written, in order. Each ends with a line break.
pub fn texts(entries: &[Entry<'_>]) -> Vec<String> {
    let document = |entry: &Entry<'_>| entry.node.document().index();
    let texts = entries.chunk_by(|a, b| document(a) == document(b)).flat_map(|same| {
        source_text::texts(&same.iter().map(|entry| entry.node).collect::<Vec<_>>())
    });
    texts.zip(entries).map(|(text, entry)| source_text::end_line(text, entry.node)).collect()
}

/// Calls `print` with the selected entries of a file, after applying the options to the file.
pub fn with_entries<R>(
    file: &PackageFile,
    options: Options,
    keep: impl Fn(&Entry<'_>) -> bool,
    print: impl FnOnce(&[Entry<'_>]) -> R,
) -> Result<R, Vec<Diagnostic>> {
    let all = entries(file);
    if options.is_plain() {
        return Ok(print(&all.into_iter().filter(|entry| keep(entry)).collect::<Vec<_>>()));
    }
    // The edits do not change the number of entries, so the indices stay valid.
    let kept: Vec<bool> = all.iter().map(keep).collect();
    let edited = options.apply(file, &kept)?;
    let entries = entries(&edited).into_iter().zip(kept);
    Ok(print(&entries.filter(|(_, keep)| *keep).map(|(entry, _)| entry).collect::<Vec<_>>()))
}

impl Options {
    /// Whether entries are printed as they are written.
    pub fn is_plain(self) -> bool {
        !(self.annotated || self.formatted || self.without_comments)
    }

    /// The file with the options applied.
    fn apply(self, file: &PackageFile, kept: &[bool]) -> Result<PackageFile, Vec<Diagnostic>> {
        let mut file = file.with_text(file.file().map_or("", File::text).to_owned())?;
        if let (true, Some(source)) = (self.formatted, file.file()) {
            let options = format::FormatOptions { json: file.path.is_json(), ..Default::default() };
            let in_file = |errors: Vec<Diagnostic>| {
                errors.into_iter().map(|it| it.in_file(&*file.display_path)).collect::<Vec<_>>()
            };
            if let Some(text) = format::format(source, options).map_err(in_file)?.text {
                file = file.with_text(text)?;
            }
        }
        if self.annotated {
            file = file.with_text(annotated(&file, kept)?)?;
        }
        if self.without_comments {
            file = file.with_text(without_comments(&file)?)?;
        }
        Ok(file)
    }
}

/// The annotations with the origin of a resource. A stream has no path.
fn origin(file: &PackageFile, index: usize) -> Vec<(String, String)> {
    let path = file.path.as_str();
    let pairs = ORIGIN.iter().flat_map(|group| {
        [(format!("{group}/index"), index.to_string()), (format!("{group}/path"), path.to_owned())]
    });
    pairs.filter(|(_, value)| value != "-").collect()
}

fn annotated(file: &PackageFile, kept: &[bool]) -> Result<String, Vec<Diagnostic>> {
    let pairs: Vec<Vec<(String, String)>> =
        (0..kept.len()).map(|index| origin(file, index)).collect();
    edited(file, |edit| {
        let selected = entries(file).into_iter().zip(kept).filter(|(_, keep)| **keep);
        selected
            .filter_map(|(entry, _)| entry.resource)
            .try_for_each(|(resource, index)| add(edit, resource.node, &pairs[index]))
    })
}

fn without_comments(file: &PackageFile) -> Result<String, Vec<Diagnostic>> {
    edited(file, |edit| {
        for document in file.file().into_iter().flat_map(File::documents) {
            for comment in document.comments() {
                edit.replace_comment(document.index(), &comment, None);
            }
        }
        Ok(())
    })
}

/// The text of a file after an edit.
fn edited<'a>(
    file: &'a PackageFile,
    change: impl FnOnce(&mut Edit<'a>) -> Result<(), EditError>,
) -> Result<String, Vec<Diagnostic>> {
    let Some(source) = file.file() else { return Ok(String::new()) };
    let diagnostic =
        |error: EditError| vec![Diagnostic::from_edit(&error, source).in_file(&*file.display_path)];
    let mut edit = Edit::new(source).json(file.path.is_json());
    change(&mut edit).map_err(diagnostic)?;
    edit.apply().map_err(diagnostic)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::package::tests::package;

    fn printed(text: &str, options: Options) -> Vec<String> {
        let package = package(&[("a/b.yaml", text)]);
        let file = &package.files()[0];
        with_entries(file, options, |_| true, texts).unwrap()
    }

    #[test]
    fn documents_without_resources_are_entries() {
        let text = "# c\n---\nkind: A\napiVersion: v1\n---\nplain: 1 # c\n---\n# only\n---\n- x\n";
        let plain = printed(text, Options::default());
        assert_eq!(plain, ["# c\nkind: A\napiVersion: v1\n", "plain: 1 # c\n", "- x\n"]);
    }

    #[test]
    fn options_are_applied_as_edits() {
        let text = "kind: A # k\napiVersion: v1\n# meta\nmetadata:\n  name: a\n";
        let options = Options { annotated: true, ..Options::default() };
        assert_eq!(
            printed(text, options)[0],
            format!(
                "{text}  annotations:\n    config.kubernetes.io/index: \"0\"\n    config.kubernetes.io/path: a/b.yaml\n    internal.config.kubernetes.io/index: \"0\"\n    internal.config.kubernetes.io/path: a/b.yaml\n"
            )
        );
        let options = Options { formatted: true, without_comments: true, ..Options::default() };
        assert_eq!(printed(text, options)[0], "apiVersion: v1\nkind: A\nmetadata:\n  name: a\n");
    }
}
