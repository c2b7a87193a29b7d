//! One resource: read by paths, changed by edits on its text, so that nothing else of it moves.

use std::borrow::Cow;

use krm_core::functions::resource_list::Item;
use krm_core::{Diagnostic, PackagePath};
use krm_yaml::{Edit, EditError, EmptyParents, NodeRef, Path, Value};

use crate::{Error, place};

/// A resource that a function may look at and change.
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
    /// A new resource of this text. An annotation that says where it goes (`config.kubernetes.io/path`) becomes its path.
    pub fn parse(text: impl Into<String>) -> Result<Self, Error> {
        let item = place::settle(None, Item::parse(text.into())?)?;
        Ok(Self { item })
    }

    /// The document with its place.
    pub fn item(&self) -> &Item {
        &self.item
    }

    /// The text as it stands now.
    pub fn text(&self) -> &str {
        self.item.text()
    }

    /// The node that is the resource.
    pub fn root(&self) -> NodeRef<'_> {
        self.item.root()
    }

    /// The resource as krm's own operations take it.
    pub fn view(&self) -> krm_core::Resource<'_> {
        self.item.resource()
    }

    /// `apiVersion`
    pub fn api_version(&self) -> Cow<'_, str> {
        self.view().api_version()
    }

    /// The kind.
    pub fn kind(&self) -> Cow<'_, str> {
        self.view().kind()
    }

    /// The name; empty where there is none.
    pub fn name(&self) -> Cow<'_, str> {
        self.view().name()
    }

    /// The namespace; empty where there is none.
    pub fn namespace(&self) -> Cow<'_, str> {
        self.view().namespace()
    }

    /// The value of an annotation.
    pub fn annotation(&self, name: &str) -> Option<Cow<'_, str>> {
        self.view().annotation(name)
    }

    /// The file that it belongs to.
    pub fn path(&self) -> Option<&PackagePath> {
        self.item.path.as_ref()
    }

    /// Puts it into another file of the package; which resource of that file it is, is left open.
    pub fn move_to(&mut self, path: PackagePath) {
        self.item.path = Some(path);
        self.item.index = None;
    }

    /// What stands at a path such as `spec.template.spec.containers[name=web].image`.
    pub fn get(&self, path: &str) -> Option<NodeRef<'_>> {
        self.root().document().find(&path.parse().ok()?)
    }

    /// The text of a scalar at a path, whatever its type.
    pub fn get_text(&self, path: &str) -> Option<Cow<'_, str>> {
        self.get(path)?.as_scalar().map(|scalar| scalar.value())
    }

    /// Sets the value at a path, and makes what is missing on the way. Nothing changes where it means that already.
    pub fn set<'v>(&mut self, path: &str, value: impl Into<Value<'v>>) -> Result<(), Error> {
        self.set_at(&parsed(path)?, value)
    }

    /// Sets the value at a path that is parsed already.
    pub fn set_at<'v>(&mut self, path: &Path, value: impl Into<Value<'v>>) -> Result<(), Error> {
        let value = value.into().into_owned().map_err(|error| Error::new(error.to_string()))?;
        self.change(|edit, root| edit.set_at(root.document(), path, value))
    }

    /// Removes what stands at a path; false where nothing does.
    pub fn remove(&mut self, path: &str) -> Result<bool, Error> {
        self.remove_at(&parsed(path)?)
    }

    /// Removes what stands at a path that is parsed already; false where nothing does.
    pub fn remove_at(&mut self, path: &Path) -> Result<bool, Error> {
        if self.root().document().find(path).is_none() {
            return Ok(false);
        }
        self.change(|edit, root| edit.remove_at(root.document(), path, EmptyParents::default()))?;
        Ok(true)
    }

    /// Makes several changes at once; the fastest way for many.
    pub fn edit(
        &mut self,
        change: impl for<'a> FnOnce(&mut Edit<'a>, NodeRef<'a>) -> Result<(), EditError>,
    ) -> Result<(), Error> {
        self.change(change)
    }

    /// Puts another text in the place of the whole resource.
    pub fn replace(&mut self, text: String) -> Result<(), Error> {
        if text != self.text() {
            self.item = place::settle(Some(&self.item), self.item.with_text(text)?)?;
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
            .map_err(|error| self.named(Diagnostic::from_edit(&error, file)))?;
        if edit.is_empty() {
            return Ok(());
        }
        let text = edit.apply().map_err(|error| self.named(Diagnostic::from_edit(&error, file)))?;
        self.replace(text)
    }

    fn named(&self, told: Diagnostic) -> Diagnostic {
        match self.path() {
            Some(path) => told.in_file(path.as_str()),
            None => told,
        }
    }
}

fn parsed(path: &str) -> Result<Path, Error> {
    path.parse().map_err(|error| Error::new(format!("`{path}` is no path: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "apiVersion: v1\nkind: Pod # it\nmetadata:\n  name: a\n";

    #[test]
    fn a_change_is_an_edit() {
        let mut pod = Resource::parse(TEXT).unwrap();
        pod.set("metadata.labels.app", "web").unwrap();
        assert_eq!(pod.text(), format!("{TEXT}  labels:\n    app: web\n"));
        assert_eq!(pod.get_text("metadata.labels.app").as_deref(), Some("web"));
        assert!(pod.remove("metadata.labels").unwrap() && !pod.remove("metadata.labels").unwrap());
        assert_eq!(pod.text(), TEXT);
    }

    #[test]
    fn what_is_there_already_is_not_touched() {
        let mut pod = Resource::parse(TEXT).unwrap();
        let before = pod.clone();
        pod.set("metadata.name", "a").unwrap();
        assert!(pod.item().shares_text(before.item()));
    }
}
