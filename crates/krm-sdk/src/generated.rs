//! Generated resources: added to the list, or merged into the version that exists.

use krm_core::merge::{MergeAction, MergeOptions, Merger, Version};
use krm_core::{Diagnostic, PackagePath};
use krm_yaml::Edit;

use crate::kinds::ResourceKind;
use crate::{Error, Resource, ResourceList};

impl ResourceList {
    /// Adds generated resources, keeping what people changed in them since they were generated last.
    ///
    /// Spec: a resource that exists gets the generated fields by the two-way merge: fields that are not generated are kept, `null`
    /// clears a field, and elements of associative lists are paired by their merge keys. A new resource is written to
    /// `config/NAME_KIND.yaml` unless it has a path.
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

fn without_name(resource: &Resource) -> Error {
    let kind = ResourceKind::GeneratedWithoutName { kind: resource.kind().into_owned() };
    Diagnostic::error(kind).at(resource.item().file(), resource.root().span()).into()
}

impl Resource {
    /// Applies another version of the resource by the two-way merge; everything else keeps its bytes.
    pub fn merge(&mut self, from: &Resource) -> Result<(), Error> {
        let file = self.item().file();
        let options = MergeOptions::default();
        let mut edit = Edit::new(file).allow_shared(true);
        let (source, own) = (from.root(), self.root());
        let (source, own) = (Version::new(source, "generated"), Version::new(own, "resource"));
        let report = Merger::new(&options).two_way(source, own, &mut edit)?;
        if report.action == MergeAction::Remove {
            let resource = self.view().label();
            return Err(Diagnostic::error(ResourceKind::MergeRemovesResource { resource }).into());
        }
        if edit.is_empty() {
            return Ok(());
        }
        let text = edit.apply().map_err(|error| Diagnostic::from_edit(&error, file))?;
        self.replace(text)
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
