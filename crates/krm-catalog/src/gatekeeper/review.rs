//! The input of policies: an admission request for one resource, and the inventory of all resources.

use std::collections::BTreeMap;

use krm_core::print::json;
use krm_sdk::{Diagnostic, Error, Resource};
use krm_yaml::NodeRef;
use regorus::Value;

use crate::kinds::CatalogKind;

/// A resource and its admission request.
pub(super) struct Review<'a> {
    /// The resource.
    pub(super) resource: &'a Resource,
    request: Value,
}

/// All resources, and the Namespaces among them.
pub(super) struct Reviews<'a> {
    all: Vec<Review<'a>>,
    namespaces: BTreeMap<String, &'a Resource>,
}

impl<'a> Reviews<'a> {
    /// Makes an admission request for every resource.
    pub(super) fn of(items: &'a [Resource]) -> Result<Self, Error> {
        let all = items.iter().map(Review::of).collect::<Result<_, Error>>()?;
        let namespaces = items.iter().filter(|it| is_namespace(it));
        Ok(Self { all, namespaces: namespaces.map(|it| (it.name().into_owned(), it)).collect() })
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
    fn of(resource: &'a Resource) -> Result<Self, Error> {
        let view = resource.view();
        let version = view.api_version();
        let version = version.rsplit('/').next().unwrap_or_default();
        let object = value(resource.root())?;
        let kind = object_of([
            ("group", view.group().as_str().into()),
            ("version", version.into()),
            ("kind", (&*view.kind()).into()),
        ]);
        let mut fields = vec![
            ("kind", kind),
            ("name", (&*view.name()).into()),
            ("operation", "CREATE".into()),
            ("object", object),
        ];
        let namespace = view.namespace();
        if !namespace.is_empty() {
            fields.push(("namespace", (&*namespace).into()));
        }
        Ok(Self { resource, request: object_of(fields) })
    }

    /// The input of a policy.
    pub(super) fn input(&self, parameters: Value) -> Value {
        object_of([("review", self.request.clone()), ("parameters", parameters)])
    }
}

fn object_of(fields: impl IntoIterator<Item = (&'static str, Value)>) -> Value {
    let entries = fields.into_iter().map(|(name, value)| (Value::from(name), value));
    Value::from(entries.collect::<BTreeMap<Value, Value>>())
}

/// A node as a Rego value.
pub(super) fn value(node: NodeRef<'_>) -> Result<Value, Error> {
    let value = Value::from_json_str(&json::write(&krm_yaml::Value::Node(node)));
    value.map_err(|error| {
        let reason = error.to_string().into();
        Diagnostic::error(CatalogKind::PolicyFailed { reason }).into()
    })
}

/// `data.inventory`: resources by namespace, `apiVersion`, kind and name.
pub(super) fn inventory(items: &[Resource]) -> Result<Value, Error> {
    let mut entries: Vec<(Vec<String>, Value)> = Vec::new();
    for item in items {
        let namespace = item.namespace();
        let scope = match &*namespace {
            "" => vec!["cluster".to_owned()],
            name => vec!["namespace".to_owned(), name.to_owned()],
        };
        let names = [item.api_version(), item.kind(), item.name()].map(|it| it.into_owned());
        entries.push(([scope, names.to_vec()].concat(), value(item.root())?));
    }
    Ok(object_of([("inventory", tree(entries))]))
}

/// Nests values by their paths; of two values at one path the first is used.
fn tree(entries: Vec<(Vec<String>, Value)>) -> Value {
    let mut below: BTreeMap<String, Vec<(Vec<String>, Value)>> = BTreeMap::new();
    for (mut path, value) in entries {
        if path.is_empty() {
            return value;
        }
        let first = path.remove(0);
        below.entry(first).or_default().push((path, value));
    }
    let entries =
        below.into_iter().map(|(name, entries)| (Value::from(name.as_str()), tree(entries)));
    Value::from(entries.collect::<BTreeMap<Value, Value>>())
}
