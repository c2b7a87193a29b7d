//! The releases before v0.3: all resources get the namespace, as the namespace transformer of kustomize sets it.

use std::collections::BTreeSet;

use krm_sdk::{Error, Resource, ResourceList};
use krm_yaml::NodeRef;
use serde::Deserialize;

use super::{BUILTIN, SERVICE_ACCOUNTS, WEBHOOKS, empty, read_context};
use crate::Version;
use crate::changes::{Changes, FieldSlot, change_each, text_of};
use crate::config::{
    PACKAGE_CONTEXT, function_config, invalid_field, is_config_map, is_custom, missing,
    unknown_kind,
};
use crate::field_spec::FieldSpec;
use crate::scope::Scopes;

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct SetNamespace {
    namespace: String,
    additional_namespace_fields: Option<Vec<FieldSpec>>,
    /// The older name of `additionalNamespaceFields`.
    field_specs: Option<Vec<FieldSpec>>,
}

/// Sets the namespace of all resources, of local configuration, too.
pub(super) fn run(list: &mut ResourceList, version: Version) -> Result<(), Error> {
    let config = read(list)?;
    let mut fields = config.additional_namespace_fields.unwrap_or_default();
    fields.extend(default_fields(version));
    let scopes = Scopes::of(&list.items);
    let accounts = match version >= SERVICE_ACCOUNTS {
        true => service_accounts(&list.items),
        false => BTreeSet::new(),
    };
    change_each(list.items.iter_mut().collect(), |changes, resource| {
        let mut slots = Vec::new();
        if scopes.may_be_namespaced(resource) {
            slots.extend(changes.follow(resource.root(), &["metadata", "namespace"]));
        }
        slots.extend(subjects(changes, resource, &accounts));
        for field in &fields {
            slots.extend(field.find(resource, changes)?);
        }
        slots.iter().for_each(|slot| changes.set(slot, &config.namespace));
        Ok(())
    })?;
    Ok(())
}

fn read(list: &ResourceList) -> Result<SetNamespace, Error> {
    let wrong_kind = "`functionConfig` must be a `ConfigMap` or `SetNamespace`";
    let Some(config) = function_config(list) else {
        return Err(missing::<SetNamespace>(list, BUILTIN.name, wrong_kind));
    };
    if is_config_map(config) && config.name() == PACKAGE_CONTEXT {
        let namespace = read_context(config)?.namespace;
        return Ok(SetNamespace { namespace, ..SetNamespace::default() });
    }
    let is_kind = |kind: &&str| is_custom(config, kind);
    let (mut read, field): (SetNamespace, _) = match config {
        config if is_config_map(config) => (config.read_config()?, "data.namespace"),
        config if ["SetNamespace", "SetNamespaceConfig"].iter().any(is_kind) => {
            (config.read_config()?, "namespace")
        }
        _ => return Err(unknown_kind(config, "SetNamespace", wrong_kind)),
    };
    if read.namespace.is_empty() {
        return Err(empty(config, field));
    }
    if let Some(fields) = read.field_specs.take() {
        if read.additional_namespace_fields.is_some() {
            let message = "`fieldSpecs` and `additionalNamespaceFields` are the same field";
            let error = invalid_field(config, "fieldSpecs", message);
            return Err(error.hint("move its items to `additionalNamespaceFields`").into());
        }
        read.additional_namespace_fields = Some(fields);
    }
    Ok(read)
}

/// The fields that hold a namespace, besides that of the resource itself.
fn default_fields(version: Version) -> Vec<FieldSpec> {
    const APIS: &str = "apiregistration.k8s.io";
    const EXTENSIONS: &str = "apiextensions.k8s.io";
    const WEBHOOK: &str = "spec/conversion/webhook/clientConfig/service/namespace";
    let mut fields = vec![
        FieldSpec::new("", "", "Namespace", "metadata/name", true),
        // The original adds a service to an APIService that has none, which then serves nothing.
        FieldSpec::new(APIS, "", "APIService", "spec/service/namespace", false),
    ];
    if version >= WEBHOOKS {
        fields.push(FieldSpec::new(EXTENSIONS, "", "CustomResourceDefinition", WEBHOOK, false));
    }
    fields
}

/// The names of the ServiceAccounts among the resources.
fn service_accounts(items: &[Resource]) -> BTreeSet<String> {
    let accounts = items.iter().filter(|it| it.kind() == "ServiceAccount");
    accounts.map(|it| it.name()).collect()
}

/// The namespaces of the subjects with the name `default`, and of these ServiceAccounts. Missing ones are added.
fn subjects<'a>(
    changes: &mut Changes<'a>,
    resource: &'a Resource,
    accounts: &BTreeSet<String>,
) -> Vec<FieldSlot<'a>> {
    if !matches!(&*resource.kind(), "RoleBinding" | "ClusterRoleBinding") {
        return Vec::new();
    }
    let list = changes.follow(resource.root(), &["subjects"]).and_then(|slot| slot.node());
    let subjects =
        list.and_then(|list| list.as_sequence()).into_iter().flat_map(|list| list.items());
    let mut slots = Vec::new();
    for subject in subjects {
        let mut text = |key: &str| field_text(changes, subject, key);
        let (kind, name) = (text("kind"), text("name"));
        let is_account = kind == "ServiceAccount" && accounts.contains(&name);
        if name == "default" || is_account {
            slots.extend(changes.follow(subject, &["namespace"]));
        }
    }
    slots
}

fn field_text<'a>(changes: &mut Changes<'a>, node: NodeRef<'a>, key: &str) -> String {
    let slot = changes.follow(node, &[key]);
    slot.and_then(|slot| slot.node()).and_then(text_of).unwrap_or_default().to_string()
}
