//! Policies and audit configurations.

use std::collections::BTreeMap;

use krm_sdk::Diagnostic;

use super::fields::{self, escaped, strings_of};
use super::graph::{Graph, Id};
use crate::changes::text_of;
use crate::lookup;

pub(super) fn file(graph: &Graph<'_>) -> Result<String, Diagnostic> {
    let mut text = String::new();
    for id in graph.of_kind("Organization") {
        let organization = format!("organizations = [\"{}\"]", escaped(&graph.node(id).name));
        text.push_str(&module(graph, id, "organizations_iam", &organization));
    }
    for id in graph.of_kind("Folder") {
        let folder = format!("folders = [{}]", graph.resource_id(id));
        text.push_str(&module(graph, id, "folders_iam", &folder));
    }
    for (id, config) in graph.created("IAMAuditConfig") {
        let organization = graph.plain_id(graph.parent(id)?);
        let service = fields::string(config, "spec.service");
        text.push_str(&format!(
            "\nresource \"google_organization_iam_audit_config\" \"org_config\" {{\n  org_id  = {organization}\n  service = \"{service}\"\n"
        ));
        let spec = lookup::child(config.root(), "spec");
        for log in spec.into_iter().flat_map(|spec| lookup::items(spec, "auditLogConfigs")) {
            let log_type = escaped(&lookup::text(log, "logType").unwrap_or_default());
            text.push_str(&format!("\n  audit_log_config {{\n      log_type = \"{log_type}\""));
            let exempted =
                lookup::child(log, "exemptedMembers").map(strings_of).unwrap_or_default();
            if !exempted.is_empty() {
                let members: Vec<String> =
                    exempted.iter().map(|it| format!("\n      \"{it}\"")).collect();
                // Compat: the original leaves the commas out, which is invalid with several members.
                text.push_str(&format!(
                    "\n      exempted_members = [{}\n      ]",
                    members.join(",")
                ));
            }
            text.push_str("\n  }");
        }
        text.push_str("\n}\n");
    }
    Ok(text)
}

/// The module with the bindings of a folder or organization; empty if it has none.
fn module(graph: &Graph<'_>, id: Id, source: &str, target: &str) -> String {
    let bindings = bindings(graph, id);
    if bindings.is_empty() {
        return String::new();
    }
    let binding = |(role, members): (&String, &Vec<String>)| {
        let members: String = members.iter().map(|it| format!("\n      \"{it}\",")).collect();
        format!("\n    \"{role}\" = [{members}\n    ]\n    ")
    };
    let (name, bindings) = (graph.name(id), bindings.iter().map(binding).collect::<String>());
    format!(
        "\nmodule \"{name}-iam\" {{\n  source  = \"terraform-google-modules/iam/google//modules/{source}\"\n  version = \"~> 7.4\"\n\n  {target}\n\n  bindings = {{\n    {bindings}\n  }}\n}}\n\n"
    )
}

/// The members of each role.
fn bindings(graph: &Graph<'_>, id: Id) -> BTreeMap<String, Vec<String>> {
    let mut bindings: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (_, child) in graph.children(id) {
        match &*child.kind() {
            "IAMPolicyMember" => {
                let role = fields::string(child, "spec.role");
                bindings.entry(role).or_default().push(fields::string(child, "spec.member"));
            }
            "IAMPartialPolicy" | "IAMPolicy" => {
                let spec = lookup::child(child.root(), "spec");
                for binding in spec.into_iter().flat_map(|spec| lookup::items(spec, "bindings")) {
                    let role = escaped(&lookup::text(binding, "role").unwrap_or_default());
                    let members = lookup::items(binding, "members");
                    let members = members.filter_map(|it| lookup::child_value(it, "member"));
                    for member in members.filter_map(text_of) {
                        bindings.entry(role.clone()).or_default().push(escaped(&member));
                    }
                }
            }
            _ => {}
        }
    }
    bindings
}
