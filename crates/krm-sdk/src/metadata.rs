//! Labels and annotations by name. Names may contain dots, which paths would split.

use std::borrow::Cow;

use krm_yaml::{NodeRef, Path};

use crate::{Error, Resource};

impl Resource {
    /// The labels, in order.
    pub fn labels(&self) -> Vec<(Cow<'_, str>, Cow<'_, str>)> {
        self.string_map("metadata.labels")
    }

    /// The annotations, in order.
    pub fn annotations(&self) -> Vec<(Cow<'_, str>, Cow<'_, str>)> {
        self.string_map("metadata.annotations")
    }

    /// The scalar entries of a mapping as strings, in order: labels, a selector, the data of a ConfigMap.
    pub fn string_map(&self, path: &str) -> Vec<(Cow<'_, str>, Cow<'_, str>)> {
        let mapping = self.get(path).and_then(|node| node.resolve().as_mapping());
        let entries = mapping.into_iter().flat_map(|mapping| mapping.entries());
        entries.filter_map(|entry| Some((value(entry.key)?, value(entry.value)?))).collect()
    }

    /// The value of a label.
    pub fn label(&self, name: &str) -> Option<Cow<'_, str>> {
        value(self.root().document().find(&labels().join(name))?)
    }

    /// Sets a label. The value is written as a string, quoted if necessary.
    pub fn set_label(&mut self, name: &str, value: &str) -> Result<(), Error> {
        self.set_at(&labels().join(name), value)
    }

    /// Removes a label; false if there is none.
    pub fn remove_label(&mut self, name: &str) -> Result<bool, Error> {
        self.remove_at(&labels().join(name))
    }

    /// Sets an annotation. The value is written as a string, quoted if necessary.
    pub fn set_annotation(&mut self, name: &str, value: &str) -> Result<(), Error> {
        self.set_at(&annotations().join(name), value)
    }

    /// Removes an annotation; false if there is none.
    pub fn remove_annotation(&mut self, name: &str) -> Result<bool, Error> {
        self.remove_at(&annotations().join(name))
    }
}

fn value(node: NodeRef<'_>) -> Option<Cow<'_, str>> {
    node.resolve().as_scalar().map(|scalar| scalar.value())
}

fn labels() -> Path {
    Path::default().join("metadata").join("labels")
}

fn annotations() -> Path {
    Path::default().join("metadata").join("annotations")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_may_contain_dots_and_values_are_strings() {
        let text = "apiVersion: v1\nkind: Pod\nmetadata:\n  labels:\n    app: web # c\n    n: 1\n";
        let mut pod = Resource::parse(text).unwrap();
        pod.set_label("app.kubernetes.io/part-of", "123").unwrap();
        pod.set_annotation("example.com/on", "true").unwrap();
        assert_eq!(pod.label("app.kubernetes.io/part-of").as_deref(), Some("123"));
        assert_eq!(pod.labels().len(), 3);
        assert_eq!(
            pod.text(),
            format!(
                "{text}    app.kubernetes.io/part-of: \"123\"\n  annotations:\n    example.com/on: \"true\"\n"
            )
        );
        assert!(pod.remove_label("app.kubernetes.io/part-of").unwrap());
        assert!(
            pod.remove_annotation("example.com/on").unwrap() && !pod.remove_label("x").unwrap()
        );
        assert_eq!(pod.annotations(), []);
    }
}
