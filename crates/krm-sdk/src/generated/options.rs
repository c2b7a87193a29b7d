//! Options of [`crate::ResourceList::sync_generated`].

use krm_core::compare::ListOptions;
use krm_core::merge::{MergeOptions, OnConflict};
use krm_core::schema::Schema;

use crate::Resource;

/// Whose value is taken where a field was changed both in the resource and by the generator.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ConflictSide {
    /// The value that is in the resource.
    #[default]
    Existing,
    /// The value that is generated.
    Generated,
}

/// Who generates resources, and by which rules they are merged. A string is an owner with the default rules.
///
/// ```
/// use krm_sdk::{ConflictSide, Generation, Resource, ResourceList};
///
/// let generation = Generation::new("web-app/shop")
///     .conflicts(ConflictSide::Generated)
///     .merge_keys("spec.rules", ["host"]);
/// let text = "apiVersion: example.com/v1\nkind: Routes\nmetadata: {name: web}\nspec:\n  rules:\n  - {host: a, to: b}\n";
/// let mut list = ResourceList::default();
/// list.sync_generated(generation, [Resource::parse(text)?])?;
/// # Ok::<(), krm_sdk::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Generation {
    pub(super) owner: String,
    pub(super) fill_only: bool,
    conflicts: ConflictSide,
    merge_keys: Vec<(String, Vec<String>)>,
    schema: Option<Schema>,
}

impl<T: Into<String>> From<T> for Generation {
    fn from(owner: T) -> Self {
        Self::new(owner)
    }
}

impl Generation {
    /// An owner, such as `web-app/shop`, with the default rules. The name must be the same in every run.
    pub fn new(owner: impl Into<String>) -> Self {
        Self {
            owner: owner.into(),
            fill_only: false,
            conflicts: ConflictSide::default(),
            merge_keys: Vec::new(),
            schema: Some(Schema::kubernetes()),
        }
    }

    /// Whose value is taken where both sides changed a field. The default is the value in the resource.
    #[must_use]
    pub fn conflicts(mut self, side: ConflictSide) -> Self {
        self.conflicts = side;
        self
    }

    /// Only adds fields that a resource does not have, and never changes or removes one: for defaults that people take over.
    #[must_use]
    pub fn fill_only(mut self) -> Self {
        self.fill_only = true;
        self
    }

    /// The fields that identify the elements of a list, given by its path without elements: `spec.ports`. They take precedence over the
    /// schema.
    #[must_use]
    pub fn merge_keys<K: Into<String>>(
        mut self,
        path: impl Into<String>,
        keys: impl IntoIterator<Item = K>,
    ) -> Self {
        self.merge_keys.push((path.into(), keys.into_iter().map(Into::into).collect()));
        self
    }

    /// Merges lists without the schema of Kubernetes: by a field that all elements have, such as `name`.
    #[must_use]
    pub fn without_schema(mut self) -> Self {
        self.schema = None;
        self
    }

    /// The schema with the types that CustomResourceDefinitions in the list define.
    pub(super) fn schema_with(&self, items: &[Resource]) -> Option<Schema> {
        let mut schema = self.schema.clone()?;
        for item in items {
            if item.view().kind() == "CustomResourceDefinition" {
                // A definition that is wrong is a matter of validators; the merge does without it.
                let _ = schema.add_crd(item.root());
            }
        }
        Some(schema)
    }

    pub(super) fn merge_options<'s>(&self, schema: Option<&'s Schema>) -> MergeOptions<'s> {
        let on_conflict = match self.conflicts {
            ConflictSide::Generated if !self.fill_only => OnConflict::Upstream,
            _ => OnConflict::Local,
        };
        let merge_keys = self.merge_keys.clone();
        let lists = ListOptions { schema, merge_keys, ..ListOptions::default() };
        MergeOptions { lists, on_conflict, ..MergeOptions::default() }
    }
}
