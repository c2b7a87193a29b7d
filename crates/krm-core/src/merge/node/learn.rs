//! What files say about types: the schemas that a merge of them goes by.

use krm_yaml::{File, NodeRef};

use crate::Diagnostic;
use crate::model::resource::{Resource, field, resources};
use crate::schema::Schema;

/// Adds the CustomResourceDefinitions of a file, and the OpenAPI definitions of Krmfiles and Kptfiles in it.
pub fn learn(schema: &mut Schema, file: &File) -> Vec<Diagnostic> {
    let all = file.documents().flat_map(resources);
    all.flat_map(|resource| match resource {
        crd if is_crd(crd) => schema.add_crd(crd.node),
        package if is_package(package) => schema.add_openapi(package.node),
        _ => Vec::new(),
    })
    .collect()
}

/// Adds what a file says that was named for it: CustomResourceDefinitions and OpenAPI documents. Other resources beside them
/// say nothing.
pub fn learn_schema(schema: &mut Schema, file: &File) -> Vec<Diagnostic> {
    let mut faults = learn(schema, file);
    for root in file.documents().filter_map(|document| document.root()) {
        if resources(root.document()).is_empty() {
            faults.extend(schema.add_openapi(root));
        }
    }
    faults
}

fn is_crd(resource: Resource<'_>) -> bool {
    resource.kind() == "CustomResourceDefinition" && resource.group() == "apiextensions.k8s.io"
}

fn is_package(resource: Resource<'_>) -> bool {
    let has = |node: NodeRef<'_>| field(node, "definitions").is_some();
    matches!(&*resource.kind(), "Krmfile" | "Kptfile")
        && field(resource.node, "openAPI").is_some_and(has)
}
