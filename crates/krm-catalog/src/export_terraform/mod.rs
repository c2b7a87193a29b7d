//! `export-terraform`: writes Terraform for resources of Config Connector into a ConfigMap.

mod fields;
mod graph;
mod iam;
mod log_export;
mod network;
mod projects;

use krm_core::PackagePath;
use krm_sdk::{Diagnostic, Error, ResourceList};

use crate::generated::{metadata, put, resource, strings};
use crate::{Builtin, Run, Version, releases};
use graph::Graph;

/// The description of the function.
pub const BUILTIN: Builtin = Builtin {
    name: "export-terraform",
    aliases: &[],
    summary: "write Terraform for resources of Config Connector into a ConfigMap",
    doc: include_str!("../../doc/export-terraform.md"),
    releases: releases::EXPORT_TERRAFORM,
    run: Run::Versioned(run),
};

/// The group that the API versions of Config Connector contain.
const GROUP: &str = "cnrm.cloud.google.com";
const IGNORED: &str = "cnrm.cloud.google.com/ignore-clusterless";

/// The kinds that each release exports, beside those of the releases before it; see [`releases::EXPORT_TERRAFORM`].
const KINDS: [(Version, &[&str]); 3] = [
    (
        Version::new(0, 1, 0),
        &["Folder", "Organization", "IAMPolicyMember", "IAMPartialPolicy", "IAMPolicy", "Project"],
    ),
    (
        LOGS_SINCE,
        &[
            "LoggingLogSink",
            "BigQueryDataset",
            "PubSubTopic",
            "StorageBucket",
            "IAMAuditConfig",
            "ComputeNetwork",
            "ComputeSubnetwork",
            "ComputeRouter",
            "ComputeRouterNAT",
            "ComputeAddress",
            "ServiceNetworkingConnection",
            "ComputeFirewall",
            "LoggingLogBucket",
        ],
    ),
    (ROUTES_SINCE, &["ComputeRoute", "ComputeSharedVPCHostProject"]),
];
/// The first release with logs and networks.
const LOGS_SINCE: Version = Version::new(0, 2, 0);
/// The first release with routes and host projects.
const ROUTES_SINCE: Version = Version::new(0, 3, 0);

/// Exports all resources.
pub fn run(list: &mut ResourceList, version: Version) -> Result<(), Error> {
    let mut graph = Graph::default();
    let is_exported = |kind: &str| {
        let mut releases = KINDS.iter().filter(|(since, _)| version >= *since);
        releases.any(|(_, kinds)| kinds.contains(&kind))
    };
    for item in &list.items {
        let is_ignored = item.annotation(IGNORED).is_some_and(|it| it == "true");
        if item.api_version().contains(GROUP) && !is_ignored && is_exported(&item.kind()) {
            graph.add(item);
        }
    }
    graph.make_variables();
    let files = files(&graph, version)?;
    let annotations = [
        ("config.kubernetes.io/local-config", "true"),
        ("blueprints.cloud.google.com/syntax", "hcl"),
        ("blueprints.cloud.google.com/flavor", "terraform"),
    ];
    let annotations = annotations.map(|(name, value)| (name.to_owned(), value.to_owned()));
    let mut entries = vec![("metadata", metadata("terraform", "", annotations.to_vec()))];
    if !files.is_empty() {
        entries.push(("data", strings(files)));
    }
    let mut config_map = resource("v1", "ConfigMap", entries)?;
    let path = PackagePath::new("terraform.yaml").map_err(|error| Error::new(error.to_string()))?;
    config_map.move_to(path);
    put(&mut list.items, vec![config_map])
}

/// The names and texts of the files, sorted by name.
fn files(graph: &Graph<'_>, version: Version) -> Result<Vec<(String, String)>, Diagnostic> {
    let mut files = vec![
        ("folders.tf", folders(graph)?),
        ("iam.tf", iam::file(graph)?),
        ("projects.tf", projects::file(graph)?),
        ("log-export.tf", log_export::file(graph)?),
        ("network.tf", network::file(graph, version >= ROUTES_SINCE)?),
    ];
    files.retain(|(_, text)| !text.trim().is_empty());
    if !files.is_empty() {
        let others = [
            ("README.md", README.to_owned()),
            ("versions.tf", VERSIONS.to_owned()),
            ("variables.tf", variables(graph)),
        ];
        files.extend(others);
    }
    files.retain(|(_, text)| !text.trim().is_empty());
    files.sort();
    Ok(files
        .into_iter()
        .map(|(name, text)| (name.to_owned(), format!("{}\n", text.trim())))
        .collect())
}

fn folders(graph: &Graph<'_>) -> Result<String, Diagnostic> {
    let mut text = String::new();
    for (id, folder) in graph.created("Folder") {
        let (name, parent) = (graph.name(id), graph.resource_id(graph.parent(id)?));
        let display_name = projects::display_name(folder);
        text.push_str(&format!(
            "\nresource \"google_folder\" \"{name}\" {{\n  display_name = \"{display_name}\"\n  parent       = {parent}\n}}\n"
        ));
    }
    Ok(text)
}

fn variables(graph: &Graph<'_>) -> String {
    let variable = |(name, default): (&&str, &String)| {
        let description = match *name {
            "org_id" => "The organization id for the associated resources",
            _ => "The ID of the billing account to associate projects with",
        };
        let default = fields::escaped(default);
        format!(
            "\nvariable \"{name}\" {{\n  description = \"{description}\"\n  type        = string\n  default     = \"{default}\"\n}}\n"
        )
    };
    graph.variables.iter().map(variable).collect()
}

const VERSIONS: &str = r#"terraform {
  required_version = ">=0.13"

  required_providers {
    google = {
      source  = "hashicorp/google"
      version = ">= 4.0.0"
    }
  }
  provider_meta "google" {
    module_name = "blueprints/terraform/exported-krm/v0.1.0"
  }
}"#;

const README: &str = "# Terraform\n
These files were exported from resources of Config Connector. Terraform 0.13 or newer and the permission to create folders, projects and
IAM policies in the organization are required.\n
```sh
terraform init
terraform plan
terraform apply
```";
