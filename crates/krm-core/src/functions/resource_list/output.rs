//! What comes back from a function: its output taken apart and checked before anything of it is believed.

use std::borrow::Cow;
use std::fmt::Display;

use krm_yaml::{File, NodeRef};

use super::annotations::{ID, INDEX, INTERNAL, LEGACY_INDEX, LEGACY_PATH, PATH};
use super::results;
use crate::model::resource::{field, is_null, scalar_text};
use crate::{Diagnostic, PackagePath, Resource};

/// A resource that came back, with what its annotations say about where it belongs.
#[derive(Clone, Debug)]
pub(crate) struct OutputItem<'a> {
    /// The resource, with all its annotations.
    pub(crate) resource: Resource<'a>,
    /// The id that it was sent with.
    pub(crate) id: Option<Cow<'a, str>>,
    /// The file that it belongs to.
    pub(crate) path: PathAnnotation<PackagePath>,
    /// Which resource of the file it is.
    pub(crate) index: PathAnnotation<usize>,
    /// The other internal annotations.
    pub(crate) internal: Vec<(Cow<'a, str>, Cow<'a, str>)>,
}

/// A part of a resource's place in the two names that it has.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct PathAnnotation<T> {
    /// In the name that it has today.
    pub(crate) internal: Option<T>,
    /// Compat: in the name that it had before version 1 of the specification.
    pub(crate) legacy: Option<T>,
}

impl<T: PartialEq> PathAnnotation<T> {
    /// What it says, before anybody asks whether both names say the same.
    pub(crate) fn any(&self) -> Option<&T> {
        self.internal.as_ref().or(self.legacy.as_ref())
    }

    /// What is meant, if this was sent. Where the names disagree the one counts that was changed.
    ///
    /// # Errors
    /// Both of them, where both were changed.
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
    /// Where it belongs, if it was sent with this place.
    pub(super) fn place(
        &self,
        sent: (Option<&PackagePath>, Option<usize>),
    ) -> Result<(Option<PackagePath>, Option<usize>), Diagnostic> {
        let path = self.path.resolve(sent.0).map_err(|it| self.disagree(PATH, LEGACY_PATH, it))?;
        let index = self.index.resolve(sent.1.as_ref());
        let index = index.map_err(|it| self.disagree(INDEX, LEGACY_INDEX, it))?;
        Ok((path.cloned(), index.copied()))
    }

    fn disagree(
        &self,
        name: &str,
        legacy: &str,
        values: (impl Display, impl Display),
    ) -> Diagnostic {
        let (new, old) = values;
        let message = format!("`{legacy}` is `{old}`, and `{name}` is `{new}`");
        let node = Annotations::of(self.resource).node(legacy).unwrap_or(self.resource.node);
        at(node, message).hint("a function changes one of them, or both to the same")
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

/// The results alone: what a function that failed has to say, if its output can be read at all.
pub fn parse_results(output: &File) -> results::ParsedResults {
    list(output).map(results::parse).unwrap_or_default()
}

/// The one list in the output.
fn list(output: &File) -> Result<NodeRef<'_>, Diagnostic> {
    if let Some(error) = output.errors().next() {
        return Err(Diagnostic::from_syntax(error, output));
    }
    let mut roots = output.documents().filter_map(|document| document.root());
    let Some(list) = roots.find(|root| !is_null(*root)) else {
        return Err(Diagnostic::untyped_error("the output is empty, and a ResourceList is wanted"));
    };
    let told = |message: &str| Diagnostic::untyped_error(message).at(output, list.span());
    let kind = field(list, "kind").and_then(scalar_text);
    match kind {
        Some(kind) if kind.ends_with("List") => {}
        Some(kind) => return Err(told(&format!("a ResourceList is wanted, and this is a {kind}"))),
        None => return Err(told("a ResourceList is wanted, and this has no `kind`")),
    }
    if let Some(more) = roots.find(|root| !is_null(*root)) {
        let message = "there is more than one document, and one ResourceList is wanted";
        return Err(Diagnostic::untyped_error(message).at(output, more.span()));
    }
    Ok(list)
}

fn parse_items<'a>(items: NodeRef<'a>) -> Result<Vec<OutputItem<'a>>, Diagnostic> {
    let Some(sequence) = items.as_sequence() else {
        return Err(at(items, "`items` is no list"));
    };
    sequence.items().enumerate().map(|(item, node)| returned(item, node.resolve())).collect()
}

fn returned(item: usize, node: NodeRef<'_>) -> Result<OutputItem<'_>, Diagnostic> {
    for name in ["apiVersion", "kind"] {
        if field(node, name).and_then(NodeRef::as_str).is_none_or(|text| text.is_empty()) {
            return Err(at(node, format!("item {item} is no resource: it has no `{name}`")));
        }
    }
    let resource = Resource { node, item: Some(item) };
    let annotations = Annotations::of(resource);
    Ok(OutputItem {
        id: annotations.text(ID),
        path: annotations.spelled(PATH, LEGACY_PATH, path)?,
        index: annotations.spelled(INDEX, LEGACY_INDEX, index)?,
        internal: annotations.internal(),
        resource,
    })
}

/// The annotations of one resource that came back.
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

    /// One value of two names.
    fn spelled<T>(
        &self,
        name: &str,
        legacy: &str,
        read: impl Fn(&str) -> Result<T, String>,
    ) -> Result<PathAnnotation<T>, Diagnostic> {
        let read = |name| match self.node(name).and_then(|it| Some((it, scalar_text(it)?))) {
            Some((node, text)) => read(&text).map(Some).map_err(|message| at(node, message)),
            None => Ok(None),
        };
        Ok(PathAnnotation { internal: read(name)?, legacy: read(legacy)? })
    }

    fn internal(&self) -> Vec<(Cow<'a, str>, Cow<'a, str>)> {
        let others = self.entries.iter().filter(|(name, _)| {
            name.starts_with(INTERNAL) && ![ID, PATH, INDEX].contains(&name.as_ref())
        });
        others.filter_map(|(name, value)| Some((name.clone(), scalar_text(*value)?))).collect()
    }
}

fn path(text: &str) -> Result<PackagePath, String> {
    PackagePath::new(text).map_err(|error| error.to_string())
}

fn index(text: &str) -> Result<usize, String> {
    text.parse().map_err(|_| format!("`{text}` is no index of a resource in a file"))
}

fn at(node: NodeRef<'_>, message: impl Into<String>) -> Diagnostic {
    Diagnostic::untyped_error(message).at(node.document().file(), node.span())
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
    fn output_that_is_no_list_of_resources_is_refused() {
        for (text, message) in [
            ("", "the output is empty, and a ResourceList is wanted"),
            ("---\n", "the output is empty, and a ResourceList is wanted"),
            ("hello\n", "a ResourceList is wanted, and this has no `kind`"),
            ("kind: Pod\n", "a ResourceList is wanted, and this is a Pod"),
            (
                "kind: List\n---\nkind: List\n",
                "there is more than one document, and one ResourceList is wanted",
            ),
            ("kind: List\nitems: 5\n", "`items` is no list"),
            ("kind: List\nitems: [5]\n", "item 0 is no resource: it has no `apiVersion`"),
            ("kind: List\nitems: [{apiVersion: v1}]\n", "item 0 is no resource: it has no `kind`"),
        ] {
            assert_eq!(error(text), message, "{text}");
        }
        assert!(error("items: [\n").contains("unclosed `[`"), "{}", error("items: [\n"));
    }

    #[test]
    fn no_items_and_an_empty_list_are_told_apart() {
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
    fn places_are_read_in_both_spellings() {
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
    fn places_that_cannot_be_are_refused() {
        for (annotations, message) in [
            ("internal.config.kubernetes.io/path: ../a", "path `../a` leaves the package"),
            (
                "config.kubernetes.io/path: /etc/passwd",
                "expected a path relative to the package, found `/etc/passwd`",
            ),
            ("config.kubernetes.io/index: '-1'", "`-1` is no index of a resource in a file"),
        ] {
            assert_eq!(error(&item(annotations)), message);
        }
    }

    #[test]
    fn of_two_names_that_disagree_the_one_that_was_changed_counts() {
        let annotations =
            "config.kubernetes.io/path: a.yaml, internal.config.kubernetes.io/path: b.yaml";
        let file = File::parse(item(annotations)).unwrap();
        let returned = parse(&file).unwrap().unwrap().remove(0);
        let place = |sent: Option<&str>| {
            let sent = sent.map(|it| PackagePath::new(it).unwrap());
            let place = returned.place((sent.as_ref(), None));
            place.map(|it| it.0.unwrap().to_string()).map_err(|error| error.message().to_owned())
        };
        assert_eq!(place(Some("b.yaml")), Ok("a.yaml".to_owned()));
        assert_eq!(place(Some("a.yaml")), Ok("b.yaml".to_owned()));
        let words = "`config.kubernetes.io/path` is `a.yaml`, and `internal.config.kubernetes.io/path` is `b.yaml`";
        assert_eq!(place(Some("c.yaml")), Err(words.to_owned()));
        assert_eq!(place(None), Err(words.to_owned()));
    }
}
