//! Results about a resource, its file and one of its fields.

use krm_core::Severity;
use krm_core::functions::resource_list::FunctionResult;
use krm_core::functions::resource_list::results::{FieldRef, FileRef, ResourceRef};
use krm_yaml::{NodeRef, Value};

use crate::Resource;

/// Builds a result about a resource, and optionally about one of its fields.
///
/// ```
/// use krm_sdk::{Resource, ResourceList, Severity};
///
/// fn check(list: &mut ResourceList) {
///     for deployment in list.items.iter().filter(|item| item.kind() == "Deployment") {
///         if deployment.get_text("spec.replicas").as_deref() == Some("1") {
///             let result = deployment.result(Severity::Warning, "a single replica is not highly available");
///             list.results.push(result.field("spec.replicas").propose(3).into());
///         }
///     }
/// }
///
/// let mut list = ResourceList::default();
/// list.items.push(Resource::parse("apiVersion: apps/v1\nkind: Deployment\nspec: {replicas: 1}\n")?);
/// check(&mut list);
/// let field = list.results[0].field.as_ref();
/// assert_eq!(field.map(|field| field.path.as_str()), Some("spec.replicas"));
/// # Ok::<(), krm_sdk::Error>(())
/// ```
#[derive(Clone, Debug)]
#[must_use = "push the result to `ResourceList::results` to report it"]
pub struct ResultBuilder<'r> {
    resource: &'r Resource,
    result: FunctionResult,
}

impl Resource {
    /// A result about this resource, to be pushed to [`crate::ResourceList::results`].
    pub fn result(&self, severity: Severity, message: impl Into<String>) -> ResultBuilder<'_> {
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
        ResultBuilder { resource: self, result }
    }
}

impl ResultBuilder<'_> {
    /// Sets the field by its path and adds its current value. `[name=web]` becomes the index of the element.
    pub fn field(self, path: &str) -> Self {
        match self.resource.get(path) {
            Some(node) => self.at(node),
            None => self.with_field(path.to_owned(), None),
        }
    }

    /// Sets the field by its node.
    pub fn at(self, node: NodeRef<'_>) -> Self {
        // Results end up in logs, so values of Secrets are left out.
        let is_secret = self.resource.kind() == "Secret";
        let value = node.to_value().and_then(Value::into_owned).ok();
        self.with_field(node.path().to_string(), value.filter(|_| !is_secret))
    }

    fn with_field(mut self, path: String, current: Option<Value<'static>>) -> Self {
        let proposed = self.result.field.take().map(|field| field.proposed).unwrap_or_default();
        self.result.field = Some(FieldRef { path, current, proposed });
        self
    }

    /// Proposes a value for the field; call it again to add alternatives, best first.
    pub fn propose<'v>(mut self, value: impl Into<Value<'v>>) -> Self {
        if let (Some(field), Ok(value)) = (&mut self.result.field, value.into().into_owned()) {
            field.proposed.push(value);
        }
        self
    }

    /// Adds a tag for other tools.
    pub fn tag(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.result.tags.push((name.into(), value.into()));
        self
    }
}

impl From<ResultBuilder<'_>> for FunctionResult {
    fn from(builder: ResultBuilder<'_>) -> Self {
        builder.result
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn result_refers_to_resource_file_field_and_values() {
        let text = "apiVersion: v1\nkind: Pod\nmetadata: {name: a, namespace: b}\nspec:\n  containers:\n  - name: web\n    image: x\n";
        let mut pod = Resource::parse(text).unwrap();
        pod.move_to(krm_core::PackagePath::new("dir/a.yaml").unwrap());
        let result = pod.result(Severity::Error, "no tag").field("spec.containers[name=web].image");
        let result: FunctionResult = result.propose("x:1").propose("x:2").tag("a", "b").into();
        let json = krm_core::print::json::display(
            &result.to_value(krm_core::functions::resource_list::Version::V2Alpha1),
        );
        assert_eq!(
            json,
            r#"{"message":"no tag","severity":"error","resourceRef":{"apiVersion":"v1","kind":"Pod","namespace":"b","name":"a"},"field":{"path":"spec.containers[0].image","currentValue":"x","proposedValues":["x:1","x:2"]},"file":{"path":"dir/a.yaml","index":0},"tags":{"a":"b"}}"#
        );
    }

    #[test]
    fn current_value_is_omitted_for_missing_fields_and_secrets() {
        let pod = Resource::parse("apiVersion: v1\nkind: Pod\n").unwrap();
        let result: FunctionResult = pod.result(Severity::Info, "x").field("spec.a").into();
        assert!(result.field.unwrap().current.is_none());
        let secret =
            Resource::parse("apiVersion: v1\nkind: Secret\ndata: {a: c2VjcmV0}\n").unwrap();
        let result: FunctionResult = secret.result(Severity::Info, "x").field("data.a").into();
        assert!(result.field.unwrap().current.is_none());
    }
}
