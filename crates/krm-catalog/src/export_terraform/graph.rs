//! The resources of Config Connector with their parents and references.

use std::collections::{BTreeMap, BTreeSet};

use krm_sdk::{Diagnostic, Resource};

use super::fields;
use crate::kinds::CatalogKind;

/// The index of a node.
pub(super) type Id = usize;

/// A resource, or one that others refer to.
pub(super) struct Node<'l> {
    pub(super) name: String,
    pub(super) kind: String,
    /// The resource; none if it is only referred to.
    pub(super) item: Option<&'l Resource>,
    parent: Option<Id>,
    children: Vec<Id>,
    references: BTreeMap<&'static str, Id>,
    variable: Option<&'static str>,
}

/// All resources by kind and name.
#[derive(Default)]
pub(super) struct Graph<'l> {
    nodes: Vec<Node<'l>>,
    ids: BTreeMap<String, Id>,
    /// The values of the variables by name.
    pub(super) variables: BTreeMap<&'static str, String>,
}

/// The references of a resource: the kind that they refer to, and the path of the name.
const REFERENCES: [(&str, &str); 6] = [
    ("BillingAccount", "spec.billingAccountRef.external"),
    ("BigQueryDataset", "spec.destination.bigQueryDatasetRef.name"),
    ("PubSubTopic", "spec.destination.pubSubTopicRef.name"),
    ("StorageBucket", "spec.destination.storageBucketRef.name"),
    ("ComputeNetwork", "spec.networkRef.name"),
    ("ComputeRouter", "spec.routerRef.name"),
];

/// The parents of a resource: the kind, or none if the reference names it, and the path of the name.
const PARENTS: [(Option<&str>, &str); 6] = [
    (Some("Folder"), "spec.folderRef.name"),
    (Some("Folder"), "spec.folderRef.external"),
    (Some("Organization"), "spec.organizationRef.external"),
    (Some("Project"), "metadata.annotations[\"cnrm.cloud.google.com/project-id\"]"),
    (None, "spec.resourceRef.external"),
    (None, "spec.resourceRef.name"),
];

impl<'l> Graph<'l> {
    fn id(&mut self, kind: &str, name: &str) -> Id {
        let nodes = &mut self.nodes;
        *self.ids.entry(format!("{kind}/{name}")).or_insert_with(|| {
            nodes.push(Node {
                name: name.to_owned(),
                kind: kind.to_owned(),
                item: None,
                parent: None,
                children: Vec::new(),
                references: BTreeMap::new(),
                variable: None,
            });
            nodes.len() - 1
        })
    }

    /// Adds a resource, and what it refers to.
    pub(super) fn add(&mut self, item: &'l Resource) {
        let id = self.id(&item.kind(), item.name().trim());
        self.nodes[id].item = Some(item);
        self.nodes[id].references.clear();
        let mut references: Vec<(&'static str, String)> = Vec::new();
        for (kind, path) in REFERENCES {
            references.push((kind, fields::text(item, path).trim().to_owned()));
        }
        for list in ["spec.natIps", "spec.reservedPeeringRanges"] {
            references.push(("ComputeAddress", fields::text(item, &format!("{list}[0].name"))));
        }
        let bucket = fields::text(item, "spec.destination.loggingLogBucketRef.external");
        let bucket = bucket.rsplit('/').next().unwrap_or_default().to_owned();
        references.push(("LoggingLogBucket", bucket));
        for (kind, name) in references.into_iter().filter(|(_, name)| !name.is_empty()) {
            let referenced = self.id(kind, &name);
            self.nodes[referenced].children.push(id);
            self.nodes[id].references.insert(kind, referenced);
        }
        let parent = PARENTS.iter().find_map(|(kind, path)| {
            let name = fields::text(item, path);
            let kind =
                kind.map_or_else(|| fields::text(item, "spec.resourceRef.kind"), str::to_owned);
            (!name.is_empty()).then_some((kind, name))
        });
        if let Some((kind, name)) = parent.filter(|(kind, _)| !kind.is_empty()) {
            let parent = self.id(&kind, name.trim());
            self.nodes[parent].children.push(id);
            self.nodes[id].parent = Some(parent);
        }
    }

    /// Makes the only organization and the only billing account variables.
    pub(super) fn make_variables(&mut self) {
        for (kind, name) in [("Organization", "org_id"), ("BillingAccount", "billing_account")] {
            let found: Vec<Id> = self.of_kind(kind);
            if let [only] = found[..] {
                self.nodes[only].variable = Some(name);
                self.variables.insert(name, self.nodes[only].name.clone());
            }
        }
    }

    /// The nodes of a kind, sorted by name.
    pub(super) fn of_kind(&self, kind: &str) -> Vec<Id> {
        self.ids.values().copied().filter(|id| self.nodes[*id].kind == kind).collect()
    }

    /// The resources of a kind, sorted by name.
    pub(super) fn created(&self, kind: &str) -> Vec<(Id, &'l Resource)> {
        let nodes = self.of_kind(kind).into_iter();
        nodes.filter_map(|id| Some((id, self.nodes[id].item?))).collect()
    }

    pub(super) fn node(&self, id: Id) -> &Node<'l> {
        &self.nodes[id]
    }

    /// The resources that refer to a node, in the order of the package, once each.
    pub(super) fn children(&self, id: Id) -> impl Iterator<Item = (Id, &'l Resource)> {
        let mut seen = BTreeSet::new();
        let children = self.nodes[id].children.iter().filter(move |it| seen.insert(**it));
        children.filter_map(|id| Some((*id, self.nodes[*id].item?)))
    }

    pub(super) fn children_of_kind(&self, id: Id, kind: &str) -> Vec<(Id, &'l Resource)> {
        self.children(id).filter(|(id, _)| self.nodes[*id].kind == kind).collect()
    }

    pub(super) fn reference(&self, id: Id, kind: &str) -> Option<Id> {
        self.nodes[id].references.get(kind).copied()
    }

    /// A reference that the resource must have.
    pub(super) fn required(&self, id: Id, kind: &str) -> Result<Id, Diagnostic> {
        self.reference(id, kind).ok_or_else(|| self.missing(id, kind))
    }

    /// The parent, which the resource must have.
    pub(super) fn parent(&self, id: Id) -> Result<Id, Diagnostic> {
        self.nodes[id].parent.ok_or_else(|| self.missing(id, "parent"))
    }

    /// The organization of a resource: its parent, or the first one.
    pub(super) fn organization(&self, id: Id) -> Result<Id, Diagnostic> {
        let parent = self.parent(id)?;
        if self.nodes[parent].kind == "Organization" {
            return Ok(parent);
        }
        let first = self.of_kind("Organization").first().copied();
        first.ok_or_else(|| self.missing(id, "Organization"))
    }

    fn missing(&self, id: Id, what: &str) -> Diagnostic {
        let Node { kind, name, item, .. } = &self.nodes[id];
        let message = match what {
            "parent" => format!("{kind} {name} refers to no project, folder or organization"),
            what => format!("{kind} {name} refers to no {what}"),
        };
        let error = Diagnostic::error(CatalogKind::Failed { message: message.into() });
        match item {
            Some(item) => {
                let mut error = error.at(item.item().file(), item.root().span());
                error.file = item.path().map(|path| path.as_str().into());
                error
            }
            None => error.hint("add the resource to the package"),
        }
    }

    /// The name of a resource in Terraform.
    pub(super) fn name(&self, id: Id) -> String {
        let node = &self.nodes[id];
        if node.item.is_some() && !node.name.is_empty() {
            let is_plain = |it: char| it.is_ascii_alphanumeric() || it == '_' || it == '-';
            return node.name.chars().map(|it| if is_plain(it) { it } else { '-' }).collect();
        }
        let kind = node.kind.to_lowercase();
        let all = self.of_kind(&node.kind);
        match all.iter().position(|it| *it == id) {
            Some(at) if all.len() > 1 => format!("{kind}-{}", at + 1),
            _ => kind,
        }
    }

    /// An expression with the name of a folder or organization, such as `folders/1`.
    pub(super) fn resource_id(&self, id: Id) -> String {
        let node = &self.nodes[id];
        if node.item.is_some() {
            return format!("google_folder.{}.name", self.name(id));
        }
        let prefix = if node.kind == "Organization" { "organizations" } else { "folders" };
        match node.variable {
            Some(variable) => format!("\"{prefix}/${{var.{variable}}}\""),
            None => format!("\"{prefix}/{}\"", fields::escaped(&node.name)),
        }
    }

    /// An expression with the ID alone.
    pub(super) fn plain_id(&self, id: Id) -> String {
        let node = &self.nodes[id];
        match node.variable {
            _ if node.item.is_some() => format!("google_folder.{}.name", self.name(id)),
            Some(variable) => format!("var.{variable}"),
            None => format!("\"{}\"", fields::escaped(&node.name)),
        }
    }
}
