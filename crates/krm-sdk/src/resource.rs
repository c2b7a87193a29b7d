//! One resource: read by paths and changed by edits of its text, which leave everything else byte for byte as it was.

use krm_core::functions::resource_list::Item;
use krm_core::{Diagnostic, PackagePath};
use krm_yaml::{Edit, EditError, EmptyParents, File, NodeRef, Path, ScalarType, Segment, Value};

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
    pub fn api_version(&self) -> String {
        self.view().api_version().into_owned()
    }

    /// The kind.
    pub fn kind(&self) -> String {
        self.view().kind().into_owned()
    }

    /// The name; empty if there is none.
    pub fn name(&self) -> String {
        self.view().name().into_owned()
    }

    /// The namespace; empty if there is none.
    pub fn namespace(&self) -> String {
        self.view().namespace().into_owned()
    }

    /// The kind, namespace and name for messages: `Deployment shop/web`.
    ///
    /// ```
    /// let pod = krm_sdk::Resource::parse("apiVersion: v1\nkind: Pod\nmetadata: {name: a, namespace: b}\n")?;
    /// assert_eq!(pod.display_name(), "Pod b/a");
    /// # Ok::<(), krm_sdk::Error>(())
    /// ```
    pub fn display_name(&self) -> String {
        self.view().label()
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

    /// The node at a path, such as `spec.template.spec.containers[name=web].image`; `None` if there is no such field.
    ///
    /// An alias is resolved: the node is the value that it stands for. A path that cannot be parsed is an error.
    ///
    /// # Paths
    ///
    /// | notation | selects |
    /// |---|---|
    /// | `spec.replicas` | a field of a mapping |
    /// | `spec.ports[0]`, `spec.ports.0` | an element of a sequence, from zero |
    /// | `spec.containers[name=web]` | the first element whose field `name` is `web` |
    /// | `spec.ports[-]` | the position after the last element, for [`Resource::set`] |
    /// | `data."a.b"`, `data['a.b']`, `data.a\.b` | a field whose name contains dots; [`Resource::get_in`] needs no quotes |
    /// | `/spec/ports/0/port` | the same as a JSON pointer, with `~1` for `/` and `~0` for `~` |
    /// | `.` | the whole resource |
    ///
    /// ```
    /// use krm_sdk::Resource;
    ///
    /// let text = "apiVersion: v1\nkind: Pod\nspec:\n  containers: [&web {name: web, image: nginx}]\n  other: *web\n";
    /// let pod = Resource::parse(text)?;
    /// for path in ["spec.containers[0].image", "spec.containers[name=web].image", "/spec/containers/0/image", "spec.other.image"] {
    ///     assert_eq!(pod.get(path)?.map(|node| node.text()), Some("nginx"), "{path}");
    /// }
    /// assert!(pod.get("spec.containers[name=other]")?.is_none());
    /// let error = pod.get("spec.containers[").expect_err("the bracket is not closed");
    /// assert_eq!(error.diagnostics[0].id(), "invalid-field-path");
    /// # Ok::<(), krm_sdk::Error>(())
    /// ```
    pub fn get(&self, path: &str) -> Result<Option<NodeRef<'_>>, Error> {
        Ok(self.find_node(path)?.map(NodeRef::resolve))
    }

    /// The node that a path names itself, which may be an alias.
    pub(crate) fn find_node(&self, path: &str) -> Result<Option<NodeRef<'_>>, Error> {
        Ok(self.root().document().find(&parse_path(path)?))
    }

    /// The node below these keys, which are taken as they are: they may contain dots. A number selects an element.
    ///
    /// ```
    /// use krm_sdk::Resource;
    ///
    /// let mut map = Resource::parse("apiVersion: v1\nkind: ConfigMap\ndata:\n  a.b: x # it\n")?;
    /// assert_eq!(map.get_in(["data", "a.b"]).map(|node| node.text()), Some("x"));
    /// map.set_in(["data", "a.b"], "new")?;
    /// map.set_in(["data", "c.d"], "also")?;
    /// assert!(map.text().ends_with("data:\n  a.b: new # it\n  c.d: also\n"));
    /// assert!(map.remove_in(["data", "a.b"])?);
    /// # Ok::<(), krm_sdk::Error>(())
    /// ```
    pub fn get_in<S: Into<Segment>>(
        &self,
        keys: impl IntoIterator<Item = S>,
    ) -> Option<NodeRef<'_>> {
        let mut keys = keys.into_iter();
        let node = keys.try_fold(self.root(), |node, key| node.step(&key.into()))?;
        Some(node.resolve())
    }

    /// The scalar at a path as a string, whatever its type; `None` if there is none, or if it is null.
    ///
    /// ```
    /// let pod = krm_sdk::Resource::parse("apiVersion: v1\nkind: Pod\nspec: {a: 0777, b: ~}\n")?;
    /// assert_eq!(pod.get_text("spec.a")?.as_deref(), Some("0777"));
    /// assert_eq!(pod.get_text("spec.b")?, None);
    /// # Ok::<(), krm_sdk::Error>(())
    /// ```
    pub fn get_text(&self, path: &str) -> Result<Option<String>, Error> {
        Ok(self.get(path)?.and_then(scalar_text))
    }

    /// Sets the value at a path ([`Resource::get`] has the notation) and creates missing parents. An equal value is left as it is written.
    ///
    /// ```
    /// use krm_sdk::{Resource, value};
    ///
    /// let mut pod = Resource::parse("apiVersion: v1\nkind: Pod\nspec:\n  replicas: 0x3 # three\n")?;
    /// pod.set("spec.replicas", 3)?;
    /// pod.set("spec.names", ["a", "b"])?;
    /// pod.set("spec.nested", value!({ "cpu": "1", "list": [1, null] }))?;
    /// assert!(pod.text().ends_with("\
    /// spec:
    ///   replicas: 0x3 # three
    ///   names:
    ///   - a
    ///   - b
    ///   nested:
    ///     cpu: \"1\"
    ///     list:
    ///     - 1
    ///     - null
    /// "));
    /// # Ok::<(), krm_sdk::Error>(())
    /// ```
    pub fn set<'v>(&mut self, path: &str, value: impl Into<Value<'v>>) -> Result<(), Error> {
        self.set_path(&parse_path(path)?, value)
    }

    /// Sets the value below these keys, which are taken as they are, and creates missing parents.
    pub fn set_in<'v, S: Into<Segment>>(
        &mut self,
        keys: impl IntoIterator<Item = S>,
        value: impl Into<Value<'v>>,
    ) -> Result<(), Error> {
        self.set_path(&keys.into_iter().collect(), value)
    }

    fn set_path<'v>(&mut self, path: &Path, value: impl Into<Value<'v>>) -> Result<(), Error> {
        let value = owned(value)?;
        self.change(|edit, root| edit.set_at(root.document(), path, value))
    }

    /// Removes the value at a path; false if there is none.
    ///
    /// ```
    /// let mut pod = krm_sdk::Resource::parse("apiVersion: v1\nkind: Pod\nspec: {a: 1}\n")?;
    /// assert!(pod.remove("spec.a")? && !pod.remove("spec.a")?);
    /// # Ok::<(), krm_sdk::Error>(())
    /// ```
    pub fn remove(&mut self, path: &str) -> Result<bool, Error> {
        self.remove_path(&parse_path(path)?)
    }

    /// Removes the value below these keys, which are taken as they are; false if there is none.
    pub fn remove_in<S: Into<Segment>>(
        &mut self,
        keys: impl IntoIterator<Item = S>,
    ) -> Result<bool, Error> {
        self.remove_path(&keys.into_iter().collect())
    }

    fn remove_path(&mut self, path: &Path) -> Result<bool, Error> {
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
        if file.shared_text() != self.item.file().shared_text() {
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

/// A scalar of any type as a string; none for null.
pub(crate) fn scalar_text(node: NodeRef<'_>) -> Option<String> {
    let scalar = node.resolve().as_scalar()?;
    (scalar.resolve() != ScalarType::Null).then(|| scalar.value().into_owned())
}

/// A value that does not borrow.
pub(crate) fn owned<'v>(value: impl Into<Value<'v>>) -> Result<Value<'static>, Error> {
    value.into().into_owned().map_err(|error| {
        Diagnostic::error(ResourceKind::InvalidNewValue { reason: error.to_string() }).into()
    })
}

pub(crate) fn parse_path(path: &str) -> Result<Path, Error> {
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
        assert_eq!(pod.get_text("metadata.labels.app").unwrap().as_deref(), Some("web"));
        assert!(pod.remove("metadata.labels").unwrap() && !pod.remove("metadata.labels").unwrap());
        assert_eq!(pod.text(), TEXT);
    }

    #[test]
    fn names_do_not_borrow_the_resource() {
        let mut pod = Resource::parse(TEXT).unwrap();
        let (kind, name) = (pod.kind(), pod.name());
        pod.set("metadata.name", format!("{kind}-{name}").to_lowercase()).unwrap();
        assert_eq!((name.as_str(), pod.name().as_str()), ("a", "pod-a"));
    }

    #[test]
    fn setting_an_equal_value_changes_nothing() {
        let mut pod = Resource::parse(TEXT).unwrap();
        let before = pod.clone();
        pod.set("metadata.name", "a").unwrap();
        assert!(pod.item().shares_text(before.item()));
    }
}
