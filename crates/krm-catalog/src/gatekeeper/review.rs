//! The resources that policies are evaluated on.

use std::collections::BTreeMap;

use krm_core::print::json;
use krm_sdk::{Error, Resource};
use krm_yaml::NodeRef;

use super::exchange::Document;
use crate::validation_input::ValidationInput;

/// A resource, as policies see it.
pub(super) struct Review<'a> {
    /// The resource as Kubernetes reads it.
    pub(super) resource: &'a Resource,
    /// The resource as it is written, for results.
    pub(super) written: &'a Resource,
    api_version: String,
    kind: String,
    namespace: String,
    name: String,
    object: String,
}

/// All resources, and the Namespaces among them.
pub(super) struct Reviews<'a> {
    all: Vec<Review<'a>>,
    namespaces: BTreeMap<String, &'a Resource>,
}

impl<'a> Reviews<'a> {
    /// Reads all resources.
    pub(super) fn of(items: &'a [ValidationInput<'a>]) -> Result<Self, Error> {
        let all = items.iter().map(Review::of).collect::<Result<_, Error>>()?;
        let namespaces = items.iter().map(|it| &*it.read).filter(|it| is_namespace(it));
        Ok(Self { all, namespaces: namespaces.map(|it| (it.name(), it)).collect() })
    }

    pub(super) fn all(&self) -> &[Review<'a>] {
        &self.all
    }

    /// The Namespace with this name.
    pub(super) fn namespace(&self, name: &str) -> Option<&'a Resource> {
        self.namespaces.get(name).copied()
    }
}

/// Whether a resource is a Namespace.
pub(super) fn is_namespace(resource: &Resource) -> bool {
    resource.kind() == "Namespace" && resource.api_version() == "v1"
}

impl<'a> Review<'a> {
    fn of(input: &'a ValidationInput<'a>) -> Result<Self, Error> {
        let resource = &*input.read;
        Ok(Self {
            resource,
            written: input.written,
            api_version: resource.api_version(),
            kind: resource.kind(),
            namespace: resource.namespace(),
            name: resource.name(),
            object: json_of(resource.root())?,
        })
    }

    /// The resource for the interpreter.
    pub(super) fn document(&self) -> Document<'_> {
        Document {
            api_version: &self.api_version,
            kind: &self.kind,
            namespace: &self.namespace,
            name: &self.name,
            object: &self.object,
        }
    }
}

/// A node as JSON, from which the interpreter makes a value.
pub(super) fn json_of(node: NodeRef<'_>) -> Result<String, Error> {
    Ok(json::of_node(node)?)
}
