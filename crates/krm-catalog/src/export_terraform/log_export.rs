//! Log sinks and their destinations.

use krm_sdk::{Diagnostic, Resource};

use super::fields;
use super::graph::{Graph, Id};

/// The kinds of destinations, in the order in which the original searches and writes them.
const DESTINATIONS: [&str; 4] =
    ["BigQueryDataset", "PubSubTopic", "StorageBucket", "LoggingLogBucket"];

pub(super) fn file(graph: &Graph<'_>) -> Result<String, Diagnostic> {
    let mut text = String::new();
    for (id, sink) in graph.created("LoggingLogSink") {
        let name = graph.name(id);
        let destinations =
            DESTINATIONS.iter().filter_map(|kind| Some((*kind, graph.reference(id, kind)?)));
        let destinations: Vec<(&str, Id)> = destinations.collect();
        let first = destinations.first().map(|(_, id)| graph.name(*id)).unwrap_or_default();
        let organization = graph.plain_id(graph.organization(id)?);
        let display_name = super::projects::display_name(sink);
        text.push_str(&format!(
            "\nmodule \"logsink-{name}\" {{\n  source  = \"terraform-google-modules/log-export/google\"\n  version = \"~> 7.3.0\"\n\n  destination_uri      = module.{first}-destination.destination_uri\n  log_sink_name        = \"{display_name}\"\n  parent_resource_id   = {organization}\n  parent_resource_type = \"organization\"\n  include_children     = true\n}}\n"
        ));
        for (kind, destination) in destinations {
            text.push_str(&module(graph, kind, destination, &name)?);
        }
    }
    Ok(text)
}

fn module(graph: &Graph<'_>, kind: &str, id: Id, sink: &str) -> Result<String, Diagnostic> {
    let (name, project) = (graph.name(id), graph.name(graph.parent(id)?));
    let Some(item) = graph.node(id).item else { return Ok(String::new()) };
    let identity = format!("module.logsink-{sink}.writer_identity");
    let (source, version) = match kind {
        "BigQueryDataset" => ("bigquery", "~> 7.3.0"),
        "PubSubTopic" => ("pubsub", "~> 7.3.0"),
        "StorageBucket" => ("storage", "~> 7.3.0"),
        _ => ("logbucket", "~> 7.4.1"),
    };
    let fields = match kind {
        "BigQueryDataset" => dataset(item, &name, &project, &identity),
        "PubSubTopic" => format!(
            "  project_id               = module.{project}.project_id\n  topic_name               = \"{name}\"\n  log_sink_writer_identity = {identity}"
        ),
        "StorageBucket" => storage(item, &name, &project, &identity),
        _ => log_bucket(item, &name, &project, &identity),
    };
    Ok(format!(
        "\nmodule \"{name}-destination\" {{\n  source  = \"terraform-google-modules/log-export/google//modules/{source}\"\n  version = \"{version}\"\n\n{fields}\n}}\n"
    ))
}

/// A field whose value is a string; empty without one.
fn optional(name: &str, width: usize, item: &Resource, path: &str) -> String {
    match fields::string(item, path) {
        value if value.is_empty() => String::new(),
        value => format!("\n  {name:width$} = \"{value}\""),
    }
}

fn dataset(item: &Resource, name: &str, project: &str, identity: &str) -> String {
    let expiration = fields::integer(item, "spec.defaultTableExpirationMs");
    let expiration =
        expiration.map(|it| format!("\n  expiration_days          = \"{}\"", fields::days(it)));
    format!(
        "  project_id               = module.{project}.project_id\n  dataset_name             = \"{name}\"\n  log_sink_writer_identity = {identity}{}{}",
        expiration.unwrap_or_default(),
        optional("location", 24, item, "spec.location"),
    )
}

fn storage(item: &Resource, name: &str, project: &str, identity: &str) -> String {
    let uniform = fields::boolean(item, "spec.uniformBucketLevelAccess");
    let retention = fields::integer(item, "spec.retentionPolicy.retentionPeriod").map(|seconds| {
        let days = fields::days(seconds.saturating_mul(1000));
        let is_locked = fields::boolean(item, "spec.retentionPolicy.isLocked");
        format!(
            "\n  retention_policy = {{\n    retention_period_days = {days},\n    is_locked             = {is_locked}\n  }}"
        )
    });
    format!(
        "  project_id                  = module.{project}.project_id\n  storage_bucket_name         = \"{name}\"\n  log_sink_writer_identity    = {identity}\n  uniform_bucket_level_access = {uniform}{}{}{}",
        optional("location", 27, item, "spec.location"),
        optional("storage_class", 27, item, "spec.storageClass"),
        retention.unwrap_or_default(),
    )
}

fn log_bucket(item: &Resource, name: &str, project: &str, identity: &str) -> String {
    let retention = fields::integer(item, "spec.retentionDays");
    let retention = retention.map(|days| format!("\n  retention_days           = {days}"));
    format!(
        "  project_id               = module.{project}.project_id\n  name                     = \"{name}\"{}{}\n  log_sink_writer_identity = {identity}",
        optional("location", 24, item, "spec.location"),
        retention.unwrap_or_default(),
    )
}
