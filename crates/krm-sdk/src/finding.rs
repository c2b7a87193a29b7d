//! What a function has to say about a resource: bound to it, its file and one of its fields.

use krm_core::Severity;
use krm_core::functions::resource_list::FunctionResult;
use krm_core::functions::resource_list::results::{FieldRef, FileRef, ResourceRef};
use krm_yaml::{NodeRef, Value};

use crate::Resource;

/// A result in the making: about a resource, and perhaps a field of it.
///
/// ```
/// use krm_sdk::{Resource, ResourceList, Severity};
///
/// fn check(list: &mut ResourceList) {
///     for it in list.items.iter().filter(|it| it.kind() == "Deployment") {
///         if it.get_text("spec.replicas").as_deref() == Some("1") {
///             let finding = it.result(Severity::Warning, "one replica is none");
///             list.results.push(finding.field("spec.replicas").propose(3).into());
///         }
///     }
/// }
///
/// let mut list = ResourceList::default();
/// list.items.push(Resource::parse("apiVersion: apps/v1\nkind: Deployment\nspec: {replicas: 1}\n")?);
/// check(&mut list);
/// let field = list.results[0].field.as_ref().expect("it names one");
/// assert_eq!(field.path, "spec.replicas");
/// assert_eq!(krm_core::print::json::write(field.current.as_ref().expect("it is there")), "1");
/// # Ok::<(), krm_sdk::Error>(())
/// ```
#[derive(Clone, Debug)]
#[must_use = "a finding is told once it is in the results of the list"]
pub struct Finding<'r> {
    resource: &'r Resource,
    result: FunctionResult,
}

impl Resource {
    /// Something to say about this resource; put it into [`crate::ResourceList::results`].
    pub fn result(&self, severity: Severity, message: impl Into<String>) -> Finding<'_> {
        let mut result = FunctionResult::new(severity, message);
        result.resource = Some(ResourceRef {
            api_version: self.api_version().into_owned(),
            kind: self.kind().into_owned(),
            namespace: self.namespace().into_owned(),
            name: self.name().into_owned(),
        });
        result.file = self.path().map(|path| FileRef {
            path: path.as_str().to_owned(),
            index: self.item().index.unwrap_or(0) as u64,
        });
        Finding { resource: self, result }
    }
}

impl Finding<'_> {
    /// Names a field by its path. What stands there is added, and `[name=web]` becomes the number of the element.
    pub fn field(self, path: &str) -> Self {
        match self.resource.get(path) {
            Some(node) => self.at(node),
            None => self.with_field(path.to_owned(), None),
        }
    }

    /// Names a field by its node.
    pub fn at(self, node: NodeRef<'_>) -> Self {
        // What a Secret keeps is not for logs.
        let is_secret = self.resource.kind() == "Secret";
        let value = node.to_value().and_then(Value::into_owned).ok();
        self.with_field(node.path().to_string(), value.filter(|_| !is_secret))
    }

    fn with_field(mut self, path: String, current: Option<Value<'static>>) -> Self {
        let proposed = self.result.field.take().map(|field| field.proposed).unwrap_or_default();
        self.result.field = Some(FieldRef { path, current, proposed });
        self
    }

    /// Says what should stand in the field; several may be said, the best one first.
    pub fn propose<'v>(mut self, value: impl Into<Value<'v>>) -> Self {
        if let (Some(field), Ok(value)) = (&mut self.result.field, value.into().into_owned()) {
            field.proposed.push(value);
        }
        self
    }

    /// Adds a word for other tools.
    pub fn tag(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.result.tags.push((name.into(), value.into()));
        self
    }
}

impl From<Finding<'_>> for FunctionResult {
    fn from(finding: Finding<'_>) -> Self {
        finding.result
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_finding_names_resource_file_field_and_values() {
        let text = "apiVersion: v1\nkind: Pod\nmetadata: {name: a, namespace: b}\nspec:\n  containers:\n  - name: web\n    image: x\n";
        let mut pod = Resource::parse(text).unwrap();
        pod.move_to(krm_core::PackagePath::new("dir/a.yaml").unwrap());
        let finding =
            pod.result(Severity::Error, "no tag").field("spec.containers[name=web].image");
        let result: FunctionResult = finding.propose("x:1").propose("x:2").tag("a", "b").into();
        let json = krm_core::print::json::write(
            &result.to_value(krm_core::functions::resource_list::Version::V2Alpha1),
        );
        assert_eq!(
            json,
            r#"{"message":"no tag","severity":"error","resourceRef":{"apiVersion":"v1","kind":"Pod","namespace":"b","name":"a"},"field":{"path":"spec.containers[0].image","currentValue":"x","proposedValues":["x:1","x:2"]},"file":{"path":"dir/a.yaml","index":0},"tags":{"a":"b"}}"#
        );
    }

    #[test]
    fn a_field_that_is_missing_has_no_value_and_a_secret_tells_none() {
        let pod = Resource::parse("apiVersion: v1\nkind: Pod\n").unwrap();
        let result: FunctionResult = pod.result(Severity::Info, "x").field("spec.a").into();
        assert!(result.field.unwrap().current.is_none());
        let secret =
            Resource::parse("apiVersion: v1\nkind: Secret\ndata: {a: c2VjcmV0}\n").unwrap();
        let result: FunctionResult = secret.result(Severity::Info, "x").field("data.a").into();
        assert!(result.field.unwrap().current.is_none());
    }
}
