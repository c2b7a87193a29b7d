//! Patches: strategic merge patches, JSON patches, and patches of containers.

mod json_patch;

use serde::Deserialize;

pub use json_patch::{JsonPatch, JsonPatchOperation};
use krm_core::Diagnostic;
use krm_core::compare::ListOptions;
use krm_core::merge::{MergeAction, MergeOptions, Merger, Version};
use krm_core::schema::Schema;
use krm_yaml::{Edit, Value};

use crate::kinds::ResourceKind;
use crate::resource::owned;
use crate::selector::OneOrMany;
use crate::workload::Container;
use crate::{Any, Error, Pattern, Resource, ResourceList, Selector};

/// A patch with its target, as a functionConfig lists them.
///
/// ```
/// use krm_sdk::{Patch, Resource, testing};
///
/// #[derive(serde::Deserialize)]
/// struct Config {
///     patches: Vec<Patch>,
/// }
///
/// let config: Config = Resource::parse("\
/// apiVersion: example.com/v1
/// kind: Config
/// patches:
/// - target: {kind: Deployment}
///   merge: {spec: {replicas: 3}}
/// - target: {names: [web]}
///   json:
///   - {op: test, path: /metadata/name, value: web}
///   - {op: add, path: /metadata/labels, value: {tier: front}}
/// - containers: {names: [{regex: ^web}]}
///   merge: {env: [{name: A, value: b}]}
/// ")?.read_config()?;
///
/// let mut list = testing::list(&["\
/// apiVersion: apps/v1
/// kind: Deployment
/// metadata:
///   name: web # the shop
/// spec:
///   replicas: 1
///   template: {spec: {containers: [{name: web}, {name: logs}]}}
/// "]);
/// assert_eq!(list.patch(&config.patches)?, 3);
/// assert_eq!(list.items[0].text(), "\
/// apiVersion: apps/v1
/// kind: Deployment
/// metadata:
///   name: web # the shop
///   labels:
///     tier: front
/// spec:
///   replicas: 3
///   template: {spec: {containers: [{name: web, env: [{name: A, value: b}]}, {name: logs}]}}
/// ");
/// # Ok::<(), krm_sdk::Error>(())
/// ```
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Patch {
    /// The resources to patch; all if nothing is given.
    pub target: Selector,
    /// The containers to patch, instead of the whole resource.
    pub containers: Option<ContainerSelector>,
    /// A strategic merge patch.
    pub merge: Option<Any>,
    /// A JSON patch, which is applied after the merge patch. Its paths start at the resource, even if `containers` is given.
    pub json: JsonPatch,
}

/// Selects containers; without conditions, all.
///
/// ```
/// use krm_sdk::{ContainerSelector, Resource, value};
///
/// let mut pod = Resource::parse("apiVersion: v1\nkind: Pod\nspec:\n  containers:\n  - name: web # it\n  - name: logs\n")?;
/// let web = ContainerSelector::new().name("web");
/// assert_eq!(pod.patch_containers(&web, value!({ "resources": { "limits": { "cpu": "1" } } }))?, 1);
/// assert!(pod.text().ends_with("  - name: web # it\n    resources:\n      limits:\n        cpu: \"1\"\n  - name: logs\n"));
/// # Ok::<(), krm_sdk::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct ContainerSelector {
    #[serde(alias = "name")]
    names: OneOrMany<Pattern>,
    #[serde(alias = "image")]
    images: OneOrMany<Pattern>,
}

impl ContainerSelector {
    /// Selects all containers.
    pub fn new() -> Self {
        Self::default()
    }

    /// Requires this name; call it again to allow several.
    #[must_use]
    pub fn name(mut self, name: impl Into<Pattern>) -> Self {
        self.names.0.push(name.into());
        self
    }

    /// Requires this image; call it again to allow several.
    #[must_use]
    pub fn image(mut self, image: impl Into<Pattern>) -> Self {
        self.images.0.push(image.into());
        self
    }

    /// Whether a container of a resource meets every condition.
    pub fn matches(&self, resource: &Resource, container: &Container) -> Result<bool, Error> {
        let is = |allowed: &OneOrMany<Pattern>, actual: &str| {
            allowed.0.is_empty() || allowed.0.iter().any(|it| it.matches(actual))
        };
        let image = resource.get_text(&container.field("image"))?.unwrap_or_default();
        Ok(is(&self.names, &container.name) && is(&self.images, &image))
    }
}

impl ResourceList {
    /// Applies patches to their targets, one after the other, and returns how often a resource was patched.
    ///
    /// A merge patch with `$patch: delete` at its root removes the resource.
    pub fn patch(&mut self, patches: &[Patch]) -> Result<usize, Error> {
        let mut count = 0;
        for patch in patches {
            let mut deleted = Vec::new();
            for (at, resource) in self.items.iter_mut().enumerate() {
                if !patch.target.matches(resource) {
                    continue;
                }
                match patch.apply(resource).map_err(|error| error.about(resource))? {
                    Patched::No => continue,
                    Patched::Yes => {}
                    Patched::Deleted => deleted.push(at),
                }
                count += 1;
            }
            deleted.into_iter().rev().for_each(|at| _ = self.items.remove(at));
        }
        Ok(count)
    }
}

/// What a patch did to a resource.
enum Patched {
    No,
    Yes,
    Deleted,
}

impl Patch {
    /// A strategic merge patch of all resources; see [`Resource::patch`].
    ///
    /// ```
    /// use krm_sdk::{Patch, Selector, testing, value};
    ///
    /// let mut list = testing::list(&["apiVersion: apps/v1\nkind: Deployment\nspec:\n  replicas: 1 # low\n"]);
    /// let patch = Patch::merge(value!({ "spec": { "replicas": 3 } })).target(Selector::new().kind("Deployment"));
    /// assert_eq!(list.patch(&[patch])?, 1);
    /// assert!(list.items[0].text().ends_with("replicas: 3 # low\n"));
    /// # Ok::<(), krm_sdk::Error>(())
    /// ```
    pub fn merge(patch: Value<'static>) -> Self {
        Self { merge: Some(Any(patch)), ..Self::default() }
    }

    /// A JSON patch of all resources; see [`Resource::patch_json`].
    pub fn json(patch: JsonPatch) -> Self {
        Self { json: patch, ..Self::default() }
    }

    /// Patches only these resources.
    #[must_use]
    pub fn target(mut self, target: Selector) -> Self {
        self.target = target;
        self
    }

    /// Applies the merge patch to these containers, instead of the whole resource.
    #[must_use]
    pub fn containers(mut self, containers: ContainerSelector) -> Self {
        self.containers = Some(containers);
        self
    }

    fn apply(&self, resource: &mut Resource) -> Result<Patched, Error> {
        let mut is_patched = false;
        match (&self.merge, &self.containers) {
            (Some(Any(merge)), Some(containers)) => {
                is_patched = resource.patch_containers(containers, merge.clone())? > 0;
            }
            (Some(Any(merge)), None) => {
                is_patched = true;
                if resource.merge_value(merge.clone())? == MergeAction::Remove {
                    return Ok(Patched::Deleted);
                }
            }
            (None, _) => {}
        }
        if !self.json.operations.is_empty() {
            is_patched = true;
            resource.patch_json(&self.json)?;
        }
        Ok(if is_patched { Patched::Yes } else { Patched::No })
    }
}

impl Resource {
    /// Applies a strategic merge patch: `null` removes a field, elements of lists are paired as Kubernetes does, and directives such as
    /// `$patch: replace` are followed. Everything else keeps its bytes.
    ///
    /// ```
    /// use krm_sdk::{Resource, value};
    ///
    /// let mut pod = Resource::parse("apiVersion: v1\nkind: Pod\nspec:\n  hostPID: true\n  containers:\n  - name: web # it\n")?;
    /// pod.patch(value!({ "spec": { "hostPID": null, "containers": [{ "name": "web", "image": "nginx" }] } }))?;
    /// assert_eq!(pod.text(), "apiVersion: v1\nkind: Pod\nspec:\n  containers:\n  - name: web # it\n    image: nginx\n");
    /// # Ok::<(), krm_sdk::Error>(())
    /// ```
    pub fn patch<'v>(&mut self, patch: impl Into<Value<'v>>) -> Result<(), Error> {
        match self.merge_value(owned(patch)?)? {
            MergeAction::Remove => {
                let resource = self.display_name();
                Err(Diagnostic::error(ResourceKind::MergeRemovesResource { resource }).into())
            }
            MergeAction::Keep | MergeAction::Insert => Ok(()),
        }
    }

    /// Applies a strategic merge patch to the selected containers, and returns how many they are.
    pub fn patch_containers<'v>(
        &mut self,
        containers: &ContainerSelector,
        patch: impl Into<Value<'v>>,
    ) -> Result<usize, Error> {
        let Value::Mapping(patch) = owned(patch)? else {
            return Err(Diagnostic::error(ResourceKind::NotAMapping).into());
        };
        let mut count = 0;
        for container in self.containers() {
            if container.name.is_empty() || !containers.matches(self, &container)? {
                continue;
            }
            count += 1;
            let mut element = vec![(Value::from("name"), Value::from(container.name.clone()))];
            element.extend(patch.iter().cloned());
            let list = Value::Sequence(vec![Value::Mapping(element)]);
            let path = container.path.rsplit_once('[').map_or("", |(list, _)| list);
            let whole = path.split('.').rev().fold(list, |value, key| {
                Value::Mapping(vec![(Value::from(key.to_owned()), value)])
            });
            self.patch(whole)?;
        }
        Ok(count)
    }

    fn merge_value(&mut self, patch: Value<'static>) -> Result<MergeAction, Error> {
        let patch = Resource::from_value(patch)?;
        self.merge_resource(&patch)
    }

    /// The strategic merge of another version of the resource, or of a part of it.
    pub(crate) fn merge_resource(&mut self, from: &Resource) -> Result<MergeAction, Error> {
        let file = self.item().file();
        let schema = Schema::kubernetes();
        let lists = ListOptions { schema: Some(&schema), ..ListOptions::default() };
        let options = MergeOptions { lists, ..MergeOptions::default() };
        let mut edit = Edit::new(file).allow_shared(true);
        let (from, own) =
            (Version::new(from.root(), "patch"), Version::new(self.root(), "resource"));
        let report = Merger::new(&options).two_way(from, own, &mut edit)?;
        if report.action != MergeAction::Remove && !edit.is_empty() {
            let text = edit.apply().map_err(|error| Diagnostic::from_edit(&error, file))?;
            self.replace(text)?;
        }
        Ok(report.action)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;

    fn read(text: &str) -> Vec<Patch> {
        #[derive(Deserialize)]
        struct Config {
            patches: Vec<Patch>,
        }
        let text = format!("apiVersion: a/v1\nkind: C\npatches:\n{text}");
        Resource::parse(text).unwrap().read_config::<Config>().unwrap().patches
    }

    #[test]
    fn directives_delete_resources_and_elements() {
        let pod = "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec:\n  containers:\n  - name: x\n  - name: y # stays\n";
        let mut list = testing::list(&[pod, &pod.replace("name: a", "name: b")]);
        let patches = read(
            "- target: {name: a}\n  merge: {$patch: delete}\n- target: {name: b}\n  merge: {spec: {containers: [{name: x, $patch: delete}]}}\n",
        );
        assert_eq!(list.patch(&patches).unwrap(), 2);
        assert_eq!(list.items.len(), 1);
        assert_eq!(
            list.items[0].text(),
            "apiVersion: v1\nkind: Pod\nmetadata: {name: b}\nspec:\n  containers:\n  - name: y # stays\n"
        );
        assert!(list.items[0].patch(crate::value!({ "$patch": "delete" })).is_err());
    }

    #[test]
    fn patch_is_applied_once_to_a_resource_that_has_it() {
        let pod = "apiVersion: v1\nkind: Pod\nspec:\n  initContainers:\n  - {name: i}\n  containers:\n  - {name: x, image: 'a:1'}\n";
        let mut list = testing::list(&[pod]);
        let patches = read("- containers: {images: [{regex: ^a}]}\n  merge: {tty: true}\n");
        for _ in 0..2 {
            assert_eq!(list.patch(&patches).unwrap(), 1);
            assert_eq!(
                list.items[0].text(),
                pod.replace("image: 'a:1'", "tty: true, image: 'a:1'")
            );
        }
    }

    #[test]
    fn failed_patch_names_the_resource() {
        let mut list = testing::list(&["apiVersion: v1\nkind: Pod\nmetadata: {name: a}\n"]);
        let error = list.patch(&read("- json: [{op: remove, path: /spec}]\n")).unwrap_err();
        assert_eq!(error.to_string(), "cannot apply `remove /spec`: there is no such field");
        assert_eq!(error.diagnostics[0].resource.as_deref(), Some("Pod a"));
    }
}
