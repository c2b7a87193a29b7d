//! Which fields a setter reaches: those of subpackages, too, if its value is in a pipeline, and no others than its selectors allow.

use std::collections::BTreeSet;

use krm_yaml::NodeKind;

use super::Setters;
use super::definition::SetterSource;
use super::fields::{FieldScan, SetterField};
use super::function_config;
use super::reference::ReferenceTarget;
use crate::functions::kptfile::Selection;
use crate::{Package, PackageFile};

/// Whether setters of a package reach fields of its subpackages: it calls apply-setters.
pub fn reach_subpackages(package: &Package) -> bool {
    let files = package.by_root().into_iter().next().map(|(_, files)| files);
    !function_config::find_calls(&files.unwrap_or_default()).is_empty()
}

impl<'a> Setters<'a> {
    /// Adds the fields of subpackages that the package's calls of apply-setters set, with one [`FieldScan`] per file.
    pub fn reach(&mut self, files: &[&'a PackageFile], scans: &[FieldScan<'a>]) {
        if self.functions.is_empty() {
            return;
        }
        self.inner_functions = function_config::find_calls(files);
        for field in scans.iter().flat_map(|scan| &scan.fields) {
            let ReferenceTarget::Pattern(pattern) = &field.reference.target else { continue };
            // A setter that only fields name gets a value when it is set.
            let is_own = |name: &&str| {
                let setter = self.definitions.setter(name);
                setter.is_some_and(|it| !matches!(it.source, SetterSource::OpenApi { .. }))
            };
            if !pattern.markers().iter().any(is_own) {
                continue;
            }
            if let (NodeKind::Sequence, Some(name)) = (field.node.kind(), pattern.only_marker()) {
                self.definitions.treat_as_list(name);
            }
            self.reached.push(field.clone());
        }
    }

    /// The fields of the package, and those of subpackages that its setters reach.
    pub(crate) fn reached_fields(&self) -> impl Iterator<Item = &SetterField<'a>> {
        self.fields.iter().chain(&self.reached)
    }

    /// The fields that follow a setter, directly or through substitutions.
    pub fn fields_of(&self, name: &str) -> Vec<&SetterField<'a>> {
        self.reached_fields().filter(|it| self.setters_of(it).contains(name)).collect()
    }

    /// The names of all setters that determine the value of a field.
    ///
    /// The selectors of apply-setters are respected: it does not set the fields of resources that it does not get.
    pub(crate) fn setters_of(&self, field: &SetterField<'_>) -> BTreeSet<String> {
        let mut names = self.definitions.setters_of(&field.reference);
        if !self.selections.is_empty() {
            let resource = field.resource();
            let selects = |it: &Selection| resource.is_some_and(|resource| it.selects(resource));
            names.retain(|name| self.selections.get(name).is_none_or(selects));
        }
        names
    }
}
