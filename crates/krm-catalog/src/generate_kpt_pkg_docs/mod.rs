//! `generate-kpt-pkg-docs`: writes title, setters, resources and usage of a package into its README.

mod documents;
mod links;
mod markers;
mod table;

pub use documents::{Documents, NoDocuments};

use std::collections::{BTreeMap, BTreeSet};

use krm_core::PackagePath;
use krm_sdk::{Diagnostic, Error, Resource, ResourceList, Severity};
use serde::Deserialize;

use crate::config::function_config;
use crate::kinds::CatalogKind;
use crate::list_setters::{self, SetterRow};
use crate::{Builtin, Run, lookup, releases};
use links::{kind_link, link};
use markers::Part;
use table::table;

/// The description of the function.
pub const BUILTIN: Builtin = Builtin {
    name: "generate-kpt-pkg-docs",
    aliases: &[],
    summary: "write setters, resources and usage of a package into its README",
    doc: include_str!("../../doc/generate-kpt-pkg-docs.md"),
    releases: releases::GENERATE_KPT_PKG_DOCS,
    run: Run::Documenting(run),
};

const README: &str = "README.md";
const REPOSITORY: &str = "https://github.com/GoogleCloudPlatform/blueprints.git/catalog/";
const TITLE: &str = "blueprints.cloud.google.com/title";
const KPTFILE: &str = "Kptfile";

#[derive(Default, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
struct Config {
    readme_path: String,
    repo_path: Option<String>,
    pkg_name: String,
}

/// Replaces the generated parts of the README.
pub fn run(list: &mut ResourceList, documents: &dyn Documents) -> Result<(), Error> {
    let config = match function_config(list) {
        Some(config) => config.read_config()?,
        None => list.config::<Config>().unwrap_or_default(),
    };
    let path = if config.readme_path.is_empty() { README } else { &config.readme_path };
    if !path.to_ascii_lowercase().ends_with(".md") {
        let error = failed(format!("`{path}` is not a Markdown file"));
        return Err(error.hint("`readme-path` is the path of a file that ends in `.md`").into());
    }
    let Some(text) = documents.read(path)? else {
        let message = format!(
            "failed to generate doc: Skipping readme generation: open {path}: no such file or directory"
        );
        list.add_result(Severity::Warning, message);
        return Ok(());
    };
    let package = Package::of(&list.items)?;
    let body = body(&package, &config)?;
    let replace = |part: Part, text: &str, contents: &str| {
        part.replace(text, contents).map_err(|line| {
            failed(format!("failed to generate doc: the end marker in line {line} of `{path}` comes before its start"))
                .hint("swap the two comments")
        })
    };
    let new = replace(Part::Title, &text, &format!("# {}\n\n\n", package.title()))?;
    let new = replace(Part::Body, &new, &body)?;
    if new != text {
        documents.replace(path, new)?;
        list.add_result(Severity::Info, format!("updated `{path}`"));
    }
    Ok(())
}

fn failed(message: String) -> Diagnostic {
    Diagnostic::error(CatalogKind::Failed { message: message.into() })
}

/// A package with its subpackages.
struct Package<'l> {
    items: &'l [Resource],
    kptfile: &'l Resource,
    /// The names of the subpackages by directory.
    subpackages: BTreeMap<&'l str, String>,
    /// The resources of the package itself.
    resources: Vec<&'l Resource>,
}

impl<'l> Package<'l> {
    fn of(items: &'l [Resource]) -> Result<Self, Diagnostic> {
        let kptfiles = items.iter().filter(|it| it.kind() == KPTFILE);
        let kptfiles: BTreeMap<&str, &Resource> =
            kptfiles.filter_map(|it| Some((it.path()?.directory(), it))).collect();
        let Some(kptfile) = kptfiles.get("").copied() else {
            let message = "failed to generate doc: unable to find root Kptfile, please include --include-meta-resources flag if a Kptfile is present";
            return Err(
                failed(message.to_owned()).hint("run the function on the directory of the Kptfile")
            );
        };
        let configs = ["mutators", "validators"].into_iter().flat_map(|role| {
            let pipeline = lookup::child(kptfile.root(), "pipeline");
            pipeline.into_iter().flat_map(move |it| lookup::items(it, role))
        });
        let configs: BTreeSet<String> =
            configs.filter_map(|it| Some(lookup::text(it, "configPath")?.into_owned())).collect();
        let is_own = |path: &PackagePath| {
            let mut directories = kptfiles.keys().filter(|it| !it.is_empty());
            let is_below = |directory: &&&str| path.relative_to(directory).is_some();
            path.as_str() != KPTFILE
                && !configs.contains(path.as_str())
                && directories.find(is_below).is_none()
        };
        let resources = items.iter().filter(|it| it.path().is_some_and(is_own)).collect();
        let subpackages = kptfiles.iter().filter(|(directory, _)| !directory.is_empty());
        let subpackages = subpackages.map(|(directory, it)| (*directory, it.name()));
        Ok(Self { items, kptfile, subpackages: subpackages.collect(), resources })
    }

    fn title(&self) -> String {
        let title = self.kptfile.annotation(TITLE);
        title.unwrap_or_else(|| self.kptfile.name())
    }
}

fn body(package: &Package<'_>, config: &Config) -> Result<String, Error> {
    let mut text = String::new();
    if let Some(description) =
        package.kptfile.get_text("info.description")?.filter(|it| !it.is_empty())
    {
        text.push_str(description.strip_suffix('\n').unwrap_or(&description));
        text.push('\n');
    }
    let mut section = |title: &str, contents: String| {
        let gap = if contents.ends_with('\n') { "" } else { "\n" };
        text.push_str(&format!("\n## {title}\n\n{contents}{gap}"));
    };
    section("Setters", setters(package)?);
    let subpackages = package.subpackages.iter().map(|(directory, name)| link(name, directory));
    section("Sub-packages", bullets(subpackages.collect(), "This package has no sub-packages."));
    let none = "This package has no top-level resources. See sub-packages.";
    section(
        "Resources",
        if package.resources.is_empty() { none.to_owned() } else { resources(package) },
    );
    let mut seen = BTreeSet::new();
    let kinds = package.resources.iter().filter(|it| seen.insert((it.api_version(), it.kind())));
    section("Resource References", bullets(kinds.map(|it| kind_link(it)).collect(), none));
    let name = match config.pkg_name.as_str() {
        "" => package.kptfile.name(),
        name => name.to_owned(),
    };
    section("Usage", usage(config.repo_path.as_deref().unwrap_or(REPOSITORY), &name));
    text.push('\n');
    Ok(text)
}

fn bullets(mut lines: Vec<String>, none: &str) -> String {
    if lines.is_empty() {
        return none.to_owned();
    }
    lines.sort();
    lines.into_iter().map(|line| format!("- {line}\n")).collect()
}

fn setters(package: &Package<'_>) -> Result<String, Error> {
    let rows = list_setters::rows(package.items);
    if rows.is_empty() {
        return Ok("This package has no top-level setters. See sub-packages.".to_owned());
    }
    let row = |SetterRow { name, value, kind, count }: SetterRow| {
        vec![name, value, kind.to_owned(), count.to_string()]
    };
    let rows: Vec<Vec<String>> = rows.into_iter().map(row).collect();
    Ok(table(&["Name", "Value", "Type", "Count"], &rows))
}

fn resources(package: &Package<'_>) -> String {
    let row = |it: &&Resource| {
        let path = it.path().map_or_else(String::new, ToString::to_string);
        let fields = [it.api_version(), it.kind(), it.name(), it.namespace()];
        std::iter::once(path).chain(fields).collect()
    };
    let rows: Vec<Vec<String>> = package.resources.iter().map(row).collect();
    table(&["File", "APIVersion", "Kind", "Name", "Namespace"], &rows)
}

/// How to use the package with kpt.
fn usage(repository: &str, name: &str) -> String {
    let steps = [
        (
            "Get the package and enter its directory. `${VERSION}` is a branch or tag, such as `main`:",
            format!("kpt pkg get {repository}{name}@${{VERSION}}\ncd \"./{name}/\""),
        ),
        (
            "Set the values in the functionConfigs of the pipeline, and run it:",
            "kpt fn render".to_owned(),
        ),
        (
            "Create the inventory of the package in the namespace `${NAMESPACE}`:",
            "kpt live init --namespace ${NAMESPACE}".to_owned(),
        ),
        (
            "Apply the resources, and wait until they are ready:",
            "kpt live apply\nkpt live status --output table --poll-until current".to_owned(),
        ),
    ];
    let step = |(text, commands): (&str, String)| {
        let commands: String = commands.lines().map(|line| format!("    {line}\n")).collect();
        format!("1.  {text}\n\n    ```shell\n{commands}    ```\n")
    };
    steps.map(step).join("\n")
}
