//! Projects.

use krm_sdk::{Diagnostic, Resource};

use super::fields;
use super::graph::{Graph, Id};

pub(super) fn file(graph: &Graph<'_>) -> Result<String, Diagnostic> {
    let mut text = String::new();
    for (id, project) in graph.created("Project") {
        let (name, display_name) = (graph.name(id), display_name(project));
        text.push_str(&format!(
            "\nmodule \"{name}\" {{\n  source  = \"terraform-google-modules/project-factory/google\"\n  version = \"~> 12.0\"\n\n  name       = \"{display_name}\""
        ));
        if display_name != name {
            text.push_str(&format!("\n  project_id = \"{name}\""));
        }
        text.push_str(&format!("\n  org_id     = {}", graph.plain_id(graph.organization(id)?)));
        let parent = graph.parent(id)?;
        if graph.node(parent).kind == "Folder" {
            text.push_str(&format!("\n  folder_id  = {}", graph.plain_id(parent)));
        }
        text.push('\n');
        if is_host(graph, id, project) {
            text.push_str("\n  enable_shared_vpc_host_project = true");
        }
        let account = graph.plain_id(graph.required(id, "BillingAccount")?);
        text.push_str(&format!("\n  billing_account = {account}"));
        let network = "metadata.annotations[\"cnrm.cloud.google.com/auto-create-network\"]";
        if fields::boolean(project, network) {
            text.push_str("\n  auto_create_network = true");
        }
        text.push_str("\n}\n");
    }
    Ok(text)
}

/// Whether a project shares its networks with others.
fn is_host(graph: &Graph<'_>, id: Id, project: &Resource) -> bool {
    let hosts = graph.children_of_kind(id, "ComputeSharedVPCHostProject");
    let path = "metadata.annotations[\"cnrm.cloud.google.com/project-id\"]";
    hosts.iter().any(|(_, host)| fields::text(host, path) == project.name())
}

/// The name for people.
pub(super) fn display_name(resource: &Resource) -> String {
    let mut names = ["spec.displayName", "spec.name"].into_iter();
    let name = names
        .find(|path| resource.get(path).ok().flatten().and_then(crate::changes::text_of).is_some());
    fields::string(resource, name.unwrap_or("metadata.name"))
}
