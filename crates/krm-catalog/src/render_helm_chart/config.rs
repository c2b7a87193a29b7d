//! The functionConfig of `render-helm-chart`: one chart in a ConfigMap, or any number in a RenderHelmChart.

use krm_core::print::json;
use krm_sdk::{Any, Error, Resource, ResourceList};
use serde::Deserialize;

use super::BUILTIN;
use crate::config::{function_config, invalid_field, missing, unknown_kind};

/// Compat: the directory of charts in the container of the original, where a directory can be mounted.
const DEFAULT_CHART_HOME: &str = "tmp/charts";

/// A chart to render.
pub(super) struct Chart {
    /// The path of the chart in the functionConfig, for messages.
    pub(super) field: String,
    /// The directory of the chart.
    pub(super) directory: String,
    pub(super) source: ChartArgs,
    pub(super) options: TemplateOptions,
    /// The inline values as JSON; none if there are none.
    pub(super) inline: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct RenderHelmChart {
    helm_globals: HelmGlobals,
    helm_charts: Vec<HelmChart>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct HelmGlobals {
    chart_home: String,
    config_home: String,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct HelmChart {
    chart_args: ChartArgs,
    template_options: TemplateOptions,
    /// Compat: in v0.1 the fields are in the chart itself.
    #[serde(rename = "includeCRDs")]
    include_crds: bool,
    name: String,
    namespace: String,
    release_name: String,
    repo: String,
    values_file: String,
    values_inline: Option<Any>,
    values_merge: Option<ValuesMerge>,
    version: String,
}

impl HelmChart {
    /// Whether the fields are in the chart itself.
    fn is_flat(&self) -> bool {
        self.chart_args.name.is_empty() && !self.name.is_empty()
    }

    /// The chart with its fields where v0.2 has them.
    fn nested(self) -> Self {
        if !self.is_flat() {
            return self;
        }
        let files = Some(self.values_file).filter(|it| !it.is_empty());
        let values = Values {
            values_files: files.into_iter().collect(),
            values_inline: self.values_inline,
            values_merge: self.values_merge.unwrap_or_default(),
        };
        Self {
            chart_args: ChartArgs {
                name: self.name,
                version: self.version,
                repo: self.repo,
                ..self.chart_args
            },
            template_options: TemplateOptions {
                release_name: self.release_name,
                namespace: self.namespace,
                include_crds: self.include_crds,
                values,
                ..self.template_options
            },
            ..Self::default()
        }
    }
}

/// Which chart, and where it comes from.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct ChartArgs {
    pub(super) name: String,
    pub(super) version: String,
    pub(super) repo: String,
    registry: String,
    auth: Option<Auth>,
}

/// The Secret with the credentials of a repository.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Auth {
    api_version: String,
    kind: String,
    name: String,
    namespace: String,
}

/// The options of `helm template`.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct TemplateOptions {
    pub(super) api_versions: Vec<String>,
    pub(super) release_name: String,
    pub(super) namespace: String,
    pub(super) description: String,
    pub(super) name_template: String,
    #[serde(rename = "includeCRDs")]
    pub(super) include_crds: bool,
    pub(super) skip_tests: bool,
    pub(super) values: Values,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Values {
    pub(super) values_files: Vec<String>,
    values_inline: Option<Any>,
    pub(super) values_merge: ValuesMerge,
}

/// How inline values and files with values go together.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub(super) enum ValuesMerge {
    /// Inline values win.
    #[default]
    Override,
    /// Files win.
    Merge,
    /// Files are not used.
    Replace,
}

/// The fields of a ConfigMap.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Data {
    chart_home: String,
    config_home: String,
    name: String,
    version: String,
    repo: String,
    release_name: String,
    namespace: String,
    name_template: String,
    #[serde(rename = "includeCRDs")]
    include_crds: bool,
    skip_tests: bool,
    values_file: String,
}

/// The charts that the functionConfig names.
pub(super) fn read(list: &ResourceList) -> Result<Vec<Chart>, Error> {
    let message = "`functionConfig` must be `ConfigMap` or `RenderHelmChart`";
    let Some(config) = function_config(list) else {
        return Err(missing::<RenderHelmChart>(list, BUILTIN.name, message));
    };
    let (read, prefix): (RenderHelmChart, &str) = match &*config.kind() {
        "ConfigMap" => (config.read_config::<Data>()?.into(), "data"),
        "RenderHelmChart" => (config.read_config()?, "helmGlobals"),
        _ => return Err(unknown_kind(config, "RenderHelmChart", message)),
    };
    if !read.helm_globals.config_home.is_empty() {
        let field = format!("{prefix}.configHome");
        let error = invalid_field(config, &field, "`configHome` is not supported");
        return Err(error.hint("remove it: helm gets an empty configuration of its own").into());
    }
    let home = match read.helm_globals.chart_home.trim_end_matches('/') {
        "" => DEFAULT_CHART_HOME,
        home => home,
    };
    let charts = read.helm_charts.into_iter().enumerate();
    charts.map(|(index, chart)| located(config, index, chart, home)).collect()
}

fn located(config: &Resource, index: usize, chart: HelmChart, home: &str) -> Result<Chart, Error> {
    let is_config_map = config.kind() == "ConfigMap";
    let (field, values) = match (is_config_map, chart.is_flat()) {
        (true, _) => ("data".to_owned(), String::new()),
        (false, true) => (format!("helmCharts[{index}]"), format!("helmCharts[{index}]")),
        (false, false) => (
            format!("helmCharts[{index}].chartArgs"),
            format!("helmCharts[{index}].templateOptions.values"),
        ),
    };
    let HelmChart { chart_args: source, template_options: options, .. } = chart.nested();
    if source.name.is_empty() || source.name.contains('/') || source.name == ".." {
        let at = if source.name.is_empty() { field } else { format!("{field}.name") };
        let error = invalid_field(config, &at, "expected the name of a chart in `name`");
        return Err(error.hint("`chartHome` is the directory of the chart").into());
    }
    let inline = format!("{values}.valuesInline");
    let inline = match config.get(&inline)?.filter(|_| options.values.values_inline.is_some()) {
        Some(node) if node.resolve().as_mapping().is_none() => {
            return Err(invalid_field(config, &inline, "expected a mapping").into());
        }
        Some(node) => Some(json::of_node(node)?),
        None => None,
    };
    Ok(Chart { field, directory: format!("{home}/{}", source.name), source, options, inline })
}

impl From<Data> for RenderHelmChart {
    fn from(data: Data) -> Self {
        let files = Some(data.values_file).filter(|it| !it.is_empty());
        let values = Values { values_files: files.into_iter().collect(), ..Values::default() };
        let template_options = TemplateOptions {
            release_name: data.release_name,
            namespace: data.namespace,
            name_template: data.name_template,
            include_crds: data.include_crds,
            skip_tests: data.skip_tests,
            values,
            ..TemplateOptions::default()
        };
        let chart_args = ChartArgs {
            name: data.name,
            version: data.version,
            repo: data.repo,
            ..ChartArgs::default()
        };
        Self {
            helm_globals: HelmGlobals {
                chart_home: data.chart_home,
                config_home: data.config_home,
            },
            helm_charts: vec![HelmChart { chart_args, template_options, ..HelmChart::default() }],
        }
    }
}
