//! Findings: results about a resource, its file and one of its fields.

use krm_core::Severity;
use krm_core::functions::resource_list::FunctionResult;
use krm_core::functions::resource_list::results::{FieldRef, FileRef, ResourceRef};
use krm_yaml::{NodeRef, Path, Segment, Value};

use crate::resource::parse_path;
use crate::{Error, Resource, ResourceList, Selector};

/// What a check found in one resource: collects [`Finding`]s. See [`ResourceList::check`].
#[derive(Clone, Debug, Default)]
pub struct Findings {
    all: Vec<Finding>,
}

/// A result about a resource, and optionally about one of its fields. Its parts can be set in any order.
///
/// ```
/// use krm_sdk::{Finding, Resource, Severity};
///
/// let deployment = Resource::parse("apiVersion: apps/v1\nkind: Deployment\nspec: {replicas: 1}\n")?;
/// let mut finding = Finding::new(Severity::Warning, "a single replica is not highly available");
/// finding.propose(3).field("spec.replicas").tag("rule", "availability");
/// let result = finding.into_result(&deployment);
/// let field = result.field.expect("the finding is about a field");
/// assert_eq!((field.path.as_str(), field.proposed.len()), ("spec.replicas", 1));
/// # Ok::<(), krm_sdk::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Finding {
    severity: Severity,
    message: String,
    path: Option<String>,
    proposed: Vec<Value<'static>>,
    tags: Vec<(String, String)>,
}

impl Findings {
    /// Adds a finding that makes the function fail.
    pub fn error(&mut self, message: impl Into<String>) -> &mut Finding {
        self.add(Severity::Error, message)
    }

    /// Adds a finding that does not make the function fail.
    pub fn warning(&mut self, message: impl Into<String>) -> &mut Finding {
        self.add(Severity::Warning, message)
    }

    /// Adds information.
    pub fn info(&mut self, message: impl Into<String>) -> &mut Finding {
        self.add(Severity::Info, message)
    }

    /// Adds a finding with a severity.
    pub fn add(&mut self, severity: Severity, message: impl Into<String>) -> &mut Finding {
        let at = self.all.len();
        self.all.push(Finding::new(severity, message));
        &mut self.all[at]
    }
}

impl Finding {
    /// A finding with a severity and a message.
    pub fn new(severity: Severity, message: impl Into<String>) -> Self {
        let message = message.into();
        Self { severity, message, path: None, proposed: Vec::new(), tags: Vec::new() }
    }

    /// Sets the field by its path. `[name=web]` becomes the index of the element, and the current value is added.
    pub fn field(&mut self, path: impl Into<String>) -> &mut Self {
        self.path = Some(path.into());
        self
    }

    /// Proposes a value for the field, which `krm fix` can set; call it again to add alternatives, best first.
    pub fn propose<'v>(&mut self, value: impl Into<Value<'v>>) -> &mut Self {
        self.proposed.extend(value.into().into_owned());
        self
    }

    /// Adds a tag for other tools.
    pub fn tag(&mut self, name: impl Into<String>, value: impl Into<String>) -> &mut Self {
        self.tags.push((name.into(), value.into()));
        self
    }

    /// The result about a resource.
    pub fn into_result(self, resource: &Resource) -> FunctionResult {
        let mut result = FunctionResult::new(self.severity, self.message);
        result.resource = Some(Box::new(resource.reference()));
        result.file = resource.path().map(|path| FileRef {
            path: path.into(),
            index: resource.item().index.unwrap_or(0) as u64,
        });
        result.field = self.path.map(|path| {
            let (path, node) = located(resource, path);
            let current = node.and_then(|node| current_value(resource, node));
            FieldRef { path, current, proposed: self.proposed }
        });
        result.tags = self.tags;
        result
    }
}

/// The path for other tools, which know elements of sequences by their index only, and its node if there is one. The beginning of a path
/// exists even if the field is missing.
fn located(resource: &Resource, path: String) -> (String, Option<NodeRef<'_>>) {
    // A path that cannot be parsed is still useful for readers.
    let Ok(parsed) = parse_path(&path) else { return (path, None) };
    let mut node = Some(resource.root());
    let with_index = |segment: &Segment| {
        let parent = node.map(NodeRef::resolve);
        node = parent.and_then(|parent| parent.step(segment));
        let sequence = parent.filter(|parent| parent.as_sequence().is_some());
        let index = sequence.zip(node).and_then(|(sequence, element)| {
            sequence.children().position(|it| it.index() == element.index())
        });
        index.map_or_else(|| segment.clone(), Segment::Index)
    };
    let path: Path = parsed.segments().iter().map(with_index).collect();
    (path.to_string(), node)
}

/// The value of a field. Results end up in logs, so values of Secrets are left out.
fn current_value(resource: &Resource, node: NodeRef<'_>) -> Option<Value<'static>> {
    let value = node.resolve().to_value().and_then(Value::into_owned).ok();
    value.filter(|_| resource.view().kind() != "Secret")
}

impl ResourceList {
    /// Checks the selected resources, and adds what the check finds to [`ResourceList::results`].
    ///
    /// ```
    /// use krm_sdk::{Selector, testing};
    ///
    /// let mut list = testing::list(&["apiVersion: apps/v1\nkind: Deployment\nspec: {replicas: 1}\n"]);
    /// list.check(&Selector::new().kind("Deployment"), |deployment, findings| {
    ///     if deployment.read_at("spec.replicas")? == Some(1) {
    ///         findings.warning("a single replica is not highly available").field("spec.replicas").propose(3);
    ///     }
    ///     Ok(())
    /// })?;
    /// let field = list.results[0].field.as_ref();
    /// assert_eq!(field.map(|field| field.path.as_str()), Some("spec.replicas"));
    /// # Ok::<(), krm_sdk::Error>(())
    /// ```
    ///
    /// A check that needs the other resources, too, takes a copy of the list before, which shares their texts: `let all = list.clone();`.
    pub fn check(
        &mut self,
        selector: &Selector,
        mut check: impl FnMut(&Resource, &mut Findings) -> Result<(), Error>,
    ) -> Result<(), Error> {
        for resource in self.items.iter().filter(|it| selector.matches(it)) {
            let mut findings = Findings::default();
            let checked = check(resource, &mut findings);
            self.results.extend(findings.all.into_iter().map(|it| it.into_result(resource)));
            checked.map_err(|error| error.about(resource))?;
        }
        Ok(())
    }
}

/// Builds a result about a resource, to be pushed to [`ResourceList::results`]. Its parts can be set in any order.
///
/// ```
/// use krm_sdk::{Resource, ResourceList, Severity};
///
/// let mut list = ResourceList::default();
/// list.items.push(Resource::parse("apiVersion: apps/v1\nkind: Deployment\nspec: {replicas: 1}\n")?);
/// for deployment in &list.items {
///     let result = deployment.result(Severity::Warning, "a single replica is not highly available");
///     list.results.push(result.propose(3).field("spec.replicas").into());
/// }
/// let field = list.results[0].field.as_ref();
/// assert_eq!(field.map(|field| field.proposed.len()), Some(1));
/// # Ok::<(), krm_sdk::Error>(())
/// ```
#[derive(Clone, Debug)]
#[must_use = "push the result to `ResourceList::results` to report it"]
pub struct ResultBuilder<'r> {
    resource: &'r Resource,
    finding: Finding,
}

impl Resource {
    /// A result about this resource, to be pushed to [`crate::ResourceList::results`].
    pub fn result(&self, severity: Severity, message: impl Into<String>) -> ResultBuilder<'_> {
        ResultBuilder { resource: self, finding: Finding::new(severity, message) }
    }

    /// The reference to this resource in a result.
    pub(crate) fn reference(&self) -> ResourceRef {
        ResourceRef {
            api_version: self.api_version(),
            kind: self.kind(),
            namespace: self.namespace(),
            name: self.name(),
        }
    }
}

impl ResultBuilder<'_> {
    /// Sets the field by its path and adds its current value. `[name=web]` becomes the index of the element.
    pub fn field(mut self, path: &str) -> Self {
        self.finding.field(path);
        self
    }

    /// Sets the field by its node.
    pub fn at(self, node: NodeRef<'_>) -> Self {
        self.field(&node.path().to_string())
    }

    /// Proposes a value for the field; call it again to add alternatives, best first.
    pub fn propose<'v>(mut self, value: impl Into<Value<'v>>) -> Self {
        self.finding.propose(value);
        self
    }

    /// Adds a tag for other tools.
    pub fn tag(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.finding.tag(name, value);
        self
    }
}

impl From<ResultBuilder<'_>> for FunctionResult {
    fn from(builder: ResultBuilder<'_>) -> Self {
        builder.finding.into_result(builder.resource)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn result_refers_to_resource_file_field_and_values_in_any_order() {
        let text = "apiVersion: v1\nkind: Pod\nmetadata: {name: a, namespace: b}\nspec:\n  containers:\n  - name: web\n    image: x\n";
        let mut pod = Resource::parse(text).unwrap();
        pod.move_to(krm_core::PackagePath::new("dir/a.yaml").unwrap());
        let result = || pod.result(Severity::Error, "no tag");
        let path = "spec.containers[name=web].image";
        for result in [
            result().field(path).propose("x:1").propose("x:2").tag("a", "b"),
            result().propose("x:1").tag("a", "b").propose("x:2").field(path),
        ] {
            let result: FunctionResult = result.into();
            let json = krm_core::print::json::display(
                &result.to_value(krm_core::functions::resource_list::Version::V2Alpha1),
            );
            assert_eq!(
                json,
                r#"{"message":"no tag","severity":"error","resourceRef":{"apiVersion":"v1","kind":"Pod","namespace":"b","name":"a"},"field":{"path":"spec.containers[0].image","currentValue":"x","proposedValues":["x:1","x:2"]},"file":{"path":"dir/a.yaml","index":0},"tags":{"a":"b"}}"#
            );
        }
    }

    #[test]
    fn field_behind_an_alias_has_its_own_path_and_the_value_of_the_alias() {
        let text = "apiVersion: v1\nkind: Pod\nspec: {a: &x 5, b: *x}\n";
        let pod = Resource::parse(text).unwrap();
        let result: FunctionResult = pod.result(Severity::Info, "x").field("spec.b").into();
        let field = result.field.unwrap();
        assert_eq!(field.path, "spec.b");
        assert!(matches!(field.current, Some(Value::Number(number)) if number == "5"));
    }

    #[test]
    fn path_of_a_missing_field_has_the_indices_of_elements() {
        let text =
            "apiVersion: v1\nkind: Pod\nspec: {containers: [&x {name: a}, {name: b}], c: *x}\n";
        let pod = Resource::parse(text).unwrap();
        for (path, expected) in [
            ("spec.containers[name=b].resources.limits", "spec.containers[1].resources.limits"),
            ("/spec/containers/1/image", "spec.containers[1].image"),
            ("spec.containers[name=z].image", "spec.containers[name=z].image"),
            ("spec.c.name", "spec.c.name"),
            ("spec[", "spec["),
        ] {
            let result: FunctionResult = pod.result(Severity::Info, "x").field(path).into();
            assert_eq!(result.field.unwrap().path, expected);
        }
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

    #[test]
    fn findings_before_an_error_are_kept_and_the_error_names_the_resource() {
        let mut list = ResourceList::default();
        let text = "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\n";
        list.items.push(Resource::parse(text).unwrap());
        let error = list.check(&Selector::new(), |pod, findings| {
            findings.error("first");
            pod.get("spec[").map(|_| ())
        });
        assert_eq!(list.results.len(), 1);
        let resource = error.unwrap_err().diagnostics[0].resource.clone();
        assert_eq!(resource.as_deref(), Some("Pod a"));
    }
}
