//! Labels and annotations by name. Names may contain dots, which paths would split.

use krm_yaml::NodeRef;

use crate::resource::scalar_text;
use crate::{Error, Resource};

impl Resource {
    /// The labels, in order.
    ///
    /// ```
    /// let pod = krm_sdk::Resource::parse("apiVersion: v1\nkind: Pod\nmetadata: {labels: {app: web}}\n")?;
    /// assert_eq!(pod.labels(), [("app".to_owned(), "web".to_owned())]);
    /// # Ok::<(), krm_sdk::Error>(())
    /// ```
    pub fn labels(&self) -> Vec<(String, String)> {
        self.string_map_in(&["metadata", "labels"])
    }

    /// The annotations, in order.
    pub fn annotations(&self) -> Vec<(String, String)> {
        self.string_map_in(&["metadata", "annotations"])
    }

    /// The scalar entries of a mapping as strings, in order: labels, a selector, the data of a ConfigMap. Null entries are left out.
    ///
    /// ```
    /// let service = krm_sdk::Resource::parse("apiVersion: v1\nkind: Service\nspec: {selector: {app: web}}\n")?;
    /// assert_eq!(service.string_map("spec.selector")?, [("app".to_owned(), "web".to_owned())]);
    /// # Ok::<(), krm_sdk::Error>(())
    /// ```
    pub fn string_map(&self, path: &str) -> Result<Vec<(String, String)>, Error> {
        Ok(self.get(path)?.map(entries).unwrap_or_default())
    }

    fn string_map_in(&self, keys: &[&str]) -> Vec<(String, String)> {
        self.get_in(keys.iter().copied()).map(entries).unwrap_or_default()
    }

    /// The value of a label.
    ///
    /// ```
    /// let mut pod = krm_sdk::Resource::parse("apiVersion: v1\nkind: Pod\nmetadata:\n  name: a # it\n")?;
    /// pod.set_label("app.kubernetes.io/name", "a")?;
    /// assert_eq!(pod.label("app.kubernetes.io/name").as_deref(), Some("a"));
    /// assert!(pod.remove_label("app.kubernetes.io/name")?);
    /// # Ok::<(), krm_sdk::Error>(())
    /// ```
    pub fn label(&self, name: &str) -> Option<String> {
        self.get_in(["metadata", "labels", name]).and_then(scalar_text)
    }

    /// The value of an annotation.
    pub fn annotation(&self, name: &str) -> Option<String> {
        self.get_in(["metadata", "annotations", name]).and_then(scalar_text)
    }

    /// Sets a label. The value is written as a string, quoted if necessary.
    pub fn set_label(&mut self, name: &str, value: &str) -> Result<(), Error> {
        self.set_in(["metadata", "labels", name], value)
    }

    /// Removes a label; false if there is none.
    pub fn remove_label(&mut self, name: &str) -> Result<bool, Error> {
        self.remove_in(["metadata", "labels", name])
    }

    /// Sets an annotation. The value is written as a string, quoted if necessary.
    pub fn set_annotation(&mut self, name: &str, value: &str) -> Result<(), Error> {
        self.set_in(["metadata", "annotations", name], value)
    }

    /// Removes an annotation; false if there is none.
    pub fn remove_annotation(&mut self, name: &str) -> Result<bool, Error> {
        self.remove_in(["metadata", "annotations", name])
    }
}

fn entries(node: NodeRef<'_>) -> Vec<(String, String)> {
    let entries = node.as_mapping().into_iter().flat_map(|mapping| mapping.entries());
    entries.filter_map(|entry| Some((scalar_text(entry.key)?, scalar_text(entry.value)?))).collect()
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
