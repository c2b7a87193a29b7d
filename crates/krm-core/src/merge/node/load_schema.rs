//! Schemas that the merged files themselves define.

use krm_yaml::{File, NodeRef};

use crate::Diagnostic;
use crate::model::resource::{Resource, field, resources};
use crate::schema::Schema;

/// Adds the CustomResourceDefinitions of a file, and the OpenAPI definitions of Krmfiles and Kptfiles in it.
pub fn load_schema(schema: &mut Schema, file: &File) -> Vec<Diagnostic> {
    let all = file.documents().flat_map(resources);
    all.flat_map(|resource| match resource {
        crd if is_crd(crd) => schema.add_crd(crd.node),
        package if is_package(package) => schema.add_openapi(package.node),
        _ => Vec::new(),
    })
    .collect()
}

/// Adds a file that was given as a schema: as [`load_schema`], and OpenAPI documents. Other resources in it are ignored.
pub fn load_schema_file(schema: &mut Schema, file: &File) -> Vec<Diagnostic> {
    let mut errors = load_schema(schema, file);
    for root in file.documents().filter_map(|document| document.root()) {
        if resources(root.document()).is_empty() {
            errors.extend(schema.add_openapi(root));
        }
    }
    errors
}

fn is_crd(resource: Resource<'_>) -> bool {
    resource.kind() == "CustomResourceDefinition" && resource.group() == "apiextensions.k8s.io"
}

fn is_package(resource: Resource<'_>) -> bool {
    let has = |node: NodeRef<'_>| field(node, "definitions").is_some();
    matches!(&*resource.kind(), "Krmfile" | "Kptfile")
        && field(resource.node, "openAPI").is_some_and(has)
}
