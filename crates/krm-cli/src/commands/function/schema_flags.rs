//! Flags for the schemas of built-in validators.

use std::path::PathBuf;

use krm_run::SchemaSettings;

use crate::{Failure, disk};

/// What kubeconform and kubeval validate against.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Schemas of validators")]
pub(super) struct SchemaFlags {
    /// Kubernetes version that built-in validators check against, such as 1.36 [default: the newest]
    #[arg(long, value_name = "VERSION")]
    kubernetes_version: Option<String>,

    /// Directory or path template of JSON Schemas, which built-in validators search before their own
    #[arg(long, value_name = "DIR")]
    schema_location: Vec<String>,

    /// File with CustomResourceDefinitions for built-in validators
    #[arg(long, value_name = "FILE")]
    schema: Vec<String>,
}

impl SchemaFlags {
    /// The files and directories that are read.
    pub(super) fn files(&self) -> impl Iterator<Item = PathBuf> {
        let locations =
            self.schema_location.iter().map(|location| match location.split_once("{{") {
                // Of a path template, the directory before its first variable.
                Some((before, _)) => before.rfind('/').map_or(".", |at| &before[..=at]),
                None => location,
            });
        let locations = locations.map(PathBuf::from);
        self.schema.iter().map(PathBuf::from).chain(locations)
    }

    /// Whether validators search directories of the user.
    pub(super) fn has_locations(&self) -> bool {
        !self.schema_location.is_empty()
    }

    /// The settings for all validators.
    pub(super) fn settings(&self) -> Result<SchemaSettings, Failure> {
        let mut definitions = Vec::new();
        for name in &self.schema {
            let file = disk::parse(name, Default::default()).map_err(Failure::input)?;
            definitions.push((disk::display_name(name).to_owned(), file.into_text()));
        }
        Ok(SchemaSettings {
            kubernetes_version: self.kubernetes_version.clone(),
            locations: self.schema_location.clone(),
            definitions,
        })
    }
}
