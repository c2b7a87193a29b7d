//! The record of what an owner generated last: a ConfigMap that is never applied.

use krm_core::{Identity, PackagePath, Severity};

use crate::{Error, Resource, ResourceList, value};

/// The annotation of a record with its owner.
const RECORD_OF: &str = "krm-toolkit.github.io/generated-record";
const LOCAL_CONFIG: &str = "config.kubernetes.io/local-config";

/// What an owner generated last.
pub(super) struct Record {
    /// Its resource; none before the first run.
    resource: Option<Resource>,
    /// Its index in the list.
    index: usize,
    entries: Vec<Entry>,
}

struct Entry {
    key: String,
    identity: Identity,
    resource: Resource,
}

impl Record {
    /// Finds the record of an owner. An entry that cannot be read counts as not generated, with a warning.
    pub(super) fn find(list: &mut ResourceList, owner: &str) -> Self {
        let is_it = |it: &Resource| it.annotation(RECORD_OF).as_deref() == Some(owner);
        let index = list.items.iter().position(is_it);
        let resource = index.map(|at| list.items[at].clone());
        let mut entries = Vec::new();
        for (key, text) in resource.iter().flat_map(|it| it.string_map("data").unwrap_or_default())
        {
            let read = Resource::parse(text);
            match read.ok().and_then(|it| Some((it.view().identity()?, it))) {
                Some((identity, resource)) => entries.push(Entry { key, identity, resource }),
                None => {
                    let message = format!("cannot read what was generated last as `{key}`");
                    let path = krm_yaml::Path::from_iter(["data", &key]).to_string();
                    let result = resource.as_ref().map(|it| it.result(Severity::Warning, message));
                    list.results.extend(result.map(|it| it.field(&path).into()));
                }
            }
        }
        Self { resource, index: index.unwrap_or(usize::MAX), entries }
    }

    /// What was generated last with an identity.
    pub(super) fn base(&self, identity: &Identity) -> Option<&Resource> {
        self.entries().find(|(other, _)| *other == identity).map(|(_, base)| base)
    }

    pub(super) fn entries(&self) -> impl Iterator<Item = (&Identity, &Resource)> {
        self.entries.iter().map(|entry| (&entry.identity, &entry.resource))
    }

    /// Replaces the entries by what is generated now. Those that exist keep their keys.
    pub(super) fn update(&mut self, wanted: &[(Identity, Resource)]) -> Result<(), Error> {
        let old = std::mem::take(&mut self.entries);
        for (identity, resource) in wanted {
            let known = old.iter().find(|entry| entry.identity == *identity);
            let key = known.map_or_else(|| self.new_key(identity, &old), |it| it.key.clone());
            let (identity, resource) = (identity.clone(), resource.clone());
            self.entries.push(Entry { key, identity, resource });
        }
        let Some(resource) = &mut self.resource else { return Ok(()) };
        for (key, _) in resource.string_map("data")? {
            if !self.entries.iter().any(|entry| entry.key == key) {
                resource.remove_in(["data", &key])?;
            }
        }
        for entry in &self.entries {
            resource.set_in(["data", &entry.key], entry.resource.text())?;
        }
        Ok(())
    }

    /// A key for a new entry: `deployment.apps_shop_web.yaml`. Keys of ConfigMaps have few characters, so it can be in use.
    fn new_key(&self, identity: &Identity, old: &[Entry]) -> String {
        let Identity { group, kind, namespace, name } = identity;
        let dot = if group.is_empty() { "" } else { "." };
        let parts = [format!("{kind}{dot}{group}"), namespace.clone(), name.clone()];
        let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        let stem = safe(&parts.join("_"));
        let is_free = |key: &String| !self.entries.iter().chain(old).any(|entry| entry.key == *key);
        let numbered = (2..).map(|number| format!("{stem}-{number}.yaml"));
        let mut keys = std::iter::once(format!("{stem}.yaml")).chain(numbered);
        keys.find(is_free).unwrap_or_default()
    }

    /// Puts the record into the list, or removes it if nothing is generated.
    pub(super) fn store(self, list: &mut ResourceList, owner: &str) -> Result<(), Error> {
        // Pruned resources before it have moved it.
        let is_it = |it: &Resource| it.annotation(RECORD_OF).as_deref() == Some(owner);
        let index = match list.items.get(self.index) {
            Some(it) if is_it(it) => Some(self.index),
            _ => list.items.iter().position(is_it),
        };
        match (index, self.resource) {
            (Some(at), _) if self.entries.is_empty() => _ = list.items.remove(at),
            (Some(at), Some(resource)) => list.items[at] = resource,
            _ if self.entries.is_empty() => {}
            _ => {
                let mut new = new_record(owner, &self.entries)?;
                new.move_to(path(list, owner)?);
                list.items.push(new);
            }
        }
        Ok(())
    }
}

fn new_record(owner: &str, entries: &[Entry]) -> Result<Resource, Error> {
    let data: krm_yaml::Value<'_> =
        entries.iter().map(|entry| (&*entry.key, entry.resource.text())).collect();
    let record = Resource::from_value(value!({
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {
            "name": format!("{}-generated", safe(owner).to_lowercase()),
            "annotations": { (LOCAL_CONFIG): "true", (RECORD_OF): owner },
        },
        "data": data,
    }))?;
    let comment =
        "# What was generated last. The next run merges the changes since then; do not edit.\n";
    Resource::parse(format!("{comment}{}", record.text()))
}

/// The file of a new record: beside the functionConfig if its file is known. A functionConfig that is also a resource of the package is beside
/// that one: kustomize gives it a path outside of the package if it was named on the command line.
fn path(list: &ResourceList, owner: &str) -> Result<PackagePath, Error> {
    let config = list.function_config.as_ref();
    let in_package = || {
        let identity = config?.view().identity()?;
        list.items.iter().find(|it| it.view().identity().as_ref() == Some(&identity))?.path()
    };
    let beside = in_package().or_else(|| config?.path());
    let path = match beside {
        Some(path) => {
            let name = path.name().rsplit_once('.').map_or(path.name(), |(stem, _)| stem);
            let slash = if path.directory().is_empty() { "" } else { "/" };
            format!("{}{slash}{name}_generated.yaml", path.directory())
        }
        None => format!("config/{}_generated.yaml", safe(owner).to_lowercase()),
    };
    crate::resource::package_path(&path)
}

/// Text with only the characters that keys, names and files may have.
fn safe(text: &str) -> String {
    let safe = |c: char| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '-' };
    text.chars().map(safe).collect()
}
