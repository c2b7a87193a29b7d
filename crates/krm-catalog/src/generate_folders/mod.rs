//! `generate-folders`: generates the Folder resources of Config Connector from a ResourceHierarchy.

mod tree;

use std::collections::BTreeMap;

use krm_sdk::{Diagnostic, Error, Resource, ResourceList, Severity};
use krm_yaml::{NodeRef, Value};

use crate::changes::text_of;
use crate::depends_on::{self, Dependency};
use crate::generated::{mapping, metadata, put, resource, strings};
use crate::{Builtin, Run, Version, releases};
use tree::{Folder, failed};

/// The description of the function.
pub const BUILTIN: Builtin = Builtin {
    name: "generate-folders",
    aliases: &[],
    summary: "generate the Folder resources of Config Connector from a ResourceHierarchy",
    doc: include_str!("../../doc/generate-folders.md"),
    releases: releases::GENERATE_FOLDERS,
    run: Run::Versioned(run),
};

const GROUP: &str = "resourcemanager.cnrm.cloud.google.com";
const API_VERSION: &str = "resourcemanager.cnrm.cloud.google.com/v1beta1";

/// Annotations of a ResourceHierarchy that its folders do not get.
const NOT_INHERITED: [&str; 2] = ["config.kubernetes.io/local-config", "config.k8s.io/function"];

/// The versions of a ResourceHierarchy, in the order in which they are handled.
const FORMATS: [(&str, Format); 3] = [
    ("cft.dev/v1alpha1", Format::V1),
    ("blueprints.cloud.google.com/v1alpha3", Format::V3),
    ("cft.dev/v1alpha2", Format::V2),
];

/// The first version whose folders depend on their parents; see [`releases::GENERATE_FOLDERS`].
const DEPENDS_ON_SINCE: Version = Version::new(0, 1, 2);

#[derive(Clone, Copy, PartialEq, Eq)]
enum Format {
    /// Layers in `spec.layers`.
    V1,
    /// A tree; folders refer to their parents with annotations.
    V2,
    /// A tree; folders refer to their parents with fields.
    V3,
}

/// What the outermost folders are in.
struct Root {
    is_organization: bool,
    id: String,
}

/// Generates the folders of all hierarchies.
pub fn run(list: &mut ResourceList, version: Version) -> Result<(), Error> {
    let mut errors: Vec<Diagnostic> = Vec::new();
    let mut generated = Vec::new();
    let mut warnings = Vec::new();
    let depends_on_parents = version >= DEPENDS_ON_SINCE;
    for (api_version, format) in FORMATS {
        let is_hierarchy =
            |it: &&Resource| it.kind() == "ResourceHierarchy" && it.api_version() == api_version;
        for hierarchy in list.items.iter().filter(is_hierarchy) {
            if format != Format::V3 {
                let message = format!(
                    "ResourceHierarchy {} references an older Resource Hierarchy GroupVersion. Latest GroupVersion is blueprints.cloud.google.com/v1alpha3.",
                    hierarchy.name()
                );
                warnings.push(hierarchy.result(Severity::Warning, message).into());
            }
            match generate(hierarchy, format, depends_on_parents) {
                Ok(folders) => generated.extend(folders),
                Err(error) => errors.extend(error.diagnostics),
            }
        }
    }
    list.results.extend(warnings);
    if !errors.is_empty() {
        return Err(Error::of_diagnostics(errors));
    }
    put(&mut list.items, generated)
}

fn generate(
    hierarchy: &Resource,
    format: Format,
    depends_on_parents: bool,
) -> Result<Vec<Resource>, Error> {
    let (root, folders) = match format {
        Format::V1 => {
            let id =
                hierarchy.get_in(["spec", "organization"]).and_then(text_of).unwrap_or_default();
            let root = Root { is_organization: true, id: id.into_owned() };
            (root, tree::layered_folders(hierarchy)?)
        }
        Format::V2 | Format::V3 => (parent(hierarchy)?, tree::folders(hierarchy)?),
    };
    let inherited = match format {
        Format::V1 => Vec::new(),
        Format::V2 | Format::V3 => inherited(hierarchy),
    };
    let mut names: BTreeMap<String, String> = BTreeMap::new();
    let mut resources = Vec::new();
    for folder in folders {
        let name = resource_name(folder.parents.iter().chain([&folder.name]));
        let shown = [&folder.parents[..], std::slice::from_ref(&folder.name)].concat().join("/");
        if let Some(other) = names.insert(name.clone(), shown.clone()) {
            let message = format!("folders `{other}` and `{shown}` have the same name `{name}`");
            let error = failed(hierarchy, hierarchy.root(), message);
            return Err(error.hint("rename one of them").into());
        }
        let mut resource =
            manifest(hierarchy, &folder, &name, &root, inherited.clone(), format == Format::V3)?;
        if format == Format::V3 && depends_on_parents {
            depend_on_parent(&mut resource, &folder)?;
        }
        resources.push(resource);
    }
    Ok(resources)
}

fn parent(hierarchy: &Resource) -> Result<Root, Diagnostic> {
    let parent = hierarchy.get_in(["spec", "parentRef"]).map(NodeRef::resolve);
    let at = parent.unwrap_or_else(|| hierarchy.root());
    let Some(id) = hierarchy.get_in(["spec", "parentRef", "external"]).and_then(text_of) else {
        let message = format!("ResourceHierarchy {} has an undefined parentRef", hierarchy.name());
        let hint = "set `spec.parentRef.external` to the ID of the organization or folder";
        return Err(failed(hierarchy, at, message).hint(hint));
    };
    let kind = hierarchy.get_in(["spec", "parentRef", "kind"]).and_then(text_of);
    let is_organization = match kind.as_deref() {
        None | Some("Organization") => true,
        Some("Folder") => false,
        Some(_) => {
            let message =
                format!("ResourceHierarchy {} has an unsupported parentRef kind", hierarchy.name());
            return Err(failed(hierarchy, at, message).hint("use `Organization` or `Folder`"));
        }
    };
    Ok(Root { is_organization, id: id.into_owned() })
}

fn inherited(hierarchy: &Resource) -> Vec<(String, String)> {
    let annotations = hierarchy.annotations().into_iter();
    let annotations = annotations.filter(|(name, _)| !NOT_INHERITED.contains(&&**name));
    annotations.collect()
}

fn manifest(
    hierarchy: &Resource,
    folder: &Folder,
    name: &str,
    root: &Root,
    mut annotations: Vec<(String, String)>,
    is_native: bool,
) -> Result<Resource, Error> {
    let mut annotate = |name: &str, value: String| {
        annotations.retain(|(its, _)| its != name);
        annotations.push((name.to_owned(), value));
    };
    let mut spec = vec![("displayName", Value::string(folder.name.clone()))];
    let namespace = hierarchy.namespace();
    let is_outermost = folder.parents.is_empty();
    let parent = resource_name(&folder.parents);
    match (is_native, is_outermost, root.is_organization) {
        (true, true, is_organization) => {
            let field = if is_organization { "organizationRef" } else { "folderRef" };
            spec.push((field, strings([("external", root.id.clone())])));
        }
        (true, false, _) => {
            spec.push(("folderRef", strings([("name", parent)])));
        }
        (false, true, true) => {
            annotate("cnrm.cloud.google.com/organization-id", normalize(&root.id));
        }
        (false, true, false) => annotate("cnrm.cloud.google.com/folder-ref", normalize(&root.id)),
        (false, false, _) => annotate("cnrm.cloud.google.com/folder-ref", parent),
    }
    let fields =
        vec![("metadata", metadata(name, &namespace, annotations)), ("spec", mapping(spec))];
    resource(API_VERSION, "Folder", fields)
}

/// Annotates a folder with the namespace of its hierarchy to be applied after its parent.
fn depend_on_parent(resource: &mut Resource, folder: &Folder) -> Result<(), Error> {
    let namespace = resource.namespace();
    if folder.parents.is_empty() || namespace.is_empty() {
        return Ok(());
    }
    let dependency = Dependency {
        group: GROUP.to_owned(),
        namespace: Some(namespace),
        kind: "Folder".to_owned(),
        name: resource_name(&folder.parents),
    };
    resource.set_annotation(depends_on::ANNOTATION, &dependency.text())
}

fn resource_name<'n>(names: impl IntoIterator<Item = &'n String>) -> String {
    let names: Vec<&str> = names.into_iter().map(String::as_str).collect();
    normalize(&names.join("."))
}

/// The characters of a name that the name of a resource can have.
fn normalize(name: &str) -> String {
    let name = name.to_lowercase().replace(['_', ' '], "-");
    name.chars().filter(|it| matches!(it, 'a'..='z' | '0'..='9' | '.' | '-')).collect()
}
