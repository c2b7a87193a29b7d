//! The functionConfig: replacements as in kustomize.

use krm_sdk::{Any, Error, ResourceList};
use serde::Deserialize;

use crate::config::{API_VERSION, function_config, invalid_field, is_custom, missing};

const KIND: &str = "ApplyReplacements";

#[derive(Clone, Debug, Deserialize)]
pub(super) struct Config {
    #[serde(default)]
    pub(super) replacements: Vec<Replacement>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Replacement {
    #[serde(default)]
    pub(super) source: Option<Source>,
    #[serde(default)]
    pub(super) source_value: Option<Any>,
    #[serde(default)]
    pub(super) targets: Vec<Target>,
}

/// The resource and field of the value.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Source {
    pub(super) group: String,
    pub(super) version: String,
    pub(super) kind: String,
    pub(super) name: String,
    pub(super) namespace: String,
    pub(super) field_path: String,
    pub(super) options: FieldOptions,
}

/// The resources and fields that are set.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Target {
    #[serde(default)]
    pub(super) select: Option<Selector>,
    #[serde(default)]
    pub(super) reject: Vec<Selector>,
    #[serde(default)]
    pub(super) field_paths: Vec<String>,
    #[serde(default)]
    pub(super) options: FieldOptions,
}

/// Selects resources: every given regular expression must match completely.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Selector {
    pub(super) group: String,
    pub(super) version: String,
    pub(super) kind: String,
    pub(super) name: String,
    pub(super) namespace: String,
    pub(super) annotation_selector: String,
    pub(super) label_selector: String,
}

/// Which part of a value, and whether a missing field is created.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct FieldOptions {
    pub(super) delimiter: String,
    pub(super) index: i64,
    pub(super) create: bool,
}

impl Source {
    /// The field; default `metadata.name`.
    pub(super) fn path(&self) -> &str {
        if self.field_path.is_empty() { "metadata.name" } else { &self.field_path }
    }

    /// Compat: the format of kustomize in messages: `Pod.[noVer].[noGrp]/web.[noNs]`.
    pub(super) fn id(&self) -> String {
        let or = |text: &str, none: &str| {
            if text.is_empty() { none.to_owned() } else { text.to_owned() }
        };
        format!(
            "{}.{}.{}/{}.{}",
            or(&self.kind, "[noKind]"),
            or(&self.version, "[noVer]"),
            or(&self.group, "[noGrp]"),
            or(&self.name, "[noName]"),
            or(&self.namespace, "[noNs]")
        )
    }

    /// The same with the field.
    pub(super) fn id_with_field(&self) -> String {
        let field = if self.field_path.is_empty() {
            String::new()
        } else {
            format!(":{}", self.field_path)
        };
        format!("{}{field}", self.id())
    }
}

/// Reads the functionConfig, which has a single kind.
pub(super) fn read(list: &ResourceList) -> Result<Config, Error> {
    let Some(config) = function_config(list) else {
        let message = "FunctionConfig is missing. Expect `ApplyReplacements`";
        return Err(missing::<Config>(list, "apply-replacements", message));
    };
    if is_custom(config, KIND) {
        return list.config();
    }
    let (kind, api_version) = (config.kind(), config.api_version());
    let message = format!(
        "received functionConfig of kind {kind} and apiVersion {api_version}, only functionConfig of kind {KIND} and apiVersion {API_VERSION} is supported"
    );
    let (field, hint) = match kind == KIND {
        true => ("apiVersion", format!("use `apiVersion: {API_VERSION}`")),
        false => ("kind", format!("use `kind: {KIND}` of `apiVersion: {API_VERSION}`")),
    };
    Err(invalid_field(config, field, message).hint(hint).into())
}
