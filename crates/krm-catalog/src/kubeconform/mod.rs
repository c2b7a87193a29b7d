//! `kubeconform` and `kubeval`: validate resources against the schemas of Kubernetes and of CustomResourceDefinitions.

mod check;
mod limits;
mod output_format;
mod rules;

use std::borrow::Cow;
use std::collections::BTreeMap;

use krm_core::schema::{Schema, kubernetes_version};
use krm_sdk::{Diagnostic, Error, FunctionResult, Resource, ResourceList, Severity};
use krm_yaml::NodeRef;
use serde::Deserialize;

use crate::kinds::CatalogKind;
use crate::lookup::{child, items, text};
use crate::validation_input::ValidationInput;
use crate::{Builtin, Run, releases};
use output_format::OutputFormat;
use rules::Rules;

/// The description of the function.
pub const BUILTIN: Builtin = Builtin {
    name: "kubeconform",
    aliases: &[],
    summary: "validate every resource against the schema of its kind",
    doc: include_str!("../../doc/kubeconform.md"),
    releases: releases::KUBECONFORM,
    run: Run::Native(run),
};

/// The description of the older function.
pub const KUBEVAL: Builtin = Builtin {
    name: "kubeval",
    aliases: &[],
    summary: "validate every resource against the schema of its kind, with the messages of kubeval",
    doc: include_str!("../../doc/kubeval.md"),
    releases: releases::KUBEVAL,
    run: Run::Native(kubeval),
};

/// Validates all resources, and reports violations as results.
pub fn run(list: &mut ResourceList) -> Result<(), Error> {
    check_all(list, OutputFormat::Kubeconform)
}

/// Validates all resources, with the messages of kubeval.
pub fn kubeval(list: &mut ResourceList) -> Result<(), Error> {
    check_all(list, OutputFormat::Kubeval)
}

/// Compat: the keys of the kpt function.
#[derive(Deserialize, Debug, Default)]
#[serde(default)]
struct Config {
    schema_location: String,
    additional_schema_locations: String,
    ignore_missing_schemas: Option<bool>,
    skip_kinds: String,
    strict: bool,
}

fn check_all(list: &mut ResourceList, output_format: OutputFormat) -> Result<(), Error> {
    let config: Config = list.config_or_default()?;
    config.reject_locations(list.function_config.as_ref())?;
    // An unreadable definition leaves its resources without rules, so it is an error even if its kind is skipped.
    let (resources, mut results) = ValidationInput::all(&list.items);
    let definitions = Definitions::of(resources.iter().map(|it| &*it.read));
    for input in resources.iter().filter(|it| !config.skips(&it.read)) {
        match definitions.rules(&input.read) {
            Some(rules) => {
                results.extend(violations(input, rules, config.strict, output_format));
            }
            None if config.reports_missing(&input.read, output_format) => {
                results.push(missing(input.written));
            }
            None => {}
        }
    }
    list.results.append(&mut results);
    Ok(())
}

impl Config {
    /// Schemas from files or URLs would need the disk or the network.
    fn reject_locations(&self, config: Option<&Resource>) -> Result<(), Error> {
        let locations = [
            ("schema_location", &self.schema_location),
            ("additional_schema_locations", &self.additional_schema_locations),
        ];
        let known = |text: &str| matches!(text.trim(), "" | "default");
        let Some((name, _)) = locations.into_iter().find(|(_, text)| !text.split(',').all(known))
        else {
            return Ok(());
        };
        let mut error = Diagnostic::error(CatalogKind::SchemaLocation { option: name.to_owned() })
            .hint(format!(
                "add CustomResourceDefinitions to the package; the kinds of Kubernetes {} are built in",
                kubernetes_version()
            ))
            .hint("or use `--no-builtin` to run the image");
        if let Some(config) = config {
            let node = config.get(name).or_else(|| config.get(&format!("data.{name}")));
            if let Some(node) = node {
                error = error.at(config.item().file(), node.span());
            }
            error.file = config.path().map(|path| path.as_str().into());
        }
        Err(error.into())
    }

    /// A kind may be given with its `apiVersion`: `Pod`, `v1/Pod`.
    fn skips(&self, resource: &Resource) -> bool {
        let full = format!("{}/{}", resource.api_version(), resource.kind());
        let mut names = self.skip_kinds.split(',').map(str::trim);
        names.any(|name| name == resource.kind() || name == full)
    }

    /// Compat: kubeconform ignores unknown kinds by default, kubeval reports them by default. Local
    /// configuration never reaches a cluster and needs no schema.
    fn reports_missing(&self, resource: &Resource, output_format: OutputFormat) -> bool {
        let is_requested = match output_format {
            OutputFormat::Kubeconform => self.ignore_missing_schemas == Some(false),
            OutputFormat::Kubeval => self.ignore_missing_schemas != Some(true),
        };
        let is_package_file = matches!(&*resource.kind(), "Kptfile" | "Krmfile");
        is_requested && !is_package_file && !resource.view().is_local()
    }
}

fn missing(resource: &Resource) -> FunctionResult {
    let message = format!(
        "no schema for {} {}; add its CustomResourceDefinition, or set `ignore_missing_schemas` or `skip_kinds`",
        resource.api_version(),
        resource.kind()
    );
    resource.result(Severity::Error, message).into()
}

/// The violations of one resource, and where readers disagree about its types.
fn violations(
    input: &ValidationInput<'_>,
    rules: Rules<'_>,
    is_strict: bool,
    output_format: OutputFormat,
) -> Vec<FunctionResult> {
    let found = check::check(input.read.root(), rules, is_strict);
    let mut results = output_format.results(input.written, found);
    if !input.differences.is_empty() {
        // The resource as YAML 1.2 reads it: a type that only Kubernetes accepts depends on the reader.
        let written = check::check(input.written.root(), rules, is_strict);
        results.extend(input.differences.iter().map(|difference| {
            let node = difference.scalar.node();
            input.finding(*difference, written.iter().any(|it| it.is_about_type_of(node)))
        }));
    }
    results
}

/// The schemas: those of Kubernetes, and those of the CustomResourceDefinitions among the resources.
struct Definitions<'a> {
    table: Schema,
    custom: BTreeMap<(String, String), NodeRef<'a>>,
}

impl<'a> Definitions<'a> {
    fn of(resources: impl Iterator<Item = &'a Resource>) -> Self {
        let mut custom = BTreeMap::new();
        let is_definition = |it: &&Resource| {
            it.kind() == "CustomResourceDefinition" && it.view().group() == "apiextensions.k8s.io"
        };
        for resource in resources.filter(is_definition) {
            custom.extend(kinds(resource.root()).unwrap_or_default());
        }
        Self { table: Schema::kubernetes(), custom }
    }

    fn rules(&self, resource: &Resource) -> Option<Rules<'_>> {
        let (api_version, kind) = (resource.api_version(), resource.kind());
        let custom =
            self.custom.get(&(api_version.clone().into_owned(), kind.clone().into_owned()));
        if let Some(schema) = custom {
            let (schema, table) = (*schema, &self.table);
            return Some(Rules::Custom { schema, table, is_resource: true });
        }
        self.table.resource_type(&api_version, &kind).map(Rules::Kubernetes)
    }
}

/// The kinds of a CustomResourceDefinition with their schemas.
fn kinds(definition: NodeRef<'_>) -> Option<Vec<((String, String), NodeRef<'_>)>> {
    let spec = child(definition, "spec")?;
    let group = text(spec, "group")?;
    let kind = text(child(spec, "names")?, "kind")?;
    let schema_in = |node, name| child(child(node, name)?, "openAPIV3Schema");
    // Spec: v1beta1 may have one schema for all versions, and a single version in `spec.version`.
    let common = schema_in(spec, "validation");
    let mut versions: Vec<(Cow<'_, str>, Option<NodeRef<'_>>)> = Vec::new();
    for version in items(spec, "versions") {
        versions.push((text(version, "name")?, schema_in(version, "schema").or(common)));
    }
    if versions.is_empty() {
        versions.push((text(spec, "version")?, common));
    }
    let with_name = |(version, schema): (Cow<'_, str>, Option<_>)| {
        Some(((format!("{group}/{version}"), kind.clone().into_owned()), schema?))
    };
    Some(versions.into_iter().filter_map(with_name).collect())
}
