//! Renaming resources and updating what refers to them: namespaces, owners, role bindings, and references of Config Connector.

mod fields;

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use krm_core::Identity;
use krm_sdk::{Diagnostic, Error, Resource};
use krm_yaml::NodeRef;

use crate::changes::{Changes, FieldSlot, change_each, in_resource, text_of};
use crate::field_spec::FieldSpec;
use crate::kinds::CatalogKind;
use crate::scope::is_cluster_scoped_kind;
use fields::FIELDS;

/// New names and namespaces of resources, by their old identity.
///
/// All references are compared with the old identities before anything is renamed, so that the order of the resources does not matter.
#[derive(Default)]
pub(crate) struct Renames {
    new: BTreeMap<Identity, Identity>,
    /// New names of namespaces.
    namespaces: BTreeMap<String, String>,
}

impl Renames {
    /// Adds a resource with its new name and namespace.
    pub(crate) fn add(&mut self, old: Identity, name: String, namespace: String) {
        if old.group.is_empty() && old.kind == "Namespace" {
            self.namespaces.insert(old.name.clone(), name.clone());
        }
        let new = Identity { name, namespace, ..old.clone() };
        self.new.insert(old, new);
    }

    /// Renames the resources among the items, and updates the references to them.
    ///
    /// # Errors
    /// Two resources would have the same identity, or a reference cannot have the new namespace.
    pub(crate) fn apply(&self, items: &mut [Resource]) -> Result<(), Error> {
        if self.new.is_empty() {
            return Ok(());
        }
        self.check_unique(items)?;
        let cleared: Vec<usize> =
            (0..items.len()).filter(|at| self.loses_namespace(&items[*at])).collect();
        let references = References { renames: self, owners: owners() };
        change_each(items.iter_mut().collect(), |changes, resource| {
            self.rename(changes, resource);
            references.update(changes, resource)
        })?;
        cleared.into_iter().try_for_each(|at| items[at].remove("metadata.namespace").map(|_| ()))
    }

    /// Local configuration may have the identity of another resource, for which it stands.
    fn check_unique(&self, items: &[Resource]) -> Result<(), Error> {
        let (mut old, mut new) = (BTreeSet::new(), BTreeSet::new());
        for (item, identity) in items.iter().filter_map(|it| Some((it, it.view().identity()?))) {
            if !old.insert(identity.clone()) && self.new.contains_key(&identity) {
                let message = format!("multiple objects found matching {identity}");
                return Err(duplicate(item, message));
            }
            let identity = self.new_identity(&identity).into_owned();
            if !item.view().is_local() && !new.insert(identity.clone()) && self.creates(&identity) {
                let message = format!("cannot rename: there would be two resources {identity}");
                return Err(duplicate(item, message));
            }
        }
        Ok(())
    }

    /// The identity after renaming.
    fn new_identity<'i>(&'i self, identity: &'i Identity) -> Cow<'i, Identity> {
        let new = self.new.get(identity).unwrap_or(identity);
        match self.namespaces.get(&new.namespace) {
            Some(namespace) => Cow::Owned(Identity { namespace: namespace.clone(), ..new.clone() }),
            None => Cow::Borrowed(new),
        }
    }

    /// Whether a resource gets this identity by being renamed.
    fn creates(&self, new: &Identity) -> bool {
        self.new.keys().any(|old| *self.new_identity(old) == *new)
    }

    fn loses_namespace(&self, item: &Resource) -> bool {
        let new = item.view().identity().and_then(|old| self.new.get(&old));
        new.is_some_and(|new| new.namespace.is_empty()) && !item.namespace().is_empty()
    }

    fn rename<'a>(&self, changes: &mut Changes<'a>, resource: &'a Resource) {
        let Some(old) = resource.view().identity() else { return };
        let new = self.new_identity(&old);
        let mut set = |key, old: &str, new: &str| {
            if old != new && !new.is_empty() {
                let slot = changes.follow(resource.root(), &["metadata", key]);
                slot.iter().for_each(|slot| changes.set(slot, new));
            }
        };
        set("name", &old.name, &new.name);
        set("namespace", &old.namespace, &new.namespace);
    }
}

/// Updating references to renamed resources.
struct References<'r> {
    renames: &'r Renames,
    owners: FieldSpec,
}

fn owners() -> FieldSpec {
    FieldSpec::new("", "", "", "metadata/ownerReferences", false)
}

impl References<'_> {
    fn update<'a>(&self, changes: &mut Changes<'a>, holder: &'a Resource) -> Result<(), Error> {
        for node in mappings(changes, holder, &self.owners) {
            self.update_one(changes, holder, node, &[], false)?;
        }
        for it in FIELDS.iter() {
            for node in mappings(changes, holder, &it.field) {
                self.update_one(changes, holder, node, it.targets, it.has_namespace)?;
            }
        }
        Ok(())
    }

    fn update_one<'a>(
        &self,
        changes: &mut Changes<'a>,
        holder: &'a Resource,
        node: NodeRef<'a>,
        targets: &[(&str, &str)],
        has_namespace: bool,
    ) -> Result<(), Error> {
        let Some(reference) = Reference::read(changes, holder, node, targets) else {
            return Ok(());
        };
        let old = &reference.target;
        let new = self.renames.new_identity(old);
        if new.name != old.name {
            changes.set(&reference.name, &new.name);
        }
        if new.namespace == old.namespace {
            return Ok(());
        }
        match &reference.namespace {
            slot if slot.node().is_some() && (has_namespace || !new.namespace.is_empty()) => {
                changes.set(slot, &new.namespace);
            }
            // The resource that has the reference gets the new namespace, too.
            _ if self.renames.namespaces.contains_key(&old.namespace) => {}
            _ if !has_namespace => return Err(cannot_change_namespace(holder, node, &new)),
            _ if new.namespace.is_empty() => {}
            slot => changes.set(slot, &new.namespace),
        }
        Ok(())
    }
}

/// The mappings at a path. Resources of other kinds may have something else there.
fn mappings<'a>(
    changes: &mut Changes<'a>,
    resource: &'a Resource,
    field: &FieldSpec,
) -> Vec<NodeRef<'a>> {
    let slots = field.find(resource, changes).unwrap_or_default();
    let nodes =
        slots.iter().filter_map(FieldSlot::node).flat_map(|node| match node.as_sequence() {
            Some(list) => list.items().collect(),
            None => vec![node],
        });
    nodes.filter(|node| node.resolve().as_mapping().is_some()).collect()
}

struct Reference<'a> {
    target: Identity,
    name: FieldSlot<'a>,
    namespace: FieldSlot<'a>,
}

impl<'a> Reference<'a> {
    /// None if the reference is to something outside the cluster, or it is not clear to which kind.
    fn read(
        changes: &mut Changes<'a>,
        holder: &'a Resource,
        node: NodeRef<'a>,
        targets: &[(&str, &str)],
    ) -> Option<Self> {
        let mut text = |key: &str| changes.get(node, key)?.and_then(text_of);
        if text("external").is_some_and(|external| !external.is_empty()) {
            return None;
        }
        let [kind, api_version, api_group] = ["kind", "apiVersion", "apiGroup"].map(&mut text);
        let (name, namespace) = (text("name")?.into_owned(), text("namespace"));
        let (group, kind) = match (&kind, &api_version) {
            (Some(kind), Some(version)) => {
                let group = version.split_once('/').map_or("", |(group, _)| group);
                let is_target = targets.is_empty() || targets.contains(&(group, &**kind));
                is_target.then(|| (group.to_owned(), kind.to_string()))?
            }
            _ => {
                let is_target = |(group, its): &&(&str, &str)| {
                    kind.as_ref().is_none_or(|kind| kind == its)
                        && api_group.as_ref().is_none_or(|it| it == group)
                };
                let mut targets = targets.iter().filter(is_target);
                let (Some((group, kind)), None) = (targets.next(), targets.next()) else {
                    return None;
                };
                ((*group).to_owned(), (*kind).to_owned())
            }
        };
        let namespace = match namespace {
            Some(namespace) if !namespace.is_empty() => namespace.into_owned(),
            _ if is_cluster_scoped_kind(&group, &kind) => String::new(),
            _ => holder.namespace(),
        };
        Some(Self {
            target: Identity { group, kind, namespace, name },
            name: changes.follow(node, &["name"])?,
            namespace: changes.follow(node, &["namespace"])?,
        })
    }
}

fn cannot_change_namespace(holder: &Resource, node: NodeRef<'_>, new: &Identity) -> Error {
    let message =
        format!("cannot refer to {new}: this reference is to a resource of the same namespace");
    let error = Diagnostic::error(CatalogKind::Failed { message: message.into() });
    let error = error.at(holder.item().file(), node.span());
    in_resource(holder, error.hint("keep both in one namespace"))
}

fn duplicate(item: &Resource, message: String) -> Error {
    let error = Diagnostic::error(CatalogKind::Failed { message: message.into() });
    let name = item.get_in(["metadata", "name"]).unwrap_or_else(|| item.root());
    let error = error.at(item.item().file(), name.span());
    in_resource(item, error.hint("rename or remove one of them"))
}
