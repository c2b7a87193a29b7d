//! The output of a function: parsed and checked before anything of it is used.

use std::borrow::Cow;
use std::fmt::Display;

use krm_yaml::{DiagnosticKind, File, NodeRef};

use super::annotations::{ID, INDEX, INTERNAL, LEGACY_INDEX, LEGACY_PATH, PATH};
use super::{Item, ResourceListKind, results};
use crate::diagnostics::{CommonKind, node_type};
use crate::model::resource::{field, is_null, scalar_text};
use crate::{Diagnostic, PackagePath, PackagePathError, Resource};

/// A resource of a function's output, with the path and index in its annotations.
#[derive(Clone, Debug)]
pub(crate) struct OutputItem<'a> {
    /// The resource, with all its annotations.
    pub(crate) resource: Resource<'a>,
    /// The id of the input item that it was.
    pub(crate) id: Option<Cow<'a, str>>,
    /// The file that it belongs to.
    pub(crate) path: PathAnnotation<PackagePath>,
    /// A warning about an absolute path.
    pub(crate) absolute: Option<Diagnostic>,
    /// Its index in the file.
    pub(crate) index: PathAnnotation<usize>,
    /// Its other internal annotations.
    pub(crate) internal: Vec<(Cow<'a, str>, Cow<'a, str>)>,
}

/// The path or the index, which has a current and a legacy annotation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct PathAnnotation<T> {
    /// The value of the current annotation.
    pub(crate) internal: Option<T>,
    /// Compat: the value of the annotation from before version 1 of the specification.
    pub(crate) legacy: Option<T>,
}

impl<T: PartialEq> PathAnnotation<T> {
    /// The value, whether or not both annotations agree.
    pub(crate) fn any(&self) -> Option<&T> {
        self.internal.as_ref().or(self.legacy.as_ref())
    }

    /// The value that the function meant, given the value that was sent. If the annotations disagree, the function changed one of them.
    ///
    /// # Errors
    /// Both values, if both were changed.
    fn resolve(&self, sent: Option<&T>) -> Result<Option<&T>, (&T, &T)> {
        match (&self.internal, &self.legacy) {
            (Some(new), Some(old)) if new != old => match sent {
                Some(sent) if sent == new => Ok(Some(old)),
                Some(sent) if sent == old => Ok(Some(new)),
                _ => Err((new, old)),
            },
            _ => Ok(self.any()),
        }
    }
}

impl OutputItem<'_> {
    /// The path and index of the resource, given those that were sent.
    pub(super) fn target(
        &self,
        sent: (Option<&PackagePath>, Option<usize>),
    ) -> Result<(Option<PackagePath>, Option<usize>), Diagnostic> {
        let path = self.path.resolve(sent.0).map_err(|it| self.conflict(PATH, LEGACY_PATH, it))?;
        let index = self.index.resolve(sent.1.as_ref());
        let index = index.map_err(|it| self.conflict(INDEX, LEGACY_INDEX, it))?;
        // A function that moves a resource and removes its index does not know the older name of the index.
        let is_moved = self.path.internal.as_ref().is_some_and(|path| Some(path) != sent.0);
        let is_stale = is_moved && self.index.internal.is_none() && index == sent.1.as_ref();
        let index = index.filter(|_| !is_stale);
        Ok((path.cloned(), index.copied()))
    }

    fn conflict(
        &self,
        name: &str,
        legacy: &str,
        (value, legacy_value): (impl Display, impl Display),
    ) -> Diagnostic {
        let node = Annotations::of(self.resource).node(legacy).unwrap_or(self.resource.node);
        let [value, legacy_value] = [value.to_string(), legacy_value.to_string()];
        let (legacy, name) = (legacy.to_owned(), name.to_owned());
        at(node, ResourceListKind::ConflictingAnnotations { legacy, legacy_value, name, value })
    }
}

/// The resources in a function's output; none where the output has no `items` at all. Errors point into the output.
///
/// Spec: a `ResourceList`, or any other list of resources.
pub(crate) fn parse(output: &File) -> Result<Option<Vec<OutputItem<'_>>>, Diagnostic> {
    match field(list(output)?, "items") {
        None => Ok(None),
        Some(items) if is_null(items) => Ok(Some(Vec::new())),
        Some(items) => parse_items(items).map(Some),
    }
}

/// The results of a function that failed, as far as its output can be parsed.
pub fn parse_results(output: &File) -> results::ParsedResults {
    list(output).map(results::parse).unwrap_or_default()
}

/// The list, which is the only document of the output.
fn list(output: &File) -> Result<NodeRef<'_>, Diagnostic> {
    if let Some(error) = output.errors().next() {
        return Err(Diagnostic::from_syntax(error, output));
    }
    let mut roots = output.documents().filter_map(|document| document.root());
    let Some(list) = roots.find(|root| !is_null(*root)) else {
        return Err(Diagnostic::error(ResourceListKind::EmptyOutput));
    };
    let kind = field(list, "kind").and_then(scalar_text);
    let found = match kind {
        Some(kind) if kind.ends_with("List") => None,
        Some(kind) => Some(format!("a resource of kind `{kind}`")),
        None if list.as_mapping().is_some() => Some("a mapping without `kind`".to_owned()),
        None => Some(node_type(list).to_owned()),
    };
    if let Some(found) = found {
        return Err(at(list, ResourceListKind::NotAResourceList { found }));
    }
    match roots.find(|root| !is_null(*root)) {
        Some(more) => {
            Err(at(more, ResourceListKind::SeveralDocuments { expected: "ResourceList" }))
        }
        None => Ok(list),
    }
}

fn parse_items<'a>(items: NodeRef<'a>) -> Result<Vec<OutputItem<'a>>, Diagnostic> {
    let Some(sequence) = items.as_sequence() else {
        return Err(at(items, CommonKind::wrong_type("a sequence in `items`", items)));
    };
    sequence.items().enumerate().map(|(item, node)| returned(item, node.resolve())).collect()
}

fn returned(item: usize, node: NodeRef<'_>) -> Result<OutputItem<'_>, Diagnostic> {
    for name in ["apiVersion", "kind"] {
        if field(node, name).and_then(NodeRef::as_str).is_none_or(|text| text.is_empty()) {
            let kind = ResourceListKind::ItemNotAResource { index: item, field: name };
            return Err(at(node, kind));
        }
    }
    let resource = Resource { node, item: Some(item) };
    let annotations = Annotations::of(resource);
    Ok(OutputItem {
        id: annotations.text(ID),
        path: annotations.pair(PATH, LEGACY_PATH, returned_path)?,
        absolute: annotations.absolute_path(),
        index: annotations.pair(INDEX, LEGACY_INDEX, index)?,
        internal: annotations.internal(),
        resource,
    })
}

/// The error of a returned resource whose `metadata.name` is empty, unless it was sent like that. A resource may have no name at all
/// (a Kustomization), but an empty one is a template that was not filled in, and no file could be named after it.
pub fn check_name(returned: Resource<'_>, sent: Option<&Item>) -> Result<(), Diagnostic> {
    let is_empty =
        |node: NodeRef<'_>| is_null(node) || node.as_str().is_some_and(|it| it.is_empty());
    let Some(node) = name_node(returned).filter(|node| is_empty(*node)) else { return Ok(()) };
    let sent = sent.map(Item::resource);
    match sent.and_then(name_node).is_some_and(is_empty) {
        true => Ok(()),
        false => {
            let resource = sent.unwrap_or(returned).label();
            Err(at(node, ResourceListKind::EmptyName { resource }))
        }
    }
}

fn name_node(resource: Resource<'_>) -> Option<NodeRef<'_>> {
    field(resource.node, "metadata").and_then(|it| field(it, "name"))
}

/// The annotations of one output item.
struct Annotations<'a> {
    entries: Vec<(Cow<'a, str>, NodeRef<'a>)>,
}

impl<'a> Annotations<'a> {
    fn of(resource: Resource<'a>) -> Self {
        let node = field(resource.node, "metadata").and_then(|it| field(it, "annotations"));
        let entries = node.and_then(NodeRef::as_mapping).into_iter().flat_map(|it| it.entries());
        let named = entries.filter_map(|entry| Some((scalar_text(entry.key)?, entry.value)));
        Self { entries: named.collect() }
    }

    fn node(&self, name: &str) -> Option<NodeRef<'a>> {
        self.entries.iter().rev().find(|(key, _)| key == name).map(|(_, value)| *value)
    }

    fn text(&self, name: &str) -> Option<Cow<'a, str>> {
        self.node(name).and_then(scalar_text)
    }

    /// The values of the current and the legacy annotation.
    fn pair<T, E: DiagnosticKind>(
        &self,
        name: &str,
        legacy: &str,
        parse: impl Fn(&str) -> Result<T, E>,
    ) -> Result<PathAnnotation<T>, Diagnostic> {
        let read = |name| match self.node(name).and_then(|it| Some((it, scalar_text(it)?))) {
            Some((node, text)) => parse(&text).map(Some).map_err(|error| at(node, error)),
            None => Ok(None),
        };
        Ok(PathAnnotation { internal: read(name)?, legacy: read(legacy)? })
    }

    fn absolute_path(&self) -> Option<Diagnostic> {
        let node = [PATH, LEGACY_PATH].into_iter().find_map(|name| {
            self.node(name).filter(|it| scalar_text(*it).is_some_and(|text| text.starts_with('/')))
        })?;
        let path = scalar_text(node)?.into_owned();
        let used = returned_path(&path).ok()?.to_string();
        Some(Diagnostic::warning(ResourceListKind::AbsolutePath { path, used }))
    }

    fn internal(&self) -> Vec<(Cow<'a, str>, Cow<'a, str>)> {
        let others = self.entries.iter().filter(|(name, _)| {
            name.starts_with(INTERNAL) && ![ID, PATH, INDEX].contains(&name.as_ref())
        });
        others.filter_map(|(name, value)| Some((name.clone(), scalar_text(*value)?))).collect()
    }
}

/// The path of a path annotation. Compat: as in kpt, an absolute path starts at the root of the package.
pub fn returned_path(path: &str) -> Result<PackagePath, PackagePathError> {
    PackagePath::new(path.trim_start_matches('/'))
}

fn index(text: &str) -> Result<usize, ResourceListKind> {
    text.parse().map_err(|_| ResourceListKind::InvalidIndex { index: text.to_owned() })
}

fn at(node: NodeRef<'_>, kind: impl DiagnosticKind) -> Diagnostic {
    Diagnostic::error(kind).at(node.document().file(), node.span())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str) -> String {
        let file = File::parse(text.to_owned()).unwrap();
        parse(&file).map(|_| ()).unwrap_err().message().to_owned()
    }

    fn item(annotations: &str) -> String {
        format!(
            "kind: ResourceList\nitems:\n- apiVersion: v1\n  kind: Pod\n  metadata:\n    annotations: {{{annotations}}}\n"
        )
    }

    #[test]
    fn output_must_be_a_list_of_resources() {
        for (text, message) in [
            ("", "expected a ResourceList, found no output"),
            ("---\n", "expected a ResourceList, found no output"),
            ("hello\n", "expected a ResourceList, found a string"),
            ("a: 1\n", "expected a ResourceList, found a mapping without `kind`"),
            ("kind: Pod\n", "expected a ResourceList, found a resource of kind `Pod`"),
            ("kind: List\n---\nkind: List\n", "expected one ResourceList, found several documents"),
            ("kind: List\nitems: 5\n", "expected a sequence in `items`, found an integer"),
            ("kind: List\nitems: [5]\n", "item 0 is not a resource: missing field `apiVersion`"),
            (
                "kind: List\nitems: [{apiVersion: v1}]\n",
                "item 0 is not a resource: missing field `kind`",
            ),
        ] {
            assert_eq!(error(text), message, "{text}");
        }
        assert!(error("items: [\n").contains("unclosed `[`"), "{}", error("items: [\n"));
    }

    #[test]
    fn missing_items_differ_from_an_empty_list() {
        let items = |text: &str| {
            let file = File::parse(text.to_owned()).unwrap();
            parse(&file).unwrap().map(|items| items.len())
        };
        assert_eq!(items("kind: ResourceList\n"), None);
        assert_eq!(items("kind: ResourceList\nitems: []\n"), Some(0));
        assert_eq!(items("kind: ResourceList\nitems:\n"), Some(0));
        assert_eq!(items("kind: PodList\nitems: [{apiVersion: v1, kind: Pod}]\n"), Some(1));
    }

    #[test]
    fn path_and_index_are_read_from_both_annotations() {
        for spelling in ["internal.config.kubernetes.io", "config.kubernetes.io"] {
            let file = File::parse(item(&format!(
                "{spelling}/path: a/b.yaml, {spelling}/index: '2', internal.config.kubernetes.io/x: y"
            )))
            .unwrap();
            let items = parse(&file).unwrap().unwrap();
            assert_eq!(items[0].path.any().map(PackagePath::as_str), Some("a/b.yaml"));
            assert_eq!(items[0].index.any(), Some(&2));
            assert_eq!(items[0].internal.len(), 1);
        }
    }

    #[test]
    fn invalid_path_or_index_is_an_error() {
        for (annotations, message) in [
            ("internal.config.kubernetes.io/path: ../a", "path `../a` leaves the package"),
            (
                "config.kubernetes.io/path: /etc/../../passwd",
                "path `etc/../../passwd` leaves the package",
            ),
            (
                "config.kubernetes.io/index: '-1'",
                "expected the index of a resource in its file, found `-1`",
            ),
        ] {
            assert_eq!(error(&item(annotations)), message);
        }
    }

    #[test]
    fn absolute_path_is_relative_to_the_package_with_a_warning() {
        let file = File::parse(item("config.kubernetes.io/path: /etc/a.yaml")).unwrap();
        let returned = parse(&file).unwrap().unwrap().remove(0);
        assert_eq!(returned.path.any().map(PackagePath::as_str), Some("etc/a.yaml"));
        let message = "the function returned the absolute path `/etc/a.yaml`; `etc/a.yaml` in the package is used";
        assert_eq!(returned.absolute.unwrap().message(), message);
    }

    #[test]
    fn changed_annotation_wins_over_the_unchanged_one() {
        let annotations =
            "config.kubernetes.io/path: a.yaml, internal.config.kubernetes.io/path: b.yaml";
        let file = File::parse(item(annotations)).unwrap();
        let returned = parse(&file).unwrap().unwrap().remove(0);
        let place = |sent: Option<&str>| {
            let sent = sent.map(|it| PackagePath::new(it).unwrap());
            let place = returned.target((sent.as_ref(), None));
            place.map(|it| it.0.unwrap().to_string()).map_err(|error| error.message().to_owned())
        };
        assert_eq!(place(Some("b.yaml")), Ok("a.yaml".to_owned()));
        assert_eq!(place(Some("a.yaml")), Ok("b.yaml".to_owned()));
        let message = "annotation `config.kubernetes.io/path` is `a.yaml`, but `internal.config.kubernetes.io/path` is `b.yaml`";
        assert_eq!(place(Some("c.yaml")), Err(message.to_owned()));
        assert_eq!(place(None), Err(message.to_owned()));
    }
}
