//! Generated resources: added to the list, or merged into the version that exists.

use krm_core::merge::MergeAction;
use krm_core::{Diagnostic, PackagePath};

use super::without_name;
use crate::kinds::ResourceKind;
use crate::{Error, Resource, ResourceList};

impl ResourceList {
    /// Adds generated resources, keeping what people changed in them since they were generated last.
    ///
    /// Spec: a resource that exists gets the generated fields by the two-way merge: fields that are not generated are kept, `null`
    /// clears a field, and elements of lists are paired as Kubernetes does. A new resource is written to `config/NAME_KIND.yaml` unless it
    /// has a path.
    ///
    /// Nothing is known about earlier runs: a field that is no longer generated stays, and a field that is generated replaces what people
    /// wrote. [`ResourceList::sync_generated`] knows them.
    ///
    /// ```
    /// use krm_sdk::{Resource, ResourceList};
    ///
    /// let mut list = ResourceList::default();
    /// let text = "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\nspec:\n  replicas: 1\n  cpu: 2 # ours\n";
    /// list.items.push(Resource::parse(text)?);
    /// let text = "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\nspec:\n  replicas: 5\n";
    /// list.upsert_generated([Resource::parse(text)?])?;
    /// assert_eq!(list.items.len(), 1);
    /// assert!(list.items[0].text().ends_with("spec:\n  replicas: 5\n  cpu: 2 # ours\n"));
    /// # Ok::<(), krm_sdk::Error>(())
    /// ```
    pub fn upsert_generated(
        &mut self,
        generated: impl IntoIterator<Item = Resource>,
    ) -> Result<(), Error> {
        for mut new in generated {
            let identity = new.view().identity().ok_or_else(|| without_name(&new))?;
            let is_same = |it: &&mut Resource| it.view().identity().as_ref() == Some(&identity);
            match self.items.iter_mut().find(is_same) {
                Some(old) => old.merge(&new)?,
                None => {
                    new.default_path();
                    self.items.push(new);
                }
            }
        }
        Ok(())
    }
}

impl Resource {
    /// Applies another version of the resource by the two-way merge; everything else keeps its bytes.
    ///
    /// It is a strategic merge: `null` clears a field, and elements of lists are paired as Kubernetes does.
    ///
    /// ```
    /// use krm_sdk::Resource;
    ///
    /// let head = "apiVersion: v1\nkind: Service\nmetadata: {name: web}\nspec:\n  ports:\n";
    /// let mut service = Resource::parse(format!("{head}  - port: 80 # web\n    nodePort: 30080\n"))?;
    /// service.merge(&Resource::parse(format!("{head}  - port: 80\n    name: http\n  - port: 443\n"))?)?;
    /// assert_eq!(service.read_at("spec.ports[0].nodePort")?, Some(30080));
    /// assert_eq!(service.read_at("spec.ports[1].port")?, Some(443));
    /// # Ok::<(), krm_sdk::Error>(())
    /// ```
    pub fn merge(&mut self, from: &Resource) -> Result<(), Error> {
        match self.merge_resource(from)? {
            MergeAction::Remove => {
                let resource = self.display_name();
                Err(Diagnostic::error(ResourceKind::MergeRemovesResource { resource }).into())
            }
            MergeAction::Keep | MergeAction::Insert => Ok(()),
        }
    }

    /// Sets the path of a resource that has none. Spec: files of new resources are named `config/NAME_KIND.yaml`.
    pub(crate) fn default_path(&mut self) {
        if self.path().is_none() {
            let name = format!("{}_{}.yaml", self.name(), self.kind()).to_lowercase();
            let safe = name.replace(|c: char| !c.is_alphanumeric() && !"._-".contains(c), "-");
            if let Ok(path) = PackagePath::new(&format!("config/{safe}")) {
                self.move_to(path);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GENERATED: &str = "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\nspec:\n  template:\n    spec:\n      containers:\n      - name: nginx\n        image: nginx:1.7\n";

    #[test]
    fn regenerating_keeps_changes_of_people() {
        let mut list = ResourceList::default();
        list.upsert_generated([Resource::parse(GENERATED).unwrap()]).unwrap();
        assert_eq!(
            list.items[0].path().map(PackagePath::as_str),
            Some("config/web_deployment.yaml")
        );
        let theirs =
            format!("{GENERATED}        cpu: 2 # mine\n      - name: side\n        image: s\n");
        list.items[0].replace(theirs.clone()).unwrap();
        let before = list.items[0].clone();
        list.upsert_generated([Resource::parse(GENERATED).unwrap()]).unwrap();
        assert!(list.items[0].item().shares_text(before.item()));
        let next = GENERATED.replace("1.7", "1.8");
        list.upsert_generated([Resource::parse(next).unwrap()]).unwrap();
        assert_eq!(list.items[0].text(), theirs.replace("1.7", "1.8"));
    }

    #[test]
    fn generated_resource_without_name_is_an_error() {
        let mut list = ResourceList::default();
        let error =
            list.upsert_generated([Resource::parse("apiVersion: v1\nkind: Pod\n").unwrap()]);
        assert_eq!(error.unwrap_err().to_string(), "a generated Pod has no name");
    }
}
