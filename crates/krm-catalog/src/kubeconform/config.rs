//! The functionConfig of kubeconform and kubeval.

use krm_core::schema::{Schema, kubernetes_version, kubernetes_versions};
use krm_sdk::{Diagnostic, Error, Resource};
use serde::Deserialize;

use super::locations::Location;
use super::output_format::OutputFormat;
use crate::kinds::CatalogKind;
use crate::schema_files::{NamedBy, SchemaFiles};

/// Compat: the keys of the kpt function, and two of kubeconform's own flags: `reject_kinds` and `kubernetes_version`.
#[derive(Deserialize, Debug, Default)]
#[serde(default)]
pub(super) struct Config {
    schema_location: String,
    additional_schema_locations: String,
    ignore_missing_schemas: Option<bool>,
    kubernetes_version: String,
    skip_kinds: String,
    reject_kinds: String,
    pub(super) strict: bool,
}

/// Where schemas come from.
pub(super) struct Settings {
    pub(super) locations: Vec<Location>,
    pub(super) table: Schema,
    /// The version in the names of files.
    pub(super) version: String,
}

impl Config {
    /// What the functionConfig and the user chose together.
    pub(super) fn settings(
        &self,
        config: Option<&Resource>,
        files: &dyn SchemaFiles,
    ) -> Result<Settings, Error> {
        let at = |name: &str, error: Diagnostic| in_config(config, name, error);
        let mut locations = Vec::new();
        for text in files.locations() {
            locations.push(Location::parse(text, NamedBy::User)?);
        }
        let named = [
            ("schema_location", &self.schema_location),
            ("additional_schema_locations", &self.additional_schema_locations),
        ];
        for (name, list) in named.into_iter().filter(|(_, list)| !list.trim().is_empty()) {
            for text in list.split(',').filter(|it| !it.trim().is_empty()) {
                let location = Location::parse(text, NamedBy::Config);
                locations.push(location.map_err(|error| at(name, error))?);
            }
        }
        // Compat: locations of the functionConfig replace the default, those of the user are added to it.
        let is_replaced = named.iter().any(|(_, list)| !list.trim().is_empty());
        if !is_replaced {
            locations.push(Location::BuiltIn);
        }
        let name = "kubernetes_version";
        let chosen = Some(self.kubernetes_version.trim()).filter(|it| !it.is_empty());
        let version = chosen.or(files.kubernetes_version()).unwrap_or("master");
        let table = match version {
            "master" => Some(Schema::kubernetes()),
            version => Schema::kubernetes_at(version),
        };
        let needs_table = locations.contains(&Location::BuiltIn);
        let table = match table {
            Some(table) => table,
            None if !needs_table => Schema::kubernetes(),
            None => return Err(at(name, unknown_version(version)).into()),
        };
        Ok(Settings { locations, table, version: version.to_owned() })
    }

    /// A kind may be given with its `apiVersion`: `Pod`, `v1/Pod`.
    pub(super) fn skips(&self, resource: &Resource) -> bool {
        is_listed(&self.skip_kinds, resource)
    }

    /// Whether resources of this kind are not allowed.
    pub(super) fn rejects(&self, resource: &Resource) -> bool {
        is_listed(&self.reject_kinds, resource)
    }

    /// Compat: kubeconform ignores unknown kinds by default, kubeval reports them by default. Local
    /// configuration never reaches a cluster and needs no schema.
    pub(super) fn reports_missing(&self, resource: &Resource, format: OutputFormat) -> bool {
        let is_requested = match format {
            OutputFormat::Kubeconform => self.ignore_missing_schemas == Some(false),
            OutputFormat::Kubeval => self.ignore_missing_schemas != Some(true),
        };
        let is_package_file = matches!(&*resource.kind(), "Kptfile" | "Krmfile");
        is_requested && !is_package_file && !resource.view().is_local()
    }
}

fn is_listed(kinds: &str, resource: &Resource) -> bool {
    let full = format!("{}/{}", resource.api_version(), resource.kind());
    let mut names = kinds.split(',').map(str::trim);
    names.any(|name| name == resource.kind() || name == full)
}

fn unknown_version(version: &str) -> Diagnostic {
    let version = version.to_owned();
    let minor = |it: &str| it.trim_start_matches('v').rsplit_once('.').map(|it| it.0.to_owned());
    let known: Vec<String> = kubernetes_versions().filter_map(minor).collect();
    let newest = kubernetes_version();
    Diagnostic::error(CatalogKind::UnknownKubernetesVersion { version }).hint(format!(
        "use {} or `master`, which is {newest}; for other versions, set `schema_location`",
        known.join(", ")
    ))
}

/// Adds the location of a key of the functionConfig.
fn in_config(config: Option<&Resource>, name: &str, mut error: Diagnostic) -> Diagnostic {
    let Some(config) = config else { return error };
    let node = config.get_in([name]).or_else(|| config.get_in(["data", name]));
    if let Some(node) = node {
        error = error.at(config.item().file(), node.span());
        error.file = config.path().map(|path| path.as_str().into());
    }
    error
}
