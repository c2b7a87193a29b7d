//! Generated resources: added, merged with what people changed since, and removed once they are no longer generated.
//!
//! # The base of the merge
//!
//! A three-way merge needs what was generated last. It is kept in a ConfigMap beside the functionConfig (`NAME_generated.yaml`), which
//! is annotated as `config.kubernetes.io/local-config`, so it is never applied. Each generated resource is an entry with its text.
//!
//! - Generated manifests stay readable. The alternative, an annotation with the whole base as `kubectl` has it, doubles every manifest,
//!   ends up in the cluster, and changes in the same diff as the manifest.
//! - The base is a string. As nested YAML, functions that search whole files (setters, images, search and replace) would change it
//!   together with the resource, and a change that somebody made would look like one of the generator.
//! - It is a ConfigMap because every tool knows the kind: validators have its schema, and `kubectl apply -f` of a whole directory works.
//! - It is a resource of the package, because a function sees nothing else: no file system, and no state between runs.
//!
//! A generated resource has one small annotation, [`GENERATED_BY`], with the owner and the identity as generated. It pairs a resource that
//! a later function renamed or moved to another namespace with what it was generated from, and proves whose it is before it is removed.

mod conflicts;
mod options;
mod pairing;
mod record;
mod upsert;

use krm_core::diff::Differ;
use krm_core::merge::{Conflict, MergeOptions, Merger, Version};
use krm_core::{Diagnostic, Identity, Severity};
use krm_yaml::Edit;

pub use options::{ConflictSide, Generation};
use pairing::Owned;
use record::Record;

use crate::kinds::ResourceKind;
use crate::{Error, Resource, ResourceList};

/// The annotation of generated resources: the owner, and the identity with which the resource was generated.
pub const GENERATED_BY: &str = "krm-toolkit.github.io/generated-by";

/// What [`ResourceList::sync_generated`] did, as the resources are called in messages.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Synced {
    /// New resources.
    pub added: Vec<String>,
    /// Resources that exist, and whose text changed.
    pub changed: Vec<String>,
    /// Resources that were generated before and are no longer.
    pub removed: Vec<String>,
    /// The number of conflicts, which are in the results of the list.
    pub conflicts: usize,
}

impl ResourceList {
    /// Makes the resources of an owner what it generates now, and keeps what others changed in them.
    ///
    /// - A resource that does not exist is added, in `config/NAME_KIND.yaml` unless it has a path.
    /// - A resource that exists gets the changes between what was generated last and what is generated now, by the three-way merge: fields
    ///   that are no longer generated are removed, and fields that others added or changed stay. Elements of lists are paired as Kubernetes
    ///   does.
    /// - A resource that was generated before and is no longer is removed. Only a resource with the annotation of this owner is; without the
    ///   annotation it belongs to somebody else and stays. If it had been changed, a warning lists the fields. If the record of what was
    ///   generated last is lost, it stays with a warning.
    /// - Where both sides changed the same field, the value that is there is kept, and a warning has both values; [`Generation`] has the
    ///   alternatives. A resource that existed before the owner generated it for the first time is treated in the same way.
    ///
    /// The owner is a name for the generator and its functionConfig, such as `web-app/shop`. It must not change between runs, and two owners
    /// cannot generate the same resource. What was generated last is kept in a ConfigMap beside the functionConfig, which is never applied.
    ///
    /// ```
    /// use krm_sdk::{Error, Resource, ResourceList, value};
    ///
    /// fn deployment(replicas: u32) -> Result<Resource, Error> {
    ///     Resource::from_value(value!({
    ///         "apiVersion": "apps/v1",
    ///         "kind": "Deployment",
    ///         "metadata": { "name": "web" },
    ///         "spec": { "replicas": replicas },
    ///     }))
    /// }
    ///
    /// let mut list = ResourceList::default();
    /// list.sync_generated("web-app/shop", [deployment(1)?])?;
    /// list.items[0].set("spec.paused", true)?;        // a change of a person
    ///
    /// list.sync_generated("web-app/shop", [deployment(5)?])?;
    /// assert_eq!(list.items[0].read_at("spec.replicas")?, Some(5));
    /// assert_eq!(list.items[0].read_at("spec.paused")?, Some(true));
    ///
    /// list.items[0].set("spec.replicas", 7)?;
    /// list.sync_generated("web-app/shop", [deployment(9)?])?;
    /// assert_eq!(list.items[0].read_at("spec.replicas")?, Some(7));
    /// assert!(list.results[0].message.contains("7 here, 9 generated"));
    ///
    /// let synced = list.sync_generated("web-app/shop", [])?;
    /// assert_eq!((synced.removed, list.items.len()), (vec!["Deployment web".to_owned()], 0));
    /// # Ok::<(), krm_sdk::Error>(())
    /// ```
    pub fn sync_generated(
        &mut self,
        generation: impl Into<Generation>,
        wanted: impl IntoIterator<Item = Resource>,
    ) -> Result<Synced, Error> {
        let generation = generation.into();
        let wanted = with_identities(wanted)?;
        let schema = generation.schema_with(&self.items);
        let options = generation.merge_options(schema.as_ref());
        let mut record = Record::find(self, &generation.owner);
        let mut synced = Synced::default();
        for (identity, new) in &wanted {
            let owned = Owned { owner: &generation.owner, identity };
            match owned.find(&self.items).or_else(|| owned.find_unclaimed(&self.items)) {
                Some(at) => {
                    let base = record.base(identity).filter(|_| !generation.fill_only);
                    let resource = &mut self.items[at];
                    let before = resource.clone();
                    let conflicts = resource.merge_generated(base, new, &options)?;
                    resource.set_annotation(GENERATED_BY, &owned.tag())?;
                    if !resource.item().shares_text(before.item()) {
                        synced.changed.push(resource.display_name());
                    }
                    if !generation.fill_only {
                        synced.conflicts += conflicts.len();
                        let results = conflicts.iter().map(|it| conflicts::result(it, &before));
                        self.results.extend(results);
                    }
                }
                None => {
                    if let Some(owner) = owned.other_owner(&self.items) {
                        let resource = new.display_name();
                        let kind = ResourceKind::GeneratedByOther { resource, owner };
                        return Err(Diagnostic::error(kind).into());
                    }
                    let mut new = new.clone();
                    new.set_annotation(GENERATED_BY, &owned.tag())?;
                    new.default_path();
                    synced.added.push(new.display_name());
                    self.items.push(new);
                }
            }
        }
        let is_wanted = |it: &Identity| wanted.iter().any(|(identity, _)| identity == it);
        for (identity, base) in record.entries().filter(|(identity, _)| !is_wanted(identity)) {
            let owned = Owned { owner: &generation.owner, identity };
            let Some(at) = owned.find(&self.items) else { continue };
            let removed = self.items.remove(at);
            self.results.extend(removed_changes(&removed, base, &options));
            synced.removed.push(removed.display_name());
        }
        let known: Vec<&Identity> = wanted.iter().map(|(identity, _)| identity).collect();
        for at in pairing::forgotten(&generation.owner, &known, &self.items) {
            let resource = &self.items[at];
            let name = resource.display_name();
            let message = format!(
                "{name} is no longer generated, and it is not known what was generated last: remove it, or its annotation `{GENERATED_BY}`"
            );
            self.results.push(resource.result(Severity::Warning, message).into());
        }
        record.update(&wanted)?;
        record.store(self, &generation.owner)?;
        Ok(synced)
    }
}

/// The resources with their identities, which must be unique.
fn with_identities(
    wanted: impl IntoIterator<Item = Resource>,
) -> Result<Vec<(Identity, Resource)>, Error> {
    let mut all: Vec<(Identity, Resource)> = Vec::new();
    for new in wanted {
        let identity = new.view().identity().ok_or_else(|| without_name(&new))?;
        if all.iter().any(|(other, _)| *other == identity) {
            let resource = new.display_name();
            return Err(Diagnostic::error(ResourceKind::GeneratedTwice { resource }).into());
        }
        all.push((identity, new));
    }
    Ok(all)
}

fn without_name(resource: &Resource) -> Error {
    let kind = ResourceKind::GeneratedWithoutName { kind: resource.kind() };
    Diagnostic::error(kind).at(resource.item().file(), resource.root().span()).into()
}

impl Resource {
    /// Merges the changes between what was generated last and what is generated now.
    fn merge_generated(
        &mut self,
        base: Option<&Resource>,
        new: &Resource,
        options: &MergeOptions<'_>,
    ) -> Result<Vec<Conflict>, Error> {
        let file = self.item().file();
        let name = self.path().map_or("resource", |path| path.as_str());
        let mut edit = Edit::new(file).allow_shared(true);
        let report = Merger::new(options).three_way(
            base.map(|base| Version::new(base.root(), "base")),
            Some(Version::new(self.root(), name)),
            Some(Version::new(new.root(), "generated")),
            &mut edit,
        )?;
        if !edit.is_empty() {
            let text = edit.apply().map_err(|error| Diagnostic::from_edit(&error, file))?;
            self.replace(text)?;
        }
        Ok(report.conflicts)
    }
}

/// A warning about the changes that are lost with a resource that is no longer generated.
fn removed_changes(
    removed: &Resource,
    base: &Resource,
    options: &MergeOptions<'_>,
) -> Option<crate::FunctionResult> {
    let mut differ = Differ::new(options.lists.clone());
    let diff = differ.compare(base.root(), removed.root());
    let is_own = |path: &str| path.contains(GENERATED_BY) || path == "metadata.annotations";
    let paths = diff.fields.iter().map(|change| change.path.to_string());
    let paths: Vec<String> = paths.filter(|path| !is_own(path)).collect();
    if paths.is_empty() {
        return None;
    }
    let (name, paths) = (removed.display_name(), paths.join("`, `"));
    let message =
        format!("removed {name}, which is no longer generated, with its changes of `{paths}`");
    Some(removed.result(Severity::Warning, message).into())
}

#[cfg(test)]
mod tests;
