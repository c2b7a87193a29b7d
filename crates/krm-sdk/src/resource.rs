//! One resource: read by paths and changed by edits of its text, which leave everything else byte for byte as it was.

use std::borrow::Cow;

use krm_core::functions::resource_list::Item;
use krm_core::{Diagnostic, PackagePath};
use krm_yaml::{Edit, EditError, EmptyParents, File, NodeRef, Path, Value};

use crate::kinds::ResourceKind;
use crate::{Error, wire_annotations};

/// A resource that a function can read and change.
///
/// Every change is an edit of the text: comments, quotes and field order are preserved.
#[derive(Clone, Debug)]
pub struct Resource {
    item: Item,
}

impl From<Item> for Resource {
    fn from(item: Item) -> Self {
        Self { item }
    }
}

impl From<Resource> for Item {
    fn from(resource: Resource) -> Self {
        resource.item
    }
}

impl Resource {
    /// Parses a new resource. The annotation `config.kubernetes.io/path` becomes its path.
    pub fn parse(text: impl Into<String>) -> Result<Self, Error> {
        let item = wire_annotations::extract(None, Item::parse(text.into())?)?;
        Ok(Self { item })
    }

    /// The document with its path and index.
    pub fn item(&self) -> &Item {
        &self.item
    }

    /// The YAML or JSON text.
    pub fn text(&self) -> &str {
        self.item.text()
    }

    /// The root node.
    pub fn root(&self) -> NodeRef<'_> {
        self.item.root()
    }

    /// The resource as krm's own operations take it.
    pub fn view(&self) -> krm_core::Resource<'_> {
        self.item.resource()
    }

    /// The `apiVersion`.
    pub fn api_version(&self) -> Cow<'_, str> {
        self.view().api_version()
    }

    /// The kind.
    pub fn kind(&self) -> Cow<'_, str> {
        self.view().kind()
    }

    /// The name; empty if there is none.
    pub fn name(&self) -> Cow<'_, str> {
        self.view().name()
    }

    /// The namespace; empty if there is none.
    pub fn namespace(&self) -> Cow<'_, str> {
        self.view().namespace()
    }

    /// The value of an annotation.
    pub fn annotation(&self, name: &str) -> Option<Cow<'_, str>> {
        self.view().annotation(name)
    }

    /// The file that holds the resource.
    pub fn path(&self) -> Option<&PackagePath> {
        self.item.path.as_ref()
    }

    /// Moves the resource to another file of the package. Its index in that file is left open.
    pub fn move_to(&mut self, path: PackagePath) {
        self.item.path = Some(path);
        self.item.index = None;
    }

    /// The node at a path such as `spec.template.spec.containers[name=web].image`.
    pub fn get(&self, path: &str) -> Option<NodeRef<'_>> {
        self.root().document().find(&path.parse().ok()?)
    }

    /// The scalar at a path as text, whatever its type.
    pub fn get_text(&self, path: &str) -> Option<Cow<'_, str>> {
        self.get(path)?.as_scalar().map(|scalar| scalar.value())
    }

    /// Sets the value at a path and creates missing parents. An equal value is left as it is written.
    pub fn set<'v>(&mut self, path: &str, value: impl Into<Value<'v>>) -> Result<(), Error> {
        self.set_at(&parse_path(path)?, value)
    }

    /// Sets the value at a parsed path.
    pub fn set_at<'v>(&mut self, path: &Path, value: impl Into<Value<'v>>) -> Result<(), Error> {
        let value = value.into().into_owned().map_err(|error| {
            let kind = ResourceKind::InvalidNewValue { reason: error.to_string() };
            Diagnostic::error(kind)
        })?;
        self.change(|edit, root| edit.set_at(root.document(), path, value))
    }

    /// Removes the value at a path; false if there is none.
    pub fn remove(&mut self, path: &str) -> Result<bool, Error> {
        self.remove_at(&parse_path(path)?)
    }

    /// Removes the value at a parsed path; false if there is none.
    pub fn remove_at(&mut self, path: &Path) -> Result<bool, Error> {
        if self.root().document().find(path).is_none() {
            return Ok(false);
        }
        self.change(|edit, root| edit.remove_at(root.document(), path, EmptyParents::default()))?;
        Ok(true)
    }

    /// Makes several changes with one edit, which is faster than one by one.
    pub fn edit(
        &mut self,
        change: impl for<'a> FnOnce(&mut Edit<'a>, NodeRef<'a>) -> Result<(), EditError>,
    ) -> Result<(), Error> {
        self.change(change)
    }

    /// Replaces the whole text.
    pub fn replace(&mut self, text: String) -> Result<(), Error> {
        if text != self.text() {
            self.item = wire_annotations::extract(Some(&self.item), self.item.with_text(text)?)?;
        }
        Ok(())
    }

    /// Replaces the whole text with the result of an edit ([`Edit::apply_to_file`]), which is parsed already.
    pub fn replace_file(&mut self, file: File) -> Result<(), Error> {
        if file.text() != self.text() {
            self.item = wire_annotations::extract(Some(&self.item), self.item.with_file(file)?)?;
        }
        Ok(())
    }

    fn change(
        &mut self,
        change: impl for<'a> FnOnce(&mut Edit<'a>, NodeRef<'a>) -> Result<(), EditError>,
    ) -> Result<(), Error> {
        let file = self.item.file();
        let mut edit = Edit::new(file);
        change(&mut edit, self.item.root())
            .map_err(|error| self.in_its_file(Diagnostic::from_edit(&error, file)))?;
        if edit.is_empty() {
            return Ok(());
        }
        let new = edit
            .apply_to_file()
            .map_err(|error| self.in_its_file(Diagnostic::from_edit(&error, file)))?;
        self.replace_file(new)
    }

    fn in_its_file(&self, diagnostic: Diagnostic) -> Diagnostic {
        match self.path() {
            Some(path) => diagnostic.in_file(path.as_str()),
            None => diagnostic,
        }
    }
}

fn parse_path(path: &str) -> Result<Path, Error> {
    path.parse().map_err(|error: krm_yaml::PathError| {
        let (path, reason) = (path.to_owned(), error.to_string());
        Diagnostic::error(ResourceKind::InvalidFieldPath { path, reason }).into()
    })
}

/// Parses the path of a file in the package.
pub(crate) fn package_path(path: &str) -> Result<PackagePath, Error> {
    PackagePath::new(path).map_err(|error| {
        Diagnostic::error(ResourceKind::InvalidFilePath { reason: error.to_string() }).into()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "apiVersion: v1\nkind: Pod # comment\nmetadata:\n  name: a\n";

    #[test]
    fn changes_preserve_the_rest_of_the_text() {
        let mut pod = Resource::parse(TEXT).unwrap();
        pod.set("metadata.labels.app", "web").unwrap();
        assert_eq!(pod.text(), format!("{TEXT}  labels:\n    app: web\n"));
        assert_eq!(pod.get_text("metadata.labels.app").as_deref(), Some("web"));
        assert!(pod.remove("metadata.labels").unwrap() && !pod.remove("metadata.labels").unwrap());
        assert_eq!(pod.text(), TEXT);
    }

    #[test]
    fn setting_an_equal_value_changes_nothing() {
        let mut pod = Resource::parse(TEXT).unwrap();
        let before = pod.clone();
        pod.set("metadata.name", "a").unwrap();
        assert!(pod.item().shares_text(before.item()));
    }
}
