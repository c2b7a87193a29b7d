//! `enable-gcp-services`: generates the Service resources of Config Connector from a ProjectServiceSet.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use krm_core::{Identity, PackagePath};
use krm_sdk::results::FileRef;
use krm_sdk::{Diagnostic, Error, FunctionResult, Resource, ResourceList, Severity};
use krm_yaml::{NodeRef, Value};

use crate::align::align;
use crate::changes::{in_resource, text_of};
use crate::config::with_context;
use crate::generated::{mapping, metadata, resource, strings};
use crate::kinds::CatalogKind;
use crate::{Builtin, Run, releases};

/// The description of the function.
pub const BUILTIN: Builtin = Builtin {
    name: "enable-gcp-services",
    aliases: &[],
    summary: "generate the Service resources of Config Connector from a ProjectServiceSet",
    doc: include_str!("../doc/enable-gcp-services.md"),
    releases: releases::ENABLE_GCP_SERVICES,
    run: Run::Native(run),
};

const SET: (&str, &str) = ("blueprints.cloud.google.com/v1alpha1", "ProjectServiceSet");
const API_VERSION: &str = "serviceusage.cnrm.cloud.google.com/v1beta1";
/// The annotation of a generated resource that names its ProjectServiceSet.
const OWNER: &str = "blueprints.cloud.google.com/ownerReference";
const LOCAL_CONFIG: &str = "config.kubernetes.io/local-config";

/// Generates the services of all sets, and removes those that no set lists any more.
pub fn run(list: &mut ResourceList) -> Result<(), Error> {
    let sets: Vec<usize> = (0..list.items.len()).filter(|at| is_set(&list.items[*at])).collect();
    let mut owners = BTreeSet::new();
    let mut services = Services::default();
    for at in &sets {
        owners.insert(owner(&list.items[*at].name()));
        add_services(&list.items[*at], &mut services)
            .map_err(|error| with_context(error, "failed to add services"))?;
    }
    for at in sets {
        list.items[at].set_annotation(LOCAL_CONFIG, "true")?;
    }
    let results = services.put(&mut list.items, &owners)?;
    list.results.extend(results);
    Ok(())
}

fn is_set(item: &Resource) -> bool {
    item.kind() == SET.1 && item.api_version() == SET.0
}

fn owner(set: &str) -> String {
    format!("blueprints.cloud.google.com/ProjectServiceSet/{set}")
}

/// The services to generate, in order.
#[derive(Default)]
struct Services {
    names: BTreeMap<Identity, String>,
    new: Vec<(Identity, Resource)>,
}

fn add_services(set: &Resource, services: &mut Services) -> Result<(), Error> {
    let names = set.get_in(["spec", "services"]).and_then(|it| it.resolve().as_sequence());
    let names: Vec<NodeRef<'_>> = names.into_iter().flat_map(|it| it.items()).collect();
    if names.is_empty() {
        let message = "at least one service must be specified under `spec.services[]`";
        let at = set.get_in(["spec", "services"]).unwrap_or_else(|| set.root());
        let hint = "list services such as `compute.googleapis.com`";
        return Err(in_resource(set, failed(set, at, message.to_owned()).hint(hint)));
    }
    for node in names {
        let service = text_of(node).unwrap_or_default();
        let Some(short_name) = short_name(&service) else {
            let message = format!("invalid service specified: {service}");
            let hint = "give the full name, such as `compute.googleapis.com`";
            return Err(in_resource(set, failed(set, node, message).hint(hint)));
        };
        let new = manifest(set, short_name, &service)?;
        let Some(identity) = new.view().identity() else { continue };
        match services.names.insert(identity.clone(), service.to_string()) {
            None => services.new.push((identity, new)),
            Some(other) if other == *service => {}
            Some(other) => {
                let message = format!("`{other}` and `{service}` would both be {identity}");
                let hint = "move one of them to another ProjectServiceSet";
                return Err(in_resource(set, failed(set, node, message).hint(hint)));
            }
        }
    }
    Ok(())
}

/// The first part of a service of at least three parts.
fn short_name(service: &str) -> Option<&str> {
    let mut parts = service.split('.');
    let first = parts.next();
    parts.nth(1).and(first)
}

fn manifest(set: &Resource, short_name: &str, service: &str) -> Result<Resource, Error> {
    let set_name = set.name();
    let mut annotations: Vec<(String, String)> = set
        .annotations()
        .into_iter()
        .filter(|(name, _)| name != LOCAL_CONFIG && name != OWNER)
        .collect();
    annotations.push((OWNER.to_owned(), owner(&set_name)));
    let name = format!("{set_name}-{short_name}");
    let mut spec = vec![("resourceID", Value::string(service.to_owned()))];
    let project = set.get_in(["spec", "projectID"]).and_then(text_of).filter(|it| !it.is_empty());
    spec.extend(project.map(|project| ("projectRef", strings([("external", project)]))));
    let namespace = set.namespace();
    let fields =
        vec![("metadata", metadata(&name, &namespace, annotations)), ("spec", mapping(spec))];
    let mut resource = resource(API_VERSION, "Service", fields)?;
    let directory = set.path().map_or("", PackagePath::directory);
    let file = [directory, &namespace, &format!("service_{name}.yaml")];
    let file: Vec<&str> = file.into_iter().filter(|it| !it.is_empty()).collect();
    let path = PackagePath::new(&file.join("/"));
    resource.move_to(path.map_err(|error| Error::new(error.to_string()))?);
    Ok(resource)
}

impl Services {
    /// Replaces what earlier runs generated for these owners. What has not changed keeps its bytes.
    fn put(
        self,
        items: &mut Vec<Resource>,
        owners: &BTreeSet<String>,
    ) -> Result<Vec<FunctionResult>, Error> {
        let is_owned =
            |it: &Resource| it.annotation(OWNER).is_some_and(|owner| owners.contains(&*owner));
        let mut results = Vec::new();
        let mut new: BTreeMap<Identity, Resource> = BTreeMap::new();
        let order: Vec<Identity> = self.new.iter().map(|(identity, _)| identity.clone()).collect();
        new.extend(self.new);
        let mut kept = Vec::with_capacity(items.len());
        for mut item in std::mem::take(items) {
            if !is_owned(&item) {
                kept.push(item);
                continue;
            }
            match item.view().identity().and_then(|identity| new.remove(&identity)) {
                Some(new) => {
                    align(&mut item, &new)?;
                    if let Some(path) = new.path().filter(|path| item.path() != Some(path)) {
                        item.move_to(path.clone());
                    }
                    results.push(result(&item, "recreated service"));
                    kept.push(item);
                }
                None => results.push(result(&item, "pruned service")),
            }
        }
        for new in order.iter().filter_map(|identity| new.remove(identity)) {
            results.push(result(&new, "generated service"));
            kept.push(new);
        }
        *items = kept;
        results.sort_by_cached_key(sort_key);
        Ok(results)
    }
}

fn result(item: &Resource, message: &str) -> FunctionResult {
    let result = FunctionResult::from(item.result(Severity::Info, message));
    let file = item.path().map(|path| FileRef { path: path.into(), index: 0 });
    FunctionResult { file, ..result }
}

fn sort_key(result: &FunctionResult) -> (Arc<str>, String, String) {
    let file = result.file.as_ref().map(|file| Arc::clone(&file.path)).unwrap_or_default();
    let resource = result.resource.as_ref().map(|it| it.name.clone()).unwrap_or_default();
    (file, resource, result.message.clone())
}

fn failed(set: &Resource, node: NodeRef<'_>, message: String) -> Diagnostic {
    let error = Diagnostic::error(CatalogKind::Failed { message: message.into() });
    error.at(set.item().file(), node.span())
}
