//! The new text of an assembled file: resources are first edited in place, then removed, inserted and moved.

use krm_yaml::{Edit, EditError, File, NodeRef, Span};

use super::{FileAssembly, ResourceAction};
use crate::compare::equal_in_yaml_1_2;
use crate::files::FileText;
use crate::files::FilesKind;
use crate::files::arrangement::ResourcePosition;
use crate::functions::resource_list::{Item, replace_element, revise_element};
use crate::merge::FileChange;
use crate::model::resource::resources;
use crate::print::source_text;
use crate::{Diagnostic, PackageFile, PackagePath};

/// A resource that is edited in place: its index, and the item before and after.
pub(super) type Changed<'i> = (usize, &'i Item, &'i Item);

impl<'a> FileAssembly<'a, '_> {
    /// The change of the file; none if its text stays the same.
    pub(super) fn finish(
        mut self,
        path: PackagePath,
    ) -> Result<Option<FileChange<'a>>, Diagnostic> {
        let old = self.old;
        let display_path = old.map_or(path.as_str(), |file| &file.display_path);
        let in_file = |error: Diagnostic| error.in_file(display_path);
        if let Some(Err(error)) = old.map(|file| &file.content) {
            return Err(in_file(error.clone()));
        }
        let new = match self.in_place() {
            Some(text) => Some(text),
            None => {
                self.positions = positions(old);
                self.text(&path).map_err(in_file)?.map(FileText::from)
            }
        };
        let was = old.and_then(|file| file.file()).map(File::text);
        let is_unchanged = match (&new, was) {
            (Some(new), Some(was)) => *new == *was,
            (new, was) => new.is_none() && was.is_none(),
        };
        Ok((!is_unchanged).then_some(FileChange { path, old, new }))
    }

    fn text(&self, path: &PackagePath) -> Result<Option<String>, Diagnostic> {
        let arrangement = self.arrangement();
        // A resource that is the whole of its file moves with its comments and markers.
        if let ([incoming], true) = (&*self.incoming, self.old.is_none()) {
            return Ok(Some(incoming.item.text().to_owned()));
        }
        let source = self.old.and_then(|file| file.file());
        let edited = match source {
            Some(file) => self.edited(file, path)?,
            None => Some(String::new()),
        };
        let Some(text) = edited else { return Ok(source.map(|file| file.text().to_owned())) };
        if arrangement.is_empty() {
            return Ok(Some(text));
        }
        let file = File::parse(text).map_err(|error| Diagnostic::from(&error))?;
        arrangement
            .apply(&file, path.is_json())
            .map_err(|error| Diagnostic::from_edit(&error, &file))
    }

    /// The text with all changed resources edited in place.
    fn edited(&self, file: &File, path: &PackagePath) -> Result<Option<String>, Diagnostic> {
        let changed = self.actions.iter().filter_map(|(index, action)| match action {
            ResourceAction::Keep { before, after, .. } if !after.shares_text(before) => {
                Some((index, *before, after))
            }
            _ => None,
        });
        let changed: Vec<Changed<'_>> = changed.collect();
        let is_item = |(index, ..): &Changed<'_>| self.positions[*index].item.is_some();
        let (items, documents): (Vec<_>, Vec<_>) = changed.into_iter().partition(is_item);
        let edit_error = |error: EditError| Diagnostic::from_edit(&error, file);
        if items.is_empty() {
            return match &documents[..] {
                [] => Ok(Some(file.text().to_owned())),
                // An item that is the whole of its file has the whole text, markers included.
                [(_, before, after)] if before.file().shared_text().is_same(file.shared_text()) => {
                    Ok(Some(after.text().to_owned()))
                }
                _ => self.replace_documents(file, &documents).map(Some),
            };
        }
        let text = self.edit_items(file, &items, path.is_json()).map_err(edit_error)?;
        if documents.is_empty() {
            return Ok(Some(text));
        }
        let file = File::parse(text).map_err(|error| Diagnostic::from(&error))?;
        self.replace_documents(&file, &documents).map(Some)
    }

    /// Edits items of lists. If that fails or changes another resource, the items are replaced as a whole.
    fn edit_items(
        &self,
        file: &File,
        items: &[Changed<'_>],
        is_json: bool,
    ) -> Result<String, EditError> {
        let all: Vec<NodeRef<'_>> =
            file.documents().flat_map(resources).map(|resource| resource.node).collect();
        let new = || Edit::new(file).allow_shared(true).json(is_json);
        let edited = items
            .iter()
            .try_fold(new(), |edit, (index, _, after)| revise_element(edit, all[*index], after));
        let text = edited.and_then(|edit| edit.apply().ok());
        if let Some(text) = text
            && self.holds(&text, items)
        {
            return Ok(text);
        }
        let mut edit = new();
        for (index, _, after) in items {
            replace_element(&mut edit, all[*index], after)?;
        }
        edit.apply()
    }

    /// Replaces whole documents: the text between the markers of each.
    fn replace_documents(
        &self,
        file: &File,
        documents: &[Changed<'_>],
    ) -> Result<String, Diagnostic> {
        let source = file.text();
        let mut out = String::with_capacity(source.len());
        let mut at = 0;
        for (index, _, after) in documents {
            let Some(document) = file.document(self.positions[*index].document) else { continue };
            let start = source_text::content_span(document).start as usize;
            let old = document.root().map(|root| source_text::text(root)).unwrap_or_default();
            let end = start + old.len();
            out.push_str(&source[at..start]);
            out.push_str(&replacement_text(after, source, Span::new(start as u32, end as u32)));
            at = end;
        }
        out.push_str(&source[at..]);
        if self.holds(&out, documents) {
            return Ok(out);
        }
        Err(Diagnostic::error(FilesKind::CannotEditDocuments))
    }

    /// Whether a text has all documents and resources of the file, and the changed ones have the intended meaning.
    ///
    /// A change of one document can join others that are no resources: see `edit/other_documents.rs` of krm-yaml.
    pub(super) fn holds(&self, text: &str, changed: &[Changed<'_>]) -> bool {
        let Ok(file) = File::parse(text.to_owned()) else { return false };
        let all: Vec<NodeRef<'_>> =
            file.documents().flat_map(resources).map(|resource| resource.node).collect();
        let old = self.old.and_then(|file| file.file());
        all.len() == self.positions.len()
            && old.is_none_or(|old| old.documents().len() == file.documents().len())
            && file.errors().next().is_none()
            && changed.iter().all(|(index, _, after)| equal_in_yaml_1_2(all[*index], after.root()))
    }
}

/// The positions of the resources of a file.
pub(super) fn positions(file: Option<&PackageFile>) -> Vec<ResourcePosition> {
    let resources = file.into_iter().flat_map(PackageFile::resources);
    resources.map(|it| ResourcePosition::of(it.node, it.item)).collect()
}

/// The text of an item that replaces a document, with the same line break at its end as the replaced text.
fn replacement_text(item: &Item, source: &str, old: Span) -> String {
    let text = item.text();
    let body = source_text::content_span(item.root().document()).of(text);
    let ends_line = old.of(source).ends_with('\n');
    let rest = &source[old.end as usize..];
    let is_ended = rest.starts_with('\n') || rest.starts_with("\r\n");
    match is_ended && !ends_line {
        true => {
            let body = body.strip_suffix('\n').unwrap_or(body);
            body.strip_suffix('\r').unwrap_or(body).to_owned()
        }
        false if rest.is_empty() => body.to_owned(),
        false => source_text::ensure_trailing_newline(body.to_owned()),
    }
}
