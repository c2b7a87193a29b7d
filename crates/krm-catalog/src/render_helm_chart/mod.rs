//! `render-helm-chart`: renders charts with `helm template`, and adds the resources that do not exist yet.

mod config;
mod helm;

pub use helm::{CHART, Helm, HelmCommand, NoHelm};

use std::collections::BTreeSet;

use krm_core::Identity;
use krm_core::functions::resource_list::Item;
use krm_sdk::{Diagnostic, Error, Resource, ResourceList, Severity};
use krm_yaml::{File, NodeRef, ScalarType};

use crate::config::{at_field, with_context};
use crate::kinds::CatalogKind;
use crate::{Builtin, Run, lookup, releases};
use config::{Chart, ValuesMerge};

/// The description of the function.
pub const BUILTIN: Builtin = Builtin {
    name: "render-helm-chart",
    aliases: &[],
    summary: "render Helm charts of the package with `helm`, and add their resources",
    doc: include_str!("../../doc/render-helm-chart.md"),
    releases: releases::RENDER_HELM_CHART,
    run: Run::Rendering(run),
};

/// Renders the charts of the functionConfig.
pub fn run(list: &mut ResourceList, helm: &dyn Helm) -> Result<(), Error> {
    let charts =
        config::read(list).map_err(|error| with_context(error, "failed to configure function"))?;
    for chart in charts {
        render(list, &chart, helm)?;
    }
    Ok(())
}

fn render(list: &mut ResourceList, chart: &Chart, helm: &dyn Helm) -> Result<(), Error> {
    let at = |error: Diagnostic, field: &str| match &list.function_config {
        Some(config) => at_field(config, field, error),
        None => error,
    };
    let name_field = format!("{}.name", chart.field);
    let definition = helm.read(&format!("{}/Chart.yaml", chart.directory));
    let Some(definition) = definition.map_err(|error| at(error, &name_field))? else {
        return Err(at(not_found(chart), &name_field).into());
    };
    let values = values(chart, helm).map_err(|error| at(error, &name_field))?;
    let command = command(chart, values);
    let output = helm.run(&command).map_err(|error| at(error, &name_field))?;
    let resources = resources(&output).map_err(|error| at(error, &name_field))?;
    if let Some(found) = other_version(&definition, &chart.source.version) {
        let wanted = &chart.source.version;
        let message = format!("the chart `{}` has version {found}, not {wanted}", chart.directory);
        list.add_result(Severity::Warning, message);
    }
    let mut known: BTreeSet<Identity> =
        list.items.iter().filter_map(|it| it.view().identity()).collect();
    let count = resources.len();
    // Compat: resources that exist are kept, so that the function can run again.
    let is_new = |it: &Resource| it.view().identity().is_none_or(|id| known.insert(id));
    let new: Vec<Resource> = resources.into_iter().filter(is_new).collect();
    let kept = count - new.len();
    list.items.extend(new);
    if kept > 0 {
        let message = format!(
            "{kept} of {count} resources of the chart `{}` exist already and are kept",
            chart.directory
        );
        list.add_result(Severity::Info, message);
    }
    Ok(())
}

fn not_found(chart: &Chart) -> Diagnostic {
    let (directory, source) = (&chart.directory, &chart.source);
    let error = Diagnostic::error(CatalogKind::ChartNotFound { directory: directory.clone() });
    let home = directory.rsplit_once('/').map_or(".", |(home, _)| home);
    if source.repo.is_empty() {
        let mount = "--mount type=bind,src=DIR,dst=PATH";
        return error.hint(format!("put the chart into the package, or use `{mount}`"));
    }
    let version = match source.version.as_str() {
        "" => String::new(),
        version => format!(" --version {version}"),
    };
    let (repo, name) = (&source.repo, &source.name);
    let from = match repo.starts_with("oci://") {
        true => format!("{}/{name}", repo.trim_end_matches('/')),
        false => format!("{name} --repo {repo}"),
    };
    error
        .note("krm does not download charts")
        .hint(format!("run `helm pull {from}{version} --untar --untardir {home}` in the package"))
}

/// The texts of the files with values, the last of which wins.
///
/// Compat: of several files, the original lets the first one win, and not the last one as helm does.
fn values(chart: &Chart, helm: &dyn Helm) -> Result<Vec<String>, Diagnostic> {
    let values = &chart.options.values;
    let mut texts = Vec::new();
    for path in &values.values_files {
        if path.contains("://") {
            let path = path.clone();
            return Err(Diagnostic::error(CatalogKind::RemoteValues { path })
                .hint("put the file into the package"));
        }
        let text = helm.read(path)?;
        let path = path.clone();
        texts.push(text.ok_or_else(|| Diagnostic::error(CatalogKind::ValuesNotFound { path }))?);
    }
    if values.values_merge == ValuesMerge::Merge && texts.is_empty() {
        texts.extend(helm.read(&format!("{}/values.yaml", chart.directory))?);
    }
    let inline = chart.inline.clone();
    Ok(match values.values_merge {
        ValuesMerge::Override => texts.into_iter().rev().chain(inline).collect(),
        ValuesMerge::Merge => inline.into_iter().chain(texts).collect(),
        ValuesMerge::Replace => inline.into_iter().collect(),
    })
}

fn command(chart: &Chart, values: Vec<String>) -> HelmCommand {
    let options = &chart.options;
    let mut arguments = vec!["template".to_owned()];
    // A value after `=` cannot be read as another flag, and neither can what follows `--`.
    let flags = [
        ("namespace", &options.namespace),
        ("name-template", &options.name_template),
        ("description", &options.description),
    ];
    for (name, value) in flags.into_iter().filter(|(_, value)| !value.is_empty()) {
        arguments.push(format!("--{name}={value}"));
    }
    arguments
        .extend((0..values.len()).map(|it| format!("--values={}", HelmCommand::values_file(it))));
    arguments.extend(options.api_versions.iter().map(|it| format!("--api-versions={it}")));
    let switches = [(options.include_crds, "--include-crds"), (options.skip_tests, "--skip-tests")];
    arguments.extend(switches.into_iter().filter(|it| it.0).map(|it| it.1.to_owned()));
    arguments.push("--".to_owned());
    arguments.extend(Some(options.release_name.clone()).filter(|it| !it.is_empty()));
    arguments.push(CHART.to_owned());
    HelmCommand { chart: chart.directory.clone(), values, arguments }
}

/// The resources that helm printed. A `List` stands for its items, and documents without a resource are skipped.
fn resources(output: &str) -> Result<Vec<Resource>, Diagnostic> {
    let file = File::parse(output.to_owned()).map_err(|error| Diagnostic::from(&error))?;
    if let Some(error) = file.errors().next() {
        let error = Diagnostic::from_syntax(error, &file);
        return Err(error.context("helm printed invalid YAML").in_file("helm template"));
    }
    let mut resources = Vec::new();
    for root in file.documents().filter_map(|it| it.root()) {
        let is_empty = root.resolve().as_mapping().is_some_and(|it| it.entries().next().is_none());
        let is_null = root.resolve().as_scalar().is_some_and(|it| it.resolve() == ScalarType::Null);
        if is_empty || is_null {
            continue;
        }
        let items = lookup::items(root, "items");
        match lookup::text(root, "kind").is_some_and(|kind| kind == "List") {
            true => items.map(parsed).try_for_each(|it| it.map(|it| resources.push(it)))?,
            false => resources.push(parsed(root)?),
        }
    }
    Ok(resources)
}

fn parsed(node: NodeRef<'_>) -> Result<Resource, Diagnostic> {
    if lookup::text(node, "kind").is_none_or(|it| it.is_empty()) {
        let message = "helm printed a document that is not a resource";
        let error = Diagnostic::error(CatalogKind::Failed { message: message.into() });
        return Err(error.at(node.document().file(), node.span()).in_file("helm template"));
    }
    Item::parse(Item::from_node(node)?.into_text()).map(Resource::from)
}

/// The version of a chart, if it is another one than the functionConfig names. A range is not compared.
fn other_version(definition: &str, wanted: &str) -> Option<String> {
    let wanted = wanted.trim_start_matches('v');
    if wanted.is_empty()
        || !wanted.chars().all(|it| it.is_ascii_alphanumeric() || "-+.".contains(it))
    {
        return None;
    }
    let file = File::parse(definition.to_owned()).ok()?;
    let version = lookup::text(file.document(0)?.root()?, "version")?.into_owned();
    (version.trim_start_matches('v') != wanted).then_some(version)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_compared_and_ranges_are_not() {
        let definition = "name: web\nversion: 1.2.3\n";
        assert_eq!(other_version(definition, "1.2.4").as_deref(), Some("1.2.3"));
        for same in ["", "1.2.3", "v1.2.3", ">1.3", "^2", "1.x || 2.x"] {
            assert_eq!(other_version(definition, same), None, "{same}");
        }
    }

    #[test]
    fn lists_are_unwrapped_and_empty_documents_skipped() {
        let output = "---\n# Source: a\n---\n{}\n---\napiVersion: v1\nkind: List\nitems:\n- kind: A\n- kind: B\n---\nkind: C\n";
        let kinds: Vec<String> = resources(output).unwrap().iter().map(|it| it.kind()).collect();
        assert_eq!(kinds, ["A", "B", "C"]);
        for invalid in ["a: [", "name: x\n", "text\n"] {
            assert!(resources(invalid).is_err(), "{invalid}");
        }
    }
}
